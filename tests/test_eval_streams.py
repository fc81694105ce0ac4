"""Memories and their keys: reading, scoring nine facts by hand, and the suite with fakes."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from builders import fact

from consolidate.backends.fake import fake_backends
from consolidate.settings import Settings
from consolidate.types import Decision, DecisionKind, Fact, FactStatus, Relation
from eval.marks import mark, score, totals
from eval.memories import Key, Memory, demo, problems, read_memories
from eval.streams import run_streams, stream_files
from eval.tables import streams_lines
from eval.ways import Way, controls, filled, play

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


def asks(subject: str, other: str) -> Decision:
    return Decision(
        id=f"{subject}-{other}", kind=DecisionKind.REVIEW, subject=subject, object=other,
        reason="unsure-contradiction", sentence="?",
    )  # fmt: skip


def test_the_right_end_state_scores_full_whoever_of_a_group_stays() -> None:
    scored = score(memory(**PERFECT), KEY)
    assert scored["right"] == scored["facts"] == 9
    assert scored["gone_rightly"] == scored["must_go"] == 4
    assert scored["groups_right"] == 3
    other = PERFECT | {"newest": "active", "newest2": "merged newest"}
    assert score(memory(**other), KEY)["right"] == 9


def test_both_the_next_and_the_last_of_a_chain_are_right_successors() -> None:
    assert mark(memory(**PERFECT | {"old": "superseded newest"}), KEY).marks["old"] == "right"
    # ... and so is what says the same as one of them
    assert mark(memory(**PERFECT | {"old": "superseded newest2"}), KEY).marks["old"] == "right"


def test_retiring_for_the_wrong_reason_is_a_false_supersession() -> None:
    scored = score(memory(**PERFECT | {"old": "superseded trap"}), KEY)
    assert [entry["mark"] for entry in scored["harm"]] == ["false-supersession"]
    assert (scored["gone"], scored["gone_rightly"]) == (4, 3)


def test_a_merge_that_loses_something_is_told_apart_from_a_supersession() -> None:
    scored = score(memory(**PERFECT | {"poor": "merged rich", "new": "superseded trap"}), KEY)
    assert (scored["wrong_merge"], scored["false_supersession"]) == (0, 1)
    scored = score(memory(**PERFECT | {"rich": "merged poor"}), KEY)
    assert (scored["wrong_merge"], scored["false_supersession"]) == (1, 0)


def test_a_sprung_trap_is_listed_with_the_sentence_of_its_decision() -> None:
    decision = Decision(
        id="d", kind=DecisionKind.SUPERSEDE, subject="trap", object="new", reason="newer-stated",
        sentence="because it was said later",
    )  # fmt: skip
    facts = memory(**PERFECT | {"trap": "superseded new"})
    scored = score(facts, KEY, [decision])
    assert (scored["traps_sprung"], scored["sprung"]) == (1, ["trap"])
    assert scored["harm"] == [
        {"id": "trap", "mark": "false-supersession", "text": "trap",
         "why": "because it was said later"}
    ]  # fmt: skip


def test_doing_nothing_misses_each_update_and_each_survivor_beyond_the_first() -> None:
    scored = score(memory(), KEY)
    assert (scored["missed_update"], scored["missed_merge"]) == (4, 1)
    assert scored["harm"] == []
    assert (scored["gone"], scored["right"]) == (0, 4)
    assert scored["groups_right"] == 1  # rich: the poorer one may stay
    summed = totals([scored, scored])
    assert (summed["right"], summed["right_share"]) == (8, pytest.approx(4 / 9))


def test_what_is_rightly_asked_about_is_neither_right_nor_missed() -> None:
    scored = score(memory(), KEY, [asks("old", "new"), asks("trap", "rich")])
    assert (scored["asked"], scored["missed_update"]) == (1, 3)
    assert (scored["reviews"], scored["reviews_needless"]) == (2, 1)


def test_a_live_duplicate_beside_a_merged_one_is_one_missed_merge() -> None:
    facts = memory(**PERFECT | {"newest": "active"})
    assert mark(facts, KEY).having("missed-merge") == ["newest2"]


# ---- reading


def row(*facts: dict[str, Any], **fields: Any) -> dict[str, Any]:
    whole = {"id": "s", "about": "A test.", "lang": "en", "now": "2026-10-01", "tags": ["home"]}
    return whole | {"facts": [{"stated_at": "2026-01-01T09:00:00Z"} | f for f in facts]} | fields


MOVED = row(
    {"id": "1", "text": "User lives in Bari.", "state": "superseded", "by": ["2"]},
    {"id": "2", "text": "User lives in Ghent.", "state": "current",
     "stated_at": "2026-05-01T09:00:00+02:00"},
    {"id": "3", "text": "Ada lives in Bari.", "state": "current", "trap": True},
    {"id": "4", "text": "The cellar is dry", "state": "either", "accept": ["current", "merged"],
     "group": "dry"},
    {"id": "5", "text": "the cellar is dry.", "state": "either", "accept": ["current", "merged"],
     "group": "dry", "source": "import:notes"},
)  # fmt: skip


def test_a_stream_is_read_with_its_key() -> None:
    found = Memory.of(MOVED)
    assert [each.id for each in found.facts] == ["1", "2", "3", "4", "5"]
    assert found.facts[4].source == "import:notes"
    assert found.now.isoformat() == "2026-10-01T12:00:00+00:00"
    assert found.key.traps == ["3"]
    assert list(found.key.related()) == [("1", "2"), ("4", "5")]


def test_where_it_is_open_which_of_a_group_stays_both_staying_is_a_miss() -> None:
    key = Memory.of(MOVED).key
    facts = {i: fact(i) for i in key.facts}
    assert mark(facts, key).having("missed-merge") == ["5"]
    facts["4"] = replace(facts["4"], status=FactStatus.MERGED, merged_into="5")
    assert mark(facts, key).having("missed-merge", "wrong-merge") == []


def test_beside_a_fact_that_must_stay_either_leaves_both_open() -> None:
    entries = [dict(entry) for entry in MOVED["facts"]]
    entries[3] = {**entries[3], "state": "current"}
    del entries[3]["accept"]
    key = Memory.of({**MOVED, "facts": entries}).key
    assert mark({i: fact(i) for i in key.facts}, key).having("missed-merge") == []


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"by": ["9"]}, "is no fact"),
        ({"by": ["1"]}, "names itself"),
        ({"by": []}, "`by` names nothing"),
        ({"state": "gone"}, "unknown state 'gone'"),
        ({"state": "either"}, "`either` needs it"),
        ({"accept": ["current"]}, "belongs to the state `either`"),
        ({"state": "merged"}, "its group names no other"),
        ({"trap": True}, "a trap must be current"),
        ({"stated_at": "2026-01-01T09:00:00"}, "2026-01-01T09:00:00"),
        ({"text": ""}, "'text' is missing"),
        ({"states": "current"}, "unknown field 'states'"),
        ({"id": "2"}, "is used 2 times"),
    ],
)
def test_a_slip_in_a_stream_is_named(change: dict[str, Any], says: str, tmp_path: Path) -> None:
    assert problems(MOVED) == []
    first, *others = MOVED["facts"]
    wrong = {**MOVED, "facts": [{**first, **change}, *others]}
    assert any(says in each for each in problems(wrong)), problems(wrong)
    (tmp_path / "a.jsonl").write_text(json.dumps(wrong), encoding="utf-8")
    with pytest.raises(ValueError, match=r"a\.jsonl, s: "):
        read_memories([tmp_path / "a.jsonl"])


@pytest.mark.parametrize("split", ["dev", "test"])
def test_the_streams_of_the_repository_keep_to_the_format(split: str) -> None:
    found = read_memories(stream_files(split))
    assert found
    assert len({memory.id for memory in found}) == len(found)
    for memory in found:
        assert 8 <= len(memory.facts) <= 60, memory.id
        assert memory.tags, memory.id
        assert len(memory.facts) < 12 or len(memory.key.traps) >= 2, memory.id


# ---- playing


def test_a_memory_is_judged_in_several_ways_and_its_store_stays_as_it_was() -> None:
    memory = Memory.of(MOVED)
    backends = fake_backends(
        verdicts={("User lives in Bari.", "User lives in Ghent."): Relation.CONTRADICTS}
    )
    from eval.controls import Cosine

    ways = {"judge": Way()} | controls(Cosine(backends.embedder, 0.99))
    with filled(memory) as store:
        before = list(store.dump())
        played = play(memory, store, backends, Settings(), ways)
        after = list(store.dump())
    assert before == after
    states = {
        name: {i for i, each in found.facts.items() if not each.status.is_live}
        for name, found in played.items()
    }
    assert states == {
        "judge": {"1", "5"},
        "do nothing": set(),
        "exact match": {"5"},
        "cosine threshold": {"5"},
        "classifier alone": {"1", "5"},
        "layers alone": {"5"},
    }


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for split in ("dev", "test"):
        (tmp_path / split).mkdir()
        second = {**MOVED, "id": "s2", "tags": ["home", "cellar"]}
        lines = "\n".join(json.dumps(each) for each in (MOVED, second))
        (tmp_path / split / "a.jsonl").write_text(lines, encoding="utf-8")
    return tmp_path


FAKES = Settings(classifier="fake", embedder="fake", extractor="fake")


def test_the_suite_compares_with_controls_and_tells_by_tag(folder: Path) -> None:
    result = run_streams("dev", FAKES, folder=folder, with_demo=False)
    assert (result["streams"], result["judge"]["facts"]) == (2, 10)
    assert result["again"] == {"nothing_new": 2, "something_new": 0}
    assert result["controls"]["do nothing"]["right"] == 6
    assert result["controls"]["exact match"]["right"] == 8
    assert {name: part["streams"] for name, part in result["by_tag"].items()} == {
        "home": 2, "cellar": 1,
    }  # fmt: skip
    assert result["samples"]["right"]["items"].keys() == {"s", "s2"}
    assert "by tag" in "\n".join(streams_lines(result))


def test_of_the_test_split_no_single_fact_is_told(folder: Path) -> None:
    result = run_streams("test", FAKES, folder=folder, with_demo=False)
    assert "mistakes" not in result
    assert "User lives in Bari." not in json.dumps(result)
    assert not any("Retired wrongly" in line for line in streams_lines(result))


def test_the_suite_runs_the_demo_and_the_second_run_finds_nothing(folder: Path) -> None:
    found = run_streams("dev", FAKES, folder=folder)["demo"]
    assert found["judge"]["facts"] == len(demo().facts) == 219
    assert found["again"] == {"nothing_new": 1, "something_new": 0}
    idle, exact = (found["controls"][name] for name in ("do nothing", "exact match"))
    assert idle["wrong_merge"] == idle["false_supersession"] == 0
    assert 0 < idle["right"] < exact["right"]
