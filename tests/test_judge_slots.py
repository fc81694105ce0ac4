from __future__ import annotations

import pytest

from consolidate.judge.slots import CUES, IMMUTABLE, attributes_of, cardinality


@pytest.mark.parametrize(
    ("text", "attribute"),
    [
        ("Mia lives in Ghent", "residence"),
        ("Mia moved to Bonn", "residence"),
        ("Mia works at Acme", "employer"),
        ("Mia joined Globex", "employer"),
        ("The server listens on port 80", "port"),
        ("The deadline is Friday", "deadline"),
        ("The budget is 200 euros", "budget"),
        ("Mia's favourite colour is red", "favourite"),
        ("Mia's favorite color is red", "favourite"),
        ("Mia is vegetarian", "diet"),
        ("Mia speaks Dutch", "language"),
    ],
)
def test_texts_speak_of_attributes(text: str, attribute: str) -> None:
    assert attribute in attributes_of(text)


def test_a_text_of_no_known_attribute_has_none() -> None:
    assert attributes_of("the sky is blue") == ()


def test_attributes_are_sorted() -> None:
    found = attributes_of("Mia lives in Ghent, works at Acme and speaks Dutch")
    assert found == tuple(sorted(found))
    assert {"employer", "language", "residence"} <= set(found)


def test_cardinality_is_that_of_what_both_speak_of() -> None:
    assert cardinality(("residence",), ("residence", "language")) == "one"
    assert cardinality(("language",), ("language", "residence")) == "many"
    assert cardinality(("residence",), ("language",)) is None
    assert cardinality((), ()) is None


def test_one_shared_attribute_of_many_values_makes_it_many() -> None:
    assert cardinality(("language", "residence"), ("language", "residence")) == "many"


def test_settings_override_the_table() -> None:
    assert cardinality(("language",), ("language",), {"language": "one"}) == "one"
    assert cardinality(("residence",), ("residence",), {"residence": "many"}) == "many"


@pytest.mark.parametrize("text", ["Mia was born in 1990", "The firm was founded in Ghent"])
def test_what_cannot_change_is_known(text: str) -> None:
    assert IMMUTABLE.search(text)


def test_every_cue_is_one_or_many() -> None:
    assert {cardinality for cardinality, _ in CUES.values()} == {"one", "many"}
