"""Reading SQLite files of other programs, as they were at one moment. They are never written."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, Final

from consolidate.errors import InputError

__all__ = ["SQLITE", "read_tables", "whole_file"]

SQLITE: Final = b"SQLite format 3\0"
"""How every SQLite file begins."""


def whole_file(path: Path) -> bytes:
    """The content of a SQLite file with what still lies in its log.

    Raises:
        InputError: It can't be read.
    """
    try:
        with (
            closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True)) as there,
            closing(sqlite3.connect(":memory:")) as copy,
        ):
            there.backup(copy)
            return bytes(copy.serialize())
    except sqlite3.Error as error:
        raise InputError(f"{str(path)!r} can't be read as an SQLite database: {error}") from error


def read_tables(data: bytes, names: Sequence[str]) -> dict[str, list[dict[str, Any]]]:
    """All rows of some tables; tables that are not there are left out.

    Args:
        data: A SQLite file.
        names: Tables, by names of this package, never input.

    Raises:
        InputError: The file is damaged.
    """
    image = bytearray(data)
    image[18:20] = b"\1\1"  # a database in memory has no log, whatever the file had
    try:
        with closing(sqlite3.connect(":memory:")) as database:
            database.deserialize(bytes(image))
            database.row_factory = sqlite3.Row
            database.execute("PRAGMA query_only = ON")
            there = {
                row[0]
                for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            return {
                name: [dict(row) for row in database.execute(f"SELECT * FROM {name}")]  # noqa: S608
                for name in names
                if name in there
            }
    except (sqlite3.Error, UnicodeDecodeError) as error:
        raise InputError(f"the SQLite database can't be read: {error}") from error
