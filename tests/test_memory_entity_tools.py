"""The tools about entities: what they answer fits their schemas, and declarations can be undone."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]
import pytest

from consolidate import open_memory
from consolidate.backends.rules import RulesExtractor
from consolidate.errors import InputError, NotFoundError
from consolidate.graph.refresh import refresh
from consolidate.memory.entity_tools import entity_tools
from consolidate.memory.memory import Memory
from consolidate.memory.tools import Tool
from consolidate.types import NewFact

FAKES = {"embedder": "fake:32", "classifier": "fake", "extractor": "rules"}
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXTS = (
    "Alice Meyer works at Acme Robotics.",
    "The office of Acme Robotics is in Porto.",
    "Bruno Sala plays chess with Carla Neri.",
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "m.db", settings=FAKES) as opened:
        opened.store.add([NewFact(text=text) for text in TEXTS], now=NOW)
        refresh(opened.store, "default", extractor=RulesExtractor())
        yield opened


@pytest.fixture
def tools(memory: Memory) -> dict[str, Tool]:
    return {tool.name: tool for tool in entity_tools(memory)}


def call(tools: dict[str, Tool], tool: str, /, **arguments: Any) -> dict[str, Any]:
    """Call a tool as a server does and hold the answer against its schema."""
    answer: dict[str, Any] = tools[tool].call(**arguments)
    jsonschema.validate(answer, dict(tools[tool].returns))
    return answer


def test_each_is_a_verb_of_the_memory_with_a_sound_schema(
    memory: Memory, tools: dict[str, Tool]
) -> None:
    for name, tool in tools.items():
        assert callable(getattr(memory, name))
        for schema in (tool.parameters, tool.returns):
            jsonschema.Draft202012Validator.check_schema(dict(schema))


def test_an_entity_with_its_facts_in_two_calls(tools: dict[str, Tool]) -> None:
    found = call(tools, "entity_get", name=" acme  ROBOTICS ")
    assert found["entity"]["name"] == "Acme Robotics"
    assert len(found["facts"]) == 2
    listed = call(tools, "facts_list", fact_ids=found["facts"])
    assert [fact["id"] for fact in listed["facts"]] == found["facts"]
    assert listed["missing"] == []
    assert call(tools, "facts_list", fact_ids=["nothing"])["missing"] == ["nothing"]


def test_unknown_is_not_without_facts(memory: Memory, tools: dict[str, Tool]) -> None:
    assert call(tools, "entity_get", name="Zebedee")["entity"] is None
    memory.store.declare_entity("default", "Zebedee", now=NOW)
    known = call(tools, "entity_get", name="Zebedee")
    assert known["entity"]["name"] == "Zebedee"
    assert known["facts"] == []


def test_looking_around(tools: dict[str, Tool]) -> None:
    names = {each["name"] for each in call(tools, "entity_list")["entities"]}
    assert {"Alice Meyer", "Acme Robotics", "Porto"} <= names
    near = call(tools, "entity_neighbors", entity="Alice Meyer", direction="out")["neighbors"]
    assert [(each["name"], each["predicates"]) for each in near] == [
        ("Acme Robotics", ["employer"])
    ]
    assert call(tools, "facts_search", query="chess")["facts"][0]["text"] == TEXTS[2]
    found = call(tools, "extract_entities", text="Alice Meyer met Dora Lind.")
    assert found["entities"][0]["entity"]["name"] == "Alice Meyer"
    assert call(tools, "validate_claim", claim="Alice Meyer keeps bees.")["verdict"] == "unknown"
    (fact, *_) = call(tools, "entity_get", name="Porto")["facts"]
    traced = call(tools, "lineage_trace", start=fact)
    assert traced["nodes"]


def test_walking_from_names(tools: dict[str, Tool]) -> None:
    pytest.importorskip("scipy", reason="walks need scipy")
    found = call(tools, "ppr_retrieve", query_entities=["Alice Meyer", "Zebedee"])
    assert [fact["text"] for fact in found["facts"]] == [TEXTS[0], TEXTS[1]]
    assert found["unknown"] == ["Zebedee"]


def test_declaring_is_previewed_and_undone(memory: Memory, tools: dict[str, Tool]) -> None:
    before = list(memory.store.dump(derived=True))
    told = call(tools, "entity_merge", name="Bruno Sala", into="Alice Meyer")
    assert told["run"] is None
    assert list(memory.store.dump(derived=True)) == before
    done = call(
        tools, "entity_merge", name="Bruno Sala", into="Alice Meyer", confirm=told["confirm"]
    )
    merged = call(tools, "entity_get", name="Bruno Sala")
    assert merged["entity"]["name"] == "Alice Meyer"
    from consolidate import undo

    undo(memory.store, done["run"])
    assert call(tools, "entity_get", name="Bruno Sala")["entity"]["name"] == "Bruno Sala"


def test_what_is_wrong_is_named(tools: dict[str, Tool]) -> None:
    with pytest.raises(NotFoundError, match="Zebedee"):
        tools["entity_neighbors"].call(entity="Zebedee")
    with pytest.raises(InputError, match="direction"):
        tools["entity_neighbors"].call(entity="Alice Meyer", direction="up")
    with pytest.raises(InputError, match="unknown argument 'limits'"):
        tools["facts_list"].call(limits=3)
    with pytest.raises(InputError, match="blank"):
        tools["extract_entities"].call(text=" ")
