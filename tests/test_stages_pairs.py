from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest
from builders import fact
from hypothesis import given
from hypothesis import strategies as st

from consolidate.judge.slots import attributes_of
from consolidate.stages.nearest import Neighbourhood, nearest
from consolidate.stages.pairs import find_pairs
from consolidate.types import Candidates, Fact, Group, Groups

Vectors = npt.NDArray[np.float32]


def vectors_of(rows: int, columns: int = 8, seed: int = 0) -> Vectors:
    made = np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)
    return np.asarray(made / np.linalg.norm(made, axis=1, keepdims=True), np.float32)


def brute_force(queries: Vectors, base: Vectors, k: int) -> list[list[int]]:
    products = queries @ base.T
    return [sorted(range(len(base)), key=lambda i: (-row[i], i))[:k] for row in products]


@pytest.mark.parametrize("rows", [1, 63, 64, 65, 300, 700])
@pytest.mark.parametrize("k", [1, 3, 7])
def test_nearest_equals_brute_force(rows: int, k: int) -> None:
    base = vectors_of(rows, seed=rows)
    indices, products = nearest(base, base, k)
    assert indices.shape == products.shape == (rows, min(k, rows))
    # The order of near-equal products depends on how the matrix was multiplied; products do not
    expected = np.sort(base @ base.T, axis=1)[:, ::-1][:, :k]
    assert np.allclose(products, expected, atol=1e-6)
    assert np.allclose(products, np.take_along_axis(base @ base.T, indices, axis=1), atol=1e-6)
    assert all(len(set(row)) == len(row) for row in indices.tolist())


@pytest.mark.parametrize("rows", [5, 64, 200, 1200])
@pytest.mark.parametrize("k", [1, 4, 9])
def test_of_equal_neighbours_the_first_ones_are_taken(rows: int, k: int) -> None:
    """Whole numbers, so that products are exact and ties are many."""
    rng = np.random.default_rng(rows)
    base = rng.integers(-1, 2, size=(rows, 4)).astype(np.float32)
    queries = rng.integers(-1, 2, size=(40, 4)).astype(np.float32)
    indices, _ = nearest(queries, base, k)
    assert indices.tolist() == brute_force(queries, base, k)


def test_equal_rows_in_many_blocks_come_in_order() -> None:
    base = np.ones((1000, 2), dtype=np.float32)
    indices, _ = nearest(base[:3], base, 5)
    assert indices.tolist() == [[0, 1, 2, 3, 4]] * 3


def test_more_queries_than_a_slab_holds_are_all_answered() -> None:
    queries, base = vectors_of(1100, seed=1), vectors_of(300, seed=2)
    indices, _ = nearest(queries, base, 2)
    for i in (0, 511, 512, 1023, 1024, 1099):
        again, _ = nearest(queries[i : i + 1], base, 2)
        assert indices[i].tolist() == again[0].tolist()


@pytest.mark.parametrize(("queries", "base", "k"), [(0, 5, 2), (5, 0, 2), (5, 5, 0)])
def test_nearest_of_nothing_is_nothing(queries: int, base: int, k: int) -> None:
    indices, products = nearest(vectors_of(queries), vectors_of(base), k)
    assert indices.shape == products.shape == (queries, min(k, base))


# -- pairs ---------------------------------------------------------------------------------------

FLOOR = 0.3


def pairs(
    facts: Sequence[Fact],
    vectors: Vectors,
    groups: Groups | None = None,
    *,
    live: dict[str, bool] | None = None,
    neighbours: int = 2,
    floor: float = FLOOR,
    per_fact: int = 100,
) -> Candidates:
    return find_pairs(
        facts,
        vectors,
        groups or grouped(facts, {}),
        live=live or {f.id: True for f in facts},
        neighbours=neighbours,
        floor=floor,
        per_fact=per_fact,
    )


def grouped(facts: Sequence[Fact], members: dict[str, list[str]], *hubs: str) -> Groups:
    by_fact = {
        f.id: tuple(sorted(key for key, ids in members.items() if f.id in ids)) for f in facts
    }
    groups = (
        Group(key=key, name=key, facts=tuple(sorted(ids)), hub=key in hubs)
        for key, ids in sorted(members.items())
    )
    return Groups(groups=tuple(groups), by_fact=by_fact)


