"""Says of one new fact what became of it, from the decisions that were carried out. Pure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace

from consolidate.memory.records import Action, RememberedFact
from consolidate.stages.outcome import RETIRED_REPEAT
from consolidate.types import Decision, DecisionKind, Fact

__all__ = ["outcome_of"]


def outcome_of(
    fact: Fact,
    decisions: Sequence[Decision],
    after: Mapping[str, Fact],
    *,
    dismissed: Collection[str] = (),
    otherwise: str = "",
) -> RememberedFact:
    """Tell what became of a fact.

    Args:
        fact: The new fact.
        decisions: What was carried out.
        after: The facts as they are now, by id.
        dismissed: Ids of reviews that a language model has answered: both facts hold.
        otherwise: The reason where no decision names the fact; empty is that it is new.
    """
    mine = [d for d in decisions if fact.id in (d.subject, d.object)]
    stands = _standing(fact.id, after)

    def told(
        action: Action, chosen: Sequence[Decision], other: str | None, id_: str = fact.id
    ) -> RememberedFact:
        return RememberedFact(
            id=id_,
            text=fact.text,
            action=action,
            reason=" ".join(d.sentence for d in chosen) or otherwise or "nothing like it is known",
            intensity=round(after[id_].intensity, 6),
            kind=fact.kind,
            other=other,
        )

    absorbed = [d for d in mine if d.kind is DecisionKind.MERGE and d.subject == fact.id]
    if absorbed:
        outcome = told("strengthened", absorbed, fact.id, stands)
        if absorbed[0].reason == RETIRED_REPEAT:
            reason = f"{outcome.reason} That was superseded before and stays so."
            return replace(outcome, reason=reason)
        return outcome
    replaced = [d for d in mine if d.kind is DecisionKind.SUPERSEDE and d.object == fact.id]
    if replaced:
        return told("superseded", replaced, replaced[0].subject)
    taken_in = [d for d in mine if d.kind is DecisionKind.MERGE and d.object == fact.id]
    if taken_in:
        more = any(d.reason == "contained" or _has_more(d) for d in taken_in)
        return told("refined" if more else "strengthened", taken_in, taken_in[0].subject)
    outdated = [d for d in mine if d.kind is DecisionKind.SUPERSEDE]
    if outdated:
        return told("added", outdated, outdated[0].object)
    asked = [d for d in mine if d.kind is DecisionKind.REVIEW and d.id not in dismissed]
    if asked:
        return told("review", asked, _other(asked[0], fact.id))
    answered = [d for d in mine if d.id in dismissed]
    if answered:
        outcome = told("added", answered, _other(answered[0], fact.id))
        reason = f"{outcome.reason} A language model finds that both hold."
        return replace(outcome, reason=reason)
    linked = [d for d in mine if d.kind is DecisionKind.LINK]
    return told("added", linked, _other(linked[0], fact.id) if linked else None)


def _has_more(decision: Decision) -> bool:
    return any("a name or value more" in why for e in decision.evidence for why in e.because)


def _other(decision: Decision, fact: str) -> str:
    return decision.object if decision.subject == fact else decision.subject


def _standing(fact: str, after: Mapping[str, Fact]) -> str:
    """What a fact was merged into at last."""
    seen = set()
    while fact not in seen and (into := after[fact].merged_into) is not None and into in after:
        seen.add(fact)
        fact = into
    return fact
