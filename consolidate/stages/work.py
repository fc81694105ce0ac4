"""What the stages that call models share: progress, chunks, and the count of what was done."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from consolidate.types import StageStats

__all__ = ["Progress", "Tally", "in_chunks", "silent"]

Progress = Callable[[str, int, int], None]
"""Called with a stage's name, how many items are done, and how many there are."""

Item = TypeVar("Item")


def silent(stage: str, done: int, total: int) -> None:
    """The progress of a run that nobody watches."""


@dataclass
class Tally:
    """Counts of one stage while it runs; the only mutable record, frozen by `stats`."""

    stage: str
    items_in: int = 0
    items_out: int = 0
    model_calls: int = 0
    cached: int = 0
    failures: int = 0
    model: str = ""
    detail: dict[str, int] = field(default_factory=dict)
    began: float = field(default_factory=time.perf_counter)
    _usage: Any = None
    _before: dict[str, int] = field(default_factory=dict)

    def meter(self, model: object) -> None:
        """Add to `detail` what a model counts from now on, if it keeps a `usage`: calls, tokens."""
        self._usage = getattr(model, "usage", None)
        self._before = self._usage.counts() if self._usage is not None else {}

    def stats(self) -> StageStats:
        """The finished record."""
        spent = self._usage.counts() if self._usage is not None else {}
        for name, count in spent.items():
            if count > self._before.get(name, 0):
                self.detail[name] = count - self._before.get(name, 0)
        return StageStats(
            stage=self.stage,
            seconds=time.perf_counter() - self.began,
            items_in=self.items_in,
            items_out=self.items_out,
            model_calls=self.model_calls,
            cached=self.cached,
            failures=self.failures,
            model=self.model,
            detail=dict(self.detail),
        )


def in_chunks(
    items: Sequence[Item], size: int, stage: str, progress: Progress
) -> Iterator[Sequence[Item]]:
    """Yield slices of `items`, telling the progress before the first and after each."""
    if items:
        progress(stage, 0, len(items))
    for start in range(0, len(items), size):
        part = items[start : start + size]
        yield part
        progress(stage, start + len(part), len(items))
