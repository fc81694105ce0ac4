"""Steps from one assessment to the next, and when two typed values are one. Pure."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from consolidate.judge.reading import Reading
from consolidate.judge.values import Value
from consolidate.types import Assessment, Relation

__all__ = [
    "FRAME_CONFIDENCE",
    "MEASURED",
    "ask",
    "differ_by_one",
    "drop",
    "is_planned",
    "matches",
    "missing",
    "raised",
]

FRAME_CONFIDENCE: Final = 0.97
"""Confidence in a relation that the words themselves show: one frame, values equal or different."""

MEASURED: Final = ("number", "quantity", "money", "percent")
"""Kinds of values that say how much."""


def is_planned(reading: Reading) -> bool:
    """Whether a fact speaks of what is meant to be or will be."""
    return reading.modality.plan or reading.modality.future or reading.behaviour.planned


def ask(found: Assessment, because: str) -> Assessment:
    """Leave what was found to a person, and say why."""
    return replace(found, review_only=True, because=(*found.because, because))


def drop(found: Assessment, reason: str, because: str) -> Assessment:
    """Take a relation back, and say why."""
    return replace(
        found, relation=Relation.COMPATIBLE, reason=reason, because=(*found.because, because)
    )


def raised(found: Assessment, relation: Relation, reason: str, because: str) -> Assessment:
    """Find a relation in the words themselves, and say how."""
    confidence = FRAME_CONFIDENCE
    if found.relation is relation:
        confidence = max(confidence, found.confidence)
    return replace(
        found,
        relation=relation,
        confidence=confidence,
        reason=reason,
        because=(*found.because, because),
    )


def missing(of: tuple[Value, ...], other: tuple[Value, ...]) -> tuple[Value, ...]:
    """Values of one text that the other does not hold in any form."""
    return tuple(v for v in of if not any(matches(v, w) for w in other))


def matches(a: Value, b: Value) -> bool:
    """Whether two values are one value, perhaps in another form or cut short."""
    if a.kind == "date" and b.kind == "date":
        # A date without year, or a year without day, fits a fuller one
        return all(
            x == y or "?" in x + y
            for x, y in zip(a.amount.split("-"), b.amount.split("-"), strict=False)
        )
    if a.kind == "quantity" and b.kind == "quantity":
        # Customary rounding: 70 kg is 154 lb
        x, y = float(a.amount), float(b.amount)
        return a.unit == b.unit and abs(x - y) <= 0.006 * max(abs(x), abs(y))
    if {a.kind, b.kind} <= {"number", "version"}:
        return a.amount == b.amount  # the counted noun may be worded otherwise
    return a.key == b.key


def differ_by_one(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    """Whether two frames differ in a single place."""
    return len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1
