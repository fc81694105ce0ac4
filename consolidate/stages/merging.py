"""What a surviving fact takes over from one that is absorbed into it. Pure.

Text, time of saying, source and trust stay the survivor's own; what was counted is added up. The
absorbed fact keeps its row, so nothing it said is lost.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from consolidate.judge.recency import stated
from consolidate.types import Fact

__all__ = ["absorb"]


def absorb(survivor: Fact, absorbed: Fact) -> Fact:
    """The survivor after taking over encounters, accesses and confirmation of `absorbed`.

    Intensity is the average over encounters. Validity stays the survivor's own: to take over a
    start from another would move the survivor in time, past facts it was not compared with.
    """
    encounters = survivor.encounters + absorbed.encounters
    intensity = (
        survivor.intensity * survivor.encounters + absorbed.intensity * absorbed.encounters
    ) / encounters
    return replace(
        survivor,
        encounters=encounters,
        intensity=intensity,
        access_count=survivor.access_count + absorbed.access_count,
        last_access=_latest(survivor.last_access, absorbed.last_access),
        confirmed_at=_confirmed(survivor, absorbed),
    )


def _confirmed(survivor: Fact, absorbed: Fact) -> datetime | None:
    said = stated(absorbed)
    if said is None or (survivor.stated_at is not None and said <= survivor.stated_at):
        return survivor.confirmed_at
    return _latest(survivor.confirmed_at, said)


def _latest(a: datetime | None, b: datetime | None) -> datetime | None:
    return max(a, b) if a is not None and b is not None else a or b
