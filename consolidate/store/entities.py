"""Entities, their mentions in facts, and the names a person declared.

Entities and mentions are read off the facts by an extractor and can be made again at any time;
declared aliases can't, they are content.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from consolidate.names import USER, name_key
from consolidate.serialise import canonical
from consolidate.store.caches import chunks
from consolidate.store.edges import EdgePart, edge_rows
from consolidate.store.entity_names import NamePart
from consolidate.store.records import Entity
from consolidate.store.rows import (
    ALIAS_COLUMNS,
    alias_from_row,
    declared_from_row,
    pin_from_row,
)
from consolidate.store.validation import check_alias, check_name
from consolidate.times import format_time
from consolidate.types import Alias, DeclaredEntity, EntityPin, Groups, Mention, Triple

__all__ = ["EntityPart"]

_MentionRow = tuple[str, int, int, str, str, float, int | None]


class EntityPart(NamePart, EdgePart):
    """The store's methods for entities and aliases."""

    def save_entities(
        self,
        agent: str,
        groups: Groups,
        mentions: Mapping[str, Sequence[Mention]],
        triples: Mapping[str, Sequence[Triple]] | None = None,
    ) -> int:
        """Bring entities, mentions and edges up to date for the facts given.

        Facts that neither `groups` nor `mentions` names keep what they have; entities that no
        fact names any more go. Writes only what differs, in short transactions.

        Args:
            agent: Whose facts they are.
            groups: Entities, and which facts mention them.
            mentions: Fact id to what was found in its text.
            triples: Fact id to what its text states; without them edges stay as they are.

        Returns:
            Rows written; 0 if all was so already.
        """
        check_name("agent", agent)
        members = _members(groups)
        ids, written = self._save_names(agent, groups, {k for own in members.values() for k in own})
        linker = _Linker(self.aliases(agent))
        wanted_members: dict[str, set[tuple[int, str, float]]] = {}
        wanted_mentions: dict[str, set[_MentionRow]] = {}
        for fact in sorted(members.keys() | mentions.keys()):
            keys = members.get(fact, set())
            subject = groups.subjects.get(fact)
            wanted_members[fact] = {
                (
                    ids[key],
                    "subject" if key == subject else "mention",
                    float(groups.confidence.get((fact, key), 1.0)),
                )
                for key in keys
            }
            means = groups.means.get(fact)
            wanted_mentions[fact] = {
                _mention_row(
                    fact,
                    mention,
                    linker.entity_of(mention.text, keys)
                    if means is None
                    else means.get(name_key(mention.text)) or None,
                    ids,
                )
                for mention in mentions.get(fact, ())
            }
        with self._db.reading():
            known_members = _grouped(
                (row[0], row[1:])
                for row in self._db.query(
                    "SELECT entity_facts.fact, entity, role, confidence FROM entity_facts "
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
        for fact, heir in self._merged(agent).items():
            # What a merged fact names is what the one that stands for it names.
            if fact in known_members and fact not in wanted_members:
                wanted_members[fact] = wanted_members.get(heir, known_members[heir])
                here = {number for number, _, _ in wanted_members[fact]}
                wanted_mentions[fact] = {
                    row if row[-1] in here else (*row[:-1], None) for row in known_mentions[fact]
                }
        changed_members = [f for f, new in wanted_members.items() if new != known_members[f]]
        for chunk in chunks(changed_members):
            rows = [(fact, *link) for fact in chunk for link in sorted(wanted_members[fact])]
            columns = "fact, entity, role, confidence"
            written += self._replace("entity_facts", columns, chunk, rows)
        changed_mentions = [f for f, new in wanted_mentions.items() if new != known_mentions[f]]
        for chunk in chunks(changed_mentions):
            found = [row for fact in chunk for row in sorted(wanted_mentions[fact], key=_place)]
            columns = "fact, start, stop, text, label, score, entity"
            written += self._replace("fact_mentions", columns, chunk, found)
        places = {
            fact: [(start, stop, entity) for _, start, stop, *_, entity in rows]
            for fact, rows in wanted_mentions.items()
        }
        wanted_edges = {
            fact: edge_rows(found, places.get(fact, ()), ids.get(USER))
            for fact, found in (triples or {}).items()
        }
        written += self.save_edges(agent, wanted_edges)
        written += self._save_doubts(agent, groups, wanted_members.keys())
        written += self._drop_unnamed(agent)
        return written + self.refresh_names(agent)

    def draw_edges(self, agent: str, triples: Mapping[str, Sequence[Triple]]) -> int:
        """Set the edges of some facts by what their names are known to mean.

        For facts whose names came in from elsewhere; a run draws the edges as it finds names.

        Args:
            agent: Whose.
            triples: Fact id to what its text states.

        Returns:
            Rows written.
        """
        with self._db.reading():
            user = self._db.value(
                "SELECT id FROM entities WHERE agent = ? AND key = ?", (agent, USER)
            )
            places: dict[str, list[tuple[int, int, int | None]]] = defaultdict(list)
            for fact, *place in self._db.query(
                "SELECT fact, start, stop, entity FROM fact_mentions "
                "JOIN facts ON facts.id = fact WHERE facts.agent = ?",
                (agent,),
            ):
                start, stop, entity = place
                places[fact].append((start, stop, entity))
        return self.save_edges(
            agent, {fact: edge_rows(found, places[fact], user) for fact, found in triples.items()}
        )

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
        when = None if alias.declared_at is None else format_time(alias.declared_at)
        with self._db.atomic():
            self._db.write(
                "INSERT INTO aliases (agent, canonical, alias, never, declared_at) "
                "VALUES (?1, ?2, ?3, ?4, ?5) ON CONFLICT (agent, canonical, alias) "
                "DO UPDATE SET never = ?4, declared_at = ?5 WHERE never <> ?4",
                (alias.agent, alias.canonical, alias.alias, int(alias.never), when),
            )

    def aliases(self, agent: str) -> tuple[Alias, ...]:
        """Return what was declared for an agent, sorted."""
        rows = self._db.query(
            f"SELECT {', '.join(ALIAS_COLUMNS)} FROM aliases WHERE agent = ? "  # noqa: S608
            "ORDER BY canonical, alias",
            (agent,),
        )
        return tuple(map(alias_from_row, rows))

    def declared_entities(self, agent: str) -> tuple[DeclaredEntity, ...]:
        """Entities that somebody declared, sorted by key."""
        rows = self._db.query(
            "SELECT agent, key, name, type, note, declared_at FROM entity_declarations "
            "WHERE agent = ? ORDER BY key",
            (agent,),
        )
        return tuple(map(declared_from_row, rows))

    def pins(self, agent: str) -> tuple[EntityPin, ...]:
        """Declarations about single facts, sorted, under the facts they were made for."""
        rows = self._db.query(
            "SELECT agent, fact, name, entity, declared_at FROM entity_pins WHERE agent = ? "
            "ORDER BY fact, name, entity",
            (agent,),
        )
        return tuple(map(pin_from_row, rows))

    def _save_names(
        self, agent: str, groups: Groups, named: Collection[str]
    ) -> tuple[dict[str, int], int]:
        sql = "SELECT key, id, name, type, note FROM entities WHERE agent = ?"
        known = {key: values for key, _, *values in self._db.query(sql, (agent,))}
        declared = {
            key: (name, kind, note)
            for key, name, kind, note in self._db.query(
                "SELECT key, name, type, note FROM entity_declarations WHERE agent = ?", (agent,)
            )
        }
        wanted = {g.key: (g.name, g.type, g.note) for g in groups.groups if g.key in named}
        for key, (name, kind, note) in declared.items():
            # What was declared counts; what was left open is read off the facts.
            _, found_kind, found_note = wanted.get(key, ("", "", ""))
            wanted[key] = (name, kind or found_kind, note or found_note)
        written = self._follow_names(agent, groups, known.keys(), wanted.keys())
        known = {key: values for key, _, *values in self._db.query(sql, (agent,))}
        changed = [key for key, values in wanted.items() if known.get(key) != [*values]]
        for chunk in chunks(changed):
            with self._db.atomic():
                written += self._db.write_many(
                    "INSERT INTO entities (agent, key, name, type, note) "
                    "VALUES (?1, ?2, ?3, ?4, ?5) "
                    "ON CONFLICT (agent, key) DO UPDATE SET name = ?3, type = ?4, note = ?5",
                    [(agent, key, *wanted[key]) for key in chunk],
                )
        return {row[0]: row[1] for row in self._db.query(sql, (agent,))}, written

    def _follow_names(
        self, agent: str, groups: Groups, known: Iterable[str], wanted: Iterable[str]
    ) -> int:
        """Keep the number of an entity whose name has grown: `janet` is now `janet roe`."""
        fresh, old = set(wanted) - set(known), set(known) - set(wanted)
        grown = {
            name: entity
            for means in groups.means.values()
            for name, entity in means.items()
            if name in old and entity in fresh
        }
        # Of several names that grew into one, the first keeps its number.
        by_entity = {entity: name for name, entity in sorted(grown.items(), reverse=True)}
        if not by_entity:
            return 0
        with self._db.atomic():
            return self._db.write_many(
                "UPDATE OR IGNORE entities SET key = ? WHERE agent = ? AND key = ?",
                [(entity, agent, name) for entity, name in sorted(by_entity.items())],
            )

    def _save_doubts(self, agent: str, groups: Groups, facts: Iterable[str]) -> int:
        looked_at = set(facts)
        wanted = {
            (agent, doubt.fact, doubt.name, canonical([*doubt.candidates]), doubt.reason)
            for doubt in groups.doubts
        }
        rows = self._db.query(
            "SELECT agent, fact, name, candidates, reason FROM entity_doubts WHERE agent = ?",
            (agent,),
        )
        known = {row for row in rows if row[1] in looked_at}
        if known == wanted:
            return 0
        with self._db.atomic():
            written = self._db.write_many(
                "DELETE FROM entity_doubts WHERE fact = ? AND name = ?",
                [row[1:3] for row in known - wanted],
            )
            return written + self._db.write_many(
                "INSERT INTO entity_doubts (agent, fact, name, candidates, reason) "
                "SELECT ?1, ?2, ?3, ?4, ?5 WHERE EXISTS (SELECT 1 FROM facts WHERE id = ?2)",
                sorted(wanted - known),
            )

    def _merged(self, agent: str) -> dict[str, str]:
        """Merged facts with the one that stands for them at last; forgotten ones for none."""
        rows: dict[str, str] = dict(
            self._db.query(
                "SELECT id, coalesce(merged_into, '') FROM facts "
                "WHERE agent = ? AND status IN ('merged', 'forgotten')",
                (agent,),
            )
        )
        found = {}
        for fact, heir in rows.items():
            seen = {fact}
            while heir in rows and heir not in seen:
                seen.add(heir)
                heir = rows[heir]
            found[fact] = heir
        return found

    def _replace(
        self, table: str, columns: str, facts: Sequence[str], rows: Sequence[Sequence[Any]]
    ) -> int:
        """Set the rows of some facts; table and columns are words of this module."""
        names = columns.split(", ")
        marks = ", ".join(f"?{at}" for at in range(1, len(names) + 1))
        fact, entity = (f"?{names.index(name) + 1}" for name in ("fact", "entity"))
        with self._db.atomic():
            gone = self._db.write(
                f"DELETE FROM {table} WHERE fact IN (SELECT value FROM json_each(?))",  # noqa: S608
                (self._db.among(facts),),
            )
            # A fact may have been forgotten since it was read, and its entities with it.
            come = self._db.write_many(
                f"INSERT INTO {table} ({columns}) SELECT {marks} "  # noqa: S608
                f"WHERE EXISTS (SELECT 1 FROM facts WHERE id = {fact}) "
                f"AND ({entity} IS NULL OR EXISTS (SELECT 1 FROM entities WHERE id = {entity}))",
                rows,
            )
        return gone + come

    def _drop_unnamed(self, agent: str) -> int:
        condition = (
            "agent = ? "
            "AND NOT EXISTS (SELECT 1 FROM entity_facts WHERE entity = entities.id) "
            "AND NOT EXISTS (SELECT 1 FROM fact_mentions WHERE entity = entities.id) "
            "AND NOT EXISTS (SELECT 1 FROM entity_declarations AS said "
            "WHERE said.agent = entities.agent AND said.key = entities.key)"
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
    for fact, means in groups.means.items():
        # What a name in doubt means is not known, so the fact hangs on nothing by that name.
        doubtful = {name for name, entity in means.items() if not entity}
        members[fact] -= doubtful - set(means.values())
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
