"""Writes the one sentence that tells a person why a decision was taken. Pure."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Final

from consolidate.types import Assessment, Decision, DecisionKind, Fact

__all__ = ["Wording", "quote"]

_WHY_ASKED: Final = {
    "order-unknown": "the two contradict each other and nothing tells which is newer",
    "lower-trust": "the newer statement comes from a less trusted source",
    "unsure-contradiction": "the two may contradict each other, but not surely enough to act",
    "unsure-duplicate": "the two may say the same, but not surely enough to merge",
    "immutable": "the two contradict each other about something that cannot change",
    "not-calibrated": "no labels tell how often this judge is wrong, so it only proposes",
    "language-not-proven": "the judge is not proven in this language, so it only proposes",
    "merging-is-off": "merging is switched off",
    "superseding-is-off": "superseding is switched off",
}

_LINKS: Final = {
    "fulfils": "was planned and then done",
    "series": "are readings of different dates",
    "equivalent": "say the same, from sources of different trust",
}


def quote(text: str, limit: int = 60) -> str:
    """A text in quotation marks, cut to `limit` characters at a word."""
    flat = " ".join(text.split())
    if len(flat) > limit:
        flat = flat[:limit].rsplit(" ", 1)[0] + " …"
    return f"“{flat}”"


def _day(moment: datetime | None) -> str:
    return moment.date().isoformat() if moment else ""


@dataclass(frozen=True)
class Wording:
    """The two facts of a decision and what was found about them."""

    subject: Fact
    other: Fact
    found: Assessment | None

    def sentence(self, decision: Decision) -> str:
        """Write the sentence of a decision, quoting both facts."""
        a, b = quote(self.subject.text), quote(self.other.text)
        if decision.kind is DecisionKind.MERGE:
            return self._merge(decision.reason, a, b)
        if decision.kind is DecisionKind.SUPERSEDE:
            return self._supersede(decision.reason, a, b)
        if decision.kind is DecisionKind.LINK:
            return f"{a} and {b} {_LINKS.get(decision.relation, 'belong together')}."
        why = _WHY_ASKED.get(decision.reason) or (
            self.found.because[-1] if self.found and self.found.because else decision.reason
        )
        return f"{a} or {b}: {why}."

    @staticmethod
    def _merge(reason: str, a: str, b: str) -> str:
        if reason == "repeat":
            return f"{a} repeats {b} word for word."
        if reason == "contained":
            return f"{b} says all that {a} says."
        return f"{a} says the same as {b}."

    def _supersede(self, reason: str, a: str, b: str) -> str:
        clock = {
            "newer-valid": ("holds since", _day(self.other.valid_from)),
            "newer-stated": ("said later,", _day(self.other.stated_at)),
            "newer-recorded": ("recorded later,", _day(self.other.recorded_at)),
            "corrected": ("corrected", _day(self.other.stated_at)),
        }
        words, day = clock.get(reason, ("", ""))
        tail = f" ({words} {day})" if day else ""
        return f"{a} no longer holds: {b}{tail}."
