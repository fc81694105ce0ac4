"""Messages of conversations: the store's own, and tables that an application keeps in the file.

Somebody else's table is only read. Its name comes from outside and ends up in SQL, so nothing but
a plain identifier is taken, and only if a table with usable columns has it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any, Final

from consolidate.errors import InputError, StoreError
from consolidate.store.base import Part
from consolidate.store.database import Database
from consolidate.store.ids import make_ids
from consolidate.store.migrations import migrate
from consolidate.store.records import Message
from consolidate.store.search import literal_pieces, match_expression, query_words
from consolidate.store.validation import check_message, check_name
from consolidate.times import format_time, parse_time

__all__ = ["MESSAGES", "MESSAGE_COLUMNS", "FoundMessage", "MessagePart", "MessageTable"]

MESSAGE_COLUMNS: Final = ("id", "agent", "conversation", "role", "content", "at")

_IDENTIFIER: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}")
_COLUMNS: Final = {
    "content": ("content", "text", "body", "message"),
    "role": ("role", "sender", "author", "speaker"),
    "at": ("at", "created_at", "timestamp", "sent_at", "time", "date"),
    "conversation": ("conversation", "conversation_id", "session_id", "thread_id", "chat_id"),
    "agent": ("agent", "agent_id"),
}
"""What a column may be called, the likeliest first."""

_SCANNED: Final = 16
"""Words that are looked for in a table without a text index."""
_LONGEST: Final = 200
"""Characters of such a word; SQLite limits patterns."""
_SNIPPET: Final = 24
"""Words of a snippet."""


@dataclass(frozen=True, kw_only=True)
class MessageTable:
    """A table with messages. Every name in it is a checked identifier."""

    name: str
    content: str
    role: str | None
    at: str | None
    conversation: str | None
    agent: str | None
    id: str
    """`id`, or `rowid` where there is no such column."""
    index: str | None
    """Its FTS5 table, with the same row numbers."""


MESSAGES: Final = MessageTable(
    name="messages",
    content="content",
    role="role",
    at="at",
    conversation="conversation",
    agent="agent",
    id="id",
    index="messages_fts",
)
"""The store's own table."""


@dataclass(frozen=True, kw_only=True)
class FoundMessage:
    """A message that a query found, with what was said around it."""

    message: Message
    snippet: str
    before: tuple[Message, ...]
    after: tuple[Message, ...]


