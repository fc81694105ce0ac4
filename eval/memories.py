"""Whole memories with the end state that is right: how they are read and checked.

A memory ("stream") is a list of dated facts in order of arrival, and a key that says what should
become of each. What the fields mean stands in `eval/sets/README.md`. Knows no model and no store.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import consolidate
from consolidate.demo import demo_facts
from consolidate.errors import ConsolidateError
from consolidate.times import parse_time
from consolidate.types import NewFact
from eval.record import SETS, read_jsonl

__all__ = ["AGENT", "DEMO_FILES", "Key", "Memory", "demo", "problems", "read_memories"]

AGENT: Final = "default"
STATES: Final = frozenset({"current", "superseded", "merged", "either"})
DEMO_FILES: Final = (
    SETS / "streams" / "demo.json",
    Path(consolidate.__file__).parent / "data" / "demo_facts.jsonl",
)
"""The demo's key and its facts."""

_DEMO_NOW: Final = datetime(2026, 10, 1, 12, tzinfo=UTC)
"""The demo's last fact was said in September 2026, and one takes effect in 2031."""

_FACT_KEYS: Final = frozenset(
    {"id", "text", "stated_at", "source", "state", "accept", "by", "group", "trap", "why"}
)
_NEEDED: Final = ("id", "text", "stated_at", "state")


@dataclass(frozen=True)
class Key:
    """The right end state of each fact of a memory."""

    facts: Mapping[str, Mapping[str, Any]]
    groups: Mapping[str, Sequence[str]]
    traps: Sequence[str]

    @classmethod
    def load(cls, path: Path) -> Key:
        """Read a key that stands in a file of its own."""
        data = json.loads(path.read_text(encoding="utf-8"))
        return cls(data["facts"], data["groups"], data["traps"])

    @classmethod
    def of(cls, facts: Sequence[Mapping[str, Any]]) -> Key:
        """Make the key of facts that carry their states.

        Where every live member of a group is `either`, one of them stays and it is open which:
        to leave them all standing is not right. They become `merged`, which says just that.
        """
        groups: dict[str, list[str]] = {}
        for fact in facts:
            if fact.get("group"):
                groups.setdefault(fact["group"], []).append(fact["id"])
        states = {fact["id"]: fact["state"] for fact in facts}
        entries: dict[str, Mapping[str, Any]] = {}
        for fact in facts:
            entry = {k: fact[k] for k in ("state", "accept", "by", "group", "why") if k in fact}
            open_which = set(entry.get("accept", ())) == {"current", "merged"}
            members = groups.get(entry.get("group", ""), ())
            if open_which and len(members) > 1 and "current" not in map(states.get, members):
                entry = {"state": "merged", "group": entry["group"]}
            entries[fact["id"]] = entry
        return cls(entries, groups, [fact["id"] for fact in facts if fact.get("trap")])

    def accepted(self, fact_id: str) -> frozenset[str]:
        """The end states that are right."""
        entry = self.facts[fact_id]
        return frozenset(entry.get("accept", (entry["state"],)))

    def group(self, fact_id: str) -> frozenset[str]:
        """Facts that say the same, without the fact itself."""
        return frozenset(self.groups.get(self.facts[fact_id].get("group", ""), ())) - {fact_id}

    def successors(self, fact_id: str) -> frozenset[str]:
        """What may retire a fact: those named, and what says the same as one of them."""
        named = self.facts[fact_id].get("by", ())
        return frozenset(named).union(*(self.group(each) for each in named))

    def related(self) -> Iterator[tuple[str, str]]:
        """Pairs about which there is something to decide.

        Each fact with what may retire it, and with what says the same.
        """
        found = set()
        for fact_id in self.facts:
            for other in {*self.facts[fact_id].get("by", ()), *self.group(fact_id)}:
                found.add((min(fact_id, other), max(fact_id, other)))
        yield from sorted(found)


