"""Everything a store holds as plain data, sorted: the way out. The way back is `restoring`.

Caches of model results are left out; they can be made again.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from consolidate.serialise import to_data
from consolidate.store.episodes import EPISODE_COLUMNS
from consolidate.store.messages import MESSAGE_COLUMNS
from consolidate.store.rows import (
    ALIAS_COLUMNS,
    DECLARED_COLUMNS,
    FACT_SQL,
    PIN_COLUMNS,
    REVIEW_COLUMNS,
    alias_from_row,
    declared_from_row,
    fact_from_row,
    pin_from_row,
    review_from_row,
)
from consolidate.store.store import Store
from consolidate.types import DeclaredEntity

__all__ = ["JOURNAL_COLUMNS", "RUN_COLUMNS", "export_rows"]

RUN_COLUMNS = (
    "id",
    "agent",
    "plan",
    "state",
    "started_at",
    "finished_at",
    "undone_at",
    "receipt",
    "summary",
)
JOURNAL_COLUMNS = ("run", "subject", "key", "before", "after")


def export_rows(store: Store, *, agent: str | None = None) -> Iterator[dict[str, Any]]:
    """Give everything as plain JSON data, sorted, each row with its `type`.

    Args:
        store: The store.
        agent: Only this agent; None is all.
    """
    database = store._db
    with database.reading():
        for kind, sql, shape in _EXPORTS:
            for row in database.query(sql, (agent,)):
                yield {"type": kind, **shape(row)}


def _named(*names: str, parsed: Sequence[str] = ()) -> Callable[[Sequence[Any]], dict[str, Any]]:
    """Make a function that turns a row into an object; `parsed` columns hold JSON."""

    def shape(row: Sequence[Any]) -> dict[str, Any]:
        made = dict(zip(names, row, strict=True))
        for name in parsed:
            if made[name] is not None:
                made[name] = json.loads(made[name])
        return made

    return shape


def _entity_shape(row: Sequence[Any]) -> dict[str, Any]:
    agent, key, name, kind, note, facts = row
    links = sorted(json.loads(facts))
    return {
        "agent": agent,
        "key": key,
        "name": name,
        "kind": kind,
        "note": note,
        "facts": [fact for fact, _, _ in links],
        "links": [[role, confidence] for _, role, confidence in links],
    }


def _alias_shape(row: Sequence[Any]) -> dict[str, Any]:
    return dict(to_data(alias_from_row(row)))


def _without_type(declared: DeclaredEntity) -> dict[str, Any]:
    """`type` says of what type the row is; that of the entity is `kind`."""
    data = dict(to_data(declared))
    return {"kind": data.pop("type"), **data}


_MINE = "(?1 IS NULL OR {}agent = ?1)"

# Plans before runs, runs before facts, facts before all that names them: a reader can take rows
# one after the other. Every order is total, so that equal stores give equal exports.
_EXPORTS: tuple[tuple[str, str, Callable[[Sequence[Any]], dict[str, Any]]], ...] = (
    (
        "plan",
        f"SELECT id, agent, body FROM plans WHERE {_MINE.format('')} ORDER BY id",  # noqa: S608
        _named("id", "agent", "body", parsed=("body",)),
    ),
    (
        "decision",
        "SELECT plan, position, decisions.body FROM decisions JOIN plans ON plans.id = plan "  # noqa: S608
        f"WHERE {_MINE.format('plans.')} ORDER BY plan, position",
        _named("plan", "position", "body", parsed=("body",)),
    ),
    (
        "run",
        f"SELECT {', '.join(RUN_COLUMNS)} FROM runs WHERE {_MINE.format('')} "  # noqa: S608
        "ORDER BY number",
        _named(*RUN_COLUMNS, parsed=("receipt", "summary")),
    ),
    (
        "fact",
        f"SELECT {FACT_SQL} FROM facts WHERE {_MINE.format('')} ORDER BY id",  # noqa: S608
        lambda row: dict(to_data(fact_from_row(row))),
    ),
    (
        "alias",
        f"SELECT {', '.join(ALIAS_COLUMNS)} FROM aliases "  # noqa: S608
        f"WHERE {_MINE.format('')} ORDER BY 1, 2, 3",
        _alias_shape,
    ),
    (
        "entity-declaration",
        f"SELECT {', '.join(DECLARED_COLUMNS)} FROM entity_declarations "  # noqa: S608
        f"WHERE {_MINE.format('')} ORDER BY 1, 2",
        lambda row: _without_type(declared_from_row(row)),
    ),
    (
        "entity-pin",
        f"SELECT {', '.join(PIN_COLUMNS)} FROM entity_pins "  # noqa: S608
        f"WHERE {_MINE.format('')} ORDER BY 1, 2, 3, 4",
        lambda row: dict(to_data(pin_from_row(row))),
    ),
    (
        "entity",
        "SELECT agent, key, name, type, note, "  # noqa: S608
        "(SELECT json_group_array(json_array(fact, role, confidence)) FROM entity_facts "
        f"WHERE entity = entities.id) FROM entities WHERE {_MINE.format('')} ORDER BY 1, 2",
        _entity_shape,
    ),
    (
        "mention",
        "SELECT facts.agent, fact, start, stop, fact_mentions.text, label, score, "  # noqa: S608
        "entities.key FROM fact_mentions JOIN facts ON facts.id = fact "
        "LEFT JOIN entities ON entities.id = entity "
        f"WHERE {_MINE.format('facts.')} ORDER BY fact, start, stop, label",
        _named("agent", "fact", "start", "stop", "text", "label", "score", "entity"),
    ),
    (
        "link",
        "SELECT agent, left_fact, right_fact, relation, run FROM links "  # noqa: S608
        f"WHERE {_MINE.format('')} ORDER BY left_fact, right_fact, relation",
        _named("agent", "left", "right", "relation", "run"),
    ),
    (
        "review",
        f"SELECT {', '.join(REVIEW_COLUMNS)} FROM reviews "  # noqa: S608
        f"WHERE {_MINE.format('')} ORDER BY id",
        lambda row: dict(to_data(review_from_row(row))),
    ),
    (
        "block",
        "SELECT agent, name, content, version, size_limit, updated_at FROM blocks "  # noqa: S608
        f"WHERE {_MINE.format('')} ORDER BY 1, 2",
        _named("agent", "name", "content", "version", "limit", "updated_at"),
    ),
    (
        "block_version",
        "SELECT agent, name, version, content, at FROM block_versions "  # noqa: S608
        f"WHERE {_MINE.format('')} ORDER BY 1, 2, 3",
        _named("agent", "name", "version", "content", "at"),
    ),
    (
        "tombstone",
        "SELECT agent, content_hash, at FROM tombstones "  # noqa: S608
        f"WHERE {_MINE.format('')} ORDER BY 1, 2",
        _named("agent", "content_hash", "at"),
    ),
    (
        "pin",
        "SELECT facts.agent, fact, at FROM pins JOIN facts ON facts.id = fact "  # noqa: S608
        f"WHERE {_MINE.format('facts.')} ORDER BY fact",
        _named("agent", "fact", "at"),
    ),
    (
        "use",
        "SELECT facts.agent, fact, count, last FROM uses JOIN facts ON facts.id = fact "  # noqa: S608
        f"WHERE {_MINE.format('facts.')} ORDER BY fact",
        _named("agent", "fact", "count", "last"),
    ),
    (
        # In the order they were said, which their numbers keep
        "message",
        f"SELECT {', '.join(MESSAGE_COLUMNS)} FROM messages "  # noqa: S608
        f"WHERE {_MINE.format('')} ORDER BY number",
        _named(*MESSAGE_COLUMNS),
    ),
    (
        "episode",
        f"SELECT {', '.join(EPISODE_COLUMNS)}, "  # noqa: S608
        "(SELECT json_group_array(fact) FROM (SELECT fact FROM episode_facts "
        "WHERE episode = episodes.id ORDER BY fact)) FROM episodes "
        f"WHERE {_MINE.format('')} ORDER BY number",
        _named(*EPISODE_COLUMNS, "facts", parsed=("facts",)),
    ),
    (
        "journal",
        "SELECT run, subject, key, before, after FROM journal JOIN runs ON runs.id = run "  # noqa: S608
        f"WHERE {_MINE.format('runs.')} ORDER BY journal.number",
        _named(*JOURNAL_COLUMNS, parsed=("key", "before", "after")),
    ),
)
