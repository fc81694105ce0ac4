"""Suite `pairs`: the judge on the labelled memory pairs, through the functions that a run uses.

Each pair is a memory of two facts: the stages `entities` and `classify`, then `assess`, then
`decide` with the thresholds of each profile. What is counted is what would have happened to the
two facts.
"""

from __future__ import annotations

import os
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, Final, get_args

import numpy as np
import numpy.typing as npt

from consolidate.backends import Backends
from consolidate.calibration.policy import policy_for
from consolidate.settings import Profile, Settings
from eval.controls import Blind, best_band, best_threshold, by_band, by_text, by_threshold
from eval.curves import calibration, confusion, precision_recall, risk_coverage
from eval.judged import PAIRS, Judged, Row, cosines, judge, read_rows
from eval.metrics import CLASSES, accuracy, catch_at_false_rate, macro_f1
from eval.outcomes import deed, outcomes
from eval.public import nli_scores, public_scores
from eval.record import files_digest, heading

__all__ = ["PUBLIC", "run_pairs", "scores"]

FALSE_RATE: Final = 0.01
"""The share of other pairs that may be superseded wrongly in `caught_at_1pct`."""
PUBLIC: Final = "CONSOLIDATE_PUBLIC_PAIRS"
"""Names the folder of the public pairs."""

_RESAMPLES: Final = 1000
_HARM: Final = ("false_merge", "false_supersession", "wrong_way")
_WORST: Final = 40
"""Mistakes that a result of the dev split tells one by one."""


def scores(
    gold: Sequence[str],
    predicted: Sequence[str],
    contradiction: npt.NDArray[np.float64] | None = None,
) -> dict[str, Any]:
    """Accuracy, macro-F1 with a 95 % interval, F1 per class, mistakes, contradictions at 1 %.

    Mistakes are told by what acting on the class would do: `false_merges` and
    `false_supersessions` do harm, `misses` leave a duplicate or an outdated fact.
    """
    mean, each = macro_f1(gold, predicted)
    low, high = _interval(gold, predicted)
    found: dict[str, Any] = {
        "macro_f1": mean,
        "macro_f1_95": [low, high],
        "f1": each,
        "accuracy": accuracy(gold, predicted),
        **_mistakes(gold, predicted),
    }
    if contradiction is not None:
        positive = np.array([g == "contradiction" for g in gold])
        caught, threshold = catch_at_false_rate(contradiction, positive, FALSE_RATE)
        found |= {"caught_at_1pct": caught, "threshold_at_1pct": threshold}
    return found


def _mistakes(gold: Sequence[str], predicted: Sequence[str]) -> dict[str, int]:
    both = list(zip(gold, predicted, strict=True))
    return {
        "false_merges": sum(p == "duplicate" != g for g, p in both),
        "false_supersessions": sum(p == "contradiction" != g for g, p in both),
        "misses": sum(p == "distinct" != g for g, p in both),
    }


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


def by_field(
    judged: Sequence[Judged], deeds: Sequence[str], field: Callable[[Row], str]
) -> dict[str, dict[str, Any]]:
    """Accuracy of judge and classifier, harm and misses for each value of a field of the rows."""
    parts: dict[str, list[tuple[Judged, str]]] = defaultdict(list)
    for item, done in zip(judged, deeds, strict=True):
        parts[field(item.row)].append((item, done))
    found = {}
    for name, items in sorted(parts.items()):
        gold = [item.row.gold for item, _ in items]
        found[name] = {
            "pairs": len(items),
            "accuracy": accuracy(gold, [item.predicted for item, _ in items]),
            "classifier_alone": accuracy(gold, [item.predicted_alone for item, _ in items]),
            "false_merge": sum(done == "false_merge" for _, done in items),
            "false_supersession": sum(done in _HARM[1:] for _, done in items),
            "missed": sum(done in ("missed", "missed_merge") for _, done in items),
            "asked": sum(done in ("to_review", "merge_to_review") for _, done in items),
        }
    return found


