"""The bench, small: that it runs and says what it should, never how fast anything is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from consolidate.settings import Settings
from eval.bare import Configuration, configurations
from eval.bench import main
from eval.bench_runs import growth
from eval.bench_stages import bench_stages, stage_rows
from eval.generate import generate

MODELS = Path(__file__).parent / "data"


def test_the_same_seed_gives_the_same_memory_and_another_seed_another() -> None:
    first, later = generate(60, more=5)
    assert (first, later) == generate(60, more=5)
    assert first != generate(60, seed=8)[0]
    assert (len(first), len(later)) == (60, 5)


def test_a_generated_memory_varies_repeats_and_is_dated() -> None:
    facts, _ = generate(600)
    texts = [fact.text for fact in facts]
    assert 0.8 * len(texts) < len(set(texts)) < len(texts)
    assert all(fact.stated_at is not None for fact in facts)
    assert len({len(text.split()) for text in texts}) > 8


def test_the_entities_of_a_generated_memory_grow_with_it() -> None:
    # Whole names, not first names: those few are shared at any size
    def names(count: int) -> int:
        found, _ = generate(count)
        return len({" ".join(fact.text.split()[:2]) for fact in found})

    assert names(2000) > 3 * names(200)


def test_growth_of_what_is_linear_is_one() -> None:
    def entry(facts: int) -> dict[str, object]:
        return {
            "facts": facts,
            "seconds": facts / 100,
            "seconds_without_models": facts**2 / 1e6,
            "pairs": 6 * facts,
            "stages": {"embed": {"seconds": facts / 200}},
        }

    found = growth([entry(1000), entry(10000)])
    assert found == pytest.approx(
        {"seconds": 1.0, "pairs": 1.0, "without_models": 2.0, "stage embed": 1.0}
    )
    assert growth([entry(1000)]) is None


def test_bare_configurations_are_one_session_on_all_cores_or_one_for_each() -> None:
    found = configurations(2)
    assert {(how.sessions, how.threads) for how in found} == {(1, 2), (2, 1)}
    assert {how.batch for how in found} == {1, 8, 32}
    assert len(configurations(1)) == 3
    assert Configuration(sessions=1, threads=1, batch=1).name == (
        "1 session x 1 thread, 1 row a run"
    )


def test_stage_input_is_spread_over_the_labelled_pairs() -> None:
    rows = stage_rows(20)
    assert len(rows) == 20
    assert len({row.id[0] for row in rows}) > 5


def test_stages_are_compared_with_the_bare_graph_on_the_same_rows() -> None:
    settings = Settings(
        embedder=f"onnx:{MODELS / 'tiny_encoder'}",
        classifier=f"onnx:{MODELS / 'tiny_judge'}",
        threads=2,
    )
    found = bench_stages(settings, texts=24, pairs=12, rounds=1)
    for stage, items in (("embed", 24), ("classify", 12)):
        assert found[stage]["items"] == items
        assert found[stage]["share"] > 0
        assert found[stage]["best_bare"] in found[stage]["bare"]
        alone = "2 sessions x 1 thread, 1 row a run"
        assert found[stage]["bare"][alone]["batch_independent"]


def test_the_bench_measures_runs_in_processes_of_their_own(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = [
        "--embedder",
        "fake",
        "--classifier",
        "fake",
        "--out",
        str(tmp_path),
        "--rounds",
        "1",
    ]
    assert main(["--sizes", "30", "--texts", "20", "--pairs", "10", *options]) == 0
    result = json.loads((tmp_path / "bench.json").read_text(encoding="utf-8"))
    (run,) = result["runs"]["sizes"]
    assert run["facts"] == 30
    assert run["again"]["nothing_new"]
    assert (run["again"]["model_calls"], run["again"]["rows_written"]) == (0, 0)
    assert run["writer"]["adds"] >= 1
    assert run["peak_megabytes"] > 1
    assert run["new_facts"]["added"] == 50
    assert run["stages"]["snapshot"]["out"] == 30
    assert result["stages"]["embed"]["share"] is None
    assert "again: nothing new, 0 rows written" in capsys.readouterr().out
