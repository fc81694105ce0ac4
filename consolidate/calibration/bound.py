"""How often something may fail, given how often it was seen to fail. Pure."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Final

__all__ = ["LEVEL", "labels_needed", "upper_bound"]

LEVEL: Final = 0.95
"""Confidence of the one-sided bound."""


@lru_cache(maxsize=65536)
def upper_bound(failures: int, trials: int, level: float = LEVEL) -> float:
    """The one-sided upper bound of Clopper and Pearson on a failure rate.

    The rate at which no more failures than those seen have probability 1 - `level`: a true rate
    above it would have shown more of them, with that confidence. Exact for independent trials
    (C. J. Clopper and E. S. Pearson, "The use of confidence or fiducial limits illustrated in the
    case of the binomial", Biometrika 26, 1934).

    Args:
        failures: Failures seen, 0 to `trials`.
        trials: Trials; with none of them nothing is known, and the bound is 1.
        level: Confidence, above 0 and below 1.

    Raises:
        ValueError: The counts or the level are out of range.
    """
    if not 0 <= failures <= trials or not 0 < level < 1:
        raise ValueError(f"no bound for {failures} failures of {trials} at {level}")
    if failures == trials:
        return 1.0
    low, high = failures / trials, 1.0
    for _ in range(60):  # halved until floats can't tell the two apart
        middle = (low + high) / 2
        if _at_most(failures, trials, middle) > 1 - level:
            low = middle
        else:
            high = middle
    return high


def labels_needed(rate: float, level: float = LEVEL) -> int:
    """Trials that must go without any failure before the bound is at most `rate`."""
    return math.ceil(math.log(1 - level) / math.log1p(-rate))


def _at_most(failures: int, trials: int, rate: float) -> float:
    """Probability of at most `failures` failures: the binomial distribution function."""
    if rate >= 1:
        return 0.0
    yes, no = math.log(rate) if rate > 0 else -math.inf, math.log1p(-rate)
    whole = math.lgamma(trials + 1)
    return math.fsum(
        math.exp(
            whole
            - math.lgamma(k + 1)
            - math.lgamma(trials - k + 1)
            + (k * yes if k else 0.0)
            + (trials - k) * no
        )
        for k in range(failures + 1)
    )
