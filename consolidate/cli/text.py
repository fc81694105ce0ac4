"""Stored text is data: what could steer a terminal is made visible instead of obeyed."""

from __future__ import annotations

import re
import unicodedata

__all__ = ["one_line", "visible"]

# Joiners build letters and emoji in many scripts; other format characters only hide or reorder.
_JOINERS = "\u200c\u200d"
_SUSPECT = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff"
    r"\ufff9-\ufffb\ud800-\udfff\U000e0000-\U000e007f]"
)
_USUAL = {"\n": "\\n", "\t": "\\t", "\r": "\\r"}


def visible(text: str) -> str:
    """Show control, bidirectional and invisible characters as escapes instead."""
    return _SUSPECT.sub(_escape, text)


def one_line(text: str, width: int) -> str:
    """Make text visible and cut it to so many columns."""
    shown = visible(text)
    if _columns(shown) <= width:
        return shown
    kept = []
    used = 1  # the ellipsis
    for char in shown:
        used += _columns(char)
        if used > width:
            break
        kept.append(char)
    return "".join(kept) + "…"


def _escape(match: re.Match[str]) -> str:
    char = match.group()
    if char in _JOINERS:
        return char
    code = ord(char)
    if char in _USUAL:
        return _USUAL[char]
    return (
        f"\\x{code:02x}"
        if code < 0x100
        else f"\\u{code:04x}"
        if code < 0x10000
        else f"\\U{code:08x}"
    )


def _columns(text: str) -> int:
    wide = sum(unicodedata.east_asian_width(char) in "WF" for char in text)
    narrow = sum(bool(unicodedata.combining(char)) for char in text)
    return len(text) + wide - narrow
