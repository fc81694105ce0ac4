"""Neighbours of one set after another are those of each set by itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.stages.nearest import Neighbourhood, Places, Vectors, nearest


def whole_numbers(rows: int, seed: int) -> Vectors:
    """Vectors whose products are exact, with many ties."""
    rng = np.random.default_rng(seed)
    return rng.integers(-2, 3, size=(rows, 5)).astype(np.float32)


def afresh(vectors: Vectors, queries: Places, base: Places, k: int) -> tuple[Places, Vectors]:
    found, products = nearest(vectors[queries], vectors[base], k)
    return base[found], products


@given(st.data())
def test_going_on_gives_what_looking_afresh_gives(data: st.DataObject) -> None:
    rows = data.draw(st.integers(1, 90))
    vectors = whole_numbers(rows, data.draw(st.integers(0, 50)))
    near = Neighbourhood(vectors)
    k = data.draw(st.integers(1, 6))
    parts = st.sets(st.integers(0, rows - 1))
    for _ in range(data.draw(st.integers(1, 4))):
        queries = np.array(sorted(data.draw(parts)), dtype=np.intp)
        base = np.array(sorted(data.draw(parts)), dtype=np.intp)
        places, products = near.nearest("live", queries, base, k)
        expected, close = afresh(vectors, queries, base, k)
        assert places.tolist() == expected.tolist()
        assert products.tolist() == close.tolist()


@pytest.mark.parametrize("gone", [1, 30, 400])
def test_of_many_rows_some_are_merged_away_and_some_come(gone: int) -> None:
    vectors = whole_numbers(900, gone)
    near = Neighbourhood(vectors)
    rng = np.random.default_rng(gone)
    first = np.arange(850)
    near.nearest("live", first, first, 9)
    left = np.sort(rng.choice(850, size=850 - gone, replace=False))
    later = np.concatenate([left, np.arange(850, 900)])
    places, products = near.nearest("live", later, later, 9)
    expected, close = afresh(vectors, later, later, 9)
    assert places.tolist() == expected.tolist()
    assert products.tolist() == close.tolist()


def test_names_are_kept_apart() -> None:
    vectors = whole_numbers(40, 1)
    near = Neighbourhood(vectors)
    near.nearest("live", np.arange(30), np.arange(30), 3)
    places, _ = near.nearest("retired", np.arange(30), np.arange(30, 40), 2)
    assert places.min() >= 30


def test_of_a_few_rows_each_meets_its_nearest() -> None:
    vectors = np.array([[1, 0], [0.9, 0.1], [0, 1], [0.1, 0.9]], dtype=np.float32)
    rows = np.array([0, 1, 2, 3])
    near = Neighbourhood(vectors)
    assert near.within(rows, 1) == [(0, 1), (1, 0), (2, 3), (3, 2)]
    assert near.within(rows, 1) == [(0, 1), (1, 0), (2, 3), (3, 2)]
