"""Chooses which facts to compare: a few likely pairs a fact, never all with all.

Pure: facts, groups and vectors in, pairs out. Three rules, in this order; a pair belongs to the
first that makes it:

- `same-slot`: one entity and one attribute (both speak of Mia's employer);
- `same-entity`: both mention one entity that is no hub;
- `neighbour`: nearest by cosine, above the floor.

Small lists are compared all with all; in longer ones each fact meets its most similar ones and,
in a slot, those that follow it in time. Two retired facts are never compared. Pairs that a person
has settled are: a pair stands for two texts, of which other facts may say the same, and what is
known of it keeps others apart. Nothing here depends on the order of the input.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.judge.kinds import behaviour_of
from consolidate.judge.recency import moment
from consolidate.judge.slots import attributes_of
from consolidate.types import Candidates, Fact, Groups, Pair

__all__ = ["RULES", "find_pairs", "nearest"]

RULES: Final = ("same-slot", "same-entity", "neighbour")

ALL_WITH_ALL: Final = 6
"""Lists up to this long are compared all with all (15 pairs for 6 facts)."""
WITHIN_LIST: Final = 3
"""In longer lists each fact meets this many of its most similar."""
NEXT_IN_TIME: Final = 2
"""In lists of one slot each fact also meets this many that follow it in time."""
RETIRED_NEIGHBOURS: Final = 2
"""Superseded facts that each live fact is compared with, so that a retired claim said again is
recognised."""

Vectors = npt.NDArray[np.float32]

_BLOCK: Final = 64
_ROWS: Final = 512


def nearest(queries: Vectors, base: Vectors, k: int) -> tuple[npt.NDArray[np.intp], Vectors]:
    """Exact nearest rows of `base` for each row of `queries`, by inner product.

    Works in slabs, so memory stays at some 512 x len(base) floats. The top k lie in the k
    blocks of 64 columns with the highest maxima, which spares sorting whole rows.

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
            maxima = slab.reshape(len(slab), blocks, _BLOCK).max(axis=2)
            best = np.argpartition(-maxima, k - 1, axis=1)[:, :k]
            least = np.take_along_axis(maxima, best, axis=1).min(axis=1)
            tied = np.flatnonzero((maxima >= least[:, None]).sum(axis=1) > k)
            best[tied] = np.argsort(-maxima[tied], axis=1, kind="stable")[:, :k]
            columns = (best[:, :, None] * _BLOCK + np.arange(_BLOCK)).reshape(len(slab), -1)
            columns.sort(axis=1)
        else:
            columns = np.broadcast_to(np.arange(blocks * _BLOCK), slab.shape)
        order = np.argsort(-slab[rows, columns], axis=1, kind="stable")[:, :k]
        chosen = columns[rows, order]
        indices[start : start + _ROWS] = chosen
        products[start : start + _ROWS] = slab[rows, chosen]
    return indices, products


def find_pairs(
    facts: Sequence[Fact],
    vectors: Vectors,
    groups: Groups,
    *,
    live: Mapping[str, bool],
    neighbours: int,
    floor: float,
    per_fact: int,
) -> Candidates:
    """Find the pairs worth judging.

    Args:
        facts: One fact for each distinct text, sorted by id.
        vectors: Their vectors, shape (len(facts), dimensions), rows of unit length.
        groups: Which entities they mention.
        live: Whether any fact of this text is live, by id.
        neighbours: Nearest neighbours that each fact meets.
        floor: Neighbours of a lower cosine are left out.
        per_fact: At most this many pairs a fact on average; the least similar go first.
    """
    compared = [i for i, fact in enumerate(facts) if behaviour_of(fact.kind).compared]
    skipped: Counter[str] = Counter()
    skipped["kind-not-compared"] = len(facts) - len(compared)
    if not compared:
        return Candidates(pairs=(), skipped=_nonzero(skipped))
    ids = [facts[i].id for i in compared]
    matrix = vectors[compared]
    alive = np.array([live[i] for i in ids], dtype=bool)
    position = {fact_id: i for i, fact_id in enumerate(ids)}
    times = [moment(facts[i]) for i in compared]
    made: dict[tuple[int, int], str] = {}

    def add(pairs: Iterable[tuple[int, int]], rule: str) -> None:
        for a, b in pairs:
            if alive[a] or alive[b]:
                made.setdefault((min(a, b), max(a, b)), rule)

    for members in _slots(facts, compared, groups, position):
        add(_within(members, matrix), "same-slot")
        add(_in_time(members, times), "same-slot")
    for group in groups.groups:
        members = [position[f] for f in group.facts if f in position]
        if group.hub:
            skipped["hub-entity"] += len(members) * (len(members) - 1) // 2
        else:
            add(_within(members, matrix), "same-entity")
    add(_neighbours(matrix, alive, neighbours, floor), "neighbour")
    return _limit(ids, matrix, made, per_fact, skipped)


