"""Which entity a name means: parted where it must be, joined where it is sure, else in doubt."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta

from builders import fact, mention

from consolidate.graph.resolve import resolve
from consolidate.judge.reading import USER
from consolidate.names import name_key
from consolidate.stages.group import Names
from consolidate.types import Alias, DeclaredEntity, EntityPin, Fact, Mention, Snapshot
from eval.grouping import load, marked, score
from eval.record import SETS

NOW = datetime(2026, 1, 1, tzinfo=UTC)
Told = tuple[str, tuple[str, ...]]


def memory(*told: Told) -> tuple[tuple[Fact, ...], dict[str, list[Mention]]]:
    """Facts f0, f1, ... said one after the other, with the names in them."""
    facts, mentions = [], {}
    for number, (text, names) in enumerate(told):
        facts.append(replace(fact(f"f{number}", text), stated_at=NOW + timedelta(days=number)))
        mentions[f"f{number}"] = [mention(text, name) for name in names]
    return tuple(facts), mentions


def means(
    *told: Told,
    aliases: Sequence[Alias] = (),
    pins: Sequence[EntityPin] = (),
    declared: Sequence[DeclaredEntity] = (),
) -> list[str]:
    """What the first name in each fact means; empty if in doubt."""
    facts, mentions = memory(*told)
    snapshot = Snapshot(
        agent="default",
        facts=facts,
        aliases=tuple(aliases),
        pins=tuple(pins),
        declared=tuple(declared),
    )
    names = resolve(snapshot, facts, mentions)
    return [_first(names, f"f{n}", own[0]) for n, (_, own) in enumerate(told)]


def _first(names: Names, fact_id: str, name: str) -> str:
    key = name_key(name)
    return "" if names.in_doubt(fact_id, key) else names.known_as(fact_id, key)


def never(one: str, other: str) -> Alias:
    return Alias(agent="default", canonical=one, alias=other, never=True)


# ---- joined


def test_short_forms_join_the_only_full_name_there_is() -> None:
    found = means(
        ("Ingrid Moen runs the clinic.", ("Ingrid Moen",)),
        ("Ingrid is away.", ("Ingrid",)),
        ("Dr. Moen is back.", ("Dr. Moen",)),
        ("I. Moen wrote.", ("I. Moen",)),
        ("INGRID  MOEN called.", ("INGRID  MOEN",)),
    )
    assert set(found) == {"ingrid moen"}


def test_the_text_says_that_two_names_are_one() -> None:
    assert (
        means(
            ("The Regional Water Board (RWB) tests wells.", ("Regional Water Board", "RWB")),
            ("RWB found nitrate.", ("RWB",)),
        )
        == ["regional water board"] * 2
    )
    assert (
        means(
            (
                "Samuel Clemens, also known as Mark Twain, wrote it.",
                ("Samuel Clemens", "Mark Twain"),
            ),
            ("Mark Twain was born in Florida.", ("Mark Twain",)),
        )[1]
        == means(
            (
                "Samuel Clemens, also known as Mark Twain, wrote it.",
                ("Samuel Clemens", "Mark Twain"),
            ),
        )[0]
    )


def test_brackets_alone_make_no_other_name() -> None:
    found = means(
        ("We met in Ghent (Belgium).", ("Ghent", "Belgium")), ("Belgium is flat.", ("Belgium",))
    )
    assert found == ["ghent", "belgium"]


def test_places_are_joined_whatever_letters_they_are_written_in() -> None:
    assert len(set(means(("I live in Poznań.", ("Poznań",)), ("Poznan is old.", ("Poznan",))))) == 1
    # but a single name of nobody knows what is not
    assert len(set(means(("Müller rang.", ("Müller",)), ("Muller rang.", ("Muller",))))) == 2


def test_part_of_the_name_of_a_firm_or_place_is_another_thing() -> None:
    found = means(
        ("Lund University hired me.", ("Lund University",)),
        ("I went to Lund.", ("Lund",)),
        ("Lake Victoria is large.", ("Lake Victoria",)),
        ("Victoria rang.", ("Victoria",)),
    )
    assert len(set(found)) == 4


# ---- parted


def test_one_name_of_two_things_is_parted() -> None:
    found = means(
        ("The planet Mercury has no moons.", ("Mercury",)),
        ("The lab keeps Mercury, the metal is toxic.", ("Mercury",)),
        ("The planet Mercury is small.", ("Mercury",)),
    )
    assert found == ["mercury", "mercury ②", "mercury"]


def test_two_people_of_one_name_are_parted_by_what_they_are_to_the_user() -> None:
    found = means(
        ("The user's sister Clara sings.", ("Clara",)),
        ("The user's landlady Clara wants the rent.", ("Clara",)),
        ("The landlady, Clara, has two cats.", ("Clara",)),
    )
    assert found == ["clara", "clara ②", "clara ②"]


def test_a_use_that_says_nothing_stays_in_doubt() -> None:
    told: list[Told] = [
        ("The user's sister Clara lives in Leiden.", ("Clara", "Leiden")),
        ("The user's landlady Clara wants the rent.", ("Clara",)),
        ("Clara rang.", ("Clara",)),
        ("Clara showed the user the old town of Leiden.", ("Clara", "Leiden")),
    ]
    assert means(*told) == ["clara", "clara ②", "", "clara"]
    facts, mentions = memory(*told)
    (doubt,) = resolve(Snapshot(agent="default", facts=facts), facts, mentions).doubts
    assert (doubt.fact, doubt.candidates) == ("f2", ("clara", "clara ②"))


def test_two_full_names_never_meet_over_a_first_name() -> None:
    found = means(
        ("Anna Rossi bakes.", ("Anna Rossi",)),
        ("Anna Novak sings.", ("Anna Novak",)),
        ("Anna is late.", ("Anna",)),
    )
    assert found == ["anna rossi", "anna novak", ""]


def test_who_bears_a_name_alone_when_it_is_said_is_meant() -> None:
    found = means(
        ("Gareth Pugh teaches.", ("Gareth Pugh",)),
        ("Pugh wrote a letter.", ("Pugh",)),
        ("Megan Pugh paints.", ("Megan Pugh",)),
        ("Pugh is at home.", ("Pugh",)),
    )
    assert found == ["gareth pugh", "gareth pugh", "megan pugh", ""]


def test_a_title_tells_a_man_from_a_woman() -> None:
    found = means(
        ("Mr Kim Larsen drives.", ("Kim Larsen",)),
        ("Nadia Larsen is his sister.", ("Nadia Larsen",)),
        ("Frau Larsen drives.", ("Frau Larsen",)),
    )
    assert found[2] != "kim larsen"


def test_identifiers_are_never_joined() -> None:
    names = ["KX2203", "KX2205", "C", "C++", "C#", "v1", "billing-1", "billing-2"]
    assert len(set(means(*((f"{name} runs.", (name,)) for name in names)))) == len(names)


# ---- declared


def test_what_was_declared_not_to_be_one_is_not_joined() -> None:
    told: list[Told] = [
        ("Ingrid Moen runs the clinic.", ("Ingrid Moen",)),
        ("Ingrid is away.", ("Ingrid",)),
    ]
    assert len(set(means(*told))) == 1
    assert len(set(means(*told, aliases=[never("Ingrid Moen", "Ingrid")]))) == 2


def test_a_declared_name_counts_for_every_use() -> None:
    other = Alias(agent="default", canonical="Ada Byron", alias="Countess Lovelace")
    found = means(
        ("Ada Byron writes.", ("Ada Byron",)),
        ("Countess Lovelace sings.", ("Countess Lovelace",)),
        aliases=[other],
    )
    assert set(found) == {"ada byron"}


def test_pins_hold_and_new_facts_go_where_their_company_points() -> None:
    def pin(number: int, entity: str) -> EntityPin:
        return EntityPin(agent="default", fact=f"f{number}", name="anna", entity=entity)

    found = means(
        ("Anna is late for choir in Turin.", ("Anna", "Turin")),
        ("Anna signed the lease in Ghent.", ("Anna", "Ghent")),
        ("Anna sold her flat in Ghent.", ("Anna", "Ghent")),
        ("Anna rang.", ("Anna",)),
        pins=[pin(0, "anna"), pin(1, "anna ②")],
    )
    assert found == ["anna", "anna ②", "anna ②", ""]


def test_the_users_own_name_is_the_user() -> None:
    found = means(
        ("My name is Ignacio Ferrer.", ("Ignacio Ferrer",)),
        ("Ignacio likes tea.", ("Ignacio",)),
        ("Ferrer has two r.", ("Ferrer",)),
    )
    assert found == [USER] * 3


# ---- as a whole


def test_the_order_in_which_facts_are_given_does_not_matter() -> None:
    for each in load(SETS / "entities" / "dev.jsonl"):
        mentions = marked(each)
        snapshot = Snapshot(agent="default", facts=each.facts)
        straight = resolve(snapshot, each.facts, mentions)
        shuffled = list(each.facts)
        random.Random(5).shuffle(shuffled)
        again = resolve(snapshot, shuffled, mentions)
        assert {f: dict(own) for f, own in straight.told.items()} == {
            f: dict(own) for f, own in again.told.items()
        }
        assert straight.kinds == again.kinds
        assert straight.doubts == again.doubts


def test_labelled_memories_are_grouped_and_no_trap_is_sprung() -> None:
    found = score(load(SETS / "entities" / "dev.jsonl"), None)
    before = score(load(SETS / "entities" / "dev.jsonl"), None, alone=True)
    assert found.f1 >= 0.9 > before.f1
    assert found.sprung == 0 < before.sprung == found.traps


def test_the_labelled_sets_are_well_formed_and_share_no_memory() -> None:
    dev, test = (load(SETS / "entities" / f"{split}.jsonl") for split in ("dev", "test"))
    assert {m.name for m in dev}.isdisjoint(m.name for m in test)
    for each in (*dev, *test):
        assert 10 <= len(each.facts) <= 25
        texts = {f.id: f.text for f in each.facts}
        for gold in each.gold:
            assert texts[gold.fact][gold.start : gold.end] == gold.text
