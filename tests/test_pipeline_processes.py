"""Runs in processes of their own: killed at any moment, two at once, with writers, offline."""

from __future__ import annotations

import os
import random
import shutil
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from command_line import Cli
from pipelines import Memory, messy

from consolidate.store import Store
from consolidate.types import NewFact

TESTS = Path(__file__).parent
FACTS = 300

HEAD = """
    import sys
    from builders import NOW, said
    from pipelines import Classifier, Memory
    from consolidate.store import Store
    def say(*words):
        print(*words, flush=True)
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start Python code in a process of its own; whatever still runs is ended afterwards."""
    children: list[subprocess.Popen[str]] = []

    def start_one(
        code: str, *arguments: object, before: tuple[str, ...] = (), path: Path | None = None
    ) -> subprocess.Popen[str]:
        inherited = filter(None, [os.environ.get("PYTHONPATH")])
        folders = [TESTS.parent, TESTS, *([path] if path else [])]
        child = subprocess.Popen(
            [
                *before,
                sys.executable,
                "-c",
                textwrap.dedent(HEAD) + textwrap.dedent(code),
                *map(str, arguments),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=TESTS.parent,
            env={
                **os.environ,
                "PYTHONPATH": os.pathsep.join([*map(str, reversed(folders)), *inherited]),
            },
        )
        children.append(child)
        return child

    yield start_one
    for child in children:
        child.kill()
        child.communicate()


def line(child: subprocess.Popen[str]) -> str:
    assert child.stdout is not None
    return child.stdout.readline().strip()


def until(child: subprocess.Popen[str], word: str) -> None:
    """Read what a child says until it says `word`."""
    while (said := line(child)) != word:
        assert said, (child.wait(), child.stderr and child.stderr.read())


def tell(child: subprocess.Popen[str], word: str = "go") -> None:
    assert child.stdin is not None
    child.stdin.write(word + "\n")
    child.stdin.flush()


def filled(path: Path, count: int = FACTS) -> Path:
    with Store.open(path) as store:
        Memory(store).add(*messy(count))
    return path


# -- killed --------------------------------------------------------------------------------------

STEP_BY_STEP = """
    import os, signal
    # Every step of a run that anybody outside could see, counted; at one of them it dies.
    left = int(sys.argv[2])
    def step(*_):
        global left
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        if left < 0:
            say("step")
    with Store.open(sys.argv[1]) as store:
        memory = Memory(store)
        store._db._connection.set_trace_callback(step)
        memory.run(progress=step)
        store._db._connection.set_trace_callback(None)
    say("done")
"""


def test_a_run_killed_at_twenty_moments_leaves_the_store_before_or_after(
    tmp_path: Path, start: Start
) -> None:
    """Each moment is a statement sent to the database or a chunk done by a model."""
    origin = filled(tmp_path / "origin.db")
    with Store.open(origin) as store:
        facts_before = facts_of(store)
    whole = tmp_path / "whole.db"
    shutil.copy(origin, whole)
    out, err = start(STEP_BY_STEP, whole, 0).communicate(timeout=120)
    assert out.split()[-1] == "done", err
    steps = out.split().count("step")
    with Store.open(whole) as store:
        facts_after = facts_of(store)
    assert facts_after != facts_before

    chance = random.Random(19)
    # The write of the plan is short among all that is read and cached: half of the moments in it
    # or right behind it
    moments = [chance.randint(1, steps) for _ in range(10)]
    moments += [chance.randint(steps - 60, steps) for _ in range(6)]
    moments += [steps - 3, steps - 2, steps - 1, steps]
    ends = set()
    for number, moment in enumerate(moments):
        path = tmp_path / f"{number}.db"
        shutil.copy(origin, path)
        child = start(STEP_BY_STEP, path, moment)
        child.communicate(timeout=120)
        assert child.returncode == -signal.SIGKILL, moment
        with Store.open(path, create=False) as store:
            assert store.check() == []
            found = facts_of(store)
            assert found in (facts_before, facts_after), moment
            ends.add(found == facts_after)
            assert (len(store.runs()) == 1) == (found == facts_after)
            memory = Memory(store)
            memory.run()
            assert facts_of(store) == facts_after
            assert memory.run().nothing_new
            assert store.check() == []
    assert ends == {False, True}


def facts_of(store: Store) -> list[tuple[str, ...]]:
    """The content that runs change, without the ids of runs, which are drawn by chance."""
    facts = [
        (
            f.id,
            f.status,
            str(f.superseded_by),
            str(f.merged_into),
            str(f.valid_to),
            str(f.encounters),
        )
        for f in store.facts(statuses=None)
    ]
    return [
        *facts,
        *((link.left, link.right, link.relation) for link in store.links()),
        *((review.id, review.state) for review in store.reviews(state=None)),
    ]


# -- side by side --------------------------------------------------------------------------------

WAITING = """
    class Waiting(Classifier):
        def classify(self, pairs):
            say("judging")
            sys.stdin.readline()
            return super().classify(pairs)
    with Store.open(sys.argv[1]) as store:
        memory = Memory(store)
        memory.classifier = Waiting()
        outcome = memory.run()
        say("applied", outcome.receipt.run)
"""


def test_a_second_run_during_a_run_is_refused_and_the_first_finishes(
    tmp_path: Path, start: Start
) -> None:
    path = filled(tmp_path / "memory.db", 40)
    first = start(WAITING, path)
    until(first, "judging")
    second = start(
        """
        from consolidate.errors import LeaseHeldError
        with Store.open(sys.argv[1]) as store:
            try:
                Memory(store).run()
            except LeaseHeldError as error:
                say("refused", error)
        """,
        path,
    )
    out, err = second.communicate(timeout=60)
    assert out.startswith("refused"), err
    assert f"pid {first.pid}" in out

    done = Cli(home=tmp_path, db=path).process("run")
    assert done.returncode == 1
    assert done.stderr.startswith("Error: ")
    assert f"pid {first.pid}" in done.stderr
    assert done.stdout == ""

    out, err = first.communicate("\n" * 100, timeout=60)
    assert "applied run-" in out, err
    with Store.open(path) as store:
        assert [run.state for run in store.runs()] == ["applied"]
        assert Memory(store).run().nothing_new


def test_a_writer_gets_through_while_models_run(tmp_path: Path, start: Start) -> None:
    path = filled(tmp_path / "memory.db", 40)
    running = start(WAITING, path)
    until(running, "judging")
    # The run stands in its model stage until it is told to go on, so what is written now is
    # written during it.
    writer = start(
        """
        with Store.open(sys.argv[1], busy_timeout=0.5) as store:
            for n in range(100):
                Memory(store).add(said(f"written meanwhile {n}", 1))
        say("written")
        """,
        path,
    )
    out, err = writer.communicate(timeout=60)
    assert out.strip() == "written", err
    assert running.poll() is None
    with Store.open(path) as store:
        assert store.runs() == []
        assert len(store.facts()) == 140
    out, err = running.communicate("\n" * 100, timeout=60)
    assert "applied run-" in out, err
    with Store.open(path) as store:
        assert {f.text for f in store.facts()} >= {f"written meanwhile {n}" for n in range(100)}
        assert not Memory(store).run().nothing_new
        assert store.check() == []


def test_the_lease_of_a_killed_run_is_no_obstacle(tmp_path: Path, start: Start) -> None:
    path = filled(tmp_path / "memory.db", 40)
    running = start(WAITING, path)
    until(running, "judging")
    running.kill()
    running.communicate()
    with Store.open(path) as store:
        assert Memory(store).run().receipt is not None


# -- offline -------------------------------------------------------------------------------------

NO_SOCKETS = """
import socket

def refuse(*args, **kwargs):
    raise AssertionError("a socket was opened")

socket.socket.__init__ = refuse
socket.create_connection = socket.getaddrinfo = refuse
import _socket
_socket.getaddrinfo = refuse
"""

BUNDLED = """
    from consolidate import pipeline
    from consolidate.backends import Backends
    from consolidate.settings import Settings
    import socket
    try:
        socket.create_connection(("127.0.0.1", 9), timeout=1).close()
    except (AssertionError, OSError) as error:
        say("blocked", type(error).__name__)
    settings = Settings(classifier=sys.argv[2])
    with Store.open(sys.argv[1]) as store:
        outcome = pipeline.run(store, Backends.load(settings), settings, now=NOW)
        say("judged", outcome.report.model_calls)
        assert pipeline.run(store, Backends.load(settings), settings, now=NOW).nothing_new
"""


def bundled_classifier() -> str:
    """The bundled models, which must load: with a fake in their place this would prove little."""
    from consolidate.backends import Backends
    from consolidate.settings import Settings

    Backends.load(Settings())
    return Settings().classifier


def small(path: Path) -> Path:
    with Store.open(path) as store:
        Memory(store).add(
            NewFact(text="The user lives in Ghent."), NewFact(text="The user moved to Bonn.")
        )
    return path


def test_no_socket_is_opened_in_a_run(tmp_path: Path, start: Start) -> None:
    classifier = bundled_classifier()
    folder = tmp_path / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(NO_SOCKETS, encoding="utf-8")
    child = start(BUNDLED, small(tmp_path / "memory.db"), classifier, path=folder)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    assert out.splitlines()[0] == "blocked AssertionError"
    assert out.splitlines()[1].startswith("judged ")


def test_a_run_needs_no_network(tmp_path: Path, start: Start) -> None:
    classifier = bundled_classifier()
    unshare = shutil.which("unshare")
    if unshare is None:
        pytest.skip("unshare is not there")
    command: tuple[str, ...] = (unshare, "--net")
    if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
        command = (unshare, "--user", "--map-root-user", "--net")
        if subprocess.run([*command, "true"], capture_output=True, check=False).returncode:
            pytest.skip("this machine gives out no network namespaces")
    child = start(BUNDLED, small(tmp_path / "memory.db"), classifier, before=command)
    out, err = child.communicate(timeout=120)
    assert child.returncode == 0, err
    assert out.splitlines()[0].startswith("blocked ")
