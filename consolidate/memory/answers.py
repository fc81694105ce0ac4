"""What tools answer, as types: the shapes of their plain JSON data; of episodes, see beside.

Annotations are evaluated here, unlike elsewhere: only so does a `TypedDict` know which of its
keys may be missing.
"""

from typing import Literal, NotRequired, TypedDict

from consolidate.memory.records import ConversationHit, Forgotten
from consolidate.store.records import Block
from consolidate.types import Doubt, Receipt

__all__ = [
    "ActAnswer",
    "BlockAnswer",
    "ClaimAnswer",
    "ConversationAnswer",
    "DecisionsAnswer",
    "EntitiesAnswer",
    "EntityAnswer",
    "ExtractAnswer",
    "FactShown",
    "FactsAnswer",
    "ForgetAnswer",
    "LinkAnswer",
    "NeighborsAnswer",
    "NotesAnswer",
    "PinAnswer",
    "PlanAnswer",
    "PprAnswer",
    "RecallAnswer",
    "ReceiptAnswer",
    "ReportAnswer",
    "ReviewsAnswer",
    "RunAnswer",
    "SearchAnswer",
]


class FactShown(TypedDict):
    """A fact as an agent needs to see it; times that are unknown are left out."""

    id: str
    text: str
    kind: str
    status: str
    source: str
    stated_at: NotRequired[str]
    valid_from: NotRequired[str]
    valid_to: NotRequired[str]
    superseded_by: NotRequired[str]
    merged_into: NotRequired[str]


class RecalledShown(FactShown):
    """A fact that recall found."""

    score: float
    relevance: float
    strength: float
    recency: float
    found_by: list[str]
    entities: list[str]
    path: NotRequired[list[str]]


class RecallAnswer(TypedDict):
    """What recall found, best first."""

    found: list[RecalledShown]


class BlockAnswer(TypedDict):
    """A block, or the names of those there are."""

    block: Block | None
    blocks: NotRequired[list[str]]


class MatchShown(FactShown):
    """A fact that would be forgotten."""

    score: float
    why: str


class ForgetShown(TypedDict):
    """What would be forgotten, and the token that confirms it."""

    token: str
    expires_at: str | None
    matches: list[MatchShown]
    superseded: list[FactShown]
    messages: int
    episodes: int
    notes: list[str]


class ForgetAnswer(TypedDict):
    """The preview, or what was deleted."""

    preview: NotRequired[ForgetShown]
    forgotten: NotRequired[Forgotten]


class ConversationAnswer(TypedDict):
    """Messages that were found."""

    found: list[ConversationHit]


class PinAnswer(TypedDict):
    """Facts that are pinned now, or not any longer."""

    facts: list[str]
    changed: list[str]


class DecisionShown(TypedDict):
    """A decision; `fact` and `other` are ids."""

    id: str
    kind: str
    fact: str
    other: str
    reason: str
    sentence: str


class DecisionsAnswer(TypedDict):
    """Decisions and the facts they speak of, by id."""

    count: int
    decisions: list[DecisionShown]
    facts: dict[str, FactShown]


class PlanAnswer(DecisionsAnswer):
    """What a run would do."""

    plan: str


class RunAnswer(DecisionsAnswer):
    """What a run did."""

    run: str
    nothing_new: bool
    report: str


class NotesAnswer(TypedDict):
    """The notes that a synthesis wrote."""

    run: str
    nothing_new: bool
    notes: list[FactShown]
    retired: list[str]
    unchanged: int
    dropped: int
    failures: int


class ReviewsAnswer(DecisionsAnswer):
    """What runs were not sure of."""

    reviews: list[str]


class ReportAnswer(DecisionsAnswer):
    """The account of a run."""

    run: str
    state: str
    report: str


class ReceiptAnswer(TypedDict):
    """What was carried out."""

    receipt: Receipt


class EntityShown(TypedDict):
    """An entity."""

    id: int
    name: str
    type: str
    note: str
    key: str
    label: str


class EntityFound(EntityShown):
    """The entity that a name led to, and how."""

    found_by: str


class EntityCounted(EntityShown):
    """An entity with how many current facts speak of it."""

    facts: int


class CandidateShown(EntityShown):
    """An entity that a name may mean, and why."""

    why: str
    confidence: float


class ListedFact(TypedDict):
    """A fact in a list."""

    id: str
    text: str
    kind: str
    status: str
    stated_at: str | None
    superseded_by: str | None
    merged_into: str | None


class EntityFact(ListedFact):
    """A fact of an entity."""

    role: str
    confidence: float


class EntityAnswer(TypedDict):
    """An entity with its names and facts, or null with what may be meant."""

    entity: EntityFound | None
    aliases: list[str]
    facts: list[str]
    texts: list[EntityFact]
    candidates: list[CandidateShown]
    suggestions: list[CandidateShown]


class EntitiesAnswer(TypedDict):
    """Entities, and names in doubt."""

    entities: list[EntityCounted]
    doubts: list[Doubt]


class ActAnswer(TypedDict):
    """What a declaration changes: a preview if `run` is null, else what was done."""

    act: str
    sentence: str
    facts: list[str]
    warnings: list[str]
    run: str | None
    confirm: NotRequired[str]


class LinkAnswer(TypedDict):
    """A declared edge; `fact` is empty if it is new and this is only a preview.

    `run` is what `undo` takes back; null if nothing was stored.
    """

    source: str
    predicate: str
    target: str
    weight: float
    sentence: str
    fact: str
    new: bool
    run: str | None


class NeighborShown(TypedDict):
    """An entity near another; predicates and facts are those of the last step to it."""

    id: int
    name: str
    type: str
    hops: int
    predicates: list[str]
    facts: list[str]


class NeighborsAnswer(TypedDict):
    """What is near to an entity."""

    entity: EntityShown
    neighbors: list[NeighborShown]


class SeedShown(TypedDict):
    """An entity that a walk began at."""

    id: int
    name: str


class RankedFact(TypedDict):
    """A fact with its share of the walk."""

    id: str
    text: str
    score: float


class RankedEntity(TypedDict):
    """An entity with its share of the walk."""

    id: int
    name: str
    type: str
    score: float


class PprAnswer(TypedDict):
    """Facts and entities, nearest first; names that led nowhere, names in too many facts."""

    seeds: list[SeedShown]
    facts: list[RankedFact]
    entities: list[RankedEntity]
    unknown: list[str]
    left_out: list[str]


class MentionShown(TypedDict):
    """A name in a text, and which known entity it leads to."""

    text: str
    type: str
    start: int
    end: int
    score: float
    entity: EntityShown | None
    candidates: list[CandidateShown]


class TripleShown(TypedDict):
    """Something that a text states."""

    subject: str
    predicate: str
    object: str


class ExtractAnswer(TypedDict):
    """What a text names, and in mode ner+triple what it states."""

    entities: list[MentionShown]
    triples: list[TripleShown]
    model: str


class FactsAnswer(TypedDict):
    """Facts, and ids that lead to none."""

    facts: list[ListedFact]
    missing: list[str]


class SearchAnswer(TypedDict):
    """Facts that were found."""

    facts: list[ListedFact]


class WitnessShown(FactShown):
    """A fact that speaks for or against a claim."""

    confidence: float
    because: list[str]


class ClaimAnswer(TypedDict):
    """What the memory says of a claim."""

    claim: str
    verdict: Literal["supported", "contradicted", "unknown"]
    why: str
    considered: int
    supporting: list[WitnessShown]
    contradicting: list[WitnessShown]
    unsure: list[WitnessShown]
