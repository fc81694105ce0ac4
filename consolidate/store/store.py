"""The store as the rest of the package sees it: one object, one SQLite file."""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from pathlib import Path
from types import TracebackType

from consolidate.errors import NotFoundError, StoreError
from consolidate.store.attempts import AttemptPart
from consolidate.store.blocks import BlockPart
from consolidate.store.database import Database, shown
from consolidate.store.entities import EntityPart
from consolidate.store.erasing import ErasePart
from consolidate.store.facts import FactPart
from consolidate.store.histories import HistoryPart
from consolidate.store.leases import LeasePart, holder_of
from consolidate.store.maintenance import MaintenancePart
from consolidate.store.messages import MessagePart
from consolidate.store.migrations import migrate, version_of
from consolidate.store.nearby import NearbyPart
from consolidate.store.passages import PassagePart
from consolidate.store.recalling import RecallPart
from consolidate.store.registry import RegistryPart
from consolidate.store.tokens import TokenPart
from consolidate.store.tombstones import TombstonePart
from consolidate.store.walks import WalkPart
from consolidate.store.whole_runs import WholeRunPart

__all__ = ["Store"]


class Store(
    FactPart,
    PassagePart,
    BlockPart,
    ErasePart,
    TokenPart,
    TombstonePart,
    NearbyPart,
    HistoryPart,
    AttemptPart,
    EntityPart,
    RegistryPart,
    WholeRunPart,
    LeasePart,
    MaintenancePart,
    RecallPart,
    MessagePart,
    WalkPart,
):
    """A memory in one SQLite file. Open it with `Store.open`; it is a context manager.

    One store may be used from several threads: they share one connection behind a lock, and a
    thread inside `atomic()` keeps the others waiting until it leaves. Several processes may
    open the same file: readers never wait, writers wait for each other up to the busy timeout.
    A store does not survive a fork; open it again in the child. Coroutines of one thread share
    its place behind the lock, so nothing may be awaited inside `atomic()`.

    Every failure is a `StoreError` (or an `InputError` for a value that can't be stored); no
    exception of `sqlite3` comes out.
    """

    def __init__(self, database: Database) -> None:
        self._db = database
        self._db.who = lambda: holder_of(database)
        self._opened_with = database.rows_written()

    @classmethod
    def open(
        cls,
        path: str | Path,
        *,
        create: bool = True,
        read_only: bool = False,
        busy_timeout: float = 5.0,
    ) -> Store:
        """Open a store, make it if it is missing, and bring its schema up to date.

        Opening one that is up to date only reads.

        Args:
            path: The file, or `:memory:`.
            create: Make the file and its folders if they are missing.
            read_only: Never write: not even a new schema, and every change is refused. The only
                way to read a store in a folder that can't be written.
            busy_timeout: Seconds to wait while another process writes.

        Raises:
            NotFoundError: There is no store and `create` is false.
            MigrationError: The file is newer than this code.
            StoreError: The file can't be opened or is no store; says why and what to do.
        """
        file = None if str(path) == ":memory:" else Path(path)
        fresh = file is None or _look_at(file, create=create and not read_only)
        mode = "ro" if read_only else "rwc" if fresh else "rw"
        try:
            return cls._open(file, mode, create=create, busy_timeout=busy_timeout)
        except NotFoundError:
            raise
        except StoreError:
            # Beside a file in a folder that can't be written SQLite can't keep its helper
            # files. Without a log there is nothing unread in one, so the file alone will do.
            if not read_only or file is None or not _lies_still(file):
                raise
            return cls._open(file, "immutable", create=create, busy_timeout=busy_timeout)

    @classmethod
    def _open(cls, file: Path | None, mode: str, *, create: bool, busy_timeout: float) -> Store:
        database = Database.open(file, mode=mode, busy_timeout=busy_timeout)
        try:
            if database.read_only or not create:
                if version_of(database) == 0:
                    raise NotFoundError(_missing(database.where, "is empty"))
            migrate(database)
            if file is not None and not database.read_only:
                if database.value("PRAGMA journal_mode") != "wal":
                    database.use_wal()
        except BaseException:
            database.close()
            raise
        return cls(database)

    @property
    def path(self) -> Path | None:
        """The file; None in memory."""
        return self._db.path

    def close(self) -> None:
        """Close the file; doing it twice is fine."""
        self._db.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @property
    def read_only(self) -> bool:
        """Whether this store refuses every change."""
        return self._db.read_only

    def atomic(self, *, wait: bool = True) -> AbstractContextManager[None]:
        """Make what is done inside all or nothing; nested calls are savepoints.

        The write lock is taken at the start. An error inside rolls back and is raised as it is.

        Args:
            wait: False fails at once, with a `StoreError`, where another process is writing.
        """
        return self._db.atomic(wait=wait)

    def rows_written(self) -> int:
        """Rows inserted, changed or deleted through this store since it was opened.

        Those that the lease writes about itself are not counted; those of caches are, and those
        of a transaction that was rolled back too.
        """
        return self._db.rows_written() - self._opened_with


def _look_at(file: Path, *, create: bool) -> bool:
    """Check the path before SQLite does; returns whether the file is still to be made."""
    where = shown(file)
    if "\0" in where:
        raise StoreError(f"{where!r} is no path: it holds a NUL character")
    try:
        if file.is_dir():
            raise StoreError(f"{where} is a folder; name a file in it, e.g. {where}/memory.db")
        if file.exists():
            if not file.is_file():
                raise StoreError(f"{where} is no regular file; name another one")
            return False
        if not create:
            raise NotFoundError(_missing(where, "does not exist"))
        file.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(
            f"{where} can't be opened: {error.strerror or error}; name another path or change "
            "the permissions"
        ) from error
    return True


def _lies_still(file: Path) -> bool:
    """Whether no other process has written something that is not in the file yet."""
    if os.access(file.parent, os.W_OK):
        return False
    log = file.with_name(file.name + "-wal")
    try:
        return not log.exists() or log.stat().st_size == 0
    except OSError:
        return False


def _missing(where: str, why: str) -> str:
    return f"no store at {where}: it {why}; make one with `consolidate init` or name another file"
