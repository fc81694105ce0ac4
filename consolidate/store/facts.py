"""Adding and reading facts."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

from consolidate.errors import InputError
from consolidate.store.ids import make_ids
from consolidate.store.passages import INSERT_PASSAGE, passage_rows
from consolidate.store.records import Added
from consolidate.store.rows import (
    FACT_COLUMNS,
    FACT_SQL,
    LIVE,
    LIVE_SQL,
    fact_from_row,
    placeholders,
)
from consolidate.store.search import literal_pieces, match_expression
from consolidate.store.tombstones import FORGOTTEN, TombstonePart
from consolidate.store.validation import check_fact, new_row
from consolidate.times import format_time
from consolidate.types import Fact, FactStatus, NewFact

__all__ = ["FactPart"]

_INSERT = f"INSERT INTO facts ({', '.join(FACT_COLUMNS)}) VALUES ({placeholders(FACT_COLUMNS)})"  # noqa: S608

_ID, _TEXT = FACT_COLUMNS.index("id"), FACT_COLUMNS.index("text")
_AGENT, _KIND, _HASH, _STATED_AT, _SOURCE = (
    FACT_COLUMNS.index(name) for name in ("agent", "kind", "content_hash", "stated_at", "source")
)

_Natural = tuple[str, str, str, str | None, str]
"""What makes two facts the same statement: agent, kind, content hash, stated_at, source."""


class FactPart(TombstonePart):
    """The store's methods for facts."""

    def add(
        self, facts: Sequence[NewFact], *, now: datetime, one_by_one: bool = False
    ) -> list[Added]:
        """Store facts in one transaction; never a second copy of what is there already.

        A fact without an id is the same as a stored one of equal agent, kind, text, stated_at
        and source, whatever became of that one: what was retired does not come back by adding
        it again. A given id is kept; the same id with the same content is not new. A text that
        the agent has forgotten for good stays out, whatever its id, kind or time.

        Args:
            facts: The facts; all go in or none.
            now: The time they are recorded.
            one_by_one: Record each a microsecond after the one before it, the least that is told
                apart: they were said one after the other.

        Returns:
            For each fact its id and whether it is new, in the same order.

        Raises:
            InputError: A fact can't be stored, or its id belongs to another content.
        """
        format_time(now)  # refuses one without an offset
        rows: list[tuple[Any, ...]] = []
        step = timedelta(microseconds=1 if one_by_one else 0)
        for fact, spare in zip(facts, make_ids(now, len(facts)), strict=True):
            try:
                check_fact(fact)
                recorded_at = format_time(now + step * len(rows))
                rows.append(new_row(fact, fact_id=fact.id or spare, recorded_at=recorded_at))
            except InputError as error:
                place = f"fact {len(rows) + 1} of {len(facts)}"
                raise type(error)(f"{place}: {error}") from error
        if not rows:
            return []
        with self._db.atomic():
            return self._add(facts, rows)

    def _add(self, facts: Sequence[NewFact], rows: list[tuple[Any, ...]]) -> list[Added]:
        by_id, by_content = self._known(rows)
        forgotten = self._forgotten(rows)
        added: list[Added] = []
        fresh: list[tuple[Any, ...]] = []
        for index, (fact, row) in enumerate(zip(facts, rows, strict=True)):
            natural = _natural(row)
            if (row[_AGENT], row[_TEXT]) in forgotten:
                added.append(Added(id="", new=False, reason=FORGOTTEN))
                continue
            if fact.id is None:
                known = by_content.get(natural)
                if known is not None:
                    reason = f"the same is stored already ({known[1]})"
                    added.append(Added(id=known[0], new=False, reason=reason))
                    continue
            elif fact.id in by_id:
                if by_id[fact.id] != natural:
                    raise InputError(
                        f"fact {index + 1} of {len(facts)}: id {fact.id!r} is taken by another "
                        "fact (other text, agent, kind, source or time); give another id or none"
                    )
                added.append(Added(id=fact.id, new=False, reason="this id is stored already"))
                continue
            by_id[row[0]] = natural
            by_content.setdefault(natural, (row[0], "active"))
            fresh.append(row)
            added.append(Added(id=row[0], new=True, reason="added"))
        self._db.write_many(_INSERT, fresh)
        self._db.write_many(
            INSERT_PASSAGE, [each for row in fresh for each in passage_rows(row[_ID], row[_TEXT])]
        )
        return added

    def _forgotten(self, rows: list[tuple[Any, ...]]) -> set[tuple[str, str]]:
        """Agent and text of the new ones that have a tombstone."""
        return {
            (agent, each)
            for agent in {row[_AGENT] for row in rows}
            for each in self.kept_out(agent, {row[_TEXT] for row in rows if row[_AGENT] == agent})
        }

    def _known(
        self, rows: list[tuple[Any, ...]]
    ) -> tuple[dict[str, _Natural], dict[_Natural, tuple[str, str]]]:
        """Stored facts that share an id or a text with the new ones."""
        sql = (
            "SELECT id, status, agent, kind, content_hash, stated_at, source FROM facts "
            "WHERE {} IN (SELECT value FROM json_each(?)) ORDER BY id DESC"
        )
        by_id = {
            found[0]: found[2:]
            for found in self._db.query(sql.format("id"), (self._db.among([r[0] for r in rows]),))
        }
        hashes = {row[_HASH] for row in rows}
        # Descending, so that the oldest of several equal facts is the one that is named.
        by_content = {
            found[2:]: (found[0], found[1])
            for found in self._db.query(sql.format("content_hash"), (self._db.among(hashes),))
        }
        return by_id, by_content

    def strengthen(self, fact_id: str, *, intensity: float, said_at: datetime | None) -> Fact:
        """Count one more encounter with a fact (whole id), outside of any run.

        Intensity becomes the average over encounters, and the time of saying the latest known.

        Returns:
            The fact as it is now.

        Raises:
            NotFoundError: No fact has this id.
        """
        with self._db.atomic():
            fact = self.get(fact_id)
            count = fact.encounters + 1
            average = (fact.intensity * fact.encounters + intensity) / count
            said = fact.confirmed_at or fact.stated_at
            latest = said_at if said is None or (said_at and said_at > said) else None
            confirmed = fact.confirmed_at if latest is None else latest
            self._db.write(
                "UPDATE facts SET encounters = ?, intensity = ?, confirmed_at = ? WHERE id = ?",
                (count, average, confirmed and format_time(confirmed), fact.id),
            )
        return replace(fact, encounters=count, intensity=average, confirmed_at=confirmed)

    def get(self, fact_id: str) -> Fact:
        """Return a fact of any status, by id or a unique beginning of at least six characters.

        Raises:
            NotFoundError: No fact has this id.
            InputError: Several ids begin so.
        """
        with self._db.reading():
            full = self._resolve("facts", "fact", fact_id)
            rows = self._db.query(f"SELECT {FACT_SQL} FROM facts WHERE id = ?", (full,))  # noqa: S608
        return fact_from_row(rows[0])

    def facts(
        self,
        *,
        agent: str | None = None,
        statuses: Collection[FactStatus] | None = LIVE,
        kind: str | None = None,
        ids: Collection[str] | None = None,
        limit: int | None = None,
        offset: int = 0,
    ) -> list[Fact]:
        """Return facts sorted by id; live ones only unless asked for others.

        Args:
            agent: Only this agent; None is all.
            statuses: Only these; None is all.
            kind: Only this kind.
            ids: Only these ids (whole ones); unknown ids are left out.
            limit: At most so many.
            offset: Leave out so many first.
        """
        where, values = _conditions(agent, statuses)
        if kind is not None:
            where.append("facts.kind = ?")
            values.append(kind)
        if ids is not None:
            where.append("facts.id IN (SELECT value FROM json_each(?))")
            values.append(self._db.among(ids))
        sql = f"SELECT {FACT_SQL} FROM facts WHERE {' AND '.join(where)} ORDER BY facts.id"  # noqa: S608
        sql += " LIMIT ? OFFSET ?"
        values += [-1 if limit is None else _count("limit", limit), _count("offset", offset)]
        return [fact_from_row(row) for row in self._db.query(sql, values)]

    def search(
        self,
        query: str,
        *,
        agent: str | None = None,
        kind: str | None = None,
        limit: int = 10,
        include_history: bool = False,
    ) -> list[Fact]:
        """Find facts by words, best first (BM25; accents and case don't matter).

        Any word may match. The query is taken as plain text whatever it holds. Where no word
        matches (emoji, a part of a word, scripts without spaces), facts that hold a piece of
        the query literally are found instead.

        Args:
            query: What to look for.
            agent: Only this agent; None is all.
            kind: Only this kind; None is all.
            limit: At most so many.
            include_history: Also superseded, merged and forgotten facts.
        """
        where, values = _conditions(agent, None if include_history else LIVE)
        if kind is not None:
            where.append("facts.kind = ?")
            values.append(kind)
        condition = " AND ".join(where)
        expression = match_expression(query)
        if expression is None:
            return []
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts_fts "  # noqa: S608
            "JOIN facts ON facts.number = facts_fts.rowid "
            f"WHERE facts_fts MATCH ? AND {condition} "
            "ORDER BY bm25(facts_fts), facts.id LIMIT ?",
            (expression, *values, _count("limit", limit)),
        )
        if not rows:
            rows = self._db.query(
                f"SELECT {FACT_SQL} FROM facts WHERE {condition} AND EXISTS ("  # noqa: S608
                "SELECT 1 FROM json_each(?) AS piece WHERE instr(facts.text, piece.value)) "
                "ORDER BY facts.id LIMIT ?",
                (*values, self._db.among(literal_pieces(query)), limit),
            )
        return [fact_from_row(row) for row in rows]

    def agents(self) -> dict[str, int]:
        """Return each agent with the number of its live facts; agents with none count 0."""
        rows = self._db.query(
            f"SELECT agent, sum({LIVE_SQL}) FROM facts GROUP BY agent ORDER BY agent"  # noqa: S608
        )
        return dict(rows)


def _natural(row: tuple[Any, ...]) -> _Natural:
    return (row[_AGENT], row[_KIND], row[_HASH], row[_STATED_AT], row[_SOURCE])


def _conditions(
    agent: str | None, statuses: Collection[FactStatus] | None
) -> tuple[list[str], list[Any]]:
    where, values = ["1"], []
    if agent is not None:
        where.append("facts.agent = ?")
        values.append(agent)
    if statuses is not None:
        if frozenset(statuses) == LIVE:
            where.append(LIVE_SQL)
        else:
            where.append(f"facts.status IN ({placeholders(statuses)})")
            values.extend(_status(status) for status in statuses)
    return where, values


def _status(status: FactStatus | str) -> str:
    try:
        return FactStatus(status).value
    except ValueError as error:
        known = ", ".join(FactStatus)
        raise InputError(f"status {status!r} must be one of {known}") from error


def _count(what: str, number: int) -> int:
    if number < 0:
        raise InputError(f"{what} {number!r} must not be negative")
    return number