# -- the suite ---------------------------------------------------------------------------------


def run_pairs(
    split: str,
    settings: Settings,
    *,
    sets: Path = PAIRS,
    public: Sequence[Path] = (),
    public_limit: int = 1000,
) -> dict[str, Any]:
    """Score one split with the models that `settings` name.

    Args:
        split: `dev` or `test`.
        settings: Models and thresholds.
        sets: The folder of the splits.
        public: Files of SNLI, MultiNLI, ANLI or SICK to score the classifier on as well.
        public_limit: At most so many rows of each public source.
    """
    began = time.perf_counter()
    paths = sorted((sets / split).glob("*.jsonl"))
    rows = read_rows(paths)
    if not rows:
        raise FileNotFoundError(f"expected labelled pairs in {str(sets / split)!r}, found none")
    backends = Backends.load(settings)
    judged = judge(rows, backends.classifier, backends.extractor, slots=settings.slots)
    seconds = {"judging": time.perf_counter() - began}
    gold = [row.gold for row in rows]
    predicted = [item.predicted for item in judged]
    policy = policy_for(settings, backends.classifier)
    deeds = [deed(item, policy) for item in judged]
    result = heading(
        f"pairs {split}",
        settings=settings,
        models=backends.identities,
        data={path.name: files_digest([path]) for path in paths},
    )
    result |= {
        "pairs": len(rows),
        "judge": scores(gold, predicted, np.array([item.contradiction for item in judged]))
        | {"relation_accuracy": _relation_accuracy(judged)},
        "controls": _controls(rows, judged, backends, sets, settings),
        "profiles": {
            name: outcomes(judged, policy_for(replace(settings, profile=name), backends.classifier))
            for name in get_args(Profile)
        },
        "profile": settings.profile,
        "by_category": by_field(judged, deeds, lambda row: row.category),
        "by_language": by_field(judged, deeds, lambda row: row.lang),
        "confusion": {"classes": list(CLASSES), "counts": confusion(gold, predicted, CLASSES)},
        "curves": curves(judged),
        "samples": _samples(judged, deeds),
        "failures": sum(item.verdict.failure is not None for item in judged),
    }
    if split == "dev":  # of the test split, single pairs are not to be looked at
        result["mistakes"] = _worst(judged, deeds)
    folder = os.environ.get(PUBLIC)
    own = {path.name: nli_scores(path, backends.classifier, limit=public_limit) for path in public}
    if folder:
        own |= public_scores(Path(folder), backends.classifier, limit=public_limit)
    result["public"] = own or f"skipped: no file is given, and {PUBLIC} names no folder"
    seconds["all"] = time.perf_counter() - began
    return result | {"seconds": seconds}


def curves(judged: Sequence[Judged]) -> dict[str, Any]:
    """Precision and recall of contradictions, risk by coverage, reliability.

    `ece` is that of the classifier, its likeliest class in each direction against the class that
    the label gives that direction; the policy rests on `acting`: how often a contradiction that
    the judge would act on is one.
    """
    positive = np.array([item.row.gold == "contradiction" for item in judged])
    right = np.array([item.predicted == item.row.gold for item in judged])
    acting = [item for item in judged if item.contradiction > 0]
    sure, correct = _directions(judged)
    return {
        "precision_recall": {
            "judge": precision_recall(np.array([i.contradiction for i in judged]), positive),
            "classifier alone": precision_recall(
                np.array([i.contradiction_alone for i in judged]), positive
            ),
        },
        "risk_coverage": {
            "judge": risk_coverage(np.array([_sure_of(i) for i in judged]), right),
        },
        "reliability": {
            "classifier": calibration(sure, correct),
            "acting": calibration(
                np.array([i.contradiction for i in acting]),
                np.array([i.row.gold == "contradiction" for i in acting], dtype=bool),
            ),
        },
    }


