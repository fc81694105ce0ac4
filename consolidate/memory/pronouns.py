"""Puts a name in the place of a "she" or "his" that opens a sentence, so that a fact stands alone.

"Ana moved to Oslo. She works at Acme." gives "Ana works at Acme". Only where the sentence before
speaks of one person: with two, or none, the words stay as they are. English; pure.
"""

from __future__ import annotations

import re
from typing import Final

from consolidate.backends.common_words import is_common
from consolidate.backends.rules import RulesExtractor

__all__ = ["named", "speaks_of"]

_OPENING: Final = re.compile(r"(?P<word>she|he|her|his)\b(?P<short>['’](?:s|d|ll))?(?=\s)", re.I)
_POSSESSIVE: Final = frozenset({"her", "his"})
_PLACE_BEFORE: Final = re.compile(
    r"\b(?:in|at|near|of|from|to|into|outside|around|on|via|using|uses|called)\s+(?:the\s+)?$", re.I
)
_KIN: Final = re.compile(
    r"(?:[Mm]y|[Oo]ur)\s+(?P<kin>(?:(?:older|younger|little|big|eldest|oldest|youngest|new|old|"
    r"former|late|best|twin|step|line)[ -])*[a-zé]+)"
    r"(?P<name>,?\s+[A-Z][\w'’-]+(?:\s[A-Z][\w'’-]+)?,?)?\s+(?=[a-z])"
)
_SUBJECT: Final = re.compile(
    r"(?P<name>[A-Z][^\W\d_]+(?:[ -][A-Z][^\W\d_]+)*) (?:is|was|has|had|will|[a-z]{2,}(?:s|ed))\b"
)
_FEMALE: Final = frozenset(
    "sister mother mum mom wife girlfriend daughter aunt niece grandmother grandma granny "
    "fiancée landlady stepmother goddaughter godmother".split()
)
_MALE: Final = frozenset(
    "brother father dad husband boyfriend son uncle nephew grandfather grandad grandpa fiancé "
    "landlord stepfather godson godfather".split()
)
_EITHER: Final = frozenset(
    "boss manager colleague friend neighbour neighbor cousin doctor dentist teacher partner spouse "
    "child kid baby boss roommate flatmate coach trainer therapist lawyer accountant student "
    "assistant client supervisor mentor tutor sibling parent grandchild twin ex".split()
)
_NO_PERSON: Final = frozenset({"version", "path", "url", "ticket", "host", "package", "code"})

_extractor: Final = RulesExtractor()


def speaks_of(sentence: str) -> tuple[str, str] | None:
    """The one person that a sentence speaks of.

    Returns:
        How to name the person, and `female`, `male` or `either`; None if there is none, or if
        there are several.
    """
    kin = _KIN.match(sentence)
    subject = _SUBJECT.match(sentence)
    (found,) = _extractor.extract([sentence])
    names = {
        mention.text
        for mention in found
        if mention.label not in _NO_PERSON
        and not any(c.isdigit() for c in mention.text)
        and not _PLACE_BEFORE.search(sentence[: mention.start])
    }
    if subject and not is_common(subject["name"].split()[0].casefold()):
        names.add(subject["name"])  # a first name that no list has
    if kin and (sex := _sex(kin["kin"].split()[-1].casefold())):
        own = (kin["name"] or "").strip(" ,")
        if names - {own}:
            return None
        return kin[0].strip(" ,"), sex
    return (names.pop(), "either") if len(names) == 1 else None


def named(sentence: str, before: str) -> str:
    """A sentence with its opening pronoun replaced by whom the one before speaks of.

    Args:
        sentence: What may open with a pronoun.
        before: The sentence before it.

    Example:
        >>> named("Her birthday is in May.", "Ana moved to Oslo.")
        "Ana's birthday is in May."
    """
    opening = _OPENING.match(sentence)
    if opening is None:
        return sentence
    person = speaks_of(before)
    if person is None:
        return sentence
    name, sex = person
    word = opening["word"].casefold()
    if sex != "either" and sex != ("female" if word in ("she", "her") else "male"):
        return sentence
    ending = sentence[opening.end() :]
    if word in _POSSESSIVE:
        return f"{name}'s{ending}"
    return f"{name}{opening['short'] or ''}{ending}"


def _sex(noun: str) -> str:
    if noun in _FEMALE:
        return "female"
    if noun in _MALE:
        return "male"
    return "either" if noun in _EITHER else ""
