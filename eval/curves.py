"""Curves and tables over scored items: what a page shows of a judge. Pure numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

import numpy as np
import numpy.typing as npt

__all__ = ["calibration", "confusion", "precision_recall", "risk_coverage"]

FloatArray = npt.NDArray[np.float64]
BoolArray = npt.NDArray[np.bool_]

BINS: Final = 10
_POINTS: Final = 60
"""Points that a curve is thinned to."""


def confusion(
    gold: Sequence[str], predicted: Sequence[str], classes: Sequence[str]
) -> list[list[int]]:
    """Counts, a row for each gold class and a column for each predicted one."""
    place = {name: k for k, name in enumerate(classes)}
    found = [[0] * len(classes) for _ in classes]
    for g, p in zip(gold, predicted, strict=True):
        found[place[g]][place[p]] += 1
    return found


def precision_recall(scores: FloatArray, positive: BoolArray) -> list[list[float]]:
    """[recall, precision, threshold] for falling thresholds; items of score 0 are never found."""
    order = np.argsort(-scores, kind="stable")
    hits = np.cumsum(positive[order])
    taken = np.arange(1, len(scores) + 1)
    ends = _ends(scores[order])
    ends = ends[scores[order][ends] > 0]
    whole = max(1, int(positive.sum()))
    return [
        [float(hits[k] / whole), float(hits[k] / taken[k]), float(scores[order][k])]
        for k in _thinned(ends)
    ]


def risk_coverage(confidence: FloatArray, right: BoolArray) -> list[list[float]]:
    """[coverage, risk]: the share of the surest items, and the share of mistakes among them."""
    order = np.argsort(-confidence, kind="stable")
    wrong = np.cumsum(~right[order])
    ends = _ends(confidence[order])
    return [[float((k + 1) / len(right)), float(wrong[k] / (k + 1))] for k in _thinned(ends)]


def calibration(confidence: FloatArray, right: BoolArray, bins: int = BINS) -> dict[str, Any]:
    """Reliability by bins of equal width, and the expected calibration error.

    ECE is the mean, weighted by items, of |share right - mean confidence| over the bins (Naeini,
    Cooper and Hauskrecht 2015).
    """
    places = np.minimum((confidence * bins).astype(int), bins - 1)
    found, error = [], 0.0
    for k in range(bins):
        inside = places == k
        count = int(inside.sum())
        entry: dict[str, Any] = {"from": k / bins, "to": (k + 1) / bins, "items": count}
        if count:
            sure, share = float(confidence[inside].mean()), float(right[inside].mean())
            entry |= {"confidence": sure, "right": share}
            error += count / len(confidence) * abs(share - sure)
        found.append(entry)
    return {"ece": error if len(confidence) else None, "items": len(confidence), "bins": found}


def _ends(ordered: FloatArray) -> npt.NDArray[np.intp]:
    """The last place of each run of equal values: ties are taken together."""
    if not len(ordered):
        return np.zeros(0, dtype=np.intp)
    return np.flatnonzero(np.append(ordered[1:] != ordered[:-1], True))


def _thinned(places: npt.NDArray[np.intp]) -> list[int]:
    if len(places) <= _POINTS:
        return [int(k) for k in places]
    chosen = np.unique(np.linspace(0, len(places) - 1, _POINTS).astype(int))
    return [int(places[k]) for k in chosen]
