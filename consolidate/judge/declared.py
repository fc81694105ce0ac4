"""Edges that somebody declared, as facts state them: a fact of kind `relation`, "A PREDICATE B".

Its metadata says where the predicate stands, so that nothing has to be read off the words.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from consolidate.types import Fact

__all__ = ["RELATION", "Declared", "declaration", "declared_in"]

RELATION: Final = "relation"
"""Kind of the facts that are declared edges."""


@dataclass(frozen=True, kw_only=True)
class Declared:
    """What a fact was stored for."""

    subject: tuple[int, int]
    """Start and end in code points, as of `object`."""
    predicate: str
    object: tuple[int, int]
    weight: float


def declaration(source: str, predicate: str, weight: float) -> dict[str, Any]:
    """The metadata of a fact that declares an edge from what bears the name `source`."""
    return {"edge": {"predicate": predicate, "weight": float(weight), "at": len(source)}}


def declared_in(fact: Fact) -> Declared | None:
    """The edge that a fact was stored for; None if there is none, or its metadata does not fit."""
    edge = fact.metadata.get("edge")
    if fact.kind != RELATION or not isinstance(edge, Mapping):
        return None
    predicate, weight, at = edge.get("predicate"), edge.get("weight", 1.0), edge.get("at")
    if not isinstance(predicate, str) or not predicate.strip():
        return None
    between = f" {predicate} "
    if not isinstance(at, int) or isinstance(at, bool):
        at = fact.text.find(between)
    begin, end = at + len(between), len(fact.text)
    if not 0 < at < begin < end or fact.text[at:begin] != between:
        return None
    fits = isinstance(weight, int | float) and not isinstance(weight, bool)
    return Declared(
        subject=(0, at),
        predicate=predicate,
        object=(begin, end),
        weight=float(weight) if fits and 0 < weight < math.inf else 1.0,
    )
