"""How a text says what it says: as a fact, a plan, hearsay, a reading of one day, an end.

Cue words, English first; a cue that is missed costs nothing, since the classifier reads the text
as well. What is found only ever makes the judge more careful, except for the links it offers
(a plan and its fulfilment, the readings of a series).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from consolidate.judge.values import find_values

__all__ = ["Modality", "modality_of"]


@dataclass(frozen=True, kw_only=True)
class Modality:
    """What kind of statement a text is. Several may hold."""

    question: bool = False
    plan: bool = False
    """Intended, wished, proposed, asked for."""
    future: bool = False
    """Speaks of what will be; weaker than a plan."""
    hypothetical: bool = False
    reported: bool = False
    """Somebody else's words."""
    past: bool = False
    """Marked as over: "used to", "formerly"."""
    ended: bool = False
    """Says that something stopped: "no longer", "gave up"."""
    correction: bool = False
    """Says that an earlier statement was wrong."""
    event: bool = False
    """Tells what happened once: "paid", "replaced", "ran"."""
    negations: int = 0
    dated: str = ""
    """The date a reading belongs to, when the text opens with one or says "as of"."""

    @property
    def is_plain(self) -> bool:
        """A statement about how things are."""
        return not (self.question or self.plan or self.hypothetical or self.reported)


def _cue(words: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{words})", re.IGNORECASE)


_PLAN: Final = _cue(
    r"plans? (?:to|for|on)\b|plan:|planning|planned|intends?\b|going to|wants? to|hopes? to|"
    r"considering|thinking (?:of|about)|would like|proposals?\b|proposed|suggest(?:s|ed)?\b|"
    r"to-?do\b|aims? to|wishes? to|dreams? of|looking (?:into|for)"
)
_FUTURE: Final = _cue(r"will\b|going to\b|shall\b")
_HYPOTHETICAL: Final = _cue(
    r"if\b|would\b|were to\b|suppose|maybe\b|perhaps\b|might\b|could\b|probably\b|possibly\b|"
    r"in case\b|unless\b|not sure"
)
_REPORTED: Final = _cue(
    r"sa(?:id|ys) (?:that|he|she|they)|told (?:us|me|her|him|them)|according to|claims?\b|"
    r"claimed|rumou?rs?\b|heard that|apparently|reportedly|supposedly|"
    r"(?:page|site|post|article|blog|vendor|forum) says"
)
_PAST: Final = _cue(
    r"used to\b|formerly|previously|back (?:in|then)|once (?:lived|worked|was)|"
    r"in the past\b(?! tense)|"
    r"at the time|ex-\w+|former\b|until (?:19|20)\d\d|originally"
)
_NOW: Final = _cue(r"now\b|these days|nowadays|today\b|currently|since then|meanwhile")
_ENDED: Final = _cue(
    r"no longer|not any ?more|n't .{0,40}\bany ?more|any ?more\b|stopped|quit\b|gave up|given up|"
    r"left\b|ended\b|is over\b|cancelled|canceled|discontinued|retired\b|dropped\b|sold\b|"
    r"moved (?:away|out)|switched (?:from|away)|replaced"
)
_CORRECTION: Final = _cue(
    r"correction\b|got (?:that|it|this) wrong|(?:was|were) (?:wrong|mistaken|a mistake)|"
    r"mistakenly|(?:i|we|user) (?:mis\w+ed|misspoke)|not .{1,40} as (?:noted|stated|recorded|said)"
)
_EVENT: Final = re.compile(
    r"\b(?:(?!moved|used|called|named|based|located|married|retired|involved|needed)[a-z]{3,}ed|"
    r"paid|ran|sold|bought|met|went|saw|won|drove|flew|swam|sent|gave|took|built|made|cost|ate|"
    r"wrote|read out|hit|beat)\b",
    re.IGNORECASE,
)
_STATE: Final = re.compile(
    r"\b(?:is|are|has|have|isn't|aren't|runs?|lives?|works?|uses?|now|since)\b", re.IGNORECASE
)
_NEGATION: Final = re.compile(
    r"\b(?:not|no|never|none|nobody|nothing|neither|nor|without|cannot|non|nicht|kein\w*|nie|"
    r"mai|nunca|jamais|pas|sin|ohne|sans|senza)\b|n['’]t\b",
    re.IGNORECASE,
)
_ASOF: Final = re.compile(r"\b(?:as of|on|at the end of|snapshot)\b", re.IGNORECASE)


@lru_cache(maxsize=65536)
def modality_of(text: str) -> Modality:
    """Read the modality of a text from its cue words."""
    dated = ""
    dates = [v for v in find_values(text) if v.kind == "date" and len(v.amount) >= 7]
    if dates:
        first = dates[0]
        lead = text[: first.start].strip()
        as_of = _ASOF.search(text[max(0, first.start - 16) : first.start])
        if not lead or (as_of and (len(lead) < 12 or "as of" in as_of[0].casefold())):
            dated = first.amount
    return Modality(
        question=text.rstrip().endswith("?"),
        plan=bool(_PLAN.search(text)),
        future=bool(_FUTURE.search(text)),
        hypothetical=bool(_HYPOTHETICAL.search(text)),
        reported=bool(_REPORTED.search(text)),
        past=bool(_PAST.search(text)) and not _NOW.search(text),
        ended=bool(_ENDED.search(text)),
        correction=bool(_CORRECTION.search(text)),
        event=bool(_EVENT.search(text)) and not _STATE.search(text),
        negations=len(_NEGATION.findall(text)),
        dated=dated,
    )
