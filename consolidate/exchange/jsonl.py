"""Reads JSON lines, and a JSON array of the same objects."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.columns import Columns, fact_of, note_of_times
from consolidate.exchange.lines import json_lines, parse_json, whole_text
from consolidate.exchange.records import Broken, Options, Parsed
from consolidate.types import NewFact

__all__ = ["read_array", "read_jsonl"]


def read_jsonl(data: bytes, options: Options) -> Parsed:
    """Read one object, or one quoted sentence, a line."""
    return _read("jsonl", json_lines(data), options)


def read_array(data: bytes, options: Options) -> Parsed:
    """Read a JSON array; its items are numbered instead of lines.

    Raises:
        InputError: The file is not one JSON array.
    """
    items = parse_json(whole_text(data))
    if not isinstance(items, list):
        raise InputError("the file holds no JSON array")
    return _read("json", enumerate(items, start=1), options)


def _read(name: str, items: Iterable[tuple[int, Any]], options: Options) -> Parsed:
    facts: list[tuple[int, NewFact]] = []
    broken: list[Broken] = []
    notes: dict[str, None] = {}  # a dict keeps the order
    seen: set[str] = set()
    samples: dict[str, Any] = {}
    used: set[str] = set()
    timed = "stated_at" in options.columns
    for number, item in items:
        try:
            row = _row(item)
            seen.update(row)
            # Chosen anew for each line, since lines of one file need not have the same keys.
            columns = Columns.choose(row, options.columns)
            facts.append((number, fact_of(row, columns, options)))
        except InputError as error:
            broken.append(Broken(line=number, reason=str(error)))
            continue
        if note := columns.note():
            notes[note] = None
        timed = timed or "stated_at" in columns.by_field
        used.update(columns.by_field.values())
        samples.update({k: v for k, v in row.items() if not samples.get(k)})
        if "id" in row and "id" not in columns.by_field:
            notes["ids are kept in the metadata; --map id=id makes them the facts' own"] = None
    for column in options.columns.values():
        if column not in seen:
            notes[f"no line has the column {column!r} that --map names"] = None
    if facts and not timed and (note := note_of_times(samples, used)):
        notes[note] = None
    return Parsed(format=name, facts=tuple(facts), broken=tuple(broken), notes=tuple(notes))


def _row(item: Any) -> dict[str, Any]:
    if isinstance(item, InputError):
        raise item
    if isinstance(item, str):
        return {"text": item}
    if isinstance(item, dict):
        return item
    raise InputError(f"not an object but {type(item).__name__}")