def apart(count: int) -> Vectors:
    """Vectors of which no two are near."""
    return np.eye(count, dtype=np.float32)


def test_facts_of_one_entity_meet_however_far_apart() -> None:
    facts = [fact("a"), fact("b"), fact("c")]
    found = pairs(facts, apart(3), grouped(facts, {"mia": ["a", "c"]}))
    assert [(p.left, p.right, p.rule) for p in found.pairs] == [("a", "c", "same-entity")]
    assert found.by_rule == {"same-entity": 1}


def test_facts_of_a_hub_meet_by_slot_and_nearness_alone() -> None:
    texts = ["lives in Ghent", "moved to Bonn", "likes tea", "likes oolong tea"]
    facts = [fact(x, text) for x, text in zip("abcd", texts, strict=True)]
    vectors = np.eye(4, dtype=np.float32)
    vectors[3] = vectors[2]
    found = pairs(facts, vectors, grouped(facts, {"the user": list("abcd")}, "the user"))
    assert {(p.left, p.right, p.rule) for p in found.pairs} == {
        ("a", "b", "same-slot"),
        ("c", "d", "neighbour"),
    }
    assert found.skipped == {"hub-entity": 6}


def test_a_pair_belongs_to_the_first_rule_that_makes_it() -> None:
    facts = [fact("a", "lives in Ghent"), fact("b", "moved to Bonn")]
    same = np.ones((2, 1), dtype=np.float32)
    (pair,) = pairs(facts, same, grouped(facts, {"mia": ["a", "b"]})).pairs
    assert (pair.rule, pair.similarity) == ("same-slot", 1.0)


def test_two_retired_facts_never_meet_and_a_live_one_meets_retired_ones() -> None:
    facts = [fact("a"), fact("b"), fact("c")]
    same = np.ones((3, 1), dtype=np.float32)
    live = {"a": False, "b": False, "c": True}
    found = pairs(facts, same, grouped(facts, {"mia": ["a", "b", "c"]}), live=live)
    assert [(p.left, p.right) for p in found.pairs] == [("a", "c"), ("b", "c")]


def test_kinds_that_are_not_compared_are_left_out_and_counted() -> None:
    facts = [fact("a"), fact("b", kind="memory"), fact("c", kind="synthesis"), fact("d")]
    found = pairs(facts, np.ones((4, 1), dtype=np.float32))
    assert [(p.left, p.right) for p in found.pairs] == [("a", "d")]
    assert found.skipped == {"kind-not-compared": 2}


def test_nothing_below_the_floor_is_a_neighbour() -> None:
    vectors = np.array([[1, 0], [0.6, 0.8], [0, 1]], dtype=np.float32)
    found = pairs([fact("a"), fact("b"), fact("c")], vectors, floor=0.7)
    assert [(p.left, p.right) for p in found.pairs] == [("b", "c")]


def test_no_facts_give_no_pairs() -> None:
    assert pairs([], np.zeros((0, 4), dtype=np.float32)).pairs == ()
    assert pairs([fact("a")], apart(1)).pairs == ()


def test_a_long_list_is_not_compared_all_with_all() -> None:
    facts = [fact(f"f{n:03}") for n in range(60)]
    members = {"mia": [f.id for f in facts]}
    found = pairs(facts, vectors_of(60, 16), grouped(facts, members), neighbours=0)
    assert 0 < len(found.pairs) <= 60 * 3
    assert {x for p in found.pairs for x in (p.left, p.right)} == set(members["mia"])


TEXTS = st.sampled_from(
    ["lives in Ghent", "moved to Bonn", "works at Acme", "likes tea", "has a cat", "port 80"]
)


@st.composite
def worlds(
    draw: st.DrawFn,
) -> tuple[list[Fact], Vectors, Groups, dict[str, bool]]:
    count = draw(st.integers(1, 14))
    facts = [
        fact(f"f{n:02}", draw(TEXTS), kind=draw(st.sampled_from(["fact", "fact", "memory"])))
        for n in range(count)
    ]
    ids = [f.id for f in facts]
    members = {
        key: sorted(draw(st.sets(st.sampled_from(ids), min_size=1)))
        for key in draw(st.sets(st.sampled_from(["mia", "jonas", "acme", "the user"])))
    }
    live = {fact_id: draw(st.integers(0, 3)) > 0 for fact_id in ids}
    vectors = vectors_of(count, 4, draw(st.integers(0, 99)))
    return facts, vectors, grouped(facts, members, "the user"), live


