"""Taking in what is said."""

from __future__ import annotations

from consolidate.memory.base import MemoryPart

__all__ = ["RememberPart"]


class RememberPart(MemoryPart):
    """A memory's verbs for remembering."""
