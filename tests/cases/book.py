"""Reads `cases.toml`: which cases there are, and the tests each of them makes.

Knows neither store nor models.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

__all__ = ["BOOK", "Case", "Harm", "Miss", "Test", "told_as"]

_FILE: Final = Path(__file__).with_name("cases.toml")
_CASE_KEYS: Final = {"area", "told", "needs", "tests"}
_TEST_KEYS: Final = {"name", "miss", "harm", "fault"}
_FACT_TEST_KEYS: Final = {
    "facts", "now", "runs", "batches", "settings", "aliases", "again", "live", "superseded",
    "merged", "one_of", "either", "free", "reviews", "may_ask", "linked", "ends", "reasons",
    "keeps", "asked", "entities", "strangers",
}  # fmt: skip


class Miss(Exception):
    """The store left undone what it should have done, or asked a person without need."""


class Harm(Exception):
    """The store retired or merged what should have stayed as it was."""


_SORTS: Final = {"miss": Miss, "harm": Harm, "fault": AssertionError}


@dataclass(frozen=True, kw_only=True)
class Test:
    """One test of a case."""

    __test__ = False  # not for pytest to collect

    case: str
    name: str
    body: Mapping[str, Any]
    """What to do and what to expect, as in the file."""
    failure: type[Exception] | None = None
    """The sort of failure that is expected for now."""
    reason: str = ""
    """Why it fails."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One reported failure."""

    id: str
    area: str
    told: str
    needs: str
    """What the package lacks for it; empty if nothing."""
    tests: tuple[Test, ...]


def _read() -> Mapping[str, Case]:
    book = tomllib.loads(_FILE.read_text(encoding="utf-8"))
    return {key: _case(key, entry) for key, entry in book.items()}


def _case(key: str, entry: Mapping[str, Any]) -> Case:
    _no_others(key, entry, _CASE_KEYS)
    return Case(
        id=key,
        area=entry["area"],
        told=entry["told"],
        needs=entry.get("needs", ""),
        tests=tuple(_test(key, test) for test in entry.get("tests", ())),
    )


def _test(key: str, entry: Mapping[str, Any]) -> Test:
    what = {"facts", "names", "check"} & entry.keys()
    if len(what) != 1:
        raise ValueError(f"{key}: {entry.get('name')!r} needs one of facts, names, check")
    _no_others(key, entry, _TEST_KEYS | (_FACT_TEST_KEYS if "facts" in entry else what))
    sorts = [sort for sort in _SORTS if sort in entry]
    if len(sorts) > 1:
        raise ValueError(f"{key}: {entry['name']!r} can't fail in two ways")
    return Test(
        case=key,
        name=entry["name"],
        body=entry,
        failure=_SORTS[sorts[0]] if sorts else None,
        reason=entry[sorts[0]] if sorts else "",
    )


def _no_others(key: str, entry: Mapping[str, Any], allowed: set[str]) -> None:
    if unknown := entry.keys() - allowed:
        raise ValueError(f"{key}: unknown {', '.join(sorted(unknown))}")


BOOK: Final = _read()
"""Case id to case, in the order of the file."""


def told_as(kind: str) -> Iterator[Test]:
    """All tests that have `kind` (facts, names or check)."""
    for case in BOOK.values():
        yield from (test for test in case.tests if kind in test.body)