def _directions(judged: Sequence[Judged]) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.bool_]]:
    """Confidence of the likeliest class in each direction, and whether it is the right one."""
    sure, right = [], []
    for item in judged:
        entails = {
            "equivalent": (True, True), "a_entails_b": (True, False), "b_entails_a": (False, True),
        }.get(item.row.relation, (False, False))  # fmt: skip
        sides = (item.verdict.forward, item.verdict.backward)
        for scored, entailed in zip(sides, entails, strict=True):
            if scored is None:
                continue
            gold = "entailment" if entailed else "neutral"
            gold = "contradiction" if item.row.gold == "contradiction" else gold
            named = asdict(scored)
            best = max(named, key=lambda name: named[name])
            sure.append(named[best])
            right.append(best == gold)
    return np.array(sure), np.array(right, dtype=bool)


def _sure_of(item: Judged) -> float:
    """How sure the judge is of the class it gives; a doubt that only asks is no certainty."""
    if item.predicted == "distinct":
        forward, backward = item.verdict.forward, item.verdict.backward
        if forward is None or backward is None:
            return 0.0
        same = min(forward.entailment, backward.entailment)
        return 1 - max(item.contradiction_alone, same)
    return 0.0 if item.assessment.review_only else item.assessment.confidence


def _worst(judged: Sequence[Judged], deeds: Sequence[str]) -> list[dict[str, Any]]:
    """Mistakes with their reasons: harm first, the surest first."""
    rank = {name: k for k, name in enumerate((*_HARM, "missed", "missed_merge"))}
    wrong = [(item, done) for item, done in zip(judged, deeds, strict=True) if done in rank]
    wrong.sort(key=lambda each: (rank[each[1]], -each[0].assessment.confidence, each[0].row.id))
    return [
        {
            "id": item.row.id,
            "mistake": done,
            "a": item.row.a,
            "b": item.row.b,
            "a_time": item.row.a_time,
            "b_time": item.row.b_time,
            "label": item.row.relation,
            "said": str(item.assessment.relation),
            "confidence": item.assessment.confidence,
            "because": list(item.assessment.because),
        }
        for item, done in wrong[:_WORST]
    ]


def _samples(judged: Sequence[Judged], deeds: Sequence[str]) -> dict[str, Any]:
    """What `eval.compare` resamples, by pair."""
    both = list(zip(judged, deeds, strict=True))

    def shares(among: Callable[[str], bool], *names: str) -> dict[str, Any]:
        items = {i.row.id: f"{int(d in names)}/1" for i, d in both if among(i.row.relation)}
        return {"kind": "share", "items": items}

    return {
        "macro-F1": {
            "kind": "macro-F1",
            "items": {item.row.id: f"{item.row.gold} {item.predicted}" for item in judged},
        },
        "caught": shares(lambda r: r == "contradicts", "caught"),
        "caught or asked": shares(lambda r: r == "contradicts", "caught", "to_review"),
        "false supersessions": shares(lambda r: r != "contradicts", "false_supersession"),
        "false merges": shares(lambda r: r != "equivalent", "false_merge"),
        "merged": shares(lambda r: r == "equivalent", "merged"),
    }


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
    dev_cosines = cosines(dev, backends.embedder)
    own = dev_cosines if dev == list(rows) else cosines(rows, backends.embedder)
    threshold = best_threshold(dev_cosines, dev_gold)
    low, high = best_band(dev_cosines, dev_gold)
    return {
        "do nothing": scores(gold, ["distinct"] * len(gold)),
        "exact match": scores(gold, by_text([(row.a, row.b) for row in rows])),
        "cosine threshold": scores(gold, by_threshold(own, threshold)) | {"threshold": threshold},
        "cosine band": scores(gold, by_band(own, low, high)) | {"low": low, "high": high},
        "layers alone": scores(
            gold, [i.predicted for i in layers], np.array([i.contradiction for i in layers])
        ),
        "classifier alone": scores(
            gold,
            [i.predicted_alone for i in judged],
            np.array([i.contradiction_alone for i in judged]),
        ),
    }
