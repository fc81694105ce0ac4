"""The command line as a process: exit codes, streams, pipes, Ctrl-C, what it imports."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
from command_line import Cli

from consolidate.store import Store


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    return Cli(home=tmp_path, db=tmp_path / "memory.db")


@pytest.mark.parametrize(
    ("args", "code", "out", "err"),
    [
        (("--version",), 0, "consolidate ", ""),
        (("init",), 0, "Made: ", ""),
        (("stats",), 1, "", "Error: no store at "),
        (("history",), 2, "", "Usage: "),
        (("frobnicate",), 2, "", "Usage: "),
        (("run", "--no-such-option"), 2, "", "Usage: "),
        (("run", "--set", "hub_size"), 2, "", "Usage: "),
        (("schedule", "--at", "25:00"), 2, "", "Usage: "),
    ],
)
def test_exit_codes_and_streams(
    cli: Cli, args: tuple[str, ...], code: int, out: str, err: str
) -> None:
    done = cli.process(*args)
    assert done.returncode == code
    assert done.stdout.startswith(out)
    assert done.stderr.startswith(err)
    assert "Traceback" not in done.stderr
    if code:
        assert done.stdout == ""


def test_help_imports_neither_numpy_nor_onnxruntime(cli: Cli) -> None:
    script = textwrap.dedent("""
        import sys
        from consolidate.cli.app import app
        try:
            app(sys.argv[1:])
        finally:
            heavy = {"numpy", "onnxruntime", "tokenizers", "sqlite3"} & set(sys.modules)
            assert not heavy, heavy
    """)
    for args in (["--help"], ["run", "--help"], ["review", "--help"]):
        done = subprocess.run(
            [sys.executable, "-c", script, *args],
            env=cli.process_environment(), capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert done.stdout.startswith("Usage: ")


def test_standard_output_is_the_document_alone(cli: Cli) -> None:
    cli.process("remember", "Likes tea")
    done = cli.process("run", "--json")
    assert json.loads(done.stdout)["nothing_new"] is False
    assert done.stderr == ""


def test_progress_goes_to_standard_error(cli: Cli) -> None:
    cli.process("remember", "Likes tea")
    done = cli.process("run")
    assert "reading texts: 1" in done.stderr
    assert "reading texts" not in done.stdout
    assert "\x1b" not in done.stderr


def test_a_reader_that_stops_early_is_no_crash(cli: Cli) -> None:
    lines = "".join(f'{{"text": "fact number {n}"}}\n' for n in range(3000))
    cli.process("import", "-", input=lines)
    command = [sys.executable, "-m", "consolidate", "export"]
    process = subprocess.Popen(
        command, env=cli.process_environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    assert process.stdout is not None
    assert process.stderr is not None
    process.stdout.read(10)
    process.stdout.close()
    err = process.stderr.read().decode()
    process.stderr.close()
    assert process.wait(timeout=30) in (0, 1)
    assert "Traceback" not in err


SLOW_BACKEND = """
import sys, time
import numpy as np

class Slow:
    identity = "slow:1"
    dimensions = 2
    def embed(self, texts):
        print("embedding", file=sys.stderr, flush=True)
        time.sleep(60)

def embedder(model, options):
    return Slow()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows sends no SIGINT to one process")
def test_ctrl_c_in_a_run_leaves_the_store_as_it_was(cli: Cli) -> None:
    cli.process("remember", "The office is in Bonn", "The office is in Ghent")
    with Store.open(cli.db) as store:
        before = [*store.dump()]
    package = cli.home / "slow"
    metadata = package / "slow_backend-1.dist-info"
    metadata.mkdir(parents=True)
    (package / "slow_backend.py").write_text(SLOW_BACKEND)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: slow-backend\nVersion: 1\n")
    (metadata / "entry_points.txt").write_text("[consolidate.backends]\nslow = slow_backend\n")
    env = cli.process_environment() | {"CONSOLIDATE_EMBEDDER": "slow"}
    env["PYTHONPATH"] += f"{os.pathsep}{package}"
    process = subprocess.Popen(
        [sys.executable, "-m", "consolidate", "run"],
        env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stderr is not None
    assert process.stdout is not None
    while "embedding" not in (line := process.stderr.readline()):
        assert line, process.wait()
    process.send_signal(signal.SIGINT)
    err = process.stderr.read()
    process.stderr.close()
    process.stdout.close()
    assert process.wait(timeout=30) == 130
    assert "Interrupted" in err
    assert "Traceback" not in err
    with Store.open(cli.db) as store:
        assert [*store.dump()] == before
        assert store.check() == []
    assert cli.process("run").returncode == 0  # the lease was given back


def test_a_second_run_during_a_run_says_so(cli: Cli) -> None:
    from datetime import UTC, datetime

    cli.process("remember", "Likes tea")
    with Store.open(cli.db) as store, store.lease(now=lambda: datetime.now(UTC)):
        done = cli.process("run")
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) == 1
    assert str(os.getpid()) in done.stderr


def test_an_unexpected_error_is_one_line_and_can_be_looked_into(cli: Cli) -> None:
    script = textwrap.dedent("""
        import sys
        from consolidate.cli import common
        from consolidate.cli.app import main
        def broken(self): raise ValueError("oops")
        common.Context.reading = broken
        sys.argv = ["consolidate", "stats"]
        main()
    """)
    env = cli.process_environment()
    command = [sys.executable, "-c", script]
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.splitlines()[0] == "Error: unexpected ValueError: oops"
    assert len(done.stderr.splitlines()) == 2
    env["CONSOLIDATE_DEBUG"] = "1"
    done = subprocess.run(command, env=env, capture_output=True, text=True, check=False)
    assert "Traceback" in done.stderr


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write")
def test_a_folder_that_can_not_be_written_is_told(cli: Cli) -> None:
    locked = cli.home / "locked"
    locked.mkdir(mode=0o500)
    done = cli.process("init", "--db", str(locked / "x.db"))
    assert done.returncode == 1
    assert len(done.stderr.splitlines()) <= 2
