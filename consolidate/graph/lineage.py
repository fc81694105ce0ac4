"""Where a fact, entity or episode comes from and what became of it, as nodes and edges.

Facts are tied by supersession, merges and links, to the entities they name and to the episodes they
came of. Retired facts are part of it: lineage is history.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from consolidate.errors import InputError, NotFoundError
from consolidate.graph.registry import lookup
from consolidate.store import Store
from consolidate.store.walks import SOURCE_OF

__all__ = ["Direction", "Edge", "Kind", "Lineage", "Node", "lineage_trace"]

Direction = Literal["backward", "forward", "both"]
"""To what came before, to what came after, or both. Links and names lead both ways."""

Kind = Literal["fact", "entity", "episode"]

DEEPEST: Final = 10
MOST_NODES: Final = 1000

_IN_TIME: Final = frozenset({"superseded_by", "merged_into", SOURCE_OF})


@dataclass(frozen=True, kw_only=True)
class Node:
    """A fact, an entity or an episode."""

    id: str
    """Id of a fact, `#` and the number of an entity, or `@` and the id of an episode."""
    kind: Kind
    text: str
    """Text of a fact, name of an entity, title of an episode."""
    status: str = ""
    """Of a fact: active, superseded, merged, ..."""
    depth: int


@dataclass(frozen=True, kw_only=True, order=True)
class Edge:
    """A tie between two nodes: from the earlier, or from a fact to what it names.

    An episode is earlier than the facts that it is about or that came of it.
    """

    start: str
    end: str
    how: str
    """superseded_by, merged_into, source_of (a note), names, told (an episode), or the
    relation of a link."""


class _Key(NamedTuple):
    """A node, whatever characters its id has."""

    kind: Kind
    id: str

    @property
    def shown(self) -> str:
        return {"entity": "#", "episode": "@"}.get(self.kind, "") + self.id


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
    kind: Kind = "fact",
    *,
    agent: str = "default",
    direction: Direction = "both",
    depth: int = 3,
    most: int = 200,
) -> Lineage:
    """Follow all ties from a fact, entity or episode, nearest first; each is reached once.

    Args:
        store: The memory.
        start: Id of a fact or episode, or a unique beginning of it; or the name of an entity.
        kind: Which of these.
        agent: Whose memory; nothing of another is reached.
        direction: Which way supersessions, merges and what episodes told are followed.
        depth: Ties between the start and the farthest node, 1 to 10.
        most: At most so many nodes, 1 to 1000.

    Raises:
        NotFoundError: There is no such fact, entity or episode.
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
        following: list[_Key] = []
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


def _start(store: Store, start: str, kind: str, agent: str) -> _Key:
    if kind == "fact":
        fact = store.get(start)
        if fact.agent != agent:
            raise NotFoundError(f"no fact {start!r} in the memory of {agent!r}")
        return _Key("fact", fact.id)
    if kind == "episode":
        return _Key("episode", store.episode(agent, start.removeprefix("@")).id)
    if kind != "entity":
        raise InputError(f"kind {kind!r} must be fact, entity or episode")
    answer = lookup(store, start, agent=agent)
    if answer.ambiguous:
        raise InputError(f"{start!r} fits several entities; `entity_get` lists them")
    if answer.entity is None:
        raise NotFoundError(f"no entity {start!r} in the memory of {agent!r}")
    return _Key("entity", str(answer.entity.id))


def _ties(
    store: Store, node: _Key, agent: str, direction: Direction
) -> Iterator[tuple[Edge, _Key]]:
    """All ties of a node that may be followed, each with the node at its other end."""

    def tie(start: _Key, end: _Key, how: str) -> tuple[Edge, _Key]:
        return Edge(start=start.shown, end=end.shown, how=how), end if start == node else start

    if node.kind == "entity":
        for fact in store.fact_ids_of_entity(int(node.id)):
            yield tie(_Key("fact", fact), node, "names")
        return
    if node.kind == "episode":
        if direction != "backward":
            for fact in store.episode(agent, node.id).facts:
                yield tie(node, _Key("fact", fact), "told")
        return
    for start, end, how in store.ties_of(agent, node.id):
        backward = end == node.id
        if how in _IN_TIME and direction != "both" and backward != (direction == "backward"):
            continue
        yield tie(_Key("fact", start), _Key("fact", end), how)
    for entity in store.entities_of_fact(node.id):
        yield tie(node, _Key("entity", str(entity)), "names")
    if direction != "forward":
        for episode in store.episodes_of_fact(agent, node.id):
            yield tie(_Key("episode", episode), node, "told")


def _nodes(store: Store, found: Mapping[_Key, int], agent: str) -> Iterator[Node]:
    ids = [node.id for node in found if node.kind == "fact"]
    facts = {fact.id: fact for fact in store.facts(ids=ids, statuses=None)}
    labels = store.entity_labels(agent)
    for node, depth in sorted(found.items(), key=lambda item: (item[1], item[0].shown)):
        status = ""
        if node.kind == "entity":
            text = labels[int(node.id)][1]
        elif node.kind == "episode":
            text = store.episode(agent, node.id).title
        else:
            text, status = facts[node.id].text, facts[node.id].status.value
        yield Node(id=node.shown, kind=node.kind, text=text, status=status, depth=depth)
