"""Rows of an export back into a store.

What `exports` gave comes back unchanged into an empty store. Into one that has facts already, only
what is missing comes in: a fact that is there keeps the state it has there, so nothing retired is
revived and nothing is doubled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from consolidate.errors import InputError
from consolidate.store.derived import NOTE_KIND
from consolidate.store.passages import INSERT_PASSAGE, passage_rows
from consolidate.store.restored_rows import Numbered, RowRestore
from consolidate.store.rows import (
    FACT_COLUMNS,
    FACT_SQL,
    fact_from_row,
    fact_hash,
    fact_to_row,
    placeholders,
)
from consolidate.store.store import Store
from consolidate.store.validation import (
    check_fact,
)
from consolidate.types import (
    Fact,
    NewFact,
)

__all__ = ["Restored", "restore"]

_Data = Mapping[str, Any]


@dataclass(frozen=True, kw_only=True)
class Restored:
    """What `restore` did."""

    new: int
    known: int
    differ: int
    """Known facts whose state here is not that of the export."""
    broken: tuple[tuple[int, str], ...]
    """Line and reason."""
    extra: Mapping[str, int]
    """Other rows that came in, by type."""


def restore(
    store: Store, facts: Sequence[tuple[int, Fact]], rows: Numbered, *, agent: str | None = None
) -> Restored:
    """Bring facts with their past, and what hangs on them, into a store; inside `atomic()`.

    Args:
        store: The store.
        facts: Facts, each with the line it came from.
        rows: Other rows of an export, each with its line.
        agent: Only what belongs to this agent; None is all.
    """
    with store.atomic():
        restored = _Restore(store, agent).everything(facts, rows)
        for each in store.agents() if agent is None else (agent,):
            store.refresh_names(each)
    return restored


class _Restore(RowRestore):
    """One restore: facts first, then all that names them, then what only the whole shows."""

    def everything(self, facts: Sequence[tuple[int, Fact]], rows: Numbered) -> Restored:
        by_type: dict[str, list[tuple[int, _Data]]] = {}
        for line, row in rows:
            by_type.setdefault(str(row.get("type")), []).append((line, row))
        # Plans before runs, runs before facts, facts before all that names them.
        for kind in ("plan", "decision", "run"):
            self._each(kind, by_type.pop(kind, []))
        known, differ = self._facts(facts)
        for kind in _KINDS:
            self._each(kind, by_type.pop(kind, []))
        for kind, unknown in by_type.items():
            self._broken += [(line, f"unknown type {kind!r}") for line, _ in unknown]
        self._settle()
        return Restored(
            new=len(self._fresh),
            known=known,
            differ=differ,
            broken=tuple(sorted(self._broken)),
            extra=self._extra,
        )

    # Facts

    def _facts(self, facts: Sequence[tuple[int, Fact]]) -> tuple[int, int]:
        facts = [(n, fact) for n, fact in facts if self._agent in (None, fact.agent)]
        good = [(line, fact) for line, fact in facts if self._sound(line, fact)]
        forgotten = self._forgotten([fact for _, fact in good])
        gone = sum((fact.agent, fact.text) in forgotten for _, fact in good)
        good = [(n, f) for n, f in good if (f.agent, f.text) not in forgotten]
        stored = self._stored([fact for _, fact in good])
        ours = {fact.id for _, fact in good}
        # Facts of the export itself don't count as copies of each other: they are all its own.
        same = {_natural(fact): fact for fact in stored.values() if fact.id not in ours}
        fresh: list[Fact] = []
        known, differ = gone, 0  # what was forgotten here is known, and stays forgotten
        for line, fact in good:
            here = stored.get(fact.id)
            if here is not None and _natural(here) != _natural(fact):
                self._broken.append((line, f"id {fact.id!r} is taken by another fact here"))
                continue
            here = here or same.get(_natural(fact))
            if here is None:
                fresh.append(fact)
                self._names[fact.id] = fact.id
                self._fresh.add(fact.id)
            else:
                known += 1
                differ += here.status is not fact.status
                self._names[fact.id] = here.id
        rows = [fact_to_row(self._renamed(fact)) for fact in fresh]
        self._db.write_many(
            f"INSERT INTO facts ({', '.join(FACT_COLUMNS)}) "  # noqa: S608
            f"VALUES ({placeholders(FACT_COLUMNS)})",
            rows,
        )
        pieces = [row for fact in fresh for row in passage_rows(fact.id, fact.text)]
        self._db.write_many(INSERT_PASSAGE, pieces)
        return known, differ

    def _forgotten(self, facts: Sequence[Fact]) -> set[tuple[str, str]]:
        return {
            (agent, text)
            for agent in {fact.agent for fact in facts}
            for text in self._store.kept_out(agent, {f.text for f in facts if f.agent == agent})
        }

    def _sound(self, line: int, fact: Fact) -> bool:
        try:
            check_fact(
                NewFact(
                    id=fact.id,
                    agent=fact.agent,
                    kind=fact.kind,
                    text=fact.text,
                    metadata=fact.metadata,
                    stated_at=fact.stated_at,
                    valid_from=fact.valid_from,
                    valid_to=fact.valid_to,
                    source=fact.source,
                    trust=fact.trust,
                    intensity=fact.intensity,
                )
            )
            if fact.content_hash != fact_hash(fact.text):
                raise InputError("content_hash does not fit the text")
            if fact.encounters < 0 or fact.access_count < 0:
                raise InputError("encounters and access_count can't be negative")
            if fact.id in (fact.superseded_by, fact.merged_into):
                raise InputError("the fact is its own successor")
            fact_to_row(fact)
        except InputError as error:
            self._broken.append((line, str(error)))
            return False
        return True

    def _stored(self, facts: Sequence[Fact]) -> dict[str, Fact]:
        values = (
            self._db.among([fact.id for fact in facts]),
            self._db.among(list({fact.content_hash for fact in facts})),
        )
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts WHERE id IN (SELECT value FROM json_each(?1)) "  # noqa: S608
            "OR content_hash IN (SELECT value FROM json_each(?2)) ORDER BY id",
            values,
        )
        return {row[0]: fact_from_row(row) for row in rows}

    def _renamed(self, fact: Fact) -> Fact:
        """Point at what successors and runs are called here; what is missing is left empty."""
        told = fact.metadata.get("synthesis")
        if fact.kind == NOTE_KIND and isinstance(told, Mapping):
            sources = told.get("sources")
            if isinstance(sources, list):
                named = [self._names.get(str(each), each) for each in sources]
                told = {**told, "sources": named}
                fact = replace(fact, metadata={**fact.metadata, "synthesis": told})
        return replace(
            fact,
            superseded_by=self._id(fact.superseded_by),
            merged_into=self._id(fact.merged_into),
            changed_by=self._run_id(fact.changed_by),
        )

    def _settle(self) -> None:
        """Put right what only the whole shows."""
        waiting = "SELECT value FROM json_each(?)"
        for column in ("superseded_by", "merged_into"):
            # Nothing crosses agents, whatever a file says.
            self._db.write(
                f"UPDATE facts SET {column} = NULL WHERE id IN ({waiting}) AND EXISTS ("  # noqa: S608
                f"SELECT 1 FROM facts AS other WHERE other.id = facts.{column} "
                "AND other.agent <> facts.agent)",
                (self._db.among(self._fresh),),
            )
        # A note whose source is retired here would bring the claim back.
        for agent in self._store.agents():
            self._store.drop_unfounded(agent)
        # Facts that wait for a review that did not come along are plain active ones.
        self._db.write(
            "UPDATE facts SET status = 'active' WHERE status = 'in_review' "  # noqa: S608
            f"AND id IN ({waiting}) AND NOT EXISTS (SELECT 1 FROM reviews WHERE state = 'open' "
            "AND facts.id IN (left_fact, right_fact))",
            (self._db.among(self._fresh),),
        )


def _natural(fact: Fact) -> tuple[Any, ...]:
    """What makes two facts the same statement, as in `Store.add`."""
    return (fact.agent, fact.kind, fact.content_hash, fact.stated_at, fact.source)


_KINDS = (
    "alias",
    "entity-declaration",
    "entity-pin",
    "entity",
    "mention",
    "link",
    "review",
    "journal",
    "tombstone",
    "pin",
    "use",
    "message",
    "episode",
    "block",
    "block_version",
)
