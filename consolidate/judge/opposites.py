"""Words that mean the opposite of each other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

__all__ = ["ANTONYMS", "OPPOSITE_STATES", "antonym"]

_Opposites = tuple[tuple[frozenset[str], frozenset[str]], ...]


def _opposites(*pairs: tuple[str, str]) -> _Opposites:
    return tuple((frozenset(a.split("|")), frozenset(b.split("|"))) for a, b in pairs)


OPPOSITE_STATES: Final = _opposites(
    ("on", "off"),
    ("enabled|enable|enables", "disabled|disable|disables"),
    ("open|opened", "closed|shut"),
    ("allowed|permitted", "forbidden|prohibited|banned"),
    ("always", "never"),
    ("loves|likes|adores|love|like|adore", "hates|dislikes|hate|dislike"),
    ("required|mandatory", "optional"),
    ("accepted|approved", "rejected|declined"),
)
"""Opposites that one thing cannot be both of at a time."""

ANTONYMS: Final = OPPOSITE_STATES + _opposites(
    ("before", "after"),
    ("more", "less|fewer"),
    ("passed|passes|green", "failed|fails|red"),
    ("public", "private"),
    ("indoors", "outdoors"),
    ("minimum|min|least", "maximum|max|most"),
    ("hot", "cold"),
    ("left", "right"),
    ("up", "down"),
    ("single", "married"),
    ("increased|rose|raised", "decreased|fell|lowered"),
    ("won", "lost"),
    ("present", "absent"),
    ("early", "late"),
    ("internal", "external"),
    ("fast|faster|fastest", "slow|slower|slowest"),
    ("first", "last|second"),
    ("older|elder|oldest|eldest", "younger|youngest"),
    ("best|better", "worst|worse"),
    ("higher|highest|high", "lower|lowest|low"),
    ("big|large|larger|largest", "small|smaller|smallest"),
    ("dry", "wet|water"),
    ("full", "empty"),
    ("with", "without"),
    ("true", "false"),
    ("north", "south"),
    ("east", "west"),
    ("morning|mornings", "evening|evenings|afternoon"),
    ("summer", "winter"),
    ("day", "night"),
    ("bought|buys|buy", "sold|sells|sell"),
    ("all|both", "none|neither"),
)
"""Opposites at large: ground to doubt that two texts say the same."""


def antonym(
    a: frozenset[str],
    b: frozenset[str],
    opposites: Sequence[tuple[frozenset[str], frozenset[str]]],
) -> bool:
    """Whether one set of words holds a word that the other lacks, and the other its opposite."""
    only_a, only_b = a - b, b - a
    return any((only_a & x and only_b & y) or (only_a & y and only_b & x) for x, y in opposites)
