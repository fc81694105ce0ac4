"""Scores the judge on the labelled memory pairs, through the functions that a run uses.

Each pair is a memory of two facts: the stages `entities` and `classify`, then `assess`, then
`decide` with the thresholds of each profile. What is counted is what would have happened to the
two facts.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.backends import Backends
from consolidate.judge.assess import assess, relation_of
from consolidate.judge.reading import read
from consolidate.protocols import ContradictionClassifier, Embedder, EntityExtractor
from consolidate.settings import PROFILES, Settings
from consolidate.stages.classify import classify
from consolidate.stages.collapse import collapse
from consolidate.stages.decide import Policy, decide
from consolidate.stages.embed import embed
from consolidate.stages.entities import entities
from consolidate.stages.work import Progress, Tally, silent
from consolidate.store import Store
from consolidate.times import parse_time
from consolidate.types import (
    Assessment,
    Decision,
    DecisionKind,
    Fact,
    Pair,
    Relation,
    Verdict,
)
from eval.controls import Blind, best_band, best_threshold, by_band, by_text, by_threshold
from eval.metrics import CLASSES, accuracy, catch_at_false_rate, macro_f1, three_way
from eval.public import public_scores
from eval.record import SETS, files_digest, heading, read_jsonl

__all__ = ["PAIRS", "Judged", "Row", "cosine_threshold", "judge", "outcomes", "read_rows",
           "run_pairs", "scores"]  # fmt: skip

PAIRS: Final = SETS / "memory_pairs"
FALSE_RATE: Final = 0.01
"""The share of other pairs that may be superseded wrongly in `caught_at_1pct`."""
PUBLIC: Final = "CONSOLIDATE_PUBLIC_PAIRS"
"""Names the folder of the public pairs."""

RECORDED: Final = datetime(2026, 11, 30, tzinfo=UTC)
"""When the labelled facts count as recorded: later than any date in the sets."""

_RESAMPLES: Final = 1000
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
    left: Fact
    right: Fact
    verdict: Verdict
    assessment: Assessment

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


# -- judging -----------------------------------------------------------------------------------


def judge(
    rows: Sequence[Row],
    classifier: ContradictionClassifier,
    extractor: EntityExtractor,
    *,
    slots: Mapping[str, str] | None = None,
    progress: Progress = silent,
) -> list[Judged]:
    """Judge each row as a memory of two facts."""
    couples = [_facts(row) for row in rows]
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
        made = assess(
            read(left, mentions[left.id]), read(right, mentions[right.id]), verdict, slots=slots
        )
        found.append(Judged(row=row, left=left, right=right, verdict=verdict, assessment=made))
    return found


def _facts(row: Row) -> tuple[Fact, Fact]:
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


# -- scoring -----------------------------------------------------------------------------------


def scores(
    gold: Sequence[str],
    predicted: Sequence[str],
    contradiction: npt.NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """Accuracy, macro-F1 with a 95 % interval, F1 per class, contradictions caught at 1 %."""
    mean, each = macro_f1(gold, predicted)
    low, high = _interval(gold, predicted)
    found: dict[str, Any] = {
        "macro_f1": mean,
        "macro_f1_95": [low, high],
        "f1": each,
        "accuracy": accuracy(gold, predicted),
    }
    if contradiction is not None:
        positive = np.array([g == "contradiction" for g in gold])
        caught, threshold = catch_at_false_rate(contradiction, positive, FALSE_RATE)
        found |= {"caught_at_1pct": caught, "threshold_at_1pct": threshold}
    return found


def _interval(gold: Sequence[str], predicted: Sequence[str]) -> tuple[float, float]:
    """Where 95 % of the macro-F1 of resampled pairs lie: how much the choice of pairs matters."""
    g = np.array([CLASSES.index(label) for label in gold])
    p = np.array([CLASSES.index(label) for label in predicted])
    chosen = np.random.default_rng(11).integers(0, len(g), (_RESAMPLES, len(g)))
    means = np.zeros(_RESAMPLES)
    for k in range(len(CLASSES)):
        is_gold, is_predicted = (g == k)[chosen], (p == k)[chosen]
        size = is_gold.sum(axis=1) + is_predicted.sum(axis=1)
        hit = (is_gold & is_predicted).sum(axis=1)
        means += 2 * hit / np.maximum(size, 1) / len(CLASSES)
    low, high = np.quantile(means, [0.025, 0.975])
    return float(low), float(high)


def by_field(judged: Sequence[Judged], field: Callable[[Row], str]) -> dict[str, dict[str, Any]]:
    """Three-way accuracy of judge and classifier for each value of a field of the rows."""
    parts: dict[str, list[Judged]] = defaultdict(list)
    for item in judged:
        parts[field(item.row)].append(item)
    return {
        name: {
            "pairs": len(items),
            "accuracy": accuracy([i.row.gold for i in items], [i.predicted for i in items]),
            "classifier_alone": accuracy(
                [i.row.gold for i in items], [i.predicted_alone for i in items]
            ),
        }
        for name, items in sorted(parts.items())
    }


def outcomes(judged: Sequence[Judged], policy: Policy) -> dict[str, Any]:
    """What a run with these thresholds would have done to each pair, against the labels.

    Returns:
        Counts, and shares named `..._rate`. Of the contradictions: superseded the right way or
        the wrong way, asked about, missed. Of the others: superseded, asked about superseding. Of
        the equivalent pairs: merged, asked, missed. `false_merge` is a merge that loses something:
        of pairs that are compatible or contradict each other, or of the fact that says more.
    """
    count: Counter[str] = Counter()
    for item in judged:
        decision = _decision(item, policy)
        kind = _acts(decision)
        contradicts = item.row.relation == "contradicts"
        count["contradictions" if contradicts else "others"] += 1
        if contradicts:
            count[_outcome_of_contradiction(item, decision, kind)] += 1
        elif kind == "supersede":
            count["false_supersession"] += 1
        elif kind == "ask-supersede":
            count["needless_question"] += 1
        if item.row.relation == "equivalent":
            count["equivalents"] += 1
            outcome = {"merge": "merged", "ask-merge": "merge_to_review"}.get(kind, "missed_merge")
            count[outcome] += 1
        else:
            count["not_equivalent"] += 1
            if kind == "merge":
                count["merged_contained" if _keeps_more(item, decision) else "false_merge"] += 1
    found: dict[str, Any] = {name: count[name] for name in _COUNTED}
    for name, whole in _SHARES.items():
        found[f"{name}_rate"] = count[name] / count[whole] if count[whole] else None
    return found


_COUNTED: Final = (
    "contradictions", "caught", "wrong_way", "to_review", "missed", "others",
    "false_supersession", "needless_question", "equivalents", "merged", "merge_to_review",
    "missed_merge", "not_equivalent", "merged_contained", "false_merge",
)  # fmt: skip
_SHARES: Final = {
    "caught": "contradictions",
    "wrong_way": "contradictions",
    "to_review": "contradictions",
    "missed": "contradictions",
    "false_supersession": "others",
    "merged": "equivalents",
    "missed_merge": "equivalents",
    "false_merge": "not_equivalent",
}


def _decision(item: Judged, policy: Policy) -> Decision | None:
    """The one decision that `decide` makes about a memory of these two facts, links left out."""
    facts = {item.left.id: item.left, item.right.id: item.right}
    uniques = collapse(tuple(facts.values()))
    key = (item.left.id, item.right.id)
    # Verbatim repeats are one text: a run never makes a pair of them
    apart = len(uniques) == 2
    decisions, _ = decide(
        facts,
        uniques,
        [Pair(left=key[0], right=key[1], rule="labelled")] if apart else [],
        {key: item.verdict} if apart else {},
        {key: item.assessment} if apart else {},
        policy=policy,
        now=RECORDED,
    )
    return next((d for d in decisions if d.kind is not DecisionKind.LINK), None)


def _acts(decision: Decision | None) -> str:
    if decision is None:
        return ""
    if decision.kind is not DecisionKind.REVIEW:
        return str(decision.kind)
    # Without a proposal it asks which of two contradicting facts holds
    return f"ask-{decision.proposal or DecisionKind.SUPERSEDE}"


def _outcome_of_contradiction(item: Judged, decision: Decision | None, kind: str) -> str:
    if kind == "supersede" and decision is not None:
        stays = "a" if decision.object == item.left.id else "b"
        return "caught" if stays == item.row.winner else "wrong_way"
    return "to_review" if kind == "ask-supersede" else "missed"


def _keeps_more(item: Judged, decision: Decision | None) -> bool:
    """Whether what stays says all that was absorbed."""
    richer = {"a_entails_b": item.left.id, "b_entails_a": item.right.id}.get(item.row.relation)
    return decision is not None and decision.object == richer


# -- the suite ---------------------------------------------------------------------------------


def run_pairs(
    split: str, settings: Settings, *, sets: Path = PAIRS, public_limit: int = 1000
) -> dict[str, Any]:
    """Score one split with the models that `settings` name."""
    began = time.perf_counter()
    paths = sorted((sets / split).glob("*.jsonl"))
    rows = read_rows(paths)
    if not rows:
        raise FileNotFoundError(f"expected labelled pairs in {str(sets / split)!r}, found none")
    backends = Backends.load(settings)
    judged = judge(rows, backends.classifier, backends.extractor, slots=settings.slots)
    seconds = {"judging": time.perf_counter() - began}
    gold = [row.gold for row in rows]
    result = heading(
        f"pairs {split}",
        settings=settings,
        models=backends.identities,
        data={path.name: files_digest([path]) for path in paths},
    )
    result |= {
        "pairs": len(rows),
        "judge": scores(
            gold,
            [item.predicted for item in judged],
            np.array([item.contradiction for item in judged]),
        )
        | {"relation_accuracy": _relation_accuracy(judged)},
        "controls": _controls(rows, judged, backends, sets, settings),
        "profiles": {
            name: outcomes(
                judged,
                Policy(merge=limits.merge, supersede=limits.supersede, review=limits.review),
            )
            for name, limits in PROFILES.items()
        },
        "by_category": by_field(judged, lambda row: row.category),
        "by_language": by_field(judged, lambda row: row.lang),
        "failures": sum(item.verdict.failure is not None for item in judged),
    }
    folder = os.environ.get(PUBLIC)
    if folder:
        result["public"] = public_scores(Path(folder), backends.classifier, limit=public_limit)
    else:
        result["public"] = f"skipped: {PUBLIC} names no folder"
    seconds["all"] = time.perf_counter() - began
    return result | {"seconds": seconds}


def _relation_accuracy(judged: Sequence[Judged]) -> float:
    """Share of pairs whose relation is right, the direction of containment counted."""
    return accuracy(
        [item.row.five_way for item in judged], [item.assessment.relation for item in judged]
    )


def _controls(
    rows: Sequence[Row],
    judged: Sequence[Judged],
    backends: Backends,
    sets: Path,
    settings: Settings,
) -> dict[str, dict[str, Any]]:
    gold = [row.gold for row in rows]
    layers = judge(rows, Blind(), backends.extractor, slots=settings.slots)
    dev = read_rows((sets / "dev").glob("*.jsonl"))
    dev_gold = [row.gold for row in dev]
    dev_cosines = _cosines(dev, backends.embedder)
    cosines = dev_cosines if dev == list(rows) else _cosines(rows, backends.embedder)
    threshold = best_threshold(dev_cosines, dev_gold)
    low, high = best_band(dev_cosines, dev_gold)
    return {
        "do nothing": scores(gold, ["distinct"] * len(gold)),
        "exact match": scores(gold, by_text([(row.a, row.b) for row in rows])),
        "cosine threshold": scores(gold, by_threshold(cosines, threshold))
        | {"threshold": threshold},
        "cosine band": scores(gold, by_band(cosines, low, high)) | {"low": low, "high": high},
        "layers alone": scores(
            gold, [i.predicted for i in layers], np.array([i.contradiction for i in layers])
        ),
        "classifier alone": scores(
            gold,
            [i.predicted_alone for i in judged],
            np.array([i.contradiction_alone for i in judged]),
        ),
    }


def cosine_threshold(embedder: Embedder, *, sets: Path = PAIRS) -> float:
    """The cosine from which on two texts of the dev split are best called duplicates."""
    dev = read_rows((sets / "dev").glob("*.jsonl"))
    return best_threshold(_cosines(dev, embedder), [row.gold for row in dev])


def _cosines(rows: Sequence[Row], embedder: Embedder) -> npt.NDArray[np.float64]:
    facts = [fact for row in rows for fact in _facts(row)]
    with Store.open(":memory:") as store:
        vectors = embed(store, embedder, facts, tally=Tally("embed"), progress=silent)
    both = vectors.astype(np.float64).reshape(len(rows), 2, -1)
    cosines: npt.NDArray[np.float64] = (both[:, 0] * both[:, 1]).sum(axis=1)
    return cosines
