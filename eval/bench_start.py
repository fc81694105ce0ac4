"""Measures how long the command line takes to say what it can do."""

from __future__ import annotations

import subprocess
import sys
import time
from typing import Any, Final

__all__ = ["GOAL", "bench_help"]

GOAL: Final = 0.3
"""Seconds of user time."""


def bench_help(rounds: int) -> dict[str, Any]:
    """Run `consolidate --help` some times; the best counts, after one that warms the disk.

    Returns:
        `user_seconds` (None where the system does not count them), `seconds` and `goal`.
    """
    command = [sys.executable, "-m", "consolidate", "--help"]
    measured = [_once(command) for _ in range(max(1, rounds) + 1)][1:]
    users = [user for user, _ in measured if user is not None]
    return {
        "user_seconds": min(users) if users else None,
        "seconds": min(seconds for _, seconds in measured),
        "goal": GOAL,
    }


def _once(command: list[str]) -> tuple[float | None, float]:
    before, began = _user_seconds(), time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)  # noqa: S603 - ourselves
    seconds, after = time.perf_counter() - began, _user_seconds()
    return (None if before is None or after is None else after - before), seconds


def _user_seconds() -> float | None:
    """User time of all processes that were waited for."""
    try:
        import resource
    except ImportError:  # Windows
        return None
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
