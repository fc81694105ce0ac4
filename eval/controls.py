"""What a score is compared with: ways to judge a pair that cost next to nothing.

A number means little alone. Each control here judges the same pairs; the threshold of the cosine
ones is the best on the dev split, also when the test split is scored.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.protocols import Embedder
from consolidate.stages.collapse import plain_text
from consolidate.types import Scores, Verdict
from eval.metrics import macro_f1

__all__ = ["Blind", "Cosine", "best_band", "best_threshold", "by_band", "by_text", "by_threshold"]

FloatArray = npt.NDArray[np.float64]

_STEPS: Final = 50


class Blind:
    """A classifier that finds every pair neutral: what is left is the work of the layers."""

    @property
    def identity(self) -> str:
        """Always the same."""
        return "eval:blind@1"

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """See `consolidate.protocols.ContradictionClassifier`."""
        neutral = Scores(entailment=0.0, neutral=1.0, contradiction=0.0)
        return [Verdict(forward=neutral, backward=neutral, model=self.identity) for _ in pairs]


class Cosine:
    """A classifier by likeness alone: from a threshold on, two texts say the same."""

    def __init__(self, embedder: Embedder, threshold: float) -> None:
        self.threshold = threshold
        self._embedder = embedder
        self._vectors: dict[str, npt.NDArray[np.float32]] = {}

    @property
    def identity(self) -> str:
        """Changes with embedder and threshold."""
        return f"eval:cosine-{self.threshold:.4f}@{self._embedder.identity}"

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """See `consolidate.protocols.ContradictionClassifier`."""
        new = sorted({text for pair in pairs for text in pair} - self._vectors.keys())
        self._vectors.update(zip(new, self._embedder.embed(new), strict=True))
        found = []
        for a, b in pairs:
            alike = float(self._vectors[a] @ self._vectors[b]) >= self.threshold
            scores = Scores(entailment=float(alike), neutral=float(not alike), contradiction=0.0)
            found.append(Verdict(forward=scores, backward=scores, model=self.identity))
        return found


def by_text(pairs: Sequence[tuple[str, str]]) -> list[str]:
    """Duplicates are the same text as `collapse` sees it; all else is distinct."""
    return ["duplicate" if plain_text(a) == plain_text(b) else "distinct" for a, b in pairs]


def by_threshold(cosines: FloatArray, threshold: float) -> list[str]:
    """Duplicates are at least this similar; nothing is ever a contradiction."""
    return ["duplicate" if cosine >= threshold else "distinct" for cosine in cosines]


def by_band(cosines: FloatArray, low: float, high: float) -> list[str]:
    """Duplicates from `high`, contradictions from `low` up to it, distinct below."""
    return [
        "duplicate" if cosine >= high else "contradiction" if cosine >= low else "distinct"
        for cosine in cosines
    ]


def best_threshold(cosines: FloatArray, gold: Sequence[str]) -> float:
    """The threshold of `by_threshold` with the highest macro-F1; the lowest of equals."""
    found = [(macro_f1(gold, by_threshold(cosines, t))[0], -t) for t in _cuts(cosines)]
    return -max(found)[1]


def best_band(cosines: FloatArray, gold: Sequence[str]) -> tuple[float, float]:
    """The two thresholds of `by_band` with the highest macro-F1."""
    cuts = _cuts(cosines)
    found = [
        (macro_f1(gold, by_band(cosines, low, high))[0], -low, -high)
        for k, low in enumerate(cuts)
        for high in cuts[k:]
    ]
    _, low, high = max(found)
    return -low, -high


def _cuts(cosines: FloatArray) -> list[float]:
    return [float(q) for q in np.unique(np.quantile(cosines, np.linspace(0, 1, _STEPS)))]
