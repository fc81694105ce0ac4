"""Carries out a plan: one transaction, all or nothing, every changed row in the journal.

Knows the store, no model. Deletes nothing: absorbed and superseded facts keep their rows.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime

from consolidate.errors import StalePlanError
from consolidate.stages.outcome import carry_out
from consolidate.store import Store, fact_digest
from consolidate.types import (
    Decision,
    DecisionKind,
    Fact,
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
        changed = carry_out(plan.decisions, facts, run)
        rows = store.write_facts([changed[key] for key in sorted(changed)], run=run)
        rows += _write_links_and_reviews(store, plan, run)
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


def _write_links_and_reviews(store: Store, plan: Plan, run: str) -> int:
    links = [
        Link(left=d.subject, right=d.object, relation=d.relation, run=run)
        for d in plan.decisions
        if d.kind is DecisionKind.LINK
    ]
    reviews = [
        Review(id=review_id(d), agent=plan.agent, state=ReviewState.OPEN, decision=d, run=run)
        for d in plan.decisions
        if d.kind is DecisionKind.REVIEW
    ]
    store.write_links(plan.agent, links, run=run)
    store.write_reviews(reviews, run=run)
    return len(links) + len(reviews)
