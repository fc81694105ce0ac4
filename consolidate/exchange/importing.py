"""Takes a file into a store: finds out what it is, reads it, adds what is not there yet.

Everything happens in one transaction. A preview does the same and takes it back, so what it says
is what an import does.
"""

from __future__ import annotations

import codecs
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.csv import read_csv
from consolidate.exchange.export import looks_like_export, read_export
from consolidate.exchange.hippo import looks_like_hippo, read_hippo
from consolidate.exchange.jsonl import read_array, read_jsonl
from consolidate.exchange.lines import json_lines, parse_json, whole_text
from consolidate.exchange.mcp_memory import looks_like_mcp_memory, read_mcp_memory
from consolidate.exchange.records import Broken, ImportReport, Options, Parsed
from consolidate.store import Store
from consolidate.store.restoring import restore
from consolidate.types import Alias, NewFact

__all__ = ["detect", "import_bytes", "parse"]

_BATCH = 500
_LOOKED_AT = 20  # lines; the first ones of a file may be broken


def import_bytes(
    store: Store,
    data: bytes,
    options: Options,
    *,
    now: datetime,
    form: str | None = None,
    name: str = "",
    preview: bool = False,
    strict: bool = False,
) -> ImportReport:
    """Import the content of a file.

    Args:
        store: Where to.
        data: The content.
        options: How to read it.
        now: The time the facts are recorded.
        form: Its format; None finds out.
        name: Its name, a hint to the format.
        preview: Change nothing, report the same.
        strict: Take in nothing if a line is broken.

    Raises:
        InputError: The file as a whole can't be read.
    """
    _refuse_other_encodings(data)
    parsed = parse(data, options, now=now, form=form or detect(data, name))
    tally = _Tally(broken=list(parsed.broken), notes=list(parsed.notes))
    refused = False
    try:
        with store.atomic():
            _write(store, parsed, options, tally, now)
            refused = strict and bool(tally.broken)
            if preview or refused:
                raise _TakeBack
    except _TakeBack:
        pass
    return ImportReport(
        format=parsed.format,
        preview=preview,
        refused=refused,
        new=tally.new,
        known=tally.known,
        broken=tuple(sorted(tally.broken, key=lambda item: item.line)),
        names=tally.names,
        extra=tally.extra,
        notes=tuple(tally.notes),
    )


def detect(data: bytes, name: str = "") -> str:
    """Find out the format by content, the name being a hint for CSV alone."""
    if name.lower().endswith((".csv", ".tsv")):
        return "csv"
    start = data.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start == b"[":
        return "json"
    if start not in (b"{", b'"'):
        return "csv"
    seen: list[Any] = []
    for number, (_, value) in enumerate(json_lines(data)):
        if not isinstance(value, InputError):
            seen.append(value)
        if number >= _LOOKED_AT:
            break
    if seen and looks_like_export(seen[0]):
        return "consolidate"
    if any(looks_like_mcp_memory(value) for value in seen):
        return "mcp-memory"
    if any(looks_like_hippo(value) for value in seen):
        return "hippo"
    if not seen and _is_hippo(data):
        return "hippo"
    if not seen and start == b'"':
        return "csv"  # a header whose names are in quotes
    return "jsonl"


def parse(data: bytes, options: Options, *, now: datetime, form: str) -> Parsed:
    """Read a file of a known format.

    Raises:
        InputError: The file as a whole can't be read.
    """
    if not data.strip():
        raise InputError("the file is empty")
    match form:
        case "consolidate":
            return read_export(data, options)
        case "hippo":
            return read_hippo(data, options, now=now)
        case "mcp-memory":
            return read_mcp_memory(data, options)
        case "csv":
            return read_csv(data, options)
        case "json":
            return read_array(data, options)
        case "jsonl":
            return read_jsonl(data, options)
    raise InputError(f"there is no format {form!r}")


@dataclass(kw_only=True)
class _Tally:
    """Counts of one import, as they grow."""

    new: int = 0
    known: int = 0
    names: int = 0
    extra: dict[str, int] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _TakeBack(Exception):
    """Ends a transaction that must leave no trace."""


def _write(store: Store, parsed: Parsed, options: Options, tally: _Tally, now: datetime) -> None:
    archive = parsed.archive
    if archive.facts or archive.rows:
        # Only an export of our own tells agents apart; there --agent picks one.
        own = parsed.format == "consolidate" and options.every_agent
        restored = restore(store, archive.facts, archive.rows, agent=options.agent if own else None)
        tally.new += restored.new
        tally.known += restored.known
        tally.broken += [Broken(line=line, reason=why) for line, why in restored.broken]
        tally.extra = {kind: count for kind, count in restored.extra.items() if count}
        if restored.differ:
            tally.notes.append(
                f"{restored.differ} known facts have another state here, and keep it"
            )
    for start in range(0, len(parsed.facts), _BATCH):
        _add(store, parsed.facts[start : start + _BATCH], tally, now)
    _declare(store, parsed.aliases, tally)


def _add(store: Store, facts: Sequence[tuple[int, NewFact]], tally: _Tally, now: datetime) -> None:
    try:
        added = store.add([fact for _, fact in facts], now=now)
    except InputError as error:
        if len(facts) == 1:
            reason = str(error).removeprefix("fact 1 of 1: ")
            tally.broken.append(Broken(line=facts[0][0], reason=reason))
            return
        # Halving finds the few bad ones without adding thousands one by one.
        half = len(facts) // 2
        _add(store, facts[:half], tally, now)
        _add(store, facts[half:], tally, now)
        return
    tally.new += sum(item.new for item in added)
    tally.known += sum(not item.new for item in added)


def _declare(store: Store, aliases: Sequence[Alias], tally: _Tally) -> None:
    """Declare names; what a person said about two names here stays as it is."""
    agents = {alias.agent for alias in aliases}
    said = {(a.agent, a.canonical, a.alias) for agent in agents for a in store.aliases(agent)}
    for alias in aliases:
        if (alias.agent, alias.canonical, alias.alias) in said:
            continue
        try:
            store.add_alias(alias)
        except InputError as error:
            tally.notes.append(f"a name was left out: {error}")
        else:
            tally.names += 1


def _refuse_other_encodings(data: bytes) -> None:
    start = data[:1000]
    marked = start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    # Plain letters in UTF-16 are every other byte, with zeros between them.
    unmarked = len(start) > 3 and any(
        not any(start[first::2]) and 0 not in start[1 - first :: 2] for first in (0, 1)
    )
    if marked or unmarked:
        raise InputError("this is UTF-16, convert it first: iconv -f UTF-16 -t UTF-8")


def _is_hippo(data: bytes) -> bool:
    """A hippo export is written over many lines, so no single one of them is JSON."""
    try:
        return looks_like_hippo(parse_json(whole_text(data)))
    except InputError:
        return False
