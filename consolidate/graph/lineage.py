"""Where a fact or entity comes from and what became of it, as one graph of nodes and edges.

Facts are tied by supersession, merges and links, and to the entities they name. Retired facts are
part of it: lineage is history.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Literal

from consolidate.errors import InputError, NotFoundError
from consolidate.graph.registry import lookup
from consolidate.store import Store
from consolidate.store.walks import SOURCE_OF

__all__ = ["Direction", "Edge", "Lineage", "Node", "lineage_trace"]

Direction = Literal["backward", "forward", "both"]
"""To what came before, to what came after, or both. Links and names lead both ways."""

DEEPEST: Final = 10
MOST_NODES: Final = 1000

_IN_TIME: Final = frozenset({"superseded_by", "merged_into", SOURCE_OF})


@dataclass(frozen=True, kw_only=True)
class Node:
    """A fact or an entity."""

    id: str
    """Id of a fact, or `#` and the number of an entity."""
    kind: Literal["fact", "entity"]
    text: str
    status: str = ""
    """Of a fact: active, superseded, merged, ..."""
    depth: int


@dataclass(frozen=True, kw_only=True, order=True)
class Edge:
    """A tie between two nodes: from the earlier, or from a fact to what it names."""

    start: str
    end: str
    how: str
    """superseded_by, merged_into, source_of (a note), names, or the relation of a link."""


@dataclass(frozen=True, kw_only=True)
class Lineage:
    """What a trace found."""

    nodes: tuple[Node, ...]
    """Nearest first."""
    edges: tuple[Edge, ...]
    depth_reached: int
    truncated: bool
    """Whether `most` nodes were reached before the end."""


def lineage_trace(
    store: Store,
    start: str,
    kind: Literal["fact", "entity"] = "fact",
    *,
    agent: str = "default",
    direction: Direction = "both",
    depth: int = 3,
    most: int = 200,
) -> Lineage:
    """Follow all ties from a fact or entity, nearest first; each node is reached once.

    Args:
        store: The memory.
        start: Id of a fact, or a unique beginning of it; or the name of an entity.
        kind: Which of the two.
        agent: Whose memory; nothing of another is reached.
        direction: Which way supersessions and merges are followed.
        depth: Ties between the start and the farthest node, 1 to 10.
        most: At most so many nodes, 1 to 1000.

    Raises:
        NotFoundError: There is no such fact or entity.
        InputError: A value can't be used, or the name fits several entities.
    """
    if direction not in ("backward", "forward", "both"):
        raise InputError(f"direction {direction!r} must be backward, forward or both")
    if not 1 <= depth <= DEEPEST or not 1 <= most <= MOST_NODES:
        raise InputError(
            f"depth {depth!r} must be from 1 to {DEEPEST} and most {most!r} from 1 to {MOST_NODES}"
        )
    begin = _start(store, start, kind, agent)
    found = {begin: 0}
    edges: set[Edge] = set()
    front, level, truncated = [begin], 0, False
    while front and level < depth:
        level += 1
        following: list[str] = []
        for node in front:
            for edge, other in _ties(store, node, agent, direction):
                if other not in found:
                    if len(found) >= most:
                        truncated = True
                        continue
                    found[other] = level
                    following.append(other)
                edges.add(edge)
        front = following
    return Lineage(
        nodes=tuple(_nodes(store, found, agent)),
        edges=tuple(sorted(edges)),
        depth_reached=max(found.values()),
        truncated=truncated,
    )


def _start(store: Store, start: str, kind: str, agent: str) -> str:
    if kind == "fact":
        fact = store.get(start)
        if fact.agent != agent:
            raise NotFoundError(f"no fact {start!r} in the memory of {agent!r}")
        return fact.id
    if kind != "entity":
        raise InputError(f"kind {kind!r} must be fact or entity")
    answer = lookup(store, start, agent=agent)
    if answer.ambiguous:
        raise InputError(f"{start!r} fits several entities; `entity_get` lists them")
    if answer.entity is None:
        raise NotFoundError(f"no entity {start!r} in the memory of {agent!r}")
    return f"#{answer.entity.id}"


def _ties(store: Store, node: str, agent: str, direction: Direction) -> Iterator[tuple[Edge, str]]:
    if node.startswith("#"):
        for fact in store.fact_ids_of_entity(int(node[1:])):
            yield Edge(start=fact, end=node, how="names"), fact
        return
    for start, end, how in store.ties_of(agent, node):
        backward = end == node
        if how in _IN_TIME and direction != "both" and backward != (direction == "backward"):
            continue
        yield Edge(start=start, end=end, how=how), start if backward else end
    for entity in store.entities_of_fact(node):
        yield Edge(start=node, end=f"#{entity}", how="names"), f"#{entity}"


def _nodes(store: Store, found: dict[str, int], agent: str) -> Iterator[Node]:
    facts = {
        fact.id: fact for fact in store.facts(ids=[n for n in found if n[0] != "#"], statuses=None)
    }
    labels = store.entity_labels(agent)
    for node, depth in sorted(found.items(), key=lambda item: (item[1], item[0])):
        if node.startswith("#"):
            yield Node(id=node, kind="entity", text=labels[int(node[1:])][1], depth=depth)
        else:
            fact = facts[node]
            yield Node(id=node, kind="fact", text=fact.text, status=fact.status.value, depth=depth)
