"""Checks on size and cost: how many pairs there are, and what is asked of a model twice."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from builders import verdict

from cases.bench import NOW, Bench, check, live, said
from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.backends.fake import FakeEmbedder, FakeExtractor, fake_backends
from consolidate.settings import Settings
from consolidate.stages.pairs import find_pairs
from consolidate.types import Fact, Group, Groups, NewFact, Relation, Verdict

WORDS = [a + b for a in "ba ce di fo gu ha je ki lo mu".split() for b in "n r s t v z".split()]


def notes(count: int) -> list[NewFact]:
    """Facts that share few words: the numbers of a square grid, written in made-up words."""
    return [
        said(
            f"n{n:04}",
            f"{WORDS[n % 60]} {WORDS[n * 7 % 59]} {WORDS[n // 60]} by {WORDS[n * 11 % 53]}",
            n / 9,
        )
        for n in range(count)
    ]


@check
def pairs_grow_with_the_facts(bench: Bench) -> None:
    counts = []
    for size in (500, 1000, 2000):
        generator = np.random.default_rng(7)
        vectors = generator.normal(size=(size, 24)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        facts = [_fact(f"f{n:05}", f"entry {n} of the log") for n in range(size)]
        ids = tuple(fact.id for fact in facts)
        groups = Groups(
            groups=(Group(key="log", name="log", facts=ids, hub=True),),
            by_fact=dict.fromkeys(ids, ("log",)),
        )
        found = find_pairs(
            facts, vectors, groups, live=dict.fromkeys(ids, True), neighbours=4, floor=-1,
            per_fact=6,
        )  # fmt: skip
        assert len(set(found.pairs)) == len(found.pairs)
        assert found.skipped["hub-entity"] == size * (size - 1) // 2
        counts.append(len(found.pairs))
        assert len(found.pairs) <= 6 * size
    assert counts[2] <= counts[0] * 4 * 1.1


def _fact(fact_id: str, text: str) -> Fact:
    return Fact(
        id=fact_id, agent="default", kind="fact", text=text, recorded_at=NOW, content_hash=text
    )


class _Counting:
    """A judge to whom everything is compatible but the texts of one pair; it counts."""

    identity = "test:one-contradiction@1"

    def __init__(self, *against: str) -> None:
        self.against = set(against)
        self.asked: list[tuple[str, str]] = []

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        self.asked += pairs
        return [
            verdict(Relation.CONTRADICTS if set(pair) == self.against else Relation.COMPATIBLE)
            for pair in pairs
        ]


@check
def a_budget_goes_on_where_it_stopped(bench: Bench) -> None:
    texts = [f"Orbital sheet {n} lists {WORDS[n % 60]} and {WORDS[n * 7 % 59]}" for n in range(200)]
    texts[150] = "Orbital budget stands at 40k this season"
    texts[199] = "By autumn the budget of Orbital comes to 55k"
    judge = _Counting(texts[150], texts[199])
    extractor = FakeExtractor({text: ["Orbital"] for text in texts})
    backends = Backends(embedder=FakeEmbedder(), extractor=extractor, classifier=judge)
    store = bench.filled([said(f"o{n:03}", text, n) for n, text in enumerate(texts)])
    cuts: list[int] = []
    while not cuts or cuts[-1]:
        outcome = bench.run(store, backends, pair_budget=100)
        assert outcome.plan is not None
        cuts.append(outcome.plan.cut)
        assert len(judge.asked) <= 100 * len(cuts)
        assert len(cuts) < 200 * Settings().pairs_per_fact / 100
    assert cuts == sorted(cuts, reverse=True)
    assert len(judge.asked) == len(set(judge.asked))
    assert store.get("o150").superseded_by == "o199"
    assert len(live(store)) == 199


@check
def a_second_run_asks_no_model(bench: Bench) -> None:
    embedder, judge = FakeEmbedder(), _Counting()
    backends = Backends(embedder=embedder, extractor=FakeExtractor(), classifier=judge)
    store = bench.filled(notes(300))
    first = bench.run(store, backends)
    asked = len(judge.asked)
    assert first.report.model_calls == 300 + 300 + asked
    written = store.rows_written()
    again = bench.run(store, backends)
    assert again.nothing_new
    assert again.report.model_calls == 0
    assert (embedder.items, len(judge.asked)) == (300, asked)
    assert store.rows_written() == written
    store.add([said("one-more", "A single plain sentence more", 99)], now=NOW)
    third = bench.run(store, backends)
    assert third.report.model_calls == 1 + 1 + len(judge.asked) - asked


@check
def new_facts_cost_only_themselves(bench: Bench) -> None:
    bench.without_network()
    judge = _Counting()
    backends = replace(bench.real, classifier=judge)
    everything = notes(440)
    store = bench.filled(everything[:400])
    bench.run(store, backends)
    asked = len(judge.asked)
    for start in (400, 420):
        store.add(everything[start : start + 20], now=NOW)
        outcome = bench.run(store, backends)
        # A new fact pushes an old one out of a list of neighbours here and there.
        assert len(judge.asked) - asked <= 20 * 2 * Settings().pairs_per_fact
        assert outcome.report.model_calls == 20 + 20 + len(judge.asked) - asked
        asked = len(judge.asked)


@check
def looking_up_makes_nothing_truer(bench: Bench) -> None:
    facts = [said("a", "Newest build is 5.2.0 as of 11 April 2026", 100)]
    store = bench.filled(facts)
    before = store.get("a")
    for _ in range(200):
        assert store.search("newest build")
    after = store.get("a")
    assert (after.trust, after.intensity, after.encounters) == (
        before.trust, before.intensity, before.encounters,
    )  # fmt: skip
    assert after.stated_at == before.stated_at
    store.add([said("b", "Newest build is 5.3.0 as of 2 May 2026", 121)], now=NOW)
    pipeline.run(store, fake_backends(), Settings(), now=NOW)
    assert store.get("b").status.is_live
