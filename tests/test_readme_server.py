"""Each client's configuration in the README starts a server that answers."""

from __future__ import annotations

import json
import os
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import anyio
import pytest
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client
from server_process import ROOT, environment


def _section() -> str:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    return text.split("## As an MCP server\n", 1)[1].split("\n## ", 1)[0]


def _entries(found: Any) -> list[dict[str, Any]]:
    """The servers of a configuration, wherever in it they stand."""
    if not isinstance(found, dict):
        return []
    if "command" in found:
        return [found]
    return [each for value in found.values() for each in _entries(value)]


def _commands() -> list[list[str]]:
    blocks = re.findall(r"```(\w+)\n(.*?)```", _section(), re.DOTALL)
    commands = []
    for language, body in blocks:
        if language == "json":
            commands += [[e["command"], *e["args"]] for e in _entries(json.loads(body))]
        else:
            commands.append(shlex.split(body.split(" -- ", 1)[1]))
    return commands


COMMANDS = _commands()


def test_there_is_one_for_each_client() -> None:
    assert len(COMMANDS) == 4
    for client in ("Claude Code", "Claude Desktop", "Cursor", "VS Code", "Any other client"):
        assert client in _section()


@pytest.mark.skipif(os.name == "nt", reason="the stand-in for the command is a shell script")
@pytest.mark.parametrize("command", COMMANDS, ids=" ".join)
def test_the_command_serves(tmp_path: Path, command: list[str]) -> None:
    assert command[0] == "consolidate"
    env = environment(tmp_path, CONSOLIDATE_DB=str(tmp_path / "store.db"))
    script = tmp_path / "bin" / "consolidate"
    script.parent.mkdir()
    script.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m consolidate "$@"\n', encoding="utf-8")
    script.chmod(0o755)
    env["PATH"] = os.pathsep.join([str(script.parent), os.environ["PATH"]])
    how = StdioServerParameters(command=command[0], args=command[1:], env=env, cwd=str(tmp_path))

    async def go() -> None:
        async with stdio_client(how) as (reading, writing):
            async with ClientSession(reading, writing) as session:
                await session.initialize()
                assert len((await session.list_tools()).tools) >= 8

    anyio.run(go)
