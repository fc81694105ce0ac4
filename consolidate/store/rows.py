"""Facts, links and reviews as rows, and the one predicate for what readers see by default.

A row has one text form for one value (times of fixed width, canonical JSON), so that rows can
be compared byte for byte; digests are taken over that form. This module runs no SQL.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any

from consolidate.errors import InputError, StoreError
from consolidate.serialise import canonical, decision_from_json, decision_to_json
from consolidate.times import format_time, read_time
from consolidate.types import (
    Alias,
    DeclaredEntity,
    EntityPin,
    Fact,
    FactStatus,
    Link,
    Review,
    ReviewState,
)

__all__ = [
    "ALIAS_COLUMNS",
    "DECLARED_COLUMNS",
    "FACT_COLUMNS",
    "FACT_SQL",
    "LINK_COLUMNS",
    "LIVE",
    "LIVE_SQL",
    "PIN_COLUMNS",
    "REVIEW_COLUMNS",
    "alias_from_row",
    "alias_to_row",
    "declared_from_row",
    "declared_to_row",
    "fact_digest",
    "fact_from_row",
    "fact_hash",
    "fact_to_row",
    "link_from_row",
    "link_to_row",
    "ordered",
    "pin_from_row",
    "pin_to_row",
    "placeholders",
    "review_from_row",
    "review_to_row",
]

LIVE = frozenset(status for status in FactStatus if status.is_live)
"""What readers see by default."""

LIVE_SQL = "facts.status IN (" + ", ".join(f"'{status}'" for status in sorted(LIVE)) + ")"
"""The same as a condition. Every query with a default view uses this one."""

FACT_COLUMNS = (
    "id",
    "agent",
    "kind",
    "text",
    "metadata",
    "stated_at",
    "confirmed_at",
    "valid_from",
    "valid_to",
    "recorded_at",
    "source",
    "trust",
    "intensity",
    "encounters",
    "access_count",
    "last_access",
    "content_hash",
    "status",
    "superseded_by",
    "merged_into",
    "changed_by",
)
FACT_SQL = ", ".join(f"facts.{column}" for column in FACT_COLUMNS)

LINK_COLUMNS = ("agent", "left_fact", "right_fact", "relation", "run")

REVIEW_COLUMNS = (
    "id",
    "agent",
    "state",
    "left_fact",
    "right_fact",
    "decision",
    "run",
    "decided_at",
)

ALIAS_COLUMNS = ("agent", "canonical", "alias", "never", "declared_at")
DECLARED_COLUMNS = ("agent", "key", "name", "type", "note", "declared_at")
PIN_COLUMNS = ("agent", "fact", "name", "entity", "declared_at")

_STATUSES = {status.value: status for status in FactStatus}


def fact_hash(text: str) -> str:
    """SHA-256 of a text as it is, in hex: what `Fact.content_hash` holds.

    Raises:
        InputError: The text has a lone surrogate, which no UTF-8 can hold.
    """
    try:
        return hashlib.sha256(text.encode()).hexdigest()
    except UnicodeEncodeError as error:
        raise InputError(f"{text[:40]!r} holds a lone surrogate (half a character)") from error


def fact_digest(fact: Fact) -> str:
    """SHA-256 over a fact's row: it changes when anything of the fact changes."""
    return hashlib.sha256(canonical(list(fact_to_row(fact))).encode()).hexdigest()


def fact_to_row(fact: Fact) -> tuple[Any, ...]:
    """Write a fact in the order of `FACT_COLUMNS`."""
    return (
        fact.id,
        fact.agent,
        fact.kind,
        fact.text,
        canonical(dict(fact.metadata)),
        _time(fact.stated_at),
        _time(fact.confirmed_at),
        _time(fact.valid_from),
        _time(fact.valid_to),
        format_time(fact.recorded_at),
        fact.source,
        float(fact.trust),
        float(fact.intensity),
        fact.encounters,
        fact.access_count,
        _time(fact.last_access),
        fact.content_hash,
        fact.status.value,
        fact.superseded_by,
        fact.merged_into,
        fact.changed_by,
    )


def fact_from_row(row: Sequence[Any]) -> Fact:
    """Read a row in the order of `FACT_COLUMNS`.

    Raises:
        StoreError: Something else than this package wrote the row.
    """
    try:
        return _fact(row)
    except (ValueError, TypeError, KeyError) as error:
        raise StoreError(
            f"the stored row of fact {row[0]!r} is damaged ({error}); restore a copy of the file"
        ) from error


