"""The bench of recall, small: that it runs and says what it should, never how fast anything is."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from eval.bench_recall import clustered, main, measure
from eval.questions import QUESTIONS, ranks
from eval.record import read_jsonl


def test_vectors_are_of_unit_length_in_clusters_and_the_same_for_a_seed() -> None:
    vectors = clustered(400, seed=1)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)
    assert np.array_equal(vectors, clustered(400, seed=1))
    near = np.sort(vectors @ vectors.T, axis=1)[:, -2]
    assert np.median(near) > 0.4, "most have a neighbour"
    assert np.median(vectors @ vectors.T) < 0.1, "and are far from the rest"


def test_the_nearest_are_those_of_an_exact_search() -> None:
    found = measure(600, queries=20)
    assert found["same_top_10"] == 1.0
    assert found["facts"] == 600
    assert found["queries"] == 20
    assert found["recall"]["p95_ms"] >= found["recall"]["p50_ms"] >= found["recall"]["best_ms"] > 0


def test_the_result_is_written_and_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert (
        main(["--sizes", "80,120", "--queries", "4", "--embedder", "fake", "--out", str(tmp_path)])
        == 0
    )
    written = json.loads((tmp_path / "recall.json").read_text(encoding="utf-8"))
    assert [entry["facts"] for entry in written["sizes"]] == [80, 120]
    assert "share" in capsys.readouterr().out
    for way in ("recall", "relevance_alone", "words", "vectors"):
        scores = written["answers"][way]
        assert 0 < scores["first"] <= scores["first_three"] <= 1
        assert scores["first"] <= scores["mrr"] <= 1


def test_every_answer_of_the_questions_is_a_fact_of_the_demo() -> None:
    demo = Path(__file__).parents[1] / "consolidate" / "data" / "demo_facts.jsonl"
    known = {json.loads(line)["id"] for line in demo.read_text(encoding="utf-8").splitlines()}
    questions = list(read_jsonl(QUESTIONS))
    assert len({row["question"] for row in questions}) == len(questions) == 50
    assert all(row["answers"] and known.issuperset(row["answers"]) for row in questions)


def test_the_rank_is_that_of_the_first_right_answer() -> None:
    questions = [{"answers": ["a", "b"]}, {"answers": ["c"]}]
    assert ranks(questions, [["x", "b", "a"], ["x"]]) == [2, None]
