"""What recall reads of facts, and the little it writes: use and pins.

Uses are kept beside the facts, not in them: being looked up must neither make a plan stale nor
look like a change of what is known.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from datetime import datetime
from typing import Any, Final

from consolidate.store.base import Part
from consolidate.store.records import RecallRow
from consolidate.store.rows import FACT_SQL, fact_from_row
from consolidate.store.search import match_words
from consolidate.times import format_time
from consolidate.types import Fact

__all__ = ["RecallPart"]

_EPOCH_DAY: Final = 2440587.5
"""The Julian day of 1970-01-01."""


def _seconds(column: str) -> str:
    """SQL for seconds since 1970, to the millisecond; SQLite reads times faster than Python."""
    return f"round((julianday({column}) - {_EPOCH_DAY}) * 86400.0, 3)"


_ROW_SQL = (
    "SELECT facts.number, facts.id, facts.kind, facts.status, facts.content_hash, "
    f"{_seconds('facts.stated_at')}, {_seconds('facts.confirmed_at')}, "
    f"{_seconds('facts.valid_from')}, {_seconds('facts.valid_to')}, "
    f"{_seconds('facts.recorded_at')}, {_seconds('runs.started_at')}, "
    "facts.intensity, facts.access_count, coalesce(uses.count, 0), "
    f"{_seconds('facts.last_access')}, {_seconds('uses.last')}, pins.fact IS NOT NULL, "
    "coalesce(facts.merged_into, facts.superseded_by) "
)
_ROW_JOINS = (
    "LEFT JOIN runs ON runs.id = facts.changed_by "
    "LEFT JOIN uses ON uses.fact = facts.id LEFT JOIN pins ON pins.fact = facts.id "
)


class RecallPart(Part):
    """The store's methods for recall."""

    def recall_rows(
        self, agent: str, *, after: int | None = None
    ) -> tuple[int, list[RecallRow], list[int]]:
        """Read what changed of an agent's facts after a revision; everything if there is none.

        Returns:
            The revision that was read, rows, and numbers that are no fact of the agent (any
            more).
        """
        newest = "SELECT coalesce(max(revision), 0) FROM fact_revisions"
        if after is not None and self._db.value(newest) == after:
            return after, [], []
        with self._db.reading():
            revision = int(self._db.value(newest))
            if after is None:
                rows = self._db.query(
                    f"{_ROW_SQL} FROM facts {_ROW_JOINS} WHERE facts.agent = ?", (agent,)
                )
                return revision, [RecallRow(*row) for row in rows], []
            changed = self._db.query(
                f"{_ROW_SQL}, fact_revisions.number FROM fact_revisions "
                "LEFT JOIN facts ON facts.number = fact_revisions.number AND facts.agent = ? "
                f"{_ROW_JOINS} WHERE fact_revisions.revision > ?",
                (agent, after),
            )
        there = [RecallRow(*row[:-1]) for row in changed if row[0] is not None]
        return revision, there, [row[-1] for row in changed if row[0] is None]

    def word_counts(self, words: Collection[str]) -> dict[str, int]:
        """In how many facts, of all agents, each word stands; words are as the index has them."""
        # A view of the index that lives in memory: also a store that is only read can have it.
        self._db.query(
            "CREATE VIRTUAL TABLE IF NOT EXISTS temp.facts_words "
            "USING fts5vocab ('main', 'facts_fts', 'row')"
        )
        sql = "SELECT doc FROM temp.facts_words WHERE term = ?"
        return {word: int(self._db.value(sql, (word,)) or 0) for word in words}

    def match_facts(self, words: Collection[str], *, since: int = 0) -> list[int]:
        """Numbers of facts that hold any of some words, best first (BM25).

        Facts of every agent and status are found: who asks knows which numbers are his, and to
        look each one up would cost more than to find it.

        Args:
            words: At least one.
            since: Only facts with a higher number.
        """
        rows = self._db.query(
            "SELECT rowid FROM facts_fts WHERE facts_fts MATCH ? AND rowid > ? "
            "ORDER BY bm25(facts_fts), rowid DESC",
            (match_words(words), since),
        )
        return [row[0] for row in rows]

    def match_passages(
        self, words: Collection[str], *, agent: str, limit: int
    ) -> list[tuple[int, int]]:
        """Number of the fact and position of passages that hold any of some words, best first."""
        rows = self._db.query(
            "SELECT facts.number, passages.position FROM passages_fts "
            "JOIN passages ON passages.number = passages_fts.rowid "
            "JOIN facts ON facts.id = passages.fact "
            "WHERE passages_fts MATCH ? AND facts.agent = ? "
            "ORDER BY bm25(passages_fts), passages.number LIMIT ?",
            (match_words(words), agent, limit),
        )
        return [(row[0], row[1]) for row in rows]

    def passage_hashes(
        self, agent: str, numbers: Collection[int] | None = None
    ) -> dict[int, list[str]]:
        """Content hashes of the passages of long facts, in order, by number of the fact.

        Args:
            agent: Whose facts.
            numbers: Only of these facts; None is all.
        """
        among = "" if numbers is None else "AND facts.number IN (SELECT value FROM json_each(?)) "
        values = () if numbers is None else (self._db.among(list(numbers)),)
        rows = self._db.query(
            "SELECT facts.number, passages.content_hash FROM passages "  # noqa: S608
            f"JOIN facts ON facts.id = passages.fact WHERE facts.agent = ? {among}"
            "ORDER BY facts.number, passages.position",
            (agent, *values),
        )
        hashes: dict[int, list[str]] = defaultdict(list)
        for number, content_hash in rows:
            hashes[number].append(content_hash)
        return dict(hashes)

    def passage_texts(self, places: Collection[tuple[int, int]]) -> dict[tuple[int, int], str]:
        """Texts of passages by number of the fact and position."""
        wanted = set(places)
        rows = self._db.query(
            "SELECT facts.number, passages.position, passages.text FROM json_each(?) AS place "
            "JOIN facts ON facts.number = json_extract(place.value, '$[0]') "
            "JOIN passages ON passages.fact = facts.id "
            "AND passages.position = json_extract(place.value, '$[1]')",
            (json.dumps(sorted(wanted)),),
        )
        return {(row[0], row[1]): row[2] for row in rows}

    def texts_with(self, hashes: Collection[str]) -> dict[str, str]:
        """Texts of facts and passages by content hash."""
        among = self._db.among(list(hashes))
        rows = self._db.query(
            "SELECT content_hash, text FROM facts "
            "WHERE content_hash IN (SELECT value FROM json_each(?1)) UNION "
            "SELECT content_hash, text FROM passages "
            "WHERE content_hash IN (SELECT value FROM json_each(?1))",
            (among,),
        )
        return dict(rows)

    def newest_number(self) -> int:
        """The number of the fact that was added last, whosever it is; 0 if there is none."""
        return int(self._db.value("SELECT coalesce(max(number), 0) FROM facts"))

    def match_pieces(self, pieces: Collection[str], *, agent: str, limit: int) -> list[int]:
        """Numbers of an agent's facts that hold one of some pieces literally, newest first.

        For what the index has no words for: emoji, parts of words, scripts without spaces.
        """
        if not pieces:
            return []
        rows = self._db.query(
            "SELECT number FROM facts WHERE agent = ? AND EXISTS ("
            "SELECT 1 FROM json_each(?) AS piece WHERE instr(facts.text, piece.value)) "
            "ORDER BY number DESC LIMIT ?",
            (agent, self._db.among(list(pieces)), limit),
        )
        return [row[0] for row in rows]

    def texts_of(self, numbers: Collection[int], *, longest: int) -> dict[int, str]:
        """The texts of facts by number, each cut to so many characters."""
        return dict(
            self._db.query(
                "SELECT number, substr(text, 1, ?) FROM facts "
                "WHERE number IN (SELECT value FROM json_each(?))",
                (longest, self._db.among(list(numbers))),
            )
        )

    def facts_by_number(self, numbers: Sequence[int]) -> dict[int, Fact]:
        """Facts of any status by number; those that are gone are left out."""
        rows = self._db.query(
            f"SELECT facts.number, {FACT_SQL} FROM facts "  # noqa: S608
            "WHERE number IN (SELECT value FROM json_each(?))",
            (self._db.among(list(numbers)),),
        )
        return {row[0]: fact_from_row(row[1:]) for row in rows}

    def names_in(self, ids: Collection[str]) -> dict[str, tuple[str, ...]]:
        """Names of the entities that facts mention, sorted, by id of the fact."""
        rows = self._db.query(
            "SELECT fact, entities.name FROM entity_facts "
            "JOIN entities ON entities.id = entity "
            "WHERE fact IN (SELECT value FROM json_each(?)) ORDER BY fact, entities.name",
            (self._db.among(list(ids)),),
        )
        names: dict[str, list[str]] = defaultdict(list)
        for fact, name in rows:
            names[fact].append(name)
        return {fact: tuple(found) for fact, found in names.items()}

    def add_uses(self, uses: Mapping[str, tuple[int, datetime]], *, wait: bool = True) -> None:
        """Count that facts were recalled; facts that are gone meanwhile are left out.

        Args:
            uses: Fact id to how often, and when last.
            wait: False fails at once where another process is writing.
        """
        if not uses:
            return
        with self._db.uncounted(), self._db.atomic(wait=wait):
            self._db.write_many(
                "INSERT INTO uses (fact, count, last) SELECT id, ?2, ?3 FROM facts WHERE id = ?1 "
                "ON CONFLICT (fact) DO UPDATE SET count = count + excluded.count, "
                "last = max(last, excluded.last)",
                [(fact, count, format_time(last)) for fact, (count, last) in uses.items()],
            )

    def pin(self, fact_id: str, *, now: datetime) -> bool:
        """Keep a fact (whole id or the beginning of one) from decaying; False if it is pinned.

        Raises:
            NotFoundError: No fact has this id.
        """
        with self._db.atomic():
            full = self._resolve("facts", "fact", fact_id)
            sql = "INSERT INTO pins (fact, at) VALUES (?, ?) ON CONFLICT DO NOTHING"
            return self._db.write(sql, (full, format_time(now))) > 0

    def unpin(self, fact_id: str) -> bool:
        """Let a pinned fact decay again; False if it is not pinned.

        Raises:
            NotFoundError: No fact has this id.
        """
        with self._db.atomic():
            full = self._resolve("facts", "fact", fact_id)
            return self._db.write("DELETE FROM pins WHERE fact = ?", (full,)) > 0

    def pinned(self, agent: str | None = None) -> list[str]:
        """Ids of pinned facts, sorted."""
        rows: list[tuple[Any, ...]] = self._db.query(
            "SELECT fact FROM pins JOIN facts ON facts.id = fact "
            "WHERE ?1 IS NULL OR facts.agent = ?1 ORDER BY fact",
            (agent,),
        )
        return [row[0] for row in rows]
