"""What HippoAgent's entity recall promised, and the six faults of its past, on our memory."""

from __future__ import annotations

import json
import multiprocessing
import threading
import unicodedata
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from schema_checks import check
from test_server_clients import over_stdio

from consolidate import open_memory
from consolidate.errors import ConsolidateError, InputError
from consolidate.memory.memory import Memory
from consolidate.memory.tools import Tool
from consolidate.server.hippo import STANDS_FOR
from consolidate.server.toolbox import to_list, toolbox
from consolidate.store import Store
from consolidate.store.database import Database
from consolidate.store.migrations import MIGRATIONS, migrate
from consolidate.types import NewFact

FAKES = {"embedder": "fake:32", "classifier": "fake", "extractor": "rules"}
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
PRIZE = "Susumu Tonegawa received the Nobel Prize in 1987."
ENGRAM = "Susumu Tonegawa studied engrams at MIT."
UNKNOWN: dict[str, Any] = {"entity": None, "aliases": [], "facts": []}

Box = dict[str, Tool]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """What the worked examples speak of: a person with two facts, a project with none."""
    with open_memory(tmp_path / "memory.db", settings=FAKES) as opened:
        opened.store.add([NewFact(text=PRIZE), NewFact(text=ENGRAM)], now=NOW)
        box = toolbox(opened)
        box["run"].call()
        opened.store.declare_entity("default", "NeuroFlask", kind="repo", now=NOW)
        opened.entity_rename("Susumu Tonegawa", "Tonegawa")
        opened.entity_alias("Tonegawa", "the immunologist")
        yield opened


@pytest.fixture
def hippo(memory: Memory) -> Box:
    return toolbox(memory, hippo=True)


# The five worked examples


def test_an_entity_is_found_and_its_facts_are_read_by_their_ids(hippo: Box) -> None:
    found = check(hippo["hippo_entity_get"], name="Tonegawa")
    assert found["entity"]["canonical_name"] == "Tonegawa"
    assert found["entity"].keys() == {"id", "canonical_name", "type"}
    assert {"Susumu Tonegawa", "the immunologist"} <= set(found["aliases"])
    assert len(found["facts"]) == 2
    # In the original an agent that did this got the newest facts of the store instead
    hippo["hippo_remember"].call(proposition="The cafeteria opens at noon.")
    read = check(hippo["hippo_facts_list"], fact_ids=found["facts"])
    assert [fact["id"] for fact in read["facts"]] == found["facts"]
    assert {fact["proposition"] for fact in read["facts"]} == {PRIZE, ENGRAM}


@pytest.mark.parametrize("name", ["the immunologist", "S. Tonegawa", "Dr. Susumu Tonegawa"])
def test_another_name_leads_to_the_same_entity(hippo: Box, name: str) -> None:
    known = check(hippo["hippo_entity_get"], name="Tonegawa")
    assert check(hippo["hippo_entity_get"], name=name) == known


def test_an_unknown_name_is_an_honest_null(hippo: Box) -> None:
    assert check(hippo["hippo_entity_get"], name="Marie Curie") == UNKNOWN
    near = check(hippo["hippo_entity_neighbors"], name="Marie Curie")
    assert near == {"entity": None, "neighbors": []}
    ranked = check(hippo["hippo_ppr_retrieve"], query_entities=["Marie Curie"])
    assert (ranked["ranked"], ranked["facts"], ranked["unknown"]) == ([], [], ["Marie Curie"])


def test_known_without_facts_is_not_unknown(hippo: Box) -> None:
    found = check(hippo["hippo_entity_get"], name="NeuroFlask")
    assert found["entity"]["type"] == "repo"
    assert (found["aliases"], found["facts"]) == ([], [])


def test_case_and_composition_of_letters_do_not_matter(hippo: Box, memory: Memory) -> None:
    number = memory.store.declare_entity("default", "Müller", now=NOW)
    for name in ("müller", "MÜLLER", " Müller ", unicodedata.normalize("NFD", "Müller")):
        assert check(hippo["hippo_entity_get"], name=name)["entity"]["id"] == f"#{number}"


# Six faults that it had


