"""The connection: opening, transactions, the thread lock and the mapping of errors.

This module knows SQLite but no table. One connection serves all threads of a process: a lock
lets one thread in at a time, and a thread inside `atomic()` keeps it until it leaves, so nobody
sees half of another thread's transaction. Other processes are kept apart by SQLite itself (WAL:
readers never wait, a second writer waits up to the busy timeout).
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from consolidate.errors import StoreError
from consolidate.store.failures import FOREIGN, bad_value, translate

__all__ = ["Database", "shown"]

Row = tuple[Any, ...]


class Database:
    """One SQLite connection with the habits of this package. Made by `Database.open`."""

    def __init__(
        self,
        connection: sqlite3.Connection,
        *,
        path: Path | None,
        read_only: bool,
        busy_timeout: float,
    ) -> None:
        self.path = path
        self.read_only = read_only
        self.where = shown(path)
        self.who: Callable[[], str] = lambda: ""
        """Set by the store: says who is likely to hold the write lock."""
        self._connection = connection
        self._busy_timeout = busy_timeout
        self._lock = threading.RLock()
        self._depth = 0
        self._reading = False
        self._process = os.getpid()
        self._uncounted = 0

    @classmethod
    def open(cls, path: Path | None, *, mode: str, busy_timeout: float) -> Database:
        """Connect.

        Args:
            path: The file; None for a database in memory.
            mode: `ro`, `rw` or `rwc` (may create the file), or `immutable`: read a file that
                nobody can write, without helper files beside it.
            busy_timeout: Seconds to wait for another process's lock.
        """
        if path is None:
            address = "file::memory:"
        else:
            query = "mode=ro&immutable=1" if mode == "immutable" else f"mode={mode}"
            address = f"{path.absolute().as_uri()}?{query}"
        try:
            connection = sqlite3.connect(
                address,
                uri=True,
                timeout=busy_timeout,
                isolation_level=None,  # transactions are ours alone, see atomic()
                check_same_thread=False,  # the lock takes its place
            )
        except FOREIGN as error:
            raise translate(error, shown(path)) from error
        database = cls(
            connection,
            path=path,
            read_only=mode in ("ro", "immutable"),
            busy_timeout=busy_timeout,
        )
        try:
            database.query("PRAGMA foreign_keys = ON")
        except BaseException:
            database.close()
            raise
        return database

    def close(self) -> None:
        """Close the connection; doing it twice is fine."""
        with self._lock:
            try:
                self._connection.close()
            except FOREIGN as error:
                raise translate(error, self.where) from error

    # Reading

    def query(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        """Run a statement and fetch everything it gives."""
        with self._lock:
            self._check_usable()
            try:
                return self._connection.execute(sql, values).fetchall()
            except FOREIGN as error:
                raise self._failure(error) from error

    def one(self, sql: str, values: Sequence[Any] = ()) -> Row | None:
        """Run a statement and return its first row, if any."""
        rows = self.query(sql, values)
        return rows[0] if rows else None

    def value(self, sql: str, values: Sequence[Any] = ()) -> Any:
        """Run a statement that gives one value."""
        row = self.one(sql, values)
        return None if row is None else row[0]

    @staticmethod
    def among(values: Collection[str] | Collection[int]) -> str:
        """Bind any number of values as one: `... IN (SELECT value FROM json_each(?))`.

        A list of placeholders has a limit, and a temporary table would be a write.
        """
        return json.dumps(list(values))

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Let several queries see one state of the database."""
        with self._lock:
            if self._depth or self._reading:
                yield
                return
            self.query("BEGIN")
            self._reading = True
            try:
                yield
            finally:
                self._reading = False
                self._roll_back("ROLLBACK")

    # Writing

    @contextmanager
    def atomic(self, *, wait: bool = True) -> Iterator[None]:
        """Do all or nothing. Nested calls are savepoints.

        The write lock is taken at the start, so the wait for another writer happens here and
        what was read inside can't change before it is written. An error inside rolls back and
        goes on its way unchanged, whatever the rollback does. Without `wait` the call fails at
        once where another process is writing.
        """
        with self._lock:
            if self._reading:
                raise StoreError(f"{self.where}: no write can begin inside a read")
            outer = self._depth == 0
            if outer:
                # Left behind if an interrupt struck between BEGIN and the try below.
                self._roll_back("ROLLBACK")
            savepoint = f"level_{self._depth}"
            if outer:
                self._begin(wait=wait)
            else:
                self.query(f"SAVEPOINT {savepoint}")
            self._depth += 1
            try:
                yield
                self.query("COMMIT" if outer else f"RELEASE {savepoint}")
            except BaseException:
                if outer:
                    self._roll_back("ROLLBACK")
                else:
                    self._roll_back(f"ROLLBACK TO {savepoint}")
                    self._roll_back(f"RELEASE {savepoint}")
                raise
            finally:
                self._depth -= 1

    def write(self, sql: str, values: Sequence[Any] = ()) -> int:
        """Change rows inside `atomic()`; returns how many."""
        self._require_atomic()
        with self._lock:
            self._check_usable()
            try:
                return self._connection.execute(sql, values).rowcount
            except FOREIGN as error:
                raise self._failure(error) from error

    def write_many(self, sql: str, rows: Collection[Sequence[Any]]) -> int:
        """Change rows inside `atomic()`, one statement for many values; returns how many."""
        self._require_atomic()
        with self._lock:
            self._check_usable()
            try:
                return max(0, self._connection.executemany(sql, rows).rowcount)
            except FOREIGN as error:
                raise self._failure(error) from error

    def rows_written(self) -> int:
        """Rows inserted, changed and deleted by this connection, without uncounted ones."""
        with self._lock:
            self._check_usable()
            try:
                return self._connection.total_changes - self._uncounted
            except FOREIGN as error:
                raise self._failure(error) from error

    @contextmanager
    def uncounted(self) -> Iterator[None]:
        """Leave what is written inside out of `rows_written`."""
        with self._lock:
            before = self.rows_written()
            try:
                yield
            finally:
                self._uncounted += self.rows_written() - before

    def use_wal(self) -> None:
        """Switch the file to write-ahead logging; it stays so for good.

        SQLite does not wait for locks here, so two processes that make one file at the same
        moment would trip over each other without the loop.
        """
        deadline = time.monotonic() + self._busy_timeout
        while True:
            try:
                self.query("PRAGMA journal_mode = WAL")
            except StoreError:
                if time.monotonic() >= deadline:
                    raise
                time.sleep(0.01)
            else:
                return

    def _begin(self, *, wait: bool) -> None:
        if wait:
            self.query("BEGIN IMMEDIATE")
            return
        self.query("PRAGMA busy_timeout = 0")
        try:
            self.query("BEGIN IMMEDIATE")
        finally:
            self.query(f"PRAGMA busy_timeout = {int(self._busy_timeout * 1000)}")

    def rebuild(self) -> None:
        """Write the whole file anew, without the bytes of what was deleted; not in a transaction.

        Row numbers of tables without an INTEGER PRIMARY KEY may change.
        """
        with self._lock:
            if self._depth or self._reading:
                raise StoreError(f"{self.where}: the file can't be rebuilt inside a transaction")
            with self.uncounted():
                self.query("VACUUM")

    def empty_log(self) -> bool:
        """Bring the log into the file and cut it to nothing; returns whether something is left.

        Waits for other processes up to the busy timeout.
        """
        with self._lock:
            row = self.one("PRAGMA wal_checkpoint(TRUNCATE)")
            return row is not None and row[0] != 0

    def _require_atomic(self) -> None:
        if not self._depth:
            raise RuntimeError("writes belong inside atomic()")

    def _roll_back(self, sql: str) -> None:
        # SQLite may have ended the transaction itself (full disk, a conflict clause); a second
        # error here would hide the first, which is the one that matters.
        try:
            if self._connection.in_transaction:
                self._connection.execute(sql)
        except sqlite3.Error:
            pass

    def _check_usable(self) -> None:
        if self._process != os.getpid():
            raise StoreError(
                f"{self.where}: the store was opened in another process; open it again here"
            )
        try:
            lost = self._depth > 0 and not self._connection.in_transaction
        except sqlite3.Error as error:
            raise self._failure(error) from error
        if lost:
            # Going on would write the rest outside of any transaction.
            raise StoreError(f"{self.where}: the transaction was lost; nothing was changed")

    def _failure(self, error: Exception) -> Exception:
        if not isinstance(error, sqlite3.Error | sqlite3.Warning):
            return bad_value(error)
        return translate(error, self.where, waited=self._busy_timeout, who=self._who())

    def _who(self) -> str:
        who, self.who = self.who, lambda: ""  # the answer needs a query, which may fail as well
        try:
            return who()
        except StoreError:
            return ""
        finally:
            self.who = who


def shown(path: Path | None) -> str:
    """A path as messages show it: also one whose bytes are no text can be printed."""
    if path is None:
        return ":memory:"
    return str(path).encode("utf-8", "backslashreplace").decode()
