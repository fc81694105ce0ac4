"""The records that pass between stages. Frozen, keyword-only, no behaviour beyond derivation.

This module knows no database, no model and no clock.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

__all__ = [
    "Alias",
    "Assessment",
    "Candidates",
    "Completion",
    "Decision",
    "DecisionKind",
    "DeclaredEntity",
    "Doubt",
    "Edge",
    "EntityPin",
    "Evidence",
    "Fact",
    "FactStatus",
    "Group",
    "Groups",
    "Link",
    "Mention",
    "NewFact",
    "Pair",
    "Plan",
    "Prompt",
    "Receipt",
    "Relation",
    "Review",
    "ReviewState",
    "Run",
    "Scores",
    "Snapshot",
    "StageStats",
    "Triple",
    "Unique",
    "Verdict",
]


class FactStatus(StrEnum):
    """Where a fact stands. `ACTIVE` and `IN_REVIEW` are live; the others are history."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"
    MERGED = "merged"
    FORGOTTEN = "forgotten"
    IN_REVIEW = "in_review"

    @property
    def is_live(self) -> bool:
        """Whether readers see a fact of this status by default."""
        return self in (FactStatus.ACTIVE, FactStatus.IN_REVIEW)


class Relation(StrEnum):
    """What two facts are to each other, read from a verdict."""

    EQUIVALENT = "equivalent"
    LEFT_ENTAILS_RIGHT = "left_entails_right"
    RIGHT_ENTAILS_LEFT = "right_entails_left"
    CONTRADICTS = "contradicts"
    COMPATIBLE = "compatible"


class DecisionKind(StrEnum):
    """What is to be done."""

    MERGE = "merge"
    SUPERSEDE = "supersede"
    LINK = "link"
    REVIEW = "review"


class ReviewState(StrEnum):
    """Where a review stands. A rejected pair is never proposed again."""

    OPEN = "open"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


