"""From a row of named values to a fact: which column is which, and what the values mean.

JSONL and CSV share this. What is not known stays unknown: a row without a time gets none.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.lines import parse_json
from consolidate.exchange.records import Options
from consolidate.exchange.text import TEXT_NAMES, unwrap
from consolidate.times import parse_time
from consolidate.types import NewFact

__all__ = ["FIELDS", "Columns", "fact_of", "known_time", "listed", "note_of_times", "parse_map"]

_GUESSES: Mapping[str, tuple[str, ...]] = {
    "text": TEXT_NAMES,
    "kind": ("kind", "type", "memorytype"),
    "agent": ("agent", "agentid", "userid", "namespace"),
    "stated_at": (
        "statedat",
        "saidat",
        "createdat",
        "created",
        "timestamp",
        "datetime",
        "date",
        "time",
        "ts",
        "updatedat",
    ),
    "valid_from": ("validfrom", "validat"),
    "valid_to": ("validto", "validuntil", "invalidat"),
    "source": ("source", "role", "author"),
    "trust": ("trust",),
    "intensity": ("intensity",),
    "metadata": ("metadata", "meta"),
}
"""Field to the column names it is usually found under, simplified. Ids are not guessed: a number
from another program would meet the same number from a third."""

FIELDS = ("id", *_GUESSES)
"""Fields that a column can be mapped to."""

_SHOWN, _LONG = 20, 40  # columns in a message, and letters of each
_LIKE_A_TIME = re.compile(r"\s*(\d{4}[-/.]\d\d?[-/.]\d\d?|\d\d?[-/.]\d\d?[-/.]\d{4})(?!\d)")
_TIMELY = re.compile(r"date|time|when|day|(?<![a-zA-Z])at(?![a-zA-Z])|[a-z]At$", re.IGNORECASE)

_TIMES = ("stated_at", "valid_from", "valid_to")


@dataclass(frozen=True, kw_only=True)
class Columns:
    """Which column holds which field."""

    by_field: Mapping[str, str]
    guessed: Mapping[str, str] = field(default_factory=dict)
    """The part of it that was guessed."""

    @classmethod
    def choose(cls, names: Iterable[str], given: Mapping[str, str]) -> Columns:
        """Choose columns: those given, and for the other fields the usual names.

        A given column that is not there leaves its field unknown; nothing else is taken for it.

        Raises:
            InputError: None fits the text.
        """
        names = list(names)
        simple: dict[str, str] = {}
        for name in names:
            simple.setdefault(_simplified(name), name)
        taken = set(given.values())
        guessed = {}
        for target, usual in _GUESSES.items():
            fits = [simple[n] for n in usual if n in simple and simple[n] not in taken]
            if target not in given and fits:
                guessed[target] = fits[0]
                taken.add(fits[0])
        chosen = cls(by_field={**given, **guessed}, guessed=guessed)
        if "text" not in chosen.by_field:
            raise InputError(
                f"no column looks like the text (there are {listed(names) or 'none'}); "
                "name it: --map text=COLUMN"
            )
        return chosen

    def note(self) -> str | None:
        """Say what was guessed."""
        odd = {target: name for target, name in self.guessed.items() if target != name}
        if not odd:
            return None
        listed = ", ".join(f"{target}={name}" for target, name in odd.items())
        return f"columns taken: {listed} (change with --map)"


def listed(names: Sequence[str]) -> str:
    """Name columns in a message, which must stay short whatever the file holds."""
    shown = [name if len(name) <= _LONG else f"{name[:_LONG]}…" for name in names[:_SHOWN]]
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(shown) + more


def note_of_times(samples: Mapping[str, Any], used: Collection[str]) -> str | None:
    """Say that no column was taken for the time, and which might be it.

    Args:
        samples: Column to some value of it, or None.
        used: Columns that hold something else.
    """
    free = [name for name in samples if name not in used]
    if not free:
        return None
    might = [name for name in free if _LIKE_A_TIME.match(str(samples[name] or ""))]
    might += [name for name in free if name not in might and _TIMELY.search(name)]
    hint = f"; one may be in {listed(might)}" if might else ""
    return f"the facts have no times{hint} (name it: --map stated_at=COLUMN)"


def parse_map(specs: Iterable[str]) -> dict[str, str]:
    """Read `--map` values such as `text=content,stated_at=created_at`.

    Raises:
        InputError: A part is not FIELD=COLUMN, or the field is unknown or named twice.
    """
    given: dict[str, str] = {}
    for part in (part for spec in specs for part in spec.split(",") if part.strip()):
        target, equals, column = (piece.strip() for piece in part.partition("="))
        if not equals or not column:
            raise InputError(f"{part.strip()!r} is not FIELD=COLUMN")
        if target not in FIELDS:
            raise InputError(f"there is no field {target!r}; the fields are {', '.join(FIELDS)}")
        if target in given:
            raise InputError(f"the field {target!r} is mapped twice")
        given[target] = column
    return given


def fact_of(row: Mapping[str, Any], columns: Columns, options: Options) -> NewFact:
    """Make a fact of a row; columns without a field go into its metadata.

    Raises:
        InputError: A value can't be used; it says which and why.
    """
    picked = {target: row.get(name) for target, name in columns.by_field.items()}
    used = set(columns.by_field.values())
    rest = {k: v for k, v in row.items() if k not in used and v not in (None, "")}
    found = unwrap(picked.get("text"))
    if found is None or not found[0].strip():
        raise InputError(f"no text in {columns.by_field['text']!r}")
    if options.every_agent and picked.get("agent"):
        rest[columns.by_field["agent"]] = picked["agent"]
    named = None if options.every_agent else picked.get("agent")
    times = {t: known_time(picked.get(t), t, options.timezone) for t in _TIMES}
    return NewFact(
        text=found[0],
        agent=_word(named, "agent") or options.agent,
        kind=_word(picked.get("kind"), "kind") or options.kind or "fact",
        id=_word(picked.get("id"), "id"),
        metadata=_metadata(picked.get("metadata")) | found[1] | rest,
        source=_word(picked.get("source"), "source") or options.source or "import",
        trust=_share(picked.get("trust"), "trust"),
        intensity=_first(_share(picked.get("intensity"), "intensity"), 0.5),
        **times,
    )


def known_time(value: Any, name: str, zone: str | None) -> datetime | None:
    """Read a time; nothing, an empty text and null are an unknown one.

    Raises:
        InputError: It is no time, or one without offset while no zone is named.
    """
    if value is None or (isinstance(value, str) and not value.strip()):
        return None
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        raise InputError(f"{name}: {value!r} is no time")
    try:
        return parse_time(value, zone=zone)
    except InputError as error:
        raise InputError(f"{name}: {error}") from error


def _simplified(name: str) -> str:
    return re.sub(r"[\W_]+", "", name).casefold()


def _word(value: Any, name: str) -> str | None:
    if value is None or value == "":
        return None
    if isinstance(value, str | int) and not isinstance(value, bool):
        return str(value).strip() or None
    raise InputError(f"{name}: {value!r} is no name")


def _share(value: Any, name: str) -> float | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise InputError(f"{name}: {value!r} is no number") from None
    if isinstance(value, bool) or not 0 <= number <= 1:
        raise InputError(f"{name}: {value!r} is not between 0 and 1")
    return number


def _first(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _metadata(value: Any) -> dict[str, Any]:
    if value is None or value == "":
        return {}
    if isinstance(value, str):
        value = parse_json(value)
    if not isinstance(value, dict):
        raise InputError(f"metadata: {value!r} is no JSON object")
    return value
