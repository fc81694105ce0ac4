"""Reading and writing times. Everything inside the package is timezone-aware UTC.

A time without an offset is read in a zone that the caller names, or refused: nothing is guessed,
neither the machine's zone nor which of two equal readings of a clock was meant.
"""

from __future__ import annotations

import math
import re
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from consolidate.errors import InputError, NaiveTimeError

__all__ = ["format_time", "parse_time", "read_time"]

_MILLISECONDS_ABOVE = 1e11
"""Epoch numbers beyond this are milliseconds; as seconds they would lie after the year 5000."""

_EPOCH_TEXT = re.compile(r"-?(?:[0-9]{10}|[0-9]{13})(?:\.[0-9]+)?")
"""Digits that can't be a compact ISO date: ten are seconds, thirteen are milliseconds."""

_LARGEST = 10**300
"""Beyond this a whole number can't even be shown as a float."""

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def parse_time(value: str | int | float | date | datetime, *, zone: str | None = None) -> datetime:
    """Read a time as UTC.

    Accepts ISO 8601 text with an offset or `Z`, epoch seconds (milliseconds above 1e11), `date`
    and `datetime`. What has no offset is read in `zone`.

    Args:
        value: The time.
        zone: IANA name, e.g. `Europe/Athens`, for times and dates without an offset.

    Raises:
        NaiveTimeError: No offset and no zone.
        InputError: Not a time, an unknown zone, or a clock reading that the zone skips or
            shows twice.

    Example:
        >>> parse_time("2026-01-01T19:00:00+09:00").isoformat()
        '2026-01-01T10:00:00+00:00'
    """
    if isinstance(value, datetime):
        return _place(value, value, zone)
    if isinstance(value, date):
        return _place(datetime.combine(value, time()), value, zone)
    if isinstance(value, bool):
        raise InputError(f"{value!r} is not a time")
    if isinstance(value, int | float):
        return _from_epoch(value)
    if isinstance(value, str):
        text = value.strip()
        if _EPOCH_TEXT.fullmatch(text):
            return _from_epoch(float(text) if "." in text else int(text))
        try:
            moment = datetime.fromisoformat(text.upper())
        except ValueError as error:
            raise InputError(
                f"{value!r} is not a time; use ISO 8601 such as 2026-01-31T09:30:00+02:00, "
                "or epoch seconds"
            ) from error
        return _place(moment, value, zone)
    raise InputError(f"{value!r} is not a time")


def format_time(moment: datetime) -> str:
    """Write a time as UTC ISO text of fixed width, so that text order is time order.

    Raises:
        NaiveTimeError: The time has no offset.

    Example:
        >>> format_time(datetime(2026, 1, 1, 10, tzinfo=UTC))
        '2026-01-01T10:00:00.000000Z'
    """
    if moment.tzinfo is None or moment.utcoffset() is None:
        raise _naive(moment)
    return _to_utc(moment).replace(tzinfo=None).isoformat(timespec="microseconds") + "Z"


def read_time(text: str) -> datetime:
    """Read back what `format_time` wrote."""
    return datetime.fromisoformat(text)


def _place(moment: datetime, value: object, zone: str | None) -> datetime:
    if moment.tzinfo is not None and moment.utcoffset() is not None:
        return _to_utc(moment)
    if zone is None:
        raise _naive(value)
    place = _zone(zone)
    naive = moment.replace(tzinfo=None)
    first = _to_utc(naive.replace(tzinfo=place, fold=0))
    second = _to_utc(naive.replace(tzinfo=place, fold=1))
    if first == second:
        return first
    # Around a change of the clocks the two readings differ: after a jump forward neither is a
    # real time (reading back gives another), after a jump back both are.
    if first.astimezone(place).replace(tzinfo=None) != naive:
        raise InputError(f"{value!r} does not exist in {zone}: the clocks skip it; add an offset")
    raise InputError(
        f"{value!r} happens twice in {zone} ({format_time(first)} and {format_time(second)}); "
        "add an offset"
    )


def _from_epoch(number: float) -> datetime:
    try:
        if not math.isfinite(number):
            raise InputError(f"{number!r} is not a time")
        # A timedelta keeps integers exact and works before 1970 on every platform.
        if abs(number) > _MILLISECONDS_ABOVE:
            return _EPOCH + timedelta(milliseconds=number)
        return _EPOCH + timedelta(seconds=number)
    except OverflowError as error:
        raise InputError(
            f"{number:.3g} is no epoch time in seconds or milliseconds that a calendar holds"
            if abs(number) < _LARGEST
            else "a number of more than 300 digits is no epoch time"
        ) from error


def _zone(name: str) -> ZoneInfo:
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise InputError(
            f"unknown time zone {name!r}; use an IANA name such as Europe/Athens or UTC"
        ) from error


def _to_utc(moment: datetime) -> datetime:
    try:
        return moment.astimezone(UTC)
    except OverflowError as error:
        raise InputError(f"{moment.isoformat()} in UTC is outside the years 1 to 9999") from error


def _naive(value: object) -> NaiveTimeError:
    shown = value.isoformat() if isinstance(value, date) else value
    return NaiveTimeError(
        f"{shown!r} has no UTC offset; add one (2026-01-31T09:30:00+02:00) or name the zone it "
        "was meant in, e.g. --timezone Europe/Athens"
    )
