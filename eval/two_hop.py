"""Questions over two facts: "who leads the company that Ines works for?".

Made of edit triples: the present value of one relation is the subject of another, and in the
question it is named by the first relation alone. The answer stands in a fact that shares no name
with the question. Right is the fact that holds now, among the first five recalled.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.store import Store
from eval.edits import Chain, Edits
from eval.recall import Onlooker

__all__ = ["DEPTH", "Hops", "answered", "hops_of"]

DEPTH: Final = 5
"""The right fact has to be among so many."""

PHRASES: Final[Mapping[str, str]] = {
    "capital": "the capital of {subject}",
    "chief executive": "the chief executive of {subject}",
    "citizenship": "the country that {subject} is a citizen of",
    "club": "the club that {subject} plays for",
    "coach": "the head coach of {subject}",
    "editor": "the editor of {subject}",
    "employer": "the company that {subject} works for",
    "founded in": "the town where {subject} was founded",
    "headquarters": "the town where {subject} has its headquarters",
    "label": "the label that {subject} is signed to",
    "maintainer": "the maintainer of {subject}",
    "mayor": "the mayor of {subject}",
    "owner": "the owner of {subject}",
    "place of birth": "the town where {subject} was born",
    "place of death": "the town where {subject} died",
    "residence": "the town where {subject} lives",
    "singer": "the lead singer of {subject}",
    "spouse": "the person that {subject} is married to",
    "twin town": "the sister city of {subject}",
    "author": "the author of {subject}",
}
"""Relation to how its value is spoken of without its name."""


@dataclass(frozen=True, kw_only=True)
class Hops:
    """A question over two chains."""

    id: str
    question: str
    through: str
    """Chain whose present value is not named."""
    answer: str
    """Chain whose present value is asked for."""


def hops_of(edits: Edits) -> list[Hops]:
    """All questions that a memory of overwritten facts allows, sorted by id."""
    by_subject: dict[str, list[Chain]] = defaultdict(list)
    for chain in edits.chains.values():
        by_subject[chain.subject].append(chain)
    found = []
    for first in edits.chains.values():
        phrase = PHRASES.get(first.relation)
        if phrase is None or first.id not in edits.newest:
            continue
        for second in by_subject[first.values[-1]]:
            if second.subject in second.question and first.subject not in second.texts[-1]:
                unnamed = phrase.replace("{subject}", first.subject)
                found.append(
                    Hops(
                        id=f"{first.id}-{second.id}",
                        question=second.question.replace(second.subject, unnamed),
                        through=first.id,
                        answer=second.id,
                    )
                )
    return sorted(found, key=lambda hops: hops.id)


def answered(
    edits: Edits,
    hops: Sequence[Hops],
    store: Store,
    backends: Backends,
    settings: Settings,
    *,
    now: datetime,
) -> dict[str, Any]:
    """How many questions have the right fact among the first five, with the graph and without.

    Half of the questions, by id, are for choosing; the other half is for reporting.
    """
    counts: dict[str, dict[str, int]] = {
        half: {"questions": 0, "graph": 0, "no graph": 0} for half in ("dev", "test")
    }
    ways = {
        "graph": Onlooker(store, replace(settings, recall_graph="on"), backends, now),
        "no graph": Onlooker(store, replace(settings, recall_graph="off"), backends, now),
    }
    for each in hops:
        half = counts["dev" if int(each.id[:12], 16) % 2 else "test"]
        half["questions"] += 1
        wanted = edits.newest[each.answer]
        for name, memory in ways.items():
            found = memory.recall_memories(each.question, limit=DEPTH)
            half[name] += any(recalled.fact.id == wanted for recalled in found)
    return {
        half: {
            **count,
            **{
                f"{name.replace(' ', '_')}_share": count[name] / count["questions"]
                if count["questions"]
                else None
                for name in ways
            },
        }
        for half, count in counts.items()
    }
