"""Clearing the bytes of deleted rows out of the file and its log.

SQLite marks the place of a deleted row as free and leaves its bytes there. `scrub` rebuilds the
file and empties the log; until it has, the store remembers that this is still to be done.
"""

from __future__ import annotations

from typing import Final

from consolidate.errors import StoreError
from consolidate.store.base import Part

__all__ = ["ScrubPart"]

_SCRUB_DUE: Final = "scrub_due"


class ScrubPart(Part):
    """The store's methods for scrubbing."""

    @property
    def scrub_due(self) -> bool:
        """Whether bytes of deleted facts may still be in the file or its log."""
        return bool(self._db.one("SELECT 1 FROM meta WHERE key = ?", (_SCRUB_DUE,)))

    def scrub(self) -> str:
        """Rebuild the file without its unused pages and empty the log.

        Takes about as long as copying the file, and as much room beside it.

        Returns:
            Empty if it is done, or why it could not be: another process reads an older state,
            or a table of somebody else's in the file forbids it. It can be tried again at any
            time.
        """
        if self._db.path is None:
            self._forget_scrub()
            return ""
        strangers = self._tables_that_forbid()
        if strangers:
            return (
                f"the table {strangers[0]!r} in {self._db.where} has no INTEGER PRIMARY KEY, so "
                "rebuilding the file could change its row numbers; bytes of what was deleted "
                "stay until they are written over"
            )
        try:
            self._db.rebuild()
            busy = self._db.empty_log()
        except StoreError as error:
            return f"bytes of what was deleted are still in the file: {error}"
        if busy:
            return (
                "bytes of what was deleted are still in the log of the file, since another "
                "process reads it; `consolidate forget --scrub` ends it later"
            )
        self._forget_scrub()
        return ""

    def _ask_for_scrub(self) -> None:
        self._db.write(
            "INSERT INTO meta (key, value) VALUES (?, '1') ON CONFLICT DO NOTHING", (_SCRUB_DUE,)
        )

    def _forget_scrub(self) -> None:
        if self.scrub_due:
            with self._db.atomic():
                self._db.write("DELETE FROM meta WHERE key = ?", (_SCRUB_DUE,))

    def _tables_that_forbid(self) -> list[str]:
        """Tables that are not the store's and whose row numbers SQLite may change."""
        from consolidate.store.migrations import own_tables  # it imports half of this folder

        rows = self._db.query(
            "SELECT name FROM sqlite_master WHERE type = 'table' AND rootpage > 0 "
            "AND name NOT LIKE 'sqlite!_%' ESCAPE '!' AND sql NOT LIKE '%without%rowid%'"
        )
        found = []
        for (name,) in rows:
            keys = self._db.query(
                "SELECT upper(type) FROM pragma_table_info(?) WHERE pk > 0", (name,)
            )
            if name not in own_tables() and [row[0] for row in keys] != ["INTEGER"]:
                found.append(name)
        return sorted(found)
