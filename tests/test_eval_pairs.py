"""The pairs suite on six rows, whose outcome can be told by reading them."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from consolidate.backends.fake import FakeClassifier, FakeExtractor
from consolidate.settings import Settings
from consolidate.stages.decide import Policy
from consolidate.types import Relation
from eval.judged import Judged, Row, judge
from eval.outcomes import outcomes
from eval.pairs import PUBLIC, run_pairs
from eval.public import public_scores
from eval.record import write_result
from eval.run import main

POLICY = Policy(merge=0.9, supersede=0.9, review=0.5)

ROWS = (
    ("r1", "Ivo lives in Lyon", "Ivo moved to Bari", "2025-01-01", "2025-06-01",
     "contradicts", "b"),
    ("r2", "Ivo's desk is blue", "Ivo's desk is red", "2025-06-01", "2025-06-01",
     "contradicts", None),
    ("r3", "Ivo bakes rye bread", "Rye bread is baked by Ivo", "2025-01-01", "2025-02-01",
     "equivalent", None),
    ("r4", "Ivo keeps two cats, Mo and Bo", "Ivo keeps cats", "2025-01-01", "2025-02-01",
     "a_entails_b", None),
    ("r5", "Ivo speaks Welsh", "Ivo speaks Czech", "2025-01-01", "2025-02-01", "compatible", None),
    ("r6", "Ivo sold the boat", "Ivo has a boat", "2025-05-01", "2025-01-01", "contradicts", "a"),
)  # fmt: skip
TABLE = {
    ("Ivo lives in Lyon", "Ivo moved to Bari"): Relation.CONTRADICTS,
    ("Ivo's desk is blue", "Ivo's desk is red"): Relation.CONTRADICTS,
    ("Ivo bakes rye bread", "Rye bread is baked by Ivo"): Relation.EQUIVALENT,
    ("Ivo keeps two cats, Mo and Bo", "Ivo keeps cats"): Relation.LEFT_ENTAILS_RIGHT,
    ("Ivo speaks Welsh", "Ivo speaks Czech"): Relation.COMPATIBLE,
    ("Ivo sold the boat", "Ivo has a boat"): Relation.COMPATIBLE,
}


def rows() -> list[Row]:
    names = ("id", "a", "b", "a_time", "b_time", "relation", "winner")
    return [
        Row(**dict(zip(names, row, strict=True)), category="home", lang="en")  # type: ignore[arg-type]
        for row in ROWS
    ]


def judged(table: dict[tuple[str, str], Relation] | None = None) -> list[Judged]:
    return judge(rows(), FakeClassifier(table or TABLE), FakeExtractor())


def write_sets(folder: Path) -> Path:
    for split in ("dev", "test"):
        (folder / split).mkdir(parents=True)
        lines = [json.dumps({**vars(row), "unknown": 1}) for row in rows()]
        (folder / split / "batch.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    return folder


def test_each_pair_gets_the_verdict_of_its_own_texts_in_its_own_direction() -> None:
    found = [item.assessment.relation for item in judged()]
    assert found == list(TABLE.values())


def test_outcomes_count_what_would_have_happened_to_the_two_facts() -> None:
    found = outcomes(judged(), POLICY)
    assert (found["contradictions"], found["others"]) == (3, 3)
    # r1 is superseded; on r2 no clock decides, so it is asked about; r6 is missed
    assert (found["caught"], found["to_review"], found["missed"]) == (1, 1, 1)
    assert (found["wrong_way"], found["false_supersession"], found["needless_question"]) == (
        0,
        0,
        0,
    )
    assert (found["equivalents"], found["merged"], found["missed_merge"]) == (1, 1, 0)
    assert (found["merged_contained"], found["false_merge"]) == (1, 0)
    assert found["caught_rate"] == pytest.approx(1 / 3)


def test_a_merge_or_supersession_of_what_is_distinct_is_false() -> None:
    wrong = {
        ("Ivo speaks Welsh", "Ivo speaks Czech"): Relation.EQUIVALENT,
        ("Ivo bakes rye bread", "Rye bread is baked by Ivo"): Relation.CONTRADICTS,
    }
    found = outcomes(judged(TABLE | wrong), POLICY)
    assert found["false_supersession"] == 1
    assert found["missed_merge"] == 1
    # The layers keep two languages apart whatever the classifier says: each name is missing
    # from the other text
    assert found["false_merge"] == 0


def test_absorbing_the_fact_that_says_more_is_a_false_merge() -> None:
    rich = next(item for item in judged() if item.row.id == "r4")
    # Past the layers, which would not have let this through
    wrong = replace(rich.assessment, relation=Relation.RIGHT_ENTAILS_LEFT)
    found = outcomes([replace(rich, assessment=wrong)], POLICY)
    assert (found["merged_contained"], found["false_merge"]) == (0, 1)


def test_the_suite_says_what_it_depends_on_and_compares_with_controls(tmp_path: Path) -> None:
    settings = Settings(classifier="fake", embedder="fake", extractor="fake")
    result = run_pairs("dev", settings, sets=write_sets(tmp_path))
    assert result["pairs"] == 6
    assert result["models"]["classifier"].startswith("fake:lexical")
    assert result["data"].keys() == {"batch.jsonl"}
    assert result["settings"] == settings.digest()
    assert result["machine"]["cores"] >= 1
    assert result["controls"].keys() == {
        "do nothing", "exact match", "cosine threshold", "cosine band", "layers alone",
        "classifier alone",
    }  # fmt: skip
    assert result["controls"]["do nothing"]["misses"] == 4
    assert sum(map(sum, result["confusion"]["counts"])) == 6
    assert result["curves"]["reliability"]["classifier"]["items"] == 12  # both directions
    assert all(entry["because"] for entry in result["mistakes"])
    assert result["controls"]["do nothing"]["accuracy"] == pytest.approx(2 / 6)
    assert result["profiles"].keys() == {"careful", "balanced", "eager"}
    assert result["by_category"]["home"]["pairs"] == 6
    assert result["public"].startswith("skipped")
    again = run_pairs("dev", settings, sets=tmp_path)
    for each in (result, again):
        del each["seconds"]
    assert again == result


def test_cosine_thresholds_come_from_dev_even_when_test_is_scored(tmp_path: Path) -> None:
    settings = Settings(classifier="fake", embedder="fake", extractor="fake")
    sets = write_sets(tmp_path)
    dev = run_pairs("dev", settings, sets=sets)["controls"]["cosine threshold"]["threshold"]
    other = {**vars(rows()[0]), "a": "One thing", "b": "Another thing entirely"}
    (sets / "test" / "batch.jsonl").write_text(json.dumps(other) + "\n", encoding="utf-8")
    test = run_pairs("test", settings, sets=sets)
    assert test["controls"]["cosine threshold"]["threshold"] == dev


def test_public_sources_are_scored_on_their_dev_rows_by_their_own_labels(tmp_path: Path) -> None:
    def write(name: str, *rows: tuple[str, str, str, str]) -> None:
        lines = [json.dumps(dict(zip(("a", "b", "label", "split"), r, strict=True))) for r in rows]
        (tmp_path / f"{name}.jsonl").write_text("\n".join(lines), encoding="utf-8")

    write("letta_core_memory", ("x", "y", "distinct", "dev"), ("p q r", "p q s", "distinct", "dev"))
    write("nli", ("a b c", "a b", "entailment", "dev"), ("a b", "a b c", "neutral", "dev"),
          ("never read", "not dev", "contradiction", "train"))  # fmt: skip
    write("tnli_temporal_validity", ("a", "a", "entailment", "dev"), ("u", "v", "neutral", "dev"))
    found = public_scores(tmp_path, FakeClassifier(), limit=10)
    assert found["letta_core_memory"]["evaluation_only"]
    assert found["letta_core_memory"]["accuracy"] == 0.5
    assert (found["nli"]["pairs"], found["nli"]["accuracy"]) == (2, 1.0)
    assert found["tnli_temporal_validity"]["pairs"] == 1
    assert not found["nli"]["evaluation_only"]


def test_a_source_with_one_class_gets_null_and_not_nan_in_the_file(tmp_path: Path) -> None:
    path = write_result(tmp_path, "x.json", {"auc": float("nan"), "third": 1 / 3})
    assert json.loads(path.read_text(encoding="utf-8")) == {"auc": None, "third": 0.333333}


def test_the_command_replaces_its_result_and_prints_a_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sets = write_sets(tmp_path / "sets")

    def on_six_rows(split: str, settings: Settings, **options: Any) -> dict[str, Any]:
        return run_pairs(split, settings, sets=sets, **options)

    monkeypatch.setenv(PUBLIC, "")
    monkeypatch.setattr("eval.run.run_pairs", on_six_rows)
    fakes = ["--classifier", "fake", "--embedder", "fake", "--out", str(tmp_path)]
    assert main(["pairs", *fakes]) == 0
    assert main(["pairs", *fakes]) == 0
    assert [path.name for path in tmp_path.glob("*.json")] == ["pairs_dev.json"]
    out = capsys.readouterr().out
    assert "do nothing" in out
    assert "false supersession" in out


def test_an_unknown_model_is_an_error_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["pairs", "--classifier", "nothing:x", "--out", str(tmp_path)]) == 1
    assert "unknown backend" in capsys.readouterr().err
