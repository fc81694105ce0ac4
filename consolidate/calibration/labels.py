"""Labelled pairs: read from a file, written to one, and judged as a run would judge them.

One JSON object a line: `id`, `a`, `b`, `relation`, and where known `a_time`, `b_time` and
`winner` (`a` or `b`: the fact that holds, of two that contradict each other). Other keys are left
alone.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any, Final

from consolidate.backends import Backends
from consolidate.calibration.curve import Scored
from consolidate.errors import ConsolidateError, InputError
from consolidate.exchange.lines import json_lines
from consolidate.judge.assess import assess
from consolidate.judge.language import language_of_pair
from consolidate.judge.reading import read
from consolidate.stages.classify import classify
from consolidate.stages.collapse import collapse
from consolidate.stages.decide import Policy, decide
from consolidate.stages.entities import entities
from consolidate.stages.work import Progress, Tally, silent
from consolidate.store import Store
from consolidate.times import format_time, parse_time
from consolidate.types import (
    Assessment,
    Decision,
    DecisionKind,
    Fact,
    Pair,
    Relation,
    Review,
    ReviewState,
    Verdict,
)

__all__ = ["Label", "exported", "judged", "read_labels", "scored"]

RELATIONS: Final = ("equivalent", "a_entails_b", "b_entails_a", "contradicts", "compatible")
_FOUND: Final = {
    Relation.LEFT_ENTAILS_RIGHT: "a_entails_b",
    Relation.RIGHT_ENTAILS_LEFT: "b_entails_a",
}
_RECORDED: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""Labelled facts count as recorded after anything they tell of."""

_ALWAYS: Final = Policy(merge=0.0, supersede=0.0, review=0.0)
"""Acts however unsure the judge is, so that the outcome tells what each threshold would do."""


@dataclass(frozen=True, kw_only=True)
class Label:
    """A pair of facts and what a person says they are to each other."""

    id: str
    a: str
    b: str
    relation: str
    """One of `RELATIONS`."""
    winner: str | None = None
    """`a`, `b`, or None: not said."""
    a_time: datetime | None = None
    b_time: datetime | None = None

    @property
    def facts(self) -> tuple[Fact, Fact]:
        """The two as facts of one memory."""
        return (
            _fact(f"{self.id}-a", self.a, self.a_time),
            _fact(f"{self.id}-b", self.b, self.b_time),
        )


def read_labels(
    data: bytes, *, zone: str = "UTC"
) -> tuple[list[Label], list[tuple[int, InputError]]]:
    """Read labels.

    Args:
        data: The file.
        zone: Of times without one.

    Returns:
        The labels, and lines that are none, with their numbers and what is wrong.
    """
    labels: list[Label] = []
    broken: list[tuple[int, InputError]] = []
    seen: set[str] = set()
    for number, row in json_lines(data):
        try:
            label = _label(row, number, zone)
            if label.id in seen:
                raise InputError(f"the id {label.id!r} is used before")
            seen.add(label.id)
            labels.append(label)
        except InputError as error:
            broken.append((number, error))
    return labels, broken


