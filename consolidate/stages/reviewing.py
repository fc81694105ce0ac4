"""Carries out what a person decided about a review, with the same journal and undo as a run."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

from consolidate.errors import InputError, StalePlanError
from consolidate.serialise import digest
from consolidate.stages.apply import apply_plan
from consolidate.stages.decide import decision_id
from consolidate.store import Store, fact_digest
from consolidate.times import format_time
from consolidate.types import (
    Decision,
    DecisionKind,
    Fact,
    FactStatus,
    Plan,
    Receipt,
    Review,
    ReviewState,
)

__all__ = ["accept_review", "reject_review"]


def accept_review(
    store: Store, review_id: str, *, keep: str | None = None, now: datetime
) -> Receipt:
    """Do what a review proposes.

    Args:
        store: The store.
        review_id: The review, or a unique beginning of its id.
        keep: The fact that stays, where the review could not tell (or to turn it round).
        now: The present moment.

    Raises:
        InputError: The review is closed, or `keep` is needed, or names neither fact.
        StalePlanError: One of the facts is no longer live.
    """
    with store.atomic():
        review = _open_review(store, review_id)
        asked = review.decision
        subject, other = store.get(asked.subject), store.get(asked.object)
        kind = asked.proposal
        if keep is not None:
            kept = store.get(keep).id
            if kept not in (subject.id, other.id):
                raise InputError(
                    f"{keep!r} is not part of review {review.id}: it is about {subject.id} and "
                    f"{other.id}"
                )
            if kept == subject.id:
                subject, other = other, subject
        elif kind is None:
            raise InputError(
                f"review {review.id} does not know which fact holds; say it with --keep "
                f"{subject.id} or --keep {other.id}"
            )
        kind = kind or DecisionKind.SUPERSEDE
        _refuse_if_gone(review, subject, other)
        decision = _decided(asked, kind, subject, other)
        receipt = apply_plan(store, _plan_of(review, (decision,), (subject, other), now), now=now)
        rows = _close(store, review, ReviewState.ACCEPTED, run=receipt.run, now=now)
        receipt = replace(receipt, rows=receipt.rows + rows)
        store.finish_run(receipt.run, receipt, now=now, state_digest="")
    return receipt


def reject_review(store: Store, review_id: str, *, now: datetime) -> Receipt:
    """Leave both facts as they are; the pair is never proposed again."""
    with store.atomic():
        review = _open_review(store, review_id)
        plan = _plan_of(review, (), (), now)
        run = store.begin_run(plan, now=now)
        rows = _close(store, review, ReviewState.REJECTED, run=run, now=now)
        receipt = Receipt(
            run=run,
            plan=plan.id,
            agent=review.agent,
            applied_at=now,
            applied={"reject": 1},
            rows=rows,
        )
        store.finish_run(run, receipt, now=now, state_digest="")
    return receipt


def _plan_of(
    review: Review, decisions: tuple[Decision, ...], facts: tuple[Fact, ...], now: datetime
) -> Plan:
    return Plan(
        id=digest(["review", review.id, [d.id for d in decisions], format_time(now)]),
        agent=review.agent,
        now=now,
        snapshot_digest="",
        settings_digest="",
        facts={fact.id: fact_digest(fact) for fact in facts},
        decisions=decisions,
    )


def _open_review(store: Store, review_id: str) -> Review:
    review = store.review(review_id)
    if review.state is not ReviewState.OPEN:
        raise InputError(f"review {review.id} is {review.state} already")
    return review


def _refuse_if_gone(review: Review, subject: Fact, other: Fact) -> None:
    if not subject.status.is_live:
        raise StalePlanError(
            f"review {review.id} is out of date: {subject.id} is {subject.status} by now; close "
            f"it with `consolidate review reject {review.id}`"
        )
    if other.status is FactStatus.MERGED:
        raise StalePlanError(
            f"review {review.id} is out of date: {other.id} was merged into {other.merged_into}; "
            f"close it with `consolidate review reject {review.id}`"
        )


def _decided(asked: Decision, kind: DecisionKind, subject: Fact, other: Fact) -> Decision:
    ends = None
    if kind is DecisionKind.SUPERSEDE:
        ends = other.valid_from or other.stated_at
        began = subject.valid_from or subject.stated_at
        if ends is not None and began is not None and ends < began:
            ends = None  # the older one was kept: nothing ends before it began
    return replace(
        asked,
        id=decision_id(kind, subject, other),
        kind=kind,
        subject=subject.id,
        object=other.id,
        reason="accepted",
        valid_to=ends,
        proposal=None,
        sentence=f"Accepted in review: {asked.sentence}",
    )


def _close(store: Store, review: Review, state: ReviewState, *, run: str, now: datetime) -> int:
    """Close a review; facts that no other open review names are plainly active again."""
    store.write_review(replace(review, state=state, decided_at=now), run=run)
    asked_about = {
        fact_id
        for other in store.reviews(agent=review.agent)
        for fact_id in (other.decision.subject, other.decision.object)
    }
    rows = 1
    for fact_id in (review.decision.subject, review.decision.object):
        fact = store.get(fact_id)
        if fact.status is FactStatus.IN_REVIEW and fact_id not in asked_about:
            store.write_fact(replace(fact, status=FactStatus.ACTIVE, changed_by=run), run=run)
            rows += 1
    return rows
