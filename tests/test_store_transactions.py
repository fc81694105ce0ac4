"""`atomic()`: all or nothing, savepoints, the original error, and who waits for whom."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consolidate.errors import ConsolidateError, InputError, StoreError
from consolidate.store import Store
from consolidate.store.failures import FOREIGN, bad_value, translate
from consolidate.types import Alias, NewFact

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OpenStore = Callable[..., Store]


def texts(store: Store) -> set[str]:
    return {fact.text for fact in store.facts()}


def test_an_error_rolls_everything_back_and_comes_out_as_it_is(store: Store) -> None:
    error = KeyError("mine")
    with pytest.raises(KeyError) as caught, store.atomic():
        store.add([NewFact(text="one")], now=NOW)
        store.add_alias(Alias(agent="default", canonical="a", alias="b"))
        raise error
    assert caught.value is error
    assert texts(store) == set()
    assert store.aliases("default") == ()


def test_an_inner_error_that_is_caught_takes_back_only_the_inner_part(store: Store) -> None:
    with store.atomic():
        store.add([NewFact(text="outer")], now=NOW)
        with pytest.raises(ValueError, match="inner"), store.atomic():
            store.add([NewFact(text="inner")], now=NOW)
            with store.atomic():
                store.add([NewFact(text="innermost")], now=NOW)
            raise ValueError("inner")
        store.add([NewFact(text="after")], now=NOW)
    assert texts(store) == {"outer", "after"}


def test_an_outer_error_takes_back_inner_parts_that_had_ended(store: Store) -> None:
    with pytest.raises(ValueError, match="outer"), store.atomic():
        with store.atomic():
            store.add([NewFact(text="inner")], now=NOW)
        raise ValueError("outer")
    assert texts(store) == set()


def test_keyboard_interrupts_roll_back_too(store: Store) -> None:
    with pytest.raises(KeyboardInterrupt), store.atomic():
        store.add([NewFact(text="one")], now=NOW)
        raise KeyboardInterrupt
    assert texts(store) == set()
    store.add([NewFact(text="two")], now=NOW)
    assert texts(store) == {"two"}


def test_an_error_is_not_masked_when_the_transaction_is_gone_already(store: Store) -> None:
    with pytest.raises(ValueError, match="original"), store.atomic():
        store.add([NewFact(text="one")], now=NOW)
        store._db._connection.execute("ROLLBACK")
        raise ValueError("original")
    assert texts(store) == set()


def test_nothing_is_written_outside_after_a_transaction_was_lost(store: Store) -> None:
    with pytest.raises(StoreError, match="the transaction was lost"), store.atomic():
        store.add([NewFact(text="one")], now=NOW)
        store._db._connection.execute("ROLLBACK")
        store.add([NewFact(text="two")], now=NOW)
    assert texts(store) == set()
    with pytest.raises(StoreError, match="the transaction was lost"), store.atomic():
        store._db._connection.execute("ROLLBACK")
    store.add([NewFact(text="three")], now=NOW)
    assert texts(store) == {"three"}


def test_a_foreign_key_that_points_nowhere_fails_at_the_end_and_undoes_all(store: Store) -> None:
    with pytest.raises(StoreError, match="contradict itself") as caught, store.atomic():
        store.add([NewFact(text="one", id="one")], now=NOW)
        store._db.write("UPDATE facts SET superseded_by = 'nobody'")
    assert isinstance(caught.value.__cause__, sqlite3.IntegrityError)
    assert texts(store) == set()
    store.add([NewFact(text="two")], now=NOW)
    assert texts(store) == {"two"}


def test_a_write_outside_of_atomic_is_a_mistake_of_the_code(store: Store) -> None:
    with pytest.raises(RuntimeError, match=r"atomic\(\)"):
        store._db.write("DELETE FROM facts")


def test_no_write_begins_inside_a_read(store: Store) -> None:
    with store._db.reading(), pytest.raises(StoreError, match="inside a read"):
        store.add([NewFact(text="x")], now=NOW)


def test_a_second_writer_waits_and_then_says_who_and_what_to_do(
    store: Store, open_store: OpenStore
) -> None:
    other = open_store(store.path, busy_timeout=0.05)
    with store.atomic():
        store.add([NewFact(text="one")], now=NOW)
        with pytest.raises(StoreError, match=r"is busy: another process.*within 0\.05 s") as caught:
            other.add([NewFact(text="two")], now=NOW)
        assert str(store.path) in str(caught.value)
        assert other.facts() == []  # readers are not kept waiting
    other.add([NewFact(text="two")], now=NOW)
    assert texts(store) == {"one", "two"}


def test_a_busy_file_names_the_run_that_is_at_work(store: Store, open_store: OpenStore) -> None:
    other = open_store(store.path, busy_timeout=0)
    with store.lease(holder="nightly run", now=lambda: NOW), store.atomic():
        with pytest.raises(StoreError, match=r"is busy: nightly run \(pid \d+ on"):
            other.add([NewFact(text="two")], now=NOW)


def test_a_writer_that_waits_gets_its_turn(store: Store, open_store: OpenStore) -> None:
    other = open_store(store.path, busy_timeout=30)
    started = threading.Event()

    def write() -> None:
        started.set()
        other.add([NewFact(text="two")], now=NOW)

    with ThreadPoolExecutor(1) as pool:
        with store.atomic():
            store.add([NewFact(text="one")], now=NOW)
            waiting = pool.submit(write)
            started.wait(10)
        waiting.result(30)
    assert texts(store) == {"one", "two"}


def test_threads_share_a_store_without_seeing_halves(store: Store) -> None:
    def write(worker: int) -> None:
        for turn in range(20):
            with store.atomic():
                store.add([NewFact(text=f"left {worker} {turn}")], now=NOW)
                store.add([NewFact(text=f"right {worker} {turn}")], now=NOW)

    def read(_: int) -> None:
        for _turn in range(40):
            found = texts(store)
            lefts = {text.removeprefix("left") for text in found if text.startswith("left")}
            rights = {text.removeprefix("right") for text in found if text.startswith("right")}
            assert lefts == rights

    with ThreadPoolExecutor(6) as pool:
        jobs = [pool.submit(write, n) for n in range(3)] + [pool.submit(read, n) for n in range(3)]
        for job in jobs:
            job.result(60)
    assert len(store.facts()) == 120
    assert store.check() == []


def test_threads_that_add_the_same_fact_make_one(store: Store) -> None:
    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(store.add, [NewFact(text="same")], now=NOW) for _ in range(32)]
        added = [job.result(60)[0] for job in jobs]
    assert sum(each.new for each in added) == 1
    assert len({each.id for each in added}) == 1


def test_one_error_in_one_thread_leaves_the_others_alone(store: Store) -> None:
    def work(n: int) -> None:
        with store.atomic():
            store.add([NewFact(text=f"fact {n}")], now=NOW)
            if n % 2:
                raise ValueError(n)

    with ThreadPoolExecutor(8) as pool:
        jobs = [pool.submit(work, n) for n in range(40)]
        failed = [n for n, job in enumerate(jobs) if job.exception(60) is not None]
    assert failed == list(range(1, 40, 2))
    assert texts(store) == {f"fact {n}" for n in range(0, 40, 2)}


def foreign_errors() -> Iterator[type[Exception]]:
    for kind in vars(sqlite3).values():
        if isinstance(kind, type) and issubclass(kind, sqlite3.Error | sqlite3.Warning):
            yield kind


def test_every_exception_of_sqlite3_is_mapped() -> None:
    kinds = list(foreign_errors())
    assert len(kinds) >= 10
    for kind in kinds:
        assert issubclass(kind, FOREIGN)
        assert isinstance(translate(kind("x"), "f.db"), StoreError)
    for value_error in (OverflowError("x"), ValueError("x")):
        assert isinstance(bad_value(value_error), InputError)


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (sqlite3.SQLITE_BUSY, "is busy"),
        (sqlite3.SQLITE_BUSY_SNAPSHOT, "is busy"),
        (sqlite3.SQLITE_LOCKED, "is busy"),
        (sqlite3.SQLITE_READONLY_DIRECTORY, "change its permissions"),
        (sqlite3.SQLITE_CANTOPEN, "check that its folder exists"),
        (sqlite3.SQLITE_NOTADB, "name another file"),
        (sqlite3.SQLITE_CORRUPT_VTAB, "restore a copy"),
        (sqlite3.SQLITE_FULL, "make room"),
        (sqlite3.SQLITE_IOERR_READ, "disk could not be read"),
        (sqlite3.SQLITE_ERROR, "the database refused"),
    ],
)
def test_each_failure_names_the_file_and_a_way_out(code: int, words: str) -> None:
    error = sqlite3.OperationalError("text of sqlite")
    error.sqlite_errorcode = code
    message = str(translate(error, "/some/file.db", waited=5))
    assert "/some/file.db" in message
    assert words in message


def test_a_full_disk_is_said_to_be_one(store: Store) -> None:
    store.add([NewFact(text="before")], now=NOW)
    store._db.query(f"PRAGMA max_page_count = {store._db.value('PRAGMA page_count') + 2}")
    with pytest.raises(StoreError, match="the disk is full; make room"):
        store.add([NewFact(text=f"{n} " + "x" * 1000) for n in range(200)], now=NOW)
    assert texts(store) == {"before"}
    assert store.check() == []


def test_a_store_is_not_used_across_a_fork(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("consolidate.store.database.os.getpid", lambda: -1)
    with pytest.raises(StoreError, match="opened in another process"):
        store.facts()


def test_rows_written_counts_changes_and_not_the_lease(store: Store, tmp_path: Path) -> None:
    assert store.rows_written() == 0
    with store.lease(now=lambda: NOW) as lease:
        lease.renew()
    assert store.rows_written() == 0
    store.add_alias(Alias(agent="a", canonical="b", alias="c"))
    assert store.rows_written() == 1
    store.add_alias(Alias(agent="a", canonical="b", alias="c"))
    assert store.rows_written() == 1
    store.add([NewFact(text="x")], now=NOW)
    assert store.rows_written() > 1


def test_errors_of_this_package_pass_through_a_transaction(store: Store) -> None:
    for error in (StoreError("a"), InputError("b"), ConsolidateError("c")):
        with pytest.raises(type(error)) as caught, store.atomic():
            raise error
        assert caught.value is error
