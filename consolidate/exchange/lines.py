"""From bytes to numbered text, one broken line never spoiling the next.

Knows no format beyond "a line ends with a line feed".
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from consolidate.errors import InputError

__all__ = ["json_lines", "parse_json", "text_lines", "whole_text"]

_MARK = b"\xef\xbb\xbf"  # the byte order mark some editors put in front


def text_lines(data: bytes) -> Iterator[tuple[int, str | InputError]]:
    """Give the lines that hold something, numbered from 1; an error for one that is not UTF-8."""
    # Not str.splitlines: that also splits inside JSON strings, at U+2028 and the like.
    for number, raw in enumerate(data.removeprefix(_MARK).split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            yield number, raw.decode("utf-8").rstrip("\r")
        except UnicodeDecodeError as error:
            yield number, InputError(f"not UTF-8 (byte {error.object[error.start]:#04x})")


def whole_text(data: bytes) -> str:
    """Decode a file that is read as a whole; bytes that are not UTF-8 become lone surrogates."""
    return data.removeprefix(_MARK).decode("utf-8", errors="surrogateescape")


def parse_json(text: str) -> Any:
    """Parse JSON.

    Raises:
        InputError: It is no JSON, or holds NaN or infinite numbers, which JSON does not have.
    """
    try:
        return json.loads(text, parse_constant=_no_number)
    except json.JSONDecodeError as error:
        raise InputError(f"no valid JSON ({error.msg} at character {error.pos + 1})") from None
    except RecursionError:
        raise InputError("no usable JSON (nested too deeply)") from None


def json_lines(data: bytes) -> Iterator[tuple[int, Any]]:
    """Parse each line; what can't be parsed comes as an InputError value."""
    for number, line in text_lines(data):
        if isinstance(line, InputError):
            yield number, line
            continue
        try:
            yield number, parse_json(line)
        except InputError as error:
            yield number, error


def _no_number(name: str) -> Any:
    raise InputError(f"no valid JSON ({name} is no number)")
