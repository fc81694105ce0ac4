"""Looking entities up, and what people declare about them.

Declarations (names, pins, entities that no fact names) are content: journalled in runs, exported,
and read by every later run. What is looked up is derived from them and from the facts.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from consolidate.errors import InputError, NotFoundError
from consolidate.names import bearer_key, entity_key, name_of_key
from consolidate.serialise import canonical
from consolidate.store.entity_names import NamePart
from consolidate.store.journal import JournalPart, row_key
from consolidate.store.rows import (
    FACT_SQL,
    LIVE_SQL,
    alias_to_row,
    declared_to_row,
    fact_from_row,
    pin_to_row,
)
from consolidate.store.validation import check_alias, check_name
from consolidate.times import format_time
from consolidate.types import Alias, DeclaredEntity, Doubt, EntityPin, Fact

__all__ = ["Declarations", "NamedEntity", "RegistryPart"]

_ENTITY_SQL = "entities.id, entities.key, entities.name, entities.type, entities.note"


@dataclass(frozen=True, kw_only=True)
class NamedEntity:
    """An entity, and the name by which it was found."""

    id: int
    key: str
    name: str
    type: str
    note: str
    by: str = ""
    """Key of the name that led to it."""
    text: str = ""
    """That name as written."""
    origin: str = ""
    """`name`, `declared` or `written`: where the name is from."""


@dataclass(frozen=True, kw_only=True)
class Declarations:
    """Rows to declare, and declared rows to take back."""

    aliases: tuple[Alias, ...] = ()
    entities: tuple[DeclaredEntity, ...] = ()
    pins: tuple[EntityPin, ...] = ()
    no_aliases: tuple[Alias, ...] = ()
    no_entities: tuple[DeclaredEntity, ...] = ()
    no_pins: tuple[EntityPin, ...] = ()


class RegistryPart(NamePart, JournalPart):
    """The store's methods for looking entities up and declaring things about them."""

    # Looking up

    def entities_named(self, agent: str, column: str, keys: Sequence[str]) -> list[NamedEntity]:
        """Entities by a key of one of their names.

        Args:
            agent: Whose.
            column: `key`, `sound`, `first` or `last`: which key of the name is compared.
            keys: What it may be.
        """
        if column not in ("key", "sound", "first", "last"):
            raise InputError(f"no names are looked up by {column!r}")
        # Left to itself, SQLite would go through all names or entities of the agent.
        index = "" if column == "key" else f"INDEXED BY entity_names_by_{column} "
        rows = self._db.query(
            f"SELECT {_ENTITY_SQL}, entity_names.key, entity_names.text, origin "  # noqa: S608
            f"FROM json_each(?2) AS wanted CROSS JOIN entity_names {index}"
            f"ON entity_names.agent = ?1 AND entity_names.{column} = wanted.value "
            "CROSS JOIN entities ON entities.id = entity",
            (agent, self._db.among(keys)),
        )
        return sorted(map(_named, rows), key=lambda each: (each.id, each.origin, each.text))

    def names_like(self, agent: str, key: str) -> list[tuple[str, int]]:
        """Names, first and last words of them, that may be a key with a slip in it.

        For finding slips in typing; reads all names of the agent.
        """
        return [
            (near, entity)
            for near, entity in self._db.query(
                " UNION ".join(
                    f"SELECT {column}, entity FROM entity_names WHERE agent = ?1 "  # noqa: S608
                    f"AND length({column}) BETWEEN length(?2) - 2 AND length(?2) + 2 "
                    f"AND (substr({column}, 1, 1) = substr(?2, 1, 1) "
                    f"OR substr({column}, 2, 1) = substr(?2, 2, 1))"
                    for column in ("key", "first", "last")
                ),
                (agent, key),
            )
        ]

    def entity_of(self, agent: str, reference: str | int) -> NamedEntity | None:
        """One entity by its number or its key; None if there is none."""
        column = "id" if isinstance(reference, int) else "key"
        row = self._db.one(
            f"SELECT {_ENTITY_SQL} FROM entities WHERE agent = ? AND {column} = ?",  # noqa: S608
            (agent, reference),
        )
        return None if row is None else _named(row)

    def entity_list(
        self, agent: str, *, kind: str | None = None, limit: int = -1, offset: int = 0
    ) -> list[tuple[NamedEntity, int]]:
        """Entities with how many current facts they have, most facts first."""
        rows = self._db.query(
            f"SELECT {_ENTITY_SQL}, (SELECT count(*) FROM entity_facts "  # noqa: S608
            f"JOIN facts ON facts.id = fact WHERE entity = entities.id AND {LIVE_SQL}) AS live "
            "FROM entities WHERE agent = ?1 AND (?2 IS NULL OR type = ?2) "
            "ORDER BY live DESC, entities.key LIMIT ?3 OFFSET ?4",
            (agent, kind, limit, offset),
        )
        return [(_named(row), row[-1]) for row in rows]

    def names_of(self, entity: int) -> list[tuple[str, str]]:
        """Every way to write an entity's name with where it is from, declared ones first."""
        return [
            (text, origin)
            for text, origin in self._db.query(
                "SELECT text, min(origin) FROM entity_names WHERE entity = ? "
                "GROUP BY text ORDER BY 2, 1",
                (entity,),
            )
        ]

    def facts_of_entity(
        self, entity: int, *, history: bool = False
    ) -> list[tuple[Fact, str, float]]:
        """Facts of an entity with role and confidence: current ones first, then newest first.

        Args:
            entity: Its number.
            history: Also what was superseded or merged.
        """
        rows = self._db.query(
            f"SELECT {FACT_SQL}, role, confidence FROM entity_facts "  # noqa: S608
            "JOIN facts ON facts.id = fact WHERE entity = ? "
            f"AND {'1' if history else LIVE_SQL} "
            f"ORDER BY NOT {LIVE_SQL}, coalesce(stated_at, recorded_at) DESC, facts.id",
            (entity,),
        )
        return [(fact_from_row(row[:-2]), row[-2], row[-1]) for row in rows]

    def fact_ids_of_entity(self, entity: int) -> list[str]:
        """Ids of the facts linked to an entity, whatever their status."""
        return [
            row[0]
            for row in self._db.query(
                "SELECT fact FROM entity_facts WHERE entity = ? ORDER BY 1", (entity,)
            )
        ]

    def facts_with_entities(self, agent: str) -> set[str]:
        """Ids of the facts that are linked to an entity: those that a run has seen."""
        rows = self._db.query(
            "SELECT DISTINCT fact FROM entity_facts JOIN entities ON entities.id = entity "
            "WHERE agent = ?",
            (agent,),
        )
        return {row[0] for row in rows}

    def names_in_facts(self, agent: str, facts: Sequence[str]) -> list[tuple[str, str, int | None]]:
        """What facts name: fact, name as written, number of the entity it means if known."""
        return [
            (fact, text, entity)
            for fact, text, entity in self._db.query(
                "SELECT fact, fact_mentions.text, entity FROM fact_mentions "
                "JOIN facts ON facts.id = fact WHERE facts.agent = ? "
                "AND fact IN (SELECT value FROM json_each(?)) ORDER BY 1, start",
                (agent, self._db.among(facts)),
            )
        ]

    def doubts(self, agent: str) -> list[Doubt]:
        """Names in facts that fit several entities, sorted."""
        return [
            Doubt(fact=fact, name=name, candidates=tuple(json.loads(found)), reason=reason)
            for fact, name, found, reason in self._db.query(
                "SELECT fact, name, candidates, reason FROM entity_doubts WHERE agent = ? "
                "ORDER BY name, fact",
                (agent,),
            )
        ]

    def doubted(self, agent: str, name: str) -> list[str]:
        """Keys of the entities that a name may mean where facts leave it open, sorted."""
        rows = self._db.query(
            "SELECT candidates FROM entity_doubts WHERE agent = ? AND name = ?", (agent, name)
        )
        return sorted({key for (found,) in rows for key in json.loads(found)})

    # Declaring

    def declare_entity(
        self, agent: str, name: str, *, kind: str = "", note: str = "", now: datetime
    ) -> int:
        """Have an entity of this name; returns its number, always the same for the same name.

        Whoever stores a name first makes the entity, all others get that one: the check and the
        row are one transaction under the write lock. A name that another entity has as an alias
        only gets an entity of its own. If one of this name is known with another type, the two
        are two: the second gets a key of its own.

        Raises:
            InputError: The name is blank or can't be a name.
        """
        name = name.strip() if isinstance(name, str) else name
        check_name("agent", agent)
        check_name("name", name)
        wanted = entity_key(name)
        if not wanted:
            raise InputError(f"name {name!r} holds nothing that can be seen")
        kind = " ".join(kind.split()).casefold()
        with self._db.atomic():
            number, place = None, 0
            while number is None:
                place += 1
                key = wanted if place == 1 else bearer_key(wanted, place)
                row = self._db.one(
                    "SELECT id, type FROM entities WHERE agent = ? AND key = ?", (agent, key)
                )
                if row is None:
                    self._db.write(
                        "INSERT INTO entities (agent, key, name, type, note) "
                        "VALUES (?, ?, ?, ?, ?)",
                        (agent, key, name, kind, note),
                    )
                    number = int(self._db.value("SELECT last_insert_rowid()"))
                elif not kind or row[1] in ("", kind) or name_of_key(wanted) != wanted:
                    number = int(row[0])
            self._db.write(
                "INSERT INTO entity_declarations (agent, key, name, type, note, declared_at) "
                "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (agent, key) DO UPDATE SET "
                "type = ?4, declared_at = ?6 WHERE type = '' AND ?4 <> ''",
                (agent, key, name, kind, note, format_time(now)),
            )
            self._db.write(
                "UPDATE entities SET type = ?2 WHERE id = ?1 AND type = '' AND ?2 <> ''",
                (number, kind),
            )
            self.refresh_names(agent, only=number)
        return number

    def declare(self, declarations: Declarations, *, run: str) -> int:
        """Write and remove declarations inside a run, with their journal.

        Returns:
            Rows written or removed.

        Raises:
            InputError: A name can't be a name.
            NotFoundError: A pin is about a fact that is not there.
        """
        for alias in declarations.aliases:
            check_alias(alias)
        come: list[tuple[str, dict[str, Any]]] = []
        come += [("aliases", alias_to_row(each)) for each in declarations.aliases]
        come += [("entity_declarations", declared_to_row(each)) for each in declarations.entities]
        come += [("entity_pins", pin_to_row(each)) for each in declarations.pins]
        gone: list[tuple[str, dict[str, Any]]] = []
        gone += [("aliases", alias_to_row(each)) for each in declarations.no_aliases]
        gone += [
            ("entity_declarations", declared_to_row(each)) for each in declarations.no_entities
        ]
        gone += [("entity_pins", pin_to_row(each)) for each in declarations.no_pins]
        written = 0
        with self._db.atomic():
            for pin in declarations.pins:
                self._require_facts(pin.agent, pin.fact)
            for table, values in gone:
                key = row_key(table, values)
                before = self._current(table, key)
                if before is not None:
                    self._enter([(run, table, canonical(key), canonical(before), None)])
                    self._set(table, key, None, before)
                    written += 1
            for table, values in come:
                if self._current(table, row_key(table, values)) != values:
                    self._put(table, values, run)
                    written += 1
        return written

    def declared_in(self, run: str) -> bool:
        """Whether a run wrote or took back declarations about entities."""
        return (
            self._db.one(
                "SELECT 1 FROM journal WHERE run = ? AND subject IN "
                "('aliases', 'entity_declarations', 'entity_pins')",
                (self._run_id(run),),
            )
            is not None
        )

    def require_entity(self, agent: str, key: str) -> NamedEntity:
        """One entity by its key.

        Raises:
            NotFoundError: There is none.
        """
        found = self.entity_of(agent, key)
        if found is None:
            raise NotFoundError(f"no entity {key!r} of agent {agent!r} in {self._db.where}")
        return found

    def mentions_stored(self, agent: str) -> Mapping[str, list[tuple[int, int, str, str, float]]]:
        """What was found in each fact's text: start, end, text, label, score, in order."""
        found: dict[str, list[tuple[int, int, str, str, float]]] = {}
        for fact, *mention in self._db.query(
            "SELECT fact, start, stop, fact_mentions.text, label, score FROM fact_mentions "
            "JOIN facts ON facts.id = fact WHERE facts.agent = ? ORDER BY fact, start",
            (agent,),
        ):
            start, stop, text, label, score = mention
            found.setdefault(fact, []).append((start, stop, text, label, score))
        return found


def _named(row: Sequence[Any]) -> NamedEntity:
    by, text, origin = row[5:8] if len(row) >= 8 else ("", "", "")
    return NamedEntity(
        id=row[0],
        key=row[1],
        name=row[2],
        type=row[3],
        note=row[4],
        by=by,
        text=text,
        origin=origin,
    )
