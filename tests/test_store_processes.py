"""Several processes on one file, and processes that are killed while they write.

The moments of death are drawn from seeded numbers; each child says how far it is, so a test
never waits for a time to pass.
"""

from __future__ import annotations

import json
import random
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from consolidate.store import Store
from consolidate.types import NewFact

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
ROOT = Path(__file__).parent.parent

HEAD = """
    import json, sys
    from dataclasses import replace
    from datetime import UTC, datetime
    from consolidate.store import Store
    from consolidate.types import *
    NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
    def say(*words):
        print(*words, flush=True)
"""

Start = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start() -> Iterator[Start]:
    """Start Python code in a process of its own; whatever still runs is ended afterwards."""
    children: list[subprocess.Popen[str]] = []

    def start_one(code: str, *arguments: object) -> subprocess.Popen[str]:
        child = subprocess.Popen(
            [
                sys.executable,
                "-c",
                textwrap.dedent(HEAD) + textwrap.dedent(code),
                *map(str, arguments),
            ],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            encoding="utf-8",
            cwd=ROOT,
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


def test_processes_that_add_the_same_facts_at_once_make_one_of_each(
    tmp_path: Path, start: Start
) -> None:
    code = """
        say("ready")
        sys.stdin.readline()
        with Store.open(sys.argv[1], busy_timeout=60) as store:
            added = []
            for n in range(25):
                added += store.add([NewFact(text=f"same {n}", stated_at=NOW)], now=NOW)
        say(json.dumps([[each.id, each.new] for each in added]))
    """
    path = tmp_path / "memory.db"  # made by whoever comes first
    children = [start(code, path) for _ in range(4)]
    for child in children:
        assert line(child) == "ready"
    answers: list[list[Any]] = []
    for child in children:
        assert child.stdin is not None
        child.stdin.write("go\n")
        child.stdin.flush()
    for child in children:
        answers.append(json.loads(line(child)))
        assert child.wait() == 0
    for each in zip(*answers, strict=True):
        assert len({fact_id for fact_id, _ in each}) == 1
        assert sum(new for _, new in each) == 1
    with Store.open(path) as store:
        assert len(store.facts()) == 25
        assert store.check() == []


def test_a_writer_and_readers_never_see_a_locked_file(tmp_path: Path, start: Start) -> None:
    path = tmp_path / "memory.db"
    with Store.open(path):
        pass
    writer = """
        with Store.open(sys.argv[1]) as store:
            for n in range(150):
                store.add([NewFact(text=f"{n}-{m}") for m in range(10)], now=NOW)
        say("done")
    """
    reader = """
        with Store.open(sys.argv[1]) as store:
            seen = 0
            while seen < 1500:
                count = len(store.facts())
                assert count % 10 == 0 and count >= seen, (count, seen)
                seen = count
        say("done")
    """
    children = [start(writer, path), *(start(reader, path) for _ in range(3))]
    for child in children:
        out, err = child.communicate(timeout=120)
        assert (out.strip(), child.returncode) == ("done", 0), err


def test_a_store_is_not_used_in_a_forked_child(tmp_path: Path, start: Start) -> None:
    code = """
        import os
        store = Store.open(sys.argv[1])
        if os.fork() == 0:
            try:
                store.facts()
            except Exception as error:
                say(type(error).__name__, error)
            os._exit(0)
        os.wait()
        store.add([NewFact(text="parent")], now=NOW)
        say(len(store.facts()))
    """
    out, err = start(code, tmp_path / "memory.db").communicate(timeout=60)
    assert "StoreError" in out and "opened in another process" in out, err
    assert out.splitlines()[-1] == "1"


ADDING = """
    store = Store.open(sys.argv[1])
    say("open")
    for batch in range(10_000):
        store.add(
            [NewFact(text=f"{batch}-{n} " + "word " * 40, stated_at=NOW) for n in range(50)],
            now=NOW,
        )
        say("added", batch)
"""


def test_a_process_killed_while_adding_leaves_whole_batches_only(
    tmp_path: Path, start: Start
) -> None:
    chance = random.Random(11)
    for attempt in range(10):
        path = tmp_path / f"{attempt}.db"
        child = start(ADDING, path)
        said = 0
        for _ in range(chance.randint(0, 12)):
            if line(child).startswith("added"):
                said += 1
        burn(chance)
        child.send_signal(signal.SIGKILL)
        rest, _ = child.communicate()
        said += rest.count("added")
        if not path.exists():
            continue
        with Store.open(path) as store:
            assert store.check() == []
            count = len(store.facts())
            assert count % 50 == 0
            # What was said to be stored is stored; one batch may have gone in unsaid.
            assert said <= count // 50 <= said + 1
            assert not any(each.new for each in again(store, count // 50))
            store.add([NewFact(text="afterwards")], now=NOW)


def again(store: Store, batches: int) -> list[Any]:
    facts = [
        NewFact(text=f"{batch}-{n} " + "word " * 40, stated_at=NOW)
        for batch in range(batches)
        for n in range(50)
    ]
    return list(store.add(facts, now=NOW))


def burn(chance: random.Random) -> None:
    """Let a random, short moment pass by working, so that death comes anywhere in a step."""
    for _ in range(chance.randint(0, 200_000)):
        pass


RUNNING = """
    store = Store.open(sys.argv[1])
    say("open")
    for number in range(10_000):
        plan = Plan(
            id=f"plan-{number}", agent="default", now=NOW, snapshot_digest="", settings_digest="",
            facts={}, decisions=(),
        )
        with store.lease(now=lambda: datetime.now(UTC)), store.atomic():
            run = store.begin_run(plan, now=NOW)
            facts = store.facts()
            for fact in facts:
                store.write_fact(
                    replace(fact, encounters=fact.encounters + 1, changed_by=run), run=run
                )
            for left, right in zip(facts, facts[1:]):
                link = Link(left=left.id, right=right.id, relation=f"r{number}")
                store.write_link("default", link, run=run)
            receipt = Receipt(run=run, plan=plan.id, agent="default", applied_at=NOW)
            store.finish_run(run, receipt, now=NOW, state_digest="")
        say("applied", number)
        if number % 3 == 2:
            store.undo(run, now=NOW)
            say("undone", number)
"""


def test_a_process_killed_in_a_run_leaves_the_state_before_or_after(
    tmp_path: Path, start: Start
) -> None:
    chance = random.Random(23)
    path = tmp_path / "memory.db"
    with Store.open(path) as store:
        store.add([NewFact(text=f"fact {n}", id=f"id-{n:03}") for n in range(40)], now=NOW)
        before = list(store.dump())
    applied = 0
    for _attempt in range(10):
        child = start(RUNNING.replace('f"plan-{number}"', f'f"plan-{_attempt}-{{number}}"'), path)
        for _ in range(chance.randint(1, 6)):
            line(child)
        burn(chance)
        child.send_signal(signal.SIGKILL)
        child.communicate()
        with Store.open(path, create=False) as store:
            assert store.check() == []
            runs = store.runs()
            assert all(run.finished_at is not None for run in runs)
            live = [run for run in runs if run.state == "applied"]
            # Each run counts every fact once and links all neighbours, or does nothing.
            assert {fact.encounters for fact in store.facts()} == {1 + len(live)}
            relations = [link.relation for link in store.links()]
            assert all(relations.count(relation) % 39 == 0 for relation in set(relations))
            applied += len(live)
            with store.lease(now=lambda: datetime.now(UTC)):  # a dead run's lease is no obstacle
                for run in live:
                    store.undo(run.id, now=NOW)
            assert list(store.dump()) == before
    assert applied > 0


def test_a_process_killed_while_the_file_is_made_leaves_nothing_or_a_store(
    tmp_path: Path, start: Start
) -> None:
    chance = random.Random(5)
    code = """
        say("ready")
        for number in range(200):
            Store.open(f"{sys.argv[1]}/{number}.db").close()
            say(number)
    """
    child = start(code, tmp_path)
    line(child)
    for _ in range(chance.randint(3, 9)):
        line(child)
    burn(chance)
    child.send_signal(signal.SIGKILL)
    child.communicate()
    made = sorted(tmp_path.glob("*.db"))
    assert made
    for path in made:
        with Store.open(path) as store:
            assert store.check() == []
