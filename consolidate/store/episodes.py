"""Episodes: what an agent did or went through, told as a whole, with the facts that came of it.

An episode is a record of its time: it is never merged, superseded or rewritten, only deleted.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Final

from consolidate.errors import InputError, NotFoundError
from consolidate.store.ids import make_ids
from consolidate.store.records import Episode, FoundEpisode
from consolidate.store.rows import FACT_SQL, LIVE_SQL, fact_from_row
from consolidate.store.scrubbing import ScrubPart
from consolidate.store.search import literal_pieces, match_expression
from consolidate.store.tombstones import TombstonePart, grave_keys
from consolidate.store.validation import check_episode, check_name
from consolidate.times import format_time, read_time
from consolidate.types import Fact

__all__ = ["EPISODE_COLUMNS", "EpisodePart", "episode_to_row"]

EPISODE_COLUMNS: Final = (
    "id",
    "agent",
    "title",
    "text",
    "outcome",
    "session",
    "started_at",
    "ended_at",
    "recorded_at",
)
_SQL: Final = ", ".join(f"episodes.{name}" for name in EPISODE_COLUMNS)
_FACTS: Final = (
    "(SELECT json_group_array(fact) FROM (SELECT fact FROM episode_facts "
    "WHERE episode = episodes.id ORDER BY fact))"
)
_WHEN: Final = "coalesce(episodes.started_at, episodes.recorded_at)"
_SNIPPET: Final = 24
"""Words of a snippet."""
_SCANNED: Final = 16
"""Pieces of a query that are looked for literally."""


class EpisodePart(ScrubPart, TombstonePart):
    """The store's methods for episodes."""

    def add_episode(self, episode: Episode, *, now: datetime) -> tuple[Episode, bool]:
        """Store an episode; the very same again is not stored twice, but gets what links are new.

        Args:
            episode: With an empty id for a new one.
            now: The present moment, when it is recorded.

        Returns:
            It as it is stored, and whether it is new.

        Raises:
            InputError: A value can't be stored.
            NotFoundError: A fact is not there or is another agent's.
        """
        check_episode(episode)
        with self._db.atomic():
            for fact in episode.facts:
                owner = self._db.value("SELECT agent FROM facts WHERE id = ?", (fact,))
                if owner != episode.agent:
                    raise NotFoundError(f"no fact {fact!r} in the memory of {episode.agent!r}")
            if self.kept_out(episode.agent, {episode.text}):
                raise InputError(
                    f"an episode with this text was deleted for good: {episode.title!r}; "
                    "`consolidate forget --allow TEXT` lets it come again"
                )
            row = episode_to_row(episode, recorded_at=format_time(now))
            known = self._db.value(
                "SELECT id FROM episodes WHERE agent = ? AND title = ? AND text = ? "
                "AND outcome = ? AND session = ? AND started_at IS ? AND ended_at IS ?",
                row[1:8],
            )
            number = known or episode.id or make_ids(now, 1)[0]
            if known is None:
                if self._db.one("SELECT 1 FROM episodes WHERE id = ?", (number,)):
                    raise InputError(f"the id {number!r} is taken by another episode")
                self._db.write(
                    f"INSERT INTO episodes ({', '.join(EPISODE_COLUMNS)}) "  # noqa: S608
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
                    (number, *row[1:]),
                )
            self._db.write_many(
                "INSERT OR IGNORE INTO episode_facts (episode, fact) VALUES (?, ?)",
                [(number, fact) for fact in episode.facts],
            )
            return self.episode(episode.agent, str(number)), known is None

    def episode(self, agent: str, episode_id: str) -> Episode:
        """Return an episode of an agent, by id or a unique beginning of it.

        Raises:
            NotFoundError: There is none; another agent's is not shown.
        """
        with self._db.reading():
            full = self._resolve("episodes", "episode", episode_id)
            row = self._db.one(
                f"SELECT {_SQL}, {_FACTS} FROM episodes WHERE id = ? AND agent = ?",  # noqa: S608
                (full, agent),
            )
        if row is None:
            raise NotFoundError(f"no episode {episode_id!r} in the memory of {agent!r}")
        return _episode(row)

    def episodes(
        self,
        agent: str,
        *,
        session: str | None = None,
        outcome: str | None = None,
        fact: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> tuple[list[Episode], int]:
        """Episodes of an agent, the latest begun first, and how many there are in all.

        Args:
            agent: Whose.
            session: Only of this session.
            outcome: Only with this outcome, whatever its case.
            fact: Only those that this fact (a whole id) is linked to.
            since: Only those that ended, or else began, at this time or later.
            until: Only those that began at this time or before.
            limit: At most so many.
            offset: How many to pass over.
        """
        if limit < 0 or offset < 0:
            raise InputError(f"limit {limit!r} and offset {offset!r} must not be negative")
        # A time that nobody gave is when it was recorded
        where = (
            "FROM episodes WHERE agent = ?1 AND (?2 IS NULL OR session = ?2) "  # noqa: S608
            "AND (?3 IS NULL OR lower(outcome) = lower(?3)) "
            "AND (?4 IS NULL OR EXISTS (SELECT 1 FROM episode_facts "
            "WHERE episode = episodes.id AND fact = ?4)) "
            f"AND (?5 IS NULL OR coalesce(ended_at, {_WHEN}) >= ?5) "
            f"AND (?6 IS NULL OR {_WHEN} <= ?6)"
        )
        values = (agent, session, outcome, fact, _time(since), _time(until))
        with self._db.reading():
            rows = self._db.query(
                f"SELECT {_SQL}, {_FACTS} {where} "
                f"ORDER BY {_WHEN} DESC, number DESC LIMIT ?7 OFFSET ?8",
                (*values, limit, offset),
            )
            total = self._db.value(f"SELECT count(*) {where}", values)
        return [_episode(row) for row in rows], int(total)

    def agents_with_episodes(self) -> list[str]:
        """Agents that have episodes, sorted."""
        rows = self._db.query("SELECT DISTINCT agent FROM episodes ORDER BY 1")
        return [row[0] for row in rows]

    def search_episodes(self, query: str, *, agent: str, limit: int = 10) -> list[FoundEpisode]:
        """Episodes with the words of a query in title or text, best first; any text is safe.

        Where no word is found, those that hold a piece of the query literally.
        """
        if limit < 0:
            raise InputError(f"limit {limit!r} must not be negative")
        expression = match_expression(query)
        rows: list[Any] = []
        if expression is not None:
            rows = self._db.query(
                f"SELECT {_SQL}, {_FACTS}, "  # noqa: S608
                f"snippet(episodes_fts, -1, '', '', '…', {_SNIPPET}) FROM episodes_fts "
                "JOIN episodes ON episodes.number = episodes_fts.rowid "
                "WHERE episodes_fts MATCH ?1 AND episodes.agent = ?2 "
                # A title says what it is about: a word in it counts twice
                "ORDER BY bm25(episodes_fts, 2.0, 1.0), episodes.number DESC LIMIT ?3",
                (expression, agent, limit),
            )
        pieces = literal_pieces(query)[:_SCANNED]
        if not rows and pieces:
            rows = self._db.query(
                f"SELECT {_SQL}, {_FACTS}, substr(text, 1, 160) FROM episodes "  # noqa: S608
                "WHERE agent = ?1 AND EXISTS (SELECT 1 FROM json_each(?2) AS piece "
                "WHERE instr(lower(title || ' ' || text), lower(piece.value))) "
                "ORDER BY number DESC LIMIT ?3",
                (agent, self._db.among(pieces), limit),
            )
        return [FoundEpisode(episode=_episode(row), snippet=row[-1]) for row in rows]

    def delete_episode(self, agent: str, episode_id: str, *, now: datetime) -> Episode:
        """Delete an episode for good; its facts stay. The bytes stay until `scrub`.

        A hash of the text stays, so that it does not come in again.

        Raises:
            NotFoundError: There is none of this agent.
        """
        with self._db.atomic():
            found = self.episode(agent, episode_id)
            self._drop_episodes(agent, [found.id], now=now)
            self._db.write("INSERT INTO episodes_fts (episodes_fts) VALUES ('optimize')")
            self._ask_for_scrub()
        return found

    def _drop_episodes(self, agent: str, ids: Collection[str], *, now: datetime) -> None:
        within = "id IN (SELECT value FROM json_each(?))"
        among = (self._db.among(list(ids)),)
        texts = self._db.query(f"SELECT text FROM episodes WHERE {within}", among)  # noqa: S608
        self.bury(agent, {key for (text,) in texts for key in grave_keys(text)}, now=now)
        self._db.write(f"DELETE FROM episodes WHERE {within}", among)  # noqa: S608

    def episodes_with(
        self, agent: str, facts: Collection[str], texts: Collection[str]
    ) -> list[str]:
        """Ids of episodes that a fact is linked to or one of these texts stands in, sorted."""
        rows = self._db.query(
            "SELECT id FROM episodes WHERE agent = ?1 AND (id IN (SELECT episode "
            "FROM episode_facts WHERE fact IN (SELECT value FROM json_each(?2))) "
            "OR EXISTS (SELECT 1 FROM json_each(?3) AS piece WHERE "
            "instr(episodes.title, piece.value) OR instr(episodes.text, piece.value))) ORDER BY id",
            (agent, self._db.among(list(facts)), self._db.among(list(texts))),
        )
        return [row[0] for row in rows]

    def episodes_of_fact(self, agent: str, fact: str) -> list[str]:
        """Ids of an agent's episodes that a fact (a whole id) is linked to, sorted."""
        rows = self._db.query(
            "SELECT id FROM episode_facts JOIN episodes ON episodes.id = episode "
            "WHERE agent = ? AND fact = ? ORDER BY id",
            (agent, fact),
        )
        return [row[0] for row in rows]

    def session_span(self, agent: str, session: str) -> tuple[datetime, datetime] | None:
        """From when to when a session went, by its episodes and messages; None if unknown."""
        check_name("session", session)
        first, last = self._db.query(
            "SELECT min(start), max(stop) FROM ("  # noqa: S608
            f"SELECT {_WHEN} AS start, coalesce(ended_at, recorded_at) AS stop "
            "FROM episodes WHERE agent = ?1 AND session = ?2 "
            "UNION ALL SELECT at, at FROM messages WHERE agent = ?1 AND conversation = ?2)",
            (agent, session),
        )[0]
        return None if first is None else (read_time(first), read_time(last))

    def facts_of_period(
        self, agent: str, since: datetime, until: datetime, *, live: bool = True
    ) -> list[Fact]:
        """Facts that were stated or recorded from `since` to `until`, by id.

        Args:
            agent: Whose.
            since: The first moment.
            until: The last moment.
            live: Only those that hold now.
        """
        held = LIVE_SQL if live else "1"
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts WHERE agent = ?1 AND {held} "  # noqa: S608
            "AND (recorded_at BETWEEN ?2 AND ?3 OR stated_at BETWEEN ?2 AND ?3) ORDER BY id",
            (agent, format_time(since), format_time(until)),
        )
        return [fact_from_row(row) for row in rows]


def episode_to_row(episode: Episode, *, recorded_at: str) -> tuple[Any, ...]:
    """Write an episode in the order of `EPISODE_COLUMNS`."""
    return (
        episode.id,
        episode.agent,
        episode.title,
        episode.text,
        episode.outcome,
        episode.session,
        _time(episode.started_at),
        _time(episode.ended_at),
        recorded_at,
    )


def _episode(row: Sequence[Any]) -> Episode:
    id_, agent, title, text, outcome, session, started, ended, recorded, facts = row[:10]
    return Episode(
        id=id_,
        agent=agent,
        title=title,
        text=text,
        outcome=outcome,
        session=session,
        started_at=None if started is None else read_time(started),
        ended_at=None if ended is None else read_time(ended),
        recorded_at=read_time(recorded),
        facts=tuple(json.loads(facts)),
    )


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)
