"""Which attributes two texts speak of, and how many values those hold at a time.

A slot is (entity, attribute); the attributes are in `judge.attributes`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final

from consolidate.judge.attributes import ATTRIBUTES, Cardinality

__all__ = ["CUES", "FIRM", "IMMUTABLE", "Cardinality", "attributes_of", "cardinality"]

CUES: Final[Mapping[str, tuple[Cardinality, str]]] = {
    name: (attribute.cardinality, attribute.cue)
    for name, attribute in ATTRIBUTES.items()
    if attribute.cue
}
"""Attributes that a text is searched for, with cardinality and cue."""

IMMUTABLE: Final = re.compile(
    r"\b(born|birthday|date of birth|founded|was (?:built|finished|completed|established)|"
    r"died|blood type|graduated|wedding (?:was|day))\b",
    re.IGNORECASE,
)
"""Attributes that cannot change: two values mean one is wrong, and recency does not tell which."""

FIRM: Final = frozenset(
    "employer role age port version owner favourite diet plan-tier timezone editor marital-status "
    "deadline".split()
)
"""Attributes whose cue words hardly ever mean anything else: they speak for a conflict. The cues
of the others are broad ("moved", "talk"); they only propose pairs."""

_COMPILED: Final = {name: re.compile(cue, re.IGNORECASE) for name, (_, cue) in CUES.items()}


@lru_cache(maxsize=65536)
def attributes_of(text: str) -> tuple[str, ...]:
    """Attributes a text speaks of, sorted."""
    return tuple(sorted(name for name, cue in _COMPILED.items() if cue.search(text)))


def cardinality(
    left: tuple[str, ...], right: tuple[str, ...], extra: Mapping[str, str] | None = None
) -> Cardinality | None:
    """Cardinality of the attributes two texts share; None when they share none."""
    shared = set(left) & set(right)
    if not shared:
        return None
    found = {(extra or {}).get(name) or CUES[name][0] for name in shared}
    # "many" is a warning not to retire; one clear single-valued attribute outweighs it only alone
    return "one" if found == {"one"} else "many"
