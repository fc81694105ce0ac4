"""The schema: from every version to the newest, newer files refused, failures without a trace."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from pathlib import Path

import pytest

from consolidate.errors import MigrationError
from consolidate.store import Store
from consolidate.store.database import Database
from consolidate.store.migrations import MIGRATIONS, Migration, migrate, version_of
from consolidate.types import NewFact

OpenStore = Callable[..., Store]


def make(path: Path, version: int) -> None:
    """A file as an older version of the code left it."""
    database = Database.open(path, mode="rwc", busy_timeout=1)
    migrate(database, MIGRATIONS[:version])
    database.use_wal()
    database.close()


def schema(path: Path) -> list[tuple[str, ...]]:
    connection = sqlite3.connect(path)
    rows = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY 1, 2").fetchall()
    connection.close()
    return rows


def test_the_steps_are_numbered_without_gaps_and_named_apart() -> None:
    assert [step.version for step in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
    assert len({step.name for step in MIGRATIONS}) == len(MIGRATIONS) >= 2


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_every_version_becomes_the_newest(
    version: int, tmp_path: Path, open_store: OpenStore, now: datetime
) -> None:
    old, new = tmp_path / "old.db", tmp_path / "new.db"
    make(old, version)
    if version:
        # Facts have been there since the first step and outlive all others.
        connection = sqlite3.connect(old)
        connection.execute(
            "INSERT INTO facts (id, agent, kind, text, metadata, recorded_at, source, trust, "
            "intensity, encounters, access_count, content_hash, status) VALUES ('a', 'default', "
            "'fact', 'An old fact.', '{}', '2026-01-01T00:00:00.000000Z', 'user', 1.0, 0.5, 1, "
            "0, 'h', 'active')"
        )
        connection.commit()
        connection.close()
    store = open_store(old)
    open_store(new)
    assert schema(old) == schema(new)
    assert version_of(store._db) == len(MIGRATIONS)
    assert store.check() == []
    store.add([NewFact(text="A new fact.")], now=now)
    found = {fact.text for fact in store.search("fact")}
    assert found == {"An old fact.", "A new fact."} if version else {"A new fact."}


def test_each_step_is_recorded_once(store: Store, open_store: OpenStore) -> None:
    rows = store._db.query("SELECT version, name FROM migrations ORDER BY version")
    assert rows == [(step.version, step.name) for step in MIGRATIONS]
    open_store(store.path)
    assert store._db.value("SELECT count(*) FROM migrations") == len(MIGRATIONS)


def test_a_newer_file_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make(path, len(MIGRATIONS))
    connection = sqlite3.connect(path)
    connection.execute("INSERT INTO migrations VALUES (99, 'future', 'then')")
    connection.commit()
    connection.close()
    before = path.read_bytes()
    with pytest.raises(MigrationError, match=r"version 99.*Upgrade consolidate"):
        Store.open(path)
    assert path.read_bytes() == before


def failing(database: Database) -> None:
    database.write("CREATE TABLE half (x)")
    database.write("INSERT INTO half VALUES (1)")
    database.write("DROP TABLE facts_fts")
    database.write("CREATE TABLE half (x)")


def fine(database: Database) -> None:
    database.write("CREATE TABLE fine (x)")


@pytest.mark.parametrize("version", range(len(MIGRATIONS) + 1))
def test_a_failing_step_leaves_the_file_as_it_was(version: int, tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make(path, version)
    before = schema(path)
    content = path.read_bytes()
    steps = [
        *MIGRATIONS,
        Migration(version=len(MIGRATIONS) + 1, name="fine", run=fine),
        Migration(version=len(MIGRATIONS) + 2, name="failing", run=failing),
    ]
    database = Database.open(path, mode="rw", busy_timeout=1)
    with pytest.raises(MigrationError, match=r"\(failing\) failed, the file is as it was"):
        migrate(database, steps)
    assert version_of(database) == version
    database.close()
    assert schema(path) == before
    assert path.read_bytes() == content


def test_any_error_of_a_step_is_a_migration_error_with_its_cause(tmp_path: Path) -> None:
    def broken(database: Database) -> None:
        raise KeyError("oops")

    database = Database.open(None, mode="rwc", busy_timeout=1)
    with pytest.raises(MigrationError) as caught:
        migrate(database, [Migration(version=1, name="broken", run=broken)])
    database.close()
    assert isinstance(caught.value.__cause__, KeyError)


def test_an_older_file_is_not_touched_when_it_may_only_be_read(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    make(path, 1)
    content = path.read_bytes()
    with pytest.raises(MigrationError, match="open it once for writing"):
        Store.open(path, read_only=True)
    assert path.read_bytes() == content


def test_a_file_whose_making_was_cut_short_is_made_again(
    tmp_path: Path, open_store: OpenStore
) -> None:
    path = tmp_path / "memory.db"
    connection = sqlite3.connect(path)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.close()
    assert path.stat().st_size > 0
    assert open_store(path).check() == []
