"""Reads what mem0's `get_all` gives as JSON: memories, and relations if there is a graph.

Memories keep their ids and times. What the platform's history says was deleted comes in retired.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.columns import known_time
from consolidate.exchange.history import foreign_id, past_fact
from consolidate.exchange.lines import parse_json, whole_text
from consolidate.exchange.records import Archive, Broken, Options, Parsed
from consolidate.types import Fact

__all__ = ["looks_like_mem0", "read_mem0"]

_SOURCE = "import:mem0"
_MARKS = ("hash", "user_id", "agent_id", "run_id", "app_id", "categories")
_TAKEN = frozenset(
    {"id", "memory", "created_at", "updated_at", "expiration_date", "score", "metadata", "hash"}
)
_RELATION = (("source", "relationship", "target"), ("source", "relationship", "destination"))


def looks_like_mem0(value: Any) -> bool:
    """Say whether a parsed JSON file is what `get_all` gives."""
    items = value.get("results") if isinstance(value, dict) else value
    if not isinstance(items, list) or not items:
        return isinstance(value, dict) and items == [] and "relations" in value
    first = next((item for item in items if isinstance(item, dict)), {})
    return isinstance(first.get("memory"), str) and any(mark in first for mark in _MARKS)


def read_mem0(data: bytes, options: Options, *, now: datetime) -> Parsed:
    """Read memories, which are numbered instead of lines, and after them relations.

    Raises:
        InputError: The file has another shape.
    """
    whole = parse_json(whole_text(data))
    items = whole.get("results") if isinstance(whole, dict) else whole
    relations = whole.get("relations") if isinstance(whole, dict) else []
    if not isinstance(items, list):
        raise InputError("this is no list of mem0's memories: it needs `results`")
    facts: list[tuple[int, Fact]] = []
    broken: list[Broken] = []
    for number, item in enumerate([*items, *(relations or [])], start=1):
        try:
            make = _memory if number <= len(items) else _relation
            facts.append((number, make(item, options, now)))
        except InputError as error:
            broken.append(Broken(line=number, reason=str(error)))
    return Parsed(format="mem0", archive=Archive(facts=tuple(facts)), broken=tuple(broken))


def _memory(item: Any, options: Options, now: datetime) -> Fact:
    if not isinstance(item, dict) or not isinstance(item.get("memory"), str):
        raise InputError("no memory")
    text = item["memory"].strip()
    if not text:
        raise InputError("the memory is empty")
    agent = options.agent
    named = item.get("user_id") or item.get("agent_id")
    if isinstance(named, str) and named.strip() and not options.every_agent:
        agent = named.strip()
    zone = options.timezone
    created = known_time(item.get("created_at"), "created_at", zone)
    updated = known_time(item.get("updated_at"), "updated_at", zone)
    ends = known_time(item.get("expiration_date"), "expiration_date", zone)
    metadata = item.get("metadata")
    rest = {k: v for k, v in item.items() if k not in _TAKEN and v not in (None, "", [], {})}
    if updated and created and updated != created:
        rest["created_at"] = item["created_at"]
    return past_fact(
        fact_id=foreign_id("mem0", agent, item.get("id"), text),
        agent=agent,
        text=text,
        kind=options.kind or "fact",
        source=options.source or _SOURCE,
        # The text is that of the last update: it was not said so when the memory was made.
        stated_at=updated or created,
        valid_to=ends,
        ended=bool(item.get("is_deleted")) or item.get("event") == "DELETE",
        metadata=(metadata if isinstance(metadata, dict) else {}) | rest,
        now=now,
    )


def _relation(item: Any, options: Options, now: datetime) -> Fact:
    names = next(
        (n for n in _RELATION if isinstance(item, dict) and all(item.get(k) for k in n)), None
    )
    if names is None:
        raise InputError("a relation needs source, relationship and target")
    left, relation, right = (str(item[name]).replace("_", " ").strip() for name in names)
    text = f"{left} {relation} {right}"
    return past_fact(
        fact_id=foreign_id("mem0", options.agent, None, text),
        agent=options.agent,
        text=text,
        kind=options.kind or "fact",
        source=options.source or _SOURCE,
        metadata={"entity": left, "relation": relation, "to": right},
        now=now,
    )
