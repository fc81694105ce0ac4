"""Suite `ablation`: what each layer of the judge is worth, by switching it off.

On the labelled pairs and on the labelled memories. Verdicts are asked for once and shared.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from consolidate.backends import Backends
from consolidate.settings import Settings
from eval.controls import Cosine
from eval.judged import PAIRS, cosine_threshold, read_rows
from eval.marks import score, totals
from eval.memories import read_memories
from eval.metrics import macro_f1
from eval.outcomes import outcomes
from eval.pair_ways import judged_in_ways
from eval.record import files_digest, heading
from eval.streams import STREAMS, stream_files
from eval.ways import Way, ablations, controls, filled, play

__all__ = ["run_ablation"]


def run_ablation(
    split: str,
    settings: Settings,
    *,
    folder: Path = STREAMS,
    sets: Path = PAIRS,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Score the judge whole, without each layer, and without all."""
    began = time.perf_counter()
    streams, paths = stream_files(split, folder), sorted((sets / split).glob("*.jsonl"))
    backends = Backends.load(settings)
    cosine = Cosine(backends.embedder, cosine_threshold(backends.embedder, sets=sets))
    ways = {"judge": Way()} | ablations() | controls(cosine)
    result = heading(
        f"ablation {split}",
        settings=settings,
        models=backends.identities,
        data={path.name: files_digest([path]) for path in (*streams, *paths)},
    )
    say("pairs")
    on_pairs = {}
    kept = ("contradictions", "caught", "to_review", "others", "false_supersession",
            "equivalents", "merged", "not_equivalent", "false_merge")  # fmt: skip
    judged_so = judged_in_ways(read_rows(paths), backends, settings, ways)
    for name, (judged, policy) in judged_so.items():
        done = outcomes(judged, policy)
        predicted = [each.predicted if policy else "distinct" for each in judged]
        on_pairs[name] = {
            "macro_f1": macro_f1([each.row.gold for each in judged], predicted)[0],
            **{key: done[key] for key in kept},
        }
    seconds = {"pairs": time.perf_counter() - began}
    scored: dict[str, list[dict[str, Any]]] = {name: [] for name in ways}
    for memory in read_memories(streams):
        say(memory.id)
        with filled(memory) as store:
            for name, played in play(memory, store, backends, settings, ways).items():
                scored[name].append(score(played.facts, memory.key, played.decisions))
    result |= {
        "pairs": on_pairs,
        "streams": {name: totals(each) for name, each in scored.items()},
    }
    return result | {"seconds": seconds | {"all": time.perf_counter() - began}}
