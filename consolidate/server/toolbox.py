"""Which tools a server has: three groups, of which one may choose to spare a client's context."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final, Literal, get_args

from consolidate.errors import InputError
from consolidate.memory.entity_tools import entity_tools
from consolidate.memory.episode_tools import episode_tools
from consolidate.memory.memory import Memory
from consolidate.memory.pin_tools import pin_tools
from consolidate.memory.tools import Tool, create_tools
from consolidate.server.hippo import STANDS_FOR, hippo_tools
from consolidate.server.runs import run_tools
from consolidate.stages.work import Progress, silent

__all__ = ["GROUPS", "Group", "groups_of", "to_list", "toolbox"]

Group = Literal["memory", "entities", "maintenance"]
"""Remembering and recalling; who and what it is about; consolidating and looking after it."""

GROUPS: Final[tuple[Group, ...]] = get_args(Group)


def toolbox(
    memory: Memory,
    progress: Progress = silent,
    *,
    groups: Collection[Group] = GROUPS,
    hippo: bool = False,
) -> dict[str, Tool]:
    """The tools of a memory, by name.

    Args:
        memory: Whose.
        progress: Told how far a run is.
        groups: Which groups of them.
        hippo: Also those with HippoAgent's names.
    """
    tools: list[Tool] = []
    if "memory" in groups:
        tools += [*create_tools(memory), *pin_tools(memory), *episode_tools(memory)]
    if "entities" in groups:
        tools += entity_tools(memory)
    if "maintenance" in groups:
        tools += run_tools(memory, progress)
    made = {tool.name: tool for tool in tools}
    if hippo:
        made |= {tool.name: tool for tool in hippo_tools(memory, made)}
    return made


def to_list(tools: Mapping[str, Tool]) -> list[Tool]:
    """Those that clients see: what another stands for answers, but is not listed twice."""
    replaced = {STANDS_FOR[name] for name in tools if name in STANDS_FOR}
    return [tool for name, tool in tools.items() if name not in replaced]


def groups_of(wanted: str) -> tuple[Group, ...]:
    """Read a list of groups with commas between; `all` is all.

    Raises:
        InputError: A group is unknown, or none is named.
    """
    named = [part.strip() for part in wanted.split(",") if part.strip()]
    unknown = [each for each in named if each not in (*GROUPS, "all")]
    if unknown or not named:
        which = f"{unknown[0]!r} is not" if unknown else "nothing is"
        raise InputError(f"tools {wanted!r}: {which} one of all, {', '.join(GROUPS)}")
    return tuple(group for group in GROUPS if group in named or "all" in named)
