"""Suite `streams`: whole memories, and what has become of every fact.

The labelled memories of a split and the demo. Beside the judge, the controls go through the same
pipeline and the same scorer.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import Plan
from eval.controls import Cosine
from eval.judged import cosine_threshold
from eval.marks import score, totals
from eval.memories import AGENT, DEMO_FILES, Memory, demo, read_memories
from eval.record import SETS, files_digest, heading
from eval.ways import Way, controls, filled, play, stage_seconds

__all__ = ["STREAMS", "run_streams", "stream_files"]

STREAMS: Final = SETS / "streams"
JUDGE: Final = "judge"
BRIEF: Final = ("facts", "right", "wrong_merge", "false_supersession", "missed_update",
                "missed_merge", "asked", "traps", "traps_sprung", "reviews")  # fmt: skip

Scored = Mapping[str, Mapping[str, Any]]
"""Way to counts, for one memory."""


def stream_files(split: str, folder: Path = STREAMS) -> list[Path]:
    """The files of one split."""
    return sorted((folder / split).glob("*.jsonl"))


def run_streams(
    split: str,
    settings: Settings,
    *,
    folder: Path = STREAMS,
    with_demo: bool = True,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Consolidate every memory of a split, and the demo, and score what they have become."""
    began = time.perf_counter()
    paths = stream_files(split, folder)
    memories = read_memories(paths)
    if not memories:
        raise FileNotFoundError(f"expected labelled streams in {str(folder / split)!r}")
    backends = Backends.load(settings)
    ways = {JUDGE: Way()} | controls(Cosine(backends.embedder, cosine_threshold(backends.embedder)))
    seconds = {"prepare": time.perf_counter() - began}
    result = heading(
        f"streams {split}",
        settings=settings,
        models=backends.identities,
        data={path.name: files_digest([path]) for path in (*paths, *DEMO_FILES[:with_demo])},
    )
    played, plans, again = _all(memories, backends, settings, ways, say)
    result |= _sums(played, ways)
    result |= {
        "by_tag": _by(played, memories, lambda memory: memory.tags),
        "by_language": _by(played, memories, lambda memory: (memory.lang,)),
        "by_stream": {
            memory.id: {name: scored[JUDGE][name] for name in BRIEF}
            for memory, scored in zip(memories, played, strict=True)
        },
        "again": again,
        "samples": _samples(memories, played),
    }
    if split == "dev":  # of the test split, single facts are not to be looked at
        result["mistakes"] = _mistakes(memories, played)
    if with_demo:
        (scored,), demo_plans, demo_again = _all([demo()], backends, settings, ways, say)
        result["demo"] = _sums([scored], ways) | {
            "again": demo_again,
            "mistakes": _mistakes([demo()], [scored]),
        }
        plans += demo_plans
    seconds |= stage_seconds(plans)
    return result | {"seconds": seconds | {"all": time.perf_counter() - began}}


def _all(
    memories: Sequence[Memory],
    backends: Backends,
    settings: Settings,
    ways: Mapping[str, Way],
    say: Callable[[str], None],
) -> tuple[list[Scored], list[Plan], dict[str, int]]:
    """Scores of each memory in each way, the judge's plans, and what a second run did."""
    scored: list[Scored] = []
    plans = []
    again = {"nothing_new": 0, "something_new": 0}
    for number, memory in enumerate(memories, start=1):
        say(f"{memory.id} ({number} of {len(memories)})")
        with filled(memory) as store:
            played = play(memory, store, backends, settings, ways)
            idle = _settles(memory, store, backends, settings)
        again["nothing_new" if idle else "something_new"] += 1
        scored.append(
            {name: score(each.facts, memory.key, each.decisions) for name, each in played.items()}
        )
        plans += [each.plan for name, each in played.items() if name == JUDGE and each.plan]
    return scored, plans, again


def _settles(memory: Memory, store: Store, backends: Backends, settings: Settings) -> bool:
    """Whether after a real run a second one finds nothing to do."""
    for _ in range(2):
        outcome = pipeline.run(store, backends, settings, agent=AGENT, now=memory.now)
    return outcome.nothing_new


def _sums(played: Sequence[Scored], ways: Iterable[str]) -> dict[str, Any]:
    by_way = {name: totals([scored[name] for scored in played]) for name in ways}
    return {"streams": len(played), JUDGE: by_way.pop(JUDGE), "controls": by_way}


def _by(
    played: Sequence[Scored],
    memories: Sequence[Memory],
    names_of: Callable[[Memory], Sequence[str]],
) -> dict[str, dict[str, Any]]:
    """The judge's totals over the memories of each name."""
    found: dict[str, list[Mapping[str, Any]]] = {}
    for memory, scored in zip(memories, played, strict=True):
        for name in names_of(memory):
            found.setdefault(name, []).append(scored[JUDGE])
    return {
        name: {"streams": len(each)} | {key: totals(each)[key] for key in (*BRIEF, "right_share")}
        for name, each in sorted(found.items())
    }


def _mistakes(memories: Sequence[Memory], played: Sequence[Scored]) -> list[dict[str, Any]]:
    """Every fact in a wrong end state, harm first."""
    found = [
        {"stream": memory.id, "trap": entry["id"] in scored[JUDGE]["sprung"], **entry}
        for kind in ("harm", "missed")
        for memory, scored in zip(memories, played, strict=True)
        for entry in scored[JUDGE][kind]
    ]
    return found


def _samples(memories: Sequence[Memory], played: Sequence[Scored]) -> dict[str, Any]:
    """What `eval.compare` resamples: whole memories, since facts of one depend on each other."""
    pairs = list(zip(memories, played, strict=True))

    def shares(part: Sequence[str], whole: str) -> dict[str, Any]:
        counts = {
            m.id: f"{sum(scored[JUDGE][p] for p in part)}/{scored[JUDGE][whole]}"
            for m, scored in pairs
        }
        return {"kind": "share", "items": counts}

    return {
        "right": shares(["right"], "facts"),
        "wrong merges": shares(["wrong_merge"], "facts"),
        "false supersessions": shares(["false_supersession"], "facts"),
        "misses": shares(["missed_update", "missed_merge"], "facts"),
        "traps sprung": shares(["traps_sprung"], "traps"),
    }
