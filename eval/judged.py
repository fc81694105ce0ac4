"""Labelled pairs, and what the judge makes of each: a pair is a memory of two facts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.judge.assess import assess, relation_of
from consolidate.judge.layers import Layers
from consolidate.judge.reading import Reading, read
from consolidate.protocols import ContradictionClassifier, Embedder, EntityExtractor
from consolidate.stages.classify import classify
from consolidate.stages.embed import embed
from consolidate.stages.entities import entities
from consolidate.stages.work import Progress, Tally, silent
from consolidate.store import Store
from consolidate.times import parse_time
from consolidate.types import Assessment, Fact, Pair, Relation, Verdict
from eval.controls import best_threshold
from eval.metrics import three_way
from eval.record import SETS, read_jsonl

__all__ = [
    "PAIRS",
    "RECORDED",
    "Judged",
    "Row",
    "cosine_threshold",
    "cosines",
    "facts_of",
    "judge",
    "read_rows",
]

PAIRS: Final = SETS / "memory_pairs"

RECORDED: Final = datetime(2026, 11, 30, tzinfo=UTC)
"""When the labelled facts count as recorded: later than any date in the sets."""

_RELATIONS: Final = {
    "a_entails_b": Relation.LEFT_ENTAILS_RIGHT,
    "b_entails_a": Relation.RIGHT_ENTAILS_LEFT,
}


@dataclass(frozen=True, kw_only=True)
class Row:
    """A labelled pair."""

    id: str
    a: str
    b: str
    a_time: str | None = None
    b_time: str | None = None
    relation: str
    winner: str | None = None
    category: str = ""
    lang: str = ""

    @property
    def gold(self) -> str:
        """The label as one of `eval.metrics.CLASSES`."""
        return three_way(self.relation)

    @property
    def five_way(self) -> Relation:
        """The label as the judge's relation, a on the left."""
        return _RELATIONS.get(self.relation) or Relation(self.relation)


@dataclass(frozen=True, kw_only=True)
class Judged:
    """A labelled pair and what was made of it."""

    row: Row
    readings: tuple[Reading, Reading]
    verdict: Verdict
    assessment: Assessment

    @property
    def left(self) -> Fact:
        """The first fact."""
        return self.readings[0].fact

    @property
    def right(self) -> Fact:
        """The second fact."""
        return self.readings[1].fact

    def under(self, layers: Layers, slots: Mapping[str, str] | None = None) -> Judged:
        """The same pair and verdict, judged with these layers."""
        made = assess(*self.readings, self.verdict, slots=slots, layers=layers)
        return replace(self, assessment=made)

    @property
    def predicted(self) -> str:
        """What the judge says, as one of `eval.metrics.CLASSES`."""
        return three_way(self.assessment.relation)

    @property
    def predicted_alone(self) -> str:
        """What the classifier says before any layer."""
        return three_way(relation_of(self.verdict)[0])

    @property
    def contradiction(self) -> float:
        """How sure the judge is that one retires the other; 0 where it may only ask."""
        found = self.assessment
        acts = found.relation is Relation.CONTRADICTS and not found.review_only
        return found.confidence if acts else 0.0

    @property
    def contradiction_alone(self) -> float:
        """The classifier's probability, averaged over both directions."""
        forward, backward = self.verdict.forward, self.verdict.backward
        if forward is None or backward is None:
            return 0.0
        return (forward.contradiction + backward.contradiction) / 2


def read_rows(paths: Iterable[Path]) -> list[Row]:
    """Read labelled pairs, files in order of their names."""
    wanted = Row.__dataclass_fields__.keys()
    return [
        Row(**{key: value for key, value in row.items() if key in wanted})
        for path in sorted(paths)
        for row in read_jsonl(path)
    ]


def judge(
    rows: Sequence[Row],
    classifier: ContradictionClassifier,
    extractor: EntityExtractor,
    *,
    slots: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> list[Judged]:
    """Judge each row as a memory of two facts."""
    couples = [facts_of(row) for row in rows]
    facts = {fact.id: fact for couple in couples for fact in couple}
    pairs = [Pair(left=a.id, right=b.id, rule="labelled") for a, b in couples]
    with Store.open(":memory:") as store:
        mentions = entities(
            store, extractor, list(facts.values()), tally=Tally("entities"), progress=progress
        )
        verdicts = classify(
            store,
            classifier,
            pairs,
            facts,
            budget=0,
            tally=Tally("classify"),
            progress=progress,
        )
    found = []
    for row, (left, right) in zip(rows, couples, strict=True):
        verdict = verdicts[left.id, right.id]
        readings = read(left, mentions[left.id]), read(right, mentions[right.id])
        made = assess(*readings, verdict, slots=slots)
        found.append(Judged(row=row, readings=readings, verdict=verdict, assessment=made))
    return found


def facts_of(row: Row) -> tuple[Fact, Fact]:
    """The two facts of a pair."""
    return _fact(row.id, "a", row.a, row.a_time), _fact(row.id, "b", row.b, row.b_time)


def _fact(row_id: str, side: str, text: str, stated: str | None) -> Fact:
    return Fact(
        id=f"{row_id}-{side}",
        agent="default",
        kind="fact",
        text=text,
        stated_at=None if stated is None else parse_time(stated, zone="UTC"),
        recorded_at=RECORDED,
        source="user",
        trust=1.0,
        content_hash=sha256(text.encode()).hexdigest(),
    )


def cosine_threshold(embedder: Embedder, *, sets: Path = PAIRS) -> float:
    """The cosine from which on two texts of the dev split are best called duplicates."""
    dev = read_rows((sets / "dev").glob("*.jsonl"))
    return best_threshold(cosines(dev, embedder), [row.gold for row in dev])


def cosines(rows: Sequence[Row], embedder: Embedder) -> npt.NDArray[np.float64]:
    """The cosine of the two texts of each pair."""
    facts = [fact for row in rows for fact in facts_of(row)]
    with Store.open(":memory:") as store:
        vectors = embed(store, embedder, facts, tally=Tally("embed"), progress=silent)
    both = vectors.astype(np.float64).reshape(len(rows), 2, -1)
    cosines: npt.NDArray[np.float64] = (both[:, 0] * both[:, 1]).sum(axis=1)
    return cosines
