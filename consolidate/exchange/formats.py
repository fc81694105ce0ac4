"""Which formats can be read, how each is told from the others, and the reader of each."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import Any, Final

from consolidate.errors import InputError
from consolidate.exchange.aingram import looks_like_aingram, read_aingram
from consolidate.exchange.chatgpt import looks_like_chatgpt, read_chatgpt
from consolidate.exchange.csv import read_csv
from consolidate.exchange.export import looks_like_export, read_export
from consolidate.exchange.graphiti import looks_like_graphiti, read_graphiti
from consolidate.exchange.hippo import looks_like_hippo, read_hippo
from consolidate.exchange.jsonl import read_array, read_jsonl
from consolidate.exchange.letta import looks_like_letta, read_letta
from consolidate.exchange.lines import json_lines, parse_json, whole_text
from consolidate.exchange.markdown import (
    looks_like_basic_memory,
    read_basic_memory,
    read_markdown,
)
from consolidate.exchange.mcp_memory import looks_like_mcp_memory, read_mcp_memory
from consolidate.exchange.mem0 import looks_like_mem0, read_mem0
from consolidate.exchange.records import Archive, Broken, Options, Parsed, Said
from consolidate.store.foreign import SQLITE

__all__ = ["FORMATS", "detect", "parse", "parse_files"]

_LOOKED_AT: Final = 20  # lines; the first ones of a file may be broken

_WHOLE: Final[Mapping[str, Callable[[Any], bool]]] = {
    "hippo": looks_like_hippo,
    "aingram": looks_like_aingram,
    "letta": looks_like_letta,
    "chatgpt": looks_like_chatgpt,
    "mem0": looks_like_mem0,
    "graphiti": looks_like_graphiti,
}
"""Formats that are one JSON document."""

_READERS: Final[Mapping[str, Callable[[bytes, Options], Parsed]]] = {
    "consolidate": read_export,
    "jsonl": read_jsonl,
    "json": read_array,
    "csv": read_csv,
    "mcp-memory": read_mcp_memory,
    "letta": read_letta,
    "chatgpt": read_chatgpt,
}
_TIMED: Final[Mapping[str, Callable[..., Parsed]]] = {
    "hippo": read_hippo,
    "aingram": read_aingram,
    "mem0": read_mem0,
    "graphiti": read_graphiti,
}
"""Readers of facts with a past; they are told when it is recorded."""
_NAMED: Final[Mapping[str, Callable[..., Parsed]]] = {
    "basic-memory": read_basic_memory,
    "markdown": read_markdown,
}
"""Readers that use the file's name."""

FORMATS: Final = (*_READERS, *_TIMED, *_NAMED)
"""Every format that can be read."""


def parse_files(
    files: Sequence[tuple[str, bytes]],
    options: Options,
    *,
    now: datetime,
    form: str | None = None,
) -> Parsed:
    """Read a file, or the files of a folder as one.

    Args:
        files: Names and contents.
        options: How to read them.
        now: The time the facts are recorded.
        form: Their format; None finds out for each.

    Raises:
        InputError: The only file can't be read, or none of several.
    """
    read: list[Parsed] = []
    broken: list[Broken] = []
    for name, data in files:
        try:
            _refuse_other_encodings(data)
            parsed = parse(data, options, now=now, form=form or detect(data, name), name=name)
        except InputError as error:
            if len(files) == 1:
                raise
            broken.append(Broken(line=0, reason=str(error), file=name))
            continue
        if len(files) == 1:
            return parsed
        read.append(parsed)
        broken += [replace(each, file=name) for each in parsed.broken]
    if not read:
        raise InputError("none of the files could be read" if files else "there are no files")
    said = [each.said for each in read if each.said]
    return Parsed(
        format=" and ".join(sorted({each.format for each in read})),
        facts=tuple(fact for each in read for fact in each.facts),
        archive=Archive(
            facts=tuple(fact for each in read for fact in each.archive.facts),
            rows=tuple(row for each in read for row in each.archive.rows),
        ),
        aliases=tuple(alias for each in read for alias in each.aliases),
        blocks=tuple(block for each in read for block in each.blocks),
        said=Said(agent=said[0].agent, messages=tuple(m for each in said for m in each.messages))
        if said
        else None,
        broken=tuple(broken),
        notes=tuple(dict.fromkeys(note for each in read for note in each.notes)),
    )


def detect(data: bytes, name: str = "") -> str:
    """Find out the format by content, the name being a hint for CSV and Markdown."""
    if data.startswith(SQLITE):
        return "aingram"
    if name.lower().endswith((".csv", ".tsv")):
        return "csv"
    if name.lower().endswith((".md", ".markdown")) or _is_markdown(data):
        return "basic-memory" if looks_like_basic_memory(data) else "markdown"
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"[":
        return _whole_form(data) or "json"
    if start not in (b"{", b'"'):
        return "csv"
    return _form_of_lines(data, start)


def _form_of_lines(data: bytes, start: bytes) -> str:
    """The format of a file that begins with an object or a quoted text."""
    if start == b"{" and isinstance(next(json_lines(data), (1, None))[1], InputError):
        # A document over many lines, a few of which may be JSON by themselves
        if form := _whole_form(data):
            return form
    seen: list[Any] = []
    for number, (_, value) in enumerate(json_lines(data)):
        if not isinstance(value, InputError):
            seen.append(value)
        if number >= _LOOKED_AT:
            break
    if seen and looks_like_export(seen[0]):
        return "consolidate"
    if any(map(looks_like_mcp_memory, seen)):
        return "mcp-memory"
    for form, looks_like in _WHOLE.items():
        if any(map(looks_like, seen)):
            return form
    # A quote opens a header of CSV too
    return "csv" if not seen and start == b'"' else "jsonl"


def _whole_form(data: bytes) -> str | None:
    """The format of a file that is one JSON document."""
    try:
        value = parse_json(whole_text(data))
    except InputError:
        return None
    return next((form for form, looks_like in _WHOLE.items() if looks_like(value)), None)


def _is_markdown(data: bytes) -> bool:
    """Whether a file without a telling name begins like Markdown, and not like a table."""
    first = data.removeprefix(b"\xef\xbb\xbf").lstrip(b"\r\n").split(b"\n", 1)[0]
    return first.startswith((b"# ", b"## ", b"- ", b"* ")) or first.strip() == b"---"


def parse(data: bytes, options: Options, *, now: datetime, form: str, name: str = "") -> Parsed:
    """Read a file of a known format.

    Raises:
        InputError: The file as a whole can't be read.
    """
    if not data.strip():
        raise InputError("the file is empty")
    reader = _READERS.get(form)
    if form in _TIMED:
        reader = partial(_TIMED[form], now=now)
    elif form in _NAMED:
        reader = partial(_NAMED[form], name=name)
    if reader is None:
        raise InputError(f"there is no format {form!r}; the formats are {', '.join(FORMATS)}")
    return reader(data, options)


def _refuse_other_encodings(data: bytes) -> None:
    if data.startswith(SQLITE):
        return
    start = data[:1000]
    marked = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    # Plain letters in UTF-16 are every other byte, with zeros between them.
    unmarked = len(start) > 3 and any(
        not any(start[first::2]) and 0 not in start[1 - first :: 2] for first in (0, 1)
    )
    if marked or unmarked:
        raise InputError("this is UTF-16, convert it first: iconv -f UTF-16 -t UTF-8")
