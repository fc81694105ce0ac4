"""Turning what a person typed into an FTS5 query that can't go wrong. Pure."""

from __future__ import annotations

__all__ = ["match_expression", "pieces"]

_MOST = 64
"""Words of a query that are looked for; FTS5 limits the depth of an expression."""


def match_expression(query: str) -> str | None:
    """Quote each word, so that no operator is left, and accept any of them; None if blank."""
    words = pieces(query)
    if not words:
        return None
    quoted = ['"' + word.replace('"', '""') + '"' for word in words]
    return " OR ".join(quoted)


def pieces(query: str) -> list[str]:
    """The distinct words of a query in their order, at most 64."""
    # A NUL would end the expression early inside SQLite.
    words = query.replace("\0", " ").split()
    return list(dict.fromkeys(words))[:_MOST]
