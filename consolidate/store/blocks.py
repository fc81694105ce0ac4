"""Named blocks of text with a version, a limit and a past.

A block is no fact: nothing is merged, superseded or compared. Whoever writes one may say which
version the new content was made from, and is refused if another came in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any, Final

from consolidate.errors import BlockChangedError, InputError
from consolidate.store.base import Part
from consolidate.store.records import Block, BlockVersion
from consolidate.store.validation import check_name
from consolidate.times import format_time, read_time

__all__ = ["BLOCK_COLUMNS", "BLOCK_LIMIT", "BlockPart", "check_content", "check_limit"]

BLOCK_COLUMNS: Final = ("agent", "name", "content", "version", "size_limit", "updated_at")

BLOCK_LIMIT: Final = 100_000
"""Characters of a block for which no limit was set; hippo warns from so many on."""

_LARGEST_LIMIT: Final = 1_000_000
_KEPT: Final = 100
"""Earlier versions that are kept; each holds the whole content."""

_SQL: Final = f"SELECT {', '.join(BLOCK_COLUMNS)} FROM blocks"  # noqa: S608


class BlockPart(Part):
    """The store's methods for blocks."""

    def block(self, agent: str, name: str) -> Block | None:
        """Return a block, or None if the agent has none of this name."""
        row = self._db.one(f"{_SQL} WHERE agent = ? AND name = ?", (agent, name))
        return None if row is None else _block(row)

    def blocks(self, agent: str | None = None) -> list[Block]:
        """Return blocks, sorted by agent and name.

        Args:
            agent: Only this agent's; None is all.
        """
        rows = self._db.query(
            f"{_SQL} WHERE ?1 IS NULL OR agent = ?1 ORDER BY agent, name", (agent,)
        )
        return [_block(row) for row in rows]

    def write_block(
        self,
        agent: str,
        name: str,
        content: str,
        *,
        now: datetime,
        version: int | None = None,
        limit: int | None = None,
    ) -> Block:
        """Give a block new content; a block that is not there is made.

        The same content and limit again write nothing.

        Args:
            agent: Whose.
            name: Its name.
            content: All that it holds from now on.
            now: The present moment.
            version: The version that the content was made from; 0 says that there was no such
                block. None takes whatever is there.
            limit: Characters it may have from now on; None leaves the limit as it is.

        Raises:
            BlockChangedError: The block has another version.
            InputError: The content is too long or can't be stored, or a value can't be used.
        """
        check_name("agent", agent)
        check_name("block", name)
        check_content(content)
        if limit is not None:
            check_limit(limit)
        at = format_time(now)
        with self._db.atomic():
            old = self.block(agent, name)
            self._refuse_if_changed(name, old, version)
            most = limit or (old.limit if old else BLOCK_LIMIT)
            if len(content) > most:
                raise InputError(
                    f"block {name!r} may have {most} characters, and this has {len(content)}; "
                    "shorten it, or give the block another limit"
                )
            if old is not None and (old.content, old.limit) == (content, most):
                return old
            changed = old is None or old.content != content
            number = (old.version if old else 0) + changed
            since = at if old is None or changed else format_time(old.updated_at)
            if old is not None and changed:
                self._db.write(
                    "INSERT INTO block_versions (agent, name, version, content, at) "
                    "VALUES (?, ?, ?, ?, ?)",
                    (agent, name, old.version, old.content, format_time(old.updated_at)),
                )
                self._db.write(
                    "DELETE FROM block_versions WHERE agent = ? AND name = ? AND version < ?",
                    (agent, name, number - _KEPT),
                )
            self._db.write(
                "INSERT INTO blocks (agent, name, content, version, size_limit, updated_at) "
                "VALUES (?1, ?2, ?3, ?4, ?5, ?6) ON CONFLICT (agent, name) DO UPDATE SET "
                "content = ?3, version = ?4, size_limit = ?5, updated_at = ?6",
                (agent, name, content, number, most, since),
            )
            written = self.block(agent, name)
        assert written is not None  # noqa: S101  # it was written just before
        return written

    def append_block(
        self, agent: str, name: str, content: str, *, now: datetime, version: int | None = None
    ) -> Block:
        """Add lines at the end of a block; a block that is not there is made.

        Raises:
            BlockChangedError: The block has another version.
            InputError: As for `write_block`, or there is nothing to add.
        """
        check_content(content)
        if not content.strip():
            raise InputError(f"nothing to append to block {name!r}: the content is blank")
        with self._db.atomic():
            old = self.block(agent, name)
            before = old.content if old else ""
            joint = "\n" if before and not before.endswith("\n") else ""
            return self.write_block(
                agent, name, f"{before}{joint}{content}", now=now, version=version
            )

    def delete_block(self, agent: str, name: str) -> bool:
        """Delete a block with all it held before; False if there is none."""
        with self._db.atomic():
            gone = self._db.write("DELETE FROM blocks WHERE agent = ? AND name = ?", (agent, name))
            self._db.write("DELETE FROM block_versions WHERE agent = ? AND name = ?", (agent, name))
        return gone > 0

    def block_history(self, agent: str, name: str) -> list[BlockVersion]:
        """What a block has held, newest first, the present content included.

        The last hundred versions are kept.
        """
        rows = self._db.query(
            "SELECT version, content, updated_at FROM blocks WHERE agent = ?1 AND name = ?2 "
            "UNION ALL SELECT version, content, at FROM block_versions "
            "WHERE agent = ?1 AND name = ?2 ORDER BY 1 DESC",
            (agent, name),
        )
        return [
            BlockVersion(version=version, content=content, at=read_time(at))
            for version, content, at in rows
        ]

    def _refuse_if_changed(self, name: str, old: Block | None, version: int | None) -> None:
        there = old.version if old else 0
        if version is None or version == there:
            return
        has = f"has version {there} by now" if old else "does not exist"
        meant = f"version {version}" if version else "no such block (version 0)"
        raise BlockChangedError(
            f"block {name!r} {has}, and the new content was made from {meant}; read it again, "
            "nothing was changed"
        )


def check_content(content: object) -> None:
    """Refuse what can't be the content of a block.

    Raises:
        InputError: No text, or one with a NUL character or half a character.
    """
    if not isinstance(content, str):
        raise InputError(f"a block holds text, not a {type(content).__name__}")
    if "\0" in content:
        raise InputError("the content holds a NUL character; remove it")
    try:
        content.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"the content holds a lone surrogate (half a character) at {error.start}"
        ) from error


def check_limit(limit: object) -> None:
    """Refuse what can't be the limit of a block."""
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _LARGEST_LIMIT:
        raise InputError(f"limit {limit!r} is no whole number from 1 to {_LARGEST_LIMIT}")


def _block(row: Sequence[Any]) -> Block:
    agent, name, content, version, limit, updated = row
    return Block(
        agent=agent,
        name=name,
        content=content,
        version=version,
        limit=limit,
        updated_at=read_time(updated),
    )