@dataclass(frozen=True, kw_only=True)
class NewFact:
    """A fact as it comes in. What is not known stays None."""

    text: str
    agent: str = "default"
    kind: str = "fact"
    id: str | None = None
    """Given ids are kept (imports); otherwise the store makes one."""
    metadata: Mapping[str, Any] = field(default_factory=dict)
    stated_at: datetime | None = None
    """When it was said; timezone-aware."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    source: str = "unknown"
    """Who said it: user, tool, assistant, web, inferred, ... with an optional ":detail"."""
    trust: float | None = None
    """0 to 1; None takes the default of the source (`consolidate.judge.trust`)."""
    intensity: float = 0.5
    """0 to 1: how much it mattered when it was said."""


@dataclass(frozen=True, kw_only=True)
class Fact:
    """One atomic claim as stored. Times are timezone-aware UTC."""

    id: str
    agent: str
    kind: str
    text: str
    metadata: Mapping[str, Any] = field(default_factory=dict)
    stated_at: datetime | None = None
    confirmed_at: datetime | None = None
    """The latest time an absorbed duplicate stated the same; None if never."""
    valid_from: datetime | None = None
    valid_to: datetime | None = None
    recorded_at: datetime
    source: str = "unknown"
    trust: float = 0.5
    intensity: float = 0.5
    encounters: int = 1
    access_count: int = 0
    last_access: datetime | None = None
    content_hash: str
    """SHA-256 of the text as it is; model caches are keyed by it."""
    status: FactStatus = FactStatus.ACTIVE
    superseded_by: str | None = None
    merged_into: str | None = None
    changed_by: str | None = None
    """The run that gave the fact its present status."""


@dataclass(frozen=True, kw_only=True)
class Alias:
    """A declared name: `alias` means `canonical`, or (`never`) must never be taken for it."""

    agent: str
    canonical: str
    alias: str
    never: bool = False
    declared_at: datetime | None = None
    """When; None if that is not known."""


@dataclass(frozen=True, kw_only=True)
class DeclaredEntity:
    """An entity that somebody named: it is there even if no fact speaks of it."""

    agent: str
    key: str
    """See `consolidate.names.entity_key`."""
    name: str
    """As it is to be shown."""
    type: str = ""
    """person, organisation, place, ... or empty if that is not known."""
    note: str = ""
    """What tells it from others of its name."""
    declared_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class EntityPin:
    """A declaration about one fact: whom a name in it means, or whom it is about."""

    agent: str
    fact: str
    name: str
    """Key of the name; empty: the fact is about the entity without naming it."""
    entity: str
    """Key of the entity."""
    declared_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Doubt:
    """A name in a fact that fits several entities, or one but not surely enough."""

    fact: str
    name: str
    """Key of the name."""
    candidates: tuple[str, ...]
    """Keys of the entities it may mean, likeliest first."""
    reason: str


@dataclass(frozen=True, kw_only=True)
class Mention:
    """A span of a text that names something."""

    start: int
    """Offset of the first character, in code points."""
    end: int
    """Offset after the last character."""
    text: str
    label: str
    score: float = 1.0
    """0 to 1."""


@dataclass(frozen=True, kw_only=True)
class Triple:
    """What a text states of something, not yet linked to entities."""

    subject: tuple[int, int] | None
    """Start and end of what it is about, in code points; None is the user."""
    predicate: str
    object: tuple[int, int]
    """Start and end of the value."""
    value: str
    """The value as it is written there."""
    weight: float = 1.0
    """How much it counts in a walk, over 0."""


@dataclass(frozen=True, kw_only=True)
class Edge:
    """What a fact states of an entity: subject, predicate, object."""

    source: int
    """Number of the entity."""
    predicate: str
    value: str
    """The object as it is written."""
    target: int | None
    """The entity that it names; None for another value, such as a number."""
    fact: str
    """Id of the fact. The edge holds as long as the fact does."""
    live: bool
    """Whether the fact is neither superseded nor merged nor forgotten."""
    weight: float = 1.0
    """How much it counts in a walk, over 0."""


@dataclass(frozen=True, kw_only=True)
class Snapshot:
    """What the store held when planning began: the one read of a run."""

    agent: str
    facts: tuple[Fact, ...]
    """Live and superseded facts, sorted by id. Merged and forgotten ones take no part."""
    aliases: tuple[Alias, ...] = ()
    declared: tuple[DeclaredEntity, ...] = ()
    pins: tuple[EntityPin, ...] = ()
    """Those of merged facts count for what they were merged into."""
    settled: frozenset[tuple[str, str]] = frozenset()
    """Pairs (left < right) with a review, open or closed, or a decision undone by the user:
    nothing more is decided about them."""
    linked: frozenset[tuple[str, str]] = frozenset()
    """Pairs (left < right) that are linked already."""
    heirs: Mapping[str, str] = field(default_factory=dict)
    """Merged facts that once superseded something, with what they were merged into at last."""
    digest: str = ""
    """SHA-256 over all of the above."""


@dataclass(frozen=True, kw_only=True)
class Unique:
    """Facts whose normalised text is the same."""

    representative: str
    members: tuple[str, ...]
    """Ids, sorted; the representative is one of them."""


@dataclass(frozen=True, kw_only=True)
class Group:
    """Facts that mention one entity."""

    key: str
    """The normalised name."""
    name: str
    """The name as most often written."""
    facts: tuple[str, ...]
    hub: bool = False
    """So many facts that comparing all with all is not done."""
    type: str = ""
    """person, organisation, place, ... or empty if that is not known."""
    note: str = ""
    """What tells it from others of its name."""


@dataclass(frozen=True, kw_only=True)
class Groups:
    """Entities of one snapshot, and which fact mentions which."""

    groups: tuple[Group, ...]
    by_fact: Mapping[str, tuple[str, ...]]
    """Fact id to group keys, sorted."""
    ambiguous: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fact id to names it mentions that fit several entities: no ground to retire anything."""
    means: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Fact id to what each name key in it means: the key of an entity, empty if in doubt."""
    subjects: Mapping[str, str] = field(default_factory=dict)
    """Fact id to the key of the entity it is about, where that can be told."""
    confidence: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Fact id and entity key to how sure the link is, 0 to 1; 1 where nothing stands here."""
    doubts: tuple[Doubt, ...] = ()


@dataclass(frozen=True, kw_only=True, order=True)
class Pair:
    """Two facts to compare, left < right."""

    left: str
    right: str
    rule: str
    """The first rule that made the pair."""
    similarity: float = 0.0
    """Cosine of the two vectors, -1 to 1."""


@dataclass(frozen=True, kw_only=True)
class Candidates:
    """All pairs to compare, sorted, each once, and what was left out."""

    pairs: tuple[Pair, ...]
    by_rule: Mapping[str, int] = field(default_factory=dict)
    skipped: Mapping[str, int] = field(default_factory=dict)
    cut: int = 0
    """Pairs that the budget left for the next run."""


@dataclass(frozen=True, kw_only=True)
class Scores:
    """Class probabilities for premise -> hypothesis; each 0 to 1, sum 1."""

    entailment: float
    neutral: float
    contradiction: float


