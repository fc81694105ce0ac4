"""From facts to the edges of the graph: which of a fact's statements it means."""

from __future__ import annotations

from collections.abc import Iterable

from consolidate.judge.kinds import behaviour_of
from consolidate.judge.modality import modality_of
from consolidate.judge.statements import PRINCIPAL, statements_of
from consolidate.types import Fact, Triple

__all__ = ["triples_of"]


def triples_of(facts: Iterable[Fact]) -> dict[str, tuple[Triple, ...]]:
    """What facts state, by id.

    A plan, a question, hearsay, what is over or denied states nothing that holds. Pure.
    """
    return {fact.id: _triples(fact) for fact in facts}


def _triples(fact: Fact) -> tuple[Triple, ...]:
    mood = modality_of(fact.text)
    behaviour = behaviour_of(fact.kind)
    if not mood.is_plain or mood.past or mood.negations or mood.ended or behaviour.planned:
        return ()
    return tuple(
        Triple(
            subject=None if each.subject == PRINCIPAL else each.subject_span,
            predicate=each.predicate,
            object=each.object_span,
            value=each.object,
        )
        for each in statements_of(fact.text)
    )
