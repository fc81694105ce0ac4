"""From the scores of a GLiNER graph to spans of words. Pure numpy; knows no text and no graph.

Both heads give independent probabilities by a sigmoid. A span-level head scores every span of at
most K words for every label. A token-level head says of every word how likely a span of the label
starts, ends and goes on there (Zaratiana et al. 2023, "GLiNER"; Stepanov and Shtopko 2024,
"GLiNER multi-task").
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["WordSpan", "chosen", "spans_of_spans", "spans_of_tokens"]

Scores = npt.NDArray[Any]


@dataclass(frozen=True, kw_only=True)
class WordSpan:
    """Words that may be a mention."""

    first: int
    last: int
    """Inclusive."""
    label: int
    """Place in the list of labels."""
    score: float


def spans_of_spans(logits: Scores, *, words: int, threshold: float) -> list[WordSpan]:
    """Spans that a span-level head finds.

    Args:
        logits: Shape (words or more, widest span, labels).
        words: Words of the text.
        threshold: Probability that a span must exceed, 0 to 1.
    """
    scores = _sigmoid(logits)
    found = np.argwhere(scores > threshold)
    return [
        WordSpan(
            first=start, last=start + width, label=label, score=float(scores[start, width, label])
        )
        for start, width, label in found.tolist()
        if start + width < words
    ]


def spans_of_tokens(logits: Scores, *, words: int, threshold: float) -> list[WordSpan]:
    """Spans that a token-level head finds: a start, an end, and nothing but inside between.

    Args:
        logits: Shape (words or more, labels, 3), the last axis start, end, inside.
        words: Words of the text.
        threshold: Probability that each of the three must exceed, 0 to 1.
    """
    scores = _sigmoid(logits[:words])
    spans = []
    for first, label in np.argwhere(scores[:, :, 0] > threshold).tolist():
        lowest = scores[first, label, 0]
        for last in range(first, scores.shape[0]):
            inside = scores[last, label, 2]
            if inside < threshold:
                break
            lowest = min(lowest, inside)
            end = scores[last, label, 1]
            if end > threshold:
                spans.append(
                    WordSpan(first=first, last=last, label=label, score=float(min(lowest, end)))
                )
    return spans


def chosen(spans: Iterable[WordSpan], *, nested: bool = False) -> list[WordSpan]:
    """The best spans that go together, by first word.

    The best is taken, then the next best that does not overlap one already taken, and so on. Of
    spans with equal scores the earlier in `spans` wins.

    Args:
        spans: Candidates; one that comes twice (from two windows) counts with its better score.
        nested: A span may lie within another one; it may never share only a part of it.
    """
    best: dict[tuple[int, int, int], WordSpan] = {}
    for span in spans:
        key = (span.first, span.last, span.label)
        if key not in best or best[key].score < span.score:
            best[key] = span
    taken: list[WordSpan] = []
    at: dict[int, list[WordSpan]] = {}  # word to the taken spans over it
    for span in sorted(best.values(), key=lambda each: -each.score):
        words = range(span.first, span.last + 1)
        if all(_together(span, other, nested=nested) for w in words for other in at.get(w, ())):
            taken.append(span)
            for word in words:
                at.setdefault(word, []).append(span)
    return sorted(taken, key=lambda each: (each.first, -each.last))


def _together(span: WordSpan, other: WordSpan, *, nested: bool) -> bool:
    """Whether two spans that overlap may both stand."""
    if not nested or (span.first, span.last) == (other.first, other.last):
        return False
    within = other.first <= span.first and span.last <= other.last
    around = span.first <= other.first and other.last <= span.last
    return within or around


def _sigmoid(logits: Scores) -> npt.NDArray[np.float32]:
    # By tanh, which does not overflow for large negative values.
    return np.asarray(0.5 * (1 + np.tanh(0.5 * logits.astype(np.float64))), dtype=np.float32)
