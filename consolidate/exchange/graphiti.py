"""Reads edges of Zep or Graphiti as JSON: each edge holds a fact and when it held.

An edge that was invalidated or has expired comes in as history, with the time it ended. Which edge
took its place is not in the file.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.columns import known_time
from consolidate.exchange.history import foreign_id, past_fact
from consolidate.exchange.lines import json_lines, parse_json, whole_text
from consolidate.exchange.records import Archive, Broken, Options, Parsed
from consolidate.types import Alias, Fact

__all__ = ["looks_like_graphiti", "read_graphiti"]

_SOURCE = "import:graphiti"
_ENDS = (("source_node_uuid", "target_node_uuid"), ("source_uuid", "target_uuid"))
_LISTS = ("edges", "facts", "results")


def looks_like_graphiti(value: Any) -> bool:
    """Say whether a parsed JSON value is an edge, or holds a list of edges."""
    if isinstance(value, list):
        return any(looks_like_graphiti(item) for item in value[:5])
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("fact"), str):
        return any(a in value or b in value for a, b in _ENDS) or (
            "valid_at" in value and "expired_at" in value
        )
    return any(
        isinstance(value.get(name), list) and looks_like_graphiti(value[name]) for name in _LISTS
    )


def read_graphiti(data: bytes, options: Options, *, now: datetime) -> Parsed:
    """Read edges: a JSON list, an object with `edges` (and `nodes`), or one edge a line.

    Raises:
        InputError: The file has another shape.
    """
    edges, names = _edges(data)
    facts: list[tuple[int, Fact]] = []
    broken: list[Broken] = []
    for number, edge in edges:
        try:
            facts.append((number, _edge(edge, names, options, now)))
        except InputError as error:
            broken.append(Broken(line=number, reason=str(error)))
    aliases = [Alias(agent=options.agent, canonical=n, alias=n) for n in names.values() if n]
    return Parsed(
        format="graphiti",
        archive=Archive(facts=tuple(facts)),
        aliases=tuple(aliases),
        broken=tuple(broken),
    )


def _edges(data: bytes) -> tuple[list[tuple[int, Any]], dict[str, str]]:
    """Numbered edges, and names of nodes by id."""
    try:
        whole = parse_json(whole_text(data))
    except InputError:
        lines = list(json_lines(data))
        if not any(looks_like_graphiti(value) for _, value in lines):
            raise InputError("this holds no edges of Zep or Graphiti") from None
        return lines, {}
    names: dict[str, str] = {}
    if isinstance(whole, dict):
        for node in whole.get("nodes") or []:
            if isinstance(node, dict) and isinstance(node.get("name"), str):
                names[str(node.get("uuid") or node.get("uuid_"))] = node["name"].strip()
        if not isinstance(whole.get("fact"), str):
            whole = next((whole[n] for n in _LISTS if isinstance(whole.get(n), list)), None)
    if isinstance(whole, dict):
        whole = [whole]
    if not isinstance(whole, list):
        raise InputError("this holds no edges of Zep or Graphiti")
    return list(enumerate(whole, start=1)), names


def _edge(edge: Any, names: dict[str, str], options: Options, now: datetime) -> Fact:
    if isinstance(edge, InputError):
        raise edge
    if not isinstance(edge, dict) or not isinstance(edge.get("fact"), str):
        raise InputError("an edge without a fact")
    text = edge["fact"].strip()
    if not text:
        raise InputError("the fact is empty")
    zone = options.timezone
    times = {n: known_time(edge.get(n), n, zone) for n in ("created_at", "valid_at")}
    invalid = known_time(edge.get("invalid_at"), "invalid_at", zone)
    expired = known_time(edge.get("expired_at"), "expired_at", zone)
    ends = invalid or expired
    starts = times["valid_at"]
    metadata: dict[str, Any] = {}
    if isinstance(edge.get("name"), str) and edge["name"]:
        metadata["relation"] = edge["name"]
    for pair in _ENDS:
        for key, end in zip(("entity", "to"), pair, strict=True):
            if edge.get(end) in names:
                metadata[key] = names[edge[end]]
    if starts and ends and ends < starts:
        # Such edges exist: superseded by what was known from the start. They never held.
        metadata["invalid_at"] = str(edge.get("invalid_at") or edge.get("expired_at"))
        ends = starts
    group = edge.get("group_id")
    named = isinstance(group, str) and group.strip() and not options.every_agent
    agent = group.strip() if named and isinstance(group, str) else options.agent
    return past_fact(
        fact_id=foreign_id(
            "graphiti", agent, edge.get("uuid") or edge.get("uuid_"), text, str(starts)
        ),
        agent=agent,
        text=text,
        kind=options.kind or "fact",
        source=options.source or _SOURCE,
        metadata=metadata,
        stated_at=times["created_at"] or starts,
        valid_from=starts,
        valid_to=ends,
        ended=(ends is not None and ends <= now) or expired is not None,
        now=now,
    )
