"""From facts to the edges of the graph: which of a fact's statements it means."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from consolidate.judge.kinds import behaviour_of
from consolidate.judge.modality import modality_of
from consolidate.judge.statements import PRINCIPAL, Statement, statements_of
from consolidate.types import Fact, Triple

__all__ = ["statements_that_hold", "triples_of"]


def triples_of(facts: Iterable[Fact]) -> dict[str, tuple[Triple, ...]]:
    """What facts state, by id.

    A plan, a question, hearsay, what is over or denied states nothing that holds. Pure.
    """
    return {fact.id: _triples(fact) for fact in facts}


def statements_that_hold(text: str) -> list[Statement]:
    """What a text states as so: not what it plans, asks, reports, denies or says is over."""
    mood = modality_of(text)
    if not mood.is_plain or mood.past or mood.negations or mood.ended:
        return []
    return list(statements_of(text))


def _triples(fact: Fact) -> tuple[Triple, ...]:
    declared = _declared(fact)
    if declared is not None:
        return (declared,)
    if behaviour_of(fact.kind).planned:
        return ()
    return tuple(
        Triple(
            subject=None if each.subject == PRINCIPAL else each.subject_span,
            predicate=each.predicate,
            object=each.object_span,
            value=each.object,
        )
        for each in statements_that_hold(fact.text)
    )


def _declared(fact: Fact) -> Triple | None:
    """The edge that a fact of kind `relation` was stored for (`graph.joining`): "A PREDICATE B"."""
    edge = fact.metadata.get("edge")
    if fact.kind != "relation" or not isinstance(edge, Mapping):
        return None
    predicate, weight = edge.get("predicate"), edge.get("weight", 1.0)
    if not isinstance(predicate, str) or f" {predicate} " not in fact.text:
        return None
    subject, _, value = fact.text.partition(f" {predicate} ")
    return Triple(
        subject=(0, len(subject)),
        predicate=predicate,
        object=(len(fact.text) - len(value), len(fact.text)),
        value=value,
        weight=float(weight) if isinstance(weight, int | float) and weight > 0 else 1.0,
    )
