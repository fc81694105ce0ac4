"""The memories that a server holds open: one for each agent, all with the same models."""

from __future__ import annotations

import threading
from pathlib import Path

from consolidate.errors import InputError
from consolidate.memory.memory import Memory
from consolidate.settings import Settings

__all__ = ["Memories"]

MOST_OPEN = 64
"""Memories held open at once; the one that was used longest ago is closed first."""


class Memories:
    """Opens memories when they are first asked for. Safe to use from several threads.

    Args:
        path: The store, one file for all agents.
        settings: For all of them.
        agent: The only agent that may be named; None lets every call name one.
    """

    def __init__(self, path: Path, settings: Settings, agent: str | None = None) -> None:
        self.path = path
        self.settings = settings
        self.agent = agent
        self._open: dict[str, Memory] = {}
        self._lock = threading.Lock()

    def of(self, agent_id: str | None) -> Memory:
        """The memory of an agent; without a name that of the server's own, or of the settings'.

        Raises:
            InputError: The server serves another agent only.
        """
        if self.agent is not None and agent_id not in (None, self.agent):
            raise InputError(f"this server serves agent {self.agent!r} only, not {agent_id!r}")
        name = agent_id or self.agent or self.settings.agent
        with self._lock:
            memory = self._open.pop(name, None)
            if memory is None:
                # Models are loaded once and shared; a memory is little more than a connection.
                known = next(iter(self._open.values()), None)
                memory = Memory.open(
                    self.path,
                    name,
                    settings=self.settings,
                    backends=known.backends if known is not None else None,
                )
            self._open[name] = memory
            if len(self._open) > MOST_OPEN:
                self._open.pop(next(iter(self._open))).close()
            return memory

    def close(self) -> None:
        """Close all; doing it twice is fine."""
        with self._lock:
            while self._open:
                self._open.popitem()[1].close()
