"""Turning what a person typed into an FTS5 query that can't go wrong. Pure."""

from __future__ import annotations

import re
from collections.abc import Collection

__all__ = ["literal_pieces", "match_expression", "match_words", "query_words"]

_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b")

_MOST = 64
"""Words of a query that are looked for; FTS5 limits the depth of an expression."""


def match_expression(query: str) -> str | None:
    """Quote each word, so that no operator is left, and accept any of them; None if blank."""
    words = query_words(query)
    return match_words(words) if words else None


def match_words(words: Collection[str]) -> str:
    """An expression that any of some words fits, whatever is in them."""
    return " OR ".join('"' + word.replace('"', '""') + '"' for word in words)


def literal_pieces(query: str) -> list[str]:
    """What of a query is worth looking for as a part of a word.

    One or two letters of an alphabet are in nearly every text; one Chinese character or an emoji
    says much.
    """
    return [
        word
        for word in query_words(query)
        if len(word) > 2 or not word.isascii() or not any(map(str.isalnum, word))
    ]


def query_words(query: str) -> list[str]:
    """The distinct words of a query in their order, at most 64."""
    # A NUL would end the expression early inside SQLite. The apostrophe of a possessive would
    # make a phrase of name and "s", which only a text with both holds.
    words = _POSSESSIVE.sub("", query.replace("\0", " ")).split()
    return list(dict.fromkeys(words))[:_MOST]
