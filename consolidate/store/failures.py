"""The one place where errors of `sqlite3` become errors of this package.

Nothing outside the store ever sees a `sqlite3` exception; the original stays attached as the
cause. Each message names the file and a way out.
"""

from __future__ import annotations

import sqlite3

from consolidate.errors import ConsolidateError, InputError, StoreError

__all__ = ["FOREIGN", "bad_value", "translate"]

FOREIGN = (sqlite3.Error, sqlite3.Warning, UnicodeEncodeError, OverflowError, ValueError)
"""What a call into `sqlite3` may raise. The last three come from binding a value: half a
character, a number beyond 64 bits, or a path with a NUL."""


def translate(error: Exception, where: str, *, waited: float = 0.0, who: str = "") -> StoreError:
    """Say in the package's words what went wrong.

    Args:
        error: One of `FOREIGN`.
        where: The file, or `:memory:`.
        waited: Seconds the call was ready to wait for a lock.
        who: What is known about who holds the lock.
    """
    code = _code(error)
    advice = _ADVICE.get(code)
    if code in (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED):
        owner = who or "another process (or an open database browser)"
        return StoreError(
            f"{where} is busy: {owner} is writing and did not finish within {waited:g} s; "
            "nothing was changed. Try again later, or end that process"
        )
    if advice:
        return StoreError(f"{where}: {advice} ({error})")
    if isinstance(error, sqlite3.ProgrammingError) and "closed" in str(error):
        return StoreError(f"{where}: the store is closed; open it again")
    if isinstance(error, sqlite3.IntegrityError):
        return StoreError(
            f"{where}: refused, since the store would contradict itself ({error}); "
            "nothing was changed"
        )
    return StoreError(f"{where}: the database refused ({error}); nothing was changed")


def bad_value(error: Exception) -> ConsolidateError:
    """The error for a value that SQLite can't hold at all."""
    if isinstance(error, UnicodeEncodeError):
        return InputError(f"{error.object[:40]!r} holds a lone surrogate (half a character)")
    return InputError(f"a value is outside what the database can hold: {error}")


def _code(error: Exception) -> int:
    """The primary result code; extended codes carry it in their low byte."""
    return int(getattr(error, "sqlite_errorcode", 0) or 0) & 0xFF


_ADVICE = {
    sqlite3.SQLITE_READONLY: (
        "the file or its folder can't be written; change its permissions or copy it to a "
        "folder of your own"
    ),
    sqlite3.SQLITE_PERM: "access is denied; change the permissions of the file",
    sqlite3.SQLITE_CANTOPEN: (
        "the file can't be opened; check that its folder exists and can be written, "
        "as SQLite keeps two helper files beside it"
    ),
    sqlite3.SQLITE_NOTADB: "this is not an SQLite database; name another file",
    sqlite3.SQLITE_CORRUPT: (
        "the file is damaged or cut; restore a copy, or rescue what is left with "
        "`sqlite3 FILE .recover`"
    ),
    sqlite3.SQLITE_FULL: "the disk is full; make room and try again",
    sqlite3.SQLITE_IOERR: "the disk could not be read or written",
    sqlite3.SQLITE_NOMEM: "there is not enough memory",
    sqlite3.SQLITE_TOOBIG: "a value is too big for the database",
    sqlite3.SQLITE_PROTOCOL: "the locks of this file system don't work; use a local disk",
}
