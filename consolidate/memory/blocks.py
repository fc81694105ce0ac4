"""Named blocks of text that an agent keeps at hand."""

from __future__ import annotations

from consolidate.memory.base import MemoryPart

__all__ = ["BlocksPart"]


class BlocksPart(MemoryPart):
    """A memory's verbs for blocks."""
