"""Measures recall in large memories: `python -m eval.bench_recall`.

The vectors are made, not computed: unit vectors in clusters, as the subjects of a memory make
them, so that a hundred thousand facts need no model. What an embedder takes for the query is left
out. Each recall is compared with one plain scan by numpy of the same vectors for the ten nearest,
in the same run: the share carries over to other machines, milliseconds don't. Beside the time on
the clock stands that of the processor, which a busy machine changes less.

Beside speed stands what is found: questions to the demo memory, with the bundled embedder.
"""

from __future__ import annotations

import argparse
import logging
import os
import random
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.backends import Backends
from consolidate.backends.fake import FakeClassifier, FakeExtractor
from consolidate.memory import open_memory
from consolidate.memory.memory import Memory
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import Fact, NewFact
from eval.generate import generate
from eval.questions import QUESTIONS, ask
from eval.record import RESULTS, files_digest, heading, write_result
from eval.tables import table

__all__ = ["clustered", "main", "measure"]

DIMENSIONS: Final = 384
"""Of the bundled embedder."""
TOP: Final = 10
PER_CLUSTER: Final = 20
"""Facts around one centre, on average."""
SPREAD: Final = 1.0
"""Length of the noise beside the centre of length 1: two facts of one cluster then have a cosine
of one half on average, as two sentences about one thing have."""
NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)

Matrix = npt.NDArray[np.float32]

log = logging.getLogger("eval.bench_recall")


class Given:
    """An embedder that only looks up: what it costs is no part of the measurement."""

    identity = "given@1"
    dimensions = DIMENSIONS

    def __init__(self, vectors: Mapping[str, Matrix]) -> None:
        self.vectors = dict(vectors)

    def embed(self, texts: Sequence[str]) -> Matrix:
        """Give the vectors of known texts."""
        return np.stack([self.vectors[text] for text in texts])


