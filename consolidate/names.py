"""When two spellings are one name: `name_key`, the only place that decides it.

Two names match if their keys are equal. The key

1. drops what can't be seen (zero-width and direction marks, soft hyphens, trademark signs), writes
   curly quotes and long dashes the plain way, and turns compatible forms into one (NFKC:
   full-width letters, ligatures, composed and decomposed accents);
2. trims and collapses white space;
3. folds case by the full Unicode rules, and dotted and dotless i into i, so that `İzmir`, `IZMIR`
   and `izmir` match, and `Straße` and `STRASSE`. Accents stay: `Peña` is not `Pena`;
4. drops full stops that only abbreviate: after letters at the end of a word (`U.K.` is `UK`,
   `Acme Inc.` is `Acme Inc`, `J. Roe` is `J Roe`) and before the endings of product names
   (`Node.js` is `nodejs`);
5. turns `Roe, Janet` round to `janet roe`, if there is one comma with one to three words of
   letters on either side and what follows is no `Jr`, `Inc` or the like;
6. leaves everything else exact, digits and signs above all: `KX2203` is not `KX2205`, `C` is none
   of `C++` and `C#`, `.NET` is not `Net`, `HTTP` is not `HTTPS`, `v1.2` is not `v12`. Paths and
   addresses (with a slash, backslash or @) keep their dots, and paths their case too, which
   matters in them.

Nothing here guesses: `Janet` and `Janet Roe` have different keys, and so have a name and its
plural.
"""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache
from typing import Final

__all__ = ["USER", "bearer_key", "entity_key", "name_key", "name_of_key", "same_name"]

USER: Final = "the user"
"""Key of the agent's principal: facts without another subject are about this one."""

# Typographic forms of ' " and - that NFKC leaves alone.
_PLAIN: Final = str.maketrans(
    {
        **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u0060\u00b4\u2032", "'"),
        **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb\u2033", '"'),
        **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d", "-"),
        **dict.fromkeys("\u2122\u00ae\u00a9\u2120", None),
    }
)
_CIRCLED: Final = "⓪①②③④⑤⑥⑦⑧⑨"
_SPACE: Final = re.compile(r"\s+")
_PATH: Final = re.compile(r"[/\\]")
_EXACT: Final = re.compile(r"[/\\@]")
# A stop after a letter where the word ends; between single letters too (U.K., J.R.R.).
_STOP_AT_END: Final = re.compile(r"(?<=[^\W\d_])\.(?=\s|$)")
_STOP_IN_INITIALS: Final = re.compile(r"(?<![^\W_])([^\W\d_])\.(?=[^\W\d_](?:\.|(?![^\W_])))")
_STOP_IN_PRODUCT: Final = re.compile(r"(?<=[^\W\d_])\.(?=(?:js|ts|ai|io)(?![^\W_]))")
_TURNED: Final = re.compile(r"([^,]+),\s*([^,]+)")
_WORDS: Final = re.compile(
    r"[^\W\d_][^\W\d_.'-]*(?:['.-][^\W\d_]*)*(?: [^\W\d_][^\W\d_]*(?:['.-][^\W\d_]*)*){0,2}"
)
_NO_FIRST_NAME: Final = frozenset(
    "jr sr ii iii iv phd md esq inc ltd llc llp plc corp co gmbh ag kg se sa sas sarl srl spa bv "
    "nv ab oy as pty kk".split()
)


def name_key(text: str) -> str:
    """The key under which all spellings of a name meet; see the module's text for the rules.

    >>> name_key("  Roe,  Janet ")
    'janet roe'
    >>> name_key("Node.js") == name_key("NodeJS")
    True
    >>> name_key("C") == name_key("C++")
    False
    """
    # Keys of long texts are not worth remembering.
    return _cached_key(text) if len(text) <= 200 else _key(text)


def entity_key(text: str) -> str:
    """The key of an entity, given its name or what tells it from others of that name.

    Several entities may bear one name. The first has the plain key of it, the others a circled
    number behind it, which no key of a name can hold (NFKC makes plain digits of them).

    >>> entity_key("Mercury"), entity_key("MERCURY ②")
    ('mercury', 'mercury ②')
    """
    name = text.strip()
    plain = name.rstrip(_CIRCLED)
    number = name[len(plain) :]
    if not number or not plain.strip() or number == _CIRCLED[1]:
        return name_key(plain)
    return f"{name_key(plain)} {number}"


def name_of_key(key: str) -> str:
    """The key of the name that an entity bears.

    >>> name_of_key("mercury ②")
    'mercury'
    """
    plain = key.rstrip(_CIRCLED)
    return plain.rstrip() if plain != key else key


def bearer_key(name: str, number: int) -> str:
    """The key of the entity that is the `number`th to bear a name, counted from 1.

    >>> bearer_key("mercury", 1), bearer_key("mercury", 12)
    ('mercury', 'mercury ①②')
    """
    if number == 1:
        return name
    return f"{name} {''.join(_CIRCLED[int(digit)] for digit in str(number))}"


def same_name(left: str, right: str) -> bool:
    """Whether two spellings are one name."""
    return name_key(left) == name_key(right)


def _key(text: str) -> str:
    plain = unicodedata.normalize("NFKC", text.translate(_PLAIN)).translate(_PLAIN)
    visible = "".join(
        c for c in plain if unicodedata.category(c) not in ("Cf", "Cc") or c.isspace()
    )
    name = _SPACE.sub(" ", visible).strip()
    if _PATH.search(name) and "://" not in name:
        return name
    name = _folded(name)
    if _EXACT.search(name):
        return name
    turned = _TURNED.fullmatch(name)
    if turned and all(_WORDS.fullmatch(part.strip()) for part in turned.groups()):
        last, first = (part.strip() for part in turned.groups())
        name = f"{last} {first}" if first.rstrip(".") in _NO_FIRST_NAME else f"{first} {last}"
    name = _STOP_IN_INITIALS.sub(r"\1", name)
    name = _STOP_IN_PRODUCT.sub("", name)
    return _STOP_AT_END.sub("", name)


def _folded(name: str) -> str:
    folded = unicodedata.normalize("NFC", name.casefold())
    # casefold() leaves an i with a dot above for the Turkish capital, and the dotless one as it is.
    return unicodedata.normalize("NFC", folded.replace("i\u0307", "i").replace("\u0131", "i"))


_cached_key = lru_cache(maxsize=65536)(_key)
