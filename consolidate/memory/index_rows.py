"""An agent's facts in memory: vectors in one matrix, the rest in columns, kept up with the store.

The store stays the truth. It is asked for a revision, which is one look-up, and only what changed
since is read. Every fact has a slot, a row of the columns.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.memory.strength import Decay
from consolidate.store import RecallRow, Store
from consolidate.types import FactStatus

__all__ = [
    "FORGOTTEN",
    "GONE",
    "LIVE",
    "MERGED",
    "SUPERSEDED",
    "Flags",
    "Floats",
    "IndexRows",
    "Slots",
]

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]
Slots = npt.NDArray[np.int64]
_Names = tuple[str, str, str | None]
"""Id, content hash, and the id of what the fact was merged into or superseded by."""
_Places = set[tuple[int, int]]
"""Slot and position of a passage; position -1 is the fact's whole text."""

_STATUS: Final = {status.value: code for code, status in enumerate(FactStatus, start=1)}
GONE: Final = 0
LIVE: Final = [_STATUS[status.value] for status in FactStatus if status.is_live]
MERGED: Final = _STATUS[FactStatus.MERGED.value]
SUPERSEDED: Final = _STATUS[FactStatus.SUPERSEDED.value]
FORGOTTEN: Final = _STATUS[FactStatus.FORGOTTEN.value]

_BATCH: Final = 2000
"""Vectors that are read from the store at a time."""

_COLUMNS: Final = {
    "status": np.int8,
    "kind": np.int32,
    "numbers": np.int64,
    "starts": np.float64,
    "said": np.float64,
    "ends": np.float64,
    "changed": np.float64,
    "intensity": np.float64,
    "accesses": np.float64,
    "uses": np.float64,
    "touched": np.float64,
    "pinned": np.bool_,
}


