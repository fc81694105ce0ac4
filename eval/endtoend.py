"""Suite `endtoend`: whole runs as a user has them, what goes through each stage and how long.

The demo and the labelled memories in files, once all at a time and once arriving in parts with a
run after each, as in daily use.
"""

from __future__ import annotations

import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import Decision, Plan
from eval.controls import Cosine
from eval.judged import cosine_threshold
from eval.marks import score, totals
from eval.memories import AGENT, DEMO_FILES, Memory, demo, read_memories
from eval.record import files_digest, heading
from eval.streams import STREAMS, stream_files
from eval.ways import Way, controls, filled, play

__all__ = ["run_endtoend"]

PARTS: Final = 4
"""Runs over which a memory arrives."""

KEPT: Final = ("facts", "right", "right_share", "wrong_merge", "false_supersession",
               "missed_update", "missed_merge", "asked", "traps", "traps_sprung")  # fmt: skip


def run_endtoend(
    split: str,
    settings: Settings,
    *,
    folder: Path = STREAMS,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Run the demo and the memories of a split from an empty file to the end state."""
    began = time.perf_counter()
    paths = stream_files(split, folder)
    backends = Backends.load(settings)
    result = heading(
        f"endtoend {split}",
        settings=settings,
        models=backends.identities,
        data={path.name: files_digest([path]) for path in (*paths, *DEMO_FILES)},
    )
    memories = read_memories(paths)
    ways = controls(Cosine(backends.embedder, cosine_threshold(backends.embedder)))
    say("demo")
    result |= {"demo": _measured([demo()], backends, settings, ways)}
    say(f"{len(memories)} streams")
    result |= {"streams": _measured(memories, backends, settings, ways)}
    return result | {"seconds": {"all": time.perf_counter() - began}}


def _measured(
    memories: Sequence[Memory], backends: Backends, settings: Settings, ways: Mapping[str, Way]
) -> dict[str, Any]:
    whole = [_run(memory, backends, settings, 1) for memory in memories]
    parts = [_run(memory, backends, settings, PARTS) for memory in memories]
    return {
        "memories": len(memories),
        "funnel": _funnel([plan for each in whole for plan in each["plans"]]),
        "at_once": _told(whole),
        f"in_{PARTS}_parts": _told(parts),
        "controls": _controls(memories, backends, settings, ways),
    }


def _controls(
    memories: Sequence[Memory], backends: Backends, settings: Settings, ways: Mapping[str, Way]
) -> dict[str, dict[str, Any]]:
    """End states in the ways of the controls; what they cost is not told."""
    scored: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
    live: Counter[str] = Counter()
    for memory in memories:
        with filled(memory) as store:
            for name, played in play(memory, store, backends, settings, ways).items():
                scored[name].append(score(played.facts, memory.key, played.decisions))
                live[name] += sum(fact.status.is_live for fact in played.facts.values())
    summed = {name: totals(each) for name, each in scored.items()}
    return {
        name: {key: each[key] for key in KEPT} | {"live": live[name]}
        for name, each in summed.items()
    }


def _run(memory: Memory, backends: Backends, settings: Settings, parts: int) -> dict[str, Any]:
    """Fill a store in as many parts, with a run after each."""
    plans: list[Plan] = []
    decided: list[Decision] = []
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "memory.db") as store:
        began = time.perf_counter()
        size = -(-len(memory.facts) // parts)
        for start in range(0, len(memory.facts), size):
            store.add(memory.facts[start : start + size], now=memory.now)
            outcome = pipeline.run(store, backends, settings, agent=AGENT, now=memory.now)
            if outcome.plan is not None:
                plans.append(outcome.plan)
                decided += outcome.plan.decisions
        took = time.perf_counter() - began
        again = time.perf_counter()
        outcome = pipeline.run(store, backends, settings, agent=AGENT, now=memory.now)
        again = time.perf_counter() - again
        facts = {fact.id: fact for fact in store.facts(agent=AGENT, statuses=None)}
    return {
        "scored": score(facts, memory.key, decided),
        "live": sum(fact.status.is_live for fact in facts.values()),
        "plans": plans,
        "seconds": took,
        "again_seconds": again,
        "settled": outcome.nothing_new,
        "model_calls": sum(stage.model_calls for plan in plans for stage in plan.stages),
    }


def _told(runs: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    summed = totals([each["scored"] for each in runs])
    seconds = sum(each["seconds"] for each in runs)
    return {name: summed[name] for name in KEPT} | {
        "live": sum(each["live"] for each in runs),
        "seconds": seconds,
        "facts_per_second": summed["facts"] / seconds,
        "again_seconds": sum(each["again_seconds"] for each in runs),
        "not_settled": sum(not each["settled"] for each in runs),
        "model_calls": sum(each["model_calls"] for each in runs),
    }


def _funnel(plans: Sequence[Plan]) -> dict[str, Any]:
    """What went into each stage and came out, what the models were asked, and seconds."""
    stages: dict[str, Counter[str]] = {}
    for plan in plans:
        for stage in plan.stages:
            count = stages.setdefault(stage.stage, Counter())
            count["in"] += stage.items_in
            count["out"] += stage.items_out
            count["asked"] += stage.model_calls
            count["failures"] += stage.failures
    seconds: dict[str, float] = {}
    for plan in plans:
        for stage in plan.stages:
            seconds[stage.stage] = seconds.get(stage.stage, 0.0) + stage.seconds
    kinds = Counter(str(decision.kind) for plan in plans for decision in plan.decisions)
    return {
        "stages": {
            name: {key: count[key] for key in ("in", "out", "asked", "failures")}
            | {"seconds": seconds[name]}
            for name, count in stages.items()
        },
        "decisions": dict(sorted(kinds.items())),
    }
