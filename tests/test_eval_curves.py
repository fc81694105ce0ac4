"""Curves on cases small enough to draw by hand."""

from __future__ import annotations

import numpy as np
import pytest

from eval.curves import calibration, confusion, precision_recall, risk_coverage


def test_confusion_has_a_row_for_each_label() -> None:
    found = confusion(["a", "a", "b"], ["a", "b", "b"], ["a", "b"])
    assert found == [[1, 1], [0, 1]]


def test_precision_and_recall_at_each_threshold_ties_together() -> None:
    scores = np.array([0.9, 0.8, 0.8, 0.4, 0.0])
    positive = np.array([True, True, False, False, True])
    found = precision_recall(scores, positive)
    assert found == [
        pytest.approx([1 / 3, 1.0, 0.9]),
        pytest.approx([2 / 3, 2 / 3, 0.8]),
        pytest.approx([2 / 3, 0.5, 0.4]),
    ]  # a score of 0 is no find: that positive is never recalled


def test_risk_is_the_share_of_mistakes_among_the_surest() -> None:
    confidence = np.array([0.9, 0.8, 0.5, 0.5])
    right = np.array([True, True, False, True])
    assert risk_coverage(confidence, right) == [[0.25, 0.0], [0.5, 0.0], [1.0, 0.25]]


def test_calibration_error_weighs_each_bin_by_its_items() -> None:
    confidence = np.array([0.95, 0.95, 0.95, 0.95, 0.55])
    right = np.array([True, True, True, False, True])
    found = calibration(confidence, right)
    # 4/5 of |.75 - .95| and 1/5 of |1 - .55|
    assert found["ece"] == pytest.approx(0.8 * 0.2 + 0.2 * 0.45)
    assert sum(entry["items"] for entry in found["bins"]) == 5
    assert calibration(np.array([1.0]), np.array([True]))["ece"] == 0.0


def test_no_items_give_no_number() -> None:
    none, no = np.zeros(0), np.zeros(0, dtype=bool)
    assert calibration(none, no)["ece"] is None
    assert precision_recall(none, no) == []
    assert risk_coverage(none, no) == []


def test_long_curves_are_thinned_and_keep_their_ends() -> None:
    scores = np.linspace(1, 0.001, 5000)
    found = precision_recall(scores, np.ones(5000, dtype=bool))
    assert len(found) <= 60
    assert found[0][0] == pytest.approx(1 / 5000)
    assert found[-1][0] == 1.0
