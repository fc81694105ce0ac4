from __future__ import annotations

from builders import fact, mention

from consolidate.stages.group import Names, group
from consolidate.types import Alias, Fact, Groups, Mention


def alias(canonical: str, other: str, *, never: bool = False) -> Alias:
    return Alias(agent="default", canonical=canonical, alias=other, never=never)


def grouped(
    *texts: tuple[str, tuple[str, ...]], names: Names | None = None, hub: int = 24
) -> Groups:
    """Groups of facts f0, f1, ... with these texts and the names found in them."""
    facts: list[Fact] = []
    mentions: dict[str, list[Mention]] = {}
    for number, (text, found) in enumerate(texts):
        facts.append(fact(f"f{number}", text))
        mentions[f"f{number}"] = [mention(text, name) for name in found]
    return group(facts, mentions, names or Names.of([]), hub_size=hub)


def members(groups: Groups) -> dict[str, tuple[str, ...]]:
    return {g.key: g.facts for g in groups.groups}


# -- names ---------------------------------------------------------------------------------------


def test_spellings_of_one_name_are_one_entity() -> None:
    found = grouped(("Acme makes tea", ("Acme",)), ("I joined ACME", ("ACME",)))
    assert members(found)["acme"] == ("f0", "f1")


def test_names_that_only_look_alike_are_two() -> None:
    found = grouped(("KX2203 hums", ("KX2203",)), ("KX2205 hums", ("KX2205",)))
    assert members(found) == {"kx2203": ("f0",), "kx2205": ("f1",)}


def test_an_alias_joins_two_names() -> None:
    names = Names.of([alias("Robert", "Bob")])
    found = grouped(("Bob runs", ("Bob",)), ("Robert swims", ("Robert",)), names=names)
    assert members(found) == {"robert": ("f0", "f1")}
    assert found.by_fact == {"f0": ("robert",), "f1": ("robert",)}


def test_aliases_follow_in_a_chain() -> None:
    names = Names.of([alias("Robert", "Bob"), alias("Bob", "Bobby")])
    assert names.resolve("bobby") == "robert"
    assert names.same("bobby", "robert")


def test_aliases_in_a_circle_come_to_an_end() -> None:
    names = Names.of([alias("a", "b"), alias("b", "c"), alias("c", "a")])
    assert names.resolve("a") in {"a", "b", "c"}
    assert Names.of([alias("a", "a")]).resolve("a") == "a"


def test_never_keeps_two_names_apart() -> None:
    names = Names.of([alias("Robert", "Bob"), alias("Robert", "Bob", never=True)])
    assert not names.same("robert", "bob")
    assert not names.same("bob", "robert")


def test_an_alias_of_two_names_means_neither_of_them() -> None:
    names = Names.of([alias("Roberta", "Bob"), alias("Robert", "Bob")])
    assert names.resolve("bob") == "bob"
    assert names.several == {"bob": ("robert", "roberta")}
    found = grouped(("Bob runs", ("Bob",)), ("Robert swims", ("Robert",)), names=names)
    assert found.ambiguous == {"f0": ("bob",)}
    assert found.means["f0"] == {"bob": ""}
    assert members(found) == {"bob": ("f0",), "robert": ("f1",)}


# -- groups --------------------------------------------------------------------------------------


def test_a_fact_without_a_name_is_about_the_user() -> None:
    found = grouped(("likes tea", ()), ("The user lives in Ghent", ("Ghent",)))
    assert members(found) == {"ghent": ("f1",), "the user": ("f0", "f1")}
    (user,) = (g for g in found.groups if g.key == "the user")
    assert user.hub


def test_a_name_is_shown_as_it_is_most_often_written() -> None:
    found = grouped(
        ("ACME is old", ("ACME",)), ("Acme is big", ("Acme",)), ("Acme is here", ("Acme",))
    )
    assert [g.name for g in found.groups if g.key == "acme"] == ["Acme"]


def test_an_entity_of_many_facts_is_a_hub() -> None:
    texts = [(f"Acme sells {n}", ("Acme",)) for n in range(4)]
    assert not grouped(*texts, hub=4).groups[0].hub
    assert grouped(*texts, hub=3).groups[0].hub


def test_a_first_name_of_two_people_is_ambiguous_for_who_uses_it_alone() -> None:
    found = grouped(
        ("Ada Byron writes", ("Ada Byron",)),
        ("Ada Lowe sings", ("Ada Lowe",)),
        ("Ada sleeps", ("Ada",)),
        ("Otto Lang cooks", ("Otto Lang",)),
        ("Otto sleeps", ("Otto",)),
    )
    assert found.ambiguous == {"f2": ("ada",)}
    assert members(found)["ada byron"] == ("f0",)


def test_an_alias_says_who_a_first_name_means() -> None:
    found = grouped(
        ("Ada Byron writes", ("Ada Byron",)),
        ("Ada Lowe sings", ("Ada Lowe",)),
        ("Ada sleeps", ("Ada",)),
        names=Names.of([alias("Ada Byron", "Ada")]),
    )
    assert found.ambiguous == {}
    assert members(found)["ada byron"] == ("f0", "f2")


def test_groups_are_sorted_and_do_not_depend_on_the_order_of_facts() -> None:
    facts = [fact("b", "Zoe met Ann"), fact("a", "Ann left")]
    mentions = {
        "b": [mention("Zoe met Ann", "Zoe"), mention("Zoe met Ann", "Ann")],
        "a": [mention("Ann left", "Ann")],
    }
    found = group(facts, mentions, Names.of([]), hub_size=9)
    again = group(facts[::-1], dict(reversed(mentions.items())), Names.of([]), hub_size=9)
    assert found.groups == again.groups
    assert dict(found.by_fact) == dict(again.by_fact)
    assert [(g.key, g.facts) for g in found.groups] == [("ann", ("a", "b")), ("zoe", ("b",))]
