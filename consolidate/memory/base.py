"""What the parts of a memory share: the store, whose memory it is, the settings, the models."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from consolidate.settings import Settings
from consolidate.store import Store

if TYPE_CHECKING:
    from consolidate.backends import Backends

__all__ = ["MemoryPart"]


class MemoryPart:
    """A group of a memory's verbs; `Memory` is all of them over one store."""

    def __init__(
        self,
        store: Store,
        agent: str,
        *,
        settings: Settings,
        backends: Backends | None = None,
        principal: str = "user",
        messages: str | None = None,
    ) -> None:
        self.store = store
        self.agent = agent
        self.settings = settings
        self.principal = principal
        self.messages = messages
        self._backends = backends
        self._loading = threading.Lock()

    @property
    def backends(self) -> Backends:
        """The models, loaded at the first use and shared by all threads."""
        with self._loading:
            if self._backends is None:
                from consolidate.backends import Backends

                self._backends = Backends.load(self.settings)
            return self._backends

    @staticmethod
    def now() -> datetime:
        """The one clock of a memory."""
        return datetime.now(UTC)
