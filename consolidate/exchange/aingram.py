"""Reads AIngram: its database, or the JSON that `aingram export` writes.

Entries keep their time of saying and their accesses. What another entry is said to supersede comes
in retired; relations of its graph come in as facts with the time they held. Keys, signatures and
vectors are left out.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, Final

from consolidate.errors import InputError
from consolidate.exchange.columns import known_time
from consolidate.exchange.history import foreign_id, past_fact
from consolidate.exchange.lines import parse_json, whole_text
from consolidate.exchange.records import Archive, Broken, Options, Parsed
from consolidate.exchange.text import unwrap
from consolidate.store.foreign import SQLITE, read_tables
from consolidate.types import Fact

__all__ = ["AINGRAM_TABLES", "looks_like_aingram", "read_aingram"]

_SOURCE: Final = "import:aingram"
_VERSION: Final = "aingram_lite_export_version"
AINGRAM_TABLES: Final = (
    "memory_entries",
    "agent_sessions",
    "entities",
    "relationships",
    "cross_references",
    "knowledge_items",
)
_KINDS: Final = {"observation": "fact", "meta": "memory"}
_FLOOR: Final = 0.5
"""Importance there is what is left of 0.5 after a decay that counts the same days again and again;
what is below says how often that ran, not how little the entry matters."""


def looks_like_aingram(value: Any) -> bool:
    """Say whether a parsed JSON file is an export."""
    return isinstance(value, dict) and _VERSION in value


def read_aingram(data: bytes, options: Options, *, now: datetime) -> Parsed:
    """Read a database or an export; entries are numbered instead of lines.

    Raises:
        InputError: The file is neither.
    """
    if data.startswith(SQLITE):
        tables: Mapping[str, Any] = read_tables(data, AINGRAM_TABLES)
        if "memory_entries" not in tables:
            raise InputError("this SQLite database is not one of AIngram: no memory_entries")
    else:
        tables = parse_json(whole_text(data))
        if not looks_like_aingram(tables) or not isinstance(tables.get("memory_entries"), list):
            raise InputError("this is no export of AIngram: it needs memory_entries")
    agents = {
        row.get("session_id"): row.get("agent_name")
        for row in tables.get("agent_sessions") or []
        if isinstance(row, dict)
    }
    facts: list[tuple[int, Fact]] = []
    broken: list[Broken] = []
    names: dict[str, str] = {}
    entries = tables["memory_entries"]
    retired = _retired(tables)
    ids: dict[str, str] = {}
    for entry in entries:
        if isinstance(entry, dict) and entry.get("entry_id"):
            agent = _agent(agents.get(entry.get("session_id")), options)
            ids[entry["entry_id"]] = foreign_id("aingram", agent, entry["entry_id"])
    for number, entry in enumerate(entries, start=1):
        try:
            facts.append((number, _entry(entry, agents, ids, retired, options, now)))
        except InputError as error:
            broken.append(Broken(line=number, reason=str(error)))
    names = {
        row["entity_id"]: str(row["name"])
        for row in tables.get("entities") or []
        if isinstance(row, dict) and row.get("entity_id") and row.get("name")
    }
    number = len(entries)
    for row in tables.get("relationships") or []:
        number += 1
        try:
            facts.append((number, _relation(row, names, options, now)))
        except InputError as error:
            broken.append(Broken(line=number, reason=f"relation: {error}"))
    for row in tables.get("knowledge_items") or []:
        number += 1
        text = str(row.get("principle") or "").strip() if isinstance(row, dict) else ""
        if text:
            facts.append((number, _principle(row, text, options, now)))
    notes = [
        "keys, signatures and vectors were left out; importance counts where it is above "
        f"{_FLOOR}, since less is what is left after decay"
    ]
    return Parsed(
        format="aingram",
        archive=Archive(facts=tuple(facts)),
        broken=tuple(broken),
        notes=tuple(notes),
    )


def _retired(tables: Mapping[str, Any]) -> dict[str, str]:
    """Entries that another one supersedes, with that one."""
    found: dict[str, str] = {}
    for row in tables.get("cross_references") or []:
        if isinstance(row, dict) and row.get("reference_type") == "supersedes":
            target, source = row.get("target_entry_id"), row.get("source_entry_id")
            if isinstance(target, str) and isinstance(source, str) and target != source:
                found[target] = source
    for start in list(found):
        at, seen = start, {start}
        while at in found and found[at] not in seen:
            at = found[at]
            seen.add(at)
        found.pop(at, None)  # a circle: nothing tells which of them holds
    return found


def _entry(
    entry: Any,
    agents: Mapping[Any, Any],
    ids: Mapping[str, str],
    retired: Mapping[str, str],
    options: Options,
    now: datetime,
) -> Fact:
    if not isinstance(entry, dict) or not isinstance(entry.get("entry_id"), str):
        raise InputError("no entry_id")
    found = unwrap(entry.get("content"))
    if found is None or not found[0].strip():
        raise InputError("no content")
    text, metadata = found
    metadata = dict(metadata)
    for name in ("tags", "metadata"):
        value = _parsed(entry.get(name))
        if value:
            metadata |= value if isinstance(value, dict) else {name: value}
    if entry.get("reasoning_chain_id"):
        metadata["chain"] = entry["reasoning_chain_id"]
    successor = retired.get(entry["entry_id"])
    importance, count = entry.get("importance"), entry.get("access_count")
    agent = _agent(agents.get(entry.get("session_id")), options)
    kind = str(entry.get("entry_type") or "observation")
    return past_fact(
        fact_id=ids[entry["entry_id"]],
        agent=agent,
        text=text.strip(),
        kind=options.kind or _KINDS.get(kind, kind),
        source=options.source or _SOURCE,
        metadata=metadata,
        stated_at=known_time(entry.get("created_at"), "created_at", options.timezone or "UTC"),
        superseded_by=ids.get(successor) if successor else None,
        ended=successor is not None,
        intensity=max(_FLOOR, importance) if isinstance(importance, int | float) else _FLOOR,
        access_count=count if isinstance(count, int) and count >= 0 else 0,
        last_access=known_time(entry.get("accessed_at"), "accessed_at", options.timezone or "UTC"),
        now=now,
    )


def _relation(row: Any, names: Mapping[str, str], options: Options, now: datetime) -> Fact:
    if not isinstance(row, dict):
        raise InputError("not an object")
    left, right = names.get(row.get("source_id", "")), names.get(row.get("target_id", ""))
    relation = str(row.get("relation_type") or "").replace("_", " ").strip()
    text = str(row.get("fact") or "").strip()
    if not text and not (left and relation and right):
        raise InputError("neither a fact nor two known names")
    zone = options.timezone or "UTC"
    starts = known_time(row.get("t_valid"), "t_valid", zone)
    ends = known_time(row.get("t_invalid"), "t_invalid", zone)
    said = text or f"{left} {relation} {right}"
    metadata = {"entity": left, "relation": relation, "to": right}
    return past_fact(
        fact_id=foreign_id("aingram", options.agent, row.get("id"), said, str(starts)),
        agent=options.agent,
        text=said,
        kind=options.kind or "fact",
        source=options.source or _SOURCE,
        metadata={name: value for name, value in metadata.items() if value},
        valid_from=starts,
        valid_to=ends,
        ended=ends is not None and ends <= now,
        now=now,
    )


def _principle(row: Mapping[str, Any], text: str, options: Options, now: datetime) -> Fact:
    return past_fact(
        fact_id=foreign_id("aingram", options.agent, row.get("knowledge_id"), text),
        agent=options.agent,
        text=text,
        kind=options.kind or "synthesis",
        source=options.source or _SOURCE,
        stated_at=known_time(row.get("created_at"), "created_at", options.timezone or "UTC"),
        now=now,
    )


def _agent(named: Any, options: Options) -> str:
    if isinstance(named, str) and named.strip() and not options.every_agent:
        return named.strip()
    return options.agent


def _parsed(value: Any) -> Any:
    if not isinstance(value, str) or not value:
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError):
        return value
