"""What facts become by decisions. Pure: `apply` writes it, `decide` looks ahead with it.

A survivor's text, time of saying, source and trust stay its own; what was counted is added up.
The absorbed fact keeps its row, so nothing it said is lost.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Final

from consolidate.judge.recency import stated
from consolidate.stages.collapse import representative
from consolidate.types import Decision, DecisionKind, Fact, FactStatus, Unique

__all__ = ["RETIRED_REPEAT", "absorb", "carry_out", "still_standing"]


RETIRED_REPEAT: Final = "retired-repeat"
"""Reason of a merge into a fact that was retired before."""


def absorb(survivor: Fact, absorbed: Fact, reason: str = "") -> Fact:
    """The survivor after taking over encounters, accesses and confirmation of `absorbed`.

    Intensity is the average over encounters. Validity stays the survivor's own: to take over a
    start from another would move the survivor in time, past facts it was not compared with. For
    the same reason a retired survivor is not confirmed (`reason` tells): it would seem newer than
    what retired it.
    """
    encounters = survivor.encounters + absorbed.encounters
    intensity = (
        survivor.intensity * survivor.encounters + absorbed.intensity * absorbed.encounters
    ) / encounters
    return replace(
        survivor,
        encounters=encounters,
        intensity=intensity,
        access_count=survivor.access_count + absorbed.access_count,
        last_access=_latest(survivor.last_access, absorbed.last_access),
        confirmed_at=(
            survivor.confirmed_at if reason == RETIRED_REPEAT else _confirmed(survivor, absorbed)
        ),
    )


def _confirmed(survivor: Fact, absorbed: Fact) -> datetime | None:
    said = stated(absorbed)
    if said is None or (survivor.stated_at is not None and said <= survivor.stated_at):
        return survivor.confirmed_at
    return _latest(survivor.confirmed_at, said)


def _latest(a: datetime | None, b: datetime | None) -> datetime | None:
    return max(a, b) if a is not None and b is not None else a or b


def carry_out(
    decisions: Sequence[Decision], facts: Mapping[str, Fact], run: str
) -> dict[str, Fact]:
    """The facts that decisions change, in their new form, by id.

    Args:
        decisions: What is done; a fact is merged or superseded at most once.
        facts: All facts that decisions name, by id.
        run: The run that does it.
    """
    changed: dict[str, Fact] = {}

    def now_is(fact_id: str) -> Fact:
        return changed.get(fact_id, facts[fact_id])

    for decision in _children_first([d for d in decisions if d.kind is DecisionKind.MERGE]):
        absorbed, survivor = now_is(decision.subject), now_is(decision.object)
        changed[survivor.id] = absorb(survivor, absorbed, decision.reason)
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


def still_standing(
    facts: Mapping[str, Fact], uniques: Sequence[Unique], decisions: Sequence[Decision]
) -> tuple[dict[str, Fact], dict[str, bool]]:
    """Which texts remain after decisions.

    Returns:
        By representative: the fact that will stand for the text, as it will be but under the
        id of the representative, and whether any fact of the text is live.
    """
    after = {**facts, **carry_out(decisions, facts, "")}
    standing, live = {}, {}
    for unique in uniques:
        members = [after[m] for m in unique.members]
        remaining = [fact for fact in members if fact.status is not FactStatus.MERGED]
        if remaining:
            name = unique.representative
            standing[name] = replace(after[representative(remaining)], id=name)
            live[name] = any(fact.status.is_live for fact in remaining)
    return standing, live
