"""Statements read off a text, and the slots in which two of them clash."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.judge.attributes import ATTRIBUTES
from consolidate.judge.statements import PRINCIPAL, statements_of


@pytest.mark.parametrize(
    ("text", "triple"),
    [
        ("The capital of Querida is Amberley.", ("Querida", "capital", "Amberley")),
        ("Orion's lead is now Ayşe", ("Orion", "leader", "Ayşe")),
        ("Orion lead: Tomasz", ("Orion", "leader", "Tomasz")),
        ("Tomasz leads Orion", ("Orion", "leader", "Tomasz")),
        ("The Brackish queue listens on port 5433.", ("Brackish queue", "port", "5433")),
        ("Lives in Oslo", (PRINCIPAL, "residence", "Oslo")),
        ("I moved to Bonn last May.", (PRINCIPAL, "residence", "Bonn")),
        ("User's favorite dish is ramen", (PRINCIPAL, "favourite dish", "ramen")),
        ("My manager is Li Wei, who joined in May", (PRINCIPAL, "manager", "Li Wei")),
        ("Ana Ruiz took over as head coach of Rovers", ("Rovers", "coach", "Ana Ruiz")),
        ("The head of state of Norland is Ada Quist", ("Norland", "head-of-state", "Ada Quist")),
        ("Home address: 14 Quarry Lane", (PRINCIPAL, "residence", "14 Quarry Lane")),
        ("Iñaki vive en Donosti.", ("Iñaki", "residence", "Donosti")),
        ("Our CI is GitLab", (PRINCIPAL, "ci", "GitLab")),
        ("The landlord of Parvaneh is Otto Lenz", ("Parvaneh", "landlord", "Otto Lenz")),
        ("Node.js runner X is maintained by Core", ("Node.js runner X", "owner", "Core")),
    ],
)
def test_what_a_sentence_states(text: str, triple: tuple[str, str, str]) -> None:
    (found,) = statements_of(text)
    assert (found.subject, found.predicate, found.object) == triple
    assert text[slice(*found.object_span)] == found.object
    if found.subject != PRINCIPAL:
        assert text[slice(*found.subject_span)] == found.subject


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Mia used to live in Ghent",
        "She lives in Ghent",
        "The problem of Orion is latency",
        "Our dog is shy",
        "The former head of Orion is Bo",
        "The dentist appointment was long and the parking was expensive",
    ],
)
def test_what_states_nothing_that_could_be_read(text: str) -> None:
    assert statements_of(text) == ()


def test_each_sentence_gives_its_own() -> None:
    found = statements_of("Orion's lead is Ayşe. Orion's port is 8080.")
    assert [(s.predicate, s.object) for s in found] == [("leader", "Ayşe"), ("port", "8080")]


def test_what_is_added_to_a_value_is_not_the_value() -> None:
    (found,) = statements_of("Ana lives in Oslo with two cats.")
    assert found.head == "Oslo"


def test_no_noun_stands_for_two_attributes() -> None:
    nouns = [noun.casefold() for attribute in ATTRIBUTES.values() for noun in attribute.nouns]
    assert len(nouns) == len(set(nouns))


@given(st.text(max_size=300))
def test_any_text_can_be_read_and_the_places_are_right(text: str) -> None:
    for found in statements_of(text):
        assert text[slice(*found.object_span)] == found.object
        if found.subject != PRINCIPAL:
            assert text[slice(*found.subject_span)] == found.subject
