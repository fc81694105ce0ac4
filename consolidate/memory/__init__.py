"""Memory for an agent: what is said goes in, what holds comes out.

    from consolidate.memory import open_memory

    with open_memory("memory.db", "assistant") as memory:
        memory.remember_facts("I moved to Porto last week. I prefer tea.")

`Memory` is put together from one part a module, as the store is. The parts know the store, the
pipeline's stages and the judge; none of those knows them. Nothing heavy is imported here, and
models load when a verb first needs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from consolidate.backends import Backends
    from consolidate.memory.memory import Memory
    from consolidate.settings import Settings

__all__ = ["open_memory"]


def open_memory(
    path: str | Path | None = None,
    agent_id: str = "default",
    *,
    settings: Settings | Mapping[str, Any] | None = None,
    backends: Backends | None = None,
    principal: str = "user",
    messages: str | None = None,
    create: bool = True,
    read_only: bool = False,
) -> Memory:
    """Open an agent's memory, and make it if it is missing.

    Args:
        path: The SQLite file, or `:memory:`; None takes the one that the settings name.
        agent_id: Whose memory; nothing crosses from one agent to another.
        settings: Settings, or a mapping of those that differ from what the settings files say.
        backends: The models; None loads those that the settings name, at their first use.
        principal: Who "I" is in what is said: `user`, or a name.
        messages: A table of one's own in the same file to search for conversations; None takes
            the store's.
        create: Make the file if it is missing.
        read_only: Never write. What is recalled is then not counted as used.

    Raises:
        SettingsError: The settings can't be used.
        StoreError: The file can't be opened or is no store.
        InputError: A name can't be a name.
    """
    from consolidate.memory.memory import Memory

    return Memory.open(
        path,
        agent_id,
        settings=settings,
        backends=backends,
        principal=principal,
        messages=messages,
        create=create,
        read_only=read_only,
    )
