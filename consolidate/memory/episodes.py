"""Episodes, and what a session or a span of time came to.

An episode is what an agent did or went through, told as a whole: a task, a meeting, an incident.
A recap only picks out what is stored; no model is asked, nothing is put in other words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import islice
from typing import Any, Final

from consolidate.errors import InputError, NotFoundError
from consolidate.judge.kinds import behaviour_of
from consolidate.memory.remember import RememberPart
from consolidate.memory.tools import fact_data
from consolidate.store import Episode
from consolidate.times import format_time, parse_time
from consolidate.types import Fact, FactStatus, ReviewState

__all__ = ["EpisodesPart"]

_Data = dict[str, Any]

EXCERPT: Final = 300
"""Characters of an episode's text in lists."""
LAST: Final = 5
"""Episodes that a recap goes back to if nothing is said."""
AHEAD: Final = timedelta(days=7)
"""How far after its span a recap looks for plans."""
_MOST: Final = 1000


class EpisodesPart(RememberPart):
    """A memory's verbs for episodes."""

    def record_episode(
        self,
        title: str,
        text: str,
        *,
        outcome: str = "",
        session: str = "",
        started_at: datetime | str | None = None,
        ended_at: datetime | str | None = None,
        facts: Sequence[str] = (),
        remember: bool = False,
        source: str = "assistant",
    ) -> _Data:
        """Keep what happened. The very same again is not kept twice.

        Args:
            title: A line.
            text: What happened, as long as need be.
            outcome: How it ended, e.g. `success`.
            session: Session or conversation that it belongs to.
            started_at: When it began.
            ended_at: When it ended.
            facts: Ids of facts that it is about or that came of it.
            remember: Also take the text apart into facts, as `remember_facts` does, and link them.
            source: Who says so, for facts that are remembered.

        Returns:
            `episode`, whether it is `new`, and `remembered`: what became of each fact.

        Raises:
            InputError: A value can't be stored.
            NotFoundError: A fact is not there.
        """
        if isinstance(facts, str):
            raise InputError(f"facts {facts!r} must be a list of ids")
        began, ended = self._moment(started_at), self._moment(ended_at)
        linked = {self.own(each).id for each in facts}
        episode = Episode(
            agent=self.agent,
            title=title,
            text=text,
            outcome=outcome,
            session=session,
            started_at=began,
            ended_at=ended,
            facts=tuple(sorted(linked)),
        )
        # Kept before models run: what happened is not lost if one of them fails
        stored, new = self.store.add_episode(episode, now=self.now())
        remembered: list[_Data] = []
        if remember:
            told = self.remember_facts(text, stated_at=ended or began, source=source)
            remembered = [
                {"id": each.id, "text": each.text, "action": each.action} for each in told.facts
            ]
            more = {each.id for each in told.facts if each.id}
            stored, _ = self.store.add_episode(
                replace(stored, facts=tuple(sorted(linked | more))), now=self.now()
            )
        return {"episode": _data(stored, whole=True), "new": new, "remembered": remembered}

    def episode_list(
        self,
        episode_ids: Sequence[str] | None = None,
        *,
        session: str | None = None,
        outcome: str | None = None,
        fact: str | None = None,
        since: datetime | str | None = None,
        until: datetime | str | None = None,
        limit: int = 20,
        offset: int = 0,
    ) -> _Data:
        """Episodes by id, with their whole text, or by filter, the latest first, with its start.

        Args:
            episode_ids: Their ids; the filters are then not looked at.
            session: Only of this session.
            outcome: Only with this outcome.
            fact: Only those that this fact is linked to.
            since: Only what ended at this time or later.
            until: Only what began at this time or before.
            limit: At most so many, up to 1000.
            offset: How many to pass over.

        Returns:
            `episodes`, `total` (how many there are in all), and `missing`: ids of none.
        """
        if not 0 <= limit <= _MOST or offset < 0:
            raise InputError(f"limit {limit} must be 0 to {_MOST}, offset {offset} not negative")
        if episode_ids is not None:
            found, missing = [], []
            for each in dict.fromkeys(episode_ids):
                try:
                    found.append(self.store.episode(self.agent, each))
                except NotFoundError:
                    missing.append(each)
            shown = [_data(episode, whole=True) for episode in found]
            return {"episodes": shown, "total": len(shown), "missing": missing}
        episodes, total = self.store.episodes(
            self.agent,
            session=session,
            outcome=outcome,
            fact=None if fact is None else self.own(fact).id,
            since=self._moment(since),
            until=self._moment(until),
            limit=limit,
            offset=offset,
        )
        return {"episodes": [_data(each) for each in episodes], "total": total, "missing": []}

    def episode_search(self, query: str, *, limit: int = 10) -> _Data:
        """`episodes` with the words of a query, best first, each with a `snippet`.

        Any text is a safe query; no model is asked.
        """
        if not isinstance(query, str) or not query.strip():
            raise InputError(f"query {query!r} must be some text")
        if not 0 <= limit <= _MOST:
            raise InputError(f"limit {limit} must be 0 to {_MOST}")
        found = self.store.search_episodes(query, agent=self.agent, limit=limit)
        return {"episodes": [{**_data(each.episode), "snippet": each.snippet} for each in found]}

    def delete_episode(self, episode_id: str, *, scrub: bool = True) -> _Data:
        """Delete an episode for good; its facts stay. Its text does not come in again.

        Returns:
            The id, whether the bytes are gone from the file too (`scrubbed`), and why not.

        Raises:
            NotFoundError: There is none.
        """
        gone = self.store.delete_episode(self.agent, episode_id, now=self.now())
        note = self.store.scrub() if scrub else ""
        return {
            "deleted": gone.id,
            "scrubbed": not self.store.scrub_due,
            "notes": [note] if note else [],
        }

    def session_recap(
        self,
        session: str | None = None,
        *,
        last: int | None = None,
        since: datetime | str | None = None,
        limit: int = 20,
    ) -> _Data:
        """What a session, the last episodes or the time since a day came to.

        Args:
            session: A session, from its first episode or message to its last.
            last: Or the time from the beginning of so many last episodes until now; 5 if nothing
                is said. A memory without episodes gives the last seven days.
            since: Or the time from then until now.
            limit: At most so many of each thing.

        Returns:
            `since` and `until`; `episodes`; `facts` that were stated or recorded then, or came of
            those episodes, and hold now, what matters most first; `retired` ones that runs
            replaced or merged then, with the reason; `decisions` of these runs; open `reviews`;
            `plans` that are due within a week of it or have no date.

        Raises:
            NotFoundError: There is no such session.
            InputError: More than one of session, last and since is given, or a value is wrong.
        """
        if sum(each is not None for each in (session, last, since)) > 1:
            raise InputError("session_recap: give one of session, last, since")
        if not 1 <= limit <= _MOST or (last is not None and not 1 <= last <= _MOST):
            raise InputError(f"limit {limit!r} and last {last!r} must be from 1 to {_MOST}")
        begin, end = self._span(session, last, self._moment(since))
        episodes, _ = self.store.episodes(
            self.agent,
            session=session,
            since=None if session is not None else begin,
            until=None if session is not None else end,
            limit=limit,
        )
        runs = self.store.runs(self.agent, since=begin, until=end)
        applied = (run.id for run in runs if run.state == "applied")
        every = (each for run in applied for each in self._decided(run))
        decided = [*islice(every, _MOST)]
        return {
            "since": format_time(begin),
            "until": format_time(end),
            "episodes": [_data(each) for each in episodes],
            "facts": [
                {**fact_data(fact), "pinned": pinned}
                for fact, pinned in self._of_note(episodes, begin, end)[:limit]
            ],
            "retired": self._retired(decided)[:limit],
            "decisions": decided[:limit],
            "reviews": [
                {"id": review.id, "sentence": review.decision.sentence}
                for review in self.store.reviews(agent=self.agent, state=ReviewState.OPEN)
            ][:limit],
            "plans": [*self._due(end)][:limit],
        }

    # Steps of `session_recap`

    def _span(
        self, session: str | None, last: int | None, since: datetime | None
    ) -> tuple[datetime, datetime]:
        now = self.now()
        if session is not None:
            span = self.store.session_span(self.agent, session)
            if span is None:
                raise NotFoundError(f"no episode or message of session {session!r}")
            return span
        if since is not None:
            return since, max(since, now)
        episodes, _ = self.store.episodes(self.agent, limit=last or LAST)
        starts = [each.started_at or each.recorded_at or now for each in episodes]
        return min(starts, default=now - AHEAD), now

    def _of_note(
        self, episodes: Sequence[Episode], begin: datetime, end: datetime
    ) -> list[tuple[Fact, bool]]:
        """Facts of a span that hold, what matters most first, and whether each is pinned."""
        named = {fact for episode in episodes for fact in episode.facts}
        facts = {f.id: f for f in self.store.facts_of_period(self.agent, begin, end)}
        standing = self._standing(named)
        facts |= {fact.id: fact for fact in standing}
        named |= {fact.id for fact in standing}
        pinned = set(self.store.pinned(self.agent))

        def rank(fact: Fact) -> tuple[bool, bool, float, int, str]:
            told = fact.id in named
            return (fact.id not in pinned, not told, -fact.intensity, -fact.encounters, fact.id)

        # What is kept whole is no key fact, but may be one that an episode names
        short = [f for f in facts.values() if behaviour_of(f.kind).compared or f.id in named]
        return [(fact, fact.id in pinned) for fact in sorted(short, key=rank)]

    def _standing(self, ids: Collection[str]) -> list[Fact]:
        """What of some facts holds now, or what absorbed them."""
        found: dict[str, Fact] = {}
        wanted, seen = set(ids), set(ids)
        while wanted:
            facts = self.store.facts(agent=self.agent, ids=wanted, statuses=None)
            found |= {fact.id: fact for fact in facts if fact.status.is_live}
            wanted = {fact.merged_into for fact in facts if fact.merged_into} - seen
            seen |= wanted
        return list(found.values())

    def _decided(self, run: str) -> Iterator[_Data]:
        plan = self.store.plan(run)
        declared = plan.settings.get("entity")
        if isinstance(declared, dict):
            yield {
                "run": run,
                "kind": f"entity-{declared['act']}",
                "fact": "",
                "other": "",
                "sentence": str(declared["sentence"]),
            }
        for each in plan.decisions:
            yield {
                "run": run,
                "kind": each.kind.value,
                "fact": each.subject,
                "other": each.object,
                "sentence": each.sentence,
            }

    def _retired(self, decided: Sequence[_Data]) -> list[_Data]:
        """Facts that these decisions are about and that no longer hold, with the reason."""
        why = {each["fact"]: each["sentence"] for each in decided if each["fact"]}
        facts = self.store.facts(
            agent=self.agent,
            ids=[*why],
            statuses=[FactStatus.SUPERSEDED, FactStatus.MERGED],
        )
        return [{**fact_data(fact), "why": why[fact.id]} for fact in facts]

    def _due(self, end: datetime) -> Iterator[_Data]:
        plans = [f for f in self.store.facts(agent=self.agent) if behaviour_of(f.kind).planned]
        dated = [(f.valid_to or f.valid_from, f) for f in plans]
        for due, fact in sorted(
            dated, key=lambda each: (each[0] is None, each[0] or end, each[1].id)
        ):
            if due is None or due <= end + AHEAD:
                yield {**fact_data(fact), "due": None if due is None else format_time(due)}

    def _moment(self, given: datetime | str | None) -> datetime | None:
        return None if given is None else parse_time(given, zone=self.settings.timezone)


def _data(episode: Episode, *, whole: bool = False) -> _Data:
    text = episode.text
    cut = text if whole or len(text) <= EXCERPT else text[: EXCERPT - 1].rstrip() + "…"
    times = {
        name: format_time(moment)
        for name in ("started_at", "ended_at", "recorded_at")
        if (moment := getattr(episode, name)) is not None
    }
    return {
        "id": episode.id,
        "title": episode.title,
        "text": cut,
        "characters": len(text),
        "outcome": episode.outcome,
        "session": episode.session,
        **times,
        "facts": list(episode.facts),
    }
