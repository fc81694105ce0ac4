"""The records that only the store hands out; those of the pipeline are in `consolidate.types`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import NamedTuple

from consolidate.types import Evidence, Fact, FactStatus

__all__ = [
    "Added",
    "Block",
    "BlockVersion",
    "Entity",
    "Episode",
    "Erased",
    "Event",
    "FoundEpisode",
    "History",
    "Message",
    "Passage",
    "RecallRow",
    "State",
]


@dataclass(frozen=True, kw_only=True)
class Added:
    """What `Store.add` did with one fact."""

    id: str
    """The id it has, or the one of the fact that says the same already; empty if forgotten."""
    new: bool
    reason: str
    """`added`, or why it was not: the same is stored already, or `forgotten`: this text was
    deleted for good."""


@dataclass(frozen=True, kw_only=True)
class Block:
    """A named text that an agent keeps at hand."""

    agent: str
    name: str
    content: str
    version: int
    """1 when it is made, one more with each change."""
    limit: int
    """Characters that it may have."""
    updated_at: datetime

    @property
    def size(self) -> int:
        """Characters that it has."""
        return len(self.content)


@dataclass(frozen=True, kw_only=True)
class BlockVersion:
    """What a block held."""

    version: int
    content: str
    at: datetime
    """Since when."""


@dataclass(frozen=True, kw_only=True)
class Entity:
    """Something that facts name."""

    id: int
    agent: str
    name: str
    """As most often written."""
    key: str
    """As compared."""
    aliases: tuple[str, ...] = ()
    """Every other way it was written or declared, sorted."""
    facts: tuple[str, ...] = ()
    """Ids of the facts that mention it, sorted."""


@dataclass(frozen=True, kw_only=True)
class Episode:
    """What an agent did or went through, told as a whole."""

    id: str = ""
    agent: str
    title: str
    text: str
    outcome: str = ""
    """How it ended, in a word or two; empty if that is not known."""
    session: str = ""
    """The session or conversation that it belongs to; empty if none."""
    started_at: datetime | None = None
    ended_at: datetime | None = None
    recorded_at: datetime | None = None
    """Set by the store."""
    facts: tuple[str, ...] = ()
    """Ids of facts that came of it or that it rested on, sorted."""


@dataclass(frozen=True, kw_only=True)
class FoundEpisode:
    """An episode that a query found."""

    episode: Episode
    snippet: str
    """The part of it that fits the query."""


@dataclass(frozen=True, kw_only=True)
class Erased:
    """What `Store.erase` deleted."""

    facts: tuple[str, ...]
    """Ids, sorted."""
    revived: tuple[str, ...] = ()
    """Ids of facts that hold again since what had superseded them is gone."""
    retired: tuple[str, ...] = ()
    """Ids of facts that stay retired although what had superseded them is gone."""
    buried: int = 0
    """Texts that got a tombstone."""
    messages: int = 0
    """Messages of conversations deleted along."""
    episodes: int = 0
    """Episodes deleted along."""


@dataclass(frozen=True, kw_only=True)
class Event:
    """One step of a chain: a fact gave way to another."""

    fact: Fact
    """The one that gave way, as it is now."""
    to: str | None
    """The fact that took its place; None if it ended without a successor."""
    change: FactStatus
    """`superseded`, `merged`, `forgotten` or `in_review`."""
    run: str | None = None
    at: datetime | None = None
    """When the run that did it began."""
    reason: str = ""
    """Reason code of the decision; empty if no run is known."""
    sentence: str = ""
    evidence: tuple[Evidence, ...] = ()


@dataclass(frozen=True, kw_only=True)
class History:
    """A fact with everything that led to it and everything that came after it."""

    fact: Fact
    before: tuple[Event, ...] = ()
    """What it superseded or absorbed, also through others; oldest first."""
    after: tuple[Event, ...] = ()
    """What superseded or absorbed it, step by step, nearest first."""


@dataclass(frozen=True, kw_only=True)
class Passage:
    """A piece of a long text, for search."""

    fact: str
    """Id of the fact whose text it is."""
    position: int
    """0 for the first one."""
    start: int
    """Offset in the fact's text, in code points; passages overlap."""
    stop: int
    text: str
    content_hash: str
    """SHA-256 of the passage; its vector is kept under it."""


@dataclass(frozen=True, kw_only=True)
class State:
    """What the last run left behind: equal state means that there is nothing new to plan."""

    digest: str
    """Digest of the snapshot after the run."""
    settings_digest: str
    models: Mapping[str, str] = field(default_factory=dict)
    due: datetime | None = None
    cut: int = 0


class RecallRow(NamedTuple):
    """What recall keeps of a fact in memory. Times are seconds since 1970, None if unknown."""

    number: int
    id: str
    kind: str
    status: str
    content_hash: str
    stated_at: float | None
    confirmed_at: float | None
    valid_from: float | None
    valid_to: float | None
    recorded_at: float
    changed_at: float | None
    """When the run that gave the fact its status began."""
    intensity: float
    access_count: int
    uses: int
    """How often it was recalled here, beside what `access_count` says."""
    last_access: float | None
    last_use: float | None
    pinned: int
    successor: str | None
    """The fact that it was merged into or superseded by."""


@dataclass(frozen=True, kw_only=True)
class Message:
    """One message of a conversation."""

    id: str
    conversation: str
    """Empty if it is not known to which it belongs."""
    role: str
    content: str
    at: datetime | None
