"""Finding what is remembered."""

from __future__ import annotations

from consolidate.memory.base import MemoryPart

__all__ = ["RecallPart"]


class RecallPart(MemoryPart):
    """A memory's verbs for recalling."""
