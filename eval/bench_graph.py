"""Measures the graph: how long it takes to look somebody up, and to rank what is near to them.

    python -m eval.bench_graph --out eval/results

Stores of 500 and 10,000 entities with five facts each are made in memory of the disk, then names
are looked up in random order: as stored, by another name, by initials (an entity found by more
than its key), of nobody. Times are of one call of `entity_get`, facts and their texts included.

Personalised PageRank is timed over 10,000 nodes, 1,000 entities and 9,000 facts, with 50,000
edges, an edge being one naming of an entity by a fact. Warm: the graph was made before; making it
is timed once by itself.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from consolidate.graph.tools import entity_get
from consolidate.graph.walking import Graphs, ppr_retrieve
from consolidate.store import Store
from consolidate.types import Alias, Group, Groups, Mention, NewFact
from eval.record import machine

__all__ = ["bench", "bench_walk", "build", "build_dense", "main"]

_NOW: Final = datetime(2026, 1, 1, tzinfo=UTC)
_FIRST: Final = (
    "Ada Bela Cira Dora Edda Fina Gesa Hana Iris Jana Kaja Lena Mara Nora Orla Pia".split()
)
_SYLLABLES: Final = "ba ko ri tu mes lan dor vik sa nor el gru pi wen tal os".split()
_FACTS_EACH: Final = 5
_CALLS: Final = 2000
_WALKS: Final = 500


def build(path: Path, entities: int, *, seed: int = 7) -> tuple[Store, list[str]]:
    """Make a store of made-up people, five facts each; returns it and their names."""
    rng = random.Random(seed)  # noqa: S311
    names: dict[str, None] = {}
    while len(names) < entities:
        last = "".join(rng.choices(_SYLLABLES, k=3)).title()
        names[f"{rng.choice(_FIRST)} {last}"] = None
    store = Store.open(path)
    people = list(names)
    facts, members, found = [], {}, {}
    for place, name in enumerate(people):
        for number in range(_FACTS_EACH):
            fact = f"f{place:05d}-{number}"
            text = f"{name} did thing number {number} in year {1990 + number}."
            said = _NOW - timedelta(hours=place * _FACTS_EACH + number)
            facts.append(NewFact(id=fact, text=text, stated_at=said))
            members[fact] = (name.lower(),)
            found[fact] = [Mention(start=0, end=len(name), text=name, label="person")]
    for start in range(0, len(facts), 5000):
        store.add(facts[start : start + 5000], now=_NOW)
    groups = tuple(
        Group(
            key=name.lower(),
            name=name,
            facts=tuple(f"f{place:05d}-{number}" for number in range(_FACTS_EACH)),
            type="person",
        )
        for place, name in enumerate(people)
    )
    for place in range(0, entities, 10):
        other = Alias(agent="default", canonical=people[place], alias=f"Nick {place}")
        store.add_alias(other)
    store.save_entities("default", Groups(groups=groups, by_fact=members), found)
    return store, people


def bench(entities: int, folder: Path) -> Mapping[str, Any]:
    """Time look-ups in a store of so many entities, in milliseconds."""
    began = time.perf_counter()
    store, names = build(folder / f"{entities}.db", entities)
    built = time.perf_counter() - began
    rng = random.Random(11)  # noqa: S311
    kinds: dict[str, Callable[[], str]] = {
        "by name": lambda: rng.choice(names),
        "by declared name": lambda: f"nick {rng.randrange(0, entities, 10)}",
        "by initial and family name": lambda: _short(rng.choice(names)),
        "of nobody": lambda: f"Zoe Xarn{rng.choice(_SYLLABLES)}",
    }
    result: dict[str, Any] = {"entities": entities, "seconds_to_build": built}
    with store:
        for kind, ask in kinds.items():
            calls = _CALLS if kind != "of nobody" else _CALLS // 20
            times = []
            for _ in range(calls):
                name = ask()
                start = time.perf_counter()
                entity_get(store, name)
                times.append(1000 * (time.perf_counter() - start))
            p95 = statistics.quantiles(times, n=20)[-1]
            result[kind] = {"p50_ms": statistics.median(times), "p95_ms": p95, "calls": calls}
    return result


def build_dense(
    path: Path, *, entities: int, facts: int, edges: int, seed: int = 7
) -> tuple[Store, list[str]]:
    """Make a store of facts that each name several people; returns it and their names.

    The first three in ten names of a fact are drawn from all, so that it hangs together; the
    others from a circle of 50.

    Args:
        path: The file.
        entities: People.
        facts: Facts.
        edges: Namings of a person by a fact, shared out evenly; exactly so many.
        seed: Of the chance.
    """
    rng = random.Random(seed)  # noqa: S311
    made: dict[str, None] = {}
    while len(made) < entities:
        last = "".join(rng.choices(_SYLLABLES, k=3)).title()
        made[f"{rng.choice(_FIRST)} {last}"] = None
    people = list(made)
    store = Store.open(path)
    rows, by_fact, found = [], {}, {}
    members: dict[str, list[str]] = {name.lower(): [] for name in people}
    for number in range(facts):
        count = edges * (number + 1) // facts - edges * number // facts
        circle = range(
            number % entities // 50 * 50, min(entities, number % entities // 50 * 50 + 50)
        )
        # Everybody is named by someone, so that there are as many nodes as was asked for
        named = {number % entities}
        while len(named) < count:
            named.add(rng.randrange(entities) if rng.random() < 0.3 else rng.choice(circle))
        fact = f"f{number:06d}"
        names = [people[place] for place in sorted(named)]
        text = f"{', '.join(names)} met at number {number}."
        rows.append(NewFact(id=fact, text=text, stated_at=_NOW - timedelta(hours=number)))
        by_fact[fact] = tuple(sorted(name.lower() for name in names))
        for name in names:
            members[name.lower()].append(fact)
        found[fact] = [Mention(start=0, end=len(names[0]), text=names[0], label="person")]
    for start in range(0, facts, 5000):
        store.add(rows[start : start + 5000], now=_NOW)
    groups = tuple(
        Group(key=name.lower(), name=name, facts=tuple(members[name.lower()]), type="person")
        for name in people
    )
    store.save_entities("default", Groups(groups=groups, by_fact=by_fact), found)
    return store, people


def bench_walk(
    folder: Path, *, entities: int = 1000, facts: int = 9000, edges: int = 50_000
) -> Mapping[str, Any]:
    """Time `ppr_retrieve` from one and from three people, in milliseconds."""
    store, names = build_dense(folder / "walk.db", entities=entities, facts=facts, edges=edges)
    rng = random.Random(11)  # noqa: S311
    with store:
        graphs = Graphs(store)
        start = time.perf_counter()
        graph = graphs.of("default")
        result: dict[str, Any] = {
            "nodes": len(graph.row),
            "edges": graph.walk.nnz // 2,
            "ms_to_make": 1000 * (time.perf_counter() - start),
        }
        for seeds in (1, 3):
            times = []
            for _ in range(_WALKS):
                asked = rng.sample(names, seeds)
                start = time.perf_counter()
                ranking = ppr_retrieve(graphs, store, asked)
                times.append(1000 * (time.perf_counter() - start))
                if len(ranking.facts) != 20:
                    raise AssertionError(f"{asked} led to {len(ranking.facts)} facts")
            p95 = statistics.quantiles(times, n=20)[-1]
            result[f"from {seeds}"] = {
                "p50_ms": statistics.median(times),
                "p95_ms": p95,
                "calls": _WALKS,
            }
    return result


def _short(name: str) -> str:
    first, last = name.split()
    return f"{first[0]}. {last}"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the bench and print the result as JSON; with `--out`, also keep it as graph.json."""
    parser = argparse.ArgumentParser(prog="python -m eval.bench_graph", description=__doc__)
    parser.add_argument("--entities", type=int, nargs="*", default=[500, 10_000])
    parser.add_argument("--out", type=Path, help="folder for graph.json")
    asked = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as folder:
        found = [bench(entities, Path(folder)) for entities in asked.entities]
        walk = bench_walk(Path(folder))
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    report = {"machine": machine(), "load": load, "lookup": found, "pagerank": walk}
    text = json.dumps(report, indent=1)
    print(text)
    if asked.out is not None:
        (asked.out / "graph.json").write_text(f"{text}\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
