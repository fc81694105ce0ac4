"""Brings a file's schema up to date, in numbered steps (`steps`, `later_steps`).

All steps that a file lacks run in one transaction together with the record that they ran, so a
failing one leaves the file as it was. A file that knows more steps than this code is refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from functools import cache

from consolidate.errors import MigrationError, StoreError
from consolidate.store.database import Database
from consolidate.store.later_steps import MIGRATIONS
from consolidate.store.steps import APPLICATION_ID, Migration
from consolidate.times import format_time

__all__ = ["APPLICATION_ID", "MIGRATIONS", "Migration", "migrate", "own_tables", "version_of"]


def version_of(database: Database) -> int | None:
    """The schema version of a file; 0 if it is empty, None if it is some other database."""
    with database.reading():
        if database.value("SELECT count(*) FROM sqlite_master") == 0:
            return 0
        if database.value("PRAGMA application_id") != APPLICATION_ID:
            return None
        return int(database.value("SELECT max(version) FROM migrations") or 0)


@cache
def own_tables() -> frozenset[str]:
    """Names of all tables that a store of the newest version has by itself."""
    database = Database.open(None, mode="rwc", busy_timeout=1)
    try:
        migrate(database)
        rows = database.query("SELECT name FROM sqlite_master WHERE type = 'table'")
    finally:
        database.close()
    return frozenset(row[0] for row in rows)


def migrate(database: Database, steps: Sequence[Migration] | None = None) -> int:
    """Bring a file up to date; one that is current is only read.

    Returns:
        How many steps ran.

    Raises:
        MigrationError: The file is newer than this code, or a step failed.
        StoreError: The file is another program's database.
    """
    steps = MIGRATIONS if steps is None else steps
    pending = _pending(database, steps)
    if not pending:
        return 0
    if database.read_only:
        raise MigrationError(
            f"{database.where} has an older schema ({pending[0].version - 1}) and may only be "
            "read; open it once for writing to bring it up to date"
        )
    with database.atomic():
        # Another process may have done it while this one waited for the lock.
        pending = _pending(database, steps)
        for step in pending:
            _run(database, step)
    return len(pending)


def _pending(database: Database, steps: Sequence[Migration]) -> list[Migration]:
    version = version_of(database)
    if version is None:
        raise StoreError(
            f"{database.where} is an SQLite database, but not a consolidate store; "
            "name another file, nothing in this one was changed"
        )
    newest = steps[-1].version if steps else 0
    if version > newest:
        raise MigrationError(
            f"{database.where} has schema version {version}; this version of consolidate knows "
            f"only up to {newest}. Upgrade consolidate, the file was not changed"
        )
    return [step for step in steps if step.version > version]


def _run(database: Database, step: Migration) -> None:
    try:
        step.run(database)
        database.write(
            "INSERT INTO migrations (version, name, applied_at) VALUES (?, ?, ?)",
            (step.version, step.name, format_time(datetime.now(UTC))),
        )
    except Exception as error:
        raise MigrationError(
            f"{database.where}: migration {step.version} ({step.name}) failed, the file is as "
            f"it was: {error}"
        ) from error
