"""Which of two facts holds now: valid time, then stated time, then recorded time.

Two facts are ordered by the first clock that both have and on which they differ. Where one of
them was said at an unknown time and the other at a known one, nothing is guessed. The order that
comes out is part of a total order, so a chain of supersessions has no cycle.
"""

from __future__ import annotations

from datetime import datetime
from typing import Final, Literal

from consolidate.types import Fact

__all__ = ["Clock", "Order", "moment", "order", "stated"]

Clock = Literal["valid", "stated", "recorded", "none"]
Order = tuple[int, Clock]

_NONE: Final[Order] = (0, "none")


def stated(fact: Fact) -> datetime | None:
    """Tell when the fact was last said, by itself or by a duplicate it absorbed."""
    if fact.confirmed_at is not None and fact.stated_at is not None:
        return max(fact.confirmed_at, fact.stated_at)
    return fact.confirmed_at or fact.stated_at


def moment(fact: Fact) -> tuple[datetime, datetime, datetime]:
    """Give the sort key of a fact: start of validity, time said, time recorded.

    Where one is unknown, the next clock stands in.
    """
    said = stated(fact) or fact.recorded_at
    return (fact.valid_from or said, said, fact.recorded_at)


def order(left: Fact, right: Fact) -> Order:
    """Compare two facts in time.

    Returns:
        (-1, clock) if left is earlier, (1, clock) if it is later, (0, "none") where it can't be
        told: equal on all clocks, or the clocks of the two don't meet.
    """
    if left.valid_from is not None and right.valid_from is not None:
        if left.valid_from != right.valid_from:
            return (-1 if left.valid_from < right.valid_from else 1, "valid")
        return _by_statement(left, right)
    said = _by_statement(left, right)
    if left.valid_from is None and right.valid_from is None:
        return said
    # One start of validity is known: it decides only where the time of saying agrees with it,
    # which also keeps this order inside the one of `moment`.
    a, b = moment(left)[0], moment(right)[0]
    by_start = 0 if a == b else (-1 if a < b else 1)
    return said if by_start in (0, said[0]) else _NONE


def _by_statement(left: Fact, right: Fact) -> Order:
    a, b = stated(left), stated(right)
    if (a is None) != (b is None):
        return _NONE
    if a is not None and b is not None and a != b:
        return (-1 if a < b else 1, "stated")
    if left.recorded_at != right.recorded_at:
        return (-1 if left.recorded_at < right.recorded_at else 1, "recorded")
    return _NONE
