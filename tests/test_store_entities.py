"""Entities, mentions and declared names."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest

from consolidate.errors import InputError
from consolidate.store import Store
from consolidate.types import Alias, Group, Groups, Mention, NewFact

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def mention(text: str, start: int = 0, label: str = "name") -> Mention:
    return Mention(start=start, end=start + len(text), text=text, label=label, score=0.5)


def groups(
    members: Mapping[str, tuple[str, ...]], names: Mapping[str, str] | None = None
) -> Groups:
    """Groups from fact id to keys; a name is its key unless given."""
    keys = sorted({key for found in members.values() for key in found})
    return Groups(
        groups=tuple(
            Group(
                key=key,
                name=(names or {}).get(key, key),
                facts=tuple(sorted(fact for fact, found in members.items() if key in found)),
            )
            for key in keys
        ),
        by_fact=members,
    )


@pytest.fixture
def filled(store: Store) -> Store:
    store.add([NewFact(text=f"t{n}", id=f"f{n}") for n in range(4)], now=NOW)
    store.add([NewFact(text="t", id="g0", agent="other")], now=NOW)
    return store


FOUND = {
    "f0": [mention("Athens"), mention("The  ATHENS", 10), mention("Bob", 30)],
    "f1": [mention("athens"), mention("C++", 9, "code")],
    "f2": [],
}
MEMBERS = {"f0": ("athens", "bob"), "f1": ("C++", "athens"), "f2": ("user",)}
NAMES = {"athens": "Athens", "bob": "Bob"}


def test_entities_come_back_with_names_and_facts(filled: Store) -> None:
    assert filled.save_entities("default", groups(MEMBERS, NAMES), FOUND) > 0
    found = {entity.key: entity for entity in filled.entities("default")}
    assert list(found) == ["C++", "athens", "bob", "user"]
    assert found["athens"].name == "Athens"
    assert found["athens"].aliases == ("athens",)
    assert found["athens"].facts == ("f0", "f1")
    assert found["user"].facts == ("f2",)
    assert filled.entities("other") == []
    assert filled.check() == []


def test_saving_the_same_again_writes_nothing(filled: Store) -> None:
    filled.save_entities("default", groups(MEMBERS, NAMES), FOUND)
    before = filled.rows_written()
    assert filled.save_entities("default", groups(MEMBERS, NAMES), FOUND) == 0
    assert filled.rows_written() == before


def test_only_what_changed_is_written(filled: Store) -> None:
    filled.save_entities("default", groups(MEMBERS, NAMES), FOUND)
    before = filled.rows_written()
    renamed = groups(MEMBERS, {**NAMES, "bob": "BOB"})
    # The entity, and under its names the new one for the old.
    assert filled.save_entities("default", renamed, FOUND) == 4
    assert filled.rows_written() == before + 4
    assert {entity.key: entity.name for entity in filled.entities("default")}["bob"] == "BOB"


def test_entities_that_no_fact_names_any_more_go(filled: Store) -> None:
    filled.save_entities("default", groups(MEMBERS, NAMES), FOUND)
    filled.save_entities("default", groups({"f0": ("athens",)}, NAMES), {"f0": FOUND["f0"][:1]})
    # f1 and f2 were not looked at, so they keep what they name.
    assert [entity.key for entity in filled.entities("default")] == ["C++", "athens", "user"]
    assert filled.check() == []


def test_other_agents_are_left_alone_and_may_have_the_same_names(filled: Store) -> None:
    filled.save_entities("other", groups({"g0": ("athens",)}), {"g0": [mention("Athens")]})
    filled.save_entities("default", groups(MEMBERS, NAMES), FOUND)
    filled.save_entities("default", groups({}), {fact: [] for fact in FOUND})
    (entity,) = filled.entities("other")
    assert (entity.key, entity.facts) == ("athens", ("g0",))


def test_a_fact_that_is_not_there_can_not_name_anything(filled: Store) -> None:
    # It may have been forgotten while a run was at work on it
    filled.save_entities("default", groups({"nobody": ("x",)}), {"nobody": [mention("x")]})
    assert "x" not in {entity.key for entity in filled.entities("default")}
    assert filled.check() == []


def test_many_facts_are_written_in_several_transactions(filled: Store) -> None:
    filled.add([NewFact(text=f"many {n}", id=f"m{n}") for n in range(1200)], now=NOW)
    members = {f"m{n}": (f"key {n % 700}",) for n in range(1200)}
    found = {fact: [mention("x"), mention("y", 5)] for fact in members}
    # Entities and their names, their facts, what stands in the texts.
    assert filled.save_entities("default", groups(members), found) == 2 * 700 + 1200 + 2400
    assert len(filled.entities("default")) == 700
    assert filled.stats("default")["entities"] == 700


def test_aliases_are_declared_replaced_and_listed(filled: Store) -> None:
    bob = Alias(agent="default", canonical="Bob", alias="Robert")
    never = Alias(agent="default", canonical="Bob", alias="Rob", never=True)
    filled.add_alias(bob)
    filled.add_alias(never)
    filled.add_alias(bob)
    filled.add_alias(Alias(agent="other", canonical="Bob", alias="Bobby"))
    assert filled.aliases("default") == (never, bob)
    assert filled.snapshot("default").aliases == (never, bob)
    no_more = Alias(agent="default", canonical="Bob", alias="Robert", never=True)
    filled.add_alias(no_more)
    assert filled.aliases("default") == (never, no_more)


def test_a_declared_name_belongs_to_its_entity_and_ties_mentions_to_it(filled: Store) -> None:
    filled.add_alias(Alias(agent="default", canonical="Bob", alias="Robert"))
    filled.add_alias(Alias(agent="default", canonical="Bob", alias="Rob", never=True))
    members = {"f0": ("bob",), "f1": ("bob",)}
    found = {"f0": [mention("ROBERT")], "f1": [mention("Rob"), mention("bob", 5)]}
    filled.save_entities("default", groups(members, NAMES), found)
    (entity,) = filled.entities("default")
    assert entity.aliases == ("ROBERT", "Robert", "bob")


@pytest.mark.parametrize("name", ["", " ", "a\0", "\ud800", " Bob", "x" * 300])
def test_what_is_no_name_can_not_be_declared(filled: Store, name: str) -> None:
    for alias in (
        Alias(agent="default", canonical="Bob", alias=name),
        Alias(agent="default", canonical=name, alias="Bob"),
        Alias(agent=name, canonical="Bob", alias="Rob"),
    ):
        with pytest.raises(InputError):
            filled.add_alias(alias)
    assert filled.aliases("default") == ()
