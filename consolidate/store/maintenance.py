"""Looking at the store as a whole: counts, a dump of its content, and whether it is sound."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from consolidate.errors import StoreError
from consolidate.serialise import canonical
from consolidate.store.base import Part
from consolidate.store.blocks import BLOCK_COLUMNS
from consolidate.store.episodes import EPISODE_COLUMNS
from consolidate.store.messages import MESSAGE_COLUMNS
from consolidate.store.rows import (
    ALIAS_COLUMNS,
    DECLARED_COLUMNS,
    FACT_COLUMNS,
    LINK_COLUMNS,
    PIN_COLUMNS,
    REVIEW_COLUMNS,
)
from consolidate.types import FactStatus

__all__ = ["MaintenancePart"]

_CONTENT = {
    "facts": (FACT_COLUMNS, "id"),
    "links": (LINK_COLUMNS, "left_fact, right_fact, relation"),
    "reviews": (REVIEW_COLUMNS, "id"),
    "aliases": (ALIAS_COLUMNS, "agent, canonical, alias"),
    "entity_declarations": (DECLARED_COLUMNS, "agent, key"),
    "entity_pins": (PIN_COLUMNS, "fact, name, entity"),
    "blocks": (BLOCK_COLUMNS, "agent, name"),
    "block_versions": (("agent", "name", "version", "content", "at"), "agent, name, version"),
    "tombstones": (("agent", "content_hash", "at"), "agent, content_hash"),
    "pins": (("fact", "at"), "fact"),
    "messages": (MESSAGE_COLUMNS, "id"),
    "episodes": (EPISODE_COLUMNS, "id"),
    "episode_facts": (("episode", "fact"), "episode, fact"),
}
"""What people and agents put in and runs change. Column names and order, by table."""

_INDEXES = ("facts_fts", "passages_fts", "messages_fts", "episodes_fts")

_DERIVED = {
    "entities": "SELECT agent, key, name, type, note FROM entities ORDER BY agent, key",
    "entity_names": (
        "SELECT entity_names.agent, entities.key, text, origin FROM entity_names "
        "JOIN entities ON entities.id = entity ORDER BY 1, 2, 3, 4"
    ),
    "entity_doubts": (
        "SELECT agent, fact, name, candidates, reason FROM entity_doubts ORDER BY 1, 2, 3"
    ),
    "edges": (
        "SELECT edges.agent, source.key, predicate, target.key, value, fact, weight FROM edges "
        "JOIN entities AS source ON source.id = source "
        "LEFT JOIN entities AS target ON target.id = target ORDER BY 1, 2, 3, 5, 6"
    ),
    "entity_facts": (
        "SELECT entities.agent, entities.key, entity_facts.fact, role, confidence "
        "FROM entity_facts "
        "JOIN entities ON entities.id = entity_facts.entity ORDER BY 1, 2, 3"
    ),
    "fact_mentions": (
        "SELECT fact, start, stop, text, label, score, entities.key FROM fact_mentions "
        "LEFT JOIN entities ON entities.id = entity ORDER BY 1, 2, 3, 5"
    ),
    "passages": (
        "SELECT fact, position, start, stop, content_hash FROM passages ORDER BY fact, position"
    ),
}
"""What was read off the facts and can be read again; undo leaves it alone."""


class MaintenancePart(Part):
    """The store's methods that look at all of it."""

    def stats(self, agent: str | None = None) -> dict[str, int]:
        """Count what the store holds, for one agent or all.

        Keys: the statuses, `facts`, `kinds`, `agents`, `entities`, `links`, `open_reviews`,
        `blocks`, `episodes`, `runs`, and for the whole store, whatever the agent, `vectors`,
        `verdicts`, `bytes`.
        """
        mine = "(?1 IS NULL OR agent = ?1)"
        with self._db.reading():
            statuses: dict[str, int] = dict(
                self._db.query(
                    f"SELECT status, count(*) FROM facts WHERE {mine} GROUP BY 1",  # noqa: S608
                    (agent,),
                )
            )
            counts = {status.value: int(statuses.get(status.value, 0)) for status in FactStatus}
            counts["facts"] = sum(counts.values())
            for name, what in (
                ("kinds", "count(DISTINCT kind) FROM facts WHERE"),
                ("agents", "count(DISTINCT agent) FROM facts WHERE"),
                ("entities", "count(*) FROM entities WHERE"),
                ("links", "count(*) FROM links WHERE"),
                ("blocks", "count(*) FROM blocks WHERE"),
                ("episodes", "count(*) FROM episodes WHERE"),
                ("open_reviews", "count(*) FROM reviews WHERE state = 'open' AND"),
                ("runs", "count(*) FROM runs WHERE"),
            ):
                counts[name] = int(self._db.value(f"SELECT {what} {mine}", (agent,)))
            for name in ("vectors", "verdicts"):
                counts[name] = int(self._db.value(f"SELECT count(*) FROM {name}"))  # noqa: S608
            pages = self._db.value("PRAGMA page_count")
            counts["bytes"] = int(pages * self._db.value("PRAGMA page_size"))
        return counts

    def dump(self, *, derived: bool = False) -> Iterator[str]:
        """Write the logical content, one canonical JSON line a row, in a fixed order.

        Facts, links, reviews and what was declared about entities: what `undo` restores exactly.
        The audit trail (runs, plans, journal, states, lease) and the caches are no part of it.

        Args:
            derived: Also entities and mentions, which are read off the facts.
        """
        tables: list[tuple[str, tuple[str, ...], list[Any]]] = []
        # All rows are read at one moment; only their text is made line by line.
        with self._db.reading():
            for name, (columns, order) in _CONTENT.items():
                sql = f"SELECT {', '.join(columns)} FROM {name} ORDER BY {order}"  # noqa: S608
                tables.append((name, columns, self._db.query(sql)))
            if derived:
                tables += [(name, (), self._db.query(sql)) for name, sql in _DERIVED.items()]
        for name, columns, rows in tables:
            for row in rows:
                values = dict(zip(columns, row, strict=True)) if columns else row
                yield canonical([name, values])

    def check(self) -> list[str]:
        """Return what is wrong with the file, one sentence each; an empty list is a sound store.

        Looks at SQLite's own checks, foreign keys, the text index, and at what no constraint
        can say: nothing crosses agents, no fact is its own successor through others.
        """
        problems: list[str] = []
        for step in (
            self._integrity,
            self._foreign_keys,
            self._text_index,
            self._agents,
            self._cycles,
        ):
            try:
                problems += step()
            except StoreError as error:
                problems.append(str(error))
        return problems

    def rebuild_index(self) -> None:
        """Make the text index anew from the texts, if `check` says that it does not fit."""
        with self._db.atomic():
            for index in _INDEXES:
                self._db.write(f"INSERT INTO {index} ({index}) VALUES ('rebuild')")  # noqa: S608

    def _integrity(self) -> list[str]:
        rows = self._db.query("PRAGMA integrity_check")
        return [f"integrity: {row[0]}" for row in rows if row[0] != "ok"]

    def _foreign_keys(self) -> list[str]:
        rows = self._db.query("PRAGMA foreign_key_check")
        return [f"orphan: row {row[1]} of {row[0]} points to nothing in {row[2]}" for row in rows]

    def _text_index(self) -> list[str]:
        missing = self._db.value(
            "SELECT count(*) FROM facts WHERE number NOT IN (SELECT id FROM facts_fts_docsize)"
        )
        extra = self._db.value(
            "SELECT count(*) FROM facts_fts_docsize WHERE id NOT IN (SELECT number FROM facts)"
        )
        problems = []
        if missing or extra:
            problems.append(f"text index: {missing} facts missing, {extra} entries too many")
        if not problems and not self._db.read_only and not self._index_fits():
            problems.append("text index: it does not fit the texts")
        return [f"{problem}; `Store.rebuild_index` makes it anew" for problem in problems]

    def _index_fits(self) -> bool:
        """Let FTS5 compare its index with the texts; it takes the command as an insert."""
        try:
            with self._db.uncounted(), self._db.atomic():
                for index in _INDEXES:
                    self._db.write(
                        f"INSERT INTO {index} ({index}, rank) VALUES ('integrity-check', 1)"  # noqa: S608
                    )
        except StoreError as error:
            if isinstance(error.__cause__, sqlite3.DatabaseError) and "malformed" in str(error):
                return False
            raise
        return True

    def _agents(self) -> list[str]:
        rows = self._db.query(
            "SELECT facts.id, other.id FROM facts JOIN facts AS other "
            "ON other.id IN (facts.superseded_by, facts.merged_into) "
            "WHERE other.agent <> facts.agent "
            "UNION SELECT left_fact, right_fact FROM links "
            "JOIN facts AS one ON one.id = left_fact JOIN facts AS two ON two.id = right_fact "
            "WHERE one.agent <> links.agent OR two.agent <> links.agent "
            "UNION SELECT fact, entities.key FROM entity_facts JOIN facts ON facts.id = fact "
            "JOIN entities ON entities.id = entity WHERE facts.agent <> entities.agent "
            "UNION SELECT fact, entity FROM entity_pins JOIN facts ON facts.id = fact "
            "WHERE facts.agent <> entity_pins.agent "
            "UNION SELECT fact, episode FROM episode_facts JOIN facts ON facts.id = fact "
            "JOIN episodes ON episodes.id = episode WHERE facts.agent <> episodes.agent"
        )
        return [f"agents: {left} and {right} belong to different ones" for left, right in rows]

    def _cycles(self) -> list[str]:
        successor: dict[str, str] = dict(
            self._db.query(
                "SELECT id, coalesce(merged_into, superseded_by) FROM facts "
                "WHERE merged_into IS NOT NULL OR superseded_by IS NOT NULL"
            )
        )
        settled: set[str] = set()
        problems = []
        for start in successor:
            path: dict[str, None] = {}
            fact = start
            while fact in successor and fact not in settled and fact not in path:
                path[fact] = None
                fact = successor[fact]
            if fact in path:
                problems.append(f"circle: {fact} is its own successor through others")
            settled.update(path)
        return problems