def _label(row: Any, number: int, zone: str) -> Label:
    if isinstance(row, InputError):
        raise row
    if not isinstance(row, dict):
        raise InputError(f"not an object but {type(row).__name__}")
    for key in ("a", "b"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            raise InputError(f"{key!r} must be the text of a fact, not {row.get(key)!r}")
    if row.get("relation") not in RELATIONS:
        raise InputError(
            f"'relation' must be one of {', '.join(RELATIONS)}, not {row.get('relation')!r}"
        )
    if row.get("winner") not in (None, "a", "b"):
        raise InputError(f"'winner' must be 'a', 'b' or null, not {row['winner']!r}")
    return Label(
        id=str(row.get("id") or f"line{number}"),
        a=row["a"],
        b=row["b"],
        relation=row["relation"],
        winner=row.get("winner"),
        a_time=_time(row, "a_time", zone),
        b_time=_time(row, "b_time", zone),
    )


def _time(row: Mapping[str, Any], key: str, zone: str) -> datetime | None:
    value = row.get(key)
    if value is None:
        return None
    if not isinstance(value, str):
        raise InputError(f"{key!r} must be a time, not {value!r}")
    try:
        return parse_time(value, zone=zone)
    except (ConsolidateError, ValueError) as error:
        raise InputError(f"{key!r}: {error}") from error


def _fact(fact_id: str, text: str, stated: datetime | None) -> Fact:
    return Fact(
        id=fact_id,
        agent="default",
        kind="fact",
        text=text,
        stated_at=stated,
        recorded_at=_RECORDED,
        source="user",
        trust=1.0,
        content_hash=sha256(text.encode("utf-8", "replace")).hexdigest(),
    )


# -- judging -----------------------------------------------------------------------------------


def judged(
    labels: Sequence[Label],
    backends: Backends,
    *,
    slots: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> tuple[list[Scored], list[Label]]:
    """Judge each labelled pair as a memory of two facts.

    Returns:
        What a run would do about each, and the pairs that count for nothing: repeats word for
        word, which a run merges without a judge, and those the model failed on.
    """
    couples = [label.facts for label in labels]
    facts = {fact.id: fact for couple in couples for fact in couple}
    pairs = [Pair(left=a.id, right=b.id, rule="labelled") for a, b in couples]
    backends.begin_run()
    with Store.open(":memory:") as store:
        mentions = entities(
            store,
            backends.extractor,
            list(facts.values()),
            tally=Tally("entities"),
            progress=progress,
        )
        verdicts = classify(
            store,
            backends.classifier,
            pairs,
            facts,
            budget=0,
            tally=Tally("classify"),
            progress=progress,
        )
    found: list[Scored] = []
    without: list[Label] = []
    for label, (a, b) in zip(labels, couples, strict=True):
        verdict = verdicts.get((a.id, b.id))
        if verdict is None or verdict.failure is not None or len(collapse((a, b))) == 1:
            without.append(label)
            continue
        made = assess(read(a, mentions[a.id]), read(b, mentions[b.id]), verdict, slots=slots)
        found.append(scored(a, b, label.relation, label.winner, verdict, made))
    return found, without


def scored(
    a: Fact, b: Fact, relation: str, winner: str | None, verdict: Verdict, made: Assessment
) -> Scored:
    """What a run would do about a pair, against its label.

    Args:
        a: The fact that the assessment has on the left.
        b: The other.
        relation: The label.
        winner: `a` or `b`, the one that holds; None does not say.
        verdict: What the classifier said.
        made: What the judge made of it.
    """
    decisions, _ = decide(
        {a.id: a, b.id: b},
        collapse((a, b)),
        [Pair(left=a.id, right=b.id, rule="labelled")],
        {(a.id, b.id): verdict},
        {(a.id, b.id): made},
        policy=_ALWAYS,
        now=_RECORDED,
    )
    done = next(
        (d for d in decisions if d.kind in (DecisionKind.MERGE, DecisionKind.SUPERSEDE)), None
    )
    return Scored(
        act=None if done is None else "merge" if done.kind is DecisionKind.MERGE else "supersede",
        confidence=made.confidence,
        relation=relation,
        right=done is not None and _is_right(done, a.id, relation, winner),
        language=language_of_pair(a.text, b.text),
        found=_FOUND.get(made.relation, str(made.relation)),
        sure=made.confidence,
    )


def _is_right(done: Decision, a_id: str, relation: str, winner: str | None) -> bool:
    stays = "a" if done.object == a_id else "b"
    if done.kind is DecisionKind.SUPERSEDE:
        return relation == "contradicts" and winner in (None, stays)
    richer = {"a_entails_b": "a", "b_entails_a": "b"}.get(relation)
    return relation == "equivalent" or richer == stays


# -- reviews as labels -------------------------------------------------------------------------


def exported(reviews: Iterable[Review], facts: Mapping[str, Fact]) -> tuple[list[str], int]:
    """Reviews that a person has decided, as lines of labels.

    Accepted ones are what was proposed. Of a rejected one it is only known that both facts stay:
    it counts as `compatible`.

    Args:
        reviews: Reviews in any state.
        facts: The facts they are about, by id.

    Returns:
        Lines without line feeds, and how many decided reviews tell nothing, since a fact is gone.
    """
    lines: list[str] = []
    gone = 0
    for review in reviews:
        if review.state is ReviewState.OPEN:
            continue
        subject = facts.get(review.decision.subject)
        other = facts.get(review.decision.object)
        if subject is None or other is None:
            gone += 1
            continue
        lines.append(json.dumps(_row(review, subject, other), ensure_ascii=False))
    return lines, gone


def _row(review: Review, subject: Fact, other: Fact) -> dict[str, Any]:
    relation, winner = "compatible", None
    if review.state is ReviewState.ACCEPTED:
        merged = subject.id == other.merged_into or other.id == subject.merged_into
        if merged:
            relation = _contained(review, subject)
        else:
            relation = "contradicts"
            winner = "a" if other.superseded_by == subject.id else "b"
    return {
        "id": review.id,
        "a": subject.text,
        "b": other.text,
        "a_time": _shown(subject),
        "b_time": _shown(other),
        "relation": relation,
        "winner": winner,
    }


def _contained(review: Review, subject: Fact) -> str:
    """Equivalent, or which of the two was held to say all of the other."""
    for evidence in review.decision.evidence:
        if evidence.relation is Relation.LEFT_ENTAILS_RIGHT:
            return "a_entails_b" if evidence.left == subject.id else "b_entails_a"
        if evidence.relation is Relation.RIGHT_ENTAILS_LEFT:
            return "b_entails_a" if evidence.left == subject.id else "a_entails_b"
    return "equivalent"


def _shown(fact: Fact) -> str | None:
    moment = fact.valid_from or fact.stated_at
    return None if moment is None else format_time(moment)
