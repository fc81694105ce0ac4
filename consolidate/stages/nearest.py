"""Which texts lie nearest to which, exactly: never an approximation, whatever it is asked for.

Pure: vectors in, places and products out. All with all is most of what finding pairs costs in a
large memory, so `Neighbourhood` answers for one set of texts after another, of which each differs
from the one before by a few, without multiplying everything again.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
import numpy.typing as npt

__all__ = ["Neighbourhood", "Places", "Vectors", "nearest"]

Vectors = npt.NDArray[np.float32]
Places = npt.NDArray[np.intp]
"""Row numbers."""

_BLOCK: Final = 64
_ROWS: Final = 512
_SPARE: Final = 8
"""More neighbours are kept than are asked for: some will be merged away."""


def nearest(queries: Vectors, base: Vectors, k: int) -> tuple[Places, Vectors]:
    """Exact nearest rows of `base` for each row of `queries`, by inner product.

    Works in slabs, so memory stays at some 512 x len(base) floats. The top k lie in the k
    blocks of 64 columns with the highest maxima, which spares sorting whole rows. A block is every
    n-th column: such maxima are ten times cheaper than those of neighbouring columns.

    Returns:
        Indices and products, both of shape (len(queries), min(k, len(base))), best first; equal
        products by smaller index.
    """
    n = len(base)
    k = min(k, n)
    if k == 0 or len(queries) == 0:
        return np.zeros((len(queries), k), dtype=np.intp), np.zeros((len(queries), k), np.float32)
    blocks = -(-n // _BLOCK)
    padded = np.zeros((blocks * _BLOCK, base.shape[1]), dtype=np.float32)
    padded[:n] = base
    indices = np.empty((len(queries), k), dtype=np.intp)
    products = np.empty((len(queries), k), dtype=np.float32)
    for start in range(0, len(queries), _ROWS):
        slab = queries[start : start + _ROWS] @ padded.T
        slab[:, n:] = -np.inf
        rows = np.arange(len(slab))[:, None]
        if blocks > k:
            columns = _columns(slab, blocks, k)
        else:
            columns = np.broadcast_to(np.arange(blocks * _BLOCK), slab.shape)
        values = slab[rows, columns]
        found = _best(values, k)
        found.sort(axis=1)  # so that of equal ones the first comes first
        order = np.argsort(-values[rows, found], axis=1, kind="stable")
        chosen = columns[rows, found[rows, order]]
        indices[start : start + _ROWS] = chosen
        products[start : start + _ROWS] = slab[rows, chosen]
    return indices, products


def _columns(slab: Vectors, blocks: int, k: int) -> Places:
    """Columns in k blocks of each row that hold its k highest values, rising."""
    maxima = slab.reshape(len(slab), _BLOCK, blocks).max(axis=1)
    best, tied = _highest(maxima, k)
    columns = (best[:, :, None] + np.arange(_BLOCK) * blocks).reshape(len(slab), -1)
    if len(tied):
        # Of equal values the first count, so these rows take blocks of neighbouring columns.
        maxima = slab[tied].reshape(len(tied), blocks, _BLOCK).max(axis=2)
        first = _best(maxima, k)
        columns[tied] = (first[:, :, None] * _BLOCK + np.arange(_BLOCK)).reshape(len(tied), -1)
    columns.sort(axis=1)
    return columns


def _best(values: Vectors, k: int) -> Places:
    """Places of the k highest values of each row in any order; of equal ones the first."""
    if k >= values.shape[1]:
        return np.broadcast_to(np.arange(values.shape[1]), values.shape).copy()
    best, tied = _highest(values, k)
    best[tied] = np.argsort(-values[tied], axis=1, kind="stable")[:, :k]
    return best


def _highest(values: Vectors, k: int) -> tuple[Places, Places]:
    """Places of the k highest values of each row, and the rows where others are as high."""
    best = np.argpartition(-values, k - 1, axis=1)[:, :k]
    least = np.take_along_axis(values, best, axis=1).min(axis=1)
    return best, np.flatnonzero((values >= least[:, None]).sum(axis=1) > k)


@dataclass(frozen=True)
class _Found:
    """The nearest of some base rows, for some queries."""

    base: npt.NDArray[np.bool_]
    """Which rows were looked through."""
    row_of: Places
    """Query row to its place in the lists; -1 for a row that was not asked about."""
    places: Places
    products: Vectors
    whole: bool
    """The lists hold all of the base."""


class Neighbourhood:
    """The nearest rows among parts of one matrix.

    What was found for a part is kept under a name and used for the next part of that name: rows
    that are gone are left out of the lists, rows that came are multiplied, and only a query whose
    list has run out is looked for anew.

    Args:
        vectors: Shape (texts, dimensions), rows of unit length.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._kept: dict[str, _Found] = {}
        self._lists: dict[tuple[bytes, int], list[tuple[int, int]]] = {}

    def nearest(self, name: str, queries: Places, base: Places, k: int) -> tuple[Places, Vectors]:
        """As the function of this name, for rows of the matrix.

        Args:
            name: Whose lists to go on with.
            queries: Rows to find neighbours of.
            base: Rows to look through, rising.
            k: How many.

        Returns:
            Row numbers of the matrix and products, shape (len(queries), min(k, len(base))).
        """
        k = min(k, len(base))
        kept = self._kept.get(name)
        if kept is None or not k or not len(kept.places):
            return self._afresh(name, queries, base, k)
        within = np.zeros(len(self._vectors), dtype=bool)
        within[base] = True
        came = np.flatnonzero(within & ~kept.base)
        if 2 * len(came) > len(base):
            return self._afresh(name, queries, base, k)
        rows = kept.row_of[queries]
        places, products = kept.places[rows], kept.products[rows]
        there = within[places]
        lacking = rows < 0
        if not kept.whole:
            lacking |= there.sum(axis=1) < k
        products = np.where(there, products, -np.inf).astype(np.float32)
        if len(came):
            more = self._vectors[queries] @ self._vectors[came].T
            places = np.concatenate([places, np.broadcast_to(came, more.shape)], axis=1)
            products = np.concatenate([products, more], axis=1)
        # Best first, of equal ones the smaller row.
        order = np.lexsort((places, -products), axis=1)[:, :k]
        places = np.take_along_axis(places, order, axis=1)
        products = np.take_along_axis(products, order, axis=1)
        if anew := np.flatnonzero(lacking).tolist():
            found, close = nearest(self._vectors[queries[anew]], self._vectors[base], k)
            places[anew], products[anew] = base[found], close
        return places, products

    def within(self, rows: Places, k: int) -> list[tuple[int, int]]:
        """Each of a few rows with its `k` nearest of the others, as places in `rows`."""
        key = (rows.tobytes(), k)
        if key not in self._lists:
            found, _ = nearest(self._vectors[rows], self._vectors[rows], k + 1)
            self._lists[key] = [
                (a, b) for a, row in enumerate(found.tolist()) for b in row if a != b
            ]
        return self._lists[key]

    def _afresh(self, name: str, queries: Places, base: Places, k: int) -> tuple[Places, Vectors]:
        found, products = nearest(self._vectors[queries], self._vectors[base], k + _SPARE)
        places = base[found]
        row_of = np.full(len(self._vectors), -1, dtype=np.intp)
        row_of[queries] = np.arange(len(queries))
        within = np.zeros(len(self._vectors), dtype=bool)
        within[base] = True
        self._kept[name] = _Found(
            within, row_of, places, products, whole=places.shape[1] == len(base)
        )
        return places[:, :k], products[:, :k]