def _slots(
    facts: Sequence[Fact],
    compared: Sequence[int],
    groups: Groups,
    position: Mapping[str, int],
) -> list[list[int]]:
    """Lists of facts that speak of one attribute of one entity."""
    lists: dict[tuple[str, str], list[int]] = defaultdict(list)
    for i in compared:
        fact = facts[i]
        for attribute in attributes_of(fact.text):
            for key in groups.by_fact.get(fact.id, ()):
                lists[(key, attribute)].append(position[fact.id])
    return [members for _, members in sorted(lists.items()) if len(members) > 1]


def _within(members: Sequence[int], matrix: Vectors) -> Iterable[tuple[int, int]]:
    if len(members) <= ALL_WITH_ALL:
        return combinations(sorted(members), 2)
    chosen = np.array(sorted(members))
    found, _ = nearest(matrix[chosen], matrix[chosen], WITHIN_LIST + 1)
    return [(int(chosen[a]), int(chosen[b])) for a, row in enumerate(found) for b in row if a != b]


def _in_time(
    members: Sequence[int], times: Sequence[tuple[datetime, ...]]
) -> Iterable[tuple[int, int]]:
    """Each with the next ones in time: a value is replaced by the one that follows it."""
    ordered = sorted(members, key=lambda i: (times[i], i))
    for step in range(1, NEXT_IN_TIME + 1):
        yield from zip(ordered, ordered[step:], strict=False)


def _neighbours(
    matrix: Vectors, alive: npt.NDArray[np.bool_], k: int, floor: float
) -> Iterable[tuple[int, int]]:
    queries = np.flatnonzero(alive)
    for base, count in ((queries, k + 1), (np.flatnonzero(~alive), RETIRED_NEIGHBOURS)):
        found, products = nearest(matrix[queries], matrix[base], count)
        near = products >= floor
        for row, columns, close in zip(queries, found, near, strict=True):
            for column in base[columns[close]]:
                if column != row:
                    yield int(row), int(column)


def _limit(
    ids: Sequence[str],
    matrix: Vectors,
    made: Mapping[tuple[int, int], str],
    per_fact: int,
    skipped: Counter[str],
) -> Candidates:
    """Drop and count what is over the limit."""
    if not made:
        return Candidates(pairs=(), skipped=_nonzero(skipped))
    ends = np.array(list(made))
    similar = np.einsum("ij,ij->i", matrix[ends[:, 0]], matrix[ends[:, 1]])
    rank = {rule: i for i, rule in enumerate(RULES)}
    ordered = sorted(
        (rank[rule], -round(float(s), 6), ids[a], ids[b])
        for ((a, b), rule), s in zip(made.items(), similar, strict=True)
    )
    taken: Counter[str] = Counter()
    by_rule: Counter[str] = Counter()
    pairs = []
    for rule_rank, negative, a, b in ordered:
        left, right = min(a, b), max(a, b)
        if taken[left] >= per_fact and taken[right] >= per_fact:
            skipped["over-limit"] += 1
        else:
            taken[left] += 1
            taken[right] += 1
            by_rule[RULES[rule_rank]] += 1
            pairs.append(Pair(left=left, right=right, rule=RULES[rule_rank], similarity=-negative))
    return Candidates(
        pairs=tuple(sorted(pairs, key=lambda p: (p.left, p.right))),
        by_rule=_nonzero(by_rule),
        skipped=_nonzero(skipped),
    )


def _nonzero(counts: Counter[str]) -> dict[str, int]:
    return {key: n for key, n in sorted(counts.items()) if n}
