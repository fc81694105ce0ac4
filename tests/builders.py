"""Short ways to make records for tests."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from consolidate.types import (
    Assessment,
    Fact,
    FactStatus,
    Mention,
    NewFact,
    Pair,
    Relation,
    Scores,
    Unique,
    Verdict,
)

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def day(offset: float) -> datetime:
    """A moment `offset` days after the start of 2026."""
    return datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=offset)


def fact(
    fact_id: str,
    text: str | None = None,
    stated: float | None = 0,
    *,
    status: FactStatus = FactStatus.ACTIVE,
    superseded_by: str | None = None,
    trust: float = 1.0,
    kind: str = "fact",
    valid_from: float | None = None,
    valid_to: float | None = None,
    recorded: float = 300,
) -> Fact:
    text = fact_id if text is None else text
    return Fact(
        id=fact_id,
        agent="default",
        kind=kind,
        text=text,
        stated_at=None if stated is None else day(stated),
        valid_from=None if valid_from is None else day(valid_from),
        valid_to=None if valid_to is None else day(valid_to),
        recorded_at=day(recorded),
        source="user",
        trust=trust,
        content_hash=hashlib.sha256(text.encode()).hexdigest(),
        status=status,
        superseded_by=superseded_by,
    )


def said(text: str, stated: float | None = 0, **fields: object) -> NewFact:
    """A new fact from the user, said `stated` days after the start of 2026."""
    when = None if stated is None else day(stated)
    return NewFact(text=text, stated_at=when, source="user", **fields)  # type: ignore[arg-type]


def verdict(relation: Relation | str = Relation.COMPATIBLE, confidence: float = 0.99) -> Verdict:
    """A verdict that reads as `relation` with this confidence."""
    rest = (1 - confidence) / 2
    entails = Scores(entailment=confidence, neutral=rest, contradiction=rest)
    neutral = Scores(entailment=rest, neutral=confidence, contradiction=rest)
    against = Scores(entailment=rest, neutral=rest, contradiction=confidence)
    forward, backward = {
        Relation.EQUIVALENT: (entails, entails),
        Relation.LEFT_ENTAILS_RIGHT: (entails, neutral),
        Relation.RIGHT_ENTAILS_LEFT: (neutral, entails),
        Relation.CONTRADICTS: (against, against),
        Relation.COMPATIBLE: (neutral, neutral),
    }[Relation(relation)]
    return Verdict(forward=forward, backward=backward, model="test")


def assessment(
    left: str, right: str, relation: Relation, confidence: float = 0.99, **fields: object
) -> Assessment:
    return Assessment(
        left=left,
        right=right,
        relation=relation,
        confidence=confidence,
        reason="classifier",
        because=("by the test",),
        **fields,  # type: ignore[arg-type]
    )


def singles(facts: Sequence[Fact]) -> tuple[Unique, ...]:
    return tuple(Unique(representative=f.id, members=(f.id,)) for f in facts)


def pairs_of(found: Mapping[tuple[str, str], Assessment]) -> tuple[Pair, ...]:
    return tuple(Pair(left=left, right=right, rule="neighbour") for left, right in sorted(found))


def mention(text: str, part: str, label: str = "name") -> Mention:
    start = text.index(part)
    return Mention(start=start, end=start + len(part), text=part, label=label)
