"""The light guess at a language."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.judge.language import (
    LANGUAGES,
    MIXED,
    UNKNOWN,
    language_of,
    language_of_pair,
)


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The user lives in Ghent and works at Acme.", "en"),
        ("My sister doesn't eat meat.", "en"),
        ("Die Besprechung ist jetzt am Dienstag um neun.", "de"),
        ("Nutzer möchte keine Anrufe vor zehn Uhr.", "de"),
        ("Le serveur tourne désormais sur le port 8081.", "fr"),
        ("Je ne bois plus de café.", "fr"),
        ("El servidor usa el puerto 8081 desde ayer.", "es"),
        ("¿Dónde está la reunión?", "es"),
        ("La riunione è stata spostata a venerdì.", "it"),
        ("Non mangio più carne.", "it"),
        ("Port 8080", UNKNOWN),
        ("", UNKNOWN),
        ("東京に住んでいます", UNKNOWN),
    ],
)
def test_plain_sentences_are_told_apart(text: str, language: str) -> None:
    assert language_of(text) == language


def test_two_languages_are_mixed_and_an_unknown_one_joins_the_other() -> None:
    english, german = "The office is in Bonn.", "Das Büro ist in Bonn."
    assert language_of_pair(english, german) == MIXED
    assert language_of_pair(english, "Port 8080") == "en"
    assert language_of_pair("Port 8080", german) == "de"
    assert language_of_pair("Port 8080", "Port 8081") == UNKNOWN


@given(st.text(max_size=80), st.text(max_size=80))
def test_any_text_has_a_class_and_order_does_not_matter(a: str, b: str) -> None:
    assert language_of(a) in {*LANGUAGES, UNKNOWN}
    assert language_of_pair(a, b) == language_of_pair(b, a)
