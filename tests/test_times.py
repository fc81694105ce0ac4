"""Times are read as UTC or refused; nothing is guessed."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.errors import InputError, NaiveTimeError
from consolidate.times import format_time, parse_time, read_time

TEN = datetime(2026, 1, 1, 10, tzinfo=UTC)


@pytest.mark.parametrize(
    "value",
    [
        "2026-01-01T10:00:00Z",
        "2026-01-01t10:00:00z",
        "2026-01-01 10:00:00+00:00",
        " 2026-01-01T19:00:00+09:00 ",
        "20260101T100000Z",
        1767261600,
        1767261600.0,
        1767261600000,
        "1767261600",
        "1767261600000",
        datetime(2026, 1, 1, 12, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_every_unambiguous_form_is_the_same_moment(value: str | float | datetime) -> None:
    assert parse_time(value) == TEN
    assert parse_time(value).tzinfo is UTC


@pytest.mark.parametrize(
    "value",
    ["2026-01-01T10:00:00", "2026-01-01", "20260101", datetime(2026, 1, 1), date.min],  # noqa: DTZ001
)
def test_a_time_without_offset_is_refused_with_the_way_out(value: str | date) -> None:
    with pytest.raises(NaiveTimeError, match="--timezone") as caught:
        parse_time(value)
    shown = value if isinstance(value, str) else value.isoformat()
    assert shown in str(caught.value)


def test_a_time_without_offset_is_read_in_the_named_zone() -> None:
    assert parse_time("2026-01-01T12:00:00", zone="Europe/Athens") == TEN
    assert parse_time("2026-07-01", zone="Europe/Athens") == datetime(2026, 6, 30, 21, tzinfo=UTC)
    assert parse_time(date(2026, 1, 1), zone="UTC") == datetime(2026, 1, 1, tzinfo=UTC)


def test_an_offset_counts_more_than_the_named_zone() -> None:
    assert parse_time("2026-01-01T10:00:00Z", zone="Asia/Tokyo") == TEN


def test_a_clock_reading_that_the_zone_skips_is_refused() -> None:
    with pytest.raises(InputError, match="does not exist in Europe/Berlin"):
        parse_time("2026-03-29T02:30:00", zone="Europe/Berlin")


def test_a_clock_reading_that_the_zone_shows_twice_is_refused_with_both_moments() -> None:
    with pytest.raises(InputError, match=r"twice.*00:30:00\.000000Z.*01:30:00\.000000Z"):
        parse_time("2026-10-25T02:30:00", zone="Europe/Berlin")


@pytest.mark.parametrize("zone", ["Mars/Olympus", "", "../etc/passwd", "/etc/passwd", "a\0b"])
def test_an_unknown_zone_is_named(zone: str) -> None:
    with pytest.raises(InputError, match="unknown time zone"):
        parse_time("2026-01-01", zone=zone)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "10:00",
        "2026-02-30T00:00:00Z",
        "2026-01-01T25:00:00Z",
        "20260101103000",
        "12",
        "\N{ARABIC-INDIC DIGIT ONE}" * 10,
        True,
        float("nan"),
        float("inf"),
        10**18,
        10**400,
        -(10**30),
        None,
        b"2026-01-01T00:00:00Z",
    ],
)
def test_what_is_no_time_is_refused_by_name(value: object) -> None:
    with pytest.raises(InputError, match=r"not a time|no epoch time"):
        parse_time(value)  # type: ignore[arg-type]  # that is the point


def test_a_number_too_long_to_show_is_refused() -> None:
    with pytest.raises(InputError, match="more than 300 digits"):
        parse_time(10**5000)


def test_a_moment_beyond_the_calendar_is_refused() -> None:
    with pytest.raises(InputError, match="outside the years"):
        parse_time("0001-01-01T00:00:00+14:00")
    with pytest.raises(InputError, match="outside the years"):
        parse_time("9999-12-31T23:59:59-12:00")


def test_times_before_1970_are_read() -> None:
    assert parse_time(-86400) == datetime(1969, 12, 31, tzinfo=UTC)


def test_writing_refuses_a_time_without_offset() -> None:
    with pytest.raises(NaiveTimeError):
        format_time(datetime(2026, 1, 1))  # noqa: DTZ001


aware = st.datetimes(
    min_value=datetime(2, 1, 1),  # noqa: DTZ001
    max_value=datetime(9998, 12, 31),  # noqa: DTZ001
    timezones=st.integers(-14 * 60, 14 * 60).map(lambda m: timezone(timedelta(minutes=m))),
)


@given(aware)
def test_what_was_written_is_read_back(moment: datetime) -> None:
    assert read_time(format_time(moment)) == moment
    assert parse_time(format_time(moment)) == moment


@given(aware, aware)
def test_text_order_is_time_order(one: datetime, other: datetime) -> None:
    assert (format_time(one) < format_time(other)) == (one < other)
    assert len(format_time(one)) == 27
