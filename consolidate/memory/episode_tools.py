"""The tools about episodes: what happened, and what it came to."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from consolidate.memory import episode_answers as answers
from consolidate.memory.schemas import count, flag, gives, takes, text, texts
from consolidate.memory.tools import Tool

if TYPE_CHECKING:
    from consolidate.memory.memory import Memory

__all__ = ["episode_tools"]

_TIME: Final = "ISO 8601 with an offset."
_SESSION: Final = text("Session or conversation.")


def episode_tools(memory: Memory) -> list[Tool]:
    """Make the tools about episodes of one memory."""
    return [
        Tool(
            name="record_episode",
            description=(
                "Keep what happened as a whole: a task, a meeting, an incident. The very same "
                "again is not kept twice."
            ),
            parameters=takes(
                ["title", "text"],
                title=text("A line."),
                text=text("What happened."),
                outcome=text("How it ended, e.g. success."),
                session=_SESSION,
                started_at=text(_TIME),
                ended_at=text(_TIME),
                facts=texts("Ids of facts that it is about."),
                remember=flag("Also take the text apart into facts and link them."),
                source=text("Who says so.", default="assistant"),
            ),
            run=memory.record_episode,
            returns=gives(answers.EpisodeAnswer),
            idempotent=True,
        ),
        Tool(
            name="episode_list",
            description="Episodes by id, with the whole text; or the latest, by filter.",
            parameters=takes(
                episode_ids=texts("Their ids."),
                session=_SESSION,
                outcome=text("Only with this outcome."),
                fact=text("Only those that this fact is linked to."),
                since=text("A time; only what ended then or later."),
                until=text("A time; only what began then or before."),
                limit=count("At most so many.", 0, 1000, 20),
                offset={"type": "integer", "description": "How many to pass over.", "default": 0},
            ),
            run=memory.episode_list,
            returns=gives(answers.EpisodesAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="episode_search",
            description="Search episodes by words.",
            parameters=takes(
                ["query"],
                query=text("Words."),
                limit=count("At most so many.", 0, 1000, 10),
            ),
            run=memory.episode_search,
            returns=gives(answers.EpisodesFoundAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="session_recap",
            description=(
                "What a session, the last episodes or the time since a day came to: key facts, "
                "what was retired and why, open reviews, plans that are due. Ask it when you "
                "take up earlier work."
            ),
            parameters=takes(
                session=_SESSION,
                last={"type": "integer", "description": "So many last episodes; 5."},
                since=text("Or a time."),
                limit=count("At most so many of each thing.", 1, 1000, 20),
            ),
            run=memory.session_recap,
            returns=gives(answers.RecapAnswer),
            read_only=True,
            idempotent=True,
        ),
    ]
