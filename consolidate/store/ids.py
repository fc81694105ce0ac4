"""Ids of facts made here: 26 characters that sort by time.

Ten characters of milliseconds, four that count within one call (so that what was added together
keeps its order), twelve random ones. Nobody needs to read anything out of an id.
"""

from __future__ import annotations

import secrets
from datetime import UTC, datetime, timedelta

from consolidate.errors import InputError

__all__ = ["make_ids"]

_ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
"""Without I, L, O and U, which are misread."""

_COUNT = 32**4
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def make_ids(now: datetime, count: int) -> list[str]:
    """Make ids in rising order for facts recorded at `now`."""
    milliseconds = (now - _EPOCH) // timedelta(milliseconds=1)
    if milliseconds < 0:
        raise InputError(f"now {now.isoformat()} is before 1970; check the clock")
    ids = []
    for position in range(count):
        later, number = divmod(position, _COUNT)
        ids.append(
            _digits(milliseconds + later, 10)
            + _digits(number, 4)
            + _digits(secrets.randbits(60), 12)
        )
    return ids


def _digits(number: int, width: int) -> str:
    digits = []
    for _ in range(width):
        number, digit = divmod(number, 32)
        digits.append(_ALPHABET[digit])
    return "".join(reversed(digits))