def test_who_stores_a_name_at_once_with_others_gets_the_one_entity(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    Store.open(path).close()
    numbers: list[int] = []
    gate = threading.Barrier(8)

    def store() -> None:
        with Store.open(path, busy_timeout=60) as mine:
            gate.wait()
            numbers.append(mine.declare_entity("default", "Ada Lovelace", now=NOW))

    threads = [threading.Thread(target=store) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(numbers) == 8
    with multiprocessing.get_context("spawn").Pool(4) as pool:
        numbers += pool.map(_declared, [str(path)] * 8)
    assert len(set(numbers)) == 1
    with Store.open(path) as opened:
        assert len(opened.entities("default")) == 1


def _declared(path: str) -> int:
    with Store.open(path, busy_timeout=60) as store:
        return store.declare_entity("default", " ada  LOVELACE ", now=NOW)


def test_a_name_that_is_an_alias_of_another_gets_an_entity_of_its_own(
    memory: Memory, hippo: Box
) -> None:
    person = check(hippo["hippo_entity_get"], name="the immunologist")["entity"]["id"]
    number = memory.store.declare_entity("default", "The Immunologist", kind="film", now=NOW)
    assert f"#{number}" != person
    # Now it means two: both are told, neither is picked
    found = check(hippo["hippo_entity_get"], name="the immunologist")
    assert found["entity"] is None
    assert {f"#{each['id']}" for each in found["candidates"]} == {f"#{number}", person}


@pytest.mark.parametrize("name", ["", "   ", "\u200b", "\u00ad\u200d"])
def test_a_name_in_which_nothing_can_be_seen_is_refused(
    memory: Memory, hippo: Box, name: str
) -> None:
    with pytest.raises(InputError, match="name"):
        memory.store.declare_entity("default", name, now=NOW)
    assert check(hippo["hippo_entity_get"], name=name) == UNKNOWN
    with pytest.raises(ConsolidateError):
        hippo["hippo_entity_link"].call(src=name, dst="Tonegawa", predicate="knows")


@pytest.mark.parametrize(
    ("stored", "asked"),
    [
        ("MÜLLER", "müller"),
        ("Straße", "STRASSE"),
        ("İzmir", "izmir"),
        ("ＡＣＭＥ", "acme"),
        ("Ada  Lovelace", "ada lovelace"),
        (unicodedata.normalize("NFD", "Zoë"), unicodedata.normalize("NFC", "ZOË")),
    ],
)
def test_case_is_folded_by_all_of_unicode_and_letters_are_composed(
    memory: Memory, hippo: Box, stored: str, asked: str
) -> None:
    number = memory.store.declare_entity("default", stored, now=NOW)
    assert memory.store.declare_entity("default", asked, now=NOW) == number
    assert check(hippo["hippo_entity_get"], name=asked)["entity"]["id"] == f"#{number}"


def test_a_migration_merges_what_has_become_one_name_and_keeps_all_links(tmp_path: Path) -> None:
    path = tmp_path / "old.db"
    database = Database.open(path, mode="rwc", busy_timeout=1)
    migrate(database, MIGRATIONS[:4])
    with database.atomic():
        for number, fact in enumerate(("one", "two", "three")):
            database.write(
                "INSERT INTO facts (id, agent, kind, text, metadata, recorded_at, source, trust, "
                "intensity, encounters, access_count, content_hash, status) VALUES (?, 'default', "
                "'fact', ?, '{}', '2026-01-01T00:00:00.000000Z', 'user', 1.0, 0.5, 1, 0, ?, "
                "'active')",
                (fact, f"Fact {number} of Müller.", fact),
            )
        names = ["müller", unicodedata.normalize("NFD", "müller"), "MÜLLER"]
        for number, (name, fact) in enumerate(zip(names, ("one", "two", "three"), strict=True), 1):
            database.write(
                "INSERT INTO entities (id, agent, key, name) VALUES (?, 'default', ?, 'Müller')",
                (number, name),
            )
            database.write("INSERT INTO entity_facts (entity, fact) VALUES (?, ?)", (number, fact))
    database.close()
    with Store.open(path) as store:
        (entity,) = store.entities("default")
        assert entity.facts == ("one", "three", "two")
        assert store.check() == []


# The rest of its tools


def test_each_of_its_tools_answers_with_its_payload(hippo: Box) -> None:
    told = check(hippo["hippo_remember"], proposition="Ines leads Project Heron.", confidence=0.9)
    assert told["not_used"] == ["confidence"]
    assert told["facts"][0]["action"] == "added"
    hippo["hippo_remember"].call(proposition="Project Heron runs on the server Brant.")
    check(hippo["hippo_consolidate"])
    recalled = check(hippo["hippo_facts_recall"], query="Who leads Heron?", topic="work")
    assert recalled["not_used"] == ["topic"]
    assert recalled["facts"][0]["proposition"] == "Ines leads Project Heron."
    assert check(hippo["hippo_recall_as_of"], query="Heron", when="2020-01-01T00:00:00Z") == {
        "facts": []
    }
    assert check(hippo["hippo_recall_history"], query="Heron")["facts"]
    assert check(hippo["hippo_facts_search"], query="Brant")["facts"][0]["status"] == "active"

    ranked = check(hippo["hippo_ppr_retrieve"], query_entities=["Ines"], k=2, k_facts=1)
    assert ranked["facts"] == [told["fact_id"]] == [f["fact_id"] for f in ranked["facts_ranked"]]
    assert ranked["graph_size"] > 4
    assert "Project Heron" in {each["canonical_name"] for each in ranked["ranked"]}
    linked = check(hippo["hippo_entity_link"], src="Ines", dst="Tonegawa", predicate="knows")
    assert linked["created"]
    # It was blind to edges that lead to an entity
    near = check(hippo["hippo_entity_neighbors"], entity_id="Tonegawa", k=50)["neighbors"]
    assert ["knows"] in [each["predicates"] for each in near]
    again = check(
        hippo["hippo_entity_link"], src="Ines", dst="Tonegawa", predicate="knows", weight=3.0
    )
    assert (again["created"], again["weight"]) == (False, 3.0)

    found = check(
        hippo["hippo_extract_entities"],
        text="The port of Brant is 9090, says Kim.",
        mode="ner+triple",
        existing_entities=["kim", "zoe"],
    )
    assert {"Brant", "kim"} <= {each["name"] for each in found["entities"]}
    traced = check(hippo["hippo_lineage_trace"], start_id=told["fact_id"], kind="fact")
    assert (traced["nodes"][0]["id"], traced["not_found"]) == (told["fact_id"], False)
    for kind in ("fact", "skill", "episode"):
        assert check(hippo["hippo_lineage_trace"], start_id="none", kind=kind)["not_found"]
    claim = check(hippo["hippo_validate_claim"], claim="Ines leads Project Heron.")
    assert (claim["verdict"], claim["supporting"]) == ("supported", [told["fact_id"]])


def test_its_episodes(hippo: Box, memory: Memory) -> None:
    memory.add_message("user", "When does the ferry leave?", conversation="s1")
    kept = check(
        hippo["hippo_record_episode"], title="Ferry", text="We missed the ferry.", session_id="s1"
    )
    assert kept["new"]
    listed = check(hippo["hippo_episode_list"], session_id="s1")
    assert [each["id"] for each in listed["episodes"]] == [kept["episode_id"]]
    assert check(hippo["hippo_search"], query="missed")["episodes"][0]["title"] == "Ferry"
    both = check(hippo["hippo_recall"], query="ferry")
    assert both["messages"][0]["message"]["content"] == "When does the ferry leave?"
    assert check(hippo["hippo_session_recap"], session_id="s1")["episodes"]


def test_every_stand_in_has_what_it_stands_for_and_is_listed_in_its_place(memory: Memory) -> None:
    box = toolbox(memory, hippo=True)
    theirs = {name for name in box if name.startswith("hippo_")}
    assert theirs == STANDS_FOR.keys()
    assert set(STANDS_FOR.values()) <= box.keys()
    listed = {tool.name for tool in to_list(box)}
    assert listed == box.keys() - set(STANDS_FOR.values())
    some = toolbox(memory, groups=["entities"], hippo=True)
    assert "hippo_entity_get" in some
    assert "hippo_remember" not in some
    assert not [name for name in toolbox(memory) if name.startswith("hippo_")]


def test_a_client_that_knows_the_skill_gets_along_with_the_server(tmp_path: Path) -> None:
    async def call(session: Any, tool: str, **arguments: Any) -> Any:
        answer = await session.call_tool(tool, arguments)
        assert not answer.is_error, answer.content
        assert json.loads(answer.content[0].text) == answer.structured_content
        return answer.structured_content

    async def go() -> None:
        async with over_stdio(tmp_path / "m.db", "--names", "hippo") as session:
            names = {tool.name for tool in (await session.list_tools()).tools}
            assert {"hippo_entity_get", "hippo_facts_list", "entity_merge"} <= names
            assert "entity_get" not in names
            assert await call(session, "hippo_entity_get", name="Marie Curie") == UNKNOWN
            await call(session, "hippo_remember", proposition=PRIZE)
            await call(session, "hippo_consolidate")
            found = await call(session, "hippo_entity_get", name="s. tonegawa")
            assert found["entity"]["canonical_name"] == "Susumu Tonegawa"
            read = await call(session, "hippo_facts_list", fact_ids=found["facts"])
            assert [fact["proposition"] for fact in read["facts"]] == [PRIZE]
            # Ours answer as well, though they are not listed twice
            ours = await call(session, "entity_get", name="Susumu Tonegawa")
            assert ours["facts"] == found["facts"]

    anyio.run(go)
