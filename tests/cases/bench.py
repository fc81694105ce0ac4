"""What the checks have in common: the bench they work at, and the list of all of them."""

from __future__ import annotations

import socket
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final, NoReturn

import pytest

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.backends.fake import fake_backends
from consolidate.pipeline import Outcome
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import Fact, NewFact, Relation

__all__ = ["BAND", "CHECKS", "NOW", "Bench", "check", "day", "said"]

NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)

CHECKS: Final[dict[str, Callable[[Bench], None]]] = {}
"""Name to check, as `cases.toml` names them."""

BAND: Final[Mapping[str, float]] = {
    "merge_threshold": 0.9,
    "supersede_threshold": 0.88,
    "review_threshold": 0.6,
}
"""Thresholds of the cases. What the judge makes of a case is asked, not which band its calibration
has led to: the answers must not change with every new model file."""


@dataclass(frozen=True, kw_only=True)
class Bench:
    """What a check works with."""

    real: Backends
    """The bundled models."""
    settings: Settings
    folder: Path
    open_store: Callable[..., Store]
    monkeypatch: pytest.MonkeyPatch

    @property
    def path(self) -> Path:
        """A database that several stores can open."""
        return self.folder / "memory.db"

    def store(self, path: str | Path = ":memory:", **options: object) -> Store:
        """Open a store that is closed at the end of the test."""
        return self.open_store(path, **options)

    def run(self, store: Store, backends: Backends | None = None, **settings: Any) -> Outcome:
        """Consolidate at `NOW`, with lexical stand-ins for the models unless others are given."""
        chosen = backends or fake_backends()
        return pipeline.run(store, chosen, Settings(**{**BAND, **settings}), now=NOW)

    def filled(self, facts: Sequence[NewFact], path: str | Path = ":memory:") -> Store:
        """A store with these facts."""
        store = self.store(path)
        store.add(facts, now=NOW - timedelta(hours=1))
        return store

    def without_network(self) -> None:
        """Any attempt to reach another machine ends the test."""

        def refuse(*args: object, **options: object) -> NoReturn:
            raise AssertionError(f"a connection was tried: {args!r}")

        for name in ("connect", "connect_ex", "sendto"):
            self.monkeypatch.setattr(socket.socket, name, refuse)
        for name in ("create_connection", "getaddrinfo", "gethostbyname"):
            self.monkeypatch.setattr(socket, name, refuse)


def check(function: Callable[[Bench], None]) -> Callable[[Bench], None]:
    """List a check under its name."""
    CHECKS[function.__name__] = function
    return function


def day(offset: float) -> datetime:
    """A moment so many days after the start of 2026."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=offset)


def said(fact_id: str, text: str, stated: float | None = 0, **fields: Any) -> NewFact:
    """A fact that the user said."""
    when = None if stated is None else day(stated)
    return NewFact(id=fact_id, text=text, stated_at=when, **{"source": "user", **fields})


def judged(*pairs: tuple[str, str, Relation]) -> Backends:
    """Stand-ins whose judge answers as told for these texts."""
    return fake_backends(verdicts={(left, right): relation for left, right, relation in pairs})


def live(store: Store) -> dict[str, Fact]:
    """Facts that stand, by id."""
    return {fact.id: fact for fact in store.facts()}
