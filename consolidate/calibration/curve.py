"""What acting from each threshold on would have done to labelled pairs. Pure."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from consolidate.calibration.bound import LEVEL, upper_bound

__all__ = ["GRID", "Act", "Curve", "Scored"]

Act = Literal["merge", "supersede"]

GRID: Final = tuple(round(0.5 + 0.005 * step, 3) for step in range(101))
"""Thresholds that may be chosen. They are the same whatever the data, so that choosing among them
stays within the bound; see `Curve.choose`."""


@dataclass(frozen=True, kw_only=True)
class Scored:
    """A labelled pair, and what a run would do about it if it acted however unsure it is."""

    act: Act | None
    """None: it would leave the pair alone, or only ask."""
    confidence: float
    relation: str
    """The label: `equivalent`, `a_entails_b`, `b_entails_a`, `contradicts` or `compatible`."""
    right: bool
    """Whether what would be done is what the label asks for; of no meaning without `act`."""
    language: str
    found: str
    """The relation that the judge found, with its a on the left."""
    sure: float
    """Its confidence in that relation, whether it would act or not."""

    def wants(self, act: Act) -> bool:
        """Whether the label asks for this."""
        return self.relation == ("equivalent" if act == "merge" else "contradicts")

    def does(self, act: Act) -> bool:
        """Whether this would be done, rightly or not."""
        return self.act == act

    def forbids(self, act: Act) -> bool:
        """Whether doing this would be, or is, a mistake."""
        return not self.wants(act) or (self.does(act) and not self.right)


@dataclass(frozen=True, kw_only=True)
class Curve:
    """Counts of one act over some labelled pairs, for each threshold of `GRID`."""

    forbidden: int
    """Pairs about which it must not be done."""
    wanted: int
    """Pairs about which it should be done."""
    wrong: tuple[int, ...]
    """Of the forbidden ones: done, if it is done from this threshold on."""
    right: tuple[int, ...]
    """Of the wanted ones: done."""

    @classmethod
    def of(cls, act: Act, scored: Iterable[Scored]) -> Curve:
        """Count."""
        every = list(scored)
        forbidden = [item for item in every if item.forbids(act)]
        # That the richer of two takes in the poorer is right, but it is not what is counted
        harm = [item.confidence for item in forbidden if item.does(act) and not item.right]
        wanted = [item for item in every if item.wants(act) and not item.forbids(act)]
        good = [item.confidence for item in wanted if item.does(act)]
        return cls(
            forbidden=len(forbidden),
            wanted=len(wanted),
            wrong=tuple(sum(c >= t for c in harm) for t in GRID),
            right=tuple(sum(c >= t for c in good) for t in GRID),
        )

    def bound(self, step: int) -> float:
        """How often it is done wrongly from this step of the grid on, at most, at `LEVEL`."""
        return upper_bound(self.wrong[step], self.forbidden, LEVEL)

    def choose(self, rate: float) -> int:
        """The lowest step whose bound keeps to a rate; if none does, the safest one.

        The counts only grow from the highest threshold down, so this is a test of one threshold
        after the other, from the safest on, that stops at the first failure: the bound holds for
        the one chosen as it does for one named beforehand (fixed sequence testing, as in
        A. Angelopoulos et al., "Learn then test", 2021).
        """
        kept = bisect_left(range(len(GRID)), True, key=lambda step: self.bound(step) <= rate)
        if kept < len(GRID):
            return kept
        return next(step for step in range(len(GRID)) if self.wrong[step] == self.wrong[-1])

    def to_data(self) -> dict[str, Any]:
        """As plain JSON values."""
        return {
            "forbidden": self.forbidden,
            "wanted": self.wanted,
            "wrong": list(self.wrong),
            "right": list(self.right),
        }

    @classmethod
    def from_data(cls, data: Any) -> Curve:
        """Read what `to_data` gave.

        Raises:
            ValueError: It is something else.
        """
        if not isinstance(data, dict) or data.keys() != {"forbidden", "wanted", "wrong", "right"}:
            raise ValueError("a curve needs forbidden, wanted, wrong and right")
        made = cls(
            forbidden=_count(data["forbidden"]),
            wanted=_count(data["wanted"]),
            wrong=_falling(data["wrong"], data["forbidden"]),
            right=_falling(data["right"], data["wanted"]),
        )
        return made


def _count(value: Any) -> int:
    if not isinstance(value, int) or isinstance(value, bool) or value < 0:
        raise ValueError(f"expected a count, found {value!r}")
    return value


def _falling(values: Any, most: int) -> tuple[int, ...]:
    """Counts that do not grow with the threshold."""
    if not isinstance(values, list) or len(values) != len(GRID):
        raise ValueError(f"expected {len(GRID)} counts, one for each threshold")
    counts: Sequence[int] = [_count(value) for value in values]
    if list(counts) != sorted(counts, reverse=True) or counts[0] > most:
        raise ValueError("counts must fall as the threshold grows, and be no more than the pairs")
    return tuple(counts)
