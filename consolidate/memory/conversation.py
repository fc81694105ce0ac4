"""Messages of conversations, and finding them again.

They lie in the store's own table, or in one that the application keeps in the same file; that one
is only read.
"""

from __future__ import annotations

from datetime import datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.memory.base import MemoryPart
from consolidate.memory.records import ConversationHit
from consolidate.store import Message
from consolidate.store.messages import MESSAGES, MessageTable
from consolidate.times import parse_time

__all__ = ["ConversationPart"]


class ConversationPart(MemoryPart):
    """A memory's verbs for conversations."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._table: MessageTable = (
            MESSAGES if self.messages is None else self.store.message_table(self.messages)
        )

    def add_message(
        self,
        role: str,
        content: str,
        *,
        at: datetime | str | None = None,
        conversation: str | None = None,
    ) -> Message:
        """Keep a message, so that `recall_conversation` finds it.

        Args:
            role: Who said it: user, assistant, tool, or a name.
            content: What was said, as it was.
            at: When; None is now.
            conversation: Which conversation it belongs to; neighbours are looked for in it.

        Raises:
            InputError: A value can't be stored, or the memory searches a table of one's own.
        """
        if self._table is not MESSAGES:
            raise InputError(
                f"this memory reads messages from {self._table.name!r}; add them there, or open it "
                "without naming a table"
            )
        now = self.now()
        message = Message(
            id="",
            conversation=conversation or "",
            role=role,
            content=content,
            at=now if at is None else parse_time(at, zone=self.settings.timezone),
        )
        (id_,) = self.store.add_messages(self.agent, [message], now=now)
        return Message(
            id=id_,
            conversation=message.conversation,
            role=role,
            content=content,
            at=message.at,
        )

    def recall_conversation(
        self, query: str, *, limit: int = 10, neighbours: int = 1
    ) -> list[ConversationHit]:
        """Find messages by words, best first; any text is a safe query.

        Args:
            query: What to look for.
            limit: At most so many, 1 to 1000.
            neighbours: Messages before and after each that come along, 0 to 50.

        Raises:
            InputError: A value can't be used.
        """
        if not isinstance(query, str) or not query.strip():
            raise InputError(f"query {query!r} must be some text")
        if not 1 <= limit <= 1000 or not 0 <= neighbours <= 50:
            raise InputError(
                f"limit {limit!r} must be from 1 to 1000 and neighbours {neighbours!r} from 0 to 50"
            )
        return [
            ConversationHit(
                message=found.message,
                snippet=found.snippet,
                before=found.before,
                after=found.after,
            )
            for found in self.store.search_messages(
                query,
                agent=self.agent,
                table=self._table,
                limit=limit,
                neighbours=neighbours,
            )
        ]
