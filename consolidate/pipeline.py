"""The whole flow, from store to plan and from plan to store.

    snapshot -> collapse -> embed -> entities -> group -> pairs -> classify -> decide | apply
     store       pure       model     model      pure    pure     model      pure    | store

`plan` reads and thinks, `apply` writes, `run` does both under a lease. A dry run is a plan that
nobody applies. The stages are in `consolidate.stages`, one file each.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import UTC, datetime

from consolidate.backends import Backends
from consolidate.bookkeeping import (
    plan_of,
    remember_state,
    renewing,
    save_entities,
    unchanged,
)
from consolidate.calibration.policy import policy_for
from consolidate.graph.refresh import refresh
from consolidate.graph.resolve import resolve
from consolidate.judge.layers import ALL_LAYERS, Layers
from consolidate.judge.reading import USER, scheduled
from consolidate.settings import Settings
from consolidate.stages.apply import apply_plan
from consolidate.stages.classify import classify
from consolidate.stages.collapse import collapse
from consolidate.stages.decide import Policy, decide
from consolidate.stages.embed import embed
from consolidate.stages.entities import entities
from consolidate.stages.group import group
from consolidate.stages.judging import Bench
from consolidate.stages.nearest import Neighbourhood
from consolidate.stages.outcome import still_standing
from consolidate.stages.pairs import find_pairs
from consolidate.stages.report import Report, report_of
from consolidate.stages.reviewing import accept_review, reject_review
from consolidate.stages.work import Book, Progress, silent
from consolidate.store import Store
from consolidate.types import Assessment, Decision, Pair, Plan, Receipt, Snapshot, Verdict

__all__ = ["Outcome", "Progress", "accept", "apply", "plan", "reject", "run", "undo"]

_ROUNDS = 6
"""Pairs are looked for again among what will stand, at most this often; two or three are usual."""


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a run."""

    plan: Plan | None
    """None when there was nothing new."""
    receipt: Receipt | None
    nothing_new: bool
    report: Report


def _plan(
    snapshot: Snapshot,
    store: Store,
    backends: Backends,
    settings: Settings,
    policy: Policy,
    now: datetime,
    progress: Progress,
    layers: Layers = ALL_LAYERS,
) -> Plan:
    """Think: from what the store held to what is to be done."""
    book = Book()
    backends.begin_run()
    names = [name for alias in snapshot.aliases for name in (alias.canonical, alias.alias)]
    extractor = backends.knowing(names).extractor

    with book.stage("snapshot") as tally:
        facts = tally.gives({fact.id: scheduled(fact) for fact in snapshot.facts})
        tally.detail = dict(
            Counter("live" if f.status.is_live else "retired" for f in snapshot.facts)
        )
    with book.stage("collapse", facts) as tally:
        uniques = tally.gives(collapse(tuple(facts.values())))
        texts = [facts[unique.representative] for unique in uniques]
    with book.stage("embed", texts, backends.embedder) as tally:
        vectors = embed(store, backends.embedder, texts, tally=tally, progress=progress)
        tally.gives(vectors)
    with book.stage("entities", texts, extractor) as tally:
        mentions = entities(store, extractor, texts, tally=tally, progress=progress)
        tally.items_out = sum(map(len, mentions.values()))
    with book.stage("group", texts) as tally:
        same = resolve(snapshot, texts, mentions, vectors)
        groups = group(texts, mentions, same, hub_size=settings.hub_size)
        tally.gives(groups.groups)
        tally.detail = {
            "hubs": sum(g.hub and g.key != USER for g in groups.groups),
            "ambiguous": len(groups.ambiguous),
        }
        save_entities(store, groups, uniques, snapshot, mentions)
        bench = Bench(texts, mentions, groups, same, settings.slots, layers)

    near = Neighbourhood(vectors)
    pairs: dict[tuple[str, str], Pair] = {}
    verdicts: dict[tuple[str, str], Verdict] = {}
    judged: dict[tuple[str, str], Assessment] = {}
    decisions: tuple[Decision, ...] = ()
    for _ in range(_ROUNDS):
        # What is merged leaves room for pairs that were not looked at before. They are sought
        # among what will stand until none is new, so that the next run has nothing to add.
        with book.stage("pairs", texts) as tally:
            standing, live = still_standing(facts, uniques, decisions)
            rows = [i for i, text in enumerate(texts) if text.id in standing]
            here = [standing[texts[i].id] for i in rows]
            nearby = find_pairs(
                here,
                vectors[rows],
                group(here, mentions, same, hub_size=settings.hub_size),
                live=live,
                neighbours=settings.neighbours,
                floor=settings.similarity_floor,
                per_fact=settings.pairs_per_fact,
                near=near,
                rows=rows,
            )
            fresh = bench.worth_asking(nearby, known=pairs, tally=tally)
        if decisions and not fresh:
            break
        pairs |= {(pair.left, pair.right): pair for pair in fresh}
        with book.stage("classify", fresh, backends.classifier) as tally:
            budget = settings.pair_budget
            verdicts |= classify(
                store, backends.classifier, fresh, facts,
                budget=budget, tally=tally, progress=progress,
            )  # fmt: skip
            tally.gives(verdicts)
        with book.stage("decide", verdicts) as tally:
            judged |= bench.assess(fresh, verdicts)
            decisions, due = decide(
                facts, uniques, [pairs[key] for key in sorted(pairs)], verdicts, judged,
                settled=snapshot.settled, linked=snapshot.linked, heirs=snapshot.heirs,
                policy=policy, now=now,
            )  # fmt: skip
            tally.gives(decisions)
        if not decisions or settings.pair_budget:
            break

    return plan_of(snapshot, decisions, due, book, backends, settings, policy, now)


