"""A real `consolidate serve` in a process of its own, for the tests of the server."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

ROOT = Path(__file__).parents[1]


def environment(folder: Path, **more: str) -> dict[str, str]:
    """Variables of a server that uses the small deterministic models and no settings of ours."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("CONSOLIDATE_", "HIPPO_"))}
    env |= {
        "HOME": str(folder),
        "XDG_CONFIG_HOME": str(folder),
        "PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "models" / "weights")]),
        "CONSOLIDATE_EMBEDDER": "fake:32",
        "CONSOLIDATE_CLASSIFIER": "fake",
        "CONSOLIDATE_EXTRACTOR": "rules",
    }
    return env | more


def command(database: Path, *options: str) -> list[str]:
    """The command line of a server."""
    return [sys.executable, "-m", "consolidate", "serve", "--db", str(database), *options]


@contextmanager
def served(
    database: Path, *options: str, env: dict[str, str] | None = None
) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """A server over HTTP at a free port of loopback; gives its address."""
    arguments: Sequence[str] = command(database, "--transport", "http", "--port", "0", *options)
    process = subprocess.Popen(
        arguments,
        env=env or environment(database.parent),
        cwd=database.parent,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )
    assert process.stderr is not None
    assert process.stdout is not None
    try:
        told = process.stderr.readline()
        assert "listening at " in told, told + process.stderr.read()
        yield told.split("listening at ", 1)[1].strip().removesuffix("/mcp"), process
    finally:
        process.terminate()
        process.wait(timeout=60)
        process.stdout.close()
        process.stderr.close()
