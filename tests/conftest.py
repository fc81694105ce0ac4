"""Fixtures for all tests: stores that are closed afterwards, a scrubbed environment."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import settings

from consolidate.store import Store

# The same examples in every run: a failure in CI is one that a developer sees too.
settings.register_profile("fixed", derandomize=True, deadline=None)
settings.load_profile("fixed")


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
