"""The one-sided bound on a failure rate."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.calibration.bound import labels_needed, upper_bound

counts = st.integers(1, 3000).flatmap(
    lambda trials: st.tuples(st.integers(0, min(trials, 200)), st.just(trials))
)


def at_most(failures: int, trials: int, rate: float) -> float:
    """The binomial distribution function, by its recurrence."""
    term = math.exp(trials * math.log1p(-rate)) if rate < 1 else 0.0
    whole = term
    for k in range(failures):
        term *= (trials - k) / (k + 1) * rate / (1 - rate)
        whole += term
    return whole


@given(counts)
def test_at_the_bound_so_few_failures_have_the_probability_that_is_left(
    count: tuple[int, int],
) -> None:
    failures, trials = count
    bound = upper_bound(failures, trials)
    if failures < trials and trials * math.log1p(-bound) > -700:
        assert at_most(failures, trials, bound) == pytest.approx(0.05, rel=1e-6)


@given(counts)
def test_the_bound_is_above_the_share_seen_and_within_range(count: tuple[int, int]) -> None:
    failures, trials = count
    assert failures / trials < upper_bound(failures, trials) <= 1 or failures == trials


@given(counts)
def test_more_failures_raise_the_bound_and_more_trials_lower_it(count: tuple[int, int]) -> None:
    failures, trials = count
    assert upper_bound(failures, trials + 1) <= upper_bound(failures, trials)
    assert upper_bound(failures, trials) <= upper_bound(min(failures + 1, trials), trials)


@pytest.mark.parametrize(
    ("failures", "trials", "bound"),
    # 1 - 0.05 ** (1 / n) where nothing failed; the others as tables of the beta distribution have
    # them
    [(0, 10, 0.258866), (0, 299, 0.00996922), (1, 10, 0.394163), (5, 50, 0.198833), (7, 7, 1.0)],
)
def test_known_bounds(failures: int, trials: int, bound: float) -> None:
    assert upper_bound(failures, trials) == pytest.approx(bound, rel=1e-4)


def test_nothing_is_known_without_trials() -> None:
    assert upper_bound(0, 0) == 1.0


@pytest.mark.parametrize("wrong", [(-1, 5, 0.95), (6, 5, 0.95), (0, 5, 1.0)])
def test_counts_out_of_range_are_refused(wrong: tuple[int, int, float]) -> None:
    with pytest.raises(ValueError, match="no bound"):
        upper_bound(*wrong)


@given(st.floats(0.0005, 0.5))
def test_the_labels_needed_are_just_enough(rate: float) -> None:
    needed = labels_needed(rate)
    assert upper_bound(0, needed) <= rate * (1 + 1e-9)
    assert needed == 1 or upper_bound(0, needed - 1) > rate


def test_one_per_cent_needs_299_labels_without_a_mistake() -> None:
    assert [labels_needed(rate) for rate in (0.003, 0.01, 0.03)] == [998, 299, 99]
