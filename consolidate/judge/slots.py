"""Attributes and how many values they hold at a time.

A slot is (entity, attribute). Where an attribute holds one value, a second value retires the
first; where it holds many, both stay. The default is many: a false "one" retires true facts, a
false "many" only leaves an update for the classifier to find.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, Literal

__all__ = ["CUES", "IMMUTABLE", "Cardinality", "attributes_of", "cardinality"]

Cardinality = Literal["one", "many"]

CUES: Final[Mapping[str, tuple[Cardinality, str]]] = {
    # attribute: (cardinality, words that name it)
    "residence": ("one", r"\b(liv(?:es?|ing) in|moved to|resid\w+|home is|relocat\w+|"
                         r"address|rents? (?:a|an|the) (?:flat|apartment|room|place))\b"),
    "employer": ("one", r"\b(works? (?:at|for)|employer|employed (?:at|by)|joined|job at)\b"),
    "role": ("one", r"\b(job title|position is|promoted to|role is)\b"),
    "age": ("one", r"\b(years old|age:?|turned \d+)\b"),
    "name": ("one", r"\b(name is|is called|named)\b"),
    "marital-status": ("one", r"\b(married|divorced|single|engaged|widowed)\b"),
    "port": ("one", r"\bport\b|:\d{4,5}\b|localhost:\d+"),
    "version": ("one", r"\b(version|runs? on v?\d|upgraded? to|v\d+\.\d+)\b"),
    "owner": ("one", r"\b(own(?:er|ed by)|maintain(?:er|ed by)|lead(?:er)? (?:of|is)|"
                     r"is responsible for)\b"),
    "deadline": ("one", r"\b(deadline|due (?:on|by|date)?|release date|launch(?:es)? on)\b"),
    "budget": ("one", r"\bbudget\b"),
    "price": ("one", r"\b(price|costs?|rent(?: is)?|fee|salary)\b"),
    "status": ("one", r"\b(status|is (?:on|off|open|closed|enabled|disabled|up|down|switched))\b"),
    "default": ("one", r"\bdefault (?:branch|region|environment|theme|editor|language)\b"),
    "favourite": ("one", r"\bfavou?rites?\b"),
    "birthday": ("one", r"\b(birthday|born (?:on|in))\b"),
    "phone": ("one", r"\b(phone|mobile) (?:number|is)\b"),
    "timezone": ("one", r"\btime ?zone\b"),
    "plan-tier": ("one", r"\b(?:basic|free|pro|premium|enterprise|standard) (?:plan|tier)\b|"
                         r"\bplan is\b"),
    "diet": ("one", r"\b(diet|vegetarian|vegan|pescatarian)\b"),
    "language": ("many", r"\b(speaks?|languages?|fluent)\b"),
    "hobby": ("many", r"\bhobb(?:y|ies)\b"),
    "visit": ("many", r"\b(visited|travel+ed to|trip to|been to)\b"),
    "possession": ("many", r"\b(owns?|has an?|bought)\b"),
    "skill": ("many", r"\b(knows|skilled|experienced (?:in|with))\b"),
    "family": ("many", r"\bhas (?:an?|two|three|\d+) (?:older |younger |little )?"
                       r"(?:brothers?|sisters?|sons?|daughters?|cousins?)\b"),
}  # fmt: skip

IMMUTABLE: Final = re.compile(
    r"\b(born|birthday|date of birth|founded|was (?:built|finished|completed|established)|"
    r"died|blood type|graduated|wedding (?:was|day))\b",
    re.IGNORECASE,
)
"""Attributes that cannot change: two values mean one is wrong, and recency does not tell which."""

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
