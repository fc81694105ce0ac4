"""Carries out a plan: one transaction, all or nothing, every changed row in the journal.

Knows the store, no model. Deletes nothing: absorbed and superseded facts keep their rows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime

from consolidate.errors import StalePlanError
from consolidate.stages.merging import absorb
from consolidate.store import Store, fact_digest
from consolidate.types import (
    Decision,
    DecisionKind,
    Fact,
    FactStatus,
    Link,
    Plan,
    Receipt,
    Review,
    ReviewState,
)

__all__ = ["apply_plan", "review_id"]


def apply_plan(store: Store, plan: Plan, *, now: datetime) -> Receipt:
    """Apply a plan.

    Applying the same plan again is a no-op and says so. A plan without decisions writes nothing.

    Raises:
        StalePlanError: A fact that the plan touches changed since; nothing is applied.
    """
    if not plan.decisions:
        return Receipt(run="", plan=plan.id, agent=plan.agent, applied_at=now)
    with store.atomic():
        before = store.find_run(plan.id)
        if before is not None:
            applied = before.receipt.applied if before.receipt else {}
            return Receipt(
                run=before.id,
                plan=plan.id,
                agent=plan.agent,
                applied=applied,
                applied_at=before.started_at,
                already_applied=True,
            )
        facts = {f.id: f for f in store.facts(ids=tuple(plan.facts), statuses=None)}
        _refuse_if_stale(plan, facts)
        run = store.begin_run(plan, now=now)
        changed = _carry_out(plan.decisions, facts, run)
        for fact_id in sorted(changed):
            store.write_fact(changed[fact_id], run=run)
        rows = len(changed) + _write_links_and_reviews(store, plan, run)
        receipt = Receipt(
            run=run,
            plan=plan.id,
            agent=plan.agent,
            applied_at=now,
            rows=rows,
            applied=dict(sorted(Counter(str(d.kind) for d in plan.decisions).items())),
        )
        store.finish_run(run, receipt, now=now, state_digest="")
    return receipt


def review_id(decision: Decision) -> str:
    """Id of the review that a decision opens: the same pair is asked about once."""
    return decision.id


def _refuse_if_stale(plan: Plan, facts: dict[str, Fact]) -> None:
    stale = sorted(
        fact_id
        for fact_id, digest in plan.facts.items()
        if fact_id not in facts or fact_digest(facts[fact_id]) != digest
    )
    if stale:
        shown = ", ".join(stale[:3]) + (f" and {len(stale) - 3} more" if len(stale) > 3 else "")
        raise StalePlanError(
            f"plan {plan.id[:12]} is out of date: {shown} changed after it was made; nothing was "
            "applied, make a new one with `consolidate plan`"
        )


def _carry_out(decisions: Sequence[Decision], facts: dict[str, Fact], run: str) -> dict[str, Fact]:
    """Rows that merges, supersessions and reviews change, in their new form."""
    changed: dict[str, Fact] = {}

    def now_is(fact_id: str) -> Fact:
        return changed.get(fact_id, facts[fact_id])

    for decision in _children_first([d for d in decisions if d.kind is DecisionKind.MERGE]):
        absorbed, survivor = now_is(decision.subject), now_is(decision.object)
        changed[survivor.id] = absorb(survivor, absorbed)
        changed[absorbed.id] = replace(
            absorbed, status=FactStatus.MERGED, merged_into=survivor.id, changed_by=run
        )
    for decision in decisions:
        if decision.kind is DecisionKind.SUPERSEDE:
            loser = now_is(decision.subject)
            changed[loser.id] = replace(
                loser,
                status=FactStatus.SUPERSEDED,
                superseded_by=decision.object,
                valid_to=decision.valid_to or loser.valid_to,
                changed_by=run,
            )
    for decision in decisions:
        if decision.kind is DecisionKind.REVIEW:
            for fact_id in (decision.subject, decision.object):
                fact = now_is(fact_id)
                if fact.status is FactStatus.ACTIVE:
                    changed[fact_id] = replace(fact, status=FactStatus.IN_REVIEW, changed_by=run)
    return changed


def _children_first(merges: Sequence[Decision]) -> list[Decision]:
    """Order merges so that a fact has taken in its own before it is taken in itself."""
    into: dict[str, list[Decision]] = {}
    for decision in merges:
        into.setdefault(decision.object, []).append(decision)
    absorbed = {decision.subject for decision in merges}
    ordered: list[Decision] = []
    waiting = sorted((d for d in merges if d.object not in absorbed), key=lambda d: d.id)
    while waiting:  # from the last survivors down to the leaves, then turned round
        ordered += waiting
        waiting = sorted((c for d in waiting for c in into.get(d.subject, ())), key=lambda d: d.id)
    return ordered[::-1]


def _write_links_and_reviews(store: Store, plan: Plan, run: str) -> int:
    rows = 0
    for decision in plan.decisions:
        if decision.kind is DecisionKind.LINK:
            link = Link(
                left=decision.subject, right=decision.object, relation=decision.relation, run=run
            )
            store.write_link(plan.agent, link, run=run)
            rows += 1
        elif decision.kind is DecisionKind.REVIEW:
            review = Review(
                id=review_id(decision),
                agent=plan.agent,
                state=ReviewState.OPEN,
                decision=decision,
                run=run,
            )
            store.write_review(review, run=run)
            rows += 1
    return rows
