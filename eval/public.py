"""Scores a classifier on public labelled pairs, one source at a time.

The sets are not part of this project; the model card names where each comes from. A file holds
JSON lines `{a, b, label, split}`; only its dev rows are read. Labels are either of entailment
(entailment, neutral, contradiction; a is the premise) or of memory (duplicate, distinct,
contradiction). No layers: those need dates and facts, and most of these are neither.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

import numpy as np

from consolidate.judge.assess import relation_of
from consolidate.protocols import ContradictionClassifier
from consolidate.types import Verdict
from eval.metrics import accuracy, auc, macro_f1, three_way
from eval.readers import read_nli
from eval.record import files_digest, read_jsonl

__all__ = ["EVALUATION_ONLY", "nli_scores", "public_scores"]

EVALUATION_ONLY: Final = frozenset({"letta_core_memory"})
"""Sources that no model of this project was trained on."""

# Its "support" is not entailment, so those rows say nothing here.
_WITHOUT_ENTAILMENT: Final = frozenset({"tnli_temporal_validity"})
_ENTAILMENT_LABELS: Final = frozenset({"entailment", "neutral"})


def public_scores(
    folder: Path, classifier: ContradictionClassifier, *, limit: int
) -> dict[str, dict[str, Any]]:
    """Dev scores by source.

    Args:
        folder: Holds a file `SOURCE.jsonl` for each source.
        classifier: The model.
        limit: At most this many rows of a source, chosen by the digest of their texts.
    """
    return {
        path.stem: _scores(path, classifier, limit)
        for path in sorted(folder.glob("*.jsonl"))
        if any(True for _ in read_jsonl(path))
    }


def nli_scores(path: Path, classifier: ContradictionClassifier, *, limit: int) -> dict[str, Any]:
    """Scores on a file of SNLI, MultiNLI, ANLI or SICK that a user has, every row of it.

    Raises:
        InputError: The file is of none of these formats.
    """
    rows = [
        {"a": pair.premise, "b": pair.hypothesis, "label": pair.label} for pair in read_nli(path)
    ]
    return _scored(path, rows, classifier, limit)


def _scores(path: Path, classifier: ContradictionClassifier, limit: int) -> dict[str, Any]:
    rows = [row for row in read_jsonl(path) if row["split"] == "dev"]
    if path.stem in _WITHOUT_ENTAILMENT:
        rows = [row for row in rows if row["label"] != "entailment"]
    return _scored(path, rows, classifier, limit)


def _scored(
    path: Path,
    rows: Sequence[Mapping[str, Any]],
    classifier: ContradictionClassifier,
    limit: int,
) -> dict[str, Any]:
    rows = sorted(rows, key=_place)[:limit]
    head = {"digest": files_digest([path]), "evaluation_only": path.stem in EVALUATION_ONLY}
    if not rows:
        return head | {"pairs": 0}
    verdicts = classifier.classify([(row["a"], row["b"]) for row in rows])
    gold = [row["label"] for row in rows]
    directed = bool(_ENTAILMENT_LABELS & set(gold))
    predicted = [_directed(v) if directed else three_way(relation_of(v)[0]) for v in verdicts]
    classes = sorted(set(gold))
    positive = np.array([label == "contradiction" for label in gold])
    mean, each = macro_f1(gold, predicted, classes)
    return head | {
        "pairs": len(rows),
        "accuracy": accuracy(gold, predicted),
        "macro_f1": mean,  # over the classes that the source has
        "f1": each,
        "contradiction_auc": auc(_contradiction(verdicts), positive),
    }


def _place(row: Mapping[str, Any]) -> str:
    return sha256(f"{row['a']}\x1f{row['b']}".encode()).hexdigest()


def _directed(verdict: Verdict) -> str:
    """The likeliest class of b, given a."""
    scores = verdict.forward
    if scores is None:
        return "neutral"
    named = {
        "entailment": scores.entailment,
        "neutral": scores.neutral,
        "contradiction": scores.contradiction,
    }
    return max(named, key=lambda name: named[name])


def _contradiction(verdicts: Sequence[Verdict]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array(
        [
            0.0
            if v.forward is None or v.backward is None
            else (v.forward.contradiction + v.backward.contradiction) / 2
            for v in verdicts
        ]
    )
