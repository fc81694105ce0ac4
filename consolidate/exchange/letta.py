"""Reads a Letta agent file (`.af`): core memory blocks, and messages if there are any.

Blocks stay blocks, with their limits. What the agent was told to be (system prompt, tools,
settings) is no memory and is left out.
"""

from __future__ import annotations

from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.columns import known_time
from consolidate.exchange.history import foreign_id
from consolidate.exchange.lines import parse_json, whole_text
from consolidate.exchange.records import Broken, NewBlock, Options, Parsed, Said
from consolidate.exchange.text import unwrap
from consolidate.store import Message

__all__ = ["looks_like_letta", "read_letta"]

_SAID = frozenset({"user", "assistant"})


def looks_like_letta(value: Any) -> bool:
    """Say whether a parsed JSON file is an agent file, of the older or the newer shape."""
    if not isinstance(value, dict):
        return False
    if isinstance(value.get("core_memory"), list) and "agent_type" in value:
        return True
    return isinstance(value.get("agents"), list) and isinstance(value.get("blocks"), list)


def read_letta(data: bytes, options: Options) -> Parsed:
    """Read an agent file; blocks are numbered instead of lines, then messages.

    Raises:
        InputError: The file has another shape.
    """
    whole = parse_json(whole_text(data))
    if not looks_like_letta(whole):
        raise InputError("this is no Letta agent file: it needs core_memory or blocks")
    newer = isinstance(whole.get("agents"), list)
    blocks = whole["blocks"] if newer else whole["core_memory"]
    agents = [a for a in whole["agents"] if isinstance(a, dict)] if newer else [whole]
    found: list[tuple[int, NewBlock]] = []
    broken: list[Broken] = []
    notes = []
    for number, block in enumerate(blocks, start=1):
        try:
            made = _block(block, options)
        except InputError as error:
            broken.append(Broken(line=number, reason=str(error)))
            continue
        if made is None:
            notes.append(f"block {number} is empty and was left out")
        else:
            found.append((number, made))
    messages: list[Message] = []
    number = len(blocks)
    for agent in agents:
        for item in agent.get("messages") or []:
            number += 1
            try:
                messages += _message(item, agent, options)
            except InputError as error:
                broken.append(Broken(line=number, reason=f"message: {error}"))
    if len(agents) > 1:
        notes.append(f"{len(agents)} agents of the file share {options.agent!r} here")
    return Parsed(
        format="letta",
        blocks=tuple(found),
        said=Said(agent=options.agent, messages=tuple(messages)) if messages else None,
        broken=tuple(broken),
        notes=tuple(notes),
    )


def _block(block: Any, options: Options) -> NewBlock | None:
    if not isinstance(block, dict) or not isinstance(block.get("label"), str):
        raise InputError("a block without a label")
    value, limit = block.get("value"), block.get("limit")
    if value is not None and not isinstance(value, str):
        raise InputError(f"block {block['label']!r} holds no text")
    if not value:
        return None
    if isinstance(limit, bool) or not isinstance(limit, int) or limit < 1:
        limit = None
    return NewBlock(
        agent=options.agent,
        name=block["label"].strip(),
        content=value,
        limit=None if limit is None else min(max(limit, len(value)), 1_000_000),
    )


def _message(item: Any, agent: dict[str, Any], options: Options) -> list[Message]:
    if not isinstance(item, dict) or item.get("role") not in _SAID:
        return []
    content = unwrap(item.get("content") if item.get("content") is not None else item.get("text"))
    if content is None or not content[0].strip():
        return []  # a call of a tool
    name = str(agent.get("name") or agent.get("id") or "letta")
    at = known_time(item.get("created_at"), "created_at", options.timezone)
    return [
        Message(
            id=foreign_id("letta", options.agent, item.get("id"), name, content[0], str(at)),
            conversation=name.strip()[:200].strip(),
            role=item["role"],
            content=content[0],
            at=at,
        )
    ]
