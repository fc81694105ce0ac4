"""How strong a memory is at a moment, and what keeps it so."""

from __future__ import annotations

from consolidate.memory.base import MemoryPart

__all__ = ["StrengthPart"]


class StrengthPart(MemoryPart):
    """A memory's verbs for strength."""
