"""From judged labels to a calibration, and how far its probabilities can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.calibration.curve import Act, Curve, Scored
from consolidate.calibration.record import ACTS, Calibration
from consolidate.stages.policy import Steps, scaled

__all__ = ["ece", "fit_reliability", "likelihoods", "made_of", "rightness"]

FloatArray = npt.NDArray[np.float64]

BINS: Final = 10
_FEWEST: Final = 40
"""Labels of one kind below which confidences are left as they are."""
_GROUP: Final = 20
"""Labels that a share is taken over, at least."""


def made_of(
    sources: Mapping[str, Sequence[Scored]],
    *,
    model: str,
    extractor: str,
    made: str,
    data: Mapping[str, str],
) -> Calibration:
    """Count.

    Args:
        sources: Name of each source of labels to its judged pairs.
        model: Identity of the classifier.
        extractor: Identity of the extractor.
        made: Today.
        data: Name of each file of labels to its SHA-256.
    """
    every = [item for items in sources.values() for item in items]
    return Calibration(
        model=model,
        extractor=extractor,
        made=made,
        sources={name: _curves(items) for name, items in sources.items()},
        languages={
            language: _curves([item for item in every if item.language == language])
            for language in sorted({item.language for item in every})
        },
        reliability=fit_reliability(every),
        data=data,
    )


def _curves(items: Sequence[Scored]) -> dict[Act, Curve]:
    return {act: Curve.of(act, items) for act in ACTS}


# -- probabilities -----------------------------------------------------------------------------


def rightness(item: Scored) -> bool:
    """Whether the relation that the judge found is right, as far as a memory cares.

    That one says all of the other is right of equals, too; and "nothing to do" is right where
    one merely says more.
    """
    entails = ("a_entails_b", "b_entails_a")
    if item.found in entails:
        return item.relation in (item.found, "equivalent")
    return item.found == item.relation or (item.found == "compatible" and item.relation in entails)


def kind(item: Scored) -> str:
    """The key of a pair in `Policy.reliability`."""
    if item.found == "contradicts":
        return "supersede"
    return "" if item.found == "compatible" else "merge"


def fit_reliability(items: Sequence[Scored]) -> dict[str, Steps]:
    """How often each kind of finding was right, by confidence; never falling as that grows.

    Isotonic regression by pooling neighbours that are out of order (M. Ayer et al., "An empirical
    distribution function for sampling with incomplete information", 1955; B. Zadrozny and
    C. Elkan, "Transforming classifier scores into accurate multiclass probability estimates",
    2002), over groups of labels and with shares smoothed, so that none is 0 or 1.
    """
    fitted = {}
    for name in ("", "merge", "supersede"):
        own = sorted((item.sure, rightness(item)) for item in items if kind(item) == name)
        if len(own) >= _FEWEST:
            fitted[name] = _isotonic(own)
    return fitted


def _isotonic(pairs: Sequence[tuple[float, bool]]) -> Steps:
    pools: list[list[tuple[float, bool]]] = []
    for start in range(0, len(pairs) - _GROUP + 1, _GROUP):
        end = start + _GROUP
        # What is left over joins the last group
        pools.append(list(pairs[start : end if end + _GROUP <= len(pairs) else None]))
        while len(pools) > 1 and (
            _share(pools[-2]) >= _share(pools[-1]) or pools[-2][-1][0] == pools[-1][0][0]
        ):
            pools[-2:] = [pools[-2] + pools[-1]]
    steps: list[tuple[float, float]] = []
    for pool in pools:
        # Rounded, so that the same labels give the same file on any machine
        middle = round(sum(sure for sure, _ in pool) / len(pool), 4)
        if not steps or middle > steps[-1][0]:
            steps.append((middle, round(_share(pool), 4)))
    return tuple(steps)


def _share(pool: Sequence[tuple[float, bool]]) -> float:
    return (sum(right for _, right in pool) + 1) / (len(pool) + 2)


def likelihoods(items: Sequence[Scored], fitted: Mapping[str, Steps]) -> FloatArray:
    """How likely each finding is right, by what was fitted on other pairs."""
    return np.array([scaled(item.sure, fitted.get(kind(item))) for item in items])


def ece(confidence: FloatArray, right: npt.NDArray[np.bool_]) -> tuple[float, list[dict[str, Any]]]:
    """Expected calibration error over ten bins of equal width, and the bins.

    The mean, weighted by pairs, of |share right - mean confidence| (M. P. Naeini, G. Cooper and
    M. Hauskrecht, "Obtaining well calibrated probabilities using Bayesian binning", 2015).
    """
    places = np.minimum((confidence * BINS).astype(int), BINS - 1)
    bins, error = [], 0.0
    for place in range(BINS):
        inside = places == place
        count = int(inside.sum())
        if count:
            sure, share = float(confidence[inside].mean()), float(right[inside].mean())
            error += count / len(confidence) * abs(share - sure)
            bins.append({"from": place / BINS, "pairs": count, "confidence": sure, "right": share})
    return error, bins
