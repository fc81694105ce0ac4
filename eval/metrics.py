"""Scores for labelled pairs. Pure numpy; knows no model, no store and no file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["CLASSES", "accuracy", "auc", "catch_at_false_rate", "macro_f1", "three_way"]

CLASSES: Final = ("duplicate", "contradiction", "distinct")
"""The three outcomes a store cares for. One-way entailment counts as distinct: both facts stay."""

FloatArray = npt.NDArray[np.float64]


def three_way(relation: str) -> str:
    """Map a labelled relation of the memory-pairs sets to one of `CLASSES`."""
    return {"equivalent": "duplicate", "contradicts": "contradiction"}.get(relation, "distinct")


def accuracy(gold: Sequence[str], predicted: Sequence[str]) -> float:
    """Share of items whose prediction is the gold label, 0 to 1."""
    return float(np.mean([g == p for g, p in zip(gold, predicted, strict=True)]))


def macro_f1(
    gold: Sequence[str], predicted: Sequence[str], classes: Sequence[str] = CLASSES
) -> tuple[float, dict[str, float]]:
    """Mean over classes of 2PR / (P + R), and the F1 of each class."""
    scores = {}
    for name in classes:
        hit = sum(g == name and p == name for g, p in zip(gold, predicted, strict=True))
        size = sum(g == name for g in gold) + sum(p == name for p in predicted)
        scores[name] = 2 * hit / size if size else 0.0
    return float(np.mean(list(scores.values()))), scores


def catch_at_false_rate(
    scores: FloatArray, positive: npt.NDArray[np.bool_], rate: float
) -> tuple[float, float]:
    """Share of positives above the lowest threshold that lets through at most `rate` negatives.

    Returns:
        (share of positives caught, the threshold), both 0 to 1. The threshold is exclusive.
    """
    negatives = np.sort(scores[~positive])[::-1]
    allowed = int(np.floor(rate * len(negatives)))
    threshold = float(negatives[allowed]) if allowed < len(negatives) else 0.0
    return float(np.mean(scores[positive] > threshold)), threshold


def auc(scores: FloatArray, positive: npt.NDArray[np.bool_]) -> float:
    """Area under the ROC curve by ranks (Mann-Whitney), ties counted half."""
    order = np.argsort(scores, kind="stable")
    ranks = np.empty(len(scores))
    ranks[order] = np.arange(1, len(scores) + 1)
    for value in np.unique(scores):
        same = scores == value
        ranks[same] = ranks[same].mean()
    n_pos, n_neg = int(positive.sum()), int((~positive).sum())
    if not n_pos or not n_neg:
        return float("nan")
    return float((ranks[positive].sum() - n_pos * (n_pos + 1) / 2) / (n_pos * n_neg))
