"""Reading a part of a memory: what a few facts are to be judged against, and what came since.

`snapshot` reads everything for a run. Whoever takes in one sentence can't afford that; here the
same is read for a handful of facts, so that the same stages decide about them.
"""

from __future__ import annotations

from collections.abc import Collection

from consolidate.serialise import canonical, digest
from consolidate.store.derived import NOTE_SQL
from consolidate.store.entities import EntityPart
from consolidate.store.rows import FACT_SQL, LIVE, fact_digest, fact_from_row, ordered
from consolidate.store.snapshots import SnapshotPart
from consolidate.types import Fact, FactStatus, Snapshot

__all__ = ["NearbyPart"]

_TAKE_PART = sorted(status.value for status in LIVE | {FactStatus.SUPERSEDED})


class NearbyPart(SnapshotPart, EntityPart):
    """The store's methods that read what surrounds a few facts."""

    def newest(self, agent: str) -> int:
        """A number that rises with every fact added to an agent's memory; 0 if it has none."""
        found = self._db.value("SELECT max(number) FROM facts WHERE agent = ?", (agent,))
        return int(found or 0)

    def facts_since(self, agent: str, number: int) -> list[Fact]:
        """Facts that were added after `newest` gave this number, in the order they came."""
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts WHERE agent = ? AND number > ? "  # noqa: S608
            "ORDER BY number",
            (agent, number),
        )
        return [fact_from_row(row) for row in rows]

    def same_text(self, agent: str, hashes: Collection[str]) -> list[Fact]:
        """An agent's facts of any status with one of these content hashes, oldest first."""
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts WHERE agent = ? "  # noqa: S608
            "AND content_hash IN (SELECT value FROM json_each(?)) ORDER BY number",
            (agent, self._db.among(list(hashes))),
        )
        return [fact_from_row(row) for row in rows]

    def neighbourhood(self, agent: str, ids: Collection[str]) -> Snapshot:
        """Read some facts as `snapshot` reads all of them.

        Merged and forgotten ones are left out. What superseded a fact, and what a fact
        superseded, comes along.
        """
        with self._db.reading():
            facts = self._standing(agent, ids)
            around = [
                str(row[0])
                for row in self._db.query(
                    "SELECT id FROM facts WHERE superseded_by IN (SELECT value FROM json_each(?))",
                    (self._db.among(list(facts)),),
                )
            ]
            successors = [f.superseded_by for f in facts.values() if f.superseded_by]
            heirs = self._heirs(successors)
            facts |= self._standing(agent, [*around, *successors, *heirs.values()])
            absorbed = self._absorbed(facts)
            within = set(facts) | absorbed.keys()
            decided = [
                (left, right)
                for left, right in [*self._reviewed(within), *self._undone(agent)]
                if left in within and right in within
            ]
            linked = [
                ordered(left, right)
                for left, right in self._db.query(
                    "SELECT DISTINCT left_fact, right_fact FROM links WHERE left_fact IN "
                    "(SELECT value FROM json_each(?1)) AND right_fact IN "
                    "(SELECT value FROM json_each(?1))",
                    (self._db.among(list(facts)),),
                )
            ]
            aliases = self.aliases(agent)
            declared = self.declared_entities(agent)
            pins = tuple(pin for pin in self.pins(agent) if pin.fact in facts)
        pairs = {ordered(left, right) for left, right in decided}
        pairs |= {ordered(absorbed.get(a, a), absorbed.get(b, b)) for a, b in decided}
        settled = frozenset((a, b) for a, b in pairs if a != b)
        standing = tuple(facts[fact] for fact in sorted(facts))
        return Snapshot(
            agent=agent,
            facts=standing,
            aliases=aliases,
            declared=declared,
            pins=pins,
            settled=settled,
            linked=frozenset(linked),
            heirs=heirs,
            digest=digest(
                [
                    agent,
                    [fact_digest(fact) for fact in standing],
                    sorted(settled),
                    sorted(linked),
                    canonical([[a.canonical, a.alias, a.never] for a in aliases]),
                ]
            ),
        )

    def _standing(self, agent: str, ids: Collection[str]) -> dict[str, Fact]:
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts WHERE agent = ?1 "  # noqa: S608
            "AND id IN (SELECT value FROM json_each(?2)) "
            f"AND status IN (SELECT value FROM json_each(?3)) AND NOT {NOTE_SQL}",
            (agent, self._db.among(list(ids)), self._db.among(_TAKE_PART)),
        )
        return {row[0]: fact_from_row(row) for row in rows}

    def _heirs(self, facts: Collection[str]) -> dict[str, str]:
        """Merged facts with what they were merged into at last."""
        rows = self._db.query(
            "WITH RECURSIVE chain (start, at, step) AS ("
            "SELECT value, value, 0 FROM json_each(?) UNION "
            "SELECT start, merged_into, step + 1 FROM chain JOIN facts ON facts.id = at "
            "WHERE merged_into IS NOT NULL AND status = 'merged' AND step < 1000) "
            "SELECT start, at, max(step) FROM chain GROUP BY start",
            (self._db.among(list(facts)),),
        )
        return {start: at for start, at, _ in rows if start != at}

    def _absorbed(self, facts: Collection[str]) -> dict[str, str]:
        """Facts that were merged into some, also over others, each with the one that stands."""
        return dict(
            self._db.query(
                "WITH RECURSIVE into_ (id, heir, step) AS ("
                "SELECT value, value, 0 FROM json_each(?) UNION "
                "SELECT facts.id, heir, step + 1 FROM facts JOIN into_ "
                "ON facts.merged_into = into_.id WHERE facts.status = 'merged' AND step < 1000) "
                "SELECT id, heir FROM into_ WHERE step > 0",
                (self._db.among(list(facts)),),
            )
        )

    def _reviewed(self, facts: Collection[str]) -> list[tuple[str, str]]:
        among = self._db.among(list(facts))
        return [
            (left, right)
            for left, right in self._db.query(
                "SELECT left_fact, right_fact FROM reviews "
                "WHERE left_fact IN (SELECT value FROM json_each(?))",
                (among,),
            )
        ]
