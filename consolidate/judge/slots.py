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

__all__ = ["CUES", "FIRM", "IMMUTABLE", "Cardinality", "attributes_of", "cardinality"]

Cardinality = Literal["one", "many"]

CUES: Final[Mapping[str, tuple[Cardinality, str]]] = {
    # attribute: (cardinality, words that name it)
    "residence": ("one", r"\b(liv(?:es?|ing) (?:in|at|with)|moved|moving|home:|home is|"
                         r"resid\w+|relocat\w+|"
                         r"address|rents? (?:a|an|the) (?:flat|apartment|room|place))\b"),
    "employer": ("one", r"\b(works? (?:at|for|as)|working (?:at|for|as)|employer|job:|notice|"
                        r"employed (?:at|by)|joined|job at|resigned|(?:new|first) job|hired)\b"),
    "role": ("one", r"\b(job title|title:|position is|promoted|promotion|role (?:is|at)|"
                    r"works? as|working as|job:)\b"),
    "car": ("one", r"\b(drives? an?|(?:family |new |our |my )car|car:)\b"),
    "partner": ("one", r"\b(husband|wife|partner|boyfriend|girlfriend|spouse|fianc[ée]e?)\b"),
    "doctor": ("one", r"\b(doctor|GP|dentist|physiotherapist|paediatrician|vet)\b"),
    "school": ("one", r"\b(school|kindergarten|daycare|nursery|class teacher)\b"),
    "commute": ("one", r"\b(commutes?|commuting|to work by|cycles to)\b"),
    "editor": ("one", r"\b(editor|IDE)\b"),
    "database": ("one", r"\b(database|db|postgres\w*|mysql|sqlite|mongo\w*)\b"),
    "ci": ("one", r"\b(CI|pipeline|jenkins|github actions|gitlab)\b"),
    "replicas": ("one", r"\breplicas?\b"),
    "timeout": ("one", r"\btime(?:d|s)? ?outs?\b"),
    "memory-limit": ("one", r"\bmemory (?:limit|per)\b"),
    "on-call": ("one", r"\bon[- ]call\b"),
    "appointment": ("one", r"\b(appointment|meeting|standup|talk|party|demo)\b"),
    "allergy": ("many", r"\ballergic to\b|\ballergies\b"),
    "age": ("one", r"\b(years old|age:?|turned \d+)\b"),
    "name": ("one", r"\b(name is|is called|named)\b"),
    "marital-status": ("one", r"\b(married|divorced|single|engaged|widowed)\b"),
    "port": ("one", r"\bport\b|:\d{4,5}\b|localhost:\d+"),
    "version": ("one", r"\b(version|runs? on \w+ ?v?\d|upgraded?|v\d+\.\d+)\b"),
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
