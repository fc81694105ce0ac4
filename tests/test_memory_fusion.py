"""Joining lists of finds: pure, so properties say what holds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.memory.fusion import (
    affordable,
    coverage,
    fuse,
    interleave,
    is_grammar,
    keep,
    likeness,
    rarities,
    tokens,
)

RANKING = st.lists(st.integers(0, 30), unique=True, max_size=20)
RANKINGS = st.lists(RANKING, min_size=1, max_size=3)
WORDS = st.dictionaries(st.text("abcdef", min_size=1, max_size=4), st.integers(0, 500), max_size=8)
SHARE = st.floats(0, 1)


@given(RANKINGS, st.integers(1, 200))
def test_everything_that_any_list_holds_is_found(rankings: list[list[int]], k: int) -> None:
    shares = fuse(rankings, k=k)
    assert shares.keys() == {item for ranking in rankings for item in ranking}
    assert all(0 < share <= 1 for share in shares.values())


@given(RANKING)
def test_one_list_keeps_its_order(ranking: list[int]) -> None:
    shares = fuse([ranking])
    assert sorted(ranking, key=lambda item: -shares[item]) == ranking


@given(RANKINGS)
def test_the_order_of_the_lists_does_not_matter(rankings: list[list[int]]) -> None:
    assert fuse(rankings) == pytest.approx(fuse(rankings[::-1]))


@given(RANKING, RANKING, st.integers(0, 30))
def test_a_second_find_never_hurts(one: list[int], other: list[int], item: int) -> None:
    with_it = [item, *(each for each in other if each != item)]
    assert fuse([one, with_it])[item] >= fuse([one, other]).get(item, 0.0)


def test_the_shares_are_those_of_the_paper() -> None:
    shares = fuse([["a", "b"], ["b", "c"]], k=60)
    best = 2 / 61
    assert shares["a"] == pytest.approx((1 / 61) / best)
    assert shares["b"] == pytest.approx((1 / 62 + 1 / 61) / best)
    assert shares["c"] == pytest.approx((1 / 62) / best)


@given(RANKINGS)
def test_interleaving_goes_by_the_best_rank_and_loses_nothing(rankings: list[list[int]]) -> None:
    joined = interleave(rankings)
    assert sorted(joined) == sorted({item for ranking in rankings for item in ranking})
    best = [min(r.index(item) for r in rankings if item in r) for item in joined]
    assert best == sorted(best)


@given(RANKING, st.integers(1, 25), st.lists(st.integers(0, 30), max_size=2))
def test_what_is_best_by_one_way_stays_in(order: list[int], limit: int, firsts: list[int]) -> None:
    kept = keep(order, limit, firsts)
    assert len(kept) == min(limit, len(order))
    assert kept == [item for item in order if item in kept]
    if order:
        assert kept[0] == order[0]
    room = limit - 1
    protected = [item for item in dict.fromkeys(firsts) if item in order and item != order[0]]
    assert set(protected[:room]) <= set(kept) or len(protected) > room


@given(WORDS, st.integers(0, 1000))
def test_rare_words_come_first_and_the_rarest_always(words: dict[str, int], work: int) -> None:
    chosen, spent = affordable(words, work)
    telling = {word: count for word, count in words.items() if not is_grammar(word)}
    there = {word: count for word, count in (telling or words).items() if count}
    assert bool(chosen) == bool(there)
    assert spent == sum(words[word] for word in chosen)
    assert spent <= work or len(chosen) == 1
    if len(chosen) < len(there):
        left = min(count for word, count in there.items() if word not in chosen)
        assert max(words[word] for word in chosen) <= left
        assert spent + left > work


@given(WORDS, st.text("abcdef ", max_size=40))
def test_coverage_is_a_share(words: dict[str, int], text: str) -> None:
    weights = rarities(words, facts=500)
    assert 0 <= coverage(weights, text) <= 1 + 1e-9
    if words:
        assert coverage(weights, " ".join(words)) == pytest.approx(1)


def test_a_rare_word_covers_more_than_a_common_one() -> None:
    weights = rarities({"user": 900, "zeppelin": 2}, facts=1000)
    assert coverage(weights, "A zeppelin.") > 0.8
    assert coverage(weights, "The user.") < 0.2


def test_words_of_asking_that_stand_nowhere_weigh_little() -> None:
    weights = rarities({"what": 0, "does": 0, "billing": 3, "port": 5}, facts=1000)
    assert coverage(weights, "Billing uses port 8080.") > 0.8


def test_a_word_that_stands_nowhere_leaves_a_query_uncovered() -> None:
    weights = rarities({"deploy": 0, "day": 4}, facts=200)
    assert coverage(weights, "His last day.") < 0.5


def test_words_of_grammar_are_looked_for_only_where_there_are_no_others() -> None:
    assert affordable({"does": 3, "she": 5, "ski": 2}, 100)[0] == ["ski"]
    assert affordable({"does": 3, "she": 5, "ski": 0}, 100)[0] == []
    assert affordable({"she": 5, "does": 3}, 100)[0] == ["does", "she"]


def test_tokens_are_those_of_the_text_index() -> None:
    assert tokens("Café ERR-4711, don't!") == ["cafe", "err", "4711", "don", "t"]
    assert tokens("🧠 ...") == []
    assert tokens("Straße_12") == ["strasse", "12"]


@given(SHARE, st.floats(-1, 1), SHARE)
def test_relevance_is_a_share_and_rises_with_each_of_its_parts(
    share: float, similarity: float, covered: float
) -> None:
    found = likeness(share, similarity, covered)
    assert 0 <= found <= 1
    assert likeness(1.0, similarity, covered) >= found
    assert likeness(share, 1.0, covered) >= found
    assert likeness(share, similarity, 1.0) >= found
