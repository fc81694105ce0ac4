"""From a calibration and the false rates that a user accepts to thresholds. Pure."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from consolidate.calibration.curve import GRID, Act
from consolidate.calibration.record import ACTS, Calibration

__all__ = ["LANGUAGE_RATE", "QUESTION_YIELD", "Chosen", "act_languages", "choose", "review_from"]

LANGUAGE_RATE: Final = 0.05
"""In one language, false at most this often or as often as wished, whichever is more. Each has
few labels: 59 without a mistake are needed for this bound, 299 would be for 1 %."""

QUESTION_YIELD: Final = 0.3
"""Of the questions that a person is asked, at least this share should be worth it."""


@dataclass(frozen=True, kw_only=True)
class Chosen:
    """The threshold of one act, and what is known about it."""

    act: Act
    threshold: float
    wished: float
    """The false rate that was accepted."""
    bound: float
    """The false rate that the labels support: it is at most this, at the level of the bound."""
    wrong: int
    """Of the source that decided: done wrongly,"""
    forbidden: int
    """of so many."""
    source: str
    caught: float
    """Share of what should be done that is done, over all sources."""
    languages: frozenset[str]
    """Language classes in which it may be done."""

    @property
    def holds(self) -> bool:
        """Whether the labels support the wished rate."""
        return self.bound <= self.wished

    @property
    def sentence(self) -> str:
        """What is known, in words."""
        seen = f"{self.wrong} wrong of {self.forbidden} labelled pairs ({self.source})"
        if self.holds:
            return f"for at most {self.wished:.3g} false: {seen}, bound {self.bound:.2%}"
        return (
            f"the labels can't support {self.wished:.3g}: {seen}, bound {self.bound:.2%}; the "
            "safest threshold is used"
        )


def choose(calibration: Calibration, act: Act, rate: float) -> Chosen:
    """The lowest threshold that keeps to a rate on each source of labels.

    Args:
        calibration: What was counted.
        act: Merge or supersede.
        rate: The share of pairs that may be done wrongly, of those about which it is wrong.
    """
    steps = {name: curves[act].choose(rate) for name, curves in calibration.sources.items()}
    step = max(steps.values())
    # The bound that is told is the worst one, and with it the counts it comes from
    worst = max(sorted(steps), key=lambda name: calibration.sources[name][act].bound(step))
    curve = calibration.sources[worst][act]
    curves = [each[act] for each in calibration.sources.values()]
    wanted = sum(each.wanted for each in curves)
    return Chosen(
        act=act,
        threshold=GRID[step],
        wished=rate,
        bound=curve.bound(step),
        wrong=curve.wrong[step],
        forbidden=curve.forbidden,
        source=worst,
        caught=sum(each.right[step] for each in curves) / wanted if wanted else 0.0,
        languages=act_languages(calibration, act, step, rate),
    )


def act_languages(calibration: Calibration, act: Act, step: int, rate: float) -> frozenset[str]:
    """The language classes whose own labels support acting from a step of the grid on."""
    most = max(rate, LANGUAGE_RATE)
    return frozenset(
        language
        for language, curves in calibration.languages.items()
        if curves[act].bound(step) <= most
    )


def review_from(calibration: Calibration, chosen: Mapping[Act, Chosen]) -> float:
    """The lowest threshold from which on questions are worth asking.

    Counted are pairs that are less sure than what is acted on, both acts and all sources
    together.
    """
    for step, threshold in enumerate(GRID):
        right = wrong = 0
        for act in ACTS:
            end = GRID.index(chosen[act].threshold)
            for curves in calibration.sources.values():
                if step < end:
                    right += curves[act].right[step] - curves[act].right[end]
                    wrong += curves[act].wrong[step] - curves[act].wrong[end]
        if right >= QUESTION_YIELD * (right + wrong):
            return threshold
    return GRID[-1]
