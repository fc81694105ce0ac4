"""Names that may be one, and names that are not."""

from __future__ import annotations

import pytest

from consolidate.judge.aliases import may_be_one


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("łukasz", "lukasz"),
        ("liz", "elizabeth"),
        ("liz", "elizabeth moss"),
        ("bob", "robert"),
        ("k8s", "kubernetes"),
        ("dad", "my father".removeprefix("my ")),
        ("hr", "human resources"),
        ("cdn", "content delivery network"),
    ],
)
def test_one_thing_may_bear_both_names(a: str, b: str) -> None:
    assert may_be_one(a, b)
    assert may_be_one(b, a)


@pytest.mark.parametrize(
    ("a", "b"),
    [
        ("liz moss", "elizabeth roe"),
        ("otto", "bob"),
        ("kx2203", "kx2205"),
        ("c", "c++"),
        ("orion", "orion two"),
        ("", "otto"),
    ],
)
def test_names_of_two_things(a: str, b: str) -> None:
    assert not may_be_one(a, b)
    assert not may_be_one(b, a)
