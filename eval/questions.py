"""Questions to the demo memory: does recall find the fact that answers, and how far up?

Fifty questions, most in other words than the facts. They are few and by one writer, who knew the
facts: good for seeing that a change makes things worse, not for a claim about memories at large.
Weights and formula were looked at on them.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.times import parse_time
from consolidate.types import NewFact
from eval.memories import AGENT
from eval.recall import rankings
from eval.record import SETS, read_jsonl

__all__ = ["QUESTIONS", "ask", "ranks"]

QUESTIONS: Final = SETS / "recall" / "demo.jsonl"
NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)


def ask(settings: Settings, *, path: Path = QUESTIONS) -> dict[str, Any]:
    """Ask the demo memory as it comes in, before any run.

    Returns:
        For recall as it is, for recall by relevance alone, and for words and vectors alone:
        `first` and `first_three`, the shares of questions whose answer stands there, and `mrr`,
        the mean of 1 / rank (0 beyond rank 20).
    """
    questions = list(read_jsonl(path))
    backends = Backends.load(settings)
    found: dict[str, Any] = {"questions": len(questions)}
    with Store.open(":memory:") as store:
        store.add(_facts(), now=NOW)
        # Every fact has its vector before it is asked for
        whole = replace(settings, recall_embeds=10_000)
        plain = replace(whole, strength_weight=0.0, recency_weight=0.0)
        asked = [row["question"] for row in questions]
        for name, chosen in (("recall", whole), ("relevance_alone", plain)):
            rows = rankings(store, backends, chosen, asked, now=NOW)
            found[name] = _scores(ranks(questions, [row["recall"] for row in rows]))
        for name in ("words", "vectors"):
            found[name] = _scores(ranks(questions, [row[name] for row in rows]))
    return found


def _facts() -> list[NewFact]:
    text = files("consolidate").joinpath("data/demo_facts.jsonl").read_text(encoding="utf-8")
    return [
        NewFact(
            id=row["id"],
            agent=AGENT,
            text=row["text"],
            kind=row["kind"],
            stated_at=parse_time(row["stated_at"]),
            source=row["source"],
            intensity=row.get("intensity", 0.5),
        )
        for row in map(json.loads, text.splitlines())
    ]


def ranks(
    questions: Sequence[Mapping[str, Any]], rankings_: Sequence[Sequence[str]]
) -> list[int | None]:
    """The rank of the first fact that answers each question, from 1; None if there is none."""
    return [
        next((at for at, fact in enumerate(found, start=1) if fact in row["answers"]), None)
        for row, found in zip(questions, rankings_, strict=True)
    ]


def _scores(found: Sequence[int | None]) -> dict[str, float]:
    return {
        "first": sum(rank == 1 for rank in found) / len(found),
        "first_three": sum(rank is not None and rank <= 3 for rank in found) / len(found),
        "mrr": sum(1 / rank for rank in found if rank) / len(found),
    }
