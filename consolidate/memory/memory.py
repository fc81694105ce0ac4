"""The memory as callers see it: one object with every verb."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from consolidate.memory.blocks import BlocksPart
from consolidate.memory.conversation import ConversationPart
from consolidate.memory.entities import EntitiesPart
from consolidate.memory.episodes import EpisodesPart
from consolidate.memory.forgetting import ForgettingPart
from consolidate.memory.recall import RecallPart
from consolidate.memory.remember import RememberPart
from consolidate.memory.strength import StrengthPart
from consolidate.settings import Settings, resolve
from consolidate.store import Store
from consolidate.store.validation import check_name

if TYPE_CHECKING:
    from consolidate.backends import Backends

__all__ = ["Memory"]

_PATIENCE = 60.0
"""Seconds to wait for other writers."""


class Memory(
    EpisodesPart,
    RememberPart,
    ForgettingPart,
    EntitiesPart,
    RecallPart,
    StrengthPart,
    BlocksPart,
    ConversationPart,
):
    """An agent's memory. Open it with `open_memory`; it is a context manager.

    One memory may be used from several threads. Several processes, each with a memory of its
    own, may work on one file at the same time.
    """

    @classmethod
    def open(
        cls,
        path: str | Path | None = None,
        agent_id: str = "default",
        *,
        settings: Settings | Mapping[str, Any] | None = None,
        backends: Backends | None = None,
        principal: str = "user",
        messages: str | None = None,
        create: bool = True,
        read_only: bool = False,
    ) -> Self:
        """Open a memory; see `consolidate.memory.open_memory`."""
        check_name("agent_id", agent_id)
        check_name("principal", principal)
        chosen = settings if isinstance(settings, Settings) else resolve(settings).settings
        file = chosen.database if path is None else path
        # Many agents may write at once; each waits for its turn and none should see a lock.
        store = Store.open(file, create=create, read_only=read_only, busy_timeout=_PATIENCE)
        try:
            return cls(
                store,
                agent_id,
                settings=chosen,
                backends=backends,
                principal=principal,
                messages=messages,
            )
        except BaseException:
            store.close()
            raise

    def close(self) -> None:
        """Write down what was recalled, if that can be done at once, and close the store.

        Doing it twice is fine.
        """
        self.write_uses()
        self.store.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
