"""Carries out a plan: one transaction, all or nothing, every changed row in the journal.

Knows the store, no model. Deletes nothing: absorbed and superseded facts keep their rows.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from consolidate.errors import StalePlanError
from consolidate.stages.outcome import carry_out
from consolidate.store import Store, fact_digest, prepare_run
from consolidate.types import (
    Decision,
    DecisionKind,
    Fact,
    Link,
    Plan,
    Receipt,
    Review,
    ReviewState,
    Run,
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
    before = store.find_run(plan.id)
    if before is not None:
        return _as_before(before)
    # Rows are made while others may still write, and checked once nobody can.
    facts = {f.id: f for f in store.facts(ids=tuple(plan.facts), statuses=None)}
    _refuse_if_stale(plan, facts)
    run = store.new_run_id(now)
    changed = carry_out(plan.decisions, facts, run)
    prepared = prepare_run(
        plan,
        run=run,
        now=now,
        before=facts,
        after=[changed[key] for key in sorted(changed)],
        links=[
            Link(left=d.subject, right=d.object, relation=d.relation, run=run)
            for d in plan.decisions
            if d.kind is DecisionKind.LINK
        ],
        reviews=[
            Review(id=review_id(d), agent=plan.agent, state=ReviewState.OPEN, decision=d, run=run)
            for d in plan.decisions
            if d.kind is DecisionKind.REVIEW
        ],
        applied=dict(sorted(Counter(str(d.kind) for d in plan.decisions).items())),
    )
    with store.atomic():
        before = store.find_run(plan.id)
        if before is not None:
            return _as_before(before)
        _refuse(plan, store.changed_since(prepared))
        return store.write_run(prepared)


def _as_before(run: Run) -> Receipt:
    return Receipt(
        run=run.id,
        plan=run.plan,
        agent=run.agent,
        applied=run.receipt.applied if run.receipt else {},
        applied_at=run.started_at,
        already_applied=True,
    )


def review_id(decision: Decision) -> str:
    """Id of the review that a decision opens: the same pair is asked about once."""
    return decision.id


def _refuse_if_stale(plan: Plan, facts: dict[str, Fact]) -> None:
    _refuse(
        plan,
        sorted(
            fact_id
            for fact_id, digest in plan.facts.items()
            if fact_id not in facts or fact_digest(facts[fact_id]) != digest
        ),
    )


def _refuse(plan: Plan, stale: list[str]) -> None:
    if stale:
        shown = ", ".join(stale[:3]) + (f" and {len(stale) - 3} more" if len(stale) > 3 else "")
        raise StalePlanError(
            f"plan {plan.id[:12]} is out of date: {shown} changed after it was made; nothing was "
            "applied, make a new one with `consolidate plan`"
        )
