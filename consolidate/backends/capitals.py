"""Finds names by their capitals, in scripts that have them.

A capital inside a sentence is a sign; at its start it is one only if the word is no everyday word
or a name follows. German gives every noun a capital, so there a noun after an article is none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from consolidate.backends import name_words as lexicon
from consolidate.backends.common_words import is_common
from consolidate.backends.spans import HIGH, LOW, Busy, Span, without_ending

__all__ = ["capitalised"]

_WORD: Final = re.compile(r"(?<!\w)[^\W\d_](?:\w|(?<=\w)[\u0300-\u036f])*(?:['’\u2010-][^\W_]\w*)*")
_ELISION: Final = re.compile(
    r"(?:[cdjlmnst]|qu|dell|dall|nell|all|un)['’](?=[^\W\d_])", re.IGNORECASE
)
_SENTENCE_END: Final = frozenset('.!?:;…•*|>\n"“„«‘([{–—-')
_BEFORE_NOUN: Final = re.compile(
    r"(?:der|die|das|den|dem|des|(?:k?ein|mein|dein|sein|ihr|unser|jed|dies|welch|all)(?:e[mnrs]?)?"
    r"|im|am|zum|zur|vom|beim|ins|ans|\w+(?:en|er|es|em|te|ige))"
)
_NOUN_ENDING: Final = re.compile(r".+(?:ung|heit|keit|schaft|chen|tion|tät|nis|isch|zeit|tag)s?")
_VERB_RU: Final = re.compile(r".+(?:ет|ёт|ит|ют|ут|ят|ть|ся|сь|ал|ла|ли|ого|ый|ая)", re.IGNORECASE)


def capitalised(text: str, taken: Busy) -> Iterator[Span]:
    """Yield names, left to right, in what is not taken."""
    words = [m.span() for m in _WORD.finditer(text)]
    words = [word for word in words if taken.touching(*word) is None]
    if not words:
        return
    long_words = [text[a:b] for a, b in words if b - a > 1]
    shouted = len(long_words) > 3 and sum(w.isupper() for w in long_words) > 0.7 * len(long_words)
    if shouted:
        return
    capitals = sum(w[0].isupper() for w in long_words)
    # In a heading every word is written as if it began a sentence.
    heading = len(long_words) > 4 and capitals > 0.7 * len(long_words)
    german = _is_german([text[a:b].casefold() for a, b in words])
    run: list[_Part] = []
    for index, (start, end) in enumerate(words):
        part = _part(text, start, end, begins=heading or _begins(text, start))
        if run and not _joins(text, run, part):
            yield from _name_in(text, run, german=german)
            run = []
        follows = index + 1 < len(words)
        if part.capital:
            run.append(part)
            if part.closed:
                yield from _name_in(text, run, german=german)
                run = []
        elif follows and _leads(text, part, words[index + 1]) and (run or part.leading):
            run.append(part)
        elif run:
            yield from _name_in(text, run, german=german)
            run = []
    yield from _name_in(text, run, german=german)


def _is_german(words: Sequence[str]) -> bool:
    return words[0] in lexicon.GERMAN_OPENINGS or sum(w in lexicon.GERMAN for w in words) >= 2


@dataclass(frozen=True)
class _Part:
    """A word that may belong to a name."""

    start: int
    end: int
    word: str
    capital: bool
    begins: bool
    """At the start of a sentence, where a capital says little."""
    closed: bool
    """A possessive: the name ends here."""
    initial: bool
    """One letter with a stop."""
    leading: bool
    """A particle that may begin a surname."""


def _part(text: str, start: int, end: int, *, begins: bool) -> _Part:
    word = text[start:end]
    if word[0].islower():
        # l'Italia, ex-Google: the name begins after the sign.
        cut = max(word.find("'"), word.find("’"), word.find("-"))
        if 0 < cut < len(word) - 1 and cut <= 4 and word[cut + 1].isupper():
            start += cut + 1
            word, begins = text[start:end], False
    shorter = without_ending(text, start, end)
    closed = shorter < end
    end = shorter
    head, _, tail = text[start:end].rpartition("-")
    if head and tail in lexicon.HYPHEN_ENDS:
        end -= len(tail) + 1
        closed = True
    word = text[start:end]
    return _Part(
        start=start,
        end=end,
        word=word,
        capital=word[0].isupper() or word[0].istitle(),
        begins=begins,
        closed=closed,
        initial=len(word) == 1 and text[end : end + 1] == ".",
        leading=word in lexicon.LEADING,
    )


def _begins(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\u00a0")
    if not before or before[-1] in "\n":
        return True
    mark = before[-1]
    if mark == ".":
        return not _abbreviates(before)
    if mark in "-–—":
        return len(before) < 2 or before[-2].isspace() or mark != "-"
    return mark in _SENTENCE_END


def _abbreviates(before: str) -> bool:
    word = re.search(r"([^\W\d_]+)\.$", before[-12:])
    return word is not None and (len(word[1]) == 1 or word[1].casefold() in lexicon.TITLES)


def _joins(text: str, run: Sequence[_Part], part: _Part) -> bool:
    last = run[-1]
    gap = text[last.end : part.start]
    if gap in (" ", "\u00a0"):
        return True
    initial = len(last.word) == 1 or last.word.casefold() in lexicon.TITLES
    return (initial and gap in (". ", ".")) or gap in (" & ",)


def _leads(text: str, part: _Part, following: tuple[int, int]) -> bool:
    """Whether a word in lower case may stand inside a name, before the word that follows."""
    word = part.word
    if word not in lexicon.PARTICLES and word not in lexicon.BETWEEN:
        return False
    if text[part.end : following[0]] != " ":
        return False
    after = text[following[0] : following[1]]
    return after[0].isupper() or after in lexicon.PARTICLES or (word == "of" and after == "the")


def _name_in(text: str, run: Sequence[_Part], *, german: bool) -> Iterator[Span]:
    parts = list(run)
    person = any(p.word in lexicon.PARTICLES for p in parts[1:-1]) or (
        parts[:1] and parts[0].leading
    )
    while parts and not parts[-1].capital:
        parts.pop()
    cut_at = next((i for i, p in enumerate(parts) if p.word in lexicon.BETWEEN), None)
    if cut_at and _is_role(parts[cut_at - 1]):
        # "CEO of Acme" names a person's role, and Acme.
        yield from _name_in(text, parts[:cut_at], german=german)
        yield from _name_in(text, parts[cut_at + 1 :], german=german)
        return
    dropped = 0
    while parts and _unnamed(parts[0], parts[1:]):
        dropped += 1
        parts.pop(0)
        while parts and not parts[0].capital and not parts[0].leading:
            parts.pop(0)
    while parts and parts[-1].word.casefold() in lexicon.NOT_LAST and not _titled(parts[:-1]):
        parts.pop()
    titled = len(parts) > 1 and _titled(parts[:1])
    if titled and parts[0].word.casefold() != "st":  # St. John is called so
        parts.pop(0)
    if not parts or (len(parts) == 1 and len(parts[0].word) == 1):
        return
    if len(parts) == 1 and not titled:
        if not _stands_alone(text, parts[0], german=german):
            return
        if dropped and _everyday(parts[0].word.casefold()):  # "Meeting Notes"
            return
    sure = len(parts) > 1 or not parts[0].begins or titled
    initials = any(len(p.word) == 1 for p in parts)
    label = "person" if titled or person or (initials and len(parts) > 1) else "name"
    yield parts[0].start, parts[-1].end, label, HIGH if sure else LOW


def _is_role(part: _Part) -> bool:
    return part.word.casefold() in lexicon.ROLES or (part.word.isupper() and len(part.word) > 1)


def _titled(parts: Sequence[_Part]) -> bool:
    return len(parts) == 1 and parts[0].word.casefold() in lexicon.TITLES


def _unnamed(part: _Part, rest: Sequence[_Part]) -> bool:
    """Whether the first word of a run is a capital by its place or no name at all."""
    word = part.word.casefold().replace("’", "'")
    if not part.capital:
        return not part.leading
    if rest and word in lexicon.WORDY_NAMES:
        return not rest[0].capital or _everyday(rest[0].word.casefold())
    if word in lexicon.NEVER or _elided(part.word):
        return True
    if not part.begins or part.initial:
        return False
    if len(part.word) == 1:
        return True
    if rest and (word in lexicon.STARTERS or word in lexicon.TITLES):
        return False
    return _everyday(word) and not (word in lexicon.ACRONYMS and part.word.isupper())


def _elided(word: str) -> bool:
    """L'atelier, D'accord, but not L'Oréal."""
    sign = _ELISION.match(word)
    return sign is not None and word[sign.end()].islower()


def _everyday(word: str) -> bool:
    pieces = re.split(r"['-]", word)
    return is_common(word) or (len(pieces) > 1 and all(len(p) < 3 or is_common(p) for p in pieces))


def _stands_alone(text: str, part: _Part, *, german: bool) -> bool:
    word = part.word.casefold()
    if word in lexicon.FUNCTION_WORDS:
        return False
    if word in lexicon.TITLES and part.begins:
        return False
    if part.begins and _cyrillic(part.word):
        return _VERB_RU.fullmatch(part.word) is None
    if german:
        if part.begins:
            return not _NOUN_ENDING.fullmatch(word)
        # Every noun has a capital there: what follows an article or an adjective is one.
        before = re.search(r"(\w+)\s$", text[max(0, part.start - 24) : part.start])
        if before is not None and before[1] in lexicon.NAME_BEFORE:
            return not is_common(word)
        noun = before is not None and _BEFORE_NOUN.fullmatch(before[1].casefold())
        return not noun and not _NOUN_ENDING.fullmatch(word) and not is_common(word)
    return True


@lru_cache(maxsize=4096)
def _cyrillic(word: str) -> bool:
    return any("\u0400" <= c <= "\u04ff" for c in word)
