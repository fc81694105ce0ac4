"""Entities after the rules for names have changed.

When the rules take more spellings for one name than before, entities that were two become one. A
migration calls `rekey_entities`; the merge comes before the new keys, so that no two rows ever
have one key, and every link is kept.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable

from consolidate.names import entity_key
from consolidate.store.database import Database

__all__ = ["rekey_entities"]


def rekey_entities(database: Database, key_of: Callable[[str], str] = entity_key) -> int:
    """Give every entity the key that its present key has by the rules of today.

    Of entities that become equal, the one stored first stays and takes over the facts, mentions
    and declarations of the others. Runs inside the caller's transaction.

    Args:
        database: The store's database.
        key_of: The rules; tests pass others.

    Returns:
        How many entities were merged into another.
    """
    gone = 0
    same: dict[tuple[str, str], list[int]] = defaultdict(list)
    keys: dict[int, str] = {}
    for number, agent, key in database.query("SELECT id, agent, key FROM entities ORDER BY id"):
        same[agent, key_of(key) or key].append(number)
        keys[number] = key
    changed = []
    for (_, new), (kept, *others) in same.items():
        for other in others:
            _move(database, other, kept)
            gone += 1
        if keys[kept] != new:
            changed.append((new, kept))
    # Over keys that none can have: a new key may still be the old one of the next row.
    database.write_many("UPDATE entities SET key = '\t' || id WHERE id = ?2 AND ?1 <> ''", changed)
    database.write_many("UPDATE entities SET key = ? WHERE id = ?", changed)
    _rekey(database, "entity_declarations", "agent, key, name, type, note, declared_at", 1, key_of)
    _rekey(database, "entity_pins", "fact, name, agent, entity, declared_at", 1, key_of)
    _rekey(database, "entity_pins", "fact, name, entity, agent, declared_at", 2, key_of)
    return gone


def _move(database: Database, old: int, new: int) -> None:
    """Hang everything of one entity on another."""
    for table in ("entity_facts", "entity_names"):
        database.write(f"UPDATE OR IGNORE {table} SET entity = ? WHERE entity = ?", (new, old))  # noqa: S608
        database.write(f"DELETE FROM {table} WHERE entity = ?", (old,))  # noqa: S608
    database.write("UPDATE fact_mentions SET entity = ? WHERE entity = ?", (new, old))
    if database.one("SELECT 1 FROM sqlite_schema WHERE name = 'edges'"):  # since migration 8
        for end in ("source", "target"):
            database.write(f"UPDATE OR IGNORE edges SET {end} = ? WHERE {end} = ?", (new, old))  # noqa: S608
    database.write(
        "UPDATE entities SET type = (SELECT type FROM entities WHERE id = ?2) "
        "WHERE id = ?1 AND type = ''",
        (new, old),
    )
    database.write("DELETE FROM entities WHERE id = ?", (old,))


def _rekey(
    database: Database, table: str, columns: str, position: int, key_of: Callable[[str], str]
) -> None:
    """Replace the key in one column; a row that is there already under the new key stays."""
    names = columns.split(", ")
    marks = ", ".join("?" * len(names))
    changed = []
    for row in database.query(f"SELECT {columns} FROM {table}"):  # noqa: S608
        new = key_of(row[position]) or row[position]
        if new != row[position]:
            changed.append((row, (*row[:position], new, *row[position + 1 :])))
    same = " AND ".join(f"{name} IS ?" for name in names)
    database.write_many(f"DELETE FROM {table} WHERE {same}", [old for old, _ in changed])  # noqa: S608
    database.write_many(
        f"INSERT OR IGNORE INTO {table} ({columns}) VALUES ({marks})",  # noqa: S608
        [new for _, new in changed],
    )
