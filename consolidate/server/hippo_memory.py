"""The `hippo_*` tools that remember and recall: facts and episodes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from consolidate.memory.memory import Memory
from consolidate.memory.schemas import count, flag, gives, number, takes, text
from consolidate.memory.tools import Tool
from consolidate.serialise import to_data
from consolidate.server import hippo_answers as shapes
from consolidate.server.hippo_common import (
    QUERY,
    STRAY,
    STRAY_LIST,
    STRAY_NUMBER,
    K,
    fact_row,
    tool,
)

__all__ = ["memory_tools"]


def memory_tools(memory: Memory) -> list[Tool]:
    """Make them for one memory."""
    return [*_facts(memory), *_episodes(memory)]


@dataclass(frozen=True)
class _Recall:
    """The ways to recall, which differ in what they ask for."""

    memory: Memory

    def facts(
        self,
        query: str,
        k: int = 5,
        min_relevance: float = 0.0,
        include_superseded: bool = False,
        **stray: Any,
    ) -> Any:
        found = self._found(query, k, include_history=include_superseded)
        kept = [each for each in found["facts"] if each["relevance"] >= min_relevance]
        return {"facts": kept, "not_used": sorted(stray)}

    def as_of(self, query: str, when: str, k: int = 5) -> Any:
        return self._found(query, k, as_of=when)

    def history(self, query: str, k: int = 5, **stray: Any) -> Any:
        return {**self._found(query, k, include_history=True), "not_used": sorted(stray)}

    def _found(self, query: str, k: int, **how: Any) -> dict[str, Any]:
        found = self.memory.recall_memories(query, limit=k, **how)
        return {
            "facts": [
                {
                    **fact_row(to_data(each.fact)),
                    "relevance": round(each.relevance, 4),
                    "score": round(each.score, 4),
                }
                for each in found
            ]
        }


def _facts(memory: Memory) -> list[Tool]:
    recall = _Recall(memory)

    def remember(proposition: str, topic: str = "", source: str = "user", **stray: Any) -> Any:
        told = memory.remember_facts(
            proposition, source=source, metadata={"topic": topic} if topic else None
        )
        rows = [
            {"fact_id": e.id, "proposition": e.text, "action": e.action, "reason": e.reason}
            for e in told.facts
        ]
        first = rows[0]["fact_id"] if rows else ""
        return {"fact_id": first, "facts": rows, "not_used": sorted(stray)}

    return [
        tool(
            "hippo_remember",
            "Remember a fact; what is known already is strengthened, an older value gives way.",
            takes(
                ["proposition"],
                proposition=text("What was said."),
                topic=text("Kept with it."),
                source=text("Who said it.", default="user"),
                confidence=STRAY_NUMBER,
                status=STRAY,
                verified_by=STRAY_LIST,
                derives_from=STRAY_LIST,
                valid_until=STRAY,
                validate=STRAY,
                gate_mode=STRAY,
                user_id=STRAY,
                run_id=STRAY,
            ),
            remember,
            gives(shapes.HippoRemembered),
        ),
        tool(
            "hippo_facts_recall",
            "Find what holds now, by meaning and by words.",
            takes(
                ["query"],
                query=QUERY,
                k=count("At most so many.", 1, 1000, 5),
                min_relevance=number("0 to 1.", 0.0),
                include_superseded=flag("Also what was replaced."),
                topic=STRAY,
                scopes=STRAY_LIST,
                min_status=STRAY,
            ),
            recall.facts,
            gives(shapes.HippoFacts),
            read_only=True,
        ),
        tool(
            "hippo_recall_as_of",
            "Find what held at a time.",
            takes(["query", "when"], query=QUERY, when=text("A date or time."), k=K),
            recall.as_of,
            gives(shapes.HippoFacts),
            read_only=True,
        ),
        tool(
            "hippo_recall_history",
            "Find what holds and what it replaced.",
            takes(
                ["query"],
                query=QUERY,
                k=K,
                max_hops=STRAY_NUMBER,
                with_disputes={"type": "boolean", "description": "Not used."},
            ),
            recall.history,
            gives(shapes.HippoFacts),
            read_only=True,
        ),
    ]


def _episodes(memory: Memory) -> list[Tool]:
    def search(query: str, k: int = 10) -> Any:
        return memory.episode_search(query, limit=k)

    def recall(query: str, k: int = 10) -> Any:
        hits = memory.recall_conversation(query, limit=k)
        return {**search(query, k), "messages": [to_data(hit) for hit in hits]}

    def record(title: str, text: str, outcome: str = "", session_id: str = "") -> Any:
        kept = memory.record_episode(title, text, outcome=outcome, session=session_id)
        return {"episode_id": kept["episode"]["id"], "new": kept["new"]}

    def listed(limit: int = 20, offset: int = 0, session_id: str | None = None) -> Any:
        found = memory.episode_list(session=session_id, limit=limit, offset=offset)
        rows = [
            {
                **{name: each[name] for name in ("id", "title", "text", "outcome", "facts")},
                "session_id": each["session"],
                "created_at": each.get("started_at", each["recorded_at"]),
            }
            for each in found["episodes"]
        ]
        return {"episodes": rows, "total": found["total"]}

    def recap(session_id: str | None = None, last: int | None = None) -> Any:
        return memory.session_recap(session_id, last=last)

    session = text("The session.")
    return [
        tool(
            "hippo_search", "Search episodes by words.", takes(["query"], query=QUERY, k=K),
            search, gives(shapes.HippoFound), read_only=True,
        ),
        tool(
            "hippo_recall", "Search episodes and messages by words.",
            takes(["query"], query=QUERY, k=K), recall, gives(shapes.HippoFound),
            read_only=True,
        ),
        tool(
            "hippo_record_episode", "Keep what happened as a whole.",
            takes(["title", "text"], title=text("A line."), text=text("What happened."),
                  outcome=text("How it ended."), session_id=session),
            record, gives(shapes.HippoEpisode),
        ),
        tool(
            "hippo_episode_list", "The latest episodes.",
            takes(limit=count("At most so many.", 0, 1000, 20),
                  offset=count("How many to pass over.", 0, 10**9, 0), session_id=session),
            listed, gives(shapes.HippoEpisodes), read_only=True,
        ),
        tool(
            "hippo_session_recap", "What a session or the last episodes came to.",
            takes(session_id=session, last=count("So many last episodes.", 1, 1000, 5)),
            recap, gives(shapes.HippoRecap), read_only=True,
        ),
    ]  # fmt: skip