@given(worlds())
def test_every_pair_has_a_reason_and_comes_once(
    world: tuple[list[Fact], Vectors, Groups, dict[str, bool]],
) -> None:
    facts, vectors, groups, live = world
    found = pairs(facts, vectors, groups, live=live)
    place = {f.id: i for i, f in enumerate(facts)}
    together = {g.key: set(g.facts) for g in groups.groups if not g.hub}
    ends = [(p.left, p.right) for p in found.pairs]
    assert ends == sorted(set(ends))
    assert Counter(p.rule for p in found.pairs) == Counter(found.by_rule)
    for p in found.pairs:
        a, b = facts[place[p.left]], facts[place[p.right]]
        assert a.id < b.id
        assert "memory" not in (a.kind, b.kind)
        assert live[a.id] or live[b.id]
        similarity = float(vectors[place[a.id]] @ vectors[place[b.id]])
        assert p.similarity == pytest.approx(similarity, abs=1e-5)
        if p.rule == "same-slot":
            assert set(attributes_of(a.text)) & set(attributes_of(b.text))
            assert set(groups.by_fact[a.id]) & set(groups.by_fact[b.id])
        elif p.rule == "same-entity":
            assert any({a.id, b.id} <= ids for ids in together.values())
        else:
            assert similarity >= FLOOR - 1e-6


@given(worlds(), st.randoms(use_true_random=False))
def test_pairs_do_not_depend_on_the_order_of_groups(
    world: tuple[list[Fact], Vectors, Groups, dict[str, bool]], rng: random.Random
) -> None:
    facts, vectors, groups, live = world
    shuffled = replace(
        groups,
        groups=tuple(rng.sample(groups.groups, len(groups.groups))),
        by_fact=dict(rng.sample(sorted(groups.by_fact.items()), len(groups.by_fact))),
    )
    items = dict(rng.sample(sorted(live.items()), len(live)))
    assert pairs(facts, vectors, groups, live=live) == pairs(facts, vectors, shuffled, live=items)


@given(worlds(), st.integers(1, 4))
def test_a_limit_drops_the_least_similar_of_the_last_rule_and_counts_them(
    world: tuple[list[Fact], Vectors, Groups, dict[str, bool]], per_fact: int
) -> None:
    facts, vectors, groups, live = world
    whole = pairs(facts, vectors, groups, live=live)
    cut = pairs(facts, vectors, groups, live=live, per_fact=per_fact)
    assert set(cut.pairs) <= set(whole.pairs)
    assert len(cut.pairs) + cut.skipped.get("over-limit", 0) == len(whole.pairs)
    assert len(cut.pairs) <= per_fact * len(facts)  # each takes up a place of one fact at least
    kept = Counter(x for p in cut.pairs for x in (p.left, p.right))
    for dropped in set(whole.pairs) - set(cut.pairs):
        assert kept[dropped.left] >= per_fact and kept[dropped.right] >= per_fact


@given(worlds(), st.data())
def test_pairs_of_what_is_left_are_the_same_from_what_was_found_of_all(
    world: tuple[list[Fact], Vectors, Groups, dict[str, bool]], data: st.DataObject
) -> None:
    facts, vectors, groups, live = world
    near = Neighbourhood(vectors)
    for _ in range(3):
        rows = sorted(data.draw(st.sets(st.integers(0, len(facts) - 1))))
        here = [facts[i] for i in rows]
        held = {f.id: live[f.id] for f in here}
        afresh = pairs(here, vectors[rows], groups, live=held, per_fact=3)
        again = find_pairs(
            here,
            vectors[rows],
            groups,
            live=held,
            neighbours=2,
            floor=FLOOR,
            per_fact=3,
            near=near,
            rows=rows,
        )
        assert again == afresh
        live = {fact_id: data.draw(st.booleans()) and was for fact_id, was in live.items()}
