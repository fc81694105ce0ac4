from __future__ import annotations

import random

import pytest
from builders import fact
from hypothesis import given
from hypothesis import strategies as st

from consolidate.stages.collapse import collapse, plain_text


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("likes tea", "likes  tea"),
        ("likes tea", " likes\ttea\n"),
        ("likes tea", "Likes tea."),
        ("likes tea", "likes tea!"),
        ("Caf\u00e9 opens", "Cafe\u0301 opens"),
    ],
    ids=["spaces", "white space", "case and full stop", "exclamation", "composed"],
)
def test_the_same_text_written_otherwise(left: str, right: str) -> None:
    assert plain_text(left) == plain_text(right)


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("likes tea", "likes tea?"),
        ("likes Java", "likes java"),
        ("port 8080", "port 8081"),
        ("KX2203", "KX2205"),
        ("uses C", "uses C++"),
        ("Cafe opens", "Caf\u00e9 opens"),
        ("no, never", "no never"),
    ],
)
def test_what_may_mean_something_else_is_another_text(left: str, right: str) -> None:
    assert plain_text(left) != plain_text(right)


def test_repeats_are_kept_under_the_smallest_id() -> None:
    found = collapse([fact("c", "x"), fact("b", "y"), fact("a", "X.")])
    assert [(u.representative, u.members) for u in found] == [("a", ("a", "c")), ("b", ("b",))]


def test_facts_of_two_kinds_are_not_repeats() -> None:
    assert len(collapse([fact("a", "x"), fact("b", "x", kind="plan")])) == 2


def test_texts_of_signs_and_spaces_alone_do_not_fail() -> None:
    assert len(collapse([fact("a", "..."), fact("b", "!"), fact("c", "?")])) == 2


def test_nothing_collapses_to_nothing() -> None:
    assert collapse([]) == ()


@given(
    st.lists(st.sampled_from(["x", "X", "x.", "y", "y z", "y  z"]), max_size=12),
    st.randoms(use_true_random=False),
)
def test_every_fact_is_found_once_in_any_order(texts: list[str], rng: random.Random) -> None:
    facts = [fact(f"f{n:02}", text) for n, text in enumerate(texts)]
    found = collapse(facts)
    assert sorted(m for u in found for m in u.members) == [f.id for f in facts]
    assert collapse(rng.sample(facts, len(facts))) == found
