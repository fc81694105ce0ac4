"""What the `hippo_*` tools have in common: how one is made, rows of facts and entities."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from consolidate.memory.schemas import Schema, count, text, texts
from consolidate.memory.tools import Tool

__all__ = [
    "QUERY",
    "STRAY",
    "STRAY_LIST",
    "STRAY_NUMBER",
    "K",
    "entity_node",
    "fact_row",
    "tool",
]

QUERY: Final = text("A question or some words.")
K: Final = count("At most so many.", 1, 1000, 10)
STRAY: Final[Schema] = {"type": "string", "description": "Not used."}
STRAY_NUMBER: Final[Schema] = {"type": "number", "description": "Not used."}
STRAY_LIST: Final = texts("Not used.")


def tool(
    name: str,
    description: str,
    parameters: Schema,
    run: Any,
    returns: Schema,
    *,
    read_only: bool = False,
) -> Tool:
    """Make one; all of them can be repeated without harm."""
    return Tool(
        name=name,
        description=description,
        parameters=parameters,
        run=run,
        returns=returns,
        read_only=read_only,
        idempotent=True,
    )


def entity_node(entity: Mapping[str, Any]) -> dict[str, Any]:
    """An entity; its id is its number as a name, which every tool takes."""
    return {
        "id": f"#{entity['id']}",
        "canonical_name": entity["name"],
        "type": entity["type"],
    }


def fact_row(fact: Mapping[str, Any]) -> dict[str, Any]:
    """A fact from its plain data."""
    known = {
        theirs: fact[ours]
        for theirs, ours in (
            ("source", "source"),
            ("created_at", "stated_at"),
            ("superseded_by", "superseded_by"),
        )
        if fact.get(ours) is not None
    }
    return {
        "id": fact["id"],
        "proposition": fact["text"],
        "status": fact["status"],
        "kind": fact["kind"],
        **known,
    }
