"""The facts of one call on their way into the memory, and the case that is made of them.

Knows no store and no model.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any

import numpy as np
import numpy.typing as npt

from consolidate.judge.trust import default_trust
from consolidate.memory.extraction import Claim
from consolidate.memory.judging import Judgement
from consolidate.memory.records import RememberedFact
from consolidate.stages.work import Book
from consolidate.store.ids import make_ids
from consolidate.store.rows import fact_hash
from consolidate.types import Fact, NewFact, Snapshot

__all__ = ["Batch", "Case", "Meanwhile", "fact_of", "natural", "refused", "with_words"]

Vectors = npt.NDArray[np.float32]


class Meanwhile(Exception):
    """Something was written between judging and writing."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """New facts with what they were judged against, and what came of it."""

    mark: int
    """`Store.newest` before anything was read."""
    fresh: tuple[Fact, ...] = ()
    around: Snapshot = field(default_factory=lambda: Snapshot(agent="", facts=()))
    """What they were judged against, without themselves."""
    judgement: Judgement = field(
        default_factory=lambda: Judgement(decisions=(), due=None, book=Book())
    )
    vectors: Vectors = field(default_factory=lambda: np.zeros((0, 0), dtype=np.float32))
    """Of the new facts, shape (len(fresh), dimensions)."""
    bars: Vectors = field(default_factory=lambda: np.zeros(0, dtype=np.float32))
    """Cosine above which another fact would be compared with each, shape (len(fresh),)."""
    names: frozenset[str] = frozenset()
    """Keys of names that the new facts mention and few others do."""
    note: str = ""
    """The reason told where nothing was decided about a fact."""


@dataclass(kw_only=True)
class Batch:
    """The facts of one call, under ids of their own, and what is settled about them."""

    told: Sequence[NewFact]
    facts: list[Fact]
    settled: dict[int, RememberedFact] = field(default_factory=dict)

    @classmethod
    def of(cls, told: Sequence[NewFact], now: datetime) -> Batch:
        """Give ids and times to what was told."""
        # What is said later in a text is recorded later, as `Store.add` will, so that it can take
        # the place of what came before.
        facts = [
            fact_of(new, fact_id, now + timedelta(microseconds=index))
            for index, (new, fact_id) in enumerate(zip(told, make_ids(now, len(told)), strict=True))
        ]
        return cls(told=told, facts=facts)

    def new(self, fact: Fact) -> NewFact:
        """A fact as it is given to the store."""
        index = next(i for i, each in enumerate(self.facts) if each.id == fact.id)
        return replace(self.told[index], id=fact.id)

    def in_order(self, outcomes: Mapping[str, RememberedFact]) -> tuple[RememberedFact, ...]:
        """What became of all of them, in the order in which they were said."""
        return tuple(
            self.settled[index] if index in self.settled else outcomes[fact.id]
            for index, fact in enumerate(self.facts)
        )


def fact_of(new: NewFact, fact_id: str, recorded_at: datetime) -> Fact:
    """A new fact as the store will hold it."""
    return Fact(
        id=fact_id,
        agent=new.agent,
        kind=new.kind,
        text=new.text,
        metadata=new.metadata,
        stated_at=new.stated_at,
        valid_from=new.valid_from,
        valid_to=new.valid_to,
        recorded_at=recorded_at,
        source=new.source,
        trust=default_trust(new.source) if new.trust is None else new.trust,
        intensity=new.intensity,
        content_hash=fact_hash(new.text),
    )


def natural(fact: Fact) -> tuple[Any, ...]:
    """What makes two facts the same statement, as in `Store.add`."""
    return (fact.kind, fact.content_hash, fact.stated_at, fact.source)


def refused(fact: Fact, reason: str) -> RememberedFact:
    """What became of a fact that is not stored."""
    return RememberedFact(
        id="",
        text=fact.text,
        action="refused",
        reason=reason,
        intensity=fact.intensity,
        kind=fact.kind,
    )


def with_words(metadata: Mapping[str, Any], claim: Claim) -> dict[str, Any]:
    """Metadata with the words that a fact was read from, where it is worded otherwise."""
    changed = claim.said != claim.text and "said_as" not in metadata
    return {**metadata, **({"said_as": claim.said} if changed else {})}
