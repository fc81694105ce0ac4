"""The whole flow, from store to plan and from plan to store.

    snapshot -> collapse -> embed -> entities -> group -> pairs -> classify -> decide | apply
     store       pure       model     model      pure    pure     model      pure    | store

`plan` reads and thinks, `apply` writes, `run` does both under a lease. A dry run is a plan that
nobody applies. The stages are in `consolidate.stages`, one file each.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime

from consolidate.backends import Backends
from consolidate.judge.assess import assess
from consolidate.judge.reading import read, scheduled
from consolidate.serialise import digest, to_data
from consolidate.settings import Settings
from consolidate.stages.apply import apply_plan
from consolidate.stages.classify import classify
from consolidate.stages.collapse import collapse
from consolidate.stages.decide import Policy, decide
from consolidate.stages.embed import embed
from consolidate.stages.entities import entities
from consolidate.stages.group import Names, group
from consolidate.stages.pairs import find_pairs
from consolidate.stages.report import Report, report_of
from consolidate.stages.reviewing import accept_review, reject_review
from consolidate.stages.work import Progress, Tally, silent
from consolidate.store import State, Store, fact_digest
from consolidate.types import (
    Assessment,
    Decision,
    Fact,
    Groups,
    Mention,
    Pair,
    Plan,
    Receipt,
    Snapshot,
    StageStats,
    Verdict,
)

__all__ = ["Outcome", "Progress", "accept", "apply", "plan", "reject", "run", "undo"]


@dataclass(frozen=True, kw_only=True)
class Outcome:
    """What came of a run."""

    plan: Plan | None
    """None when there was nothing new."""
    receipt: Receipt | None
    nothing_new: bool
    report: Report


def plan(
    store: Store,
    backends: Backends,
    settings: Settings,
    *,
    agent: str = "default",
    now: datetime,
    include_undone: bool = False,
    progress: Progress = silent,
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
    """
    return _plan(
        store.snapshot(agent, include_undone=include_undone),
        store,
        backends,
        settings,
        now,
        progress,
    )


def _plan(
    snapshot: Snapshot,
    store: Store,
    backends: Backends,
    settings: Settings,
    now: datetime,
    progress: Progress,
) -> Plan:
    stages: list[StageStats] = []

    backends.begin_run()
    tally = Tally("snapshot")
    facts = {fact.id: fact for fact in snapshot.facts}
    live = sum(fact.status.is_live for fact in snapshot.facts)
    tally.items_in = tally.items_out = len(facts)
    tally.detail = {"live": live, "retired": len(facts) - live}
    stages.append(tally.stats())

    tally = Tally("collapse", items_in=len(facts))
    uniques = collapse(snapshot.facts)
    texts = [facts[unique.representative] for unique in uniques]
    tally.items_out = len(uniques)
    stages.append(tally.stats())

    tally = Tally("embed", items_in=len(texts), model=backends.embedder.identity)
    tally.meter(backends.embedder)
    vectors = embed(store, backends.embedder, texts, tally=tally, progress=progress)
    tally.items_out = len(vectors)
    stages.append(tally.stats())

    tally = Tally("entities", items_in=len(texts))
    names = Names.of(snapshot.aliases, texts)
    extractor = backends.knowing([n for a in snapshot.aliases for n in (a.canonical, a.alias)])
    tally.model = extractor.extractor.identity
    tally.meter(extractor.extractor)
    mentions = entities(store, extractor.extractor, texts, tally=tally, progress=progress)
    tally.items_out = sum(map(len, mentions.values()))
    stages.append(tally.stats())
    unread = tally.failures

    tally = Tally("group", items_in=len(texts))
    groups = group(texts, mentions, names, hub_size=settings.hub_size)
    tally.items_out = len(groups.groups)
    tally.detail = {"hubs": sum(g.hub for g in groups.groups), "ambiguous": len(groups.ambiguous)}
    store.save_entities(snapshot.agent, groups, mentions)
    stages.append(tally.stats())

    tally = Tally("pairs", items_in=len(texts))
    candidates = find_pairs(
        texts,
        vectors,
        groups,
        live={u.representative: any(facts[m].status.is_live for m in u.members) for u in uniques},
        neighbours=settings.neighbours,
        floor=settings.similarity_floor,
        per_fact=settings.pairs_per_fact,
    )
    tally.items_out = len(candidates.pairs)
    tally.detail = {
        **candidates.by_rule,
        **{f"skipped {k}": n for k, n in candidates.skipped.items()},
    }
    stages.append(tally.stats())

    tally = Tally("classify", items_in=len(candidates.pairs), model=backends.classifier.identity)
    tally.meter(backends.classifier)
    verdicts = classify(
        store,
        backends.classifier,
        candidates.pairs,
        facts,
        budget=settings.pair_budget,
        tally=tally,
        progress=progress,
    )
    tally.items_out = len(verdicts)
    stages.append(tally.stats())
    left_over = tally.detail.get("cut", 0) + tally.failures + unread

    tally = Tally("decide", items_in=len(verdicts))
    timed = {fact.id: scheduled(fact) for fact in snapshot.facts}
    assessments = _assess(candidates.pairs, verdicts, timed, mentions, groups, names, settings)
    decisions, due = decide(
        timed,
        uniques,
        candidates.pairs,
        verdicts,
        assessments,
        settled=snapshot.settled,
        linked=snapshot.linked,
        heirs=snapshot.heirs,
        policy=_policy(settings),
        now=now,
    )
    tally.items_out = len(decisions)
    stages.append(tally.stats())

    return _record(snapshot, facts, decisions, stages, backends, settings, now, due, left_over)


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
    progress: Progress = silent,
) -> Outcome:
    """Plan and apply under a lease; when nothing changed since the last run, do nothing at all.

    Raises:
        LeaseHeldError: Another run is at work on this store.
    """
    moment = now or datetime.now(UTC)

    def read() -> tuple[Snapshot, bool]:
        snapshot = store.snapshot(agent, include_undone=include_undone)
        known = _unchanged(store.last_state(agent), snapshot, backends, settings, moment)
        return snapshot, known

    # Looked at before the lease is taken, so that a run with nothing to do writes nothing at all
    if store.last_state(agent) is not None and read()[1]:
        return _nothing_new(agent)
    with store.lease(seconds=settings.lease_seconds, now=lambda: datetime.now(UTC)) as lease:
        # and read again under it, since another run may have ended in between.
        snapshot, known = read()
        if known:
            return _nothing_new(agent)
        watched = _renewing(lease.renew, settings.lease_seconds, progress)
        made = _plan(snapshot, store, backends, settings, moment, watched)
        lease.renew()
        receipt = apply_plan(store, made, now=moment)
        _remember_state(store, snapshot, made)
    return Outcome(plan=made, receipt=receipt, nothing_new=False, report=report_of(made, receipt))


