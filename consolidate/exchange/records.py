"""What readers of foreign files give, and what an import has to say at the end.

Knows neither files nor the store.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from consolidate.exchange.findings import Audit
from consolidate.types import Alias, Fact, NewFact

if TYPE_CHECKING:
    from consolidate.store import Message

__all__ = ["Archive", "Broken", "ImportReport", "NewBlock", "Options", "Parsed", "Said"]


@dataclass(frozen=True, kw_only=True)
class Options:
    """How a file is to be read."""

    agent: str = "default"
    """Whose facts they are when the file does not say."""
    every_agent: bool = False
    """Whether all facts go to `agent`, whatever the file says."""
    timezone: str | None = None
    """IANA name of the zone in which times without offset are read; None refuses them."""
    kind: str | None = None
    """Kind of all facts whose line names none."""
    source: str | None = None
    """Source of all facts whose line names none."""
    columns: Mapping[str, str] = field(default_factory=dict)
    """Field of a fact to the file's column, where guessing is not wanted."""


@dataclass(frozen=True, kw_only=True)
class Broken:
    """A line that can't be taken in."""

    line: int
    """Counted from 1."""
    reason: str
    file: str = ""
    """Its name, if there are several."""


@dataclass(frozen=True, kw_only=True)
class Archive:
    """Rows with a past: facts that may be retired, and what hangs on them."""

    facts: tuple[tuple[int, Fact], ...] = ()
    """Each with its line."""
    rows: tuple[tuple[int, Mapping[str, Any]], ...] = ()
    """Everything else of an export of our own, each with its line."""


@dataclass(frozen=True, kw_only=True)
class NewBlock:
    """A named block of text as it comes in."""

    agent: str
    name: str
    content: str
    limit: int | None = None
    """Characters it may have; None is the usual limit."""


@dataclass(frozen=True, kw_only=True)
class Said:
    """Messages of conversations as they come in."""

    agent: str
    messages: tuple[Message, ...]
    """In order; each with an id of its own, so that a second import adds none."""


@dataclass(frozen=True, kw_only=True)
class Parsed:
    """What a reader made of a file."""

    format: str
    facts: tuple[tuple[int, NewFact], ...] = ()
    """Each with its line."""
    archive: Archive = field(default_factory=Archive)
    aliases: tuple[Alias, ...] = ()
    blocks: tuple[tuple[int, NewBlock], ...] = ()
    """Each with its line."""
    said: Said | None = None
    broken: tuple[Broken, ...] = ()
    notes: tuple[str, ...] = ()
    """What was guessed or left out, in plain sentences."""


@dataclass(frozen=True, kw_only=True)
class ImportReport:
    """What an import did, or would do."""

    format: str
    preview: bool
    """True: nothing was changed."""
    refused: bool = False
    """Nothing was changed, since lines are broken and that was not to be."""
    new: int
    """Facts that were not there."""
    known: int
    """Facts that were there already; each stays as it is here."""
    broken: tuple[Broken, ...] = ()
    names: int = 0
    """Names of entities declared."""
    extra: Mapping[str, int] = field(default_factory=dict)
    """Links, reviews and other rows that came along."""
    notes: tuple[str, ...] = ()
    audit: Audit | None = None
    """What is wrong with the content, if it was looked at."""
