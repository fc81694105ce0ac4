"""Spans of a text on their way to becoming mentions."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import Final

__all__ = ["HIGH", "LOW", "Busy", "Span", "free_of", "without_ending"]

HIGH: Final = 0.9
LOW: Final = 0.6

Span = tuple[int, int, str, float]
"""Start, end, label, score."""

_ENDING: Final = re.compile(r"['’](?:s|S|ll|d|ve|re|n?[dt][ae]n?|[yn]?[aeıiuü]|[nl][ae]r)$")


class Busy:
    """Spans that do not overlap, for quick questions."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(spans)
        self._ends = [span[1] for span in self._spans]

    def touching(self, start: int, end: int) -> Span | None:
        """The first span that shares a character with start to end."""
        index = bisect_right(self._ends, start)
        if index < len(self._spans) and self._spans[index][0] < end:
            return self._spans[index]
        return None


def free_of(spans: Iterable[Span], taken: Sequence[Span]) -> list[Span]:
    """The spans that touch none of those taken, which do not overlap."""
    busy = Busy(taken)
    return [span for span in spans if busy.touching(span[0], span[1]) is None]


def without_ending(text: str, start: int, end: int) -> int:
    """Where a name ends that has an ending after an apostrophe: Anna's, Anna'll, İzmir'de."""
    ending = _ENDING.search(text, start + 1, end)
    return ending.start() if ending else end
