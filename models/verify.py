"""Compares ONNX folders with the model they came from: `python -m models.verify FP32 DIR [DIR...]`.

FP32 is a torch model folder (then torch runs it) or a float32 ONNX folder. An encoder is judged by
what quantising does to nearest neighbours; a judge by how often and how far its verdicts move, and,
where pairs are labelled, by its scores; a GLiNER by whether it names the same spans. Speeds are
those of `consolidate`'s own adapters, with runs shared by texts of equal length where that is
exact, and with one run each. Writes JSON.
"""

from __future__ import annotations

import argparse
import json
import logging
import os
import platform
import random
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.backends.files import MANIFEST, MODEL, ModelFiles, config_name, read_json
from consolidate.backends.gliner import GlinerExtractor
from consolidate.backends.gliner_package import GlinerPackageExtractor
from consolidate.backends.onnx_classifier import OnnxClassifier
from consolidate.backends.onnx_embedder import OnnxEmbedder
from consolidate.backends.recipe import Recipe
from consolidate.backends.tokens import row_limit
from consolidate.types import Mention
from eval.entities import score_spans
from eval.metrics import catch_at_false_rate, macro_f1, three_way

log = logging.getLogger("models.verify")

SETS: Final = Path(__file__).parents[1] / "eval" / "sets" / "memory_pairs"
NOTES: Final = SETS.parent / "memory_ner"
NEIGHBOURS: Final = 10
THREADS: Final = 2

Matrix = npt.NDArray[np.float64]


def sample_texts(count: int) -> list[str]:
    """Texts of the memory pairs (training split), each once, in a fixed shuffled order."""
    texts = {row[side] for row in _rows(SETS / "train") for side in ("a", "b")}
    ordered = sorted(texts)
    random.Random(20).shuffle(ordered)  # noqa: S311 - a sample, no secret
    return ordered[:count]


def verify_encoder(reference: Path, folders: Sequence[Path], *, count: int) -> dict[str, Any]:
    """Compare encoders on `count` texts with the vectors of `reference`."""
    texts = sample_texts(count)
    # A torch folder is read by the recipe of what was made of it.
    first = OnnxEmbedder(ModelFiles.open(folders[0], task="feature-extraction"))
    if not (reference / MODEL).is_file():
        # Of a longer text torch reads the start, and the adapter all of it.
        texts = [text for text in texts if len(first.windows(text)) == 1]
    truth = _reference_vectors(reference, texts, recipe=first.recipe)
    rows = []
    for folder in folders:
        files = ModelFiles.open(folder, task="feature-extraction")
        shared, vectors = _timed_vectors(files, texts, share_runs=True)
        single, again = _timed_vectors(files, texts, share_runs=False)
        rows.append(
            {
                **_about(folder, files),
                **_nearness(truth, vectors.astype(np.float64)),
                "shares_runs": OnnxEmbedder(files, threads=THREADS).shares_runs,
                "same_bits_alone": bool((vectors == again).all()),
                "texts_per_second": round(shared),
                "texts_per_second_alone": round(single),
            }
        )
        log.info("%s", json.dumps(rows[-1]))
    return {"task": "feature-extraction", "texts": len(texts), **_machine(), "models": rows}


def verify_judge(reference: Path, folders: Sequence[Path], *, count: int) -> dict[str, Any]:
    """Compare judges on the dev pairs with the verdicts of `reference`."""
    labelled = _rows(SETS / "dev")[:count]
    pairs = [(row["a"], row["b"]) for row in labelled]
    most = row_limit(ModelFiles.open(folders[0], task="text-classification"))
    truth = _reference_scores(reference, pairs, most=most)
    gold = [three_way(row["relation"]) for row in labelled]
    rows = [{"folder": "reference", **_quality(truth, gold)}]
    for folder in folders:
        files = ModelFiles.open(folder, task="text-classification")
        shared, scores = _timed_scores(files, pairs, share_runs=True)
        single, again = _timed_scores(files, pairs, share_runs=False)
        moved = np.abs(scores - truth)
        rows.append(
            {
                **_about(folder, files),
                **_quality(scores, gold),
                "same_class": float((scores.argmax(2) == truth.argmax(2)).mean()),
                "moved_mean": float(moved.mean()),
                "moved_most": float(moved.max()),
                "shares_runs": OnnxClassifier(files, threads=THREADS).shares_runs,
                "same_bits_alone": bool((scores == again).all()),
                "pairs_per_second": round(shared, 1),
                "pairs_per_second_alone": round(single, 1),
            }
        )
        log.info("%s", json.dumps(rows[-1]))
    return {"task": "text-classification", "pairs": len(pairs), **_machine(), "models": rows}


