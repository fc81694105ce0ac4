"""What the words around a name say about what it names. Pure.

English, and small: titles, class words in apposition ("the planet Mercury", "the user's sister
Clara"), what people do, where one goes. A cue is only taken where the words leave little doubt,
since cues of different kinds part two things of one name.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from consolidate.graph.naming import TITLES, parts_of
from consolidate.names import name_key
from consolidate.types import Mention

__all__ = ["Cue", "conflict", "cue_of", "is_relative", "kind_of_label", "looks_like_no_person"]

_KIN: Final = frozenset(
    "mother father mum mom dad sister brother daughter son wife husband aunt uncle cousin niece "
    "nephew grandmother grandfather grandma grandpa twin partner fiancé fiancée fiance fiancee "
    "girlfriend boyfriend stepmother stepfather stepsister stepbrother".split()
)
_WORK: Final = frozenset(
    "landlady landlord dentist doctor nurse teacher tutor lawyer accountant plumber electrician "
    "baker hairdresser physiotherapist therapist vet mechanic cleaner babysitter gardener "
    "architect notary pharmacist optician professor supervisor tenant client customer".split()
)
_SOFT: Final = frozenset(
    "neighbour neighbor friend colleague coworker boss manager flatmate roommate classmate "
    "teammate intern".split()
)
_CLASSES: Final = {
    **dict.fromkeys(_KIN | _WORK | _SOFT, "person"),
    **dict.fromkeys(
        "city town village country island region district river mountain street".split(), "place"
    ),
    **dict.fromkeys("company firm startup bank agency vendor supplier band".split(), "company"),
    **dict.fromkeys("metal element chemical".split(), "substance"),
    "planet": "planet",
    "moon": "planet",
    "project": "project",
    "language": "language",
    "dog": "animal",
    "cat": "animal",
    "horse": "animal",
    "parrot": "animal",
    "server": "machine",
    "ship": "machine",
    "boat": "machine",
    "book": "work",
    "film": "work",
    "song": "work",
    "game": "work",
}
_WIDE: Final = {
    "speaker": frozenset(("person", "company", "animate", "animal")),
    "animate": frozenset(("person", "animal", "company", "speaker")),
    # "a bug in Orion", "a flat in Florence": anything but somebody
    "within": frozenset(
        "place company project language planet substance machine work product".split()
    ),
}
"""Cues that leave several kinds open, with those that they fit."""
_TOGETHER: Final = frozenset(
    {
        frozenset(("place", "company")),  # a school, a clinic, a museum is both
        frozenset(("project", "company")),
        frozenset(("project", "work")),
        frozenset(("project", "machine")),
        frozenset(("project", "language")),
    }
)
_NOUN: Final = "|".join(sorted(_CLASSES, key=len, reverse=True))
_BEFORE: Final = re.compile(rf"\b({_NOUN}),?\s+(?:is\s+called\s+|named\s+|called\s+)?$", re.I)
_OF: Final = re.compile(
    r"\b(city|town|village|island|district|region|metal|planet|project|language|firm)\s+of\s+$",
    re.I,
)
_AFTER: Final = re.compile(
    rf"^(?:,|\s+is|\s+was)\s+(?:the|a|an|my|our|his|her|their)\s+(?:user['’]s\s+)?"
    rf"(?:[a-z]+\s+)?({_NOUN})\b(?!['’])",
    re.I,
)
_APPOSED: Final = re.compile(rf"^,?\s+(?:the|my|our|the user['’]s)\s+({_NOUN}),", re.I)
_LATER: Final = re.compile(
    r"^[^,;]*[,;].*\bthe ((?i:metal|planet|project|city|country|language|element))\b(?!\s+[A-Z])"
)
_ADVERB: Final = r"^(?:\s+(?:also|often|always|never|still|just|only))?\s+"
_SPEAKS: Final = re.compile(
    _ADVERB + r"(?:said|says|told|tells|asked|asks|called (?:twice|back|me|the user|again|"
    r"yesterday|to|about)|phoned|rang|texted|thinks|thought|believes|promised|complained|"
    r"apologised|apologized|suggested|suggests|recommended|recommends|wrote|writes|refuses|"
    r"refused|agreed|offered|owes)\b",
    re.I,
)
_ALIVE: Final = re.compile(
    _ADVERB + r"(?:wants|wanted|likes|liked|loves|loved|hates|dislikes|prefers|forgot|forgets|"
    r"remembers|laughed|laughs|cried|cooked|cooks|sings|sang|studies|studied|married|retired|"
    r"retires|grew up|was born|wishes|lent|knits|knitted|bakes|baked|paints|painted|plays|played|"
    r"sleeps|slept|eats|ate|drinks|walks|walked|cycles|smokes|snores|washes|dances|danced|reads|"
    r"teaches|taught|turned (?:\w+ty|\d+)|would (?:like|love|rather)|is (?:afraid|allergic|"
    r"married|pregnant|ill|sick|tired|hungry|angry))\b",
    re.I,
)
_HIS: Final = re.compile(r"\b(?:he|she|his|her|him)\b", re.I)
_CODE: Final = re.compile(
    r"\b(?:written|implemented|coded|programmed|rewritten|ported|porting|translated)\s+"
    r"(?:in|to|from)\s+$",
    re.I,
)
_THERE: Final = re.compile(
    r"\b(?:(?:live[sd]?|living|born|grew up|stay(?:s|ed)?|weather|summers?|winters?|holidays?)"
    r"\s+in|(?:fl(?:y|ies|ew|ights?)|travel(?:s|led|ed|ling)?|trips?|trains?|bus|drives?|drove|"
    r"ferry|journey|cycled)\s+(?:back\s+)?to)\s+$",
    re.I,
)
_IN: Final = re.compile(
    r"(?:(?<!interested )(?<!believes )(?<!trusts )(?<!confides )(?<!confided )\bin|"
    r"\b(?:move[sd]?|moving|went|goes|going|returns?|returned|relocat\w+)\s+(?:back\s+)?to)\s+$",
    re.I,
)
_MEN: Final = frozenset(
    "mr sir lord father brother captain uncle grandpa herr monsieur don señor senor sig signor "
    "onkel dott dad son husband nephew grandfather boyfriend landlord stepfather stepbrother "
    "fiancé".split()
)
_WOMEN: Final = frozenset(
    "mrs ms miss dame lady sister aunt auntie grandma frau madame mme mlle dona doña señora senora "
    "signora dra tante dottoressa mother mum mom daughter wife niece grandmother girlfriend "
    "landlady stepmother stepsister fiancée".split()
)
_LABELS: Final = {
    "person": "person",
    "organisation": "company",
    "organization": "company",
    "place": "place",
    "location": "place",
    "project": "project",
    "technology": "language",
    "product": "product",
}
_NO_PERSON: Final = frozenset(
    "university institute clinic hospital school college academy agency office bank group labs "
    "lab laboratory systems software studio studios hotel cafe café restaurant pub bar club church "
    "street road avenue lane square park lake river sea ocean bay island mount mountain valley "
    "beach bridge station airport harbour harbor port tower hall house centre center museum "
    "library theatre theater market union league party council ministry department committee "
    "foundation society association company partners press news times team project programme "
    "program award prize cup day week festival conference act treaty war city county state "
    "republic kingdom officina cafè hotel straße strasse platz gasse".split()
)


@dataclass(frozen=True)
class Cue:
    """What the words around a name say."""

    kind: str = ""
    """person, place, company, project, ..., one that leaves several open, or empty."""
    role: str = ""
    """The class word: `sister`, `planet`."""
    sure: bool = False
    """Said by the words; else only the extractor's label says so."""
    gender: str = ""
    """`m` or `f`, as far as title or role say it."""

    @property
    def told(self) -> str:
        """The kind, if it is one."""
        return "" if self.kind in _WIDE else self.kind


