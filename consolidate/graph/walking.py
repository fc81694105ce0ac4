"""The graph of entities and facts, and Personalised PageRank over it.

A fact and each entity it names are joined, both ways, so a walk goes from an entity to its facts,
on to the other entities in them, and so on (HippoRAG, Gutiérrez et al. 2024). Two entities of which
a fact states something (an edge) are joined as well. Retired facts are not in it. The ranking is
`scipy` sparse matrices all the way; no model is asked.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np
import numpy.typing as npt

from consolidate.errors import InputError
from consolidate.graph.declaring import find
from consolidate.graph.registry import lookup
from consolidate.store import Store
from consolidate.store.validation import check_name

if TYPE_CHECKING:
    from scipy.sparse import csr_array

__all__ = ["Graph", "Graphs", "Neighbour", "Ranking", "entity_neighbors", "ppr_retrieve"]

Direction = Literal["both", "in", "out"]

TOLERANCE: Final = 1e-6
"""Walks end when the masses move by less than this in all."""
MOST_STEPS: Final = 100

HUB_SHARE: Final = 0.2
"""A seed that is in more than a fifth of all facts says nothing of what is asked for..."""
HUB_FROM: Final = 50
"""...once there are this many facts."""


@dataclass(frozen=True, kw_only=True)
class Graph:
    """Entities and live facts of one agent, as rows of one matrix: entities first."""

    entities: Sequence[int]
    facts: Sequence[str]
    walk: csr_array
    """Column-stochastic, shape (n, n): where a walker goes from each node."""
    of_entity: dict[int, list[str]]
    of_fact: dict[str, list[int]]
    row: dict[int | str, int]

    def walk_from(self, seeds: Sequence[int], damping: float) -> npt.NDArray[np.float64]:
        """Masses of all nodes in the long run of a walk that starts over at some entities.

        Args:
            seeds: Numbers of entities of the graph, at least one.
            damping: Chance to walk on instead of starting over.

        Returns:
            Shape (entities + facts,), entities first; the masses sum to one.
        """
        return _walked(self, [self.row[entity] for entity in seeds], damping)

    def is_hub(self, entity: int) -> bool:
        """Whether an entity is in too many facts to say what is asked for."""
        facts = len(self.facts)
        return facts >= HUB_FROM and len(self.of_entity[entity]) > HUB_SHARE * facts

    def path_to(self, fact: str, seeds: Sequence[int]) -> tuple[int | str, ...]:
        """A shortest way from one of some entities to a fact: entity, fact, entity, ..., fact.

        Empty if there is none of at most three facts.
        """
        came: dict[int | str, int | str | None] = dict.fromkeys(seeds)
        edge: list[int] = list(came)  # type: ignore[arg-type]
        for _ in range(3):
            further: list[int] = []
            for entity in edge:
                for each in self.of_entity.get(entity, ()):
                    if each in came:
                        continue
                    came[each] = entity
                    if each == fact:
                        return _traced(came, fact)
                    for other in self.of_fact[each]:
                        if other not in came:
                            came[other] = each
                            further.append(other)
            edge = further
        return ()


@dataclass(frozen=True, kw_only=True)
class Ranking:
    """What is near to some entities."""

    seeds: tuple[int, ...]
    """Entities that the walk began at."""
    facts: tuple[tuple[str, float], ...]
    """Fact id and mass, most first."""
    entities: tuple[tuple[int, float], ...]
    unknown: tuple[str, ...] = ()
    """Names that lead to no entity, or to several."""
    left_out: tuple[str, ...] = ()
    """Names in too many facts to begin at."""


@dataclass(frozen=True, kw_only=True)
class Neighbour:
    """An entity that facts join to another."""

    entity: int
    name: str
    type: str
    hops: int
    """How many facts lie between."""
    through: tuple[str, ...]
    """Facts on the last step that reached it."""
    predicates: tuple[str, ...] = ()
    """What those state of one of the two about the other, where they do."""


_MOST_KEPT: Final = 4
"""Graphs as of other times that are kept: one may be asked for again, many would fill memory."""


class Graphs:
    """Graphs of a store, made when asked for and again when the data changed.

    Args:
        store: The memory.
        clock: Tells the present moment; facts whose validity is over are not walked.
    """

    def __init__(
        self, store: Store, *, clock: Callable[[], datetime] = lambda: datetime.now(UTC)
    ) -> None:
        self._store = store
        self._clock = clock
        self._made: dict[tuple[str, datetime | None], tuple[int, datetime | None, Graph]] = {}
        self._lock = threading.Lock()

    def of(self, agent: str, as_of: datetime | None = None) -> Graph:
        """The present graph of an agent, or that of the facts that held at some time."""
        with self._lock:
            state, now = self._store.graph_revision(), self._clock()
            known = self._made.get((agent, as_of))
            if known is not None:
                made_at, until, graph = known
                if made_at == state and (until is None or now < until):
                    return graph
            for each in [each for each in self._made if each[1] is not None][: 1 - _MOST_KEPT]:
                del self._made[each]
            until = None if as_of is not None else self._store.next_end(agent, now)
            graph = self._make(agent, as_of, now)
            self._made[agent, as_of] = (state, until, graph)
            return graph

    def _make(self, agent: str, as_of: datetime | None, now: datetime) -> Graph:
        ties = [
            (edge.source, edge.target, edge.weight)
            for edge in self._store.edges(agent, as_of=as_of, now=now)
            if edge.target is not None
        ]
        return _build(self._store.entity_fact_links(agent, as_of=as_of, now=now), ties)


def ppr_retrieve(
    graphs: Graphs,
    store: Store,
    query_entities: Sequence[str],
    *,
    agent: str = "default",
    damping: float = 0.5,
    k: int = 20,
    as_of: datetime | None = None,
) -> Ranking:
    """Rank facts and entities by Personalised PageRank from some entities.

    Args:
        graphs: The cached graphs of the store.
        store: The memory.
        query_entities: Names, in any spelling the registry knows.
        agent: Whose memory.
        damping: Chance to walk on instead of starting over, over 0 and under 1.
        k: At most so many facts, and so many entities.
        as_of: By the facts that held at this time instead of those that hold now.

    Returns:
        The ranking; empty, with the names in `unknown`, where no name leads to an entity.

    Raises:
        InputError: A value can't be used, or scipy is not installed.
    """
    if not 0 < damping < 1:
        raise InputError(f"damping {damping!r} must be over 0 and under 1")
    if k < 1:
        raise InputError(f"k {k!r} must be 1 or more")
    graph = graphs.of(agent, as_of)
    seeds: dict[int, None] = {}
    unknown, hubs = [], []
    for name in query_entities:
        entity = lookup(store, name, agent=agent).entity
        if entity is None or entity.id not in graph.row:
            unknown.append(name)
        elif graph.is_hub(entity.id):
            hubs.append(name)
        else:
            seeds[entity.id] = None
    if not seeds:
        # Without a seed PageRank would rank the whole memory: an answer to another question
        return Ranking(
            seeds=(), facts=(), entities=(), unknown=tuple(unknown), left_out=tuple(hubs)
        )
    mass = graph.walk_from(list(seeds), damping)
    split = len(graph.entities)
    return Ranking(
        seeds=tuple(seeds),
        facts=tuple((graph.facts[i], m) for i, m in _best(mass[split:], k)),
        entities=tuple(
            (graph.entities[i], m) for i, m in _best(mass[:split], k + len(seeds))
            if graph.entities[i] not in seeds
        )[:k],
        unknown=tuple(unknown),
        left_out=tuple(hubs),
    )  # fmt: skip


def entity_neighbors(
    store: Store,
    entity: str,
    *,
    agent: str = "default",
    hops: int = 1,
    k: int = 10,
    direction: Direction = "both",
    as_of: datetime | None = None,
    predicate: str | None = None,
    now: datetime | None = None,
) -> list[Neighbour]:
    """Entities that facts join to one, nearest first, then by how many facts join them.

    Each entity is reached once, on a shortest way, so that dense graphs stay quick. No model and
    no other library is needed.

    Args:
        store: The memory.
        entity: Its name, in any spelling.
        agent: Whose memory.
        hops: Joints between the two, 1 to 6.
        k: At most so many.
        direction: `out` follows only what facts state of an entity ("works at"), `in` only what
            they state of others about it; `both` also joins what one fact names.
        as_of: By the facts that held at this time instead of those that hold now.
        predicate: Only what facts state with this predicate, such as `employer`.
        now: The present moment; None asks the clock.

    Raises:
        InputError: A value can't be used, or the name leads to several entities.
        NotFoundError: The name leads to none.
    """
    if not 1 <= hops <= 6:
        raise InputError(f"hops {hops!r} must be from 1 to 6")
    if k < 1:
        raise InputError(f"k {k!r} must be 1 or more")
    if predicate is not None:
        predicate = " ".join(predicate.split())
        check_name("predicate", predicate)
    if direction not in ("both", "in", "out"):
        raise InputError(f"direction {direction!r} must be both, in or out")
    start = find(store, agent, entity)
    moment = now or datetime.now(UTC)
    joints = _joints(store, agent, direction, predicate, as_of, moment)
    labels = store.entity_labels(agent)
    seen = {start.id}
    reached: list[Neighbour] = []
    edge = [start.id]
    for hop in range(1, hops + 1):
        through: dict[int, list[tuple[str, str]]] = defaultdict(list)
        for each in edge:
            for other, fact, predicate in joints.get(each, ()):
                if other not in seen:
                    through[other].append((fact, predicate))
        seen |= through.keys()
        facts = {number: sorted({fact for fact, _ in ways}) for number, ways in through.items()}
        edge = sorted(through, key=lambda number: (-len(facts[number]), number))
        reached += [
            Neighbour(
                entity=number,
                name=labels[number][1],
                type=labels[number][2],
                hops=hop,
                through=tuple(facts[number]),
                predicates=tuple(sorted({word for _, word in through[number] if word})),
            )
            for number in edge
        ]
        if len(reached) >= k or not edge:
            break
    return reached[:k]


def _joints(
    store: Store,
    agent: str,
    direction: Direction,
    predicate: str | None,
    as_of: datetime | None,
    now: datetime,
) -> dict[int, list[tuple[int, str, str]]]:
    """For each entity the ones it is joined to, by which fact and predicate."""
    joints: dict[int, list[tuple[int, str, str]]] = defaultdict(list)
    if direction == "both" and predicate is None:
        of_fact: dict[str, list[int]] = defaultdict(list)
        for number, fact in store.entity_fact_links(agent, as_of=as_of, now=now):
            of_fact[fact].append(number)
        for fact, numbers in of_fact.items():
            for a in numbers:
                joints[a] += [(b, fact, "") for b in numbers if b != a]
    for edge in store.edges(agent, as_of=as_of, now=now):
        if edge.target is None or predicate not in (None, edge.predicate):
            continue
        if direction in ("both", "out"):
            joints[edge.source].append((edge.target, edge.fact, edge.predicate))
        if direction in ("both", "in"):
            joints[edge.target].append((edge.source, edge.fact, edge.predicate))
    return joints


def _build(links: Sequence[tuple[int, str]], ties: Sequence[tuple[int, int, float]] = ()) -> Graph:
    try:
        from scipy.sparse import coo_array
    except ImportError as error:
        raise InputError(
            "walking the graph needs scipy; install it with `pip install 'consolidate[graph]'`"
        ) from error
    of_entity: dict[int, list[str]] = defaultdict(list)
    of_fact: dict[str, list[int]] = defaultdict(list)
    for entity, fact in links:
        of_entity[entity].append(fact)
        of_fact[fact].append(entity)
    entities, facts = sorted(of_entity), sorted(of_fact)
    row: dict[int | str, int] = {entity: i for i, entity in enumerate(entities)}
    row |= {fact: i for i, fact in enumerate(facts, start=len(entities))}
    joints = [(row[entity], row[fact], 1.0) for entity, fact in links]
    joints += [(row[a], row[b], weight) for a, b, weight in ties if a in row and b in row]
    columns = np.array(joints, dtype=np.float64).reshape(-1, 3).T
    a, b, weights = columns[0].astype(np.int32), columns[1].astype(np.int32), columns[2]
    size = len(row)
    ends = (np.concatenate([a, b]), np.concatenate([b, a]))
    joined = coo_array((np.concatenate([weights, weights]), ends), shape=(size, size)).tocsr()
    degree = np.asarray(joined.sum(axis=0)).ravel()
    walk = joined.multiply(1.0 / np.maximum(degree, 1e-12)).tocsr()
    return Graph(
        entities=entities,
        facts=facts,
        walk=walk,
        of_entity=dict(of_entity),
        of_fact=dict(of_fact),
        row=row,
    )


def _walked(graph: Graph, seeds: Sequence[int], damping: float) -> npt.NDArray[np.float64]:
    """Masses in the long run of a walk that starts over at the seeds; they sum to one."""
    start = np.zeros(graph.walk.shape[0])
    start[list(seeds)] = 1.0 / len(seeds)
    mass = start
    for _ in range(MOST_STEPS):
        moved: Any = (1 - damping) * start + damping * (graph.walk @ mass)
        done = float(np.abs(moved - mass).sum()) < TOLERANCE
        mass = moved
        if done:
            break
    return mass


def _best(mass: npt.NDArray[np.float64], k: int) -> list[tuple[int, float]]:
    order = np.argsort(-mass, kind="stable")[:k]
    return [(int(i), float(mass[i])) for i in order if mass[i] > 0]


def _traced(came: dict[int | str, int | str | None], end: str) -> tuple[int | str, ...]:
    path: list[int | str] = []
    at: int | str | None = end
    while at is not None:
        path.append(at)
        at = came[at]
    return tuple(reversed(path))
