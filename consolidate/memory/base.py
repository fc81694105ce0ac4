"""What the parts of a memory share: the store, whose memory it is, the settings, the models."""

from __future__ import annotations

import threading
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from consolidate.errors import NotFoundError
from consolidate.graph.walking import Graphs
from consolidate.protocols import Embedder
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import Fact

if TYPE_CHECKING:
    from consolidate.backends import Backends
    from consolidate.memory.index import MemoryIndex

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
        self._embedder: Embedder | None = None
        self._loading = threading.Lock()
        self._index: MemoryIndex | None = None
        self.graphs = Graphs(store, clock=self.now)

    @property
    def backends(self) -> Backends:
        """The models, loaded at the first use and shared by all threads."""
        with self._loading:
            if self._backends is None:
                from consolidate.backends import Backends

                loaded = Backends.load(self.settings)
                # One embedder is enough: each holds its model in memory
                self._backends = (
                    replace(loaded, embedder=self._embedder) if self._embedder else loaded
                )
            return self._backends

    @property
    def embedder(self) -> Embedder:
        """The embedder alone: finding must not fail for the lack of another model."""
        with self._loading:
            if self._backends is not None:
                return self._backends.embedder
            if self._embedder is None:
                from consolidate.backends import Options, resolve_embedder

                options = Options.of(self.settings)
                self._embedder = resolve_embedder(self.settings.embedder, options=options)
            return self._embedder

    @property
    def index(self) -> MemoryIndex:
        """The facts in memory for finding; to be refreshed before use, under its lock."""
        with self._loading:
            if self._index is None:
                from consolidate.memory.index import MemoryIndex

                self._index = MemoryIndex(self.store, self.agent)
            return self._index

    def own(self, fact_id: str) -> Fact:
        """A fact of this agent, by id or a unique beginning of it.

        Raises:
            NotFoundError: There is none; another agent's facts are not shown.
        """
        fact = self.store.get(fact_id)
        if fact.agent != self.agent:
            raise NotFoundError(f"no fact {fact_id!r} in the memory of {self.agent!r}")
        return fact

    @staticmethod
    def now() -> datetime:
        """The one clock of a memory."""
        return datetime.now(UTC)