class IndexRows:
    """What recall knows of one agent's facts. Empty until the first `refresh`.

    Attributes:
        lock: To be held from `refresh` to the last use of what it gave.
        numbers: Number of the fact in each slot; 0 where there is none.
        status: Code of its status; 0 where there is none.
    """

    numbers: npt.NDArray[np.int64]
    status: npt.NDArray[np.int8]
    kind: npt.NDArray[np.int32]
    starts: Floats
    """Since when it holds: from valid_from, else when it was said, else when it was stored."""
    said: Floats
    """When it was last said, or stored."""
    ends: Floats
    """Until when it holds, by valid_to; infinite if unknown."""
    changed: Floats
    """When the run that retired it began; NaN if unknown."""
    intensity: Floats
    accesses: Floats
    """Recalls that its row counts."""
    uses: Floats
    """Recalls counted beside the row."""
    touched: Floats
    """When it was last heard or recalled."""
    pinned: Flags

    def __init__(self, store: Store, agent: str) -> None:
        self.lock = threading.RLock()
        self._store = store
        self._agent = agent
        self._empty()

    def _empty(self) -> None:
        self._revision: int | None = None
        self._slot: dict[int, int] = {}
        self._names: dict[int, _Names] = {}
        self._slot_of_id: dict[str, int] = {}
        self._passages: dict[int, list[str]] = {}
        self._free: list[int] = []
        self._size = 0
        self._kinds: dict[str, int] = {}
        self._capacity = 0
        for name, kind in _COLUMNS.items():
            setattr(self, name, np.zeros(0, dtype=kind))
        self._heirs: tuple[Slots, Slots] = (np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._left: tuple[Decay, Floats] | None = None
        self._drop_vectors(None, 0)

    def _drop_vectors(self, model: str | None, dimensions: int) -> None:
        self._model = model
        self._matrix = np.zeros((0, dimensions), dtype=np.float32)
        self._owner = np.zeros(0, dtype=np.int64)
        self._position = np.zeros(0, dtype=np.int64)
        self._vectors = 0
        self._rows_of: dict[int, list[int]] = {}
        self._lacking: dict[str, _Places] = defaultdict(set)
        self._unread: set[str] = set()
        self._queue: list[str] | None = None
        self._vectors_revision: int | None = None

    # Keeping up with the store

    def refresh(self, model: str | None = None, dimensions: int = 0) -> None:
        """Read what changed since the last time.

        Args:
            model: Identity of the embedder whose vectors are wanted; None wants none.
            dimensions: Length of its vectors.
        """
        try:
            self._refresh(model, dimensions)
        except BaseException:
            self._empty()  # half a change is worse than none; the next call reads everything
            raise

    def _refresh(self, model: str | None, dimensions: int) -> None:
        revision, rows, gone = self._store.recall_rows(self._agent, after=self._revision)
        if self._revision is None:
            self._grow(len(rows))
        for number in gone:
            if number in self._slot:
                self._remove(number)
        if rows:
            numbers = None if self._revision is None else [row.number for row in rows]
            passages = self._store.passage_hashes(self._agent, numbers)
            for row in rows:
                self._put(row, passages.get(row.number, []))
        if rows or gone:
            self._find_heirs()
            self._left = None
        self._revision = revision
        if model is None:
            return
        if model != self._model or dimensions != self._matrix.shape[1]:
            self._drop_vectors(model, dimensions)
            for slot in self._names:
                self._lack(slot)
        saved = self._store.vectors_revision()
        self._load(self._unread if saved == self._vectors_revision else self._lacking)
        self._unread.clear()
        self._vectors_revision = saved

    def _put(self, row: RecallRow, passages: list[str]) -> None:
        slot = self._slot.get(row.number)
        if slot is None or self.status[slot] != _STATUS[row.status]:
            self._queue = None
        if slot is not None and self._names[slot][:2] != (row.id, row.content_hash):
            self._remove(row.number)
            slot = None
        if slot is None:
            slot = self._take_slot()
            self._slot[row.number] = slot
            self._names[slot] = (row.id, row.content_hash, row.successor)
            self._slot_of_id[row.id] = slot
            if passages:
                self._passages[slot] = passages
            self._unread.update(self._lack(slot))
        self._names[slot] = (row.id, row.content_hash, row.successor)
        said = row.recorded_at if row.stated_at is None else row.stated_at
        self.status[slot] = _STATUS[row.status]
        self.kind[slot] = self._kinds.setdefault(row.kind, len(self._kinds))
        self.numbers[slot] = row.number
        self.starts[slot] = said if row.valid_from is None else row.valid_from
        self.said[slot] = said if row.confirmed_at is None else max(said, row.confirmed_at)
        self.ends[slot] = np.inf if row.valid_to is None else row.valid_to
        self.changed[slot] = np.nan if row.changed_at is None else row.changed_at
        self.intensity[slot] = row.intensity
        self.accesses[slot] = row.access_count
        self.uses[slot] = row.uses
        self.touched[slot] = _touched(row)
        self.pinned[slot] = bool(row.pinned)

    def _lack(self, slot: int) -> list[str]:
        """Note that a fact has no vectors yet; returns the hashes of what it would have."""
        passages = self._passages.get(slot)
        if passages is None:
            content_hash = self._names[slot][1]
            self._lacking[content_hash].add((slot, -1))
            return [content_hash]
        for position, content_hash in enumerate(passages):
            self._lacking[content_hash].add((slot, position))
        return passages

    def _take_slot(self) -> int:
        if self._free:
            return self._free.pop()
        if self._size == self._capacity:
            self._grow(max(1024, 2 * self._capacity))
        self._size += 1
        return self._size - 1

    def _grow(self, capacity: int) -> None:
        for name, kind in _COLUMNS.items():
            larger: npt.NDArray[Any] = np.zeros(capacity, dtype=kind)
            larger[: self._size] = getattr(self, name)[: self._size]
            setattr(self, name, larger)
        self._capacity = capacity

    def _remove(self, number: int) -> None:
        slot = self._slot.pop(number)
        self._queue = None
        fact, whole, _ = self._names.pop(slot)
        self._slot_of_id.pop(fact, None)
        for name in _COLUMNS:
            getattr(self, name)[slot] = 0
        for content_hash in self._passages.pop(slot, [whole]):
            lacking = self._lacking.get(content_hash, set())
            lacking -= {place for place in lacking if place[0] == slot}
            if not lacking:
                self._lacking.pop(content_hash, None)
        while self._rows_of.get(slot):
            self._take_out(self._rows_of[slot].pop())
        self._rows_of.pop(slot, None)
        self._free.append(slot)

    def _take_out(self, row: int) -> None:
        """Let the last vector take the place of one that goes: nothing of it stays in memory."""
        self._vectors -= 1
        last = self._vectors
        if row != last:
            owner = int(self._owner[last])
            self._matrix[row] = self._matrix[last]
            self._owner[row] = owner
            self._position[row] = self._position[last]
            rows = self._rows_of[owner]
            rows[rows.index(last)] = row
        self._matrix[last] = 0.0

    def _load(self, hashes: Iterable[str]) -> None:
        wanted = [key for key in hashes if key in self._lacking]
        assert self._model is not None  # noqa: S101  # `_refresh` has set it
        for start in range(0, len(wanted), _BATCH):
            found = self._store.vectors(wanted[start : start + _BATCH], self._model)
            self.add_vectors(found)

    def add_vectors(self, vectors: Mapping[str, npt.NDArray[np.float32]]) -> None:
        """Take in vectors by content hash, for facts that lack them."""
        count = sum(len(self._lacking.get(key, ())) for key in vectors)
        if self._vectors + count > len(self._matrix):
            self._grow_matrix(self._vectors + count)
        for key, vector in vectors.items():
            for slot, position in sorted(self._lacking.pop(key, ())):
                self._matrix[self._vectors] = vector
                self._owner[self._vectors] = slot
                self._position[self._vectors] = position
                self._rows_of.setdefault(slot, []).append(self._vectors)
                self._vectors += 1

    def _grow_matrix(self, least: int) -> None:
        # Room for all facts and some more at once: growing copies everything. Pages that nothing
        # was written to cost no memory.
        room = max(least, len(self._slot)) * 9 // 8 + 256
        matrix = np.zeros((room, self._matrix.shape[1]), dtype=np.float32)
        matrix[: self._vectors] = self._matrix[: self._vectors]
        self._matrix = matrix
        for name in ("_owner", "_position"):
            larger = np.zeros(room, dtype=np.int64)
            larger[: self._vectors] = getattr(self, name)[: self._vectors]
            setattr(self, name, larger)

    def _find_heirs(self) -> None:
        """For merged facts, the slot of what they were merged into at last."""
        waiting = np.flatnonzero(self.status[: self._size] == MERGED).tolist()
        slot_of = self._slot_of_id
        merged, heirs = [], []
        for slot in waiting:
            at, seen = slot, {slot}
            while self.status[at] == MERGED:
                successor = slot_of.get(self._names[at][2] or "")
                if successor is None or successor in seen:
                    break  # a circle should not be; `Store.check` reports it
                at = successor
                seen.add(at)
            if self.status[at] != MERGED:
                merged.append(slot)
                heirs.append(at)
        self._heirs = (np.array(merged, dtype=np.int64), np.array(heirs, dtype=np.int64))

    # What it knows

    def __len__(self) -> int:
        """How many facts there are, of every status."""
        return len(self._slot)

    @property
    def has_passages(self) -> bool:
        """Whether any text is so long that it has passages."""
        return bool(self._passages)

    def slots_of(self, numbers: Iterable[int]) -> list[int]:
        """Slots of facts by number; unknown ones are left out."""
        return [self._slot[number] for number in numbers if number in self._slot]

    def slots_of_ids(self, ids: Sequence[str]) -> list[int | None]:
        """Slots of facts by id, in the order asked for; None for unknown ones."""
        return [self._slot_of_id.get(each) for each in ids]

    def ids(self, slots: Iterable[int]) -> list[str]:
        """Ids of the facts in slots."""
        return [self._names[slot][0] for slot in slots]

    def lacking(self, limit: int) -> list[str]:
        """Content hashes of what live facts have no vector for, the newest facts' first.

        Args:
            limit: At most so many.
        """
        if self._queue is None:
            newest = {
                key: max(
                    (int(self.numbers[slot]) for slot, _ in places if self.status[slot] in LIVE),
                    default=0,
                )
                for key, places in self._lacking.items()
            }
            self._queue = sorted((k for k in newest if newest[k]), key=lambda key: newest[key])
        while self._queue and self._queue[-1] not in self._lacking:
            self._queue.pop()
        found = (key for key in reversed(self._queue) if key in self._lacking)
        return list(islice(found, limit))

    @property
    def unembedded(self) -> int:
        """How many texts have no vector."""
        return len(self._lacking)


def _touched(row: RecallRow) -> float:
    """When a fact was last heard or recalled: said again, recalled, or else stored."""
    base = row.recorded_at if row.last_access is None else row.last_access
    others: Sequence[float | None] = (row.confirmed_at, row.last_use)
    return max([base, *(each for each in others if each is not None)])
