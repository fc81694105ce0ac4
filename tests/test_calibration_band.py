"""From labels to thresholds."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from calibrations import calibration, item, plain
from hypothesis import given
from hypothesis import strategies as st

from consolidate.calibration.band import choose, review_from
from consolidate.calibration.bound import upper_bound
from consolidate.calibration.curve import GRID, Curve, Scored
from consolidate.calibration.measure import ece, fit_reliability, likelihoods, rightness
from consolidate.calibration.record import ACTS, Calibration
from consolidate.errors import InputError
from consolidate.stages.policy import scaled

confidences = st.floats(0.0, 1.0)
scored_items = st.builds(
    item,
    st.sampled_from([None, "merge", "supersede"]),
    confidences,
    right=st.booleans(),
    language=st.sampled_from(["en", "de"]),
)
some = st.lists(scored_items, min_size=1, max_size=60)
rates = st.floats(0.001, 0.5)


@given(some, rates)
def test_the_chosen_threshold_keeps_to_the_rate_or_is_the_safest(
    items: list[Scored], rate: float
) -> None:
    for act in ACTS:
        curve = Curve.of(act, items)
        step = curve.choose(rate)
        wrong = sum(i.act == act and not i.right and i.confidence >= GRID[step] for i in items)
        assert wrong == curve.wrong[step]
        if curve.bound(step) <= rate:
            assert step == 0 or curve.bound(step - 1) > rate  # none lower would do
        else:
            assert wrong == min(curve.wrong)
            assert all(curve.bound(other) > rate for other in range(len(GRID)))


@given(some, rates, rates)
def test_to_accept_more_never_raises_a_threshold(
    items: list[Scored], one: float, other: float
) -> None:
    made = calibration(pairs=items)
    low, high = sorted((one, other))
    for act in ACTS:
        assert choose(made, act, high).threshold <= choose(made, act, low).threshold


@given(some, some, rates)
def test_the_bound_holds_on_every_source(
    one: list[Scored], other: list[Scored], rate: float
) -> None:
    made = calibration(pairs=one, streams=other)
    for act in ACTS:
        chosen = choose(made, act, rate)
        step = GRID.index(chosen.threshold)
        assert all(curves[act].bound(step) <= chosen.bound for curves in made.sources.values())
        assert chosen.holds == (chosen.bound <= rate)


@given(some, confidences)
def test_one_mistake_more_never_lowers_a_threshold(items: list[Scored], at: float) -> None:
    before = Curve.of("supersede", items)
    after = Curve.of("supersede", [*items, item("supersede", at, right=False)])
    # The mistake is a further forbidden pair as well; compared is one that is left alone
    alone = Curve.of("supersede", [*items, item(None)])
    assert after.choose(0.1) >= alone.choose(0.1)
    assert before.forbidden + 1 == after.forbidden == alone.forbidden


def test_the_order_of_labels_does_not_matter() -> None:
    items = list(plain(wrong=(0.7, 0.8)))
    assert calibration(pairs=items) == calibration(pairs=items[::-1])


def test_mistakes_push_the_threshold_above_them() -> None:
    clean = choose(calibration(pairs=plain()), "supersede", 0.01)
    dirty = choose(calibration(pairs=plain(wrong=[0.8] * 40)), "supersede", 0.01)
    assert clean.threshold == 0.5
    assert dirty.threshold == 0.805
    assert dirty.holds


def test_too_few_labels_say_what_they_support_and_take_the_safest_threshold() -> None:
    chosen = choose(calibration(pairs=plain(count=20, wrong=[0.9])), "supersede", 0.01)
    assert not chosen.holds
    assert chosen.threshold == 0.905
    assert chosen.bound == upper_bound(0, 71)
    assert "can't support 0.01" in chosen.sentence


def test_the_wrong_one_of_two_retired_counts_as_false() -> None:
    turned = replace(item("supersede"), right=False)
    curve = Curve.of("supersede", [turned])
    assert (curve.forbidden, curve.wanted, curve.wrong[0]) == (1, 0, 1)


def test_that_the_richer_one_takes_in_the_poorer_is_no_false_merge() -> None:
    contained = replace(item("merge"), relation="a_entails_b", found="a_entails_b")
    lost = replace(contained, right=False)
    assert Curve.of("merge", [contained]).wrong[0] == 0
    assert Curve.of("merge", [lost]).wrong[0] == 1


def test_a_language_acts_only_if_its_own_labels_support_it() -> None:
    made = calibration(
        pairs=[
            *plain(),
            *plain(count=58, language="de"),  # with 50 contradictions of which none is wrong
            *(item(None, language="it") for _ in range(58)),
            *(item(None, language="fr") for _ in range(59)),
            *plain(count=100, wrong=[0.99] * 4, language="es"),
        ]
    )
    assert choose(made, "supersede", 0.01).languages == {"en", "de", "fr"}


def test_questions_are_asked_where_they_are_worth_it() -> None:
    poor = [item("supersede", 0.55, right=False) for _ in range(90)]
    made = calibration(pairs=[*plain(wrong=[0.8] * 30), *poor])
    chosen = {act: choose(made, act, 0.01) for act in ACTS}
    review = review_from(made, chosen)
    assert 0.5 < review < chosen["supersede"].threshold


def test_a_calibration_survives_as_json() -> None:
    made = calibration(pairs=plain(wrong=[0.8]), streams=plain(language="de"))
    assert Calibration.from_json(made.to_json()) == made
    assert made.labels == 2 * 2100 + 1


@pytest.mark.parametrize(
    ("change", "told"),
    [
        ({"format": 99}, "format"),
        ({"model": 3}, "expected a text"),
        ({"sources": {}}, "no labels"),
        ({"sources": {"x": {"merge": {}}}}, "a curve needs"),
    ],
)
def test_a_broken_calibration_is_refused(change: dict[str, object], told: str) -> None:
    data = json.loads(calibration().to_json()) | change
    with pytest.raises(InputError, match=told):
        Calibration.from_json(json.dumps(data))


def test_counts_that_can_not_be_are_refused() -> None:
    data = Curve.of("merge", [item("merge")]).to_data()
    for broken in (
        data | {"right": [0, *data["right"][1:]]},
        data | {"wrong": [5] * len(GRID)},
        data | {"right": [1]},
        data | {"wanted": -1},
    ):
        with pytest.raises(ValueError, match=r"count|fall"):
            Curve.from_data(broken)


@pytest.mark.parametrize("text", ["", "[]", "{", '{"format": 1}', "[" * 100000])
def test_what_is_no_calibration_is_told(text: str) -> None:
    with pytest.raises(InputError, match="no calibration"):
        Calibration.from_json(text)


# ---- probabilities


@given(st.lists(scored_items, min_size=40, max_size=200))
def test_scaled_confidences_are_probabilities_and_keep_their_order(items: list[Scored]) -> None:
    lines = fit_reliability(items)
    for name in ("merge", "supersede"):
        own = sorted((i for i in items if i.act == name), key=lambda i: i.sure)
        found = likelihoods(own, lines).tolist()
        assert found == sorted(found)
        assert all(0 <= value <= 1 for value in found)


def test_scaling_mends_a_judge_that_is_too_sure() -> None:
    items = [item("supersede", 0.95, right=k % 2 == 0) for k in range(400)]
    right = np.array([rightness(i) for i in items])
    before, _ = ece(np.array([i.sure for i in items]), right)
    after, bins = ece(likelihoods(items, fit_reliability(items)), right)
    assert before == pytest.approx(0.45)
    assert after < 0.02
    assert sum(each["pairs"] for each in bins) == 400


@given(st.lists(scored_items, min_size=20, max_size=200))
def test_what_was_fitted_survives_as_json(items: list[Scored]) -> None:
    made = calibration(pairs=items)
    assert Calibration.from_json(made.to_json()) == made


@pytest.mark.parametrize(
    "steps", [[], [[0.5, 0.6], [0.4, 0.7]], [[0.5, 0.6], [0.6, 0.5]], [[0, 2]]]
)
def test_shares_that_can_not_be_are_refused(steps: list[list[float]]) -> None:
    data = json.loads(calibration().to_json()) | {"reliability": {"merge": steps}}
    with pytest.raises(InputError, match="no calibration"):
        Calibration.from_json(json.dumps(data))


def test_between_two_steps_the_share_lies_on_a_line() -> None:
    steps = ((0.5, 0.2), (0.7, 0.6))
    assert [scaled(c, steps) for c in (0.0, 0.5, 0.6, 0.7, 1.0)] == pytest.approx(
        [0.2, 0.2, 0.4, 0.6, 0.6]
    )
    assert scaled(0.3, None) == 0.3


def test_few_labels_leave_confidences_as_they_are() -> None:
    assert fit_reliability([item("merge") for _ in range(39)]) == {}
