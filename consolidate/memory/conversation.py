"""Messages of conversations, and finding them again."""

from __future__ import annotations

from consolidate.memory.base import MemoryPart

__all__ = ["ConversationPart"]


class ConversationPart(MemoryPart):
    """A memory's verbs for conversations."""
