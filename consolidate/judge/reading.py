"""What can be read off one fact without a model: the judge's view of a single text.

A `Reading` is computed once a fact and used for all its pairs. It knows nothing of other facts.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from functools import cached_property, lru_cache
from typing import Final

from consolidate.judge.kinds import Behaviour, behaviour_of
from consolidate.judge.modality import Modality, modality_of
from consolidate.judge.recency import stated
from consolidate.judge.slots import attributes_of
from consolidate.judge.values import Value, find_values
from consolidate.names import USER, name_key
from consolidate.types import Fact, Mention

__all__ = [
    "USER",
    "Reading",
    "fold",
    "looks_english",
    "read",
    "scheduled",
    "subject_of",
    "word_set",
]

_USER_LEAD: Final = re.compile(
    r"(?:the )?user(?:['’]s)?\b|i(?:['’](?:m|ve|d|ll))?\b|my\b|me\b|we(?:['’](?:re|ve|d|ll))?\b|"
    r"our\b|mine\b",
    re.IGNORECASE,
)
_USER_ANYWHERE: Final = re.compile(
    r"\b(?:user|i|my|me|we|our|us|mine|i['’]m|i['’]ve)\b",
    re.IGNORECASE,
)
_ARTICLE: Final = re.compile(r"(?:the|our|my|a|an|dr\.?|mr\.?|mrs\.?|ms\.?)\s+", re.IGNORECASE)
_SCHEDULED: Final = re.compile(
    r"\b(?:from|as of|starting|effective|beginning|ab dem|ab|dal|desde el|à partir du)\s+"
    r"(?:on\s+|the\s+)?$",
    re.IGNORECASE,
)
_FULL_DATE: Final = re.compile(r"\d{4}-\d{2}-\d{2}")
_WORD: Final = re.compile(r"[^\W_]+", re.UNICODE)
_LATIN_LIMIT: Final = 0x250


@dataclass(frozen=True, kw_only=True)
class Reading:
    """A fact as the judge sees it before any comparison."""

    fact: Fact
    values: tuple[Value, ...]
    modality: Modality
    attributes: tuple[str, ...]
    names: frozenset[str]
    """Keys of the entities the text mentions."""
    written: frozenset[str]
    """Keys of the names by which it does."""
    subject: str | None
    """Key of the entity the text opens with, `USER`, or None where that can't be told."""
    mentions_user: bool
    behaviour: Behaviour
    latin: bool
    """Nearly all letters are Latin: the bundled models read nothing else."""

    @cached_property
    def value_keys(self) -> frozenset[tuple[str, str, str]]:
        """All typed values, in canonical form."""
        return frozenset(v.key for v in self.values)

    @cached_property
    def stems(self) -> frozenset[str]:
        """Beginnings of the words, so that "closed" and "closes" meet."""
        return frozenset(fold(w)[:5] for w in self.words)

    @cached_property
    def matter(self) -> frozenset[str]:
        """Beginnings of the words that say what the text is about: no names, no small words."""
        named = {fold(word)[:5] for name in self.written for word in name.split()}
        words = {w for w in self.words if w not in _EMPTY and not w.isdigit() and len(w) > 2}
        return frozenset(fold(w)[:5] for w in words) - named

    @cached_property
    def folded(self) -> frozenset[str]:
        """The words without case and diacritics."""
        return frozenset(fold(w) for w in self.words)

    @cached_property
    def initials(self) -> str:
        """First letters of all words in order: an abbreviation is found in them."""
        return "".join(w[0].casefold() for w in _WORD.findall(self.fact.text))

    @cached_property
    def frame(self) -> tuple[str, ...]:
        """The words with each typed value replaced by its kind.

        Two facts of one frame differ in values alone.
        """
        return _frame(self.fact.text)

    @cached_property
    def words(self) -> frozenset[str]:
        """Case-folded words."""
        return word_set(self.fact.text)


_FOREIGN: Final = frozenset(
    "il lo gli di che non per una sono della nel alla con mio mia der das und ist nicht ein eine "
    "ich wir mein meine sich auf mit für von im zum el los las que con por una mi está para del "
    "les des du est une pas je nous mon ma sur dans avec pour qui".split()
)
_EMPTY: Final = _FOREIGN | frozenset(
    "the user our are was were has have had been being and but for from with without into onto "
    "over under about after before until since now then once still yet already also only just "
    "not any more most less than that this these those there here his her its their she they "
    "who which what when where how all both each every other some one two new old can could "
    "will would may might does did done get gets got use uses used make makes made says said "
    "sie wird hat war auch nur noch nach bei son sua suo era sono ha nos nous elle plus".split()
)
_NAMES_TOO: Final = frozenset("mia per una des del von".split())
"""Small words that are also names of people: with a capital they speak for no language."""
_SMALL: Final = frozenset("the a an is are was of to and in on at for with by has not i my".split())


