"""Suite `blocking`: are the right pairs among those that are compared, and how many are compared.

What is not proposed is never judged, so a judge can't make up for it. Scored on the labelled
memories and on one memory of all texts of the labelled pairs, which is larger and less alike.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.stages.collapse import collapse
from consolidate.stages.embed import embed
from consolidate.stages.entities import entities
from consolidate.stages.group import Names, group
from consolidate.stages.judging import Bench
from consolidate.stages.nearest import nearest
from consolidate.stages.pairs import find_pairs
from consolidate.stages.work import Tally, silent
from consolidate.store import Store
from consolidate.types import Fact, Pair
from eval.judged import PAIRS, facts_of, read_rows
from eval.memories import AGENT, read_memories
from eval.record import files_digest, heading
from eval.streams import STREAMS, stream_files
from eval.ways import filled

__all__ = ["Proposed", "propose", "run_blocking", "score_pairs"]

Ends = frozenset[str]
"""Two facts, whichever is first."""


class Proposed:
    """The pairs of one memory, by the ways of proposing them."""

    def __init__(self, facts: Sequence[Fact], ways: Mapping[str, Collection[Ends]]) -> None:
        self.facts = facts
        self.ways = ways
        self.rules: Counter[str] = Counter()
        self.skipped: Counter[str] = Counter()


def propose(
    store: Store, facts: Sequence[Fact], backends: Backends, settings: Settings
) -> Proposed:
    """Find the pairs of a memory as the first round of a run does, and as controls do.

    A repeat counts as paired with what repeats it, and meets whatever the other meets: the run
    judges each text once.
    """
    uniques = collapse(facts)
    by_id = {fact.id: fact for fact in facts}
    texts = [by_id[unique.representative] for unique in uniques]
    vectors = embed(store, backends.embedder, texts, tally=Tally("embed"), progress=silent)
    mentions = entities(store, backends.extractor, texts, tally=Tally("entities"), progress=silent)
    same = Names.of((), texts)
    groups = group(texts, mentions, same, hub_size=settings.hub_size)
    found = find_pairs(
        texts,
        vectors,
        groups,
        live={text.id: True for text in texts},
        neighbours=settings.neighbours,
        floor=settings.similarity_floor,
        per_fact=settings.pairs_per_fact,
    )
    bench = Bench(texts, mentions, groups, same, settings.slots)
    asked = bench.worth_asking(found, known={}, tally=Tally("pairs"))
    places, _ = nearest(vectors, vectors, settings.pairs_per_fact + 1)
    near = {
        frozenset((texts[row].id, texts[column].id))
        for row, columns in enumerate(places)
        for column in columns
        if row != column
    }
    repeats = {frozenset(pair) for unique in uniques for pair in combinations(unique.members, 2)}
    members = {unique.representative: unique.members for unique in uniques}

    def spread(pairs: Iterable[Ends]) -> set[Ends]:
        """Pairs of texts as pairs of the facts that hold them."""
        return repeats | {
            frozenset((a, b))
            for pair in pairs
            for left, right in [sorted(pair)]
            for a in members[left]
            for b in members[right]
        }

    proposed = Proposed(
        facts,
        {
            "proposed": spread(map(_ends, found.pairs)),
            "asked": spread(map(_ends, asked)),
            "exact match": repeats,
            "nearest neighbours": spread(near),
        },
    )
    proposed.rules.update(found.by_rule)
    proposed.skipped.update(found.skipped)
    return proposed


def _ends(pair: Pair) -> Ends:
    return frozenset((pair.left, pair.right))


def score_pairs(
    proposed: Proposed, related: Collection[Ends], partners: Mapping[str, Collection[str]]
) -> dict[str, dict[str, int]]:
    """Counts for each way.

    Args:
        proposed: What was proposed.
        related: Pairs about which there is something to decide.
        partners: For each fact that should go, the facts that would be a reason; one is enough.
    """
    counts = {}
    for name, pairs in proposed.ways.items():
        reached = {end for pair in pairs if pair in related for end in pair}
        counts[name] = {
            "facts": len(proposed.facts),
            "pairs": len(pairs),
            "related": len(related),
            "related_found": sum(pair in pairs for pair in related),
            "must_meet": len(partners),
            "met": sum(
                fact in reached and any(frozenset((fact, p)) in pairs for p in others)
                for fact, others in partners.items()
            ),
        }
    return counts


def run_blocking(
    split: str, settings: Settings, *, folder: Path = STREAMS, sets: Path = PAIRS
) -> dict[str, Any]:
    """Score the pairs of the labelled memories, and of one large memory of labelled pairs."""
    began = time.perf_counter()
    streams, rows = stream_files(split, folder), sorted((sets / split).glob("*.jsonl"))
    backends = Backends.load(settings)
    result = heading(
        f"blocking {split}",
        settings=settings,
        models=backends.identities,
        data={path.name: files_digest([path]) for path in (*streams, *rows)},
    )
    scored, rules, samples = [], Counter[str](), {}
    for memory in read_memories(streams):
        with filled(memory) as store:
            facts = store.facts(agent=AGENT)
            proposed = propose(store, facts, backends, settings)
        related = {frozenset(pair) for pair in memory.key.related()}
        partners = {
            fact: others
            for fact in memory.key.facts
            if "current" not in memory.key.accepted(fact)
            and (others := memory.key.successors(fact) | memory.key.group(fact))
        }
        counts = score_pairs(proposed, related, partners)
        scored.append(counts)
        rules.update(proposed.rules)
        if counts["asked"]["must_meet"]:
            samples[memory.id] = f"{counts['asked']['met']}/{counts['asked']['must_meet']}"
    seconds = {"streams": time.perf_counter() - began}
    labelled = [row for row in read_rows(rows) if row.relation != "compatible"]
    couples = [facts_of(row) for row in read_rows(rows)]
    large = [fact for couple in couples for fact in couple]
    with Store.open(":memory:") as store:
        proposed = propose(store, large, backends, settings)
    pairs = {frozenset(f.id for f in facts_of(row)) for row in labelled}
    meet = {max(pair): [min(pair)] for pair in pairs}
    result |= {
        "streams": {"memories": len(scored), "by_rule": dict(rules)} | _summed(scored),
        "pairs": {"memories": 1, "by_rule": dict(proposed.rules)}
        | _summed([score_pairs(proposed, pairs, meet)]),
        "samples": {"met in streams": {"kind": "share", "items": samples}},
    }
    seconds["all"] = time.perf_counter() - began
    return result | {"seconds": seconds}


def _summed(scored: Sequence[Mapping[str, Mapping[str, int]]]) -> dict[str, Any]:
    """Sums over memories, with recall and pairs a fact; all with all for comparison."""
    ways: dict[str, dict[str, Any]] = {}
    for name in scored[0]:
        parts = [each[name] for each in scored]
        ways[name] = {key: sum(part[key] for part in parts) for key in parts[0]}
    sizes = np.array([each["asked"]["facts"] for each in scored])
    everything = ways["asked"] | {"pairs": int((sizes * (sizes - 1) // 2).sum())}
    everything |= {
        "related_found": everything["related"], "met": everything["must_meet"],
    }  # fmt: skip
    ways["all with all"] = everything
    ways["do nothing"] = everything | {"pairs": 0, "related_found": 0, "met": 0}
    for way in ways.values():
        way["recall"] = way["met"] / way["must_meet"] if way["must_meet"] else None
        way["pair_recall"] = way["related_found"] / way["related"] if way["related"] else None
        way["pairs_per_fact"] = way["pairs"] / way["facts"]
    return {"ways": ways}