@dataclass(frozen=True, kw_only=True)
class Memory:
    """Facts in order of arrival, and their key."""

    id: str
    about: str
    lang: str
    now: datetime
    tags: tuple[str, ...]
    facts: tuple[NewFact, ...]
    key: Key

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> Memory:
        """Make a memory of a row of a streams file."""
        return cls(
            id=row["id"],
            about=row["about"],
            lang=row["lang"],
            now=_noon(row["now"]),
            tags=tuple(row["tags"]),
            facts=tuple(
                NewFact(
                    id=fact["id"],
                    text=fact["text"],
                    stated_at=parse_time(fact["stated_at"]),
                    source=fact.get("source", "user"),
                    agent=AGENT,
                )
                for fact in row["facts"]
            ),
            key=Key.of(row["facts"]),
        )


def demo() -> Memory:
    """The demo memory."""
    return Memory(
        id="demo",
        about="One person and two software projects over three years",
        lang="en",
        now=_DEMO_NOW,
        tags=(),
        facts=tuple(demo_facts(agent=AGENT)),
        key=Key.load(DEMO_FILES[0]),
    )


def read_memories(paths: Sequence[Path]) -> list[Memory]:
    """Read streams, files in order of their names.

    Raises:
        ValueError: A stream breaks the rules of the format; names the first of them.
    """
    found = []
    for path in sorted(paths):
        for row in read_jsonl(path):
            wrong = problems(row)
            if wrong:
                raise ValueError(f"{path.name}, {row.get('id', '?')}: {wrong[0]}")
            found.append(Memory.of(row))
    return found


def problems(row: Mapping[str, Any]) -> list[str]:
    """What is wrong with a row of a streams file, in words; empty if nothing."""
    found = [
        f"{name!r} is missing"
        for name in ("id", "about", "lang", "now", "tags", "facts")
        if name not in row
    ]
    if found:
        return found
    facts = row["facts"]
    for name, count in Counter(fact.get("id") for fact in facts).items():
        if count > 1:
            found.append(f"the id {name!r} is used {count} times")
    by_id = {fact["id"]: fact for fact in facts if "id" in fact}
    sizes = Counter(fact["group"] for fact in facts if fact.get("group"))
    for fact in facts:
        found += [f"fact {fact.get('id', '?')}: {wrong}" for wrong in _wrong(fact, by_id, sizes)]
    return found


def _wrong(
    fact: Mapping[str, Any], by_id: Mapping[str, Mapping[str, Any]], sizes: Mapping[Any, int]
) -> Iterator[str]:
    yield from (f"{name!r} is missing" for name in _NEEDED if not fact.get(name))
    yield from (f"unknown field {name!r}" for name in sorted(fact.keys() - _FACT_KEYS))
    try:
        parse_time(fact.get("stated_at", ""))
    except (ConsolidateError, ValueError) as error:
        yield str(error)
    state, accept = fact.get("state"), set(fact.get("accept", ()))
    if state not in STATES:
        yield f"unknown state {state!r}"
    if (state == "either") != bool(accept):
        yield "`accept` belongs to the state `either`, and `either` needs it"
    if accept - STATES:
        yield f"unknown states in `accept`: {', '.join(sorted(accept - STATES))}"
    may = accept or {state}
    if "superseded" in may and not fact.get("by"):
        yield "it may be superseded, and `by` names nothing"
    if "merged" in may and sizes.get(fact.get("group", ""), 0) < 2:
        yield "it may be merged, and its group names no other"
    yield from (
        f"`by` names {other!r}, which is no fact" for other in fact.get("by", ())
        if other not in by_id
    )  # fmt: skip
    if fact["id"] in fact.get("by", ()):
        yield "`by` names itself"
    if fact.get("trap") and state != "current":
        yield f"a trap must be current, not {state}"


def _noon(date: str) -> datetime:
    """A day without a time is meant at noon, UTC."""
    moment = datetime.fromisoformat(date)
    return moment.replace(hour=12, tzinfo=UTC) if moment.tzinfo is None else moment
