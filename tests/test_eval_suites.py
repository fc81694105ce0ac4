"""The smaller suites on two memories and six pairs, and the command over all of them."""

from __future__ import annotations

import json
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from builders import fact
from test_eval_pairs import write_sets
from test_eval_streams import MOVED

from consolidate.backends.fake import fake_backends
from consolidate.judge.layers import Layers
from consolidate.settings import Settings
from consolidate.types import FactStatus
from eval.ablation import run_ablation
from eval.blocking import propose, run_blocking, score_pairs
from eval.dedup import merges, run_dedup
from eval.endtoend import run_endtoend
from eval.memories import AGENT, Memory
from eval.run import SUITES, main
from eval.suite_tables import ablation_lines, blocking_lines, dedup_lines, endtoend_lines
from eval.ways import filled

CONTROLS = ("do nothing", "exact match", "cosine threshold", "classifier alone", "layers alone")
FAKES = Settings(classifier="fake", embedder="fake", extractor="fake")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for split in ("dev", "test"):
        (tmp_path / "streams" / split).mkdir(parents=True)
        lines = "\n".join(json.dumps(each) for each in (MOVED, {**MOVED, "id": "s2"}))
        (tmp_path / "streams" / split / "a.jsonl").write_text(lines, encoding="utf-8")
    write_sets(tmp_path / "pairs")
    return tmp_path


def places(folder: Path) -> dict[str, Any]:
    return {"folder": folder / "streams", "sets": folder / "pairs"}


# ---- blocking


def test_a_fact_is_met_when_one_of_those_that_may_retire_it_is_proposed() -> None:
    memory = Memory.of(MOVED)
    with filled(memory) as store:
        proposed = propose(store, store.facts(agent=AGENT), fake_backends(), Settings())
    assert proposed.ways["exact match"] == {frozenset(("4", "5"))}
    assert frozenset(("1", "2")) in proposed.ways["asked"]
    counts = score_pairs(
        proposed, {frozenset(("1", "2")), frozenset(("1", "9"))}, {"1": ["9", "2"], "8": ["9"]}
    )
    assert counts["asked"]["met"] == 1
    assert (counts["asked"]["related_found"], counts["asked"]["must_meet"]) == (1, 2)
    assert counts["exact match"]["met"] == 0


def test_blocking_is_scored_on_streams_and_on_one_large_memory(folder: Path) -> None:
    result = run_blocking("dev", FAKES, **places(folder))
    ways = result["streams"]["ways"]
    assert ways["asked"]["facts"] == 10
    assert ways["all with all"]["pairs"] == 20
    assert (ways["all with all"]["recall"], ways["do nothing"]["recall"]) == (1.0, 0.0)
    assert 0 < ways["exact match"]["recall"] < ways["asked"]["recall"] <= 1.0
    assert result["pairs"]["ways"]["asked"]["facts"] == 12
    assert result["pairs"]["ways"]["asked"]["must_meet"] == 5  # all but the compatible pair
    assert any("pairs/fact" in line for line in blocking_lines(result))


# ---- dedup


def test_facts_that_end_in_one_are_merged_rightly_or_wrongly() -> None:
    key = Memory.of(MOVED).key
    facts = {each: fact(each) for each in key.facts}
    assert merges(facts, key) == {"missed": 1}

    def merged(subject: str, into: str) -> None:
        facts[subject] = replace(facts[subject], status=FactStatus.MERGED, merged_into=into)

    merged("5", "4")
    assert merges(facts, key) == {"right": 1}
    merged("4", "3")  # now 4 and 5 both end in 3, and only those two say the same
    assert merges(facts, key) == {"right": 1, "wrong": 2}


def test_merges_are_scored_on_streams_and_pairs(folder: Path) -> None:
    result = run_dedup("dev", FAKES, **places(folder))
    assert result["streams"]["do nothing"]["missed"] == 2
    assert result["streams"]["exact match"]["right"] == 2
    assert result["streams"]["exact match"]["wrong"] == 0
    assert result["pairs"]["do nothing"] | {"recall": 0.0} == result["pairs"]["do nothing"]
    assert result["samples"]["right merges"]["items"] == {"s": "1/1", "s2": "1/1"}
    assert any("precision" in line for line in dedup_lines(result))


# ---- end to end


def test_runs_are_told_stage_by_stage_and_also_in_parts(folder: Path) -> None:
    result = run_endtoend("dev", FAKES, folder=folder / "streams")
    found = result["streams"]
    stages = found["funnel"]["stages"]
    assert (stages["snapshot"]["out"], stages["collapse"]["out"]) == (10, 8)
    assert stages["classify"]["asked"] > 0
    assert all(stage["seconds"] >= 0 for stage in stages.values())
    assert found["at_once"]["not_settled"] == found["in_4_parts"]["not_settled"] == 0
    live = {name: each["live"] for name, each in found["controls"].items()}
    assert live.keys() == set(CONTROLS)
    assert (live["do nothing"], live["exact match"]) == (10, 8)
    assert found["at_once"]["live"] <= 8
    assert result["demo"]["at_once"]["facts"] == 219
    assert any("decisions" in line for line in endtoend_lines(result))


# ---- ablation


def test_every_layer_is_switched_off_once(folder: Path) -> None:
    result = run_ablation("dev", FAKES, **places(folder))
    layers = {f"without {item.name}" for item in fields(Layers)}
    for part in ("pairs", "streams"):
        assert result[part].keys() == {"judge", *CONTROLS} | layers
    assert result["pairs"]["without classifier"]["caught"] == 0
    assert result["streams"]["without classifier"]["right"] < result["streams"]["judge"]["right"]
    assert result["streams"]["exact match"]["false_supersession"] == 0
    idle = result["pairs"]["do nothing"]
    assert (idle["caught"], idle["merged"], idle["false_merge"]) == (0, 0, 0)
    assert any("without slots" in line for line in ablation_lines(result))


# ---- the command


def test_an_unknown_suite_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["pears"])
    assert stopped.value.code == 2
    assert "there is no suite 'pears'" in capsys.readouterr().err


def test_suites_are_measured_in_the_order_given_and_written_by_split(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    asked: list[Any] = []

    def measure(name: str, by_split: bool) -> Any:
        def measured(chosen: Any, settings: Settings) -> dict[str, Any]:
            asked.append((name, chosen.split, settings.classifier, settings.extractor))
            return {"suite": name}

        suite = replace(SUITES[name], by_split=by_split, measure=measured)
        return replace(suite, lines=lambda result: [f"table of {result['suite']}"])

    suites = {"dedup": measure("dedup", True), "conflicts": measure("conflicts", False)}
    monkeypatch.setattr("eval.run.SUITES", suites)
    options = ["--split", "test", "--classifier", "fake", "--extractor", "fake"]
    assert main(["conflicts", "dedup", *options, "--out", str(tmp_path)]) == 0
    assert asked == [("conflicts", "test", "fake", "fake"), ("dedup", "test", "fake", "fake")]
    assert {path.name for path in tmp_path.iterdir()} == {"conflicts.json", "dedup_test.json"}
    assert "table of dedup" in capsys.readouterr().out