def _fact(row: Sequence[Any]) -> Fact:
    return Fact(
        id=row[0],
        agent=row[1],
        kind=row[2],
        text=row[3],
        # Most facts have none, and a snapshot reads tens of thousands.
        metadata={} if row[4] == "{}" else json.loads(row[4]),
        stated_at=row[5] and read_time(row[5]),
        confirmed_at=row[6] and read_time(row[6]),
        valid_from=row[7] and read_time(row[7]),
        valid_to=row[8] and read_time(row[8]),
        recorded_at=read_time(row[9]),
        source=row[10],
        trust=row[11],
        intensity=row[12],
        encounters=row[13],
        access_count=row[14],
        last_access=row[15] and read_time(row[15]),
        content_hash=row[16],
        status=_STATUSES[row[17]],
        superseded_by=row[18],
        merged_into=row[19],
        changed_by=row[20],
    )


def link_to_row(agent: str, link: Link, run: str | None) -> tuple[Any, ...]:
    """Write a link in the order of `LINK_COLUMNS`."""
    return (agent, link.left, link.right, link.relation, run)


def link_from_row(row: Sequence[Any]) -> Link:
    """Read a row in the order of `LINK_COLUMNS`."""
    return Link(left=row[1], right=row[2], relation=row[3], run=row[4])


def review_to_row(review: Review) -> tuple[Any, ...]:
    """Write a review in the order of `REVIEW_COLUMNS`."""
    left, right = ordered(review.decision.subject, review.decision.object)
    return (
        review.id,
        review.agent,
        review.state.value,
        left,
        right,
        decision_to_json(review.decision),
        review.run,
        _time(review.decided_at),
    )


def review_from_row(row: Sequence[Any]) -> Review:
    """Read a row in the order of `REVIEW_COLUMNS`."""
    return Review(
        id=row[0],
        agent=row[1],
        state=ReviewState(row[2]),
        decision=decision_from_json(row[5]),
        run=row[6],
        decided_at=row[7] and read_time(row[7]),
    )


def alias_to_row(alias: Alias) -> dict[str, Any]:
    """Write a declared name as columns and values."""
    values = (alias.agent, alias.canonical, alias.alias, int(alias.never), _time(alias.declared_at))
    return dict(zip(ALIAS_COLUMNS, values, strict=True))


def alias_from_row(row: Sequence[Any]) -> Alias:
    """Read a row in the order of `ALIAS_COLUMNS`."""
    return Alias(
        agent=row[0],
        canonical=row[1],
        alias=row[2],
        never=bool(row[3]),
        declared_at=row[4] and read_time(row[4]),
    )


def declared_to_row(entity: DeclaredEntity) -> dict[str, Any]:
    """Write a declared entity as columns and values."""
    values = (
        entity.agent,
        entity.key,
        entity.name,
        entity.type,
        entity.note,
        _time(entity.declared_at),
    )
    return dict(zip(DECLARED_COLUMNS, values, strict=True))


def declared_from_row(row: Sequence[Any]) -> DeclaredEntity:
    """Read a row in the order of `DECLARED_COLUMNS`."""
    return DeclaredEntity(
        agent=row[0],
        key=row[1],
        name=row[2],
        type=row[3],
        note=row[4],
        declared_at=row[5] and read_time(row[5]),
    )


def pin_to_row(pin: EntityPin) -> dict[str, Any]:
    """Write a declaration about one fact as columns and values."""
    values = (pin.agent, pin.fact, pin.name, pin.entity, _time(pin.declared_at))
    return dict(zip(PIN_COLUMNS, values, strict=True))


def pin_from_row(row: Sequence[Any]) -> EntityPin:
    """Read a row in the order of `PIN_COLUMNS`."""
    return EntityPin(
        agent=row[0],
        fact=row[1],
        name=row[2],
        entity=row[3],
        declared_at=row[4] and read_time(row[4]),
    )


def ordered(left: str, right: str) -> tuple[str, str]:
    """The pair with the smaller id first, as everywhere in the package."""
    return (left, right) if left <= right else (right, left)


def placeholders(values: Collection[object]) -> str:
    """`?, ?, ?` for as many values; for short lists only, see `Database.among` for long ones."""
    return ", ".join("?" * len(values))


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)