def verify_gliner(reference: Path, folders: Sequence[Path], *, count: int) -> dict[str, Any]:
    """Compare GLiNERs on notes with the spans of `reference`, a torch folder or a float32 ONNX one.

    The torch folder is run by the gliner package: another splitting, windowing and decoding.
    """
    # The notes for choosing, and those trained on, where a model is surest and least disturbed.
    names = ("dev.jsonl", "train.jsonl")
    labelled = [row for name in names for row in _rows(NOTES, name)][:count]
    texts = [row["text"] for row in labelled]
    gold = [{tuple(each) for each in row["entities"]} for row in labelled]
    settings = read_json(folders[0] / config_name("gliner")).get("consolidate", {})
    asked = {key: settings[key] for key in ("labels", "threshold") if key in settings}
    if (reference / MODEL).is_file():
        truth = GlinerExtractor(ModelFiles.open(reference, task="gliner"), **asked).extract(texts)
    else:
        truth = GlinerPackageExtractor(reference, **asked).extract(texts)
    expected = [_placed(mentions) for mentions in truth]
    rows = [{"folder": "reference", "f1": score_spans(gold, _keys(expected)).f1}]
    for folder in folders:
        files = ModelFiles.open(folder, task="gliner")
        model = GlinerExtractor(files, threads=THREADS, **asked)
        model.extract(texts[:1])  # makes the session before the clock
        began = time.perf_counter()
        found = [_placed(mentions) for mentions in model.extract(texts)]
        seconds = time.perf_counter() - began
        alone = [_placed(model.extract([text])[0]) for text in texts[:100]]
        moved = [
            abs(score - one[key])
            for one, other in zip(expected, found, strict=True)
            for key, score in other.items()
            if key in one
        ]
        rows.append(
            {
                **_about(folder, files),
                "f1": score_spans(gold, _keys(found)).f1,
                "f1_against_reference": score_spans(_keys(expected), _keys(found)).f1,
                "same_notes": float(
                    np.mean([set(a) == set(b) for a, b in zip(expected, found, strict=True)])
                ),
                "moved_mean": float(np.mean(moved)),
                "moved_most": float(np.max(moved)),
                "same_alone": alone == found[:100],
                "notes_per_second": round(len(texts) / seconds, 1),
            }
        )
        log.info("%s", json.dumps(rows[-1]))
    return {"task": "gliner", "notes": len(texts), **_machine(), "models": rows}


def _placed(mentions: Sequence[Mention]) -> dict[tuple[int, int, str], float]:
    return {(m.start, m.end, m.label): m.score for m in mentions}


def _keys(every: Sequence[Mapping[tuple[int, int, str], float]]) -> list[set[tuple[int, int, str]]]:
    return [set(each) for each in every]


def _about(folder: Path, files: ModelFiles) -> dict[str, Any]:
    manifest = read_json(folder / MANIFEST)
    size = (folder / MODEL).stat().st_size / 1e6
    return {
        "scheme": manifest.get("scheme"),
        "model_sha256": files.digests[MODEL],
        "megabytes": round(size, 1),
    }


