"""Suite `conversations`: is what answers a question found among the turns of a conversation.

For LoCoMo and LongMemEval files that a user has. Retrieval alone: no language model answers, and
nothing is consolidated, so the numbers stand beside those of other retrievers, not of assistants.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import NewFact
from eval.memories import AGENT
from eval.readers import Conversation, read_conversations
from eval.recall import rankings
from eval.record import files_digest, heading
from eval.tables import share, table

__all__ = ["conversations_lines", "run_conversations"]

CUTS: Final = (1, 5, 10, 20)
_UNKNOWN: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""The moment of asking where a file gives no times."""


def run_conversations(
    settings: Settings,
    path: Path,
    *,
    most: int,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Look for the evidence of every question, by recall, and by words or vectors alone.

    Args:
        settings: The embedder, and how finds are weighed.
        path: A file of LoCoMo or LongMemEval.
        most: At most so many conversations, from the first on.
        say: Told how far it is.
    """
    began = time.perf_counter()
    backends = Backends.load(settings)
    result = heading(
        "conversations",
        settings=settings,
        models={"embedder": backends.identities["embedder"]},
        data={path.name: files_digest([path])},
    )
    talks = read_conversations(path)[:most]
    counts: dict[str, dict[str, Counter[str]]] = {}
    without = 0
    for number, talk in enumerate(talks, start=1):
        say(f"{talk.id} ({number} of {len(talks)})")
        without += _count(talk, backends, settings, counts)
    result |= {
        "conversations": len(talks),
        "turns": sum(len(talk.turns) for talk in talks),
        "without_evidence": without,
        "by_kind": {
            kind: {way: _shares(count) for way, count in ways.items()}
            for kind, ways in sorted(counts.items())
        },
    }
    return result | {"seconds": {"all": time.perf_counter() - began}}


def _count(
    talk: Conversation,
    backends: Backends,
    settings: Settings,
    counts: dict[str, dict[str, Counter[str]]],
) -> int:
    """Count one conversation's questions; returns how many name no evidence."""
    asked = [question for question in talk.questions if question.evidence]
    session = {turn.id: turn.session for turn in talk.turns}
    times = [turn.said_at for turn in talk.turns] + [q.asked_at for q in talk.questions]
    now = max((moment for moment in times if moment), default=_UNKNOWN)
    with Store.open(":memory:") as store:
        facts = [
            NewFact(
                id=turn.id, text=f"{turn.speaker}: {turn.text}", stated_at=turn.said_at,
                kind="memory", agent=AGENT, source="user",
            )
            for turn in talk.turns
        ]  # fmt: skip
        store.add(facts, now=now)
        found = rankings(store, backends, settings, [question.text for question in asked], now=now)
    for question, ranked in zip(asked, found, strict=True):
        wanted = set(question.evidence)
        for kind in ("all", question.kind):
            for way, ids in ranked.items():
                count = counts.setdefault(kind, {}).setdefault(way, Counter())
                count["questions"] += 1
                for cut in CUTS:
                    seen = {*ids[:cut], *(session[each] for each in ids[:cut])}
                    count[f"any@{cut}"] += bool(wanted & seen)
                    count[f"all@{cut}"] += wanted <= seen
    return len(talk.questions) - len(asked)


def _shares(count: Mapping[str, int]) -> dict[str, float | int]:
    whole = count["questions"]
    return {"questions": whole} | {
        name: hits / whole for name, hits in count.items() if name != "questions"
    }


def conversations_lines(result: Mapping[str, Any]) -> list[str]:
    """Shares of questions whose evidence is among the first turns."""
    return [
        f"conversations: {result['conversations']} with {result['turns']} turns, "
        f"{result['models']['embedder']}; {result['without_evidence']} questions name no evidence",
        "",
        *table(
            ("evidence found, %", "questions", *(f"any of it @{cut}" for cut in CUTS),
             *(f"all @{cut}" for cut in CUTS)),
            [
                (
                    f"{kind}, by {way}",
                    entry["questions"],
                    *(share(entry[f"any@{cut}"]) for cut in CUTS),
                    *(share(entry[f"all@{cut}"]) for cut in CUTS),
                )
                for kind, ways in result["by_kind"].items()
                for way, entry in ways.items()
            ],
        ),
    ]  # fmt: skip
