"""The records that a memory hands out. Frozen, keyword-only, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from consolidate.store import Message
from consolidate.types import Fact

__all__ = ["ConversationHit", "Fading", "Recalled"]


@dataclass(frozen=True, kw_only=True)
class Recalled:
    """A fact that was recalled, and why it stands where it stands. Numbers are 0 to 1."""

    fact: Fact
    score: float
    """The weighted sum of the next three."""
    relevance: float
    """How well it fits the query."""
    strength: float
    """How much it matters and how lately it was used."""
    recency: float
    """How new it is."""
    found_by: tuple[str, ...]
    """`meaning`, `words`, or both."""
    entities: tuple[str, ...] = ()
    """Names of what it is about, as far as a run has found them."""
    pinned: bool = False
    passage: str = ""
    """Of a long text, the part that fits the query best; the fact holds the whole."""


@dataclass(frozen=True, kw_only=True)
class Fading:
    """A fact that has left recall or is about to."""

    fact: Fact
    strength: float
    """Now, 0 to 1."""
    leaves_at: datetime
    """When it is, or was, at the floor, if nobody uses it before."""
    left: bool
    """Whether that is past."""


@dataclass(frozen=True, kw_only=True)
class ConversationHit:
    """A message that was found, with what was said around it."""

    message: Message
    snippet: str
    """The part of it that fits the query, on the whole about 24 words."""
    before: tuple[Message, ...] = ()
    after: tuple[Message, ...] = ()
