"""Scores extractors on notes with named spans, exact borders and label.

Three readings of one answer. *strict*: start, end and label are right. *names*: start and end are
right, dates left out on both sides; that is what grouping facts needs, and what the rules, whose
labels are others, can be held to. *loose*: the label is right and a character is shared.

Public sets are not part of this project; the model card names where each comes from. They are
asked with their own labels, in words, so they say how free labels work.
"""

from __future__ import annotations

import hashlib
import json
import os
import time
from collections import defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from consolidate.backends import Options, resolve_extractor
from consolidate.backends.gliner import GlinerExtractor
from consolidate.errors import ConsolidateError
from consolidate.protocols import EntityExtractor
from consolidate.settings import Settings
from consolidate.types import Mention
from eval.record import SETS, files_digest, heading, read_jsonl

__all__ = ["NAMES", "PUBLIC", "Score", "held_out", "lines", "run_entities", "score_spans"]

NAMES: Final = SETS / "memory_ner"
PUBLIC: Final = "CONSOLIDATE_PUBLIC_NAMES"
"""Names the folder of the public sets."""

_COMPARED: Final = ("rules", "gliner", "rules+gliner")
_LEFT_OUT: Final = frozenset({"misc", "MISC"})  # what is left over has no name of its own
_PUBLIC_SETS: Final = ("crossner", "wnut17", "wikigold")

Spans = Collection[tuple[int, int, str]]


