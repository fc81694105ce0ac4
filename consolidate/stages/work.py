"""What the stages that call models share: progress, chunks, and the count of what was done."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, TypeVar

from consolidate.types import StageStats

if TYPE_CHECKING:
    from consolidate.store import Store

__all__ = ["GIVEN_UP", "TO_RETRY", "Book", "Progress", "Tally", "in_chunks", "silent"]

Progress = Callable[[str, int, int], None]
"""Called with a stage's name, how many items are done, and how many there are."""

GIVEN_UP: Final = "given up"
"""In a stage's details: what failed in so many runs that it is not asked about again."""

TO_RETRY: Final = "to retry"
"""In a stage's details: what failed and is asked about again in the next run."""

Item = TypeVar("Item")
Result = TypeVar("Result", bound=Sized)


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
    _unasked_before: int = 0

    def gives(self, result: Result) -> Result:
        """Count what the stage puts out, and hand it on."""
        self.items_out = len(result)
        return result

    def meter(self, model: object) -> None:
        """Add to `detail` what a model counts from now on, if it keeps a `usage`: calls, tokens."""
        self._usage = getattr(model, "usage", None)
        self._before = self._usage.counts() if self._usage is not None else {}
        self._unasked_before = self._unasked()

    def failed(self, store: Store, keys: Collection[tuple[str, ...]], model: str) -> None:
        """Count texts or pairs that a model gave no answer for; some are asked about again.

        What the model was not asked, since a limit or its server forbade it, is no failure of the
        text.
        """
        if not keys:
            return
        self.failures += len(keys)
        asked = self._unasked() == self._unasked_before
        self._unasked_before = self._unasked()
        given_up = store.note_failures(keys, model) if asked else set()
        self._count(GIVEN_UP, len(given_up))
        self._count(TO_RETRY, len(keys) - len(given_up))

    def passed_over(self, count: int) -> None:
        """Count texts or pairs that are not asked about, having failed in enough runs."""
        self._count(GIVEN_UP, count)

    def _count(self, name: str, count: int) -> None:
        if count:
            self.detail[name] = self.detail.get(name, 0) + count

    def _unasked(self) -> int:
        return int(self._usage.counts().get("unasked", 0)) if self._usage is not None else 0

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


class Book:
    """Keeps the account of a run: what each stage took in, put out and cost."""

    def __init__(self) -> None:
        self._pages: dict[str, StageStats] = {}

    @property
    def stages(self) -> tuple[StageStats, ...]:
        """The stages so far, in the order in which they first ran."""
        return tuple(self._pages.values())

    @property
    def left_over(self) -> int:
        """What is to be tried again in the next run: failures, and pairs over the budget."""
        return sum(
            page.detail.get(TO_RETRY, 0) + page.detail.get("cut", 0)
            for page in self._pages.values()
        )

    @contextmanager
    def stage(self, name: str, items_in: Sized = (), model: Any = None) -> Iterator[Tally]:
        """Count what happens inside. A stage that runs again is added to its page."""
        tally = Tally(name, items_in=len(items_in), model=getattr(model, "identity", ""))
        tally.meter(model)
        yield tally
        page = tally.stats()
        if name in self._pages:
            page = _added(self._pages[name], page)
        self._pages[name] = page


def _added(first: StageStats, again: StageStats) -> StageStats:
    detail = dict(first.detail)
    for key, count in again.detail.items():
        detail[key] = detail.get(key, 0) + count
    return replace(
        again,
        seconds=first.seconds + again.seconds,
        items_in=max(first.items_in, again.items_in),
        model_calls=first.model_calls + again.model_calls,
        cached=first.cached + again.cached,
        failures=first.failures + again.failures,
        detail=detail,
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