class MessagePart(Part):
    """The store's methods for conversations."""

    def add_messages(self, agent: str, messages: Sequence[Message], *, now: datetime) -> list[str]:
        """Store messages in the order given; returns their ids.

        One with an id that is stored already is not stored again. A message without a time gets
        the present one, and one with an empty id a new id.

        Raises:
            InputError: A message can't be stored; none is.
        """
        check_name("agent", agent)
        for message in messages:
            check_message(message)
        spare = make_ids(now, len(messages))
        ids = [message.id or fresh for message, fresh in zip(messages, spare, strict=True)]
        with self._db.atomic():
            self._db.write_many(
                f"INSERT INTO messages ({', '.join(MESSAGE_COLUMNS)}) "  # noqa: S608
                "VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT (id) DO NOTHING",
                [
                    (id_, agent, m.conversation, m.role, m.content, format_time(m.at or now))
                    for id_, m in zip(ids, messages, strict=True)
                ],
            )
        return ids

    def stored_messages(self, ids: Sequence[str]) -> set[str]:
        """Which of these ids messages have already."""
        rows = self._db.query(
            "SELECT id FROM messages WHERE id IN (SELECT value FROM json_each(?))",
            (self._db.among(list(ids)),),
        )
        return {row[0] for row in rows}

    def message_table(self, name: str) -> MessageTable:
        """Look at a table that is to be searched for messages.

        Raises:
            InputError: The name is no plain identifier, there is no such table, it belongs to
                the store, or no column of it can be the content.
        """
        if name == MESSAGES.name:
            return MESSAGES
        if not isinstance(name, str) or not _IDENTIFIER.fullmatch(name):
            raise InputError(
                f"table {name!r} is no plain name; letters, digits and underscores are taken, "
                "at most 63 of them, the first no digit"
            )
        found = self._db.value(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND lower(name) = ?",
            (name.lower(),),
        )
        if found is None:
            raise InputError(f"there is no table {name!r} in {self._db.where}")
        if name.lower() in _ours() or name.lower().startswith("sqlite_"):
            raise InputError(f"table {name!r} belongs to the store; name one of your own")
        try:
            self._db.query(f'SELECT rowid FROM "{found}" LIMIT 0')  # noqa: S608
        except StoreError as error:
            raise InputError(f"table {name!r} has no row numbers (WITHOUT ROWID)") from error
        columns = {
            row[0].lower(): row[0]
            for row in self._db.query("SELECT name FROM pragma_table_info(?)", (name,))
        }
        chosen = {
            what: next((columns[each] for each in names if each in columns), None)
            for what, names in _COLUMNS.items()
        }
        if chosen["content"] is None:
            raise InputError(
                f"table {name!r} has none of the columns {', '.join(_COLUMNS['content'])}, of "
                f"which one must hold what was said; it has {', '.join(columns.values())}"
            )
        index = self._db.value(
            "SELECT name FROM sqlite_master WHERE lower(name) = ? AND sql LIKE '%using fts5%'",
            (f"{name.lower()}_fts",),
        )
        return MessageTable(
            name=str(found),
            content=chosen["content"],
            role=chosen["role"],
            at=chosen["at"],
            conversation=chosen["conversation"],
            agent=chosen["agent"],
            id=columns.get("id", "rowid"),
            index=index,
        )

    def search_messages(
        self,
        query: str,
        *,
        agent: str,
        table: MessageTable = MESSAGES,
        limit: int = 10,
        neighbours: int = 1,
    ) -> list[FoundMessage]:
        """Find messages by words, best first, whatever the query holds.

        A table without a text index is read as a whole, and messages with more of the words
        come first. Where no word is found, messages are looked for that hold a piece of the
        query literally.

        Args:
            query: What to look for.
            agent: Whose messages; a table without a column for that is all the agent's.
            table: Where.
            limit: At most so many.
            neighbours: How many messages before and after each are given along.
        """
        if limit < 0 or neighbours < 0:
            raise InputError(f"limit {limit!r} and neighbours {neighbours!r} must not be negative")
        with self._db.reading():
            found = self._by_index(query, agent, table, limit) if table.index else []
            found = found or self._by_reading(query, agent, table, limit)
            return [
                FoundMessage(
                    message=message,
                    snippet=snippet,
                    before=self._around(number, message, agent, table, neighbours, before=True),
                    after=self._around(number, message, agent, table, neighbours, before=False),
                )
                for number, message, snippet in found
            ]

    def _by_index(
        self, query: str, agent: str, table: MessageTable, limit: int
    ) -> list[tuple[int, Message, str]]:
        expression = match_expression(query)
        if expression is None:
            return []
        column = self._place(table)
        rows = self._db.query(
            f"SELECT {_fields(table)}, snippet({table.index}, ?1, '', '', '…', {_SNIPPET}) "  # noqa: S608
            f'FROM {table.index} JOIN "{table.name}" AS said '
            f"ON said.rowid = {table.index}.rowid "
            f"WHERE {table.index} MATCH ?2 AND {_mine(table, 3)} "
            f"ORDER BY bm25({table.index}), said.rowid DESC LIMIT ?4",
            (column, expression, agent, limit),
        )
        return [(row[0], _message(row), row[6]) for row in rows]

    def _place(self, table: MessageTable) -> int:
        """The number of the index's column with the content; another name means the first."""
        names = [
            row[0].lower()
            for row in self._db.query("SELECT name FROM pragma_table_info(?)", (table.index,))
        ]
        return names.index(table.content.lower()) if table.content.lower() in names else 0

    def _by_reading(
        self, query: str, agent: str, table: MessageTable, limit: int
    ) -> list[tuple[int, Message, str]]:
        pieces = literal_pieces(query) if table.index else query_words(query)
        patterns = [f"%{_escaped(piece[:_LONGEST])}%" for piece in pieces[:_SCANNED]]
        if not patterns:
            return []
        held = f"coalesce(sum(said.\"{table.content}\" LIKE pattern.value ESCAPE '!'), 0)"
        count = f"(SELECT {held} FROM json_each(?2) AS pattern)"  # noqa: S608
        rows = self._db.query(
            f'SELECT {_fields(table)} FROM "{table.name}" AS said '  # noqa: S608
            f"WHERE {_mine(table, 1)} AND {count} > 0 "
            f"ORDER BY {count} DESC, said.rowid DESC LIMIT ?3",
            (agent, self._db.among(patterns), limit),
        )
        return [(row[0], _message(row), _excerpt(row[5], pieces)) for row in rows]

    def _around(
        self,
        number: int,
        message: Message,
        agent: str,
        table: MessageTable,
        count: int,
        *,
        before: bool,
    ) -> tuple[Message, ...]:
        if not count:
            return ()
        same = "1"
        if table.conversation:
            same = f"coalesce(said.\"{table.conversation}\", '') = ?2"
        side, order = ("<", "DESC") if before else (">", "ASC")
        rows = self._db.query(
            f'SELECT {_fields(table)} FROM "{table.name}" AS said '  # noqa: S608
            f"WHERE {_mine(table, 1)} AND {same} AND said.rowid {side} ?3 "
            f"ORDER BY said.rowid {order} LIMIT ?4",
            (agent, message.conversation, number, count),
        )
        found = [_message(row) for row in rows]
        return tuple(found[::-1] if before else found)