def undo(store: Store, run_id: str, *, now: datetime | None = None) -> Receipt:
    """Restore every row that a run changed, byte for byte.

    Raises:
        UndoConflictError: A later run changed one of those rows; undo that one first.
    """
    return store.undo(store.run(run_id).id, now=now or datetime.now(UTC))


def accept(
    store: Store, review_id: str, *, keep: str | None = None, now: datetime | None = None
) -> Receipt:
    """Do what a review proposes; see `consolidate.stages.reviewing.accept_review`."""
    return accept_review(store, review_id, keep=keep, now=now or datetime.now(UTC))


def reject(store: Store, review_id: str, *, now: datetime | None = None) -> Receipt:
    """Leave both facts of a review as they are, for good."""
    return reject_review(store, review_id, now=now or datetime.now(UTC))


# -- the small print ---------------------------------------------------------------------------


def _nothing_new(agent: str) -> Outcome:
    report = Report(agent=agent, nothing_new=True)
    return Outcome(plan=None, receipt=None, nothing_new=True, report=report)


def _assess(
    pairs: Sequence[Pair],
    verdicts: Mapping[tuple[str, str], Verdict],
    facts: Mapping[str, Fact],
    mentions: Mapping[str, Sequence[Mention]],
    groups: Groups,
    names: Names,
    settings: Settings,
) -> dict[tuple[str, str], Assessment]:
    """Judge every pair that has a verdict."""
    wanted = {fact_id for pair in pairs for fact_id in (pair.left, pair.right)}
    readings = {fact_id: read(facts[fact_id], mentions[fact_id]) for fact_id in wanted}
    found = {}
    for pair in pairs:
        key = (pair.left, pair.right)
        if key in verdicts:
            vague = set(groups.ambiguous.get(pair.left, ())) | set(
                groups.ambiguous.get(pair.right, ())
            )
            found[key] = assess(
                readings[pair.left],
                readings[pair.right],
                verdicts[key],
                same_name=names.same,
                ambiguous=bool(vague),
                slots=settings.slots,
            )
    return found


def _policy(settings: Settings) -> Policy:
    return Policy(
        merge=settings.merge_at,
        supersede=settings.supersede_at,
        review=settings.review_at,
        may_merge=settings.merge,
        may_supersede=settings.supersede,
    )


def _record(
    snapshot: Snapshot,
    facts: Mapping[str, Fact],
    decisions: tuple[Decision, ...],
    stages: Sequence[StageStats],
    backends: Backends,
    settings: Settings,
    now: datetime,
    due: datetime | None,
    left_over: int,
) -> Plan:
    touched = {fact_id for d in decisions for fact_id in (d.subject, d.object)}
    made = Plan(
        id="",
        agent=snapshot.agent,
        now=now,
        snapshot_digest=snapshot.digest,
        settings_digest=settings.digest(),
        decisions=decisions,
        stages=tuple(stages),
        facts={fact_id: fact_digest(facts[fact_id]) for fact_id in sorted(touched)},
        models=backends.identities,
        settings=settings.deciding(),
        due=due,
        cut=left_over,
    )
    content = [made.agent, made.snapshot_digest, made.settings_digest, to_data(made.decisions)]
    return replace(made, id=digest(content))


def _unchanged(
    state: State | None,
    snapshot: Snapshot,
    backends: Backends,
    settings: Settings,
    now: datetime,
) -> bool:
    """Whether a plan made now would be the one that the last run has carried out."""
    return (
        state is not None
        and state.digest == snapshot.digest
        and state.settings_digest == settings.digest()
        and dict(state.models) == backends.identities
        and not state.cut
        and (state.due is None or now < state.due)
    )


def _remember_state(store: Store, planned: Snapshot, made: Plan) -> None:
    """Record what the run left behind, unless somebody else wrote meanwhile.

    The snapshot is read after the transaction, so that a large one does not keep writers
    waiting; a fact that the plan did not know must not count as seen.
    """
    after = store.snapshot(planned.agent)
    before = {fact.id: fact for fact in planned.facts}
    foreign = any(fact.id not in made.facts and before.get(fact.id) != fact for fact in after.facts)
    if not foreign and after.aliases == planned.aliases:
        store.record_state(
            planned.agent,
            State(
                digest=after.digest,
                settings_digest=made.settings_digest,
                models=made.models,
                due=made.due,
                cut=made.cut,
            ),
        )


def _renewing(renew: Callable[[], None], seconds: float, progress: Progress) -> Progress:
    """A progress that renews the lease now and then."""
    last = time.monotonic()

    def told(stage: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > seconds / 4:
            renew()
            last = time.monotonic()
        progress(stage, done, total)

    return told
