"""A pronoun that opens a sentence, and whom it means."""

from __future__ import annotations

from datetime import date

import pytest

from consolidate.memory.extraction import extract_claims

DAY = date(2026, 3, 2)


def facts(text: str) -> list[str]:
    claims, _ = extract_claims(text, said_on=DAY)
    return [claim.text for claim in claims]


@pytest.mark.parametrize(
    ("text", "last"),
    [
        ("Ana moved to Oslo. She works at Acme.", "Ana works at Acme."),
        ("Ines lives in Porto. She has two cats.", "Ines has two cats."),
        ("Ana moved to Oslo. Her birthday is in May.", "Ana's birthday is in May."),
        ("My sister lives in Porto. She has two cats.", "User's sister has two cats."),
        ("My boss Tomasz is from Gdańsk. He hates meetings.", "User's boss Tomasz hates meetings."),
        ("Ana moved to Oslo. She works at Acme. She has a dog.", "Ana has a dog."),
    ],
)
def test_the_one_person_of_the_sentence_before_is_meant(text: str, last: str) -> None:
    assert facts(text)[-1] == last


@pytest.mark.parametrize(
    ("text", "last"),
    [
        # Two people, none, one of the wrong sex, or a place: then the words stay.
        ("Ana lives with Bea. She works at Acme.", "She works at Acme."),
        ("The office is closed. She works at Acme.", "She works at Acme."),
        ("My brother lives in Porto. She has two cats.", "She has two cats."),
        ("It rains a lot in Oslo. He hates meetings.", "He hates meetings."),
    ],
)
def test_where_it_is_not_plain_the_words_stay(text: str, last: str) -> None:
    assert facts(text)[-1] == last
