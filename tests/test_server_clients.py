"""The server with the official client, over each transport, as real processes."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.sse import sse_client
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from server_process import command, environment, served

from consolidate.store import Store
from consolidate.types import NewFact

EIGHT = {
    "remember_facts",
    "store_memory",
    "recall_memories",
    "recall_memory_block",
    "replace_memory_block",
    "append_memory_block",
    "forget_memory",
    "recall_conversation",
}
PIPELINE = {
    "plan",
    "apply",
    "run",
    "undo",
    "review_list",
    "review_accept",
    "review_reject",
    "history",
    "report",
}
ENTITIES = {
    "entity_get",
    "entity_list",
    "entity_neighbors",
    "entity_alias",
    "entity_merge",
    "entity_split",
    "entity_rename",
    "ppr_retrieve",
    "extract_entities",
    "facts_list",
    "facts_search",
    "lineage_trace",
    "validate_claim",
}


@asynccontextmanager
async def over_stdio(database: Path, *options: str) -> AsyncIterator[ClientSession]:
    program, *arguments = command(database, *options)
    how = StdioServerParameters(
        command=program,
        args=arguments,
        env=environment(database.parent),
        cwd=str(database.parent),
    )
    async with stdio_client(how) as (reading, writing):
        async with ClientSession(reading, writing) as session:
            await session.initialize()
            yield session


@asynccontextmanager
async def over_http(address: str) -> AsyncIterator[ClientSession]:
    async with streamable_http_client(f"{address}/mcp") as streams:
        async with ClientSession(streams[0], streams[1]) as session:
            await session.initialize()
            yield session


@asynccontextmanager
async def over_sse(address: str) -> AsyncIterator[ClientSession]:
    async with sse_client(f"{address}/sse") as (reading, writing):
        async with ClientSession(reading, writing) as session:
            await session.initialize()
            yield session


async def _lifetime(session: ClientSession) -> None:
    """Everything a client does in a day."""
    tools = {tool.name: tool for tool in (await session.list_tools()).tools}
    assert EIGHT | PIPELINE | ENTITIES <= set(tools)
    hints = tools["recall_memories"].annotations
    assert hints is not None
    assert hints.read_only_hint
    hints = tools["forget_memory"].annotations
    assert hints is not None
    assert hints.destructive_hint
    assert "agent_id" in tools["plan"].input_schema["properties"]
    assert all(tool.output_schema and tool.output_schema["properties"] for tool in tools.values())

    told = await _call(session, "remember_facts", text="Ines lives in Porto. She has two cats.")
    assert {fact["action"] for fact in told["facts"]} == {"added"}
    found = (await _call(session, "recall_memories", query="Where does Ines live?"))["found"]
    assert any("Porto" in fact["text"] for fact in found)
    other = await _call(session, "recall_memories", query="Ines", agent_id="somebody else")
    assert other["found"] == []

    plan = await _call(session, "plan")
    run = await _call(session, "run")
    assert run["count"] == plan["count"]
    assert (await _call(session, "review_list"))["reviews"] is not None
    assert (await _call(session, "history", fact=found[0]["id"]))["fact"]["id"] == found[0]["id"]

    await _call(session, "replace_memory_block", name="persona", content="Calm.")
    block = await session.read_resource("memory://blocks/persona")
    assert getattr(block.contents[0], "text", "") == "Calm."
    prompt = await session.get_prompt("check-in")
    assert prompt.messages

    refused = await session.call_tool("recall_memories", {"query": 5})
    assert refused.is_error
    assert refused.structured_content is not None
    assert refused.structured_content["error"]["code"] == "invalid_input"
    missing = await session.call_tool("history", {"fact": "nothing-like-it"})
    assert missing.structured_content is not None
    assert missing.structured_content["error"]["code"] == "not_found"


async def _call(session: ClientSession, tool: str, /, **arguments: Any) -> dict[str, Any]:
    answer = await session.call_tool(tool, arguments)
    assert not answer.is_error, answer.content
    assert answer.structured_content is not None
    assert json.loads(getattr(answer.content[0], "text", "")) == answer.structured_content
    content: dict[str, Any] = answer.structured_content
    return content


def test_a_client_over_stdio(tmp_path: Path) -> None:
    async def go() -> None:
        async with over_stdio(tmp_path / "m.db") as session:
            await _lifetime(session)

    anyio.run(go)


@pytest.mark.parametrize("connect", [over_http, over_sse], ids=["streamable http", "sse"])
def test_a_client_over_http(tmp_path: Path, connect: Callable[[str], Any]) -> None:
    with served(tmp_path / "m.db") as (address, _):

        async def go() -> None:
            async with connect(address) as session:
                await _lifetime(session)

        anyio.run(go)


def test_many_clients_on_one_store_and_one_that_leaves(tmp_path: Path) -> None:
    with served(tmp_path / "m.db") as (address, _):

        async def one(number: int) -> None:
            async with over_http(address) as session:
                content = f"Note {number} of the client"
                await _call(session, "store_memory", content=content)
                found = await _call(session, "recall_memories", query=content, limit=50)
                assert any(fact["text"] == content for fact in found["found"])

        async def leaving() -> None:
            with anyio.move_on_after(0.5):
                async with over_http(address) as session:
                    await session.call_tool("run", {})
                    raise RuntimeError("leaves without a word")

        async def ignoring(what: Callable[[], Awaitable[None]]) -> None:
            try:
                await what()
            except BaseExceptionGroup:
                pass
            except RuntimeError:
                pass

        async def go() -> None:
            async with anyio.create_task_group() as group:
                group.start_soon(ignoring, leaving)
                for number in range(6):
                    group.start_soon(one, number)
            async with over_http(address) as session:
                found = await _call(session, "recall_memories", query="Note client", limit=50)
                assert len(found["found"]) == 6

        anyio.run(go)


def test_a_server_of_one_agent_serves_no_other(tmp_path: Path) -> None:
    async def go() -> None:
        async with over_stdio(tmp_path / "m.db", "--only", "ada") as session:
            tools = (await session.list_tools()).tools
            assert all("agent_id" not in tool.input_schema["properties"] for tool in tools)
            await _call(session, "store_memory", content="Mine.")
            refused = await session.call_tool("plan", {"agent_id": "bob"})
            assert refused.is_error

    anyio.run(go)


def test_a_client_sees_the_groups_of_tools_that_were_chosen(tmp_path: Path) -> None:
    async def go() -> None:
        async with over_stdio(tmp_path / "m.db", "--tools", "entities") as session:
            tools = {tool.name for tool in (await session.list_tools()).tools}
            assert tools >= ENTITIES
            assert not tools & (EIGHT | PIPELINE)
            refused = await session.call_tool("forget_memory", {"ids": ["a"]})
            assert refused.is_error
            unknown = await _call(session, "entity_get", name="Marie Curie")
            assert unknown["entity"] is None

    anyio.run(go)


def test_progress_is_told_to_who_asks_for_it(tmp_path: Path) -> None:
    now = datetime(2026, 3, 1, 12, tzinfo=UTC)
    with Store.open(tmp_path / "m.db") as store:
        texts = [f"Ada runs job {number} at night." for number in range(40)]
        store.add([NewFact(text=text, stated_at=now) for text in texts], now=now)

    async def go() -> None:
        heard: list[float] = []

        async def hear(progress: float, total: float | None, message: str | None) -> None:
            heard.append(progress)

        async with over_stdio(tmp_path / "m.db") as session:
            answer = await session.call_tool("run", {}, progress_callback=hear)
            assert not answer.is_error
        assert heard

    anyio.run(go)
