"""Checks on size and cost: how many pairs there are, and what is asked of a model twice."""

from __future__ import annotations

import math

import numpy as np
from cases.bench import NOW, Bench, check, live, said

from consolidate import pipeline
from consolidate.backends.fake import FakeClassifier, FakeEmbedder, FakeExtractor, fake_backends
from consolidate.settings import Settings
from consolidate.stages.pairs import find_pairs
from consolidate.types import Fact, Group, Groups, NewFact

WORDS = [a + b for a in "ba ce di fo gu ha je ki lo mu".split() for b in "n r s t v z".split()]


def notes(count: int) -> list[NewFact]:
    """Facts that share few words: the numbers of a square grid, written in made-up words."""
    return [
        said(f"n{n:04}", f"{WORDS[n % 60]} {WORDS[n * 7 % 59]} {WORDS[n // 60]} by {WORDS[n * 11 % 53]}", n / 9)
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
            by_fact={fact_id: ("log",) for fact_id in ids},
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
    return Fact(id=fact_id, agent="default", kind="fact", text=text, recorded_at=NOW, content_hash=text)


@check
def a_budget_goes_on_where_it_stopped(bench: Bench) -> None:
    filler = [f"Orbital sheet {n} lists {WORDS[n % 60]} and {WORDS[n * 7 % 59]}" for n in range(200)]
    texts = [*filler[:150], "Orbital budget stands at 40k this season", *filler[150:198],
             "By autumn the Orbital budget stands at 55k"]  # fmt: skip
    facts = [said(f"o{n:03}", text, n) for n, text in enumerate(texts)]
    extractor = FakeExtractor({text: ["Orbital"] for text in texts})
    from consolidate.backends import Backends
    from consolidate.types import Relation

    against = {(texts[150], texts[-1]): Relation.CONTRADICTS}
    quiet = {(a, b): Relation.COMPATIBLE for a in filler for b in texts if a != b}
    classifier = FakeClassifier({**quiet, **against})
    backends = Backends(embedder=FakeEmbedder(), extractor=extractor, classifier=classifier)
    store = bench.filled(facts)
    cuts = []
    total = 0
    while not cuts or cuts[-1]:
        outcome = bench.run(store, backends, pair_budget=40)
        assert outcome.plan is not None
        total = total or next(s for s in outcome.plan.stages if s.stage == "pairs").items_out
        assert classifier.items <= 40 * (len(cuts) + 1)
        cuts.append(outcome.plan.cut)
        assert len(cuts) <= math.ceil(total / 40) + 1
    assert cuts == sorted(cuts, reverse=True)
    assert store.get("o150").superseded_by == "o199"
    assert len(live(store)) == 199


@check
def a_second_run_asks_no_model(bench: Bench) -> None:
    embedder, extractor, classifier = FakeEmbedder(), FakeExtractor(), FakeClassifier()
    from consolidate.backends import Backends

    backends = Backends(embedder=embedder, extractor=extractor, classifier=classifier)
    store = bench.filled(notes(300))
    bench.run(store, backends)
    asked = (embedder.items, extractor.items, classifier.items)
    assert asked[0] == 300
    written = store.rows_written()
    again = bench.run(store, backends)
    assert again.nothing_new
    assert again.report.model_calls == 0
    assert (embedder.items, extractor.items, classifier.items) == asked
    assert store.rows_written() == written
    store.add([said("one-more", "A single plain sentence more", 99)], now=NOW)
    bench.run(store, backends)
    assert embedder.items == asked[0] + 1
    assert extractor.items == asked[1] + 1


@check
def new_facts_cost_only_themselves(bench: Bench) -> None:
    bench.without_network()
    embedder, classifier = FakeEmbedder(), FakeClassifier()
    from consolidate.backends import Backends

    backends = Backends(embedder=embedder, extractor=FakeExtractor(), classifier=classifier)
    everything = notes(440)
    store = bench.filled(everything[:400])
    bench.run(store, backends)
    asked = classifier.items
    for start in (400, 420):
        store.add(everything[start : start + 20], now=NOW)
        bench.run(store, backends)
        # New facts push old ones out of lists of neighbours, so a few old pairs are new too.
        assert classifier.items - asked <= 20 * 3 * Settings().pairs_per_fact
        asked = classifier.items
    assert embedder.items == 440


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
