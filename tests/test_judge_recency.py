from __future__ import annotations

from dataclasses import replace
from itertools import permutations

import pytest
from builders import day, fact
from hypothesis import given
from hypothesis import strategies as st

from consolidate.judge.recency import moment, order, stated
from consolidate.types import Fact

DAYS = st.sampled_from([None, 1, 2, 3])


@st.composite
def facts(draw: st.DrawFn) -> Fact:
    made = fact(
        draw(st.sampled_from("abcdef")),
        stated=draw(DAYS),
        valid_from=draw(DAYS),
        recorded=draw(st.sampled_from([2, 3, 4])),
    )
    confirmed = draw(DAYS)
    return replace(made, confirmed_at=None if confirmed is None else day(confirmed))


@given(facts(), facts())
def test_the_order_turns_round_with_its_sides(a: Fact, b: Fact) -> None:
    assert order(a, b)[0] == -order(b, a)[0]
    assert order(a, b)[1] == order(b, a)[1]


@given(facts(), facts())
def test_the_order_lies_inside_the_total_one_of_moment(a: Fact, b: Fact) -> None:
    before, clock = order(a, b)
    assert (before == 0) == (clock == "none")
    if before < 0:
        assert moment(a) < moment(b)
    elif before > 0:
        assert moment(a) > moment(b)


@given(st.lists(facts(), min_size=3, max_size=5))
def test_no_three_facts_follow_each_other_in_a_circle(found: list[Fact]) -> None:
    for a, b, c in permutations(found, 3):
        assert not (order(a, b)[0] < 0 and order(b, c)[0] < 0 and order(c, a)[0] < 0)


@given(facts())
def test_a_fact_is_neither_before_nor_after_itself(a: Fact) -> None:
    assert order(a, a) == (0, "none")


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ({"valid_from": 1, "stated": 9}, {"valid_from": 5, "stated": 2}, (-1, "valid")),
        ({"stated": 1}, {"stated": 2}, (-1, "stated")),
        ({"valid_from": 1, "stated": 2}, {"valid_from": 1, "stated": 1}, (1, "stated")),
        ({"stated": 1, "recorded": 4}, {"stated": 1, "recorded": 2}, (1, "recorded")),
        ({"stated": None, "recorded": 1}, {"stated": None, "recorded": 2}, (-1, "recorded")),
        ({"stated": None}, {"stated": 1}, (0, "none")),
        ({"stated": 1}, {"stated": 1}, (0, "none")),
        ({"valid_from": 5, "stated": 1}, {"stated": 2}, (0, "none")),
        ({"valid_from": 1, "stated": 1}, {"stated": 2}, (-1, "stated")),
    ],
)
def test_the_first_clock_that_both_have_and_that_differs_decides(
    left: dict[str, float], right: dict[str, float], expected: tuple[int, str]
) -> None:
    assert order(fact("a", **left), fact("b", **right)) == expected  # type: ignore[arg-type]


def test_a_confirmation_makes_a_fact_newer() -> None:
    confirmed = replace(fact("a", stated=1), confirmed_at=day(9))
    assert stated(confirmed) == day(9)
    assert order(confirmed, fact("b", stated=5)) == (1, "stated")
    assert stated(replace(confirmed, stated_at=None)) == day(9)
