"""Whether two names may be one: only ever a reason not to call them two."""

from __future__ import annotations

from typing import Final

from consolidate.graph.nicknames import full_forms
from consolidate.judge.reading import fold

__all__ = ["may_be_one"]

_CUSTOMARY: Final = {
    "k8s": "kubernetes",
    "pg": "postgresql",
    "postgres": "postgresql",
    "js": "javascript",
    "ts": "typescript",
    "py": "python",
    "gh": "github",
    "gha": "github actions",
    "tf": "terraform",
    "es": "elasticsearch",
    "mongo": "mongodb",
    "vscode": "visual studio code",
    "vs code": "visual studio code",
    "aws": "amazon web services",
    "gcp": "google cloud",
    "hr": "human resources",
    "vw": "volkswagen",
    "mum": "mother",
    "mom": "mother",
    "dad": "father",
    "grandma": "grandmother",
    "grandad": "grandfather",
    "grandpa": "grandfather",
}
"""Short forms that don't show in the letters. Folded."""


def may_be_one(a: str, b: str) -> bool:
    """Whether two name keys may stand for one thing.

    They do if they are equal without case and diacritics, if the first words are forms of one
    first name (and further words don't differ), if one is the initials of the other, or a
    customary short form of it.

    Example:
        >>> may_be_one("liz", "elizabeth moss"), may_be_one("łukasz", "lukasz")
        (True, True)
        >>> may_be_one("liz moss", "elizabeth roe")
        False
    """
    x, y = _plain(a), _plain(b)
    x, y = _CUSTOMARY.get(x, x), _CUSTOMARY.get(y, y)
    if x == y:
        return True
    left, right = x.split(), y.split()
    if not left or not right:
        return False
    short = min("".join(left), "".join(right), key=len)
    words = right if short == "".join(left) else left
    if 2 <= len(short) <= 5 and len(words) == len(short):
        if "".join(word[0] for word in words) == short:
            return True
    forms = full_forms(left[0]) & full_forms(right[0]) if left[0] != right[0] else ()
    return bool(forms) and (left[1:] == right[1:] or not left[1:] or not right[1:])


def _plain(name: str) -> str:
    return fold(name).translate(_STROKES)


_STROKES: Final = str.maketrans({"ł": "l", "ø": "o", "đ": "d", "ħ": "h", "ı": "i"})
"""Letters whose stroke is no accent to Unicode."""