def cue_of(text: str, mention: Mention) -> Cue:
    """Read the words around a mention."""
    before, after = text[: mention.start], text[mention.end :]
    for noun in (
        _BEFORE.search(before),
        _OF.search(before),
        _APPOSED.search(after),
        _AFTER.search(after),
    ):
        if noun is not None:
            role = noun[1].casefold()
            return Cue(_CLASSES[role], role, sure=True, gender=_gender(role))
    title = parts_of(name_key(mention.text)).title or _title_before(before)
    if title:
        return Cue("person", sure=True, gender=_gender(title))
    if not before.strip() and _HIS.search(after):
        return Cue("animate", sure=True)  # a pronoun of a person follows
    for pattern, kind in ((_SPEAKS, "speaker"), (_ALIVE, "animate")):
        if pattern.search(after):
            return Cue(kind, sure=True)
    for pattern, kind in ((_CODE, "language"), (_THERE, "place"), (_IN, "within")):
        if pattern.search(before):
            return Cue(kind, sure=True)
    if later := _LATER.search(after):
        role = later[1].casefold()
        return Cue(_CLASSES[role], role, sure=True)
    return Cue(kind_of_label(mention.label))


def kind_of_label(label: str) -> str:
    """What an extractor's label says of the kind; empty if nothing."""
    return _LABELS.get(label, "")


def conflict(one: Cue, other: Cue, *, roles: bool = True) -> bool:
    """Whether two cues can't be of one thing.

    Args:
        one: A cue.
        other: Another.
        roles: Whether two roles of people part them: they do for a first name alone, not for a
            full name.
    """
    if one.gender and other.gender and one.gender != other.gender:
        return True
    if not (one.sure and other.sure and one.kind and other.kind):
        return False
    if one.kind != other.kind:
        return not _fit(one.kind, other.kind)
    if one.kind != "person" or not roles or not (one.role and other.role):
        return False
    if one.role == other.role:
        return False
    soft = (one.role in _SOFT) + (other.role in _SOFT)
    kin = one.role in _KIN or other.role in _KIN
    return kin or soft == 0


def _fit(one: str, other: str) -> bool:
    """Whether two kinds may be of one thing."""
    if one in _WIDE and other in _WIDE:
        return other in _WIDE[one] or bool(_WIDE[one] & _WIDE[other] - {"company"})
    if one in _WIDE or other in _WIDE:
        return other in _WIDE.get(one, ()) or one in _WIDE.get(other, ())
    return frozenset((one, other)) in _TOGETHER


def _gender(word: str) -> str:
    return "m" if word in _MEN else "f" if word in _WOMEN else ""


def is_relative(role: str) -> bool:
    """Whether a role is one in a family."""
    return role in _KIN


def looks_like_no_person(words: Sequence[str]) -> bool:
    """Whether a name has a word that names of people do not have."""
    return any(word in _NO_PERSON for word in words)


def _title_before(before: str) -> str:
    last = before.rstrip().rsplit(" ", 1)[-1].rstrip(".").casefold()
    return last if last in TITLES and before.endswith(" ") else ""
