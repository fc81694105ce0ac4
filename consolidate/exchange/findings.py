"""What an audit finds in a file: records only."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Audit", "Finding", "Pairing"]


@dataclass(frozen=True, kw_only=True)
class Finding:
    """Something about one line."""

    line: int
    """As the reader counts; 0 if it is about the file as a whole."""
    what: str
    """A word or two: `empty`, `HTML`, `card number`, `no time`, ..."""
    shown: str
    """The beginning of the text, or of a secret nothing but its first letters."""


@dataclass(frozen=True, kw_only=True)
class Pairing:
    """Two texts that say the same, or can't both hold."""

    lines: tuple[int, int]
    """The older first, where that is known."""
    texts: tuple[str, str]
    reason: str
    """`word for word`, or the judge's reason code."""
    sure: bool = True
    """False: a run would ask."""


@dataclass(frozen=True, kw_only=True)
class Audit:
    """All that was found. Nothing was changed."""

    looked_at: int
    """Facts."""
    judged: int = 0
    """Of them those that the models compared."""
    repeats: int = 0
    """Facts that repeat another one word for word."""
    duplicates: tuple[Pairing, ...] = ()
    conflicts: tuple[Pairing, ...] = ()
    junk: tuple[Finding, ...] = ()
    secrets: tuple[Finding, ...] = ()
    times: tuple[Finding, ...] = ()
    notes: tuple[str, ...] = ()
    """What was not looked at, and why."""

    @property
    def clean(self) -> bool:
        """Whether nothing was found."""
        found = (self.repeats, self.duplicates, self.conflicts, self.junk, self.secrets, self.times)
        return not any(found)
