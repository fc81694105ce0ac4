"""Entities, their mentions in facts, and the names a person declared.

Entities and mentions are read off the facts by an extractor and can be made again at any time;
declared aliases can't, they are content.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from consolidate.store.base import Part
from consolidate.store.caches import chunks
from consolidate.store.records import Entity
from consolidate.store.validation import check_alias, check_name
from consolidate.types import Alias, Groups, Mention

__all__ = ["EntityPart"]

_MentionRow = tuple[str, int, int, str, str, float, int | None]


class EntityPart(Part):
    """The store's methods for entities and aliases."""

    def save_entities(
        self, agent: str, groups: Groups, mentions: Mapping[str, Sequence[Mention]]
    ) -> int:
        """Bring entities and mentions up to date for the facts given.

        Facts that neither `groups` nor `mentions` names keep what they have; entities that no
        fact names any more go. Writes only what differs, in short transactions.

        Args:
            agent: Whose facts they are.
            groups: Entities, and which facts mention them.
            mentions: Fact id to what was found in its text.

        Returns:
            Rows written; 0 if all was so already.
        """
        check_name("agent", agent)
        ids, written = self._save_names(agent, groups)
        members = _members(groups)
        linker = _Linker(self.aliases(agent))
        wanted_members: dict[str, set[int]] = {}
        wanted_mentions: dict[str, set[_MentionRow]] = {}
        for fact in sorted(members.keys() | mentions.keys()):
            keys = members.get(fact, set())
            wanted_members[fact] = {ids[key] for key in keys}
            wanted_mentions[fact] = {
                _mention_row(fact, mention, linker.entity_of(mention.text, keys), ids)
                for mention in mentions.get(fact, ())
            }
        with self._db.reading():
            known_members = _grouped(
                self._db.query(
                    "SELECT entity_facts.fact, entity FROM entity_facts "
                    "JOIN entities ON entities.id = entity WHERE entities.agent = ?",
                    (agent,),
                )
            )
            known_mentions = _grouped(
                (row[0], row)
                for row in self._db.query(
                    "SELECT fact, start, stop, fact_mentions.text, label, score, entity "
                    "FROM fact_mentions JOIN facts ON facts.id = fact WHERE facts.agent = ?",
                    (agent,),
                )
            )
        changed_members = [f for f, new in wanted_members.items() if new != known_members[f]]
        for chunk in chunks(changed_members):
            rows = [(entity, fact) for fact in chunk for entity in sorted(wanted_members[fact])]
            written += self._replace("entity_facts", "entity, fact", chunk, rows)
        changed_mentions = [f for f, new in wanted_mentions.items() if new != known_mentions[f]]
        for chunk in chunks(changed_mentions):
            found = [row for fact in chunk for row in sorted(wanted_mentions[fact], key=_place)]
            columns = "fact, start, stop, text, label, score, entity"
            written += self._replace("fact_mentions", columns, chunk, found)
        return written + self._drop_unnamed(agent)

    def entities(self, agent: str) -> list[Entity]:
        """Return an agent's entities, sorted by key, with other names and facts."""
        with self._db.reading():
            rows = self._db.query(
                "SELECT id, agent, name, key FROM entities WHERE agent = ? ORDER BY key", (agent,)
            )
            facts = _grouped(
                self._db.query(
                    "SELECT entity, fact FROM entity_facts "
                    "JOIN entities ON entities.id = entity WHERE agent = ?",
                    (agent,),
                )
            )
            written = _grouped(
                self._db.query(
                    "SELECT DISTINCT entity, text FROM fact_mentions "
                    "JOIN entities ON entities.id = entity WHERE agent = ?",
                    (agent,),
                )
            )
            declared = self.aliases(agent)
        linker = _Linker(declared)
        for alias in declared:
            for row in rows:
                if not alias.never and linker.entity_of(alias.alias, {row[3]}):
                    written[row[0]].add(alias.alias)
        return [
            Entity(
                id=row[0],
                agent=row[1],
                name=row[2],
                key=row[3],
                aliases=tuple(sorted(written[row[0]] - {row[2]})),
                facts=tuple(sorted(facts[row[0]])),
            )
            for row in rows
        ]

    def add_alias(self, alias: Alias) -> None:
        """Declare that two names mean the same, or (`never`) that they don't.

        The last word counts: declaring the same two names again replaces what was said.
        """
        check_alias(alias)
        with self._db.atomic():
            self._db.write(
                "INSERT INTO aliases (agent, canonical, alias, never) VALUES (?1, ?2, ?3, ?4) "
                "ON CONFLICT (agent, canonical, alias) DO UPDATE SET never = ?4 "
                "WHERE never <> ?4",
                (alias.agent, alias.canonical, alias.alias, int(alias.never)),
            )

    def aliases(self, agent: str) -> tuple[Alias, ...]:
        """Return what was declared for an agent, sorted."""
        rows = self._db.query(
            "SELECT agent, canonical, alias, never FROM aliases WHERE agent = ? "
            "ORDER BY canonical, alias",
            (agent,),
        )
        return tuple(
            Alias(agent=row[0], canonical=row[1], alias=row[2], never=bool(row[3])) for row in rows
        )

    def _save_names(self, agent: str, groups: Groups) -> tuple[dict[str, int], int]:
        sql = "SELECT key, id, name FROM entities WHERE agent = ?"
        known = {key: name for key, _, name in self._db.query(sql, (agent,))}
        changed = [g for g in groups.groups if known.get(g.key) != g.name]
        written = 0
        for chunk in chunks(changed):
            with self._db.atomic():
                written += self._db.write_many(
                    "INSERT INTO entities (agent, key, name) VALUES (?1, ?2, ?3) "
                    "ON CONFLICT (agent, key) DO UPDATE SET name = ?3",
                    [(agent, group.key, group.name) for group in chunk],
                )
        return {key: number for key, number, _ in self._db.query(sql, (agent,))}, written

    def _replace(
        self, table: str, columns: str, facts: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> int:
        """Set the rows of some facts; table and columns are words of this module."""
        marks = ", ".join("?" * len(columns.split(",")))
        with self._db.atomic():
            gone = self._db.write(
                f"DELETE FROM {table} WHERE fact IN (SELECT value FROM json_each(?))",  # noqa: S608
                (self._db.among(facts),),
            )
            come = self._db.write_many(
                f"INSERT INTO {table} ({columns}) VALUES ({marks})",  # noqa: S608
                rows,
            )
        return gone + come

    def _drop_unnamed(self, agent: str) -> int:
        condition = (
            "agent = ? "
            "AND NOT EXISTS (SELECT 1 FROM entity_facts WHERE entity = entities.id) "
            "AND NOT EXISTS (SELECT 1 FROM fact_mentions WHERE entity = entities.id)"
        )
        if not self._db.one(f"SELECT 1 FROM entities WHERE {condition} LIMIT 1", (agent,)):  # noqa: S608
            return 0
        with self._db.atomic():
            return self._db.write(f"DELETE FROM entities WHERE {condition}", (agent,))  # noqa: S608


class _Linker:
    """Tells which of a fact's entities a mention names, by its text and declared aliases."""

    def __init__(self, aliases: Iterable[Alias]) -> None:
        self._canonical: dict[str, set[str]] = defaultdict(set)
        for alias in aliases:
            if not alias.never:
                for form in _forms(alias.alias):
                    self._canonical[form] |= set(_forms(alias.canonical))

    def entity_of(self, text: str, keys: set[str]) -> str | None:
        """The entity's key, or None if the text names none of them or several."""
        forms = _forms(text)
        for form in forms:
            if form in keys:
                return form
        named = {key for form in forms for key in self._canonical.get(form, ()) if key in keys}
        return named.pop() if len(named) == 1 else None


def _forms(name: str) -> tuple[str, ...]:
    """A name as written and as compared; which of them is a key, the extractor decided."""
    trimmed = " ".join(unicodedata.normalize("NFKC", name).split())
    return (name, trimmed, trimmed.casefold())


def _members(groups: Groups) -> dict[str, set[str]]:
    members: dict[str, set[str]] = defaultdict(set)
    known = {group.key for group in groups.groups}
    for group in groups.groups:
        for fact in group.facts:
            members[fact].add(group.key)
    for fact, keys in groups.by_fact.items():
        members[fact] |= known.intersection(keys)
    return dict(members)


def _mention_row(
    fact: str, mention: Mention, key: str | None, ids: Mapping[str, int]
) -> _MentionRow:
    entity = None if key is None else ids[key]
    score = float(mention.score)
    return (fact, mention.start, mention.end, mention.text, mention.label, score, entity)


def _place(row: _MentionRow) -> tuple[int, int, str]:
    return (row[1], row[2], row[4])


def _grouped(pairs: Iterable[Sequence[Any]]) -> dict[Any, set[Any]]:
    groups: dict[Any, set[Any]] = defaultdict(set)
    for key, value in pairs:
        groups[key].add(value)
    return groups
