"""The scorer of streams, on a memory of nine facts, and the suite on the demo with fakes."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from builders import fact

from consolidate.settings import Settings
from consolidate.types import Decision, DecisionKind, Fact, FactStatus, Review, ReviewState
from eval.streams import Key, mark, run_streams, score_stream
from eval.tables import streams_lines

KEY = Key(
    facts={
        "old": {"state": "superseded", "by": ["new", "newest"]},
        "old2": {"state": "superseded", "by": ["new"], "group": "old"},
        "old1": {"state": "superseded", "by": ["new"], "group": "old"},
        "new": {"state": "superseded", "by": ["newest"]},
        "newest": {"state": "merged", "group": "newest"},
        "newest2": {"state": "merged", "group": "newest"},
        "poor": {"state": "either", "accept": ["current", "merged"], "group": "rich"},
        "rich": {"state": "current", "group": "rich"},
        "trap": {"state": "current"},
    },
    groups={
        "old": ["old1", "old2"],
        "newest": ["newest", "newest2"],
        "rich": ["poor", "rich"],
    },
    traps=["trap"],
)


def memory(**retired: str) -> dict[str, Fact]:
    """Facts of the key; `old="superseded new"` retires one."""
    facts = {fact_id: fact(fact_id) for fact_id in KEY.facts}
    for fact_id, what in retired.items():
        status, _, other = what.partition(" ")
        field = "superseded_by" if status == "superseded" else "merged_into"
        changes: dict[str, Any] = {"status": FactStatus(status), field: other}
        facts[fact_id] = replace(facts[fact_id], **changes)
    return facts


PERFECT = {
    "old": "superseded new",
    "old1": "superseded new",
    "old2": "merged old1",
    "new": "superseded newest2",
    "newest": "merged newest2",
}


def review(subject: str, other: str) -> Review:
    decision = Decision(
        id=f"{subject}-{other}", kind=DecisionKind.REVIEW, subject=subject, object=other,
        reason="unsure-contradiction", sentence="?",
    )  # fmt: skip
    return Review(
        id=decision.id, agent="default", state=ReviewState.OPEN, decision=decision, run="r"
    )


def test_the_right_end_state_scores_full_whoever_of_a_group_stays() -> None:
    scored = score_stream(memory(**PERFECT), KEY)
    assert scored["right"] == scored["superseded_right"] == scored["groups_right"] == 1.0
    other = PERFECT | {"newest": "active", "newest2": "merged newest"}
    assert score_stream(memory(**other), KEY)["right"] == 1.0


def test_both_the_next_and_the_last_of_a_chain_are_right_successors() -> None:
    assert mark(memory(**PERFECT | {"old": "superseded newest"}), KEY).marks["old"] == "right"
    # ... and so is what says the same as one of them
    assert mark(memory(**PERFECT | {"old": "superseded newest2"}), KEY).marks["old"] == "right"


def test_retiring_for_the_wrong_reason_is_a_false_retirement() -> None:
    scored = score_stream(memory(**PERFECT | {"old": "superseded trap"}), KEY)
    assert scored["false_retirements"] == 1
    assert [entry["id"] for entry in scored["other_false_retirements"]] == ["old"]
    assert scored["superseded_found"] == 1.0
    assert scored["superseded_right"] == pytest.approx(3 / 4)


def test_a_sprung_trap_is_listed_with_the_sentence_of_its_decision() -> None:
    decision = Decision(
        id="d", kind=DecisionKind.SUPERSEDE, subject="trap", object="new", reason="newer-stated",
        sentence="because it was said later",
    )  # fmt: skip
    facts = memory(**PERFECT | {"trap": "superseded new"})
    scored = score_stream(facts, KEY, decisions=[decision])
    assert scored["traps_sprung"] == [
        {"id": "trap", "text": "trap", "why": "because it was said later"}
    ]
    assert scored["other_false_retirements"] == []


def test_doing_nothing_misses_each_update_and_each_survivor_beyond_the_first() -> None:
    scored = score_stream(memory(), KEY)
    assert (scored["missed_updates"], scored["missed_merges"]) == (4, 1)
    assert scored["false_retirements"] == 0
    assert scored["superseded_found"] == 0.0
    assert scored["right"] == pytest.approx(4 / 9)
    assert scored["groups_right"] == pytest.approx(1 / 3)  # rich: the poorer one may stay


def test_what_is_rightly_asked_about_is_neither_right_nor_missed() -> None:
    reviews = [review("old", "new"), review("trap", "rich")]
    scored = score_stream(memory(), KEY, reviews=reviews)
    assert (scored["asked"], scored["missed_updates"]) == (1, 3)
    assert scored["reviews"] == {"opened": 2, "needed": 1, "needless": 1}


def test_a_live_duplicate_beside_a_merged_one_is_one_missed_merge() -> None:
    facts = memory(**PERFECT | {"newest": "active"})
    assert mark(facts, KEY).having("missed-merge") == ["newest2"]


def test_the_suite_runs_the_demo_and_the_second_run_finds_nothing() -> None:
    result = run_streams(Settings(classifier="fake", embedder="fake"))
    assert result["judge"]["facts"] == 219
    assert result["again"] == {"nothing_new": True}
    assert result["controls"]["do nothing"]["false_retirements"] == 0
    assert 0 < result["controls"]["do nothing"]["right"] < 1
    assert result["controls"]["exact match"]["right"] > result["controls"]["do nothing"]["right"]
    assert any("traps sprung" in line for line in streams_lines(result))
