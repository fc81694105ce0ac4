"""Suite `dedup`: what is merged rightly, wrongly, or not at all.

On the labelled memories by pairs of facts that end in one, and on the labelled pairs by what
happens to each. A merge is wrong where it loses something; a poorer fact taken in by a richer one
loses nothing.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.types import Fact, FactStatus
from eval.controls import Cosine
from eval.judged import PAIRS, cosine_threshold, read_rows
from eval.memories import Key, read_memories
from eval.outcomes import deed, undone
from eval.pair_ways import judged_in_ways
from eval.record import files_digest, heading
from eval.streams import STREAMS, stream_files
from eval.ways import Way, controls, filled, play

__all__ = ["merges", "run_dedup"]

JUDGE = "judge"


def merges(facts: Mapping[str, Fact], key: Key) -> Counter[str]:
    """Count the pairs of facts that a run has made one, and those that it should have.

    `right` and `wrong` are pairs that ended in one fact, of which the key says that they say the
    same or that they don't; `missed` are pairs of a group of which both still stand apart. A
    member that was superseded is no duplicate left standing.
    """
    end = {fact_id: _end(fact_id, facts) for fact_id in key.facts}
    count: Counter[str] = Counter()
    for a, b in combinations(sorted(key.facts), 2):
        together, same = end[a] == end[b], b in key.group(a)
        if together:
            count["right" if same else "wrong"] += 1
        elif same and facts[end[a]].status.is_live and facts[end[b]].status.is_live:
            # Two that may both stay are no miss
            both_may = all("current" in key.accepted(each) for each in (a, b))
            count["open" if both_may else "missed"] += 1
    return count


def _end(fact_id: str, facts: Mapping[str, Fact]) -> str:
    while facts[fact_id].status is FactStatus.MERGED:
        fact_id = str(facts[fact_id].merged_into)
    return fact_id


def run_dedup(
    split: str,
    settings: Settings,
    *,
    folder: Path = STREAMS,
    sets: Path = PAIRS,
    say: Callable[[str], None] = lambda line: None,
) -> dict[str, Any]:
    """Score merges on the labelled memories and on the labelled pairs of a split."""
    began = time.perf_counter()
    streams, rows = stream_files(split, folder), sorted((sets / split).glob("*.jsonl"))
    backends = Backends.load(settings)
    cosine = Cosine(backends.embedder, cosine_threshold(backends.embedder, sets=sets))
    ways = {JUDGE: Way()} | controls(cosine)
    result = heading(
        f"dedup {split}",
        settings=settings,
        models=backends.identities,
        data={path.name: files_digest([path]) for path in (*streams, *rows)},
    )
    counts: dict[str, Counter[str]] = {name: Counter() for name in ways}
    samples: dict[str, dict[str, str]] = {"right merges": {}, "wrong merges": {}}
    for memory in read_memories(streams):
        say(memory.id)
        with filled(memory) as store:
            played = play(memory, store, backends, settings, ways)
        for name, each in played.items():
            counts[name].update(merges(each.facts, memory.key))
        mine = merges(played[JUDGE].facts, memory.key)
        samples["right merges"][memory.id] = f"{mine['right']}/{mine['right'] + mine['missed']}"
        samples["wrong merges"][memory.id] = f"{mine['wrong']}/{mine['right'] + mine['wrong']}"
    seconds = {"streams": time.perf_counter() - began}
    result |= {
        "streams": {name: _shares(count) for name, count in counts.items()},
        "pairs": _on_pairs(rows, backends, settings, ways),
        "samples": {
            name: {"kind": "share", "items": {k: v for k, v in each.items() if v[-2:] != "/0"}}
            for name, each in samples.items()
        },
    }
    return result | {"seconds": seconds | {"all": time.perf_counter() - began}}


def _on_pairs(
    paths: Sequence[Path], backends: Backends, settings: Settings, ways: Mapping[str, Way]
) -> dict[str, dict[str, Any]]:
    """What each way makes of the labelled pairs: merged rightly, wrongly, not."""
    rows = read_rows(paths)
    found = {}
    for name, (judged, policy) in judged_in_ways(rows, backends, settings, ways).items():
        count = Counter(deed(each, policy) if policy else undone(each) for each in judged)
        found[name] = _shares(
            Counter(
                right=count["merged"] + count["merged_contained"],
                wrong=count["false_merge"],
                missed=sum(row.relation == "equivalent" for row in rows) - count["merged"],
                asked=count["merge_to_review"],
            )
        )
    return found


def _shares(count: Mapping[str, int]) -> dict[str, Any]:
    right, wrong, missed = (count.get(name, 0) for name in ("right", "wrong", "missed"))
    return {
        **{name: count.get(name, 0) for name in ("right", "wrong", "missed", "asked", "open")},
        "precision": right / (right + wrong) if right + wrong else None,
        "recall": right / (right + missed) if right + missed else None,
    }
