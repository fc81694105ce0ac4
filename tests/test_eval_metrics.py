"""Scores on cases small enough to count by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest

from eval.controls import best_band, best_threshold, by_band, by_text, by_threshold
from eval.metrics import accuracy, auc, catch_at_false_rate, macro_f1, three_way


def test_one_way_entailment_counts_as_distinct() -> None:
    relations = ("equivalent", "contradicts", "compatible", "a_entails_b", "left_entails_right")
    expected = ["duplicate", "contradiction", "distinct", "distinct", "distinct"]
    assert [three_way(relation) for relation in relations] == expected


def test_macro_f1_is_the_mean_of_the_classes_and_not_of_the_items() -> None:
    gold = ["duplicate", "contradiction", "contradiction", "distinct", "distinct", "distinct"]
    said = ["duplicate", "contradiction", "distinct", "distinct", "distinct", "duplicate"]
    mean, each = macro_f1(gold, said)
    assert each == pytest.approx(
        {"duplicate": 2 / 3, "contradiction": 2 / 3, "distinct": 4 / 6}  # 2 hits / (1 + 2), ...
    )
    assert mean == pytest.approx(2 / 3)
    assert accuracy(gold, said) == pytest.approx(4 / 6)


def test_a_class_that_nobody_has_or_says_counts_as_zero() -> None:
    mean, each = macro_f1(["distinct"], ["distinct"])
    assert each == {"duplicate": 0.0, "contradiction": 0.0, "distinct": 1.0}
    assert mean == pytest.approx(1 / 3)


def test_catching_lets_through_as_many_negatives_as_are_allowed() -> None:
    scores = np.array([0.9, 0.8, 0.7, 0.6, 0.5, 0.4])
    positive = np.array([True, False, True, False, True, False])
    # None of 3 negatives: above 0.8. One of them: above 0.6.
    assert catch_at_false_rate(scores, positive, 0.0) == pytest.approx((1 / 3, 0.8))
    assert catch_at_false_rate(scores, positive, 0.34) == pytest.approx((2 / 3, 0.6))


def test_positives_that_tie_with_the_last_forbidden_negative_are_not_caught() -> None:
    scores = np.array([0.97, 0.97, 0.97])
    caught, threshold = catch_at_false_rate(scores, np.array([True, True, False]), 0.01)
    assert (caught, threshold) == (0.0, 0.97)


def test_auc_counts_ties_half() -> None:
    assert auc(np.array([0.9, 0.5, 0.5, 0.1]), np.array([True, True, False, False])) == 0.875
    assert math.isnan(auc(np.array([0.9]), np.array([True])))


def test_exact_match_is_that_of_collapse() -> None:
    pairs = [("Lives in Oslo.", "lives  in Oslo"), ("Lives in Oslo", "Lives in OSLO")]
    assert by_text(pairs) == ["duplicate", "distinct"]


def test_cosine_controls_find_the_cut_that_parts_the_classes() -> None:
    cosines = np.array([0.95, 0.9, 0.6, 0.55, 0.2, 0.1])
    gold = ["duplicate"] * 2 + ["contradiction"] * 2 + ["distinct"] * 2
    low, high = best_band(cosines, gold)
    assert by_band(cosines, low, high) == gold
    two = ["duplicate"] * 2 + ["distinct"] * 4
    assert by_threshold(cosines, best_threshold(cosines, two)) == two
