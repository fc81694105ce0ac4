"""Ways of judging a memory: the judge itself, controls, and the judge without one of its layers.

Each goes through the same pipeline; only classifier, layers and thresholds differ, so one scorer
serves all. Planned on one store, they share its cached vectors and verdicts, and none writes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, Final

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.calibration.policy import policy_for
from consolidate.judge.layers import ALL_LAYERS, Layers
from consolidate.protocols import ContradictionClassifier
from consolidate.settings import Settings
from consolidate.stages.outcome import carry_out
from consolidate.stages.policy import Policy
from consolidate.store import Store
from consolidate.types import Decision, Fact, Plan
from eval.controls import Blind, Cosine
from eval.memories import AGENT, Memory

__all__ = ["Played", "Way", "ablations", "controls", "filled", "play"]

LIKELIEST: Final[Mapping[str, Any]] = {
    "merge_threshold": 0.5,
    "supersede_threshold": 0.5,
    "review_threshold": 0.5,
}
"""Thresholds that act on whatever is likeliest."""


@dataclass(frozen=True, kw_only=True)
class Way:
    """How to judge."""

    classifier: ContradictionClassifier | None = None
    """None is the one that is scored."""
    layers: Layers = ALL_LAYERS
    likeliest: bool = False
    """Act on whatever is likeliest, instead of by the settings' thresholds."""
    idle: bool = False
    """Do nothing at all."""

    def using(self, settings: Settings, judge: ContradictionClassifier) -> Settings:
        """The settings with this way's thresholds.

        Nobody has measured a control, so it would have none; it goes by the judge's.
        """
        if self.likeliest:
            return replace(settings, **LIKELIEST)
        if self.classifier is None:
            return settings
        policy = policy_for(settings, judge)
        return replace(
            settings,
            merge_threshold=policy.merge,
            supersede_threshold=policy.supersede,
            review_threshold=policy.review,
        )

    def policy(self, settings: Settings, judge: ContradictionClassifier) -> Policy:
        """What decisions are made with."""
        return policy_for(self.using(settings, judge), self.classifier or judge)


def controls(cosine: Cosine) -> dict[str, Way]:
    """What the judge is compared with, by name."""
    return {
        "do nothing": Way(idle=True),
        "exact match": Way(classifier=Blind(), layers=Layers.none()),
        "cosine threshold": Way(classifier=cosine, layers=Layers.none(), likeliest=True),
        "classifier alone": Way(layers=Layers.none(), likeliest=True),
        "layers alone": Way(classifier=Blind()),
    }


def ablations() -> dict[str, Way]:
    """The judge without one of its layers, by name. Without policy it acts on the likeliest."""
    return {
        f"without {item.name}": Way(
            layers=ALL_LAYERS.without(item.name),
            likeliest=item.name == "policy",
        )
        for item in fields(Layers)
    }


@dataclass(frozen=True, kw_only=True)
class Played:
    """A memory after it was judged in one way."""

    facts: Mapping[str, Fact]
    """All of them, in their new form, by id."""
    decisions: tuple[Decision, ...] = ()
    plan: Plan | None = None


def filled(memory: Memory) -> Store:
    """A store in memory with the facts of a memory, as an import would leave it."""
    store = Store.open(":memory:")
    store.add(memory.facts, now=memory.now)
    return store


def play(
    memory: Memory,
    store: Store,
    backends: Backends,
    settings: Settings,
    ways: Mapping[str, Way],
) -> dict[str, Played]:
    """Plan a memory in several ways and look ahead; the facts in the store stay as they are."""
    before = {fact.id: fact for fact in store.facts(agent=AGENT, statuses=None)}
    found = {}
    for name, way in ways.items():
        if way.idle:
            found[name] = Played(facts=before)
            continue
        using = replace(backends, classifier=way.classifier) if way.classifier else backends
        plan = pipeline.plan(
            store,
            using,
            way.using(settings, backends.classifier),
            agent=AGENT,
            now=memory.now,
            layers=way.layers,
        )
        found[name] = Played(
            facts=before | carry_out(plan.decisions, before, "played"),
            decisions=plan.decisions,
            plan=plan,
        )
    return found


def stage_seconds(plans: Sequence[Plan]) -> dict[str, float]:
    """Seconds of each stage, summed."""
    summed: dict[str, float] = {}
    for plan in plans:
        for stage in plan.stages:
            summed[stage.stage] = summed.get(stage.stage, 0.0) + stage.seconds
    return summed
