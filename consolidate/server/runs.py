"""The pipeline's verbs as tools: plan, run, undo, review, history, report.

What a call plans it shows; nothing is kept between calls but the store. A saved plan is named by
the digest of what it was made from, so `apply` carries out exactly what `plan` showed or refuses.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Final, cast

from consolidate import pipeline
from consolidate.errors import InputError, NotFoundError, StalePlanError
from consolidate.memory import answers
from consolidate.memory.memory import Memory
from consolidate.memory.schemas import chosen, count, gives, takes, text
from consolidate.memory.tools import Tool, fact_data
from consolidate.serialise import to_data
from consolidate.settings import PROFILES, Settings
from consolidate.stages.notes import LEAST
from consolidate.stages.report import Report, report_of
from consolidate.stages.work import Progress, silent
from consolidate.store import History
from consolidate.synthesis import synthesise as bring_in_step
from consolidate.types import Decision

__all__ = ["run_tools"]

MOST_SHOWN: Final = 200
"""Decisions in one answer; how many there are is always said."""

_PROFILE: Final = chosen(
    "How sure the judge must be; as in the settings if left out.", "careful", "balanced", "eager"
)


def run_tools(memory: Memory, progress: Progress = silent) -> list[Tool]:
    """Make the tools of the pipeline over one memory.

    Args:
        memory: Whose facts.
        progress: Told how far a plan or run is; what it raises ends that call, and nothing is
            changed.
    """
    return [*_running(memory, progress), *_reviewing(memory), *_looking(memory)]


def _running(memory: Memory, progress: Progress) -> list[Tool]:
    def made(profile: str | None) -> Any:
        settings = memory.settings if profile is None else _with(memory, profile)
        return pipeline.plan(
            memory.store,
            memory.backends,
            settings,
            agent=memory.agent,
            now=datetime.now(UTC),
            progress=progress,
        )

    def plan(profile: str | None = None) -> Any:
        found = made(profile)
        return {"plan": found.id, **_decisions(memory, found.decisions)}

    def apply(plan: str, profile: str | None = None) -> Any:
        # Verdicts are cached, so the plan is made again at next to no cost.
        again = made(profile)
        if not again.id.startswith(plan) or len(plan) < 8:
            raise StalePlanError(
                f"plan {plan!r} is out of date: the memory changed, or it was made with another "
                "profile; look at a new one with `plan`"
            )
        return {"receipt": to_data(pipeline.apply(memory.store, again, now=datetime.now(UTC)))}

    def run(profile: str | None = None) -> Any:
        settings = memory.settings if profile is None else _with(memory, profile)
        outcome = pipeline.run(
            memory.store, memory.backends, settings, agent=memory.agent, progress=progress
        )
        decided = outcome.plan.decisions if outcome.plan is not None else ()
        return {
            "run": outcome.receipt.run if outcome.receipt else "",
            "nothing_new": outcome.nothing_new,
            "report": str(outcome.report),
            **_decisions(memory, decided),
        }

    def synthesise(least: int = LEAST) -> Any:
        done = bring_in_step(
            memory.store,
            memory.backends,
            memory.settings,
            agent=memory.agent,
            least=least,
            progress=progress,
        )
        return {
            "run": done.receipt.run if done.receipt else "",
            "nothing_new": done.receipt is None,
            "notes": [fact_data(note) for note in done.notes[:MOST_SHOWN]],
            "retired": list(done.retired),
            "unchanged": done.unchanged,
            "dropped": done.dropped,
            "failures": done.failures,
        }

    def undo(run: str = "last") -> Any:
        return {"receipt": to_data(pipeline.undo(memory.store, _own_run(memory, run)))}

    return [
        Tool(
            name="plan",
            description=(
                "Show what a consolidation would do: which facts it would merge, which it would "
                "retire and for what, with reasons. Changes nothing."
            ),
            parameters=takes(profile=_PROFILE),
            run=plan,
            returns=gives(answers.PlanAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="apply",
            description="Carry out a plan as it was shown; refuses if the memory changed since.",
            parameters=takes(
                ["plan"],
                plan=text("From `plan`."),
                profile=_PROFILE,
            ),
            run=apply,
            returns=gives(answers.ReceiptAnswer),
            idempotent=True,
        ),
        Tool(
            name="run",
            description=(
                "Consolidate the memory: merge what is said twice, retire what no longer holds. "
                "Every decision says why and can be undone."
            ),
            parameters=takes(profile=_PROFILE),
            run=run,
            returns=gives(answers.RunAnswer),
            idempotent=True,
        ),
        Tool(
            name="synthesise",
            description=(
                "Write a note of what is known of each entity, from its current facts. A note "
                "goes when one of its facts is retired; undo takes all back."
            ),
            parameters=takes(least=count("Current facts that an entity needs.", 1, 100, LEAST)),
            run=synthesise,
            returns=gives(answers.NotesAnswer),
            idempotent=True,
        ),
        Tool(
            name="undo",
            description="Take back everything a run did.",
            parameters=takes(run=text("Its id; the last one if left out.")),
            run=undo,
            returns=gives(answers.ReceiptAnswer),
        ),
    ]


def _reviewing(memory: Memory) -> list[Tool]:
    def review_list() -> Any:
        reviews = memory.store.reviews(agent=memory.agent)
        told = _decisions(memory, [review.decision for review in reviews])
        return {"reviews": [each.id for each in reviews], **told}

    def review_accept(review: str, keep: str | None = None) -> Any:
        found = _own_review(memory, review)
        return {"receipt": to_data(pipeline.accept(memory.store, found, keep=keep))}

    def review_reject(review: str) -> Any:
        found = _own_review(memory, review)
        return {"receipt": to_data(pipeline.reject(memory.store, found))}

    one = text("Id of the review.")
    return [
        Tool(
            name="review_list",
            description="List the decisions that the last runs were not sure of.",
            parameters=takes(),
            run=review_list,
            returns=gives(answers.ReviewsAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="review_accept",
            description="Do what a review proposes.",
            parameters=takes(
                ["review"],
                review=one,
                keep=text("Id of the fact that stays."),
            ),
            run=review_accept,
            returns=gives(answers.ReceiptAnswer),
        ),
        Tool(
            name="review_reject",
            description="Leave both facts of a review as they are, for good.",
            parameters=takes(["review"], review=one),
            run=review_reject,
            returns=gives(answers.ReceiptAnswer),
        ),
    ]


def _looking(memory: Memory) -> list[Tool]:
    def history(fact: str) -> Any:
        return to_data(memory.store.history(memory.own(fact).id))

    def report(run: str = "last") -> Any:
        found = memory.store.run(_own_run(memory, run))
        plan = memory.store.plan(found.id)
        told: Report = report_of(plan, found.receipt)
        return {"run": found.id, "state": found.state, "report": str(told)} | _decisions(
            memory, plan.decisions
        )

    return [
        Tool(
            name="history",
            description="Show what a fact replaced, what replaced it, when and why.",
            parameters=takes(["fact"], fact=text("Its id, or the start of it.")),
            run=history,
            returns=gives(History),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="report",
            description="Show the account of a run: what was found, done and asked.",
            parameters=takes(run=text("Its id; the last one if left out.")),
            run=report,
            returns=gives(answers.ReportAnswer),
            read_only=True,
            idempotent=True,
        ),
    ]


def _with(memory: Memory, profile: str) -> Settings:
    if profile not in PROFILES:
        raise InputError(f"profile {profile!r} must be one of {', '.join(PROFILES)}")
    return replace(memory.settings, profile=cast(Any, profile))


def _own_run(memory: Memory, run: str) -> str:
    """A run of this agent; another agent's is not there."""
    if run == "last":
        mine = memory.store.runs(memory.agent, limit=1)
        if not mine:
            raise NotFoundError(f"the memory of {memory.agent!r} has no run yet")
        return mine[0].id
    found = memory.store.run(run)
    if found.agent != memory.agent:
        raise NotFoundError(f"no run {run!r} in the memory of {memory.agent!r}")
    return found.id


def _own_review(memory: Memory, review: str) -> str:
    found = memory.store.review(review)
    if found.agent != memory.agent:
        raise NotFoundError(f"no review {review!r} in the memory of {memory.agent!r}")
    return found.id


def _decisions(memory: Memory, decisions: Sequence[Decision]) -> dict[str, Any]:
    """Decisions as an agent needs them, and the facts they speak of."""
    shown = decisions[:MOST_SHOWN]
    ids = {fact_id for each in shown for fact_id in (each.subject, each.object)}
    facts = memory.store.facts(ids=tuple(ids), statuses=None)
    return {
        "count": len(decisions),
        "decisions": [
            {
                "id": each.id,
                "kind": each.kind.value,
                "fact": each.subject,
                "other": each.object,
                "reason": each.reason,
                "sentence": each.sentence,
            }
            for each in shown
        ],
        "facts": {fact.id: fact_data(fact) for fact in facts},
    }
