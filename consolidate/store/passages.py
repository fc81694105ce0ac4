"""Passages: pieces of long texts for search. Read off the facts; the facts hold the whole.

A model reads the first few hundred words of a text and a text index rates a long text low, so a
text above `PASSAGES_FROM` is also kept in passages with their own place in the text index and,
under their own hashes, among the vectors.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Any, Final

from consolidate.errors import InputError
from consolidate.sentences import passages
from consolidate.store.base import Part
from consolidate.store.records import Passage
from consolidate.store.rows import LIVE_SQL, fact_hash
from consolidate.store.search import match_expression

__all__ = ["INSERT_PASSAGE", "PASSAGES_FROM", "PassagePart", "passage_rows"]

PASSAGES_FROM: Final = 1200
"""Texts of more characters than this have passages."""

INSERT_PASSAGE: Final = (
    "INSERT INTO passages (fact, position, start, stop, text, content_hash) "
    "VALUES (?, ?, ?, ?, ?, ?)"
)

_COLUMNS = (
    "passages.fact, passages.position, passages.start, passages.stop, passages.text, "
    "passages.content_hash"
)


def passage_rows(fact: str, text: str) -> list[tuple[Any, ...]]:
    """The passages of a fact's text as rows; none for a text that is short enough."""
    if len(text) <= PASSAGES_FROM:
        return []
    return [
        (fact, position, start, stop, text[start:stop], fact_hash(text[start:stop]))
        for position, (start, stop) in enumerate(passages(text))
    ]


class PassagePart(Part):
    """The store's methods for passages. They are made where facts are written."""

    def passages(self, fact_id: str) -> list[Passage]:
        """Return the passages of a fact (whole id), in order; none for a short text."""
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM passages WHERE fact = ? ORDER BY position",  # noqa: S608
            (fact_id,),
        )
        return [_passage(row) for row in rows]

    def search_passages(
        self, query: str, *, agent: str, limit: int = 10, kinds: Collection[str] | None = None
    ) -> list[Passage]:
        """Find passages of live facts by words, best first; several may be of one fact."""
        expression = match_expression(query)
        if limit < 0:
            raise InputError(f"limit {limit!r} must not be negative")
        if expression is None:
            return []
        rows = self._db.query(
            f"SELECT {_COLUMNS} FROM passages_fts "  # noqa: S608
            "JOIN passages ON passages.number = passages_fts.rowid "
            "JOIN facts ON facts.id = passages.fact "
            f"WHERE passages_fts MATCH ?1 AND facts.agent = ?2 AND {LIVE_SQL} "
            "AND (?3 IS NULL OR facts.kind IN (SELECT value FROM json_each(?3))) "
            "ORDER BY bm25(passages_fts), passages.number LIMIT ?4",
            (expression, agent, None if kinds is None else self._db.among(kinds), limit),
        )
        return [_passage(row) for row in rows]


def _passage(row: tuple[Any, ...]) -> Passage:
    fact, position, start, stop, text, content_hash = row
    return Passage(
        fact=fact,
        position=position,
        start=start,
        stop=stop,
        text=text,
        content_hash=content_hash,
    )
