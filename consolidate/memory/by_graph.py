"""Finding by the graph: what is a step or two away from what a query names.

"Where does the head of Orion live?" shares no word with "Ayşe lives in Bonn"; the fact that Ayşe
heads Orion joins them. The query's names are looked up, a walk from them ranks the live facts
(`graph.walking`), and of those near by, the ones that fit the query come first. No model is asked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.graph.walking import Graph, Graphs
from consolidate.names import USER, name_key
from consolidate.store import Store

if TYPE_CHECKING:
    from consolidate.memory.index import MemoryIndex

__all__ = ["GraphFinder", "Walked"]

DAMPING: Final = 0.5
"""Chance to walk on, as in HippoRAG: half of the mass stays within a step of the seeds."""
MOST_SEEDS: Final = 8
LONGEST_NAME: Final = 4
"""Words of a name that is looked for in a query."""
MOST_BESIDE: Final = 100
"""Facts that name a seed, looked at for what they answer of the query."""
LEAST_FIT: Final = 0.05
"""What a fact that does not fit the query at all counts for beside its mass."""


@dataclass(frozen=True, kw_only=True)
class Walked:
    """What a walk found."""

    slots: tuple[int, ...] = ()
    """Slots of the index, best first."""
    seeds: tuple[int, ...] = ()
    """Numbers of the entities that the query names."""
    graph: Graph | None = None


class GraphFinder:
    """Ranks facts by a walk from what a query names; the graph is kept until it changes."""

    def __init__(self, store: Store, agent: str, graphs: Graphs) -> None:
        self._store = store
        self._agent = agent
        self._graphs = graphs

    def find(
        self,
        query: str,
        index: MemoryIndex,
        allowed: npt.NDArray[np.bool_],
        fit: Callable[[Sequence[int], Sequence[int]], npt.NDArray[np.floating[Any]]],
        limit: int,
    ) -> Walked:
        """Facts near to what the query names.

        Args:
            query: The words.
            index: Where facts have their slots.
            allowed: Whether the fact in a slot may be found at all.
            fit: How well the facts in some slots fit the query, 0 to 1, given the slots of facts
                that name what it names: those answer a part of it.
            limit: At most so many.

        Raises:
            InputError: scipy is not installed.
        """
        named = self._named(query)
        if not named:
            return Walked()
        graph = self._graphs.of(self._agent)
        seeds = [each for each in named if each in graph.row and not graph.is_hub(each)]
        if not seeds:
            return Walked()
        mass = graph.walk_from(seeds[:MOST_SEEDS], DAMPING)[len(graph.entities) :].copy()
        # What names a seed itself is found by words and by meaning; the graph is for the rest.
        beside = sorted({fact for seed in seeds for fact in graph.of_entity[seed]})
        mass[[graph.row[fact] - len(graph.entities) for fact in beside]] = 0.0
        near = np.argsort(-mass, kind="stable")[: 4 * limit]
        near = near[mass[near] > 0]
        slots = index.slots_of_ids([graph.facts[i] for i in near])
        found = [(slot, m) for slot, m in zip(slots, mass[near], strict=True) if slot is not None]
        found = [(slot, m) for slot, m in found if allowed[slot]]
        if not found:
            return Walked(seeds=tuple(seeds), graph=graph)
        own = [slot for slot in index.slots_of_ids(beside[:MOST_BESIDE]) if slot is not None]
        fits = np.maximum(fit([slot for slot, _ in found], own), LEAST_FIT)
        weights = np.array([m for _, m in found]) * fits
        order = np.argsort(-weights, kind="stable")[:limit]
        return Walked(slots=tuple(found[i][0] for i in order), seeds=tuple(seeds), graph=graph)

    def _named(self, query: str) -> list[int]:
        """Entities that the query names, by any run of up to four words, longest first."""
        words = query.replace("'s", " ").replace("’s", " ").split()
        words = [word.strip("\"'“”‘’«»()[],;:!?") for word in words]
        runs = {
            name_key(" ".join(words[start : start + length])): (length, start)
            for length in range(LONGEST_NAME, 0, -1)
            for start in range(len(words) - length + 1)
        }
        runs.pop("", None)
        found = self._store.entities_named(self._agent, "key", list(runs))
        by_run: dict[str, set[int]] = {}
        for each in found:
            if each.key != USER:
                by_run.setdefault(each.by, set()).add(each.id)
        taken: set[int] = set()
        chosen: dict[int, None] = {}
        for key in sorted(by_run, key=lambda key: (-runs[key][0], runs[key][1])):
            length, start = runs[key]
            # "Mossbank Timber" is not "Timber" as well; a name of several may mean any of them
            if taken.isdisjoint(range(start, start + length)) and len(by_run[key]) == 1:
                taken |= set(range(start, start + length))
                chosen |= dict.fromkeys(by_run[key])
        return list(chosen)
