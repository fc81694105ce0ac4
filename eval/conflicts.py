"""Suite `conflicts`: thousands of statements, of which a later one overwrites an earlier one.

What is scored is the store after a run (are outdated facts superseded, are current ones kept) and
what it then answers (does the top recalled fact hold the new value). No language model answers.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import Decision, DecisionKind, Fact, FactStatus, Plan
from eval.controls import Cosine
from eval.edits import SAMPLE, Chain, Edits, edits_of, read_chains
from eval.judged import cosine_threshold
from eval.memories import Key, Memory
from eval.recall import top_facts
from eval.record import files_digest, heading
from eval.two_hop import answered, hops_of
from eval.ways import Way, controls, filled, play, stage_seconds

__all__ = ["run_conflicts", "score_edits"]

JUDGE = "judge"


def run_conflicts(
    settings: Settings,
    *,
    path: Path = SAMPLE,
    facts: int = 1000,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Overwrite facts, consolidate, and look at the store and its answers."""
    began = time.perf_counter()
    edits = edits_of(read_chains(path), facts=facts)
    if not edits.facts:
        raise ValueError(
            f"{str(path)!r} holds no triples, or fewer facts than one chain were asked"
        )
    backends = Backends.load(settings)
    ways = {JUDGE: Way()} | controls(Cosine(backends.embedder, cosine_threshold(backends.embedder)))
    result = heading(
        "conflicts",
        settings=settings,
        models=backends.identities,
        data={path.name: files_digest([path])},
    )
    memory = _memory(edits)
    scored: dict[str, dict[str, Any]] = {}
    plans: list[Plan] = []
    seconds = {"prepare": time.perf_counter() - began}
    with filled(memory) as store:
        for name, way in ways.items():
            say(f"conflicts: {name}")
            played = play(memory, store, backends, settings, {name: way})[name]
            at = time.perf_counter()
            answers = _answers(memory, edits, store, backends, settings, played.plan)
            if name == JUDGE and played.plan:
                seconds["questions"] = time.perf_counter() - at
                plans.append(played.plan)
                say("conflicts: questions over two facts")
                at = time.perf_counter()
                result["two_hop"] = _over_two(memory, edits, store, backends, settings, played.plan)
                seconds["two hops"] = time.perf_counter() - at
            scored[name] = score_edits(edits, played.facts, answers, played.decisions)
    result |= {
        "facts": len(edits.facts),
        "chains": len(edits.chains),
        "questions": len(edits.newest),
        "samples": scored[JUDGE].pop("samples"),
        "pairs": next(s.items_out for s in plans[0].stages if s.stage == "pairs"),
    }
    for name in ways:
        scored[name].pop("samples", None)
    result |= {JUDGE: scored.pop(JUDGE), "controls": scored}
    seconds |= stage_seconds(plans)
    return result | {"seconds": seconds | {"all": time.perf_counter() - began}}


def _memory(edits: Edits) -> Memory:
    last = max(fact.stated_at for fact in edits.facts if fact.stated_at is not None)
    return Memory(
        id="conflicts", about="Overwritten facts", lang="en", now=last, tags=(),
        facts=edits.facts, key=Key({}, {}, ()),
    )  # fmt: skip


def _answers(
    memory: Memory,
    edits: Edits,
    store: Store,
    backends: Backends,
    settings: Settings,
    plan: Plan | None,
) -> dict[str, str | None]:
    """The top fact for each chain that is asked about, with the plan carried out."""
    receipt = pipeline.apply(store, plan, now=memory.now) if plan and plan.decisions else None
    asked = {chain.id: chain.question for chain in edits.chains.values() if chain.question}
    found = top_facts(store, backends, settings, list(asked.values()), now=memory.now)
    if receipt is not None:
        pipeline.undo(store, receipt.run, now=memory.now)
    return dict(zip(asked, found, strict=True))


def _over_two(
    memory: Memory,
    edits: Edits,
    store: Store,
    backends: Backends,
    settings: Settings,
    plan: Plan,
) -> dict[str, Any]:
    """What questions over two facts find once the plan is carried out; see `eval.two_hop`."""
    receipt = pipeline.apply(store, plan, now=memory.now) if plan.decisions else None
    found = answered(edits, hops_of(edits), store, backends, settings, now=memory.now)
    if receipt is not None:
        pipeline.undo(store, receipt.run, now=memory.now)
    return found


def score_edits(
    edits: Edits,
    facts: Mapping[str, Fact],
    answers: Mapping[str, str | None],
    decisions: Sequence[Decision] = (),
) -> dict[str, Any]:
    """Counts and shares, by kind of relation too.

    Args:
        edits: The memory and what is right.
        facts: What its facts have become, by id.
        answers: The top recalled fact of each chain that was asked about.
        decisions: What was decided; reviews tell what was asked about.
    """
    asked = {frozenset((d.subject, d.object)) for d in decisions if d.kind is DecisionKind.REVIEW}
    by_kind: dict[str, Counter[str]] = {}
    samples: dict[str, dict[str, str]] = {"superseded": {}, "kept": {}, "answered": {}}
    for chain in edits.chains.values():
        count = by_kind.setdefault(chain.kind, Counter())
        mine = Counter(_look(chain, edits, facts, answers, asked))
        count.update(mine)
        for name, part, whole in _PARTS:
            if mine[whole]:
                samples[name][chain.id] = f"{mine[part]}/{mine[whole]}"
    total = sum(by_kind.values(), Counter[str]())
    return _shares(total) | {
        "by_kind": {kind: _shares(count) for kind, count in sorted(by_kind.items())},
        "samples": {name: {"kind": "share", "items": each} for name, each in samples.items()},
    }


_PARTS = (
    ("superseded", "superseded", "outdated"),
    ("kept", "kept", "current"),
    ("answered", "answered", "questions"),
)


def _look(
    chain: Chain,
    edits: Edits,
    facts: Mapping[str, Fact],
    answers: Mapping[str, str | None],
    asked: set[frozenset[str]],
) -> Iterator[str]:
    """Names of what is to be counted about a chain."""
    for fact_id in edits.ids[chain.id]:
        fact = facts[fact_id]
        if fact_id in edits.current:
            yield "current"
            yield "kept" if fact.status.is_live else "lost"
            continue
        yield "outdated"
        heirs = edits.outdated[fact_id]
        if fact.status is FactStatus.SUPERSEDED and fact.superseded_by in heirs:
            yield "superseded"
        elif not fact.status.is_live:
            yield "retired for another reason"
        elif any(fact_id in pair and pair & heirs for pair in asked):
            yield "asked"
    if chain.question:
        yield "questions"
        if answers.get(chain.id) == edits.newest[chain.id]:
            yield "answered"


def _shares(count: Mapping[str, int]) -> dict[str, Any]:
    names = ("outdated", "superseded", "asked", "retired for another reason", "current", "kept",
             "lost", "questions", "answered")  # fmt: skip
    found: dict[str, Any] = {name.replace(" ", "_"): count.get(name, 0) for name in names}
    for name, part, whole in _PARTS:
        found[f"{name}_share"] = found[part] / found[whole] if found[whole] else None
    return found