def plan(
    store: Store,
    backends: Backends,
    settings: Settings,
    *,
    agent: str = "default",
    now: datetime,
    include_undone: bool = False,
    progress: Progress = silent,
    layers: Layers = ALL_LAYERS,
) -> Plan:
    """Decide what to do with an agent's memory. Writes caches, no facts.

    Args:
        store: The memory.
        backends: The models.
        settings: Thresholds, pair rules and budgets.
        agent: Whose memory.
        now: The present moment, timezone-aware.
        include_undone: Decide anew about what a person has undone.
        progress: Told how far the stages with models are.
        layers: The judge's layers that are at work; for measuring what each is worth.
    """
    snapshot = store.snapshot(agent, include_undone=include_undone)
    policy = policy_for(settings, backends.classifier)
    return _plan(snapshot, store, backends, settings, policy, now, progress, layers)


def apply(store: Store, plan: Plan, *, now: datetime) -> Receipt:
    """Carry out a plan in one transaction; see `consolidate.stages.apply`.

    Raises:
        StalePlanError: Facts changed since the plan was made; nothing is applied.
    """
    return apply_plan(store, plan, now=now)


def run(
    store: Store,
    backends: Backends,
    settings: Settings,
    *,
    agent: str = "default",
    now: datetime | None = None,
    include_undone: bool = False,
    retry_failed: bool = False,
    progress: Progress = silent,
) -> Outcome:
    """Plan and apply under a lease; when nothing changed since the last run, do nothing at all.

    What a model fails on is asked about again in the next runs, three times in all;
    `retry_failed` asks once more.

    Raises:
        LeaseHeldError: Another run is at work on this store.
    """
    moment = now or datetime.now(UTC)
    policy = policy_for(settings, backends.classifier)
    idle = Report(agent=agent, nothing_new=True)

    def read() -> tuple[Snapshot, bool]:
        snapshot = store.snapshot(agent, include_undone=include_undone)
        known = unchanged(store.last_state(agent), snapshot, backends, settings, policy, moment)
        return snapshot, known

    again = retry_failed and store.retry_failures() > 0
    # Looked at before the lease is taken, so that a run with nothing to do writes nothing at all
    if not again and store.last_state(agent) is not None and read()[1]:
        return Outcome(plan=None, receipt=None, nothing_new=True, report=idle)
    with store.lease(seconds=settings.lease_seconds, now=lambda: datetime.now(UTC)) as lease:
        # and read again under it, since another run may have ended in between.
        snapshot, known = read()
        if known and not again:
            return Outcome(plan=None, receipt=None, nothing_new=True, report=idle)
        watched = renewing(lease.renew, settings.lease_seconds, progress)
        made = _plan(snapshot, store, backends, settings, policy, moment, watched)
        lease.renew()
        receipt = apply_plan(store, made, now=moment)
        remember_state(store, snapshot, made)
    return Outcome(plan=made, receipt=receipt, nothing_new=False, report=report_of(made, receipt))


def undo(store: Store, run_id: str, *, now: datetime | None = None) -> Receipt:
    """Restore every row that a run changed, byte for byte.

    Raises:
        UndoConflictError: A later run changed one of those rows; undo that one first.
    """
    receipt = store.undo(store.run(run_id).id, now=now or datetime.now(UTC))
    if store.declared_in(receipt.run) or "entity-join" in receipt.applied:
        # What was declared about entities is taken back, so who is who is told anew.
        refresh(store, receipt.agent)
    return receipt


def accept(
    store: Store, review_id: str, *, keep: str | None = None, now: datetime | None = None
) -> Receipt:
    """Do what a review proposes; see `consolidate.stages.reviewing.accept_review`."""
    return accept_review(store, review_id, keep=keep, now=now or datetime.now(UTC))


def reject(store: Store, review_id: str, *, now: datetime | None = None) -> Receipt:
    """Leave both facts of a review as they are, for good."""
    return reject_review(store, review_id, now=now or datetime.now(UTC))
