"""What a store answers a question with: its best live facts, by words, by vectors, by both."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from consolidate.backends import Backends
from consolidate.judge.recency import moment
from consolidate.stages.embed import embed
from consolidate.stages.pairs import nearest
from consolidate.stages.work import Tally, silent
from consolidate.store import Store
from eval.memories import AGENT

__all__ = ["DEPTH", "rankings", "top_facts"]

DEPTH = 20
"""Facts that each ranking holds at most."""

_DAMPING = 60
"""Of reciprocal rank fusion, as Cormack, Clarke and Büttcher (2009) chose it."""


def rankings(
    store: Store, backends: Backends, questions: Sequence[str]
) -> list[dict[str, list[str]]]:
    """Ids of the best live facts for each question, best first: `words`, `vectors`, `both`.

    `both` fuses the ranks of the two; of equals the one said last comes first.
    """
    facts = store.facts(agent=AGENT)
    if not facts:
        return [{"words": [], "vectors": [], "both": []} for _ in questions]
    said = {fact.id: moment(fact) for fact in facts}
    vectors = embed(store, backends.embedder, facts, tally=Tally("embed"), progress=silent)
    places, _ = nearest(backends.embedder.embed(list(questions)), vectors, DEPTH)
    found = []
    for question, row in zip(questions, places, strict=True):
        by_words = [fact.id for fact in store.search(question, agent=AGENT, limit=DEPTH)]
        by_vectors = [facts[place].id for place in row]
        points: dict[str, float] = defaultdict(float)
        for ranked in (by_words, by_vectors):
            for rank, fact_id in enumerate(ranked, start=1):
                points[fact_id] += 1 / (_DAMPING + rank)
        both = sorted(points, key=lambda each: (points[each], said[each], each), reverse=True)
        found.append({"words": by_words, "vectors": by_vectors, "both": both[:DEPTH]})
    return found


def top_facts(store: Store, backends: Backends, questions: Sequence[str]) -> list[str | None]:
    """The best live fact for each question by words and vectors; None of an empty store."""
    return [next(iter(ranked["both"]), None) for ranked in rankings(store, backends, questions)]
