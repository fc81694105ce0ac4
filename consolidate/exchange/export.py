"""The package's own format: JSON lines under a header, everything a store holds, sorted.

Two exports of equal content differ in the header alone. Vectors and verdicts are left out; models
make them again.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.lines import json_lines
from consolidate.exchange.records import Archive, Broken, Options, Parsed
from consolidate.serialise import canonical, from_data
from consolidate.store import Store
from consolidate.store.exports import export_rows
from consolidate.times import format_time
from consolidate.types import Fact

__all__ = ["FORMAT", "export_lines", "looks_like_export", "read_export"]

FORMAT = "consolidate.export"
VERSION = 1


def export_lines(store: Store, *, agent: str | None, now: datetime) -> Iterator[str]:
    """Write a store as lines without line ends, the header first.

    Args:
        store: The store.
        agent: Only this agent; None is all.
        now: Noted in the header.
    """
    rows = list(export_rows(store, agent=agent))
    counts: dict[str, int] = {}
    for row in rows:
        counts[row["type"]] = counts.get(row["type"], 0) + 1
    yield canonical(
        {
            "format": FORMAT,
            "version": VERSION,
            "exported_at": format_time(now),
            "agent": agent,
            "counts": counts,
        }
    )
    yield from (canonical(row) for row in rows)


def looks_like_export(value: Any) -> bool:
    """Say whether a parsed first line is the header of an export."""
    return isinstance(value, dict) and value.get("format") == FORMAT


def read_export(data: bytes, options: Options) -> Parsed:
    """Read an export.

    Raises:
        InputError: There is no header, or a newer version wrote it.
    """
    lines = json_lines(data)
    header: Any = next(lines, (1, None))[1]
    if not looks_like_export(header):
        raise InputError("this is no export of consolidate: the header line is missing")
    version = header.get("version")
    if not isinstance(version, int) or version > VERSION:
        raise InputError(
            f"the export has version {version!r}; this version of consolidate reads up to "
            f"{VERSION}. Upgrade consolidate"
        )
    facts: list[tuple[int, Fact]] = []
    rows: list[tuple[int, dict[str, Any]]] = []
    broken: list[Broken] = []
    for number, row in lines:
        try:
            if isinstance(row, InputError):
                raise row
            if not isinstance(row, dict) or not isinstance(row.get("type"), str):
                raise InputError("not an object with a type")
            if row["type"] == "fact":
                facts.append((number, _fact(row)))
            else:
                rows.append((number, row))
        except InputError as error:
            broken.append(Broken(line=number, reason=str(error)))
    notes = []
    counts = header.get("counts")
    if isinstance(counts, dict) and counts.get("fact", 0) > len(facts) + len(broken):
        notes.append(f"the file was cut: its header speaks of {counts['fact']} facts")
    if options.every_agent:
        notes.append(f"only what belongs to agent {options.agent!r} was taken")
    return Parsed(
        format="consolidate",
        archive=Archive(facts=tuple(facts), rows=tuple(rows)),
        broken=tuple(broken),
        notes=tuple(notes),
    )


def _fact(row: dict[str, Any]) -> Fact:
    return from_data(Fact, {key: value for key, value in row.items() if key != "type"})
