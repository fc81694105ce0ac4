"""One consolidation at a time: a lease in the file, with an end.

A lease is taken over when its time is up, when its process is gone (same machine, same start of
it, same process namespace), or when it lies further in the future than its own length, which
only a clock that was wrong explains. It guards against two runs, not against writers; those are
kept apart by transactions.
"""

from __future__ import annotations

import os
import platform
import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from pathlib import Path

from consolidate.errors import InputError, LeaseHeldError, StoreError
from consolidate.store.base import Part
from consolidate.store.database import Database
from consolidate.times import format_time, read_time

__all__ = ["Lease", "LeasePart", "holder_of"]


@dataclass(frozen=True, kw_only=True)
class Lease:
    """A lease that is held. Made by `Store.lease`."""

    holder: str
    token: str
    seconds: float
    now: Callable[[], datetime] = field(repr=False)
    database: Database = field(repr=False)

    def renew(self) -> None:
        """Move the end to `seconds` from now.

        Raises:
            LeaseHeldError: The lease had run out and another run took it.
        """
        now = self.now()
        with self.database.uncounted(), self.database.atomic():
            changed = self.database.write(
                "UPDATE lease SET renewed = ?, expires = ? WHERE token = ?",
                (format_time(now), _end(now, self.seconds), self.token),
            )
        if not changed:
            row = _read(self.database)
            raise LeaseHeldError(
                f"the lease on {self.database.where} ran out and "
                + (f"was taken by {row.named}" if row else "was given up")
                + "; nothing more is written by this run, start it again"
            )


@dataclass(frozen=True, kw_only=True)
class _Row:
    token: str
    holder: str
    pid: int
    host: str
    boot: str
    since: str
    renewed: str
    expires: str

    @property
    def named(self) -> str:
        return f"{self.holder} (pid {self.pid} on {self.host}, since {self.since})"

    def binds(self, now: datetime) -> bool:
        """Whether the lease still keeps others out."""
        renewed, expires = read_time(self.renewed), read_time(self.expires)
        if not renewed - (expires - renewed) <= now < expires:
            return False
        same_machine = (self.host, self.boot) == (_host(), _boot())
        return not (same_machine and _is_dead(self.pid))


class LeasePart(Part):
    """The store's method for the lease."""

    @contextmanager
    def lease(
        self,
        *,
        holder: str | None = None,
        seconds: float = 60.0,
        now: Callable[[], datetime],
    ) -> Iterator[Lease]:
        """Hold the store's one consolidation lease.

        What the lease itself writes is not counted by `rows_written`.

        Args:
            holder: A name for messages, e.g. `consolidate run`.
            seconds: How long it holds unless renewed.
            now: The clock.

        Raises:
            LeaseHeldError: Another run holds it; names who, since when and until when.
        """
        if not 0 < seconds < 1e6:
            raise InputError(f"a lease of {seconds!r} seconds is not possible")
        lease = Lease(
            holder=holder or "consolidate",
            token=secrets.token_hex(16),
            seconds=seconds,
            now=now,
            database=self._db,
        )
        self._take(lease)
        try:
            yield lease
        except BaseException:
            # A release that fails as well must not hide what went wrong; the lease runs out.
            try:
                self._release(lease)
            except StoreError:
                pass
            raise
        self._release(lease)

    def _take(self, lease: Lease) -> None:
        now = lease.now()
        with self._db.uncounted(), self._db.atomic():
            row = _read(self._db)
            if row is not None and row.binds(now):
                raise LeaseHeldError(
                    f"{row.named} is consolidating {self._db.where} and holds the lease until "
                    f"{row.expires}; wait for it to end. If that process is gone, the lease "
                    "is free at that time"
                )
            self._db.write("DELETE FROM lease")
            self._db.write(
                "INSERT INTO lease (only, token, holder, pid, host, boot, since, renewed, expires)"
                " VALUES (1, ?, ?, ?, ?, ?, ?, ?, ?)",
                (
                    lease.token,
                    lease.holder,
                    os.getpid(),
                    _host(),
                    _boot(),
                    format_time(now),
                    format_time(now),
                    _end(now, lease.seconds),
                ),
            )

    def _release(self, lease: Lease) -> None:
        with self._db.uncounted(), self._db.atomic():
            self._db.write("DELETE FROM lease WHERE token = ?", (lease.token,))


def holder_of(database: Database) -> str:
    """Who holds the lease, for messages about a locked file; empty if nobody does."""
    row = _read(database)
    return "" if row is None else row.named


def _read(database: Database) -> _Row | None:
    row = database.one("SELECT token, holder, pid, host, boot, since, renewed, expires FROM lease")
    if row is None:
        return None
    token, holder, pid, host, boot, since, renewed, expires = row
    return _Row(
        token=token,
        holder=holder,
        pid=pid,
        host=host,
        boot=boot,
        since=since,
        renewed=renewed,
        expires=expires,
    )


def _end(now: datetime, seconds: float) -> str:
    return format_time(now + timedelta(seconds=seconds))


def _is_dead(pid: int) -> bool:
    if os.name != "posix":
        return False  # signal 0 means something else there; the lease runs out by time
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    except OSError:
        return False
    return False


def _host() -> str:
    return platform.node()


def _boot() -> str:
    """Which start of this machine, and which process namespace, a pid belongs to."""
    parts = []
    try:
        parts.append(Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip())
        parts.append(str(Path("/proc/self/ns/pid").readlink()))
    except OSError:
        pass  # not Linux: host and pid must do
    return "/".join(parts)
