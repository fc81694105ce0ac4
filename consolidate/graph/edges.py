"""From facts to the edges of the graph: which of a fact's statements it means."""

from __future__ import annotations

from collections.abc import Iterable

from consolidate.judge.declared import declared_in
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
    declared = declared_in(fact)
    if declared is not None:
        return (
            Triple(
                subject=declared.subject,
                predicate=declared.predicate,
                object=declared.object,
                value=fact.text[slice(*declared.object)],
                weight=declared.weight,
            ),
        )
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
