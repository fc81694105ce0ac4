"""What two spellings may have to do with each other when they are not one name.

Builds on `consolidate.names`, which decides what *is* one name; everything here only says how
likely two names mean one thing, and why. Works on name keys, not on text as written. Pure.

Identifiers (with digits or signs: `KX2203`, `C++`, `.NET`) are exact: nothing resembles them.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from consolidate.graph.nicknames import full_forms

__all__ = [
    "COMPANY_FORMS",
    "TITLES",
    "Likeness",
    "Parts",
    "acronym_of",
    "acronyms_of",
    "bare",
    "exact_only",
    "likeness",
    "parts_of",
    "sound",
    "typo",
]

TITLES: Final = frozenset(
    "mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend sister brother father "
    "captain capt sgt sergeant lt col major gen general judge chef coach doctor uncle aunt auntie "
    "cousin grandma grandpa herr frau madame monsieur mme mlle don dona doña señor señora senor "
    "senora sig signor signora dra ing tante onkel dott dottoressa avv".split()
)
"""Before a name, no part of it."""

COMPANY_FORMS: Final = frozenset(
    "inc ltd llc llp plc corp co gmbh ag kg se sa sas sarl srl spa bv nv ab oy as pty kk "
    "incorporated limited corporation".split()
)
"""Behind the name of a firm."""

_GENERATION: Final = frozenset("jr sr ii iii iv phd md esq".split())
_PARTICLES: Final = frozenset(
    "de da do dos das di del della der den dem van von zu zur zum ten ter te la le du y bin ibn "
    "al el af av of the and for".split()
)
_WORD: Final = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
_CYRILLIC: Final = dict(
    zip(
        "абвгдезийклмнопрстуфыэёъьіґ",
        "a b v g d e z i y k l m n o p r s t u f y e e   i g".split(" "),
        strict=False,
    )
) | {"ж": "zh", "х": "kh", "ц": "ts", "ч": "ch", "ш": "sh", "щ": "shch", "ю": "yu", "я": "ya",
     "є": "ye", "ї": "yi", "ъ": "", "ь": ""}  # fmt: skip
_LETTERS: Final = str.maketrans(
    {"ß": "ss", "æ": "ae", "ø": "o", "œ": "oe", "đ": "d", "ð": "d", "þ": "th", "ł": "l", "ı": "i"}
    | _CYRILLIC
)
_PLAIN_VOWELS: Final = re.compile(r"(?<=[aou])e")


@dataclass(frozen=True)
class Parts:
    """The words of a name."""

    title: str
    words: tuple[str, ...]
    """Without title, generation and company form."""
    form: str
    """`inc`, `jr` or the like; empty if there is none."""

    @property
    def initials(self) -> bool:
        """Whether it has given names of which only the first letter stands there."""
        return len(self.words) > 1 and any(len(word) == 1 for word in self.words[:-1])


@dataclass(frozen=True, order=True)
class Likeness:
    """How two names may be one: the lower the rank, the likelier."""

    rank: int
    why: str
    """`same`, `title`, `form`, `initials`, `part`, `nickname`, `letters`, `typing`."""


SAME: Final = Likeness(0, "same")
TITLE: Final = Likeness(1, "title")
FORM: Final = Likeness(2, "form")
INITIALS: Final = Likeness(3, "initials")
PART: Final = Likeness(4, "part")
NICKNAME: Final = Likeness(5, "nickname")
LETTERS: Final = Likeness(6, "letters")
TYPING: Final = Likeness(7, "typing")


@lru_cache(maxsize=65536)
def parts_of(key: str) -> Parts:
    """Take a name key apart.

    >>> parts_of("dr s tonegawa")
    Parts(title='dr', words=('s', 'tonegawa'), form='')
    """
    words = key.split(" ")
    title = ""
    while len(words) > 1 and words[0] in TITLES:
        title = words.pop(0)
    form = ""
    if len(words) > 1 and words[-1].strip(",") in COMPANY_FORMS | _GENERATION:
        form = words.pop()
        words[-1] = words[-1].rstrip(",")
    return Parts(title, tuple(words), form)


def bare(key: str) -> str:
    """A name key without title and company form."""
    return " ".join(parts_of(key).words)


@lru_cache(maxsize=65536)
def exact_only(key: str) -> bool:
    """Whether a key is an identifier: digits, signs, a single letter; only itself resembles it."""
    return len(key) < 2 or not all(_WORD.fullmatch(word) for word in key.split(" "))


@lru_cache(maxsize=65536)
def sound(key: str) -> str:
    """A key without marks on letters, umlauts spelled either way, Cyrillic in Latin letters.

    >>> sound("schroedinger") == sound("schrödinger")
    True
    """
    if exact_only(key):
        return key
    latin = key.translate(_LETTERS)
    plain = "".join(c for c in unicodedata.normalize("NFKD", latin) if not unicodedata.combining(c))
    return _PLAIN_VOWELS.sub("", plain)


def acronyms_of(full: str) -> frozenset[str]:
    """The acronyms that a name key may have: of all its words, and without the small ones.

    >>> sorted(acronyms_of("massachusetts institute of technology"))
    ['miot', 'mit']
    """
    words = [word for word in re.split(r"[ -]", full) if word]
    if len(words) < 2:
        return frozenset()
    every = "".join(word[0] for word in words)
    main = "".join(word[0] for word in words if word not in _PARTICLES)
    return frozenset(short for short in (every, main) if 2 <= len(short) <= 8)


def acronym_of(short: str, full: str) -> bool:
    """Whether a key may be made of the first letters of another."""
    return short in acronyms_of(full)


def likeness(left: str, right: str) -> Likeness | None:
    """How two name keys may be one name, or None. Symmetric.

    `part` means that one has fewer of the words: a first or a last name alone.
    """
    if left == right:
        return SAME
    if exact_only(left) or exact_only(right):
        return None
    a, b = parts_of(left), parts_of(right)
    if a.words == b.words:
        if a.form and b.form and a.form != b.form:
            return None  # Jr is not Sr
        return TITLE if a.form == b.form else FORM
    short, full = (a, b) if len(a.words) <= len(b.words) else (b, a)
    found = _persons(short, full)
    if found is not None:
        return found
    if sound(" ".join(a.words)) == sound(" ".join(b.words)):
        return LETTERS
    return TYPING if _mistyped(a.words, b.words) else None


def _mistyped(one: Sequence[str], other: Sequence[str]) -> bool:
    """Whether a slip lies between two names, and not a whole word such as an initial."""
    if len(one) != len(other):
        return typo(" ".join(one), " ".join(other))
    return all(a == b or typo(a, b) for a, b in zip(one, other, strict=True))


def _persons(short: Parts, full: Parts) -> Likeness | None:
    """How the words of two names of people fit, the family name last."""
    if short.form and full.form and short.form != full.form:
        return None
    if len(short.words) == 1:
        word = short.words[0]
        if len(full.words) == 1:
            # Two first names
            given = _given(word, full.words[0])
            return given if given is NICKNAME else None
        if word in (full.words[0], full.words[-1]):
            return PART
        return NICKNAME if not short.title and _given(word, full.words[0]) is NICKNAME else None
    if short.words[-1] != full.words[-1] or len(full.words) > 5:
        return None
    # Every given name of the shorter one must fit one of the longer, in order.
    worst = PART if len(short.words) < len(full.words) else SAME
    rest = list(full.words[:-1])
    for word in short.words[:-1]:
        while rest:
            fit = _given(word, rest.pop(0))
            if fit is not None:
                worst = max(worst, fit)
                break
            if not rest:
                return None
        else:
            return None
    return worst


def _given(one: str, other: str) -> Likeness | None:
    if one == other:
        return SAME
    if 1 in (len(one), len(other)):
        return INITIALS if one[0] == other[0] else None
    a, b = full_forms(one), full_forms(other)
    # Bob and Rob may both be Robert, but two short forms are too little to go by.
    return NICKNAME if one in b or other in a else None


def typo(one: str, other: str) -> bool:
    """Whether one slip of the fingers lies between two names (two from 9 letters on)."""
    if exact_only(one) or exact_only(other):
        return False
    if one[:1] != other[:1] and one[1:2] != other[1:2]:
        return False  # a slip in the very first letter is rare enough
    shorter = min(len(one), len(other))
    if shorter < 4:
        return False
    return _slips(one, other, 2 if shorter >= 9 else 1)


def _slips(one: str, other: str, most: int) -> bool:
    """Whether at most `most` letters were added, dropped, changed or swapped with the next."""
    if abs(len(one) - len(other)) > most:
        return False
    before: Sequence[int] = []
    row: Sequence[int] = range(len(other) + 1)
    for i, a in enumerate(one, 1):
        following = [i]
        for j, b in enumerate(other, 1):
            cost = min(row[j] + 1, following[j - 1] + 1, row[j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                cost = min(cost, before[j - 2] + 1)
            following.append(cost)
        if min(following) > most:
            return False
        before, row = row, following
    return row[-1] <= most
