"""The eight tools: their schemas hold, and they do what they say."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from consolidate import open_memory
from consolidate.errors import InputError
from consolidate.memory.memory import Memory
from consolidate.memory.tools import (
    Tool,
    as_anthropic,
    as_langchain,
    as_openai,
    create_tools,
)

FAKES = {"embedder": "fake:32", "classifier": "fake", "extractor": "rules"}

NAMES = [
    "remember_facts",
    "store_memory",
    "recall_memories",
    "recall_memory_block",
    "replace_memory_block",
    "append_memory_block",
    "forget_memory",
    "recall_conversation",
]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "memory.db", settings=FAKES) as opened:
        yield opened


@pytest.fixture
def tools(memory: Memory) -> dict[str, Tool]:
    return {tool.name: tool for tool in create_tools(memory)}


def test_there_are_eight_with_a_schema_that_takes_nothing_else(tools: dict[str, Tool]) -> None:
    assert list(tools) == NAMES
    for tool in tools.values():
        assert tool.parameters["type"] == "object"
        assert tool.parameters["additionalProperties"] is False
        assert set(tool.parameters["required"]) <= set(tool.parameters["properties"])


def test_adapters_carry_name_words_and_schema(memory: Memory) -> None:
    made = create_tools(memory)
    for tool, openai, anthropic in zip(made, as_openai(made), as_anthropic(made), strict=True):
        assert openai["function"]["name"] == anthropic["name"] == tool.name
        assert openai["function"]["parameters"] == anthropic["input_schema"] == tool.parameters


def test_the_clients_take_the_tools_for_what_they_are(memory: Memory) -> None:
    for package in ("anthropic", "openai"):
        pytest.importorskip(package)
    from anthropic.types import ToolParam
    from openai.types.chat import ChatCompletionToolParam
    from pydantic import TypeAdapter

    made = create_tools(memory)
    TypeAdapter(list[ChatCompletionToolParam]).validate_python(as_openai(made))
    TypeAdapter(list[ToolParam]).validate_python(as_anthropic(made))


def test_langchain_calls_them(memory: Memory) -> None:
    pytest.importorskip("langchain_core", reason="langchain-core is not installed")
    tools = {tool.name: tool for tool in as_langchain(create_tools(memory))}
    assert list(tools) == NAMES
    tools["store_memory"].invoke({"content": "Ada likes tea."})
    found = tools["recall_memories"].invoke({"query": "tea"})["found"]
    assert [fact["text"] for fact in found] == ["Ada likes tea."]
    # A model that calls wrongly reads what was wrong instead of ending the agent
    assert "must be of type string" in tools["recall_memories"].invoke({"query": 5})
    assert tools["recall_memories"].tool_call_schema["required"] == ["query"]


def test_what_is_remembered_is_recalled_and_forgotten_in_two_steps(
    tools: dict[str, Tool],
) -> None:
    told = tools["remember_facts"].call(text="My sister Ines lives in Porto.")
    assert [fact["action"] for fact in told["facts"]] == ["added"]
    found = tools["recall_memories"].call(query="Ines Porto")["found"]
    assert "Porto" in found[0]["text"]
    preview = tools["forget_memory"].call(ids=[found[0]["id"]])["preview"]
    assert [match["id"] for match in preview["matches"]] == [found[0]["id"]]
    assert tools["recall_memories"].call(query="Ines Porto")["found"]  # nothing is deleted yet
    gone = tools["forget_memory"].call(token=preview["token"])["forgotten"]
    assert gone["facts"] == [found[0]["id"]]
    assert tools["recall_memories"].call(query="Ines Porto")["found"] == []


def test_content_kept_whole_makes_no_second_copy(tools: dict[str, Tool]) -> None:
    first = tools["store_memory"].call(content="Minutes of the harbour meeting.")
    second = tools["store_memory"].call(content="Minutes of the harbour meeting.")
    assert (first["new"], second["new"]) == (True, False)
    assert first["id"] == second["id"]


def test_blocks_are_written_added_to_and_read(tools: dict[str, Tool]) -> None:
    assert tools["recall_memory_block"].call(name="persona")["block"] is None
    made = tools["replace_memory_block"].call(name="persona", content="Calm.", version=0)["block"]
    tools["append_memory_block"].call(name="persona", content=" Brief.")
    block = tools["recall_memory_block"].call(name="persona")["block"]
    assert "Calm." in block["content"]
    assert "Brief." in block["content"]
    assert block["version"] == made["version"] + 1


def test_messages_are_found_with_their_neighbours(memory: Memory, tools: dict[str, Tool]) -> None:
    for text in ("Good morning", "The ferry leaves at nine", "Thank you"):
        memory.add_message("user", text)
    (hit,) = tools["recall_conversation"].call(query="ferry")["found"]
    assert hit["message"]["content"] == "The ferry leaves at nine"
    assert [m["content"] for m in (*hit["before"], *hit["after"])] == ["Good morning", "Thank you"]


@pytest.mark.parametrize(
    ("name", "arguments", "says"),
    [
        ("recall_memories", {}, "'query' is missing"),
        ("recall_memories", {"query": 7}, "query must be of type string"),
        ("recall_memories", {"query": "x", "limit": True}, "limit must be of type integer"),
        ("recall_memories", {"query": "x", "wide": 1}, "unknown argument 'wide'"),
        ("forget_memory", {}, "say what to forget"),
        ("forget_memory", {"ids": [1]}, "ids must be of type array"),
        ("forget_memory", {"token": "t", "ids": ["a"]}, "the token alone"),
    ],
)
def test_wrong_arguments_are_named(
    tools: dict[str, Tool], name: str, arguments: dict[str, Any], says: str
) -> None:
    with pytest.raises(InputError, match=says):
        tools[name].call(**arguments)