def _nearness(truth: Matrix, vectors: Matrix) -> dict[str, float]:
    cosine = (truth * vectors).sum(1)
    wanted, found = truth @ truth.T, vectors @ vectors.T
    for each in (wanted, found):
        np.fill_diagonal(each, -2)
    best = np.argpartition(-wanted, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    got = np.argpartition(-found, NEIGHBOURS, axis=1)[:, :NEIGHBOURS]
    kept = [
        len(set(a) & set(b)) / NEIGHBOURS for a, b in zip(best.tolist(), got.tolist(), strict=True)
    ]
    return {
        "cosine_mean": float(cosine.mean()),
        "cosine_min": float(cosine.min()),
        f"recall_at_{NEIGHBOURS}": float(np.mean(kept)),
        "same_nearest": float((wanted.argmax(1) == found.argmax(1)).mean()),
        "similarity_error_mean": float(np.abs(wanted - found).mean()),
        "similarity_error_max": float(np.abs(wanted - found).max()),
    }


def _quality(scores: Matrix, gold: Sequence[str]) -> dict[str, float]:
    contradiction = scores[:, :, 2].mean(1)
    duplicate = scores[:, :, 0].min(1)
    distinct = 1 - np.maximum(contradiction, duplicate)
    names = ("contradiction", "duplicate", "distinct")
    predicted = [names[i] for i in np.stack([contradiction, duplicate, distinct], 1).argmax(1)]
    mean, _ = macro_f1(list(gold), predicted)
    caught, _ = catch_at_false_rate(
        contradiction, np.array([g == "contradiction" for g in gold]), 0.01
    )
    return {"macro_f1": mean, "caught_at_1pct": caught}


def _timed_vectors(
    files: ModelFiles, texts: Sequence[str], *, share_runs: bool
) -> tuple[float, npt.NDArray[np.float32]]:
    model = OnnxEmbedder(files, threads=THREADS, share_runs=share_runs)
    log.debug("shares runs: %s", model.shares_runs)  # makes session and trial before the clock
    began = time.perf_counter()
    vectors = model.embed(texts)
    return len(texts) / (time.perf_counter() - began), vectors


def _timed_scores(
    files: ModelFiles, pairs: Sequence[tuple[str, str]], *, share_runs: bool
) -> tuple[float, Matrix]:
    model = OnnxClassifier(files, threads=THREADS, share_runs=share_runs)
    model.classify(pairs[:1])
    log.debug("shares runs: %s", model.shares_runs)
    began = time.perf_counter()
    verdicts = model.classify(pairs)
    speed = len(pairs) / (time.perf_counter() - began)
    rows = [
        [[s.entailment, s.neutral, s.contradiction] for s in (v.forward, v.backward) if s]
        for v in verdicts
    ]
    return speed, np.array(rows, dtype=np.float64)


def _reference_vectors(folder: Path, texts: Sequence[str], *, recipe: Recipe) -> Matrix:
    if (folder / MODEL).is_file():
        files = ModelFiles.open(folder, task="feature-extraction")
        return OnnxEmbedder(files, threads=THREADS).embed(texts).astype(np.float64)
    import torch

    torch.set_num_threads(1)  # more only wait for each other on a busy machine
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    out = np.zeros((len(texts), model.config.hidden_size))
    for index, text in enumerate(texts):
        inputs = tokenizer(
            recipe.document + text, truncation=True, max_length=recipe.most, return_tensors="pt"
        )
        with torch.no_grad():
            hidden = model(**inputs).last_hidden_state[0].double()
        ways = {"mean": hidden.mean(0), "cls": hidden[0], "last": hidden[-1]}
        pooled = ways[recipe.pooling]
        out[index] = (pooled / pooled.norm()).numpy()
    return out


def _reference_scores(folder: Path, pairs: Sequence[tuple[str, str]], *, most: int) -> Matrix:
    if (folder / MODEL).is_file():
        files = ModelFiles.open(folder, task="text-classification")
        return _timed_scores(files, pairs, share_runs=True)[1]
    import torch

    torch.set_num_threads(1)  # more only wait for each other on a busy machine
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(folder, local_files_only=True).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder, local_files_only=True)
    labels = {label.casefold(): column for column, label in model.config.id2label.items()}
    columns = [
        next(column for label, column in labels.items() if stem in label)
        for stem in ("entail", "neutral", "contradict")
    ]
    out = np.zeros((len(pairs), 2, 3))
    for index, (left, right) in enumerate(pairs):
        inputs = tokenizer(
            [left, right], [right, left], truncation=True, max_length=most, padding=True,
            return_tensors="pt",
        )  # fmt: skip
        with torch.no_grad():
            out[index] = model(**inputs).logits.double().softmax(-1).numpy()[:, columns]
    return out


def _rows(folder: Path, pattern: str = "*.jsonl") -> list[dict[str, Any]]:
    lines = (
        line
        for path in sorted(folder.glob(pattern))
        for line in path.read_text(encoding="utf-8").splitlines()
    )
    return [json.loads(line) for line in lines if line.strip()]


def _machine() -> dict[str, Any]:
    cpu = Path("/proc/cpuinfo")
    flags: set[str] = set()
    if cpu.is_file():
        lines = cpu.read_text(encoding="utf-8").splitlines()
        flags = set(next((line for line in lines if line.startswith("flags")), "").split())
    wanted = ("avx2", "avx512f", "avx_vnni", "avx512_vnni", "amx_int8", "amx_bf16")
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "threads": THREADS,
        "cores": os.cpu_count(),
        "machine": platform.machine(),
        "instructions": [flag for flag in wanted if flag in flags],
        "load_at_end": load,
        "note": "speeds are of the machine as it was; load above the thread count means others ran",
    }


def main() -> None:
    """Parse arguments, compare, write JSON."""
    parser = argparse.ArgumentParser(description="Compare ONNX folders with their original.")
    parser.add_argument("reference", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    parser.add_argument("--count", type=int, default=2000, help="texts or pairs")
    parser.add_argument("--out", type=Path, help="default: standard output")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    task = read_json(arguments.folders[0] / MANIFEST)["task"]
    compare = {"feature-extraction": verify_encoder, "gliner": verify_gliner}.get(
        task, verify_judge
    )
    result = compare(arguments.reference, arguments.folders, count=arguments.count)
    text = json.dumps(result, indent=2) + "\n"
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8", newline="\n")
    else:
        sys.stdout.write(text)


if __name__ == "__main__":
    main()