@lru_cache(maxsize=65536)
def looks_english(text: str) -> bool:
    """Whether the small words of a text are English ones, as far as it has any."""
    words = [w.casefold() if w.casefold() not in _NAMES_TOO else w for w in _WORD.findall(text)]
    foreign = sum(w in _FOREIGN for w in words)
    return foreign == 0 or sum(w in _SMALL for w in words) > foreign


def fold(text: str) -> str:
    """Case and diacritics taken off: what is left of a name however it was typed."""
    decomposed = unicodedata.normalize("NFKD", text.casefold())
    return "".join(c for c in decomposed if not unicodedata.combining(c))


@lru_cache(maxsize=65536)
def word_set(text: str) -> frozenset[str]:
    """Case-folded words of a text."""
    return frozenset(w.casefold() for w in _WORD.findall(unicodedata.normalize("NFC", text)))


@lru_cache(maxsize=65536)
def _frame(text: str) -> tuple[str, ...]:
    text = unicodedata.normalize("NFC", text)
    pieces: list[str] = []
    position = 0
    for value in find_values(text):
        pieces += [w.casefold() for w in _WORD.findall(text[position : value.start])]
        noun = value.unit if value.kind == "number" else ""
        pieces.append(f"<{value.kind}:{noun}>")
        position = max(position, value.end)
    pieces += [w.casefold() for w in _WORD.findall(text[position:])]
    return tuple(pieces)


@lru_cache(maxsize=65536)
def _is_latin(text: str) -> bool:
    letters = [c for c in text if c.isalpha()]
    if not letters:
        return True
    latin = sum(
        ord(c) < _LATIN_LIMIT or unicodedata.name(c, "").startswith("LATIN") for c in letters
    )
    return latin >= 0.9 * len(letters)


def subject_of(text: str, mentions: Sequence[Mention]) -> str | None:
    """Key of what a text opens with: an entity, `USER`, or None where that can't be told."""
    lead = text.lstrip("\"'“”‘’([ \t")
    offset = len(text) - len(lead)
    if _USER_LEAD.match(lead):
        return USER
    article = _ARTICLE.match(lead)
    starts = {offset, offset + article.end()} if article else {offset}
    for mention in mentions:
        if mention.start in starts:
            if " " not in mention.text and not looks_english(text):
                return None  # in other languages the first word is as often a verb
            return name_key(mention.text)
    return None


def read(
    fact: Fact,
    mentions: Sequence[Mention],
    entity_of: Callable[[str], str] = lambda name: name,
) -> Reading:
    """Read a fact, given the mentions found in its text and what their names mean in it."""
    subject = subject_of(fact.text, mentions)
    names = frozenset(name_key(m.text) for m in mentions if m.label != "version")
    return Reading(
        fact=fact,
        values=find_values(fact.text),
        modality=modality_of(fact.text),
        attributes=attributes_of(fact.text),
        # A version is a value, not a name: Python 3.11 and Python 3.12 are one Python
        names=frozenset(map(entity_of, names)),
        written=names,
        subject=subject if subject in (USER, None) else entity_of(subject),
        mentions_user=bool(_USER_ANYWHERE.search(fact.text)),
        behaviour=behaviour_of(fact.kind),
        latin=_is_latin(fact.text),
    )


def scheduled(fact: Fact) -> Fact:
    """The fact with the start of validity that its own words announce.

    "From 1 December 2026 the office moves" holds from the start of that day (UTC) when the store
    knows no start and the day lies after the fact was said. Nothing is written; it only keeps an
    announcement from retiring what still holds.
    """
    said = stated(fact) or fact.recorded_at
    for value in find_values(fact.text):
        if value.kind == "date" and _FULL_DATE.fullmatch(value.amount):
            if _SCHEDULED.search(fact.text[: value.start]):
                begins = _day(value.amount)
                if fact.valid_from is None and begins is not None and begins > said:
                    return replace(fact, valid_from=begins)
    return fact


def _day(date: str) -> datetime | None:
    try:
        return datetime.fromisoformat(date).replace(tzinfo=UTC)
    except ValueError:
        return None  # "2026-02-30" looks like a date and is none
