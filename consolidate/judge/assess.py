"""Judges one pair: reads a relation from the classifier's verdict and lets the layers overrule it.

Order of the layers: typed values, slots, modality and time, then what the classifier said. A
layer may raise a relation (two facts of one frame whose values differ), forbid it (another
subject), or only forbid acting on it without a person. Each leaves a sentence in `because`.

Pure: no database, model or clock. Thresholds are not applied here but in `stages.decide`.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from consolidate.judge.entailment import Pair
from consolidate.judge.layers import ALL_LAYERS, Layers, dim
from consolidate.judge.pair import Same
from consolidate.judge.reading import Reading
from consolidate.judge.steps import is_planned
from consolidate.types import Assessment, Relation, Scores, Verdict

__all__ = ["Layers", "assess", "foregone", "relation_of"]


def relation_of(verdict: Verdict) -> tuple[Relation, float]:
    """Read the likeliest relation and its probability from a verdict in both directions.

    Contradiction is symmetric, so the two directions are averaged; equivalence needs entailment
    both ways, so the weaker one counts.
    """
    forward, backward = verdict.forward, verdict.backward
    if forward is None or backward is None:
        return Relation.COMPATIBLE, 0.0
    contradiction = (forward.contradiction + backward.contradiction) / 2
    equivalent = min(forward.entailment, backward.entailment)
    if contradiction >= max(0.5, equivalent):
        return Relation.CONTRADICTS, contradiction
    if equivalent >= 0.5:
        return Relation.EQUIVALENT, equivalent
    if forward.entailment >= 0.5:
        return Relation.LEFT_ENTAILS_RIGHT, min(forward.entailment, 1 - backward.contradiction)
    if backward.entailment >= 0.5:
        return Relation.RIGHT_ENTAILS_LEFT, min(backward.entailment, 1 - forward.contradiction)
    return Relation.COMPATIBLE, 1 - max(contradiction, equivalent)


def foregone(
    left: Reading,
    right: Reading,
    *,
    same_name: Same = lambda a, b: a == b,
    layers: Layers = ALL_LAYERS,
) -> str:
    """Why a pair comes out compatible whatever a classifier says of it; empty if it may not.

    Such pairs need not be asked about: `assess` gives the same for any verdict.
    """
    left, right = dim(left, layers), dim(right, layers)
    if not (left.latin and right.latin):
        return "language"
    linkable = left.frame == right.frame or is_planned(left) != is_planned(right)
    if not linkable and Pair(left, right, same_name, {}, layers).other_subject():
        return "other-subject"
    return ""


def assess(
    left: Reading,
    right: Reading,
    verdict: Verdict | None,
    *,
    same_name: Same = lambda a, b: a == b,
    doubtful: Collection[str] = (),
    slots: Mapping[str, str] | None = None,
    layers: Layers = ALL_LAYERS,
) -> Assessment:
    """Judge a pair.

    Args:
        left: The fact with the smaller id.
        right: The other.
        verdict: What the classifier said; None or a failure means it could not tell.
        same_name: Whether two name keys are one entity.
        doubtful: Keys of names in them that fit several entities.
        slots: Cardinalities of the user's own attributes.
        layers: Those that are at work; fewer than all only where their worth is measured.
    """
    if layers != ALL_LAYERS:
        left, right = dim(left, layers), dim(right, layers)
        verdict = _neutral(verdict) if not layers.classifier else verdict
        doubtful = doubtful if layers.names else ()
    found = _assess(Pair(left, right, same_name, slots or {}, layers), verdict, doubtful)
    return found if layers.policy else replace(found, review_only=False)


def _neutral(verdict: Verdict | None) -> Verdict | None:
    """A verdict that says nothing; a failure stays one."""
    if verdict is None or verdict.forward is None or verdict.backward is None:
        return verdict
    nothing = Scores(entailment=0.0, neutral=1.0, contradiction=0.0)
    return replace(verdict, forward=nothing, backward=nothing)


def _assess(pair: Pair, verdict: Verdict | None, doubtful: Collection[str]) -> Assessment:
    if verdict is None or verdict.forward is None or verdict.backward is None:
        why = verdict.failure if verdict and verdict.failure else "no verdict"
        return pair.result(Relation.COMPATIBLE, 0.0, "not-judged", f"not judged: {why}")
    if not (pair.left.latin and pair.right.latin):
        return pair.result(
            Relation.COMPATIBLE, 0.0, "language", "the judge does not read this script; left alone"
        )
    relation, confidence = relation_of(verdict)
    says = f"the classifier says {relation.replace('_', ' ')} ({confidence:.2f})"
    found = pair.result(relation, confidence, "classifier", says)
    if verdict.truncated:
        found = replace(found, review_only=True, because=(*found.because, "the texts were cut"))
    against = (verdict.forward.contradiction + verdict.backward.contradiction) / 2
    found = pair.by_words(found, against)
    if found.relation is Relation.CONTRADICTS:
        return pair.check_contradiction(found, doubtful)
    if found.relation is not Relation.COMPATIBLE:
        return pair.check_entailment(found)
    return pair.offer_link(found)
