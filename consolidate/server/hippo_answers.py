"""Shapes of what the `hippo_*` tools answer.

Annotations are evaluated here, so that a `TypedDict` knows which of its keys may be missing.
"""

from typing import NotRequired, TypedDict

from consolidate.memory.answers import CandidateShown, TripleShown
from consolidate.memory.episode_answers import EpisodeFound, RecapAnswer
from consolidate.memory.records import ConversationHit

__all__ = [
    "HippoClaim",
    "HippoEntity",
    "HippoEpisode",
    "HippoEpisodes",
    "HippoExtracted",
    "HippoFacts",
    "HippoFound",
    "HippoLineage",
    "HippoLink",
    "HippoNeighbors",
    "HippoPpr",
    "HippoRecap",
    "HippoRemembered",
]


class EntityNode(TypedDict):
    """An entity; its id may be given wherever a name may."""

    id: str
    canonical_name: str
    type: str


class HippoEntity(TypedDict):
    """An entity or null; `candidates` only if the name means several."""

    entity: EntityNode | None
    aliases: list[str]
    facts: list[str]
    candidates: NotRequired[list[CandidateShown]]


class FactRow(TypedDict):
    """A fact."""

    id: str
    proposition: str
    status: str
    kind: str
    source: NotRequired[str]
    created_at: NotRequired[str]
    superseded_by: NotRequired[str]
    relevance: NotRequired[float]
    score: NotRequired[float]


class HippoFacts(TypedDict):
    """Facts, and which arguments were not used."""

    facts: list[FactRow]
    missing: NotRequired[list[str]]
    not_used: NotRequired[list[str]]


class RememberedRow(TypedDict):
    """What became of a fact that was said."""

    fact_id: str
    proposition: str
    action: str
    reason: str


class HippoRemembered(TypedDict):
    """What became of what was said; `fact_id` is that of its first fact, empty if there is none."""

    fact_id: str
    facts: list[RememberedRow]
    not_used: list[str]


class HippoLink(TypedDict):
    """An edge that was declared."""

    src: str
    dst: str
    predicate: str
    weight: float
    fact_id: str
    created: bool


class NeighborRow(EntityNode):
    """An entity near another."""

    hops: int
    predicates: list[str]
    facts: list[str]


class HippoNeighbors(TypedDict):
    """What is near to an entity; null and none if it is unknown."""

    entity: EntityNode | None
    neighbors: list[NeighborRow]


class RankedEntityRow(TypedDict):
    """An entity with its share of the walk."""

    entity_id: str
    canonical_name: str
    score: float


class RankedFactRow(TypedDict):
    """A fact with its share of the walk."""

    fact_id: str
    score: float


class HippoPpr(TypedDict):
    """Entities and facts near to the names; `graph_size` counts the nodes of the graph."""

    ranked: list[RankedEntityRow]
    facts: list[str]
    facts_ranked: list[RankedFactRow]
    graph_size: int
    unknown: list[str]


class NameRow(TypedDict):
    """A name in a text."""

    name: str
    type: str


class HippoExtracted(TypedDict):
    """What a text names and states."""

    entities: list[NameRow]
    triples: list[TripleShown]


class LineageNode(TypedDict):
    """A fact, entity or episode."""

    id: str
    kind: str
    label: str
    status: str
    depth: int


class LineageEdge(TypedDict):
    """A tie of two nodes."""

    src: str
    dst: str
    relation: str


class HippoLineage(TypedDict):
    """What a trace found; nothing, and `not_found`, if there is no such start."""

    nodes: list[LineageNode]
    edges: list[LineageEdge]
    depth_reached: int
    truncated: bool
    not_found: bool


class HippoClaim(TypedDict):
    """What the memory says of a claim; facts by id."""

    claim: str
    verdict: str
    reason: str
    supporting: list[str]
    contradicting: list[str]


class HippoFound(TypedDict):
    """Episodes, and for `hippo_recall` messages too."""

    episodes: list[EpisodeFound]
    messages: NotRequired[list[ConversationHit]]


class HippoEpisode(TypedDict):
    """An episode that was kept."""

    episode_id: str
    new: bool


class EpisodeRow(TypedDict):
    """An episode in a list."""

    id: str
    title: str
    text: str
    outcome: str
    session_id: str
    created_at: str
    facts: list[str]


class HippoEpisodes(TypedDict):
    """Episodes, the latest first, and how many there are."""

    episodes: list[EpisodeRow]
    total: int


HippoRecap = RecapAnswer