@dataclass(frozen=True, kw_only=True)
class Verdict:
    """What a classifier said of a pair in both directions. No threshold inside."""

    forward: Scores | None
    """Left as premise, right as hypothesis; None if the model failed."""
    backward: Scores | None
    model: str
    """Identity of the classifier."""
    failure: str | None = None
    """Why there are no scores, if there are none."""
    truncated: bool = False
    """The pair was longer than the model reads."""


@dataclass(frozen=True, kw_only=True)
class Prompt:
    """One question to a language model. What is asked and what it is about never mix."""

    task: str
    """What to do, written by this project; no stored text is in it."""
    data: str
    """What to do it with: one JSON document, in which stored text is quoted."""
    most_tokens: int = 1024
    """The longest answer."""


@dataclass(frozen=True, kw_only=True)
class Completion:
    """A language model's answer to a prompt: a value that fits the schema, or why there is none."""

    value: Any = None
    failure: str | None = None


@dataclass(frozen=True, kw_only=True)
class Assessment:
    """What the judge makes of a pair: verdict and layers joined."""

    left: str
    right: str
    relation: Relation
    confidence: float
    """0 to 1."""
    reason: str
    """A reason code, e.g. `values-differ`."""
    because: tuple[str, ...] = ()
    """The chain of reasons in plain words."""
    review_only: bool = False
    """Something forbids acting without a person (immutable attribute, lower trust, ...)."""
    keep: str = ""
    """Of two equivalents, the one that carries a name or value more and so must stay."""
    subtype: str = ""
    """`fulfils`, `series`, `retraction`, `correction`, `scheduled` ... or empty."""


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """One pair that speaks for a decision."""

    left: str
    right: str
    rule: str
    relation: Relation
    confidence: float
    """How likely the relation is right, by the judge's calibration where it has one."""
    forward: Scores | None = None
    backward: Scores | None = None
    because: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Decision:
    """One thing to do, why, and on what evidence."""

    id: str
    """Derived from kind, the two facts and their texts: the same decision has the same id in
    every plan."""
    kind: DecisionKind
    subject: str
    """The fact acted on: the one absorbed, superseded, linked from, or asked about."""
    object: str
    """The survivor, the successor, the fact linked to, or the other one asked about."""
    reason: str
    """A reason code."""
    sentence: str
    """One sentence a person can read."""
    evidence: tuple[Evidence, ...] = ()
    valid_to: datetime | None = None
    """Supersede: the end of the subject's validity."""
    relation: str = ""
    """Link: `refines`, `fulfils`, `series`, ..."""
    proposal: DecisionKind | None = None
    """Review: what accepting it does."""


@dataclass(frozen=True, kw_only=True)
class StageStats:
    """What a stage took in, put out and cost."""

    stage: str
    seconds: float = 0.0
    items_in: int = 0
    items_out: int = 0
    model_calls: int = 0
    """Texts or pairs that a model really judged; cached ones are not counted."""
    cached: int = 0
    failures: int = 0
    model: str = ""
    detail: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, kw_only=True)
class Plan:
    """All decisions of one run. Serialisable; applying it is a separate act."""

    id: str
    """SHA-256 over agent, snapshot digest, settings digest and decisions."""
    agent: str
    now: datetime
    snapshot_digest: str
    settings_digest: str
    facts: Mapping[str, str]
    """Ids of the facts that decisions touch, with the row digest each had."""
    decisions: tuple[Decision, ...]
    stages: tuple[StageStats, ...] = ()
    models: Mapping[str, str] = field(default_factory=dict)
    """Role to identity: embedder, extractor, classifier."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    due: datetime | None = None
    """When the plan changes by the passing of time alone (a scheduled fact takes effect)."""
    cut: int = 0
    """Candidate pairs left for the next run by the budget."""


@dataclass(frozen=True, kw_only=True)
class Receipt:
    """What apply really did."""

    run: str
    plan: str
    agent: str
    applied_at: datetime
    applied: Mapping[str, int] = field(default_factory=dict)
    """Decision kind to count."""
    already_applied: bool = False
    """The same plan was applied before; nothing was written."""
    rows: int = 0
    """Journal rows written."""


@dataclass(frozen=True, kw_only=True)
class Link:
    """Two live facts that belong together."""

    left: str
    right: str
    relation: str
    run: str | None = None


@dataclass(frozen=True, kw_only=True)
class Review:
    """A decision a person must take."""

    id: str
    agent: str
    state: ReviewState
    decision: Decision
    run: str
    decided_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Run:
    """One applied plan, as the store remembers it."""

    id: str
    agent: str
    plan: str
    state: str
    """`applied` or `undone`."""
    started_at: datetime
    finished_at: datetime | None
    receipt: Receipt | None
    summary: Mapping[str, Any] = field(default_factory=dict)
    """Stages, models and settings, as in the plan."""
