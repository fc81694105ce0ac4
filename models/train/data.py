"""Reads labelled pairs and turns them into directed NLI examples for the judge.

Two kinds of sources: the public sets (JSON lines `{a, b, label, split, source}`; where each comes
from, and under which licence, stands in the model card) and this project's memory pairs
(`eval/sets/memory_pairs`).
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ENTAILMENT, NEUTRAL, CONTRADICTION = 0, 1, 2
ID2LABEL: Final = {0: "entailment", 1: "neutral", 2: "contradiction"}

PUBLIC_CAPS: Final = {
    "cad_nli": 9000,
    "conjnli": 6000,  # mostly automatic, noisy labels: a taste of it only
    "er_febrl_person": 400,
    "fever_symmetric": 700,
    "pararel_facts": 5000,  # template language
    "persona_distinct_weak": 1500,
    "taxinli_mnli": 8000,
    "timeqa_temporal": 800,
    "tnli_temporal_validity": 2000,
}
"""Public sets used for the first stage, with the most rows taken of each. `letta_core_memory` is
kept for evaluation."""


@dataclass(frozen=True, kw_only=True)
class Example:
    """One directed example: does the premise entail or contradict the hypothesis?"""

    premise: str
    hypothesis: str
    label: int
    turn: int | None = None
    """Epochs in which the example is used: even (0), odd (1), all (None)."""


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON-lines file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def memory_examples(rows: Iterable[dict[str, Any]]) -> list[Example]:
    """Both directions of each memory pair.

    Where both carry one label they take turns, an epoch each: together they would only say the
    same thing twice.
    """
    directed = {
        "equivalent": (ENTAILMENT, ENTAILMENT),
        "a_entails_b": (ENTAILMENT, NEUTRAL),
        "b_entails_a": (NEUTRAL, ENTAILMENT),
        "contradicts": (CONTRADICTION, CONTRADICTION),
        "compatible": (NEUTRAL, NEUTRAL),
    }
    examples: list[Example] = []
    for row in rows:
        forward, backward = directed[row["relation"]]
        first = None if forward != backward else len(examples) // 2 % 2
        second = None if first is None else 1 - first
        a, b = row["a"], row["b"]
        examples.append(Example(premise=a, hypothesis=b, label=forward, turn=first))
        examples.append(Example(premise=b, hypothesis=a, label=backward, turn=second))
    return examples


def public_example(row: dict[str, Any], name: str, rng: random.Random) -> Example | None:
    """One directed example of a public row, or None where its label does not carry over.

    NLI entailment and neutrality say nothing of the way back, so those keep their direction;
    duplicates, contradictions and distinct pairs hold both ways and take a random one.
    """
    label = row["label"]
    if name == "tnli_temporal_validity" and label == "entailment":
        return None  # its "support" is not entailment
    a, b = row["a"], row["b"]
    if label in ("duplicate", "contradiction", "distinct") and rng.random() < 0.5:
        a, b = b, a
    code = {"entailment": 0, "duplicate": 0, "neutral": 1, "distinct": 1, "contradiction": 2}[label]
    return Example(premise=a, hypothesis=b, label=code)


def public_examples(folder: Path, *, split: str, seed: int) -> list[Example]:
    """Examples of all public sets in `folder`, each capped by `PUBLIC_CAPS`, shuffled."""
    rng = random.Random(seed)  # noqa: S311 - for shuffling
    examples = []
    for name, cap in PUBLIC_CAPS.items():
        rows = [row for row in read_jsonl(folder / f"{name}.jsonl") if row["split"] == split]
        rng.shuffle(rows)
        found = [e for row in rows if (e := public_example(row, name, rng)) is not None]
        examples += found[:cap]
    rng.shuffle(examples)
    return examples
