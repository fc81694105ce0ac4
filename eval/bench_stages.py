"""How much of the models' bare speed the stages keep: everything a stage does, against the graph.

The stage is timed whole: texts to tokens, runs, pooling, checks, and vectors or verdicts written
to a store on disk. The yardstick is the fastest of the configurations in `eval.bare` on the same
rows in the same minutes. Of each the best of a few rounds counts, stage and yardstick by turns.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any, Final, TypeVar

from consolidate.backends import Backends
from consolidate.backends.files import ModelFiles
from consolidate.backends.onnx import Item, thread_count
from consolidate.backends.tokens import Tokens
from consolidate.settings import Settings
from consolidate.stages.classify import classify
from consolidate.stages.embed import embed
from consolidate.stages.work import Tally, silent
from consolidate.store import Store
from consolidate.types import Fact, Pair
from eval.bare import Bare, configurations
from eval.judged import RECORDED, Row, read_rows
from eval.record import SETS

__all__ = ["bench_stages", "stage_rows"]

Input = TypeVar("Input")

WARM: Final = 80
"""Items judged before timing: enough for the session, and for the trial of shared runs."""
BEST: Final = 2
"""Configurations that are timed again after the first round."""


def stage_rows(count: int, *, sets: Path = SETS / "memory_pairs") -> list[Row]:
    """Labelled pairs as realistic input, spread evenly over the training split."""
    rows = read_rows((sets / "train").glob("*.jsonl"))
    step = max(1, len(rows) // count)
    return rows[::step][:count]


def bench_stages(
    settings: Settings, *, texts: int = 2000, pairs: int = 1000, rounds: int = 3
) -> dict[str, Any]:
    """Rates of the stages `embed` and `classify` and their share of the best bare rate."""
    backends = Backends.load(settings)
    rows = stage_rows(max(pairs, texts // 2))
    written = list(dict.fromkeys(text for row in rows for text in (row.a, row.b)))[:texts]
    # Another set of texts for warming up, so that nothing timed was seen before
    warm = [f"{text} (once more)" for text in written[:WARM]]
    couples = [(row.a, row.b) for row in rows[:pairs]]
    cores = thread_count(settings.threads)
    found: dict[str, Any] = {"threads": cores, "rounds": rounds}

    files = getattr(backends.embedder, "files", None)
    backends.embedder.embed(warm)
    found["embed"] = _compare(
        len(written),
        lambda: _embed(backends, written),
        _bare(files, written, _windows, cores),
        rounds,
    )
    files = getattr(backends.classifier, "files", None)
    backends.classifier.classify(list(zip(warm, warm[::-1], strict=True)))
    found["classify"] = _compare(
        len(couples),
        lambda: _classify(backends, couples),
        _bare(files, couples, _both_ways, cores),
        rounds,
    )
    return found


def _embed(backends: Backends, texts: Sequence[str]) -> float:
    facts = [_fact(str(k), text) for k, text in enumerate(texts)]
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "m.db") as store:
        began = time.perf_counter()
        embed(store, backends.embedder, facts, tally=Tally("embed"), progress=silent)
        return time.perf_counter() - began


def _classify(backends: Backends, couples: Sequence[tuple[str, str]]) -> float:
    facts: dict[str, Fact] = {}
    pairs = []
    for k, (left, right) in enumerate(couples):
        pair = Pair(left=f"{k}-a", right=f"{k}-b", rule="labelled")
        facts |= {pair.left: _fact(pair.left, left), pair.right: _fact(pair.right, right)}
        pairs.append(pair)
    with tempfile.TemporaryDirectory() as folder, Store.open(Path(folder) / "m.db") as store:
        began = time.perf_counter()
        classify(
            store,
            backends.classifier,
            pairs,
            facts,
            budget=0,
            tally=Tally("classify"),
            progress=silent,
        )
        return time.perf_counter() - began


def _fact(fact_id: str, text: str) -> Fact:
    return Fact(
        id=fact_id,
        agent="default",
        kind="fact",
        text=text,
        recorded_at=RECORDED,
        content_hash=sha256(text.encode()).hexdigest(),
    )


def _windows(tokens: Tokens, text: str) -> list[Item]:
    return [window.item for window in tokens.windows(text)]


def _both_ways(tokens: Tokens, couple: tuple[str, str]) -> list[Item]:
    return [tokens.both_ways(*couple)[0]]


def _bare(
    files: ModelFiles | None,
    inputs: Sequence[Input],
    rows: Callable[[Tokens, Input], list[Item]],
    cores: int,
) -> tuple[Bare, int] | None:
    """The graph with these inputs as rows; None for a backend that has no graph."""
    if files is None:
        return None
    # As the backends read it, so that both sides judge the same rows
    most = files.setting("max_tokens") or files.config.get("max_position_embeddings") or 256
    tokens = Tokens(files, most=min(most, 512))
    return Bare(files, [item for each in inputs for item in rows(tokens, each)]), cores


def _compare(
    items: int,
    stage: Callable[[], float],
    bare: tuple[Bare, int] | None,
    rounds: int,
) -> dict[str, Any]:
    """Time stage and yardstick by turns."""
    seconds = [stage()]
    found: dict[str, Any] = {"items": items}
    if bare is None:
        seconds += [stage() for _ in range(rounds - 1)]
        return found | {"seconds": min(seconds), "per_second": items / min(seconds), "share": None}
    graph, cores = bare
    times = {how: [graph.seconds(how)] for how in configurations(cores)}
    fastest = sorted(times, key=lambda how: times[how][0])[:BEST]
    for _ in range(rounds - 1):
        seconds.append(stage())
        for how in fastest:
            times[how].append(graph.seconds(how))
    best = min(times, key=lambda how: min(times[how]))
    return found | {
        "seconds": min(seconds),
        "per_second": items / min(seconds),
        "share": min(times[best]) / min(seconds),
        "best_bare": best.name,
        "bare": {
            how.name: {
                "per_second": items / min(taken),
                "batch_independent": graph.independent(how),
            }
            for how, taken in times.items()
        },
    }
