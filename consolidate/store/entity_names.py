"""The names under which entities are found: derived from entities, mentions and declared names."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from consolidate.graph.naming import exact_only, parts_of, sound
from consolidate.names import entity_key, name_key, name_of_key
from consolidate.store.base import Part
from consolidate.store.database import Database

__all__ = ["NamePart", "fill_names"]

_COLUMNS = "agent, key, entity, text, origin, sound, first, last"
_Row = tuple[str, str, int, str, str, str, str, str]


class NamePart(Part):
    """The store's method that keeps the names in step with what they are derived from."""

    def refresh_names(self, agent: str, *, only: int | None = None) -> int:
        """Bring the names of an agent's entities up to date; writes only what differs.

        Args:
            agent: Whose entities.
            only: The number of one entity, to leave the others alone.

        Returns:
            Rows written or removed.
        """
        return fill_names(self._db, agent, only=only)


def fill_names(database: Database, agent: str, *, only: int | None = None) -> int:
    """Make the rows of `entity_names`; see `NamePart.refresh_names`."""
    mine, values = ("agent = ?1 AND (?2 IS NULL OR {} = ?2)", (agent, only))
    with database.reading():
        wanted = _wanted(database, agent, only)
        known = set(
            database.query(
                f"SELECT {_COLUMNS} FROM entity_names WHERE {mine.format('entity')}",  # noqa: S608
                values,
            )
        )
    gone, come = known - wanted, wanted - known
    if not gone and not come:
        return 0
    with database.atomic():
        written = database.write_many(
            "DELETE FROM entity_names WHERE agent = ? AND key = ? AND entity = ? AND text = ?",
            [row[:4] for row in gone],
        )
        # What was read may be old by now: an entity may be gone, or another may have come first.
        written += database.write_many(
            f"INSERT OR REPLACE INTO entity_names ({_COLUMNS}) "  # noqa: S608
            "SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8 "
            "WHERE EXISTS (SELECT 1 FROM entities WHERE id = ?3)",
            sorted(come),
        )
    return written


def _wanted(database: Database, agent: str, only: int | None) -> set[_Row]:
    entities = database.query(
        "SELECT id, key, name FROM entities WHERE agent = ?1 AND (?2 IS NULL OR id = ?2)",
        (agent, only),
    )
    by_key = {key: number for number, key, _ in entities}
    found: dict[tuple[int, str], tuple[str, str]] = {}
    for number, text in database.query(
        "SELECT DISTINCT entity, text FROM fact_mentions JOIN entities ON entities.id = entity "
        "WHERE agent = ?1 AND (?2 IS NULL OR entities.id = ?2)",
        (agent, only),
    ):
        found[number, text] = (name_key(text), "written")
    declared = database.query(
        "SELECT canonical, alias FROM aliases WHERE agent = ? AND NOT never", (agent,)
    )
    for number, text in _declared(declared, by_key):
        found[number, text] = (name_key(text), "declared")
    for number, _, name in entities:
        found[number, name] = (name_key(name), "name")
    keys = {(number, key) for (number, _), (key, _) in found.items()}
    for number, key, _ in entities:
        if (number, name_of_key(key)) not in keys:
            found[number, name_of_key(key)] = (name_of_key(key), "written")
    return {
        (agent, key, number, text, origin, *_index(key))
        for (number, text), (key, origin) in found.items()
        if key
    }


def _declared(rows: Sequence[tuple[str, ...]], by_key: dict[str, int]) -> Iterable[tuple[int, str]]:
    """Declared names with the entity they lead to, also over other declared names."""
    leads: dict[str, set[str]] = defaultdict(set)
    for canonical, alias in rows:
        leads[entity_key(alias)].add(entity_key(canonical))
    for canonical, alias in rows:
        seen: set[str] = set()
        waiting = [entity_key(canonical)]
        while waiting:
            key = waiting.pop()
            if key in seen:
                continue
            seen.add(key)
            if key in by_key:
                yield by_key[key], alias
                yield by_key[key], canonical
            else:
                waiting += leads.get(key, ())


def _index(key: str) -> tuple[str, str, str]:
    """By what else a name is found: its sound, its first and its last word."""
    if exact_only(key):
        return key, "", ""
    words = parts_of(key).words
    return sound(" ".join(words)), words[0], words[-1]