@dataclass(frozen=True, kw_only=True)
class Score:
    """Counts of spans, and what follows from them."""

    gold: int
    found: int
    right: int

    @property
    def precision(self) -> float:
        """Share of found spans that are right; 1 where nothing was found."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of gold spans that were found; 1 where there are none."""
        return self.right / self.gold if self.gold else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of precision and recall over all spans (micro), 0 to 1."""
        total = self.gold + self.found
        return 2 * self.right / total if total else 1.0

    def facts(self) -> dict[str, float]:
        """For a result file."""
        return {
            "f1": self.f1,
            "precision": self.precision,
            "recall": self.recall,
            "gold": self.gold,
            "found": self.found,
        }


def score_spans(gold: Sequence[Spans], found: Sequence[Spans]) -> Score:
    """Count spans with the right start, end and label, text by text."""
    return Score(
        gold=sum(len(set(each)) for each in gold),
        found=sum(len(set(each)) for each in found),
        right=sum(len(set(a) & set(b)) for a, b in zip(gold, found, strict=True)),
    )


def held_out(row: Mapping[str, Any]) -> bool:
    """Whether a CrossNER dev sentence is kept for scoring: a third, by the digest of its text.

    CrossNER has 697 sentences for training and 2,109 for dev; the bundled model is trained on the
    other two thirds of the latter as well.
    """
    return hashlib.sha256(str(row["text"]).encode()).digest()[0] % 3 == 0


def run_entities(split: str, settings: Settings) -> dict[str, Any]:
    """Score the rules, the bundled GLiNER, both together and the extractor of the settings.

    Args:
        split: `dev` or `test` of the project's own notes. Public sets are scored with `dev`.
        settings: Whose extractor is compared; the rest is only recorded.
    """
    path = NAMES / f"{split}.jsonl"
    rows = list(read_jsonl(path))
    options = Options(threads=settings.threads)
    systems: dict[str, Any] = {}
    models: dict[str, str] = {}
    public: dict[str, Any] = {}
    for spec in dict.fromkeys((*_COMPARED, settings.extractor)):
        try:
            extractor = resolve_extractor(spec, options=options)
            systems[spec] = _scored(extractor, rows)
        except ConsolidateError as error:
            systems[spec] = {"skipped": str(error)}
            continue
        models[spec] = extractor.identity
        folder = os.environ.get(PUBLIC)
        if isinstance(extractor, GlinerExtractor) and folder and split == "dev":
            public[spec] = _public_scores(Path(folder), extractor)
    head = heading(
        "entities", settings=settings, models=models, data={path.name: files_digest([path])}
    )
    missing = None if public or split == "test" else f"{PUBLIC} names no folder of public sets"
    return {**head, "split": split, "notes": len(rows), "systems": systems, "public": public,
            "public_skipped": missing}  # fmt: skip


def _scored(extractor: EntityExtractor, rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    texts = [str(row["text"]) for row in rows]
    extractor.extract(texts[:2])  # the session is made before the clock runs
    began = time.perf_counter()
    answers = extractor.extract(texts)
    seconds = time.perf_counter() - began
    found = [_spans(mentions) for mentions in answers]
    gold = [{(a, b, label) for a, b, label in row["entities"]} for row in rows]
    labels = sorted({label for spans in gold for *_, label in spans})
    languages = sorted({str(row["lang"]) for row in rows})
    return {
        "strict": score_spans(gold, found).facts(),
        "names": score_spans(_borders(gold), _borders(found)).facts(),
        "loose": _loose(gold, found).facts(),
        "empty_notes_with_finds": sum(
            bool(f) for g, f in zip(gold, found, strict=True) if not g
        ) / max(1, sum(not g for g in gold)),
        "by_label": {
            label: score_spans(_only(gold, label), _only(found, label)).facts() for label in labels
        },
        "by_language": {
            language: score_spans(
                [g for g, row in zip(gold, rows, strict=True) if row["lang"] == language],
                [f for f, row in zip(found, rows, strict=True) if row["lang"] == language],
            ).facts()
            for language in languages
        },
        "milliseconds_a_note": 1000 * seconds / len(rows),
    }  # fmt: skip


def _public_scores(folder: Path, extractor: GlinerExtractor) -> dict[str, Any]:
    words = json.loads((folder / "ner_label_names.json").read_text(encoding="utf-8"))
    scores: dict[str, Any] = {}
    for source in _PUBLIC_SETS:
        path = folder / f"{source}.jsonl"
        rows = [row for row in read_jsonl(path) if row["split"] == "dev"]
        if source == "crossner":
            rows = [row for row in rows if held_out(row)]
        domains: dict[str, list[dict[str, Any]]] = defaultdict(list)
        for row in rows:
            domains[row.get("domain", "")].append(row)
        gold: list[Spans] = []
        found: list[Spans] = []
        for part in domains.values():
            kinds = sorted({k for row in part for *_, k in row["entities"]} - _LEFT_OUT)
            asked = list(dict.fromkeys(words[kind] for kind in kinds))
            answers = extractor.spans([row["text"] for row in part], labels=asked)
            found += [_spans(mentions or ()) for mentions in answers]
            gold += [
                {(a, b, words[k]) for a, b, k in row["entities"] if k in kinds} for row in part
            ]
        scores[source] = {
            "digest": files_digest([path]), "sentences": len(rows),
            "strict": score_spans(gold, found).facts(),
        }  # fmt: skip
    return scores


def _spans(mentions: Collection[Mention]) -> set[tuple[int, int, str]]:
    return {(m.start, m.end, m.label) for m in mentions}


def _borders(every: Sequence[Spans]) -> list[Spans]:
    return [{(a, b, "") for a, b, label in spans if label != "date"} for spans in every]


def _only(every: Sequence[Spans], label: str) -> list[Spans]:
    return [{span for span in spans if span[2] == label} for spans in every]


def _loose(gold: Sequence[Spans], found: Sequence[Spans]) -> Score:
    right = sum(
        any(f[2] == g[2] and f[0] < g[1] and g[0] < f[1] for f in there)
        for wanted, there in zip(gold, found, strict=True)
        for g in wanted
    )
    return Score(gold=sum(map(len, gold)), found=sum(map(len, found)), right=right)


def lines(result: Mapping[str, Any]) -> list[str]:
    """The result as text."""
    out = [f"Names in {result['notes']} notes ({result['split']}), F1 (precision, recall)", ""]
    for spec, each in result["systems"].items():
        if "skipped" in each:
            out.append(f"  {spec:14} skipped: {each['skipped']}")
            continue
        out.append(
            f"  {spec:14} strict {_shown(each['strict'])}   names {_shown(each['names'])}   "
            f"{each['milliseconds_a_note']:.1f} ms a note"
        )
        if spec == "gliner":
            out += [f"    {k:13} {_shown(v)}" for k, v in each["by_label"].items()]
            out += [f"    {k:13} {_shown(v)}" for k, v in each["by_language"].items()]
    for spec, sources in result["public"].items():
        out += ["", f"  {spec} on public dev sentences, asked with their own labels:"]
        out += [
            f"    {name:13} {_shown(each['strict'])}  of {each['sentences']} sentences"
            for name, each in sources.items()
        ]
    if result["public_skipped"]:
        out += ["", f"  Public sets left out: {result['public_skipped']}"]
    return out


def _shown(facts: Mapping[str, float]) -> str:
    return f"{facts['f1']:.3f} ({facts['precision']:.2f}, {facts['recall']:.2f})"