def clustered(count: int, *, seed: int) -> Matrix:
    """Make unit vectors in clusters of uneven size.

    Returns:
        Shape (count, 384), float32.
    """
    chance = np.random.default_rng(seed)
    centres = _unit(chance.normal(size=(max(1, count // PER_CLUSTER), DIMENSIONS)))
    # Some subjects have many facts, most a few: the shares of the clusters are those of a square
    place = (chance.random(count) ** 2 * len(centres)).astype(np.int64)
    noise = chance.normal(scale=SPREAD / np.sqrt(DIMENSIONS), size=(count, DIMENSIONS))
    return _unit(centres[place] + noise)


def _unit(rows: npt.NDArray[Any]) -> Matrix:
    found: Matrix = (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)
    return found


def measure(size: int, *, queries: int, seed: int = 7) -> dict[str, Any]:
    """Measure a memory of one size, in a file that is deleted afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        facts, vectors = _fill(path, size, seed)
        asked = _questions(facts, vectors, queries, seed)
        embedder = Given(asked)
        backends = Backends(
            embedder=embedder, extractor=FakeExtractor(), classifier=FakeClassifier()
        )
        with open_memory(path, backends=backends, settings=Settings()) as memory:
            return {
                "facts": len(facts),
                "texts": len({fact.content_hash for fact in facts}),
                "queries": len(asked),
                "store_megabytes": path.stat().st_size / 1e6,
                **_times(memory, embedder, vectors),
                **_exactness(memory, facts, vectors, asked),
            }


def _fill(path: Path, size: int, seed: int) -> tuple[list[Fact], Matrix]:
    """Store facts and their vectors; facts of one text share one."""
    made, _ = generate(size, seed=seed)
    with Store.open(path) as store:
        store.add(made, now=NOW)
        facts = store.facts()
        hashes = list(dict.fromkeys(fact.content_hash for fact in facts))
        rows = dict(zip(hashes, clustered(len(hashes), seed=seed), strict=True))
        store.save_vectors(rows, Given.identity, DIMENSIONS)
    return facts, np.stack([rows[fact.content_hash] for fact in facts])


def _questions(facts: Sequence[Fact], vectors: Matrix, count: int, seed: int) -> dict[str, Matrix]:
    """Ask for facts in some of their words, with a vector near theirs."""
    chance, noise = random.Random(seed), np.random.default_rng(seed + 1)  # noqa: S311  # no secret
    asked: dict[str, Matrix] = {}
    while len(asked) < count:
        place = chance.randrange(len(facts))
        words = facts[place].text.rstrip(".").split()
        said = " ".join(chance.sample(words, min(4, len(words))))
        near = noise.normal(scale=0.5 / np.sqrt(DIMENSIONS), size=DIMENSIONS)
        asked[f"What do we know about {said}?"] = _unit((vectors[place] + near)[None, :])[0]
    return asked


def _times(memory: Memory, embedder: Given, vectors: Matrix) -> dict[str, Any]:
    asked = list(embedder.vectors)
    found: dict[str, Any] = {}
    found["first_ms"] = 1e3 * _timed(memory.recall_memories, asked[0])[0]
    recalls: list[tuple[float, float]] = []
    scans: list[tuple[float, float]] = []
    # By turns, so that what else the machine does falls on both
    for text in asked:
        recalls.append(_timed(memory.recall_memories, text))
        query = embedder.vectors[text]
        scans.append(_timed(_scan, vectors, query))
    found["recall"], found["scan"] = _summary(recalls), _summary(scans)
    found["share_of_scan"] = found["recall"]["p50_ms"] / found["scan"]["p50_ms"]
    found["cpu_share_of_scan"] = found["recall"]["cpu_p50_ms"] / found["scan"]["cpu_p50_ms"]
    after: list[tuple[float, float]] = []
    for number, text in enumerate(asked[: max(1, len(asked) // 4)]):
        new = NewFact(text=f"Something new, number {number}.", stated_at=NOW)
        embedder.vectors[new.text] = embedder.vectors[text]
        memory.store.add([new], now=NOW)
        after.append(_timed(memory.recall_memories, text))
    found["after_a_new_fact"] = _summary(after)
    by_words = [_timed(memory.store.search, text) for text in asked[:20]]
    found["search_by_words"] = _summary(by_words)
    return found


def _exactness(
    memory: Memory, facts: Sequence[Fact], vectors: Matrix, asked: Mapping[str, Matrix]
) -> dict[str, Any]:
    """How often the ten nearest are those of an exact search in double precision."""
    exact = vectors.astype(np.float64)
    index = memory.index
    place = {fact.id: number for number, fact in enumerate(facts)}
    same = 0
    with index.lock:
        for query in asked.values():
            distances = exact @ query.astype(np.float64)
            wanted = np.sort(distances)[-TOP:]
            slots = index.best(index.similarities(query), 4 * TOP, least=-1.0)
            ids = [each for each in index.ids(slots) if each in place][:TOP]
            got = np.sort(distances[[place[each] for each in ids]])
            # By distance, not by id: of facts with one text any will do
            same += bool(np.allclose(got, wanted, atol=1e-9))
    return {"same_top_10": same / len(asked)}


def _scan(vectors: Matrix, query: Matrix) -> npt.NDArray[np.int64]:
    distances = vectors @ query
    best = np.argpartition(distances, -TOP)[-TOP:]
    return best[np.argsort(-distances[best])]


def _timed(work: Callable[..., object], *arguments: object) -> tuple[float, float]:
    """Seconds on the clock, and of the processor over all threads."""
    began, worked = time.perf_counter(), time.process_time()
    work(*arguments)
    return time.perf_counter() - began, time.process_time() - worked


def _summary(seconds: Sequence[tuple[float, float]]) -> dict[str, float]:
    clock, processor = zip(*seconds, strict=True)
    return {
        "p50_ms": 1e3 * float(np.quantile(clock, 0.5)),
        "p95_ms": 1e3 * float(np.quantile(clock, 0.95)),
        "best_ms": 1e3 * min(clock),
        "cpu_p50_ms": 1e3 * float(np.quantile(processor, 0.5)),
    }


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write `recall.json`."""
    parser = argparse.ArgumentParser(
        prog="python -m eval.bench_recall", description="Measure recall."
    )
    parser.add_argument("--sizes", default="10000,100000", metavar="N,N,...", help="facts")
    parser.add_argument("--embedder", default="onnx:minilm", metavar="BACKEND:MODEL")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER")
    chosen = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    settings = Settings(embedder=chosen.embedder)
    result = heading(
        "recall",
        settings=settings,
        models=Backends.load(settings).identities,
        data={
            "eval/generate.py": files_digest([Path(__file__).parent / "generate.py"]),
            "recall/demo.jsonl": files_digest([QUESTIONS]),
        },
    )
    result["load_before"] = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    result["sizes"] = []
    for size in (int(part) for part in chosen.sizes.split(",")):
        log.info("%d facts ...", size)
        result["sizes"].append(measure(size, queries=chosen.queries))
    result["answers"] = ask(settings)
    path = write_result(chosen.out, "recall.json", result)
    print("\n".join([*_lines(result), "", f"written to {path}"]))
    return 0


def _lines(result: Mapping[str, Any]) -> list[str]:
    machine = result["machine"]
    lines = [f"recall on {machine['cores']} cores of {machine['cpu']}, no embedding of the query"]
    if result["load_before"] is not None and result["load_before"] > 0.5:
        lines.append(
            f"the machine was busy before (load {result['load_before']:.1f}): read the shares"
        )
    rows = [
        (
            entry["facts"],
            f"{entry['recall']['p50_ms']:.1f}",
            f"{entry['recall']['p95_ms']:.1f}",
            f"{entry['scan']['p50_ms']:.1f}",
            f"{entry['share_of_scan']:.1f}",
            f"{entry['recall']['cpu_p50_ms']:.1f}",
            f"{entry['cpu_share_of_scan']:.1f}",
            f"{entry['after_a_new_fact']['p50_ms']:.1f}",
            f"{entry['first_ms']:.0f}",
            f"{100 * entry['same_top_10']:.1f}",
        )
        for entry in result["sizes"]
    ]
    columns = ("facts", "p50 ms", "p95 ms", "scan p50", "share", "cpu ms", "cpu share",
               "after a write", "first", "same %")  # fmt: skip
    answers = result["answers"]
    found = [
        (
            name,
            f"{100 * scores['first']:.0f}",
            f"{100 * scores['first_three']:.0f}",
            f"{scores['mrr']:.3f}",
        )
        for name, scores in answers.items()
        if name != "questions"
    ]
    asked = f"{answers['questions']} questions to the demo memory"
    return [
        *lines,
        "",
        *table(columns, rows),
        "",
        *table((asked, "first %", "first three %", "MRR"), found),
    ]


if __name__ == "__main__":
    sys.exit(main())
