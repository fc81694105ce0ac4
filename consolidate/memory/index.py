"""An agent's facts in memory, for recall: which hold, how strong they are, which are near.

A process keeps one index a memory. Search is exact: every vector is compared. At a hundred thousand
facts that is one multiplication of some ten milliseconds, and nothing has to be built, tuned or
trusted. Whoever uses an index holds its lock; `index_rows` keeps it up with the store.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.memory.index_rows import (
    FORGOTTEN,
    GONE,
    LIVE,
    MERGED,
    SUPERSEDED,
    Flags,
    Floats,
    IndexRows,
    Slots,
)
from consolidate.memory.strength import Decay

__all__ = ["MemoryIndex"]

_Products = npt.NDArray[np.float32]

_FOR_ONE_THREAD: Final = 30_000
"""Vectors that one thread multiplies in three milliseconds."""


class MemoryIndex(IndexRows):
    """What recall asks of one agent's facts. Empty until the first `refresh`."""

    # Which facts

    def current(self, decay: Decay, now: float) -> Flags:
        """Facts that hold and are not faded: live, their validity not over.

        What has been said to hold later is among them; an event that is over has still happened.
        """
        size = self._size
        events = self.kind[:size] == self._kinds.get("event", -1)
        holds: Flags = np.isin(self.status[:size], LIVE) & ((self.ends[:size] > now) | events)
        return holds & ~self.faded(decay, now)

    def ever(self) -> Flags:
        """Every fact, history included, but for those that were forgotten."""
        status = self.status[: self._size]
        found: Flags = (status != GONE) & (status != FORGOTTEN)
        return found

    def compared(self) -> Flags:
        """Facts that a new one is compared with, as in a run: live and superseded, faded or not."""
        found: Flags = np.isin(self.status[: self._size], [*LIVE, SUPERSEDED])
        return found

    def said_by(self, moment: float) -> Flags:
        """Facts that held or had been said by a moment, whatever became of them."""
        return self.ever() & (self.starts[: self._size] <= moment)

    def held_at(self, decay: Decay, moment: float) -> Flags:
        """Facts that held at a moment, as far as is known now.

        A fact holds from valid_from, else from when it was said, else from when it was stored. It
        holds until valid_to; one that was retired without such a date, until the run that retired
        it, or else until its successor holds. Of facts that were merged the survivor stands for
        all, unless it came later.
        """
        size = self._size
        status = self.status[:size]
        ends = self.ends[:size].copy()
        retired = (status == SUPERSEDED) | (status == MERGED)
        # A merged fact keeps its validity; what ended with the run is only that it stood alone.
        dateless = retired & np.isinf(ends)
        ends[dateless] = self.changed[:size][dateless]
        unknown = np.flatnonzero(dateless & np.isnan(ends))
        if len(unknown):
            slot_of = self._slot_of_id
            for slot in unknown.tolist():
                successor = slot_of.get(self._names[slot][2] or "")
                ends[slot] = -np.inf if successor is None else self.starts[successor]
        held = self.said_by(moment) & (moment < ends) & ~self.faded(decay, moment)
        merged, heirs = self._heirs
        held[merged] &= ~held[heirs]
        return held

    def of_kind(self, kind: str) -> Flags:
        """Facts of one kind."""
        found: Flags = self.kind[: self._size] == self._kinds.get(kind, -1)
        return found

    # How strong and how new

    def _use(self) -> tuple[Floats, Floats]:
        """Recalls and last use of each fact, with those of what was merged into it."""
        size = self._size
        count = self.accesses[:size] + self.uses[:size]
        last = self.touched[:size].copy()
        merged, heirs = self._heirs
        np.add.at(count, heirs, self.uses[merged])
        np.maximum.at(last, heirs, self.touched[merged])
        return count, last

    def strengths(self, decay: Decay, now: float, slots: Slots) -> Floats:
        """Effective strength of facts at a moment, by slot; pinned facts have their intensity."""
        count, last = self._use()
        intensity = self.intensity[slots]
        found = decay.strength(intensity, count[slots], (now - last[slots]) / 3600.0)
        return np.where(self.pinned[slots], intensity, found)

    def leaves(self, decay: Decay) -> Floats:
        """When each fact is at the floor, in seconds since 1970; infinite if pinned."""
        if self._left is None or self._left[0] != decay:
            count, last = self._use()
            hours = decay.hours_left(self.intensity[: self._size], count)
            pinned = self.pinned[: self._size]
            self._left = (decay, np.where(pinned, np.inf, last + hours * 3600.0))
        return self._left[1]

    def faded(self, decay: Decay, now: float) -> Flags:
        """Facts at or below the floor."""
        found: Flags = self.leaves(decay) <= now
        return found

    def leaving(self, decay: Decay, *, before: float) -> tuple[Slots, Floats]:
        """Slots of live facts that are at the floor before a moment, soonest first, and when."""
        leaves = self.leaves(decay)
        live = np.isin(self.status[: self._size], LIVE)
        slots = np.flatnonzero(live & (leaves <= before))
        slots = slots[np.lexsort((self.numbers[slots], leaves[slots]))]
        return slots, leaves[slots]

    # Search

    def similarities(self, query: npt.NDArray[np.float32]) -> Floats:
        """Cosine of a query with every slot; minus infinity where there is no vector.

        Of a long text it is that of its nearest passage.
        """
        found = np.full(self._size, -np.inf)
        owner, position = self._owner[: self._vectors], self._position[: self._vectors]
        cosines = _products(self._matrix[: self._vectors], query)
        found[owner] = cosines
        parts = np.flatnonzero(position > 0)
        if len(parts):
            parts = np.flatnonzero(position >= 0)
            found[owner[parts]] = -np.inf
            np.maximum.at(found, owner[parts], cosines[parts])
        return found

    def nearest_passage(self, slot: int, query: npt.NDArray[np.float32]) -> int:
        """The position of a long text's passage that is nearest to a query; -1 if it has none."""
        rows = self._rows_of.get(slot, [])
        if not rows:
            return -1
        return int(self._position[rows[int(np.argmax(self._matrix[rows] @ query))]])

    @staticmethod
    def best(values: Floats, count: int, *, least: float) -> list[int]:
        """Slots of the highest values, highest first, none below `least`."""
        candidates = np.flatnonzero(values >= least)
        if len(candidates) > count:
            part = np.argpartition(values[candidates], -count)[-count:]
            candidates = candidates[part]
        order = np.lexsort((candidates, -values[candidates]))
        found: list[int] = candidates[order].tolist()
        return found


def _products(matrix: npt.NDArray[np.float32], query: npt.NDArray[np.float32]) -> _Products:
    """The scalar product of each row with a query.

    A product by BLAS waits for its slowest thread, on a busy machine for ten milliseconds, when
    one thread alone takes less than one.
    """
    if len(matrix) < _FOR_ONE_THREAD:
        found: _Products = np.einsum("ij,j->i", matrix, query)
    else:
        found = matrix @ query
    return found
