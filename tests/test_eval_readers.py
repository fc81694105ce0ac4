"""Readers for public sets, on tiny files of the same form with texts of our own."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from consolidate.backends.fake import FakeClassifier
from consolidate.errors import InputError
from consolidate.settings import Settings
from eval.conversations import conversations_lines, run_conversations
from eval.public import nli_scores
from eval.readers import read_conversations, read_nli
from eval.run import main


def lines(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("\n".join(json.dumps(row) for row in rows) + "\n", encoding="utf-8")
    return path


def test_snli_and_multinli_leave_out_what_annotators_did_not_agree_on(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "snli_1.0_dev.jsonl",
        {"annotator_labels": ["neutral"], "captionID": "1", "gold_label": "neutral",
         "pairID": "1r1n", "sentence1": "A kite is up.", "sentence2": "It is windy."},
        {"annotator_labels": ["neutral", "entailment"], "gold_label": "-", "pairID": "1r1x",
         "sentence1": "A kite is up.", "sentence2": "A toy flies."},
        {"gold_label": "contradiction", "genre": "letters", "pairID": "7c", "promptID": "7",
         "sentence1": "The mill closed.", "sentence2": "The mill is open."},
    )  # fmt: skip
    found = read_nli(path)
    assert [(pair.id, pair.label) for pair in found] == [
        ("1r1n", "neutral"),
        ("7c", "contradiction"),
    ]
    assert (found[0].premise, found[0].hypothesis) == ("A kite is up.", "It is windy.")


def test_anli_has_letters_for_labels(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "R1_dev.jsonl",
        {"uid": "u1", "context": "The ferry runs daily.", "hypothesis": "It runs on Mondays.",
         "label": "e", "model_label": "n", "reason": "daily"},
    )  # fmt: skip
    (pair,) = read_nli(path)
    assert (pair.id, pair.premise, pair.label) == ("u1", "The ferry runs daily.", "entailment")


def test_sick_is_a_table_in_which_quotes_are_letters(tmp_path: Path) -> None:
    path = tmp_path / "SICK.txt"
    path.write_text(
        "pair_ID\tsentence_A\tsentence_B\tentailment_label\trelatedness_score\tSemEval_set\n"
        '1\tA man says "go\tA man speaks\tENTAILMENT\t4.1\tTRIAL\n'
        "2\tA dog sleeps\tNo dog sleeps\tCONTRADICTION\t3.0\tTEST\n",
        encoding="utf-8",
    )
    found = read_nli(path)
    assert [(pair.id, pair.label) for pair in found] == [
        ("1", "entailment"),
        ("2", "contradiction"),
    ]
    assert found[0].premise == 'A man says "go'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ('{"a": 1, "b": 2}', "the fields a, b, which are those of none of SNLI"),
        ('{"sentence1": "a", "sentence2": "b", "gold_label": "maybe"}', "unknown label 'maybe'"),
        ("[1]", "expected fields"),
        ("{nonsense", "can't be read"),
    ],
)
def test_a_file_of_another_form_is_refused_with_its_line(
    text: str, says: str, tmp_path: Path
) -> None:
    path = tmp_path / "x.jsonl"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=says):
        read_nli(path)


def test_a_users_own_file_is_scored_by_its_labels(tmp_path: Path) -> None:
    path = lines(
        tmp_path / "mine.jsonl",
        {"sentence1": "a b c", "sentence2": "a b", "gold_label": "entailment"},
        {"sentence1": "a b", "sentence2": "a b c", "gold_label": "neutral"},
        {"sentence1": "the lamp is on", "sentence2": "the lamp is not on",
         "gold_label": "neutral"},
    )  # fmt: skip
    found = nli_scores(path, FakeClassifier(), limit=10)
    assert (found["pairs"], found["accuracy"]) == (3, pytest.approx(2 / 3))
    assert nli_scores(path, FakeClassifier(), limit=2)["pairs"] == 2


LOCOMO = [
    {
        "sample_id": "conv-1",
        "conversation": {
            "speaker_a": "Ida",
            "speaker_b": "Rui",
            "session_2_date_time": "9:05 am on 3 June, 2023",
            "session_2": [{"speaker": "Rui", "dia_id": "D2:1", "text": "I sold the canoe."}],
            "session_1_date_time": "1:56 pm on 8 May, 2023",
            "session_1": [
                {"speaker": "Ida", "dia_id": "D1:1", "text": "Look!", "img_url": ["u"],
                 "blip_caption": "a canoe on a lake"},
                {"speaker": "Rui", "dia_id": "D1:2", "text": "Nice."},
            ],
        },
        "qa": [
            {"question": "What did Rui sell?", "answer": "a canoe", "evidence": ["D1:1; D2:1"],
             "category": 1},
            {"question": "Who sold a car?", "adversarial_answer": "Ida", "evidence": [],
             "category": 5},
        ],
        "event_summary": {},
    }
]  # fmt: skip
LONGMEMEVAL = [
    {
        "question_id": "q1",
        "question_type": "knowledge-update",
        "question": "Where do I live now?",
        "answer": "Porto",
        "question_date": "2023/05/30 (Tue) 23:40",
        "haystack_session_ids": ["s1", "s2"],
        "haystack_dates": ["2023/05/20 (Sat) 02:21", "2023/05/25 (Thu) 10:00"],
        "haystack_sessions": [
            [{"role": "user", "content": "I live in Faro."},
             {"role": "assistant", "content": "Nice."}],
            [{"role": "user", "content": "I moved to Porto.", "has_answer": True}],
        ],
        "answer_session_ids": ["s2"],
    }
]  # fmt: skip


def whole(path: Path, data: Any) -> Path:
    path.write_text(json.dumps(data), encoding="utf-8")
    return path


def test_locomo_sessions_come_in_order_with_their_times_and_pictures(tmp_path: Path) -> None:
    (found,) = read_conversations(whole(tmp_path / "locomo10.json", LOCOMO))
    assert [(turn.id, turn.speaker) for turn in found.turns] == [
        ("D1:1", "Ida"), ("D1:2", "Rui"), ("D2:1", "Rui"),
    ]  # fmt: skip
    assert found.turns[0].text == "Look! [picture: a canoe on a lake]"
    assert found.turns[0].said_at == datetime(2023, 5, 8, 13, 56, tzinfo=UTC)
    assert [(q.answer, q.kind, q.evidence) for q in found.questions] == [
        ("a canoe", "1", ("D1:1", "D2:1")),
        ("Ida", "5", ()),
    ]


def test_longmemeval_has_a_conversation_for_each_question(tmp_path: Path) -> None:
    (found,) = read_conversations(whole(tmp_path / "longmemeval_s.json", LONGMEMEVAL))
    assert [(turn.id, turn.session, turn.text) for turn in found.turns] == [
        ("s1:1", "s1", "I live in Faro."),
        ("s1:2", "s1", "Nice."),
        ("s2:1", "s2", "I moved to Porto."),
    ]
    (asked,) = found.questions
    assert (asked.answer, asked.kind, asked.evidence) == ("Porto", "knowledge-update", ("s2",))
    assert asked.asked_at == datetime(2023, 5, 30, 23, 40, tzinfo=UTC)


@pytest.mark.parametrize(
    ("data", "says"),
    [
        ([], "expected a list of conversations"),
        ({"a": 1}, "expected a list of conversations"),
        ([{"a": 1}], "neither LoCoMo nor LongMemEval"),
        ([{**LONGMEMEVAL[0], "question": None, "haystack_dates": None}], "lacks"),
        ([{"conversation": {"session_1": [{"text": "no id"}]}}], "lacks 'dia_id'"),
    ],
)
def test_a_file_that_holds_no_conversations_is_refused(
    data: Any, says: str, tmp_path: Path
) -> None:
    with pytest.raises(InputError, match=says):
        read_conversations(whole(tmp_path / "x.json", data))


def test_evidence_is_looked_for_by_turn_and_by_session(tmp_path: Path) -> None:
    settings = Settings(embedder="fake")
    path = whole(tmp_path / "locomo.json", LOCOMO)
    found = run_conversations(settings, path, most=5)
    assert (found["turns"], found["without_evidence"]) == (3, 1)
    entry = found["by_kind"]["all"]["recall"]
    assert entry["questions"] == 1
    assert entry["any@5"] == entry["all@5"] == 1.0  # three turns are fewer than five
    assert entry["all@1"] == 0.0  # two turns are needed
    path = whole(tmp_path / "longmemeval.json", LONGMEMEVAL)
    found = run_conversations(settings, path, most=5)
    assert found["by_kind"]["knowledge-update"]["vectors"]["any@20"] == 1.0
    assert any("evidence found" in line for line in conversations_lines(found))


def test_without_a_file_the_suite_asks_for_one(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["conversations"]) == 1
    assert "--conversations FILE" in capsys.readouterr().err
