"""What tools answer is what their output schemas say, no key more and none less."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Literal

import pytest
from builders import NOW
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # comes with mcp
from schema_checks import check

from consolidate import open_memory
from consolidate.errors import InputError, StalePlanError
from consolidate.memory import answers
from consolidate.memory.memory import Memory
from consolidate.memory.schemas import gives
from consolidate.memory.tools import Tool
from consolidate.server.toolbox import GROUPS, groups_of, toolbox
from consolidate.types import NewFact, Receipt

pytest.importorskip("scipy", reason="walks need scipy")

FAKES = {"embedder": "fake:32", "classifier": "fake", "extractor": "rules"}

Box = dict[str, Tool]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """A memory with entities, history, a review and a run."""
    with open_memory(tmp_path / "memory.db", settings=FAKES) as opened:
        for text, day in (
            ("Anna Rossi leads Heron.", 1),
            ("Heron runs on the server Brant.", 2),
            ("The port of Brant is 8080.", 3),
            ("The port of Brant is 9090.", 9),
            ("Anna Rossi lives in Turin.", 4),
        ):
            toolbox(opened)["remember_facts"].call(text=text, stated_at=f"2026-01-0{day}T10:00:00Z")
        clash = [f"The phone number of Lea is {number}." for number in (12345, 98765)]
        said = [NewFact(text=text, stated_at=NOW, source="user") for text in clash]
        opened.store.add(said, now=NOW)  # at one moment, so neither is the later one
        opened.add_message("user", "Where does the ferry leave?")
        toolbox(opened)["run"].call()
        yield opened


@pytest.fixture
def box(memory: Memory) -> Box:
    return toolbox(memory)


def fact_of(box: Box, words: str) -> str:
    found = box["facts_search"].call(query=words)["facts"]
    return str(found[0]["id"])


def declared(box: Box, name: str, /, **arguments: Any) -> None:
    told = check(box[name], **arguments)
    assert told["run"] is None
    done = check(box[name], **arguments, confirm=told["confirm"])
    assert done["run"]
    check(box["undo"], run=done["run"])


def _forgetting(box: Box) -> None:
    told = check(box["forget_memory"], ids=[fact_of(box, "Turin")])
    check(box["forget_memory"], token=told["preview"]["token"])


def _planned(box: Box) -> None:
    check(box["remember_facts"], text="Anna Rossi leads Heron now.")
    plan = check(box["plan"])
    check(box["apply"], plan=plan["plan"])


def _undone(box: Box) -> None:
    done = check(box["entity_rename"], name="Heron", new="Grey Heron")
    again = box["entity_rename"].call(name="Heron", new="Grey Heron", confirm=done["confirm"])
    check(box["undo"], run=again["run"])


def _reviewed(box: Box, verb: str) -> None:
    told = check(box["review_list"])
    (review,), (asked,) = told["reviews"], told["decisions"]
    keep = {"keep": asked["other"]} if verb == "review_accept" else {}
    check(box[verb], review=review, **keep)


CALLS: dict[str, Callable[[Box], Any]] = {
    "remember_facts": lambda b: check(b["remember_facts"], text="I like tea. Do you?"),
    "store_memory": lambda b: check(b["store_memory"], content="Minutes of a meeting."),
    "recall_memories": lambda b: [
        check(b["recall_memories"], query="port of Brant", include_history=True),
        check(b["recall_memories"], query="Who leads what runs on Brant?"),
    ],
    "recall_memory_block": lambda b: [
        check(b["recall_memory_block"], name="none"),
        check(b["append_memory_block"], name="some", content="x"),
        check(b["recall_memory_block"], name="none"),
        check(b["recall_memory_block"], name="some"),
    ],
    "replace_memory_block": lambda b: check(b["replace_memory_block"], name="p", content="Calm."),
    "append_memory_block": lambda b: check(b["append_memory_block"], name="p", content="Calm."),
    "forget_memory": _forgetting,
    "recall_conversation": lambda b: check(b["recall_conversation"], query="ferry"),
    "pin": lambda b: check(b["pin"], facts=[fact_of(b, "Turin")]),
    "unpin": lambda b: check(b["unpin"], facts=[fact_of(b, "Turin")]),
    "record_episode": lambda b: check(
        b["record_episode"],
        title="Standup",
        text="Kim Roe leads the harbour team.",
        session="s",
        ended_at="2026-03-01T10:00:00Z",
        remember=True,
    ),
    "episode_list": lambda b: [
        b["record_episode"].call(title="Standup", text="Nothing new."),
        check(b["episode_list"]),
        check(b["episode_list"], episode_ids=["nothing"]),
    ],
    "episode_search": lambda b: [
        b["record_episode"].call(title="Standup", text="Nothing new."),
        check(b["episode_search"], query="standup"),
    ],
    "session_recap": lambda b: check(b["session_recap"], since="2025-01-01T00:00:00Z"),
    "entity_get": lambda b: [
        check(b["entity_get"], name=name, history=True)
        for name in ("Anna Rossi", "anna rosi", "Brant", "nobody")
    ],
    "entity_list": lambda b: check(b["entity_list"]),
    "entity_neighbors": lambda b: check(b["entity_neighbors"], entity="Anna Rossi", hops=2),
    "entity_link": lambda b: check(
        b["entity_link"], src="Brant", dst="Heron", predicate="sits beside"
    ),
    "entity_link_facts": lambda b: declared(
        b, "entity_link_facts", name="Heron", facts=[fact_of(b, "9090")]
    ),
    "entity_alias": lambda b: declared(b, "entity_alias", name="Brant", alias="Box Seven"),
    "entity_merge": lambda b: declared(b, "entity_merge", name="Brant", into="Heron"),
    "entity_split": lambda b: declared(
        b, "entity_split", name="Anna Rossi", facts=[fact_of(b, "Turin")], kind="person"
    ),
    "entity_rename": lambda b: declared(b, "entity_rename", name="Brant", new="Brent Goose"),
    "ppr_retrieve": lambda b: check(b["ppr_retrieve"], query_entities=["Anna Rossi", "nobody"]),
    "extract_entities": lambda b: check(
        b["extract_entities"], text="The port of Brant is 9090, says Kim Roe.", mode="ner+triple"
    ),
    "facts_list": lambda b: check(b["facts_list"], fact_ids=[fact_of(b, "9090"), "gone"]),
    "facts_search": lambda b: check(b["facts_search"], query="port"),
    "lineage_trace": lambda b: check(b["lineage_trace"], start=fact_of(b, "9090")),
    "validate_claim": lambda b: check(b["validate_claim"], claim="The port of Brant is 9090."),
    "plan": _planned,
    "apply": _planned,
    "run": lambda b: check(b["run"]),
    "synthesise": lambda b: [
        check(b["synthesise"], least=1),
        check(b["synthesise"], least=1),
    ],
    "undo": lambda b: declared(b, "entity_alias", name="Brant", alias="Box Seven"),
    "review_list": lambda b: _reviewed(b, "review_accept"),
    "review_accept": lambda b: _reviewed(b, "review_accept"),
    "review_reject": lambda b: _reviewed(b, "review_reject"),
    "history": lambda b: check(b["history"], fact=fact_of(b, "9090")),
    "report": lambda b: check(b["report"]),
}


@pytest.mark.parametrize("name", CALLS)
def test_answers_fit_their_schemas(box: Box, name: str) -> None:
    CALLS[name](box)


def test_every_tool_is_called_and_described(box: Box) -> None:
    assert set(box) == set(CALLS)
    for tool in box.values():
        assert tool.returns["type"] == "object"
        assert tool.returns["properties"]
        Draft202012Validator.check_schema(tool.parameters)


def test_groups_of_tools_can_be_chosen(memory: Memory) -> None:
    every = set(toolbox(memory))
    parts = [set(toolbox(memory, groups=[group])) for group in GROUPS]
    assert set.union(*parts) == every
    assert sum(map(len, parts)) == len(every)
    assert groups_of("entities, memory") == ("memory", "entities")
    assert groups_of("all") == GROUPS
    for wrong in ("", "memory,cleaning"):
        with pytest.raises(InputError, match="one of all, memory, entities, maintenance"):
            groups_of(wrong)


def test_a_declaration_is_done_as_it_was_shown_or_not_at_all(box: Box) -> None:
    told = box["entity_merge"].call(name="Brant", into="Heron")
    assert box["entity_get"].call(name="Brant")["entity"]["name"] == "Brant"
    with pytest.raises(StalePlanError, match="nothing was changed"):
        box["entity_merge"].call(name="Brant", into="Anna Rossi", confirm=told["confirm"])
    # A fact more of what is merged is another act than the one that was shown
    box["remember_facts"].call(text="Brant stands in the cellar.")
    box["run"].call()
    with pytest.raises(StalePlanError, match="look again"):
        box["entity_merge"].call(name="Brant", into="Heron", confirm=told["confirm"])
    told = box["entity_merge"].call(name="Brant", into="Heron")
    done = box["entity_merge"].call(name="Brant", into="Heron", confirm=told["confirm"])
    assert box["entity_get"].call(name="Brant")["entity"]["name"] == "Heron"
    box["undo"].call(run=done["run"])
    assert box["entity_get"].call(name="Brant")["entity"]["name"] == "Brant"


def test_schemas_are_read_off_types() -> None:
    fact = gives(answers.FactsAnswer)["properties"]["facts"]["items"]
    assert fact["properties"]["stated_at"] == {"type": ["string", "null"]}
    assert "stated_at" not in gives(answers.WitnessShown)["required"]
    assert gives(str | None) == {"type": ["string", "null"]}
    assert gives(dict[str, tuple[int | None, ...]]) == {
        "type": "object",
        "additionalProperties": {"type": "array", "items": {"type": ["integer", "null"]}},
    }
    assert gives(Literal["a", "b"]) == {"type": "string", "enum": ["a", "b"]}
    assert gives(Receipt)["properties"]["applied_at"] == {"type": "string", "format": "date-time"}
    with pytest.raises(TypeError, match="no JSON schema for"):
        gives(complex)
