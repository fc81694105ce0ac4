"""The lease: one run at a time, and a dead run does not block for long."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import pytest

from consolidate.errors import InputError, LeaseHeldError, StoreError
from consolidate.store import Store

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
OpenStore = Callable[..., Store]


class Clock:
    """A clock that stands still until moved."""

    def __init__(self) -> None:
        self.time = NOW

    def __call__(self) -> datetime:
        return self.time

    def move(self, seconds: float) -> None:
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def other(store: Store, open_store: OpenStore) -> Store:
    return open_store(store.path)


def rewrite(store: Store, **values: object) -> None:
    """Make the lease look as if someone else held it."""
    with store.atomic():
        for column, value in values.items():
            store._db.write(f"UPDATE lease SET {column} = ?", (value,))  # noqa: S608


def dead_pid() -> int:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait()
    return child.pid


def test_a_second_lease_is_refused_with_who_and_until_when(
    store: Store, other: Store, clock: Clock
) -> None:
    with store.lease(holder="nightly", now=clock):
        for second in (store, other):
            with pytest.raises(LeaseHeldError) as caught, second.lease(now=clock):
                pytest.fail("two at once")
        message = str(caught.value)
        assert f"nightly (pid {os.getpid()} on " in message
        assert "since 2026-03-01T12:00:00" in message
        assert "until 2026-03-01T12:01:00" in message
        assert str(store.path) in message
    with other.lease(now=clock):
        pass


def test_a_lease_is_given_back_after_an_error_which_comes_out_as_it_is(
    store: Store, other: Store, clock: Clock
) -> None:
    error = ValueError("mine")
    with pytest.raises(ValueError, match="mine") as caught, store.lease(now=clock):
        raise error
    assert caught.value is error
    with other.lease(now=clock):
        pass


def test_an_error_is_not_masked_when_the_lease_can_not_be_given_back(
    store: Store, clock: Clock
) -> None:
    with pytest.raises(ValueError, match="mine"), store.lease(now=clock):
        store.close()
        raise ValueError("mine")


def test_writers_are_not_kept_out_by_a_lease(store: Store, other: Store, clock: Clock) -> None:
    from consolidate.types import NewFact

    with store.lease(now=clock):
        other.add([NewFact(text="x")], now=NOW)
    assert len(store.facts()) == 1


def test_a_lease_that_ran_out_is_taken_over(store: Store, other: Store, clock: Clock) -> None:
    with store.lease(seconds=60, now=clock) as mine:
        clock.move(59.9)
        with pytest.raises(LeaseHeldError), other.lease(now=clock):
            pytest.fail("too early")
        clock.move(0.2)
        with other.lease(holder="second", now=clock):
            with pytest.raises(LeaseHeldError, match=r"ran out and was taken by second \(pid"):
                mine.renew()
        with pytest.raises(LeaseHeldError, match="ran out and was given up"):
            mine.renew()


def test_the_end_of_a_lease_that_was_taken_over_does_not_end_the_other(
    store: Store, other: Store, open_store: OpenStore, clock: Clock
) -> None:
    first = store.lease(seconds=60, now=clock)
    first.__enter__()
    clock.move(61)
    with other.lease(now=clock):
        first.__exit__(None, None, None)
        with pytest.raises(LeaseHeldError), open_store(store.path).lease(now=clock):
            pytest.fail("the second lease was ended by the first")


def test_renewing_moves_the_end(store: Store, other: Store, clock: Clock) -> None:
    with store.lease(seconds=60, now=clock) as lease:
        for _ in range(5):
            clock.move(50)
            lease.renew()
        clock.move(50)
        with pytest.raises(LeaseHeldError, match="since 2026-03-01T12:00:00"):
            other.lease(now=clock).__enter__()


def test_a_lease_whose_process_is_gone_is_taken_over_at_once(
    store: Store, other: Store, clock: Clock
) -> None:
    with store.lease(now=clock):
        rewrite(store, pid=dead_pid())
        with other.lease(now=clock):
            pass


@pytest.mark.parametrize("elsewhere", ["host", "boot"])
def test_a_process_of_another_machine_is_not_judged_by_its_number(
    store: Store, other: Store, clock: Clock, elsewhere: str
) -> None:
    with store.lease(seconds=60, now=clock):
        rewrite(store, pid=dead_pid(), **{elsewhere: "elsewhere"})
        with pytest.raises(LeaseHeldError), other.lease(now=clock):
            pytest.fail("that process may be alive")
        clock.move(61)
        with other.lease(now=clock):
            pass


def test_a_clock_that_was_wrong_does_not_block_for_years(
    store: Store, other: Store, clock: Clock
) -> None:
    clock.time = datetime(2031, 1, 1, tzinfo=UTC)
    with store.lease(seconds=60, now=clock):
        clock.time = NOW
        with other.lease(now=clock):
            pass


def test_small_differences_between_clocks_do_not_break_a_lease(
    store: Store, other: Store, clock: Clock
) -> None:
    with store.lease(seconds=60, now=clock):
        clock.move(-30)
        with pytest.raises(LeaseHeldError), other.lease(now=clock):
            pytest.fail("half a minute is no broken clock")


def test_a_killed_process_leaves_no_lease_behind(store: Store, clock: Clock) -> None:
    code = """
import sys
from datetime import datetime, UTC
from consolidate.store import Store
store = Store.open(sys.argv[1])
with store.lease(now=lambda: datetime(2026, 3, 1, 12, tzinfo=UTC)):
    print("held", flush=True)
    sys.stdin.read()
"""
    child = subprocess.Popen(
        [sys.executable, "-c", code, str(store.path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        cwd=os.path.dirname(os.path.dirname(__file__)),  # noqa: PTH120
    )
    with child:
        assert child.stdout is not None
        assert child.stdout.readline() == b"held\n"
        with pytest.raises(LeaseHeldError, match=f"pid {child.pid} on"), store.lease(now=clock):
            pytest.fail("the child holds it")
        child.kill()
        child.wait()
        with store.lease(now=clock):
            pass


@pytest.mark.parametrize("seconds", [0, -1, float("nan"), float("inf"), 1e9])
def test_a_lease_needs_a_length(store: Store, clock: Clock, seconds: float) -> None:
    with (
        pytest.raises(InputError, match="is not possible"),
        store.lease(seconds=seconds, now=clock),
    ):
        pytest.fail("no such lease")


def test_a_store_that_can_only_be_read_gives_no_lease(
    store: Store, open_store: OpenStore, clock: Clock
) -> None:
    reader = open_store(store.path, read_only=True)
    with pytest.raises(StoreError, match="can't be written"), reader.lease(now=clock):
        pytest.fail("nothing to consolidate there")
