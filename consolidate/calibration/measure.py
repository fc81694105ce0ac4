"""From judged labels to a calibration, and how far its probabilities can be believed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.calibration.curve import Act, Curve, Scored
from consolidate.calibration.record import ACTS, Calibration
from consolidate.stages.policy import scaled

__all__ = ["ece", "fit_reliability", "likelihoods", "made_of", "rightness"]

FloatArray = npt.NDArray[np.float64]
Line = tuple[float, float]

BINS: Final = 10
_FEWEST: Final = 40
"""Pairs below which a line is not fitted."""
_RIDGE: Final = 1.0
"""How strongly the line is held to the identity, in pairs; few labels should not bend it far."""


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


def fit_reliability(items: Sequence[Scored]) -> dict[str, Line]:
    """A line for each kind of finding, from log odds of confidence to log odds of being right.

    Logistic regression by Newton's method, with targets as J. Platt ("Probabilistic outputs for
    support vector machines", 1999) smooths them, held to the identity.
    """
    lines = {}
    for name in ("", "merge", "supersede"):
        own = [item for item in items if kind(item) == name]
        if len(own) >= _FEWEST:
            lines[name] = _fit(
                np.array([item.sure for item in own]), np.array([rightness(i) for i in own])
            )
    return lines


def _fit(confidence: FloatArray, right: npt.NDArray[np.bool_]) -> Line:
    odds = np.clip(confidence, 1e-6, 1 - 1e-6)
    x = np.stack([np.log(odds / (1 - odds)), np.ones(len(odds))], axis=1)
    hits = int(right.sum())
    y = np.where(right, (hits + 1) / (hits + 2), 1 / (len(right) - hits + 2))
    start = np.array([1.0, 0.0])
    line = start.copy()
    for _ in range(200):
        p = 1 / (1 + np.exp(-(x @ line)))
        slope = x.T @ (p - y) + _RIDGE * (line - start)
        curve = (x * (p * (1 - p))[:, None]).T @ x + _RIDGE * np.eye(2)
        step = np.linalg.solve(curve, slope)
        size = float(np.abs(step).max())
        line -= step / max(1.0, size)  # no leaps: where all are right, Newton would overshoot
        if size < 1e-9:
            break
    # Rounded, so that the same labels give the same file on any machine; and never falling: the
    # surer the judge, the likelier it is right.
    return max(round(float(line[0]), 4), 0.0), round(float(line[1]), 4)


def likelihoods(items: Sequence[Scored], lines: Mapping[str, Line]) -> FloatArray:
    """How likely each finding is right, by lines fitted on other pairs."""
    return np.array([scaled(item.sure, lines.get(kind(item))) for item in items])


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
