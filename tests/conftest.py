"""Fixtures for all tests: stores that are closed afterwards, a scrubbed environment."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import settings

from consolidate.store import Store

# The same examples in every run: a failure in CI is one that a developer sees too.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


HERE = Path(__file__).parent
_IMPORTED = re.compile(r"^(?:from|import) (\w+)", re.MULTILINE)


@cache
def lacking(file: Path) -> frozenset[str]:
    """Packages that a file of tests imports, perhaps by a file beside it, and that are missing.

    A plain install, as a bundle makes it, has no MCP and no clients of language models.
    """
    found: set[str] = set()
    for name in _IMPORTED.findall(file.read_text(encoding="utf-8")):
        beside = file.with_name(f"{name}.py")
        if beside.is_file():
            found |= lacking(beside)
        elif name not in sys.stdlib_module_names and find_spec(name) is None:
            found.add(name)
    return frozenset(found)


LEFT_OUT = {file.name: lacking(file) for file in sorted(HERE.glob("test_*.py")) if lacking(file)}
collect_ignore = sorted(LEFT_OUT)


def pytest_report_header() -> list[str]:
    """Say what is not run for want of a package."""
    return [
        f"left out: {name} needs {', '.join(sorted(packages))}"
        for name, packages in LEFT_OUT.items()
    ]


@pytest.fixture(autouse=True)
def scrubbed_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of the machine reaches a test."""
    for name in list(os.environ):
        if name.startswith("CONSOLIDATE_"):
            monkeypatch.delenv(name)


@pytest.fixture
def now() -> datetime:
    """The time at which tests happen."""
    return datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def open_store() -> Iterator[Callable[..., Store]]:
    """`Store.open` that closes what it opened at the end of the test."""
    opened: list[Store] = []

    def open_one(path: str | Path, **options: object) -> Store:
        store = Store.open(path, **options)  # type: ignore[arg-type]  # passed through
        opened.append(store)
        return store

    yield open_one
    for store in opened:
        store.close()


@pytest.fixture
def store(tmp_path: Path, open_store: Callable[..., Store]) -> Store:
    """A new store in a file of its own."""
    return open_store(tmp_path / "memory.db")
