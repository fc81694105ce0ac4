"""Reads what `hippo export AGENT` writes: one JSON object with chunks and memory blocks.

Chunks keep their ids, intensity, encounters and accesses; retired ones come in retired. Vectors
are left out, since they belong to another model.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.columns import known_time
from consolidate.exchange.lines import parse_json, whole_text
from consolidate.exchange.records import Archive, Broken, NewBlock, Options, Parsed
from consolidate.exchange.text import unwrap
from consolidate.judge.trust import default_trust
from consolidate.store import fact_hash
from consolidate.store.blocks import BLOCK_LIMIT
from consolidate.types import Fact, FactStatus

__all__ = ["looks_like_hippo", "read_hippo"]

_SOURCE = "import:hippo"


def looks_like_hippo(value: Any) -> bool:
    """Say whether a parsed JSON file has the shape of a hippo export."""
    return (
        isinstance(value, dict)
        and isinstance(value.get("chunks"), list)
        and ("agentId" in value or "blocks" in value)
    )


def read_hippo(data: bytes, options: Options, *, now: datetime) -> Parsed:
    """Read an export; its chunks and blocks are numbered instead of lines, chunks first.

    Raises:
        InputError: The file has another shape.
    """
    export = parse_json(whole_text(data))
    if not looks_like_hippo(export):
        raise InputError("this is no hippo export: it needs agentId, chunks and blocks")
    owner = export.get("agentId")
    named = owner if isinstance(owner, str) and owner and not options.every_agent else None
    agent = named or options.agent
    chunks = export["chunks"]
    blocks = export.get("blocks") or []
    known = {chunk.get("id") for chunk in chunks if isinstance(chunk, dict)}
    facts: list[tuple[int, Fact]] = []
    broken: list[Broken] = []
    for number, chunk in enumerate(chunks, start=1):
        try:
            facts.append((number, _chunk(chunk, agent, known, options, now)))
        except InputError as error:
            broken.append(Broken(line=number, reason=f"chunk: {error}"))
    kept: list[tuple[int, NewBlock]] = []
    for number, block in enumerate(blocks, start=len(chunks) + 1):
        try:
            kept.append((number, _block(block, agent)))
        except InputError as error:
            broken.append(Broken(line=number, reason=f"block: {error}"))
    notes = ["vectors were left out: they belong to another model"] if chunks else []
    return Parsed(
        format="hippo",
        blocks=tuple(kept),
        archive=Archive(facts=tuple(facts)),
        broken=tuple(broken),
        notes=tuple(notes),
    )


def _chunk(chunk: Any, agent: str, known: set[Any], options: Options, now: datetime) -> Fact:
    if not isinstance(chunk, dict):
        raise InputError("not an object")
    fact_id = chunk.get("id")
    if not isinstance(fact_id, str) or not fact_id.strip():
        raise InputError("no id")
    found = unwrap(chunk.get("content"))
    if found is None or not found[0].strip():
        raise InputError("no content")
    text, rest = found
    kind = chunk.get("kind") or options.kind or "fact"
    if not isinstance(kind, str):
        raise InputError(f"kind {kind!r} is no name")
    successor = chunk.get("superseded_by")
    source = options.source or _SOURCE
    metadata = _metadata(chunk.get("metadata")) | rest
    if successor and successor not in known:
        # Purged or exported apart. The fact stays retired; what retired it is noted.
        metadata = metadata | {"superseded_by": successor}
    return Fact(
        id=fact_id,
        agent=agent,
        kind=kind,
        text=text,
        metadata=metadata,
        stated_at=known_time(chunk.get("created_at"), "created_at", options.timezone),
        recorded_at=now,
        source=source,
        trust=default_trust(source),
        intensity=_between(chunk, "running_intensity", 0.5),
        encounters=max(1, _count(chunk, "encounter_count", 1)),
        access_count=_count(chunk, "access_count", 0),
        last_access=known_time(chunk.get("last_accessed_at"), "last_accessed_at", options.timezone),
        content_hash=fact_hash(text),
        status=FactStatus.SUPERSEDED if successor else FactStatus.ACTIVE,
        superseded_by=successor if successor in known else None,
    )


def _block(block: Any, agent: str) -> NewBlock:
    if not isinstance(block, dict) or not isinstance(block.get("key"), str):
        raise InputError("no key")
    value = block.get("value")
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{block['key']!r} is empty")
    return NewBlock(
        agent=agent,
        name=block["key"].strip(),
        content=value,
        limit=min(max(BLOCK_LIMIT, len(value)), 1_000_000),
    )


def _metadata(value: Any) -> dict[str, Any]:
    if not value:
        return {}
    if isinstance(value, str):
        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            return {"metadata": value}  # free text: kept, if not understood
    return value if isinstance(value, dict) else {"metadata": value}


def _between(chunk: Mapping[str, Any], name: str, otherwise: float) -> float:
    value = chunk.get(name)
    if value is None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InputError(f"{name} {value!r} is no number")
    return min(1.0, max(0.0, float(value)))  # each recall adds to it, without a bound


def _count(chunk: Mapping[str, Any], name: str, otherwise: int) -> int:
    value = chunk.get(name)
    if value is None:
        return otherwise
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise InputError(f"{name} {value!r} is no count")
    return value
