"""Notes made from facts, and the rule that none outlives what it rests on.

A note is a fact of kind `synthesis` whose metadata names its sources. Runs do not read it: it says
nothing that its sources don't say. In the transaction that retires a source the note is retired
too, so that no reader ever sees a retired claim in it.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from consolidate.store.base import Part
from consolidate.store.rows import FACT_SQL, LIVE, LIVE_SQL, fact_from_row
from consolidate.types import Fact, FactStatus

__all__ = ["NOTE_KIND", "NOTE_SQL", "DerivedPart"]

NOTE_KIND: Final = "synthesis"

_SOURCES: Final = "'$.synthesis.sources'"

NOTE_SQL: Final = f"(facts.kind = 'synthesis' AND json_type(facts.metadata, {_SOURCES}) IS 'array')"
"""Whether a fact is a note. What others call a synthesis, and does not name sources, is none."""

_NOTES: Final = "facts INDEXED BY facts_synthesised"
"""Left to itself, SQLite would go through all facts of an agent."""

_SOURCE: Final = f"json_each(facts.metadata, {_SOURCES}) AS source"


class DerivedPart(Part):
    """The store's methods for finding notes."""

    def notes(self, agent: str, *, entity: str | None = None) -> list[Fact]:
        """Return an agent's live notes, sorted by id; `entity` keeps those about that key."""
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM {_NOTES} WHERE agent = ?1 AND {NOTE_SQL} AND {LIVE_SQL} "  # noqa: S608
            "AND (?2 IS NULL OR json_extract(metadata, '$.synthesis.entity') = ?2) ORDER BY id",
            (agent, entity),
        )
        return [fact_from_row(row) for row in rows]

    def notes_from(self, agent: str, sources: Collection[str]) -> dict[str, str]:
        """Ids of the notes, also retired ones, that rest on some facts, each with one of these."""
        rows = self._db.query(
            f"SELECT facts.id, min(source.value) FROM {_NOTES}, {_SOURCE} "  # noqa: S608
            f"WHERE agent = ?1 AND {NOTE_SQL} "
            "AND source.value IN (SELECT value FROM json_each(?2)) GROUP BY facts.id",
            (agent, self._db.among(sorted(sources))),
        )
        return dict(rows)

    def sources_of(self, agent: str, fact_id: str) -> list[str]:
        """Ids of the facts that a note rests on, as far as they are there; of others, none."""
        rows = self._db.query(
            f"SELECT DISTINCT other.id FROM facts, {_SOURCE} "  # noqa: S608
            "JOIN facts AS other ON other.id = source.value AND other.agent = facts.agent "
            f"WHERE facts.id = ?2 AND facts.agent = ?1 AND {NOTE_SQL} ORDER BY 1",
            (agent, fact_id),
        )
        return [row[0] for row in rows]

    def drop_unfounded(self, agent: str) -> int:
        """Retire notes with a source that is not live, outside of any run; returns how many."""
        gone = [(FactStatus.SUPERSEDED.value, note) for note in self._unfounded(agent)]
        with self._db.atomic():
            return self._db.write_many("UPDATE facts SET status = ? WHERE id = ?", gone)

    def _unfounded(self, agent: str) -> dict[str, str]:
        """Live notes with a source that is not live, each with that source."""
        live = ", ".join(f"'{status}'" for status in sorted(LIVE))
        rows: list[tuple[Any, ...]] = self._db.query(
            f"SELECT facts.id, min(source.value) FROM {_NOTES}, {_SOURCE} "  # noqa: S608
            f"WHERE agent = ?1 AND {NOTE_SQL} AND {LIVE_SQL} AND NOT EXISTS ("
            "SELECT 1 FROM facts AS other WHERE other.id = source.value "
            f"AND other.agent = facts.agent AND other.status IN ({live})) "
            "GROUP BY facts.id",
            (agent,),
        )
        return dict(rows)
