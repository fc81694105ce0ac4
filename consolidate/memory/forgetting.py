"""Deleting for good, after a look at what would go."""

from __future__ import annotations

from consolidate.memory.base import MemoryPart

__all__ = ["ForgettingPart"]


class ForgettingPart(MemoryPart):
    """A memory's verbs for forgetting."""
