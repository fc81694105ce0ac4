"""Calibrating a judge on labelled sets."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from calibrations import item

from consolidate.calibration.record import Calibration
from eval.calibrate import main, reliability
from eval.judged import PAIRS
from eval.streams import STREAMS


@pytest.fixture
def sets(tmp_path: Path) -> list[str]:
    """A little of both sources, and the fakes."""
    for split in ("dev", "test"):
        for name, folder in (("pairs", PAIRS), ("streams", STREAMS)):
            (tmp_path / name / split).mkdir(parents=True)
            source = sorted((folder / "dev").glob("*.jsonl"))[0]
            lines = source.read_text(encoding="utf-8").splitlines()[: 40 if name == "pairs" else 1]
            target = tmp_path / name / split / "some.jsonl"
            target.write_text("\n".join(lines), encoding="utf-8")
    return [
        *("--classifier", "fake", "--embedder", "fake", "--extractor", "fake"),
        *("--pairs", str(tmp_path / "pairs"), "--streams", str(tmp_path / "streams")),
        *("--results", str(tmp_path / "results")),
    ]


def test_dev_makes_a_calibration_and_an_account(
    sets: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*sets, "--out", str(tmp_path / "made.json")]) == 0
    made = Calibration.from_json((tmp_path / "made.json").read_bytes())
    assert made.model.startswith("fake:")
    assert set(made.sources) == {"pairs", "streams"}
    account = json.loads((tmp_path / "results" / "calibration_dev.json").read_bytes())
    assert account["pairs"]["pairs"] == 40
    band = account["account"]["profiles"]["balanced"]["supersede"]
    assert band["pairs"]["forbidden"] == made.sources["pairs"]["supersede"].forbidden
    assert "ECE on together" in capsys.readouterr().out


def test_a_judge_without_a_folder_needs_a_name_for_the_file(
    sets: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(sets) == 1
    assert "--out" in capsys.readouterr().err


def test_test_chooses_nothing_and_needs_a_calibration(
    sets: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([*sets, "--split", "test"]) == 1
    assert "no calibration holds" in capsys.readouterr().err
    assert not (tmp_path / "results").exists()


def test_a_memory_is_not_torn_apart_when_probabilities_are_checked() -> None:
    """Ten memories, in one of which all is wrong: its own pairs must not teach that."""
    pairs = [
        (f"memory{m}", item("supersede", 0.9, right=m != 0)) for m in range(10) for _ in range(50)
    ]
    found = reliability({"streams": pairs})["streams"]
    assert found["pairs"] == 500
    assert found["right"] == 0.9
    # Of the memory that is all wrong, lines fitted on the others say nearly 1
    assert found["ece"] > 0.05
