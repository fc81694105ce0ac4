"""The records that a memory hands out. Frozen, keyword-only, no behaviour."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from consolidate.store import Message
from consolidate.types import Fact

__all__ = [
    "Action",
    "ConversationHit",
    "Fading",
    "ForgetMatch",
    "ForgetPreview",
    "Forgotten",
    "LeftOut",
    "Purged",
    "Recalled",
    "Remembered",
    "RememberedFact",
    "StoredMemory",
]


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
    """Of `meaning`, `words` and `graph`."""
    entities: tuple[str, ...] = ()
    """Names of what it is about, as far as a run has found them."""
    pinned: bool = False
    passage: str = ""
    """Of a long text, the part that fits the query best; the fact holds the whole."""
    path: tuple[str, ...] = ()
    """What leads to it where the graph did: the name in the query, the text of a fact that names it
    too, the next name in that, and so on; the fact itself is left out."""


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


@dataclass(frozen=True, kw_only=True)
class ForgetMatch:
    """A fact that would be forgotten."""

    fact: Fact
    score: float
    """How well it fits the description, 0 to 1; 1 if it was named, 0 if it only goes along."""
    why: str
    """`found`, `named`, `the same text`, or what it was merged into."""


@dataclass(frozen=True, kw_only=True)
class ForgetPreview:
    """What forgetting would delete. Nothing is deleted yet."""

    token: str
    """For `forget_memory`; works once. Empty if there is nothing to forget."""
    expires_at: datetime | None
    matches: tuple[ForgetMatch, ...]
    """All that would go, best first."""
    messages: int = 0
    """Messages of conversations in which one of the texts stands; they stay unless asked for."""
    episodes: int = 0
    """Episodes that one of the facts is linked to or one of the texts stands in; they stay unless
    asked for."""
    superseded: tuple[Fact, ...] = ()
    """What the matches had superseded: it stays retired, or holds again if that is asked for."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class Forgotten:
    """What was deleted for good."""

    facts: tuple[str, ...]
    """Ids."""
    revived: tuple[str, ...] = ()
    """Ids of facts that hold again."""
    retired: tuple[str, ...] = ()
    """Ids of facts that stay retired although what had superseded them is gone."""
    kept_out: int = 0
    """Texts that can't come in again until `allow_again`."""
    messages: int = 0
    """Messages of conversations deleted along."""
    episodes: int = 0
    """Episodes deleted along."""
    scrubbed: bool = True
    """Whether the bytes are gone from the file and its log too."""
    notes: tuple[str, ...] = ()
    """Why they are not."""


@dataclass(frozen=True, kw_only=True)
class Purged:
    """History that was, or would be, deleted for good."""

    agent: str
    preview: bool
    """True: nothing was changed."""
    facts: tuple[str, ...]
    """Ids."""
    scrubbed: bool = False
    """Whether the bytes are gone from the file and its log too."""
    notes: tuple[str, ...] = ()


Action = Literal["added", "strengthened", "superseded", "refined", "review", "refused"]
"""What became of something that was said:

`added`         it was new; also what was true once and is kept as history (`reason` says so)
`strengthened`  it is known already, and is now known one time more
`superseded`    it took the place of what was known before (`other`)
`refined`       it says all that was known (`other`) and more, and absorbed it
`review`        it may clash with or repeat another (`other`); a person is asked, both stay
`refused`       it was not stored
"""


@dataclass(frozen=True, kw_only=True)
class RememberedFact:
    """What became of one fact that was said."""

    id: str
    """The fact that now stands for it; empty if it was refused."""
    text: str
    """The fact as it was understood."""
    action: Action
    reason: str
    """One sentence."""
    intensity: float
    """Of the fact that stands for it, after this saying; 0 to 1."""
    kind: str = "fact"
    other: str | None = None
    """The fact that was superseded, absorbed or is in doubt; of a strengthened one, the row that
    keeps this saying in history, if it has one of its own."""


@dataclass(frozen=True, kw_only=True)
class LeftOut:
    """A part of what was said that makes no fact."""

    text: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Remembered:
    """What became of everything that was said."""

    facts: tuple[RememberedFact, ...] = ()
    """In the order in which they were said."""
    left_out: tuple[LeftOut, ...] = ()
    run: str = ""
    """The run that recorded changes to other facts, for `undo`, `history` and `report`; empty if
    there were none."""
    note: str = ""
    """What the caller should know of how it was done, e.g. that a language model failed."""


@dataclass(frozen=True, kw_only=True)
class StoredMemory:
    """What became of raw content."""

    id: str
    """Empty if it was refused."""
    new: bool
    encounters: int
    """How often this very content was stored by now."""
    reason: str = ""
    """Why it was refused, or empty."""
