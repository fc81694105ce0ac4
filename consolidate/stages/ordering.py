"""What comes before what: facts in time, and by which of two stays when they say the same. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from consolidate.judge.recency import Clock, Order, moment, stated
from consolidate.types import Fact

__all__ = [
    "between",
    "by_statement",
    "is_dated",
    "is_live",
    "ordered",
    "overlaps_not",
    "pair_of",
    "preference",
    "said_first",
    "takers_first",
]


def ordered(a: str, b: str) -> tuple[str, str]:
    """Two ids, the smaller first."""
    return (a, b) if a < b else (b, a)


def takers_first(takers: Mapping[str, Sequence[str]]) -> Iterable[str]:
    """Yield the keys so that each comes after those that may take it in.

    Depth first; where they go round in a circle, the smallest id is entered first.
    """
    seen: set[str] = set()
    for root in sorted(takers):
        if root in seen:
            continue
        seen.add(root)
        stack = [(root, iter(takers[root]))]
        while stack:
            node, rest = stack[-1]
            following = next((t for t in rest if t in takers and t not in seen), None)
            if following is None:
                stack.pop()
                yield node
            else:
                seen.add(following)
                stack.append((following, iter(takers[following])))


def is_live(fact: Fact) -> bool:
    """Whether readers see the fact by default."""
    return fact.status.is_live


def pair_of(a: Fact, b: Fact) -> tuple[str, str]:
    """The ids of two facts, the smaller first."""
    return ordered(a.id, b.id)


def between(a: Fact, middle: Fact, b: Fact) -> bool:
    """Whether `middle` was said in time between the other two, whichever of those is earlier.

    A fact that absorbed later repeats spans the time from its own saying to the last of them.
    Where one of the three is of unknown time and another is not, nothing is between.
    """
    if len({is_dated(a), is_dated(middle), is_dated(b)}) > 1:
        return False
    first, last = (a, b) if said_first(a) <= said_first(b) else (b, a)
    begin, end = moment(first)[:2], said_first(last)
    return begin < said_first(middle) < end or begin < moment(middle)[:2] < end


def said_first(fact: Fact) -> tuple[datetime, ...]:
    """When a fact was first said, leaving later confirmations out; comparable."""
    # Of a fact that was undated itself, the confirmation is all that is known of its time
    confirmed = fact.confirmed_at is not None and fact.stated_at is not None
    return moment(replace(fact, confirmed_at=None) if confirmed else fact)[:2]


def preference(fact: Fact) -> tuple[bool, float, int, tuple[datetime, ...], str]:
    """Rank facts for a merge of equals: the smallest stays.

    Retired before live (a claim that is retired stays so), then the most trusted, the one that
    says most, the one said first, the smallest id.
    """
    return (is_live(fact), -fact.trust, -len(fact.text), moment(fact), fact.id)


def is_dated(fact: Fact) -> bool:
    """Whether anything is known of a fact's time."""
    return stated(fact) is not None or fact.valid_from is not None


def by_statement(a: Fact, b: Fact, before: int, clock: Clock) -> Order:
    """Corrections are ordered by when they were said, not by the time they speak of."""
    if a.stated_at is not None and b.stated_at is not None and a.stated_at != b.stated_at:
        return (-1 if a.stated_at < b.stated_at else 1), "stated"
    return before, clock


def overlaps_not(earlier: Fact, later: Fact) -> bool:
    """Whether the earlier fact was only meant for a time that ends before the later one begins."""
    begins = later.valid_from or later.stated_at
    return earlier.valid_to is not None and begins is not None and earlier.valid_to <= begins
