"""How two names may be one, keys of entities, and what the words around a name say."""

from __future__ import annotations

import pytest
from builders import mention
from hypothesis import given
from hypothesis import strategies as st

from consolidate.graph.cues import Cue, conflict, cue_of
from consolidate.graph.naming import acronym_of, likeness, sound, typo
from consolidate.graph.nicknames import full_forms, short_forms
from consolidate.names import bearer_key, entity_key, name_key, name_of_key


@pytest.mark.parametrize(
    ("one", "other", "why"),
    [
        ("Dr. S. Tonegawa", "Susumu Tonegawa", "initials"),
        ("Dr. Susumu Tonegawa", "Susumu Tonegawa", "title"),
        ("J. R. R. Tolkien", "John Ronald Reuel Tolkien", "initials"),
        ("Tonegawa", "Susumu Tonegawa", "part"),
        ("Susumu", "Susumu Tonegawa", "part"),
        ("Acme", "Acme Inc.", "form"),
        ("Bob Miller", "Robert Miller", "nickname"),
        ("Bob", "Robert Miller", "nickname"),
        ("Bob", "Robert", "nickname"),
        ("Schroedinger", "Schrödinger", "letters"),
        ("Jesper Gronbaek", "Jesper Grønbæk", "letters"),
        ("Чехов", "Chekhov", "letters"),
        ("Tonegwa", "Tonegawa", "typing"),
        ("Müller", "MÜLLER", "same"),
    ],
)
def test_names_that_may_be_one(one: str, other: str, why: str) -> None:
    for left, right in ((one, other), (other, one)):
        found = likeness(name_key(left), name_key(right))
        assert found is not None and found.why == why


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("C", "C++"),
        ("C#", "C++"),
        ("KX2203", "KX2205"),
        ("Anna Rossi", "Anna Novak"),
        ("Bob", "Rob"),
        ("A. Rossi", "B. Rossi"),
        ("Jon Smith Jr.", "Jon Smith Sr."),
        ("Acme Inc", "Acme GmbH"),
        ("Lea", "Leo"),
    ],
)
def test_names_that_are_two(one: str, other: str) -> None:
    assert likeness(name_key(one), name_key(other)) is None
    assert likeness(name_key(other), name_key(one)) is None


@given(st.text(max_size=20), st.text(max_size=20))
def test_likeness_is_symmetric_and_never_fails(one: str, other: str) -> None:
    left, right = name_key(one), name_key(other)
    if left and right:
        assert likeness(left, right) == likeness(right, left)


@given(st.text(max_size=20))
def test_the_sound_of_a_sound_is_itself_at_most_shorter(text: str) -> None:
    once = sound(name_key(text))
    assert len(sound(once)) <= len(once)


def test_acronyms_count_small_words_or_not() -> None:
    full = "massachusetts institute of technology"
    assert acronym_of("mit", full) and acronym_of("miot", full)
    assert not acronym_of("mi", full)
    assert not acronym_of("m", "mercury")


def test_slips_of_the_fingers_are_few_and_not_in_short_names() -> None:
    assert typo("marie", "maire")
    assert not typo("ann", "anna")
    assert not typo("marie", "mabel")


def test_nicknames_lead_both_ways() -> None:
    assert full_forms("bert") == {"albert", "bert", "robert"}
    assert "bert" in short_forms("robert")
    assert full_forms("xyz") == {"xyz"}


@pytest.mark.parametrize("number", [1, 2, 9, 10, 27])
def test_keys_of_entities_of_one_name_are_told_apart_and_lead_back(number: int) -> None:
    key = bearer_key("anna novak", number)
    assert name_of_key(key) == "anna novak"
    assert entity_key(key) == key
    assert (key == "anna novak") == (number == 1)


def test_no_name_has_the_key_of_a_second_bearer() -> None:
    for text in ("Anna ②", "Anna 2", "Anna²"):
        assert name_key(text) != bearer_key("anna", 2)


@pytest.mark.parametrize(
    ("text", "name", "kind", "role"),
    [
        ("The planet Mercury is hot.", "Mercury", "planet", "planet"),
        ("The user's sister Clara sings.", "Clara", "person", "sister"),
        ("The landlady, Clara, wants the rent.", "Clara", "person", "landlady"),
        ("Clara is the user's dentist.", "Clara", "person", "dentist"),
        ("The user flew to Jordan.", "Jordan", "place", ""),
        ("The hotel in Phoenix has a pool.", "Phoenix", "within", ""),
        ("Jordan said no.", "Jordan", "speaker", ""),
        ("Dr Aksoy is away.", "Aksoy", "person", ""),
        ("The bot is written in Java.", "Java", "language", ""),
        ("We toured the island of Java.", "Java", "place", "island"),
        ("Phoenix is late.", "Phoenix", "", ""),
        ("Samira joined the project Orion.", "Samira", "", ""),
    ],
)
def test_words_around_a_name_say_what_it_is(text: str, name: str, kind: str, role: str) -> None:
    cue = cue_of(text, mention(text, name))
    assert (cue.kind, cue.role) == (kind, role)
    assert cue.sure == bool(kind)


def test_a_label_alone_parts_nothing() -> None:
    text = "Phoenix is late."
    label = cue_of(text, mention(text, "Phoenix", "place"))
    assert label.kind == "place"
    assert not conflict(label, Cue("person", sure=True))


@pytest.mark.parametrize(
    ("one", "other", "against"),
    [
        (Cue("person", sure=True), Cue("place", sure=True), True),
        (Cue("place", sure=True), Cue("company", sure=True), False),
        (Cue("speaker", sure=True), Cue("within", sure=True), True),
        (Cue("speaker", sure=True), Cue("company", sure=True), False),  # a firm says things
        (Cue("animate", sure=True), Cue("place", sure=True), True),
        (Cue("animate", sure=True), Cue("animal", sure=True), False),
        (Cue("within", sure=True), Cue("project", sure=True), False),
        (Cue("person", "sister", sure=True), Cue("person", "landlady", sure=True), True),
        (Cue("person", "friend", sure=True), Cue("person", "dentist", sure=True), False),
        (Cue("person", "friend", sure=True), Cue("person", "cousin", sure=True), True),
        (Cue(gender="m"), Cue(gender="f"), True),
        (Cue(), Cue("place", sure=True), False),
    ],
)
def test_cues_that_can_not_be_of_one_thing(one: Cue, other: Cue, against: bool) -> None:
    assert conflict(one, other) is against
    assert conflict(other, one) is against
