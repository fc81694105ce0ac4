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
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.judge.kinds import behaviour_of
from consolidate.judge.recency import moment
from consolidate.judge.slots import attributes_of
from consolidate.stages.nearest import Neighbourhood, Places, Vectors
from consolidate.types import Candidates, Fact, Groups, Pair

__all__ = ["RULES", "find_pairs"]

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

_AT_ONCE: Final = 2048
"""Pairs whose products are taken at a time: their vectors stay in the cache of the processor."""

_Ends = list[tuple[int, int]]
"""Pairs of places among the facts that are compared."""


def find_pairs(
    facts: Sequence[Fact],
    vectors: Vectors,
    groups: Groups,
    *,
    live: Mapping[str, bool],
    neighbours: int,
    floor: float,
    per_fact: int,
    near: Neighbourhood | None = None,
    rows: Sequence[int] | None = None,
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
        near: What was found of a larger set of vectors, to go on with; the pairs are the same.
        rows: Where in that set each fact's vector stands.
    """
    compared = [i for i, fact in enumerate(facts) if behaviour_of(fact.kind).compared]
    skipped: Counter[str] = Counter()
    skipped["kind-not-compared"] = len(facts) - len(compared)
    if not compared:
        return Candidates(pairs=(), skipped=_nonzero(skipped))
    ids = [facts[i].id for i in compared]
    alive = np.array([live[i] for i in ids], dtype=bool)
    position = {fact_id: i for i, fact_id in enumerate(ids)}
    if near is None:
        near = Neighbourhood(vectors)
    places = np.array(compared if rows is None else [rows[i] for i in compared], dtype=np.intp)
    moments = [moment(facts[i]) for i in compared]
    in_time = sorted(range(len(ids)), key=lambda i: (moments[i], i))
    rank = {i: place for place, i in enumerate(in_time)}

    slots: _Ends = []
    for members in _slots(facts, compared, groups, position):
        slots += _within(members, near, places)
        slots += _in_time(members, rank)
    entities: _Ends = []
    for group in groups.groups:
        members = [position[f] for f in group.facts if f in position]
        if group.hub:
            skipped["hub-entity"] += len(members) * (len(members) - 1) // 2
        else:
            entities += _within(members, near, places)
    found = [
        np.array(slots, dtype=np.intp).reshape(-1, 2),
        np.array(entities, dtype=np.intp).reshape(-1, 2),
        *_neighbours(near, places, alive, neighbours, floor),
    ]
    ends = np.concatenate(found)
    made = np.repeat([0, 1, *([2] * (len(found) - 2))], [len(each) for each in found])
    ends, made = _once(ends, made, alive)
    return _limit(ids, vectors[compared], ends, made, per_fact, skipped)


def _once(
    ends: Places, made: npt.NDArray[np.intp], alive: npt.NDArray[np.bool_]
) -> tuple[Places, npt.NDArray[np.intp]]:
    """Each pair once, under the first rule that made it, without pairs of two retired facts."""
    ends = np.sort(ends, axis=1)
    either = alive[ends].any(axis=1)
    ends, made = ends[either], made[either]
    # Of equal ones the first is given, and the rules stand in order.
    _, first = np.unique(ends[:, 0] * len(alive) + ends[:, 1], return_index=True)
    return ends[first], made[first]


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


def _within(members: Sequence[int], near: Neighbourhood, places: Places) -> _Ends:
    chosen = sorted(members)
    if len(chosen) <= ALL_WITH_ALL:
        return list(combinations(chosen, 2))
    found = near.within(places[chosen], WITHIN_LIST)
    return [(chosen[a], chosen[b]) for a, b in found]


def _in_time(members: Sequence[int], rank: Mapping[int, int]) -> _Ends:
    """Each with the next ones in time: a value is replaced by the one that follows it."""
    ordered = sorted(members, key=rank.__getitem__)
    pairs: _Ends = []
    for step in range(1, NEXT_IN_TIME + 1):
        pairs += zip(ordered, ordered[step:], strict=False)
    return pairs


def _neighbours(
    near: Neighbourhood,
    places: Places,
    alive: npt.NDArray[np.bool_],
    k: int,
    floor: float,
) -> Iterator[Places]:
    position = np.full(int(places.max()) + 1, -1, dtype=np.intp)
    position[places] = np.arange(len(places))
    queries = np.flatnonzero(alive)
    for name, base, count in (
        ("live", queries, k + 1),
        ("retired", np.flatnonzero(~alive), RETIRED_NEIGHBOURS),
    ):
        found, products = near.nearest(name, places[queries], places[base], count)
        row, column = np.nonzero(products >= floor)
        ends = np.stack([queries[row], position[found[row, column]]], axis=1)
        yield ends[ends[:, 0] != ends[:, 1]]


def _limit(
    ids: Sequence[str],
    matrix: Vectors,
    ends: Places,
    made: npt.NDArray[np.intp],
    per_fact: int,
    skipped: Counter[str],
) -> Candidates:
    """Drop and count what is over the limit."""
    if not len(ends):
        return Candidates(pairs=(), skipped=_nonzero(skipped))
    similar: list[float] = []
    for start in range(0, len(ends), _AT_ONCE):
        part = ends[start : start + _AT_ONCE]
        close = np.einsum("ij,ij->i", matrix[part[:, 0]], matrix[part[:, 1]])
        similar += [round(each, 6) for each in close.tolist()]
    # By rule, then the most similar, then by place, which is by id.
    order = np.lexsort((ends[:, 1], ends[:, 0], -np.array(similar), made))
    left, right = ends[:, 0].tolist(), ends[:, 1].tolist()
    taken = [0] * len(ids)
    kept = []
    for i in order.tolist():
        if taken[left[i]] >= per_fact and taken[right[i]] >= per_fact:
            skipped["over-limit"] += 1
        else:
            taken[left[i]] += 1
            taken[right[i]] += 1
            kept.append(i)
    rules = [RULES[each] for each in made.tolist()]
    return Candidates(
        # Pairs came sorted by place.
        pairs=tuple(
            Pair(left=ids[left[i]], right=ids[right[i]], rule=rules[i], similarity=similar[i])
            for i in sorted(kept)
        ),
        by_rule=_nonzero(Counter(rules[i] for i in kept)),
        skipped=_nonzero(skipped),
    )


def _nonzero(counts: Counter[str]) -> dict[str, int]:
    return {key: n for key, n in sorted(counts.items()) if n}
