"""Reads CSV with a header row, separated by commas, semicolons, tabs or bars."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.columns import Columns, fact_of, listed, note_of_times
from consolidate.exchange.lines import whole_text
from consolidate.exchange.records import Broken, Options, Parsed
from consolidate.types import NewFact

__all__ = ["read_csv"]

_SEPARATORS = ",;\t|"
_LONGEST = 4 * 1024 * 1024  # of one cell; the csv module's own limit is below what a fact may be


def read_csv(data: bytes, options: Options) -> Parsed:
    """Read rows under a header.

    Raises:
        InputError: There is no header, or no column for the text.
    """
    text = whole_text(data)
    if not _is_text(text.split("\n", 1)[0]):
        raise InputError("this is binary or not UTF-8 text")
    head = text.split("\n", 1)[0]
    separator = max(_SEPARATORS, key=head.count)
    before = csv.field_size_limit(_LONGEST)
    try:
        return _read(_rows(text, separator), options)
    finally:
        csv.field_size_limit(before)


def _rows(text: str, separator: str) -> Iterator[tuple[int, list[str] | InputError]]:
    """Give rows with the line each begins at; an error for one that can't be split."""
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    while True:
        line = reader.line_num + 1
        try:
            row = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            yield line, InputError(f"no valid CSV ({error})")
            continue
        if any(cell.strip() for cell in row):
            yield line, row


def _read(rows: Iterator[tuple[int, list[str] | InputError]], options: Options) -> Parsed:
    _, header = next(rows, (1, InputError("the file is empty")))
    if isinstance(header, InputError):
        raise header
    names = [name.strip() for name in header]
    if len(set(names)) < len(names):
        raise InputError(f"a column is named twice: {listed(names)}")
    if missing := [column for column in options.columns.values() if column not in names]:
        raise InputError(f"there is no column {missing[0]!r}; the columns are {listed(names)}")
    columns = Columns.choose(names, options.columns)
    facts: list[tuple[int, NewFact]] = []
    broken: list[Broken] = []
    samples: dict[str, Any] = dict.fromkeys(names)
    for line, row in rows:
        try:
            named = _named(names, row)
            samples.update({k: v for k, v in named.items() if not samples[k]})
            facts.append((line, fact_of(named, columns, options)))
        except InputError as error:
            broken.append(Broken(line=line, reason=str(error)))
    notes = [note] if (note := columns.note()) else []
    if "stated_at" not in columns.by_field and (
        note := note_of_times(samples, columns.by_field.values())
    ):
        notes.append(note)
    if "id" in names and "id" not in columns.by_field:
        notes.append("ids are kept in the metadata; --map id=id makes them the facts' own")
    return Parsed(format="csv", facts=tuple(facts), broken=tuple(broken), notes=tuple(notes))


def _is_text(header: str) -> bool:
    return not any(char == "\0" or "\ud800" <= char <= "\udfff" for char in header)


def _named(names: list[str], row: list[str] | InputError) -> dict[str, str]:
    if isinstance(row, InputError):
        raise row
    if len(row) > len(names):
        raise InputError(f"{len(row)} cells under {len(names)} columns")
    for cell in row:
        if any("\ud800" <= char <= "\udfff" for char in cell):
            raise InputError("not UTF-8")
    return dict(zip(names, row, strict=False))
