from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.judge.modality import modality_of


@pytest.mark.parametrize(
    ("text", "flag"),
    [
        ("Does Mia like tea?", "question"),
        ("Mia plans to visit Ghent", "plan"),
        ("Mia is going to move", "plan"),
        ("Mia wants to learn Dutch", "plan"),
        ("Maybe the cache is cold", "hypothetical"),
        ("It would be faster with an index", "hypothetical"),
        ("Otto said that the port is 80", "reported"),
        ("According to the vendor the disk is fast", "reported"),
        ("Mia used to live in Bonn", "past"),
        ("Formerly the port was 80", "past"),
        ("Mia no longer eats meat", "ended"),
        ("Mia quit her job", "ended"),
        ("Mia doesn't smoke anymore", "ended"),
        ("Correction: the port is 81", "correction"),
        ("The user misspoke about the port", "correction"),
    ],
)
def test_cue_words_tell_the_mood(text: str, flag: str) -> None:
    assert getattr(modality_of(text), flag)


@pytest.mark.parametrize(
    "text",
    [
        "Mia lives in Ghent.",
        "The plan is Premium",
        "The planet Mars has two moons",
        "The nose of the plane is blue",
        "The port is 8080",
    ],
)
def test_a_plain_statement_is_plain(text: str) -> None:
    mood = modality_of(text)
    assert mood.is_plain
    assert not (mood.past or mood.ended or mood.correction or mood.negations or mood.dated)


def test_what_is_said_of_now_is_not_past() -> None:
    assert not modality_of("Mia, formerly of Bonn, now lives in Ghent").past


@pytest.mark.parametrize(
    ("text", "count"),
    [("It is not red", 1), ("It isn't red", 1), ("never say no", 2), ("a note", 0), ("nothing", 1)],
)
def test_negations_are_counted(text: str, count: int) -> None:
    assert modality_of(text).negations == count


@pytest.mark.parametrize(
    ("text", "dated"),
    [
        ("2026-03-01: weight 70 kg", "2026-03-01"),
        ("As of 1 March 2026 the balance is 20 euros", "2026-03-01"),
        ("On 2026-03-01 it rained", "2026-03-01"),
        ("Mia was born on 1 March 1990", ""),
        ("The deadline is 2026-03-01", ""),
    ],
)
def test_a_reading_belongs_to_its_date(text: str, dated: str) -> None:
    assert modality_of(text).dated == dated


@given(st.text(max_size=80))
def test_any_text_has_a_mood(text: str) -> None:
    assert modality_of(text).negations >= 0
