"""Edges between entities: what facts state, read off them and linked by what their names mean.

An edge is derived and lives with its fact: superseding the fact closes it, undoing that opens it
again, forgetting the fact removes it.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from consolidate.store.base import Part
from consolidate.store.caches import chunks
from consolidate.store.rows import LIVE_SQL
from consolidate.times import format_time
from consolidate.types import Edge, Triple

__all__ = ["EdgePart", "EdgeRow", "edge_rows", "holding"]

_HELD_SQL = (
    f"status NOT IN ('merged', 'forgotten') AND CASE WHEN {LIVE_SQL} "  # noqa: S608
    "THEN valid_to IS NULL OR valid_to > {moment} ELSE coalesce(valid_to, "
    "(SELECT started_at FROM runs WHERE runs.id = changed_by)) > {moment} END "
    "AND coalesce(valid_from, stated_at, recorded_at) <= {moment}"
)
"""That a fact held at a moment; one that was retired holds up to the end that this gave it, else
up to the run that did it."""

_NOT_OVER_SQL = f"{LIVE_SQL} AND (valid_to IS NULL OR valid_to > {{moment}} OR kind = 'event')"
"""That a fact holds at the present moment. An event that is over has still happened."""


def holding(
    mark: str, *, history: bool = False, as_of: datetime | None = None, now: datetime | None = None
) -> tuple[str, tuple[str, ...]]:
    """A condition for facts that hold, and the value of its mark, if it has one.

    Args:
        mark: The mark for a moment, such as `?3`; the last of its query.
        history: All facts.
        as_of: Those that held at this time.
        now: Those that hold at this, the present moment; without it, those that were not retired.
    """
    if as_of is not None:
        return _HELD_SQL.format(moment=mark), (format_time(as_of),)
    if history or now is None:
        return "1" if history else LIVE_SQL, ()
    return _NOT_OVER_SQL.format(moment=mark), (format_time(now),)


EdgeRow = tuple[int, str, int | None, str, float]
"""Source, predicate, target, value, weight."""

_EDGE_SQL = "edges.source, predicate, value, target, fact, weight"


def edge_rows(
    triples: Sequence[Triple],
    mentions: Sequence[tuple[int, int, int | None]],
    user: int | None,
) -> set[EdgeRow]:
    """Link triples of a text to entities.

    Args:
        triples: What the text states.
        mentions: What it names: start, end, number of the entity if it is known.
        user: Number of the entity that is the user.

    Returns:
        Rows of the triples whose subject is an entity.
    """
    # Said twice in one text it is one edge; the one that leads to an entity says more.
    rows: dict[tuple[int, str, str], EdgeRow] = {}
    for triple in triples:
        source = user if triple.subject is None else _named(triple.subject, mentions)
        if source is not None:
            target = _named(triple.object, mentions)
            target = None if target == source else target
            same = (source, triple.predicate, triple.value)
            if same not in rows or rows[same][2] is None:
                rows[same] = (source, triple.predicate, target, triple.value, triple.weight)
    return set(rows.values())


def _named(span: tuple[int, int], mentions: Sequence[tuple[int, int, int | None]]) -> int | None:
    """The entity of the mention that begins a span, or fills most of it."""
    start, end = span
    inside = [
        (first != start, first - last, entity)
        for first, last, entity in mentions
        if entity is not None and start <= first and last <= end
    ]
    if not inside:
        return None
    later, length, entity = min(inside)
    # "the retry worker of Orion" is not Orion
    return entity if not later or -2 * length >= end - start else None


class EdgePart(Part):
    """The store's methods for edges."""

    def save_edges(self, agent: str, wanted: Mapping[str, set[EdgeRow]]) -> int:
        """Set the edges of some facts; returns the rows written, 0 if all was so already."""
        known: dict[str, set[EdgeRow]] = defaultdict(set)
        for fact, *edge in self._db.query(
            "SELECT fact, source, predicate, target, value, weight FROM edges WHERE agent = ?",
            (agent,),
        ):
            source, predicate, target, value, weight = edge
            known[fact].add((source, predicate, target, value, weight))
        changed = [fact for fact in sorted(wanted) if wanted[fact] != known[fact]]
        written = 0
        for chunk in chunks(changed):
            rows = [(agent, fact, *row) for fact in chunk for row in sorted(wanted[fact], key=str)]
            with self._db.atomic():
                written += self._db.write(
                    "DELETE FROM edges WHERE fact IN (SELECT value FROM json_each(?))",
                    (self._db.among(chunk),),
                )
                # A fact may have been forgotten since it was read, and its entities with it.
                written += self._db.write_many(
                    "INSERT OR IGNORE INTO edges "
                    "(agent, fact, source, predicate, target, value, weight) "
                    "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7 "
                    "WHERE EXISTS (SELECT 1 FROM facts WHERE id = ?2) "
                    "AND EXISTS (SELECT 1 FROM entities WHERE id = ?3) "
                    "AND (?5 IS NULL OR EXISTS (SELECT 1 FROM entities WHERE id = ?5))",
                    rows,
                )
        return written

    def edges(
        self,
        agent: str,
        *,
        entity: int | None = None,
        history: bool = False,
        as_of: datetime | None = None,
        now: datetime | None = None,
    ) -> list[Edge]:
        """Edges of an agent, sorted by source, predicate and fact.

        Args:
            agent: Whose.
            entity: Only those from or to this entity.
            history: Also those whose facts no longer hold.
            as_of: Instead, those whose facts held at this time.
            now: The present moment: leave out those whose validity is over.
        """
        held, moment = holding("?3", history=history, as_of=as_of, now=now)
        of_entity = (
            "?2 IS NULL"
            if entity is None
            else "edges.number IN (SELECT number FROM edges WHERE source = ?2 "
            "UNION SELECT number FROM edges WHERE target = ?2)"
        )
        rows = self._db.query(
            f"SELECT {_EDGE_SQL}, {LIVE_SQL} FROM edges "  # noqa: S608
            f"JOIN facts ON facts.id = fact WHERE edges.agent = ?1 AND {of_entity} AND {held} "
            "ORDER BY edges.source, predicate, fact, value",
            (agent, entity, *moment),
        )
        return [_edge(row) for row in rows]


def _edge(row: Sequence[Any]) -> Edge:
    source, predicate, value, target, fact, weight, live = row
    return Edge(
        source=source,
        predicate=predicate,
        value=value,
        target=target,
        fact=fact,
        weight=weight,
        live=bool(live),
    )