@cache
def _ours() -> frozenset[str]:
    """Names of everything that a store has by itself."""
    database = Database.open(None, mode="rwc", busy_timeout=1)
    try:
        migrate(database)
        return frozenset(row[0] for row in database.query("SELECT lower(name) FROM sqlite_master"))
    finally:
        database.close()


def _fields(table: MessageTable) -> str:
    """Row number, id, conversation, role, time, content."""

    def column(name: str | None) -> str:
        return "NULL" if name is None else f'said."{name}"'

    id_ = "said.rowid" if table.id == "rowid" else column(table.id)
    names = (table.conversation, table.role, table.at, table.content)
    return ", ".join(["said.rowid", id_, *map(column, names)])


def _mine(table: MessageTable, parameter: int) -> str:
    if table.agent is None:
        return f"?{parameter} IS NOT NULL"
    return f'said."{table.agent}" = ?{parameter}'


def _message(row: Sequence[Any]) -> Message:
    _, id_, conversation, role, at, content = row[:6]
    return Message(
        id=str(id_),
        conversation="" if conversation is None else str(conversation),
        role="" if role is None else str(role),
        content="" if content is None else str(content),
        at=_time(at),
    )


def _time(value: Any) -> datetime | None:
    """A stranger's time, if it can be told; SQLite's own clock gives UTC without saying so."""
    if not isinstance(value, str | int | float) or isinstance(value, bool):
        return None
    try:
        return parse_time(value, zone="UTC")
    except InputError:
        return None


def _escaped(piece: str) -> str:
    return re.sub(r"([!%_])", r"!\1", piece)


def _excerpt(content: Any, pieces: Sequence[str]) -> str:
    """A piece of a message around the first thing found in it."""
    text = str(content)
    places = [at for at in (text.lower().find(piece.lower()) for piece in pieces) if at >= 0]
    start = max(0, min(places, default=0) - 60)
    cut = text[start : start + 160]
    return ("…" if start else "") + cut + ("…" if start + len(cut) < len(text) else "")
