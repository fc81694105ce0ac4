"""How strong a memory is at a moment, and what keeps it so.

Strength is computed when it is asked for, from what the store holds: how much the fact mattered
when it was said (averaged over encounters), when it was last heard or recalled, and how often.
It is never written back, so asking twice, or never, changes nothing.

The formulas and their constants are those of hippo (MIT, README, "Strength and decay"), so that
memories that move in keep their strength.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final, overload

import numpy as np
import numpy.typing as npt

from consolidate.errors import InputError
from consolidate.memory.base import MemoryPart
from consolidate.memory.records import Fading
from consolidate.settings import Settings

__all__ = ["Decay", "StrengthPart", "running_average"]

_Floats = npt.NDArray[np.float64]

_HOUR: Final = 3600.0
_NEVER: Final = datetime(9999, 12, 31, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True)
class Decay:
    """The constants of forgetting."""

    per_hour: float = 0.001
    """Decay of a fact that was never recalled."""
    resistance: float = 0.3
    """How much recalling slows decay."""
    floor: float = 0.05
    """Weaker facts leave recall."""

    @classmethod
    def of(cls, settings: Settings) -> Decay:
        """The constants that the settings name."""
        return cls(
            per_hour=settings.decay_per_hour,
            resistance=settings.access_resistance,
            floor=settings.strength_floor,
        )

    @overload
    def strength(self, intensity: float, accesses: int, hours: float) -> float: ...
    @overload
    def strength(self, intensity: _Floats, accesses: _Floats, hours: _Floats) -> _Floats: ...
    def strength(
        self, intensity: float | _Floats, accesses: float | _Floats, hours: float | _Floats
    ) -> float | _Floats:
        """Effective strength: `intensity * e^(-rate / resistance * hours)`.

        Args:
            intensity: 0 to 1.
            accesses: How often it was recalled; resistance is `1 + 0.3 ln(1 + accesses)`.
            hours: Since it was last heard or recalled; the future counts as now.

        Returns:
            0 to 1, of the shape given.
        """
        rate = self.per_hour / (1.0 + self.resistance * np.log1p(accesses))
        found: float | _Floats = intensity * np.exp(-rate * np.maximum(hours, 0.0))
        return found if isinstance(found, np.ndarray) else float(found)

    @overload
    def hours_left(self, intensity: float, accesses: int) -> float: ...
    @overload
    def hours_left(self, intensity: _Floats, accesses: _Floats) -> _Floats: ...
    def hours_left(self, intensity: float | _Floats, accesses: float | _Floats) -> float | _Floats:
        """Hours from the last use until a fact is at the floor and leaves recall.

        A fact is never born forgotten: an intensity below twice the floor counts as twice the
        floor here, which gives it 29 days.

        Returns:
            Infinity if it never gets there.
        """
        if self.per_hour == 0.0 or self.floor == 0.0:
            forever: _Floats = np.full(np.shape(intensity), np.inf)
            return forever if np.ndim(intensity) else math.inf
        least = min(2.0 * self.floor, 1.0)
        start = np.maximum(intensity, least)
        resistance = 1.0 + self.resistance * np.log1p(accesses)
        found: float | _Floats = np.log(start / self.floor) * resistance / self.per_hour
        return found if isinstance(found, np.ndarray) else float(found)


def running_average(intensity: float, encounters: int, heard: float) -> float:
    """Intensity after one more encounter: the mean over all of them, 0 to 1.

    Args:
        intensity: The mean so far.
        encounters: How many it is the mean of.
        heard: Intensity of the new one.
    """
    return (intensity * encounters + heard) / (encounters + 1)


class StrengthPart(MemoryPart):
    """A memory's verbs for strength."""

    def decay_preview(self, *, days: float = 30.0, limit: int | None = None) -> list[Fading]:
        """Facts that have left recall or will leave it within some days if nobody uses them.

        Changes nothing. The soonest come first; pinned facts never leave.

        Args:
            days: How far to look ahead.
            limit: At most so many.

        Raises:
            InputError: `days` or `limit` is negative.
        """
        if not days >= 0 or (limit is not None and limit < 0):
            raise InputError(f"days {days!r} and limit {limit!r} must not be negative")
        now = self.now()
        decay = Decay.of(self.settings)
        with self.index.lock:
            self.index.refresh()
            slots, leaves = self.index.leaving(decay, before=now.timestamp() + days * 86400.0)
            slots, leaves = slots[:limit], leaves[:limit]
            strengths = self.index.strengths(decay, now.timestamp(), slots)
            numbers = self.index.numbers[slots]
        facts = self.store.facts_by_number([int(number) for number in numbers])
        return [
            Fading(
                fact=facts[int(number)],
                strength=float(strength),
                leaves_at=_moment(float(left)),
                left=bool(left <= now.timestamp()),
            )
            for number, strength, left in zip(numbers, strengths, leaves, strict=True)
            if int(number) in facts
        ]

    def pin(self, fact_id: str) -> bool:
        """Keep a fact from decaying, whatever happens; False if it was pinned already.

        Raises:
            NotFoundError: This agent has no such fact.
        """
        return self.store.pin(self.own(fact_id).id, now=self.now())

    def unpin(self, fact_id: str) -> bool:
        """Let a pinned fact decay again; False if it was not pinned.

        Raises:
            NotFoundError: This agent has no such fact.
        """
        return self.store.unpin(self.own(fact_id).id)


def _moment(seconds: float) -> datetime:
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=seconds)
    except OverflowError:
        return _NEVER
