"""What a memory answers a question with: its own recall, and words or vectors alone beside it."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from consolidate.backends import Backends
from consolidate.memory.memory import Memory
from consolidate.protocols import embed_queries
from consolidate.settings import Settings
from consolidate.stages.embed import embed
from consolidate.stages.nearest import nearest
from consolidate.stages.work import Tally, silent
from consolidate.store import Store
from eval.memories import AGENT

__all__ = ["DEPTH", "Onlooker", "rankings", "top_facts"]

DEPTH: Final = 20
"""Facts that each ranking holds at most."""


class Onlooker(Memory):
    """A memory at a moment of the past that is asked and keeps no trace of it.

    So what is asked does not strengthen what is found, and the store can be put back.
    """

    def __init__(
        self, store: Store, settings: Settings, backends: Backends, moment: datetime
    ) -> None:
        super().__init__(store, AGENT, settings=settings, backends=backends)
        self._moment_of_asking = moment

    # A static method there; a memory asks itself, so one of an object does as well
    def now(self) -> datetime:  # type: ignore[override]
        """The moment it is asked at."""
        return self._moment_of_asking

    def write_uses(self) -> bool:
        """Leave the uses unwritten."""
        return True


def top_facts(
    store: Store,
    backends: Backends,
    settings: Settings,
    questions: Sequence[str],
    *,
    now: datetime,
) -> list[str | None]:
    """Id of the first fact recalled for each question; None where nothing is."""
    memory = Onlooker(store, settings, backends, now)
    return [
        next((each.fact.id for each in memory.recall_memories(question, limit=1)), None)
        for question in questions
    ]


def rankings(
    store: Store,
    backends: Backends,
    settings: Settings,
    questions: Sequence[str],
    *,
    now: datetime,
) -> list[dict[str, list[str]]]:
    """Ids of the best live facts for each question, best first: `recall`, `words`, `vectors`."""
    facts = store.facts(agent=AGENT)
    if not facts or not questions:
        return [{"recall": [], "words": [], "vectors": []} for _ in questions]
    vectors = embed(store, backends.embedder, facts, tally=Tally("embed"), progress=silent)
    places, _ = nearest(embed_queries(backends.embedder, list(questions)), vectors, DEPTH)
    memory = Onlooker(store, settings, backends, now)
    return [
        {
            "recall": [each.fact.id for each in memory.recall_memories(question, limit=DEPTH)],
            "words": [fact.id for fact in store.search(question, agent=AGENT, limit=DEPTH)],
            "vectors": [facts[place].id for place in row],
        }
        for question, row in zip(questions, places, strict=True)
    ]
