"""The command line: calibrate, review export, and what settings say of the band."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from calibrations import calibration
from command_line import Cli

from consolidate.calibration.shelf import keep, own_path


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    found = Cli(home=tmp_path, db=tmp_path / "memory.db")
    found.env |= {"XDG_DATA_HOME": str(tmp_path / "data")}
    return found


def rows(count: int) -> list[dict[str, Any]]:
    """Contradictions of which all are found, and pairs without anything in common."""
    made: list[dict[str, Any]] = []
    for n in range(count):
        made.append(
            {
                "id": f"c{n}",
                "a": f"The office of team {chr(97 + n % 26)}{n} is in Ghent.",
                "b": f"The office of team {chr(97 + n % 26)}{n} is in Bonn.",
                "a_time": "2026-01-01",
                "b_time": "2026-02-01",
                "relation": "contradicts",
                "winner": "b",
            }
        )
        made.append(
            {
                "id": f"d{n}",
                "a": f"The printer in room {n} jams.",
                "b": f"Nobody has watered plant {n}.",
                "relation": "compatible",
            }
        )
    return made


def written(path: Path, made: list[dict[str, Any]]) -> str:
    path.write_text("".join(json.dumps(row) + "\n" for row in made), encoding="utf-8")
    return path.name


def test_labels_make_a_band_that_is_kept_for_this_model(cli: Cli) -> None:
    file = written(cli.home / "labels.jsonl", rows(100))
    out = cli("calibrate", file, "--profile", "eager").out
    assert "200 labelled pairs" in out
    assert "Kept in" in out
    (kept,) = (cli.home / "data" / "consolidate" / "calibrations").glob("*.json")
    assert json.loads(kept.read_text(encoding="utf-8"))["model"].startswith("fake:lexical")


def test_the_report_tells_band_bound_labels_and_risk(cli: Cli) -> None:
    file = written(cli.home / "labels.jsonl", rows(100))
    document = cli("calibrate", file, "--profile", "eager", "--preview", "--json").json
    assert document["labels"] == 200
    assert document["kept"] is None
    supersede = document["supersede"]
    assert (supersede["wrong"], supersede["forbidden"], supersede["holds"]) == (0, 100, True)
    assert supersede["bound"] <= 0.03
    assert supersede["caught"] == 1.0
    assert supersede["languages"] == ["en"]
    out = cli("calibrate", file, "--profile", "eager", "--preview").out
    assert "Risk and coverage" in out
    assert "Nothing was kept" in out
    assert not (cli.home / "data").exists()


def test_too_few_labels_are_refused_with_the_number_needed(cli: Cli) -> None:
    file = written(cli.home / "labels.jsonl", rows(20))
    err = cli("calibrate", file, code=1).err
    assert "max_false_supersede = 0.01 needs at least 299 pairs that are not 'contradicts'" in err
    assert "there are 20" in err
    assert not (cli.home / "data").exists()


def test_broken_lines_are_told_with_their_number(cli: Cli) -> None:
    file = written(cli.home / "labels.jsonl", [{"a": "x"}, *rows(100)])
    done = cli("calibrate", file, "--profile", "eager", "--preview")
    assert "line 1: 'b' must be" in done.err
    assert "1 broken lines" in done.out


def test_a_missing_file_is_told(cli: Cli) -> None:
    assert "there is no file 'nowhere'" in cli("calibrate", "nowhere", code=1).err


def test_accepted_rates_are_checked(cli: Cli) -> None:
    err = cli("settings", "--set", "max-false-merge=2", code=2).err
    assert "max_false_merge" in err
    assert "0.0001 to 0.5" in err


def test_settings_say_where_the_band_came_from(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(cli.home / "data"))
    cli.env |= {"CONSOLIDATE_CLASSIFIER": "onnx:judge"}
    from consolidate.backends import resolve_classifier

    identity = resolve_classifier("onnx:judge").identity
    keep(calibration(identity), own_path(identity))
    band = cli("settings", "--json").json["band"]
    assert band["supersede_threshold"] == 0.5
    assert "for at most 0.01 false" in band["why"]["supersede"]
    assert band["calibration"] == str(own_path(identity))
    out = cli("settings", "--set", "merge-threshold=0.8").out
    assert "Calibrated on 2100 labelled pairs" in out
    assert "Languages it may supersede in: en" in out
    assert "the settings" in out


def test_settings_can_be_looked_at_without_the_model(cli: Cli) -> None:
    cli.env |= {"CONSOLIDATE_CLASSIFIER": "onnx:/nowhere/at/all"}
    assert "The thresholds can't be told" in cli("settings").out
    assert "unknown" in cli("settings", "--json").json["band"]


def test_decided_reviews_are_exported_as_labels_that_calibrate_reads(cli: Cli) -> None:
    cli("init")
    cli("remember", "The office of Nadia is in Ghent.", "--stated-at", "2026-01-01T00:00:00Z")
    cli("remember", "The office of Nadia is in Bonn.", "--stated-at", "2026-02-01T00:00:00Z")
    cli("run", "--set", "supersede=false")
    assert cli("review", "export", "-").out == ""
    (review,) = cli("review", "list", "--json").json["reviews"]
    cli("review", "accept", review["id"])
    assert "1 labels written" in cli("review", "export", "labels.jsonl").out
    row = json.loads((cli.home / "labels.jsonl").read_text(encoding="utf-8"))
    assert row["relation"] == "contradicts"
    assert "Bonn" in row[row["winner"]]
    assert "needs at least 299" in cli("calibrate", "labels.jsonl", code=1).err


def test_the_database_is_not_written_over(cli: Cli) -> None:
    cli("init")
    assert "the database itself" in cli("review", "export", str(cli.db), code=1).err
