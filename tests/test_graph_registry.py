"""Looking entities up, declaring things about them, and one entity a name whoever stores it."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consolidate import pipeline
from consolidate.backends.rules import RulesExtractor
from consolidate.errors import InputError, NotFoundError, UndoConflictError
from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.graph import declaring, tools
from consolidate.graph.refresh import refresh
from consolidate.graph.registry import label, lookup
from consolidate.store import Store
from consolidate.store.database import Database
from consolidate.store.migrations import MIGRATIONS, migrate
from consolidate.store.rekeying import rekey_entities
from consolidate.types import Alias, FactStatus, NewFact

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


def tell(store: Store, *texts: str, agent: str = "default") -> list[str]:
    """Store facts and read off what they name; returns their ids."""
    added = store.add([NewFact(text=text, agent=agent) for text in texts], now=NOW)
    refresh(store, agent, extractor=RulesExtractor())
    return [each.id for each in added]


def names(store: Store) -> list[str]:
    return sorted(label(entity) for entity, _ in store.entity_list("default"))


# ---- what a name leads to


@pytest.fixture
def lab(store: Store) -> Store:
    """A memory about a scientist, with one entity that no fact is linked to."""
    number = store.declare_entity("default", "Tonegawa", kind="person", now=NOW)
    assert number > 0
    for other in ("S. Tonegawa", "Susumu Tonegawa"):
        store.add_alias(Alias(agent="default", canonical="Tonegawa", alias=other))
    tell(
        store,
        "Susumu Tonegawa got the prize in 1987 for his work on antibodies.",
        "In 2014 S. Tonegawa published on engrams.",
    )
    store.declare_entity("default", "NeuroFlask", kind="repo", now=NOW)
    return store


def test_a_known_name_gives_the_entity_its_other_names_and_its_facts(lab: Store) -> None:
    found = tools.entity_get(lab, "Tonegawa")
    assert found["entity"]["name"] == "Tonegawa"
    assert found["entity"]["type"] == "person"
    assert found["aliases"] == ["S. Tonegawa", "Susumu Tonegawa"]
    assert len(found["facts"]) == 2
    listed = tools.facts_list(lab, found["facts"])
    assert [fact["id"] for fact in listed["facts"]] == found["facts"]
    assert {fact["text"][:7] for fact in listed["facts"]} == {"Susumu ", "In 2014"}


@pytest.mark.parametrize(
    "name", ["S. Tonegawa", "susumu  tonegawa", "Dr. S. Tonegawa", "Prof. Tonegawa", "TONEGAWA"]
)
def test_another_name_gives_the_same_entity(lab: Store, name: str) -> None:
    assert tools.entity_get(lab, name)["entity"]["name"] == "Tonegawa"


def test_an_unknown_name_gives_nothing_at_all(lab: Store) -> None:
    found = tools.entity_get(lab, "Marie Curie")
    assert found["entity"] is None
    assert found["aliases"] == found["facts"] == found["candidates"] == found["suggestions"] == []


def test_an_entity_without_facts_is_told_from_an_unknown_one(lab: Store) -> None:
    found = tools.entity_get(lab, "neuroflask")
    assert found["entity"]["type"] == "repo"
    assert found["facts"] == []


@pytest.mark.parametrize("name", ["müller", "MÜLLER", "Mu\u0308ller", " Müller ", "Ｍüller"])
def test_case_form_and_width_do_not_matter(store: Store, name: str) -> None:
    number = store.declare_entity("default", "Müller", now=NOW)
    assert tools.entity_get(store, name)["entity"]["id"] == number
    assert store.declare_entity("default", name, now=NOW) == number


@pytest.mark.parametrize(
    ("stored", "asked"), [("Straße", "STRASSE"), ("İstanbul", "istanbul"), ("Ada  Roe", "ada roe")]
)
def test_folding_is_that_of_all_of_unicode(store: Store, stored: str, asked: str) -> None:
    number = store.declare_entity("default", stored, now=NOW)
    assert store.declare_entity("default", asked, now=NOW) == number


def test_identifiers_stay_exact(store: Store) -> None:
    numbers = {
        store.declare_entity("default", name, now=NOW)
        for name in ("C", "C++", "C#", "KX2203", "KX2205")
    }
    assert len(numbers) == 5
    for unknown in ("KX2204", "C--", "D"):
        found = lookup(store, unknown)
        assert found.entity is None
        assert not found.candidates and not found.suggestions


def test_other_spellings_only_suggest(store: Store) -> None:
    store.declare_entity("default", "Erwin Schrödinger", kind="person", now=NOW)
    for asked, why in (
        ("Erwin Schroedinger", "the same with letters written differently"),
        ("Erwin Schrodinger", "the same with letters written differently"),
        ("Erwin Schrödinegr", "nearly the same letters"),
        ("Schrödingr", "nearly the same letters"),
    ):
        found = lookup(store, asked)
        assert found.entity is None, asked
        assert [each.why for each in found.suggestions] == [why]


def test_nicknames_and_first_names_lead_to_a_person_if_there_is_one(store: Store) -> None:
    store.declare_entity("default", "Robert Miller", kind="person", now=NOW)
    for asked in ("Bob Miller", "Bob", "Robert", "Mr Miller", "R. Miller"):
        found = lookup(store, asked)
        assert found.entity is not None and found.entity.name == "Robert Miller", asked
    store.declare_entity("default", "Robert Chen", kind="person", now=NOW)
    found = lookup(store, "Bob")
    assert found.entity is None
    assert [each.entity.name for each in found.candidates] == ["Robert Chen", "Robert Miller"]


def test_a_name_of_several_gives_all_of_them_and_why(store: Store) -> None:
    store.declare_entity("default", "Mercury", kind="planet", now=NOW)
    store.declare_entity("default", "Mercury", kind="element", now=NOW)
    found = tools.entity_get(store, "mercury")
    assert found["entity"] is None
    assert [each["label"] for each in found["candidates"]] == ["Mercury", "Mercury ② (element)"]
    assert all(each["why"] == "the name" for each in found["candidates"])
    assert tools.entity_get(store, "Mercury ②")["entity"]["type"] == "element"
    number = found["candidates"][0]["id"]
    assert tools.entity_get(store, f"#{number}")["entity"]["type"] == "planet"


def test_an_alias_of_two_is_never_silently_the_first(store: Store) -> None:
    for canonical in ("Albert", "Alan"):
        store.declare_entity("default", canonical, now=NOW)
        act = declaring.alias(store, "default", canonical, "Al", now=NOW)
        declaring.carry_out(store, act, now=NOW)
    assert act.warnings == ("'Al' is a name of Albert too; alone it will mean neither",)
    found = lookup(store, "al")
    assert found.entity is None
    assert {each.entity.name for each in found.candidates} == {"Albert", "Alan"}


def test_a_name_that_another_has_as_alias_gets_an_entity_of_its_own(store: Store) -> None:
    first = store.declare_entity("default", "Tonegawa", now=NOW)
    store.add_alias(Alias(agent="default", canonical="Tonegawa", alias="S. Tonegawa"))
    second = store.declare_entity("default", "S. Tonegawa", now=NOW)
    assert first != second
    assert second == store.declare_entity("default", "s tonegawa", now=NOW)


def test_facts_about_nobody_in_particular_are_the_users(store: Store) -> None:
    tell(store, "Prefers tea.", "The user lives in Ghent.", "The user's name is Tomás Silva.")
    for asked in ("me", "the user", "Tomás", "Tomás Silva"):
        found = tools.entity_get(store, asked)
        assert found["entity"]["key"] == "the user", asked
    assert len(found["facts"]) == 3


def test_nothing_crosses_agents(store: Store) -> None:
    store.declare_entity("one", "Acme", now=NOW)
    assert lookup(store, "Acme", agent="two").entity is None
    assert lookup(store, "Acme", agent="one").entity is not None


@pytest.mark.parametrize("name", ["", "  ", "\u200b", "\u00ad\u2060"])
def test_a_name_of_nothing_is_refused(store: Store, name: str) -> None:
    with pytest.raises(InputError):
        store.declare_entity("default", name, now=NOW)
    assert tools.entity_get(store, name)["entity"] is None


def test_current_facts_come_first_and_history_on_demand(store: Store) -> None:
    old, new = tell(
        store, "The office of Acme Labs is in Ghent.", "The office of Acme Labs is in Porto."
    )
    fact = store.get(old)
    act = declaring.link(store, "default", "Acme Labs", [old], now=NOW)
    run = declaring.carry_out(store, act, now=NOW).run
    gone = replace(fact, status=FactStatus.SUPERSEDED, superseded_by=new, changed_by=run)
    store.write_fact(gone, run=run)
    assert tools.entity_get(store, "Acme Labs")["facts"] == [new]
    assert tools.entity_get(store, "Acme Labs", history=True)["facts"] == [new, old]
    assert [f["id"] for f in tools.facts_list(store, entity="acme labs")["facts"]] == [new]


# ---- one entity a name


def test_eight_threads_that_store_one_name_make_one_entity(store: Store) -> None:
    found: list[int] = []
    start = threading.Barrier(8)

    def work(spelling: str) -> None:
        start.wait()
        found.append(store.declare_entity("default", spelling, now=NOW))

    spellings = ["Müller", "MÜLLER", "müller", "Mu\u0308ller"] * 2
    threads = [threading.Thread(target=work, args=(spelling,)) for spelling in spellings]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 8 and len(set(found)) == 1
    assert names(store) == [names(store)[0]]


def test_eight_processes_that_store_one_name_make_one_entity(store: Store) -> None:
    code = (
        "import sys; from datetime import UTC, datetime; from consolidate.store import Store\n"
        "with Store.open(sys.argv[1], busy_timeout=60) as store:\n"
        "    sys.stdin.readline()\n"
        "    print(store.declare_entity('default', sys.argv[2], now=datetime.now(UTC)))"
    )
    running = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(store.path), spelling],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for spelling in ["Straße", "STRASSE"] * 4
    ]
    for process in running:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    answers = [process.communicate()[0].strip() for process in running]
    assert all(process.returncode == 0 for process in running)
    assert len(set(answers)) == 1
    assert len(store.entity_list("default")) == 1


# ---- rules that take more spellings for one name


def test_entities_that_become_equal_are_merged_with_all_their_links(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    database = Database.open(path, mode="rwc", busy_timeout=1)
    migrate(database, MIGRATIONS[:3])
    with database.atomic():
        for fact in ("a", "b", "c"):
            database.write(
                "INSERT INTO facts (id, agent, kind, text, metadata, recorded_at, source, trust, "
                "intensity, encounters, access_count, content_hash, status) VALUES (?1, "
                "'default', 'fact', ?1, '{}', '2026-01-01T00:00:00.000000Z', 'user', 1.0, 0.5, "
                "1, 0, ?1, 'active')",
                (fact,),
            )
        for number, key in enumerate(("straße", "strasse", "mu\u0308ller", "müller"), 1):
            database.write(
                "INSERT INTO entities (id, agent, key, name) VALUES (?, 'default', ?, ?)",
                (number, key, key),
            )
        links = [(1, "a"), (1, "b"), (2, "b"), (2, "c"), (3, "a"), (4, "c")]
        database.write_many("INSERT INTO entity_facts (entity, fact) VALUES (?, ?)", links)
        database.write_many(
            "INSERT INTO fact_mentions (fact, start, stop, text, label, score, entity) "
            "VALUES (?, 0, 1, ?, 'name', 1.0, ?)",
            [("a", "Straße", 1), ("b", "STRASSE", 2), ("c", "Müller", 4)],
        )
    database.use_wal()
    database.close()
    with Store.open(path) as store:
        found = {e.key: store.fact_ids_of_entity(e.id) for e, _ in store.entity_list("default")}
        assert found == {"strasse": ["a", "b", "c"], "müller": ["a", "c"]}
        assert store.check() == []
        assert lookup(store, "Straße").entity is not None


def test_new_rules_may_give_one_the_old_key_of_another(store: Store) -> None:
    facts = tell(store, "Ann met Bea in Ghent.")
    for old, name in (("b", "B"), ("c", "C")):
        store.declare_entity("default", name, now=NOW)
        act = declaring.link(store, "default", name, facts, now=NOW)
        declaring.carry_out(store, act, now=NOW)
        assert lookup(store, old).entity is not None
    with store.atomic():
        moved = {"b": "c", "c": "d"}
        assert rekey_entities(store._db, lambda key: moved.get(key, key)) == 0
    keys = {entity.key: entity.name for entity, _ in store.entity_list("default")}
    assert (keys["c"], keys["d"]) == ("B", "C")
    assert {pin.entity for pin in store.pins("default")} == {"c", "d"}
    assert store.check() == []


# ---- what people declare


def test_a_merge_moves_the_facts_survives_a_new_reading_and_can_be_undone(store: Store) -> None:
    tell(store, "Ada Byron writes programs.", "Countess Lovelace owns a cat.")
    before = list(store.dump())
    act = declaring.merge(store, "default", "Countess Lovelace", "Ada Byron", now=NOW)
    assert list(store.dump()) == before
    receipt = declaring.carry_out(store, act, now=NOW)
    found = tools.entity_get(store, "Countess Lovelace")
    assert found["entity"]["name"] == "Ada Byron"
    assert len(found["facts"]) == 2
    refresh(store, "default", extractor=RulesExtractor())
    assert tools.entity_get(store, "Countess Lovelace")["entity"]["name"] == "Ada Byron"
    tell(store, "Countess Lovelace sings.")
    assert len(tools.entity_get(store, "Ada Byron")["facts"]) == 3
    store_facts = [line for line in store.dump() if '"facts"' in line]
    pipeline.undo(store, receipt.run, now=NOW)
    assert [line for line in store.dump() if '"facts"' not in line] == [
        line for line in before if '"facts"' not in line
    ]
    assert store_facts == [line for line in store.dump() if '"facts"' in line]
    assert tools.entity_get(store, "Countess Lovelace")["entity"]["name"] == "Countess Lovelace"
    assert store.check() == []


def test_a_split_makes_two_of_one_name_for_good(store: Store) -> None:
    first, second = tell(
        store, "Mercury is the planet nearest to the sun.", "Mercury is liquid in the cold."
    )
    act = declaring.split(
        store, "default", "Mercury", [second], kind="element", note="metal", now=NOW
    )
    receipt = declaring.carry_out(store, act, now=NOW)
    assert lookup(store, "Mercury").ambiguous
    assert tools.entity_get(store, "Mercury ②")["facts"] == [second]
    refresh(store, "default", extractor=RulesExtractor())
    assert tools.entity_get(store, "Mercury ②")["facts"] == [second]
    assert tools.entity_get(store, "Mercury ①")["facts"] == [first]
    pipeline.undo(store, receipt.run, now=NOW)
    assert sorted(tools.entity_get(store, "Mercury")["facts"]) == sorted([first, second])


def test_two_of_one_name_can_be_made_one_again(store: Store) -> None:
    _, second = tell(store, "Mercury is far away.", "Mercury is heavy.")
    act = declaring.split(store, "default", "Mercury", [second], now=NOW)
    declaring.carry_out(store, act, now=NOW)
    back = declaring.merge(store, "default", "Mercury ②", f"#{_number(store, 'mercury')}", now=NOW)
    assert "somebody declared that they are not one" in back.warnings
    declaring.carry_out(store, back, now=NOW)
    assert len(tools.entity_get(store, "Mercury")["facts"]) == 2
    refresh(store, "default", extractor=RulesExtractor())
    assert len(tools.entity_get(store, "Mercury")["facts"]) == 2


def _number(store: Store, key: str) -> int:
    return store.require_entity("default", key).id


def test_a_new_name_is_shown_and_the_old_one_still_leads_there(store: Store) -> None:
    tell(store, "We ship Falcon Nine in May.")
    entity = lookup(store, "Falcon Nine").entity
    assert entity is not None
    act = declaring.rename(store, "default", "Falcon Nine", "Kestrel", now=NOW)
    declaring.carry_out(store, act, now=NOW)
    for name in ("Kestrel", "falcon nine"):
        found = tools.entity_get(store, name)["entity"]
        assert (found["id"], found["name"]) == (entity.id, "Kestrel")
    tell(store, "We ship Kestrel in June.")
    assert len(tools.entity_get(store, "Kestrel")["facts"]) == 2


def test_a_name_that_is_taken_can_not_be_given_to_another(store: Store) -> None:
    tell(store, "Ann met Bea.")
    with pytest.raises(InputError, match="merge the two"):
        declaring.rename(store, "default", "Ann", "Bea", now=NOW)


def test_a_declared_name_can_be_taken_back(store: Store) -> None:
    store.declare_entity("default", "Massachusetts Institute of Technology", now=NOW)
    full = "Massachusetts Institute of Technology"
    declaring.carry_out(store, declaring.alias(store, "default", full, "MIT", now=NOW), now=NOW)
    assert lookup(store, "mit").entity is not None
    act = declaring.unalias(store, "default", full, "MIT", now=NOW)
    receipt = declaring.carry_out(store, act, now=NOW)
    assert lookup(store, "mit").entity is None
    pipeline.undo(store, receipt.run, now=NOW)
    assert lookup(store, "mit").entity is not None
    with pytest.raises(NotFoundError, match="nobody declared"):
        declaring.unalias(store, "default", full, "M.I.T. lab", now=NOW)


def test_undoing_goes_back_step_by_step(store: Store) -> None:
    tell(store, "Ann sings.")
    first = declaring.carry_out(
        store, declaring.rename(store, "default", "Ann", "Anna", now=NOW), now=NOW
    )
    second = declaring.carry_out(
        store, declaring.rename(store, "default", "Ann", "Annette", now=NOW), now=NOW
    )
    with pytest.raises(UndoConflictError, match=second.run):
        pipeline.undo(store, first.run, now=NOW)
    pipeline.undo(store, second.run, now=NOW)
    pipeline.undo(store, first.run, now=NOW)
    assert tools.entity_get(store, "Ann")["entity"]["name"] == "Ann"


def test_facts_of_others_can_not_be_split_off(store: Store) -> None:
    ann, bea = tell(store, "Ann sings.", "Bea sings.")
    with pytest.raises(InputError, match=bea):
        declaring.split(store, "default", "Ann", [bea], now=NOW)
    with pytest.raises(InputError, match="none given"):
        declaring.split(store, "default", "Ann", [], now=NOW)
    with pytest.raises(NotFoundError):
        declaring.split(store, "default", "Zoe", [ann], now=NOW)


def test_declarations_go_out_and_come_back(
    store: Store, tmp_path: Path, open_store: Callable[..., Store]
) -> None:
    _, second = tell(store, "Mercury is far away.", "Mercury is heavy.")
    act = declaring.split(store, "default", "Mercury", [second], kind="element", now=NOW)
    declaring.carry_out(store, act, now=NOW)
    lines = "".join(f"{line}\n" for line in export_lines(store, agent=None, now=NOW))
    other = open_store(tmp_path / "other.db")
    report = import_bytes(other, lines.encode(), Options(), now=NOW)
    assert not report.broken
    assert [*other.dump(derived=True)] == [*store.dump(derived=True)]


def test_what_a_run_finds_a_refresh_finds_too(store: Store) -> None:
    from consolidate.backends import Backends
    from consolidate.settings import resolve as settings_of

    settings = settings_of(
        {"extractor": "rules", "classifier": "fake", "embedder": "fake"}
    ).settings
    store.add(
        [
            NewFact(text=text)
            for text in (
                "Ingrid Moen runs the clinic.",
                "Dr. Moen is away until Monday.",
                "The user's sister Clara sings.",
                "The user's landlady Clara wants the rent.",
                "I heard that Clara rang.",
                "Prefers tea.",
                "prefers tea.",
            )
        ],
        now=NOW,
    )
    pipeline.run(store, Backends.load(settings), settings, now=NOW)
    before = list(store.dump(derived=True))
    assert refresh(store, "default") == 0
    assert list(store.dump(derived=True)) == before
    assert [doubt.name for doubt in store.doubts("default")] == ["clara"]
    assert [label(c.entity) for c in lookup(store, "Clara").candidates] == [
        "Clara (sister)",
        "Clara ② (landlady)",
    ]


def test_an_entity_keeps_its_number_when_its_name_grows(store: Store) -> None:
    tell(store, "I met Ingrid at the clinic.")
    before = lookup(store, "Ingrid").entity
    tell(store, "I had a letter from Ingrid Moen.")
    after = lookup(store, "Ingrid").entity
    assert before is not None and after is not None
    assert (before.id, after.name) == (after.id, "Ingrid Moen")
