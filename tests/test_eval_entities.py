"""Span scores: what counts as right, and a whole run over the project's own notes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from models_under_test import TINY_GLINER

from consolidate.settings import Settings
from eval.entities import NAMES, PUBLIC, held_out, lines, run_entities, score_spans
from eval.record import read_jsonl

ANNA = (0, 4, "person")


def test_a_span_is_right_only_with_its_borders_and_label() -> None:
    gold = [{ANNA}]
    assert score_spans(gold, [{ANNA}]).f1 == 1
    for near in ((0, 5, "person"), (1, 4, "person"), (0, 4, "place")):
        assert score_spans(gold, [{near}]).right == 0


def test_spans_are_counted_text_by_text() -> None:
    score = score_spans([{ANNA}, set()], [set(), {ANNA}])
    assert (score.gold, score.found, score.right, score.f1) == (1, 1, 0, 0)


def test_scores_without_spans_are_defined() -> None:
    assert score_spans([set()], [set()]).f1 == 1
    nothing = score_spans([{ANNA}], [set()])
    assert (nothing.precision, nothing.recall, nothing.f1) == (1, 0, 0)


def test_f1_is_over_all_spans_of_all_texts() -> None:
    other = (9, 12, "place")
    score = score_spans([{ANNA, other}, {ANNA}], [{ANNA}, {ANNA, other}])
    assert (score.precision, score.recall) == (2 / 3, 2 / 3)
    assert score.f1 == pytest.approx(2 / 3)


def test_labelled_notes_have_spans_at_words_and_known_labels() -> None:
    for path in sorted(NAMES.glob("*.jsonl")):
        for row in read_jsonl(path):
            for start, end, label in row["entities"]:
                part = row["text"][start:end]
                assert part and part == part.strip(), row["id"]
                assert label in {
                    "person", "organisation", "place", "product", "project", "technology", "date",
                }  # fmt: skip


def test_no_note_of_the_test_set_is_trained_on() -> None:
    def texts(name: str) -> set[str]:
        return {row["text"].casefold() for path in NAMES.glob(name) for row in read_jsonl(path)}

    assert not texts("train*.jsonl") & texts("test.jsonl")
    assert not texts("train*.jsonl") & texts("dev.jsonl")


def test_a_run_scores_every_extractor_that_can_be_had(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "public"
    folder.mkdir()
    (folder / "ner_label_names.json").write_text(json.dumps({"PER": "person", "LOC": "place"}))
    rows = [
        {"text": f"Anna saw Oslo {n}", "entities": [[0, 4, "PER"], [9, 13, "LOC"]], "split": "dev"}
        for n in range(9)
    ]
    for name in ("crossner", "wnut17", "wikigold"):
        (folder / f"{name}.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    monkeypatch.setenv(PUBLIC, str(folder))
    spec = f"gliner:{TINY_GLINER}"
    result = run_entities("dev", Settings(extractor=spec))
    assert result["systems"]["rules"]["names"]["gold"] > 100
    assert 0 <= result["systems"][spec]["strict"]["f1"] < 0.3  # its weights are random
    kept = sum(held_out(row) for row in rows)
    assert result["public"][spec]["crossner"]["sentences"] == kept < len(rows)
    assert result["public"][spec]["wnut17"]["strict"]["gold"] == 18
    text = "\n".join(lines(result))
    assert "rules" in text and "wikigold" in text


def test_a_run_without_public_sets_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PUBLIC, raising=False)
    result = run_entities("dev", Settings(extractor="rules"))
    assert PUBLIC in "\n".join(lines(result))
