"""What the graph of entities and facts is made of, and whether it changed since."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime
from typing import Final

from consolidate.store.derived import DerivedPart
from consolidate.store.edges import holding
from consolidate.store.rows import LIVE_SQL
from consolidate.times import format_time, parse_time

__all__ = ["SOURCE_OF", "WalkPart"]

SOURCE_OF: Final = "source_of"


class WalkPart(DerivedPart):
    """The store's methods for walking between entities and facts."""

    def graph_revision(self) -> int:
        """A number that is another after any change of entities, edges or what holds."""
        return int(self._db.value("SELECT number FROM graph_revision"))

    def next_end(self, agent: str, now: datetime) -> datetime | None:
        """When the first of the facts that hold now will be over, as far as that is known."""
        first = self._db.value(
            f"SELECT min(valid_to) FROM facts WHERE agent = ?1 AND {LIVE_SQL} "  # noqa: S608
            "AND valid_to > ?2 AND kind <> 'event'",
            (agent, format_time(now)),
        )
        return None if first is None else parse_time(first)

    def entity_fact_links(
        self,
        agent: str,
        *,
        history: bool = False,
        as_of: datetime | None = None,
        now: datetime | None = None,
    ) -> list[tuple[int, str]]:
        """Which facts name which entities, sorted.

        Args:
            agent: Whose.
            history: All of them, not only those that hold now.
            as_of: Instead, those that held at this time.
            now: The present moment: leave out those whose validity is over.
        """
        held, moment = holding("?2", history=history, as_of=as_of, now=now)
        rows = self._db.query(
            "SELECT entity_facts.entity, facts.id FROM entity_facts "  # noqa: S608
            "JOIN facts ON facts.id = entity_facts.fact "
            f"WHERE facts.agent = ?1 AND {held} ORDER BY entity_facts.entity, facts.id",
            (agent, *moment),
        )
        return [(int(entity), str(fact)) for entity, fact in rows]

    def ties_of(self, agent: str, fact_id: str) -> list[tuple[str, str, str]]:
        """What a fact of an agent is tied to in history: (from, to, how), sorted.

        `superseded_by` and `merged_into` lead from the earlier fact to the later one; `source_of`
        from a fact to a note made from it; a link from its left side to its right.
        """
        rows = self._db.query(
            "SELECT id, superseded_by, 'superseded_by' FROM facts "
            "WHERE agent = ?1 AND superseded_by IS NOT NULL AND (id = ?2 OR superseded_by = ?2) "
            "UNION SELECT id, merged_into, 'merged_into' FROM facts "
            "WHERE agent = ?1 AND merged_into IS NOT NULL AND (id = ?2 OR merged_into = ?2) "
            "UNION SELECT left_fact, right_fact, relation FROM links "
            "WHERE agent = ?1 AND (left_fact = ?2 OR right_fact = ?2) ORDER BY 1, 2, 3",
            (agent, fact_id),
        )
        ties = [(str(start), str(end), str(how)) for start, end, how in rows]
        ties += [(source, fact_id, SOURCE_OF) for source in self.sources_of(agent, fact_id)]
        ties += [(fact_id, note, SOURCE_OF) for note in sorted(self.notes_from(agent, [fact_id]))]
        return ties

    def entities_of_fact(self, fact_id: str) -> list[int]:
        """Numbers of the entities that a fact names, sorted."""
        rows = self._db.query(
            "SELECT entity FROM entity_facts WHERE fact = ? ORDER BY entity", (fact_id,)
        )
        return [int(row[0]) for row in rows]

    def names_of_entities(self, entities: Collection[int]) -> dict[int, str]:
        """Names of entities by number."""
        rows = self._db.query(
            "SELECT id, name FROM entities WHERE id IN (SELECT value FROM json_each(?))",
            (self._db.among(list(entities)),),
        )
        return {int(number): str(name) for number, name in rows}

    def entity_labels(self, agent: str) -> dict[int, tuple[str, str, str]]:
        """Key, name and type of an agent's entities, by number."""
        rows = self._db.query(
            "SELECT id, key, name, type FROM entities WHERE agent = ? ORDER BY id", (agent,)
        )
        return {int(number): (key, name, kind) for number, key, name, kind in rows}
