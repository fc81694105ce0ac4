"""Plans and decisions as JSON and back."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.errors import InputError
from consolidate.serialise import (
    canonical,
    decision_from_json,
    decision_to_json,
    from_data,
    plan_from_json,
    plan_to_json,
    to_data,
)
from consolidate.types import (
    Decision,
    DecisionKind,
    Evidence,
    Fact,
    Mention,
    Plan,
    Relation,
    Scores,
    Snapshot,
    StageStats,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
moments = st.datetimes(timezones=st.just(UTC))
shares = st.floats(0, 1)
scores = st.builds(Scores, entailment=shares, neutral=shares, contradiction=shares)
evidence = st.builds(
    Evidence,
    left=texts,
    right=texts,
    rule=texts,
    relation=st.sampled_from(Relation),
    confidence=shares,
    forward=st.none() | scores,
    backward=st.none() | scores,
    because=st.lists(texts, max_size=2).map(tuple),
)
decisions = st.builds(
    Decision,
    id=texts,
    kind=st.sampled_from(DecisionKind),
    subject=texts,
    object=texts,
    reason=texts,
    sentence=texts,
    evidence=st.lists(evidence, max_size=2).map(tuple),
    valid_to=st.none() | moments,
    relation=texts,
    proposal=st.none() | st.sampled_from(DecisionKind),
)
stages = st.builds(
    StageStats, stage=texts, seconds=shares, detail=st.dictionaries(texts, st.integers())
)
plans = st.builds(
    Plan,
    id=texts,
    agent=texts,
    now=moments,
    snapshot_digest=texts,
    settings_digest=texts,
    facts=st.dictionaries(texts, texts, max_size=2),
    decisions=st.lists(decisions, max_size=3).map(tuple),
    stages=st.lists(stages, max_size=2).map(tuple),
    models=st.dictionaries(texts, texts, max_size=2),
    settings=st.dictionaries(texts, st.none() | st.booleans() | st.integers() | texts, max_size=2),
    due=st.none() | moments,
    cut=st.integers(),
)


@given(plans)
def test_a_plan_comes_back_as_it_was(plan: Plan) -> None:
    text = plan_to_json(plan)
    assert plan_from_json(text) == plan
    assert plan_to_json(plan_from_json(text)) == text
    assert plan_from_json(plan_to_json(plan, indent=2)) == plan


@given(decisions)
def test_a_decision_comes_back_as_it_was(decision: Decision) -> None:
    assert decision_from_json(decision_to_json(decision)) == decision


def test_sets_and_nested_records_come_back() -> None:
    fact = Fact(id="a", agent="x", kind="fact", text="t", recorded_at=NOW, content_hash="h")
    snapshot = Snapshot(
        agent="x", facts=(fact,), settled=frozenset({("b", "c"), ("a", "b")}), digest="d"
    )
    data = to_data(snapshot)
    assert data["settled"] == [["a", "b"], ["b", "c"]]
    assert from_data(Snapshot, data) == snapshot


def plan_data() -> dict[str, Any]:
    decision = Decision(
        id="d",
        kind=DecisionKind.MERGE,
        subject="a",
        object="b",
        reason="same-text",
        sentence="Both say the same.",
        evidence=(
            Evidence(
                left="a", right="b", rule="same", relation=Relation.EQUIVALENT, confidence=1.0
            ),
        ),
    )
    plan = Plan(
        id="p",
        agent="default",
        now=NOW,
        snapshot_digest="s",
        settings_digest="t",
        facts={"a": "1"},
        decisions=(decision,),
    )
    data: dict[str, Any] = json.loads(plan_to_json(plan))
    return data


def put(data: Any, path: list[str | int], value: Any) -> None:
    for step in path[:-1]:
        data = data[step]
    data[path[-1]] = value


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (["cut"], "3", r"cut: '3' is not a whole number"),
        (["cut"], True, r"cut: True is not a whole number"),
        (["agent"], None, r"agent: None is not a text"),
        (["now"], "2026-03-01T12:00:00", r"now: .*no UTC offset"),
        (["now"], 5, r"now: 5 is not a time"),
        (["facts"], [], r"facts: \[\] is not an object"),
        (["facts", "a"], 1, r"facts\['a'\]: 1 is not a text"),
        (["decisions"], {}, r"decisions: \{\} is not a list"),
        (["decisions", 0], [], r"decisions\[0\]: \[\] is not an object"),
        (["decisions", 0, "kind"], "burn", r"decisions\[0\]\.kind: 'burn' is not one of.*merge"),
        (["decisions", 0, "kind"], [], r"decisions\[0\]\.kind: \[\] is not one of"),
        (["decisions", 0, "extra"], 1, r"decisions\[0\]: unknown field 'extra'"),
        (["decisions", 0, "evidence", 0, "confidence"], "x", r"evidence\[0\]\.confidence: 'x'"),
        (
            ["decisions", 0, "evidence", 0, "confidence"],
            10**400,
            r"evidence\[0\]\.confidence: 1000.* is not a number",
        ),
        (["format"], "consolidate.plan/9", r"format 'consolidate.plan/9' can't be read"),
    ],
)
def test_a_field_that_does_not_fit_is_named_with_its_path(
    path: list[str | int], value: Any, message: str
) -> None:
    data = plan_data()
    put(data, path, value)
    with pytest.raises(InputError, match=message):
        plan_from_json(json.dumps(data))


def test_a_missing_field_is_named() -> None:
    data = plan_data()
    del data["decisions"][0]["reason"]
    with pytest.raises(InputError, match=r"decisions\[0\]: field 'reason' is missing"):
        plan_from_json(json.dumps(data))


@pytest.mark.parametrize(
    "text",
    ["", "{", "[]", "null", "7", '{"a": NaN}', b"\xff\xfe{}", "[" * 100_000, "{}", '{"format": 1}'],
)
def test_what_is_no_plan_is_refused(text: str | bytes) -> None:
    with pytest.raises(InputError):
        plan_from_json(text)


@pytest.mark.parametrize("value", [math.nan, math.inf, {"a": object()}, "\ud800", {1, 2}])
def test_what_has_no_json_form_is_refused(value: Any) -> None:
    with pytest.raises(InputError, match="can't be written as JSON"):
        canonical(value)


def test_a_record_with_something_unknown_inside_is_refused() -> None:
    with pytest.raises(InputError, match="complex"):
        to_data({"a": 1j})


def test_key_order_does_not_show() -> None:
    assert canonical({"b": 1, "a": {"d": 2, "c": 3}}) == '{"a":{"c":3,"d":2},"b":1}'


def test_mention_scores_may_be_whole_numbers_in_json() -> None:
    data = {"start": 0, "end": 1, "text": "x", "label": "y", "score": 1}
    assert isinstance(from_data(Mention, data).score, float)
