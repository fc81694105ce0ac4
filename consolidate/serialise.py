"""Records to JSON and back, driven by the type hints of the dataclasses in `types.py`.

Reading is strict: unknown and missing fields, wrong types and bad enum members are refused with
the path of the value, since a plan may come from a file that someone edited. Writing has one
form for one value (sorted keys, no spaces, UTC times of fixed width), so text can be compared
and hashed.
"""

from __future__ import annotations

import hashlib
import json
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import MISSING, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, TypeVar

from consolidate.errors import InputError
from consolidate.times import format_time, parse_time
from consolidate.types import Decision, Plan

__all__ = [
    "canonical",
    "decision_from_json",
    "decision_to_json",
    "digest",
    "from_data",
    "from_json",
    "plan_from_json",
    "plan_to_json",
    "to_data",
]

_PLAIN = frozenset({str, int, float, bool, type(None)})

PLAN_FORMAT = "consolidate.plan/1"

_ENCODER = json.JSONEncoder(
    sort_keys=True, ensure_ascii=False, separators=(",", ":"), allow_nan=False
)

_Record = TypeVar("_Record")
_Reader = Callable[[Any, str], Any]


def canonical(data: Any) -> str:
    """Write plain JSON data in its one canonical form.

    Raises:
        InputError: Something in it has no JSON form (NaN, a lone surrogate, an object).
    """
    try:
        text = _ENCODER.encode(data)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"this can't be written as JSON: {error}") from error
    return text


def digest(data: Any) -> str:
    """SHA-256 of the canonical form, in hex."""
    return hashlib.sha256(canonical(data).encode()).hexdigest()


def to_data(value: Any) -> Any:
    """Turn a record into plain JSON data: dicts, lists, strings, numbers, booleans and None."""
    if type(value) in _PLAIN:
        return value
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, datetime):
        return format_time(value)
    if is_dataclass(value) and not isinstance(value, type):
        return {name: to_data(getattr(value, name)) for name in _names(type(value))}
    if isinstance(value, Mapping):
        return {str(key): to_data(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [to_data(item) for item in value]
    if isinstance(value, set | frozenset):
        return sorted(to_data(item) for item in value)
    raise InputError(f"a {type(value).__name__} can't be written as JSON: {value!r}")


def from_data(kind: type[_Record], data: Any) -> _Record:
    """Build a record from plain JSON data.

    Raises:
        InputError: The data does not fit; the message names the path, e.g. `decisions[3].kind`.
    """
    hint: Any = kind
    record: _Record = _reader(hint)(data, "")
    return record


def from_json(kind: type[_Record], text: str | bytes) -> _Record:
    """Build a record from JSON text; the same as `from_data` otherwise."""
    return from_data(kind, _load(text, kind.__name__.lower()))


def plan_to_json(plan: Plan, *, indent: int | None = None) -> str:
    """Write a plan; `indent` is for people, without it the text is canonical."""
    data = {"format": PLAN_FORMAT, **to_data(plan)}
    if indent is None:
        return canonical(data)
    canonical(data)  # refuses what has no JSON form, with a clear message
    return json.dumps(data, sort_keys=True, ensure_ascii=False, indent=indent, allow_nan=False)


def plan_from_json(text: str | bytes) -> Plan:
    """Read what `plan_to_json` wrote.

    Raises:
        InputError: Not JSON, another format, or a field that does not fit.
    """
    data = _load(text, "plan")
    if not isinstance(data, dict) or "format" not in data:
        raise InputError('this is no plan: the field "format" is missing')
    form = data.pop("format")
    if form != PLAN_FORMAT:
        raise InputError(f"plan format {form!r} can't be read; this version reads {PLAN_FORMAT!r}")
    return from_data(Plan, data)


def decision_to_json(decision: Decision) -> str:
    """Write one decision in canonical form."""
    return canonical(to_data(decision))


def decision_from_json(text: str) -> Decision:
    """Read what `decision_to_json` wrote."""
    return from_json(Decision, text)


def _load(text: str | bytes, what: str) -> Any:
    try:
        return json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError) as error:
        raise InputError(f"this is no {what}: {error}") from error


def _refuse_constant(name: str) -> Any:
    raise ValueError(f"{name} is not a number that JSON has")


@cache
def _names(kind: type) -> tuple[str, ...]:
    return tuple(entry.name for entry in fields(kind))


@cache
def _reader(hint: Any) -> _Reader:
    """Make the function that reads one type; made once a type, as plans hold many records."""
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return lambda data, path: data
    if origin in (typing.Union, types.UnionType):
        inner = [argument for argument in arguments if argument is not type(None)]
        if len(inner) != 1 or len(inner) == len(arguments):
            raise TypeError(f"no JSON reader for {hint}")
        read = _reader(inner[0])
        return lambda data, path: None if data is None else read(data, path)
    if isinstance(hint, type) and origin is None:
        return _reader_of_class(hint)
    if isinstance(origin, type) and issubclass(origin, tuple | frozenset | Mapping):
        return _reader_of_container(origin, arguments)
    raise TypeError(f"no JSON reader for {hint}")


def _reader_of_class(kind: type) -> _Reader:
    if is_dataclass(kind):
        return _reader_of_record(kind)
    if issubclass(kind, Enum):
        return _reader_of_enum(kind)
    if kind is datetime:
        return _read_time
    if kind is float:
        return _read_float
    if kind in (str, int, bool):
        return _reader_of_scalar(kind)
    raise TypeError(f"no JSON reader for {kind}")


def _reader_of_record(kind: type) -> _Reader:
    hints = typing.get_type_hints(kind)
    readers = {name: _reader(hints[name]) for name in _names(kind)}
    required = {
        entry.name
        for entry in fields(kind)
        if entry.default is MISSING and entry.default_factory is MISSING
    }

    def read(data: Any, path: str) -> Any:
        if not isinstance(data, dict):
            raise _misfit(path, data, "an object")
        if not data.keys() <= readers.keys():
            unknown = sorted(set(map(str, data)) - set(readers))
            raise InputError(f"{_at(path)}unknown field {unknown[0]!r}")
        if not data.keys() >= required:
            raise InputError(f"{_at(path)}field {min(required - set(data))!r} is missing")
        prefix = f"{path}." if path else ""
        return kind(**{name: readers[name](item, prefix + name) for name, item in data.items()})

    return read


def _reader_of_enum(kind: type[Enum]) -> _Reader:
    members = {member.value: member for member in kind}

    def read(data: Any, path: str) -> Any:
        if not isinstance(data, str) or data not in members:
            raise _misfit(path, data, "one of " + ", ".join(sorted(members)))
        return members[data]

    return read


def _reader_of_scalar(kind: type) -> _Reader:
    name = {str: "a text", int: "a whole number", bool: "true or false"}[kind]

    def read(data: Any, path: str) -> Any:
        if type(data) is not kind:  # exact: True is no number
            raise _misfit(path, data, name)
        return data

    return read


def _reader_of_container(origin: Any, arguments: tuple[Any, ...]) -> _Reader:
    if issubclass(origin, Mapping):
        if arguments[0] is not str:
            raise TypeError("only mappings with text keys have a JSON form")
        inner = _reader(arguments[1])

        def read_mapping(data: Any, path: str) -> Any:
            if not isinstance(data, dict):
                raise _misfit(path, data, "an object")
            return {key: inner(item, f"{path}[{key!r}]") for key, item in data.items()}

        return read_mapping
    if issubclass(origin, tuple) and arguments[-1] is not Ellipsis:
        readers = [_reader(argument) for argument in arguments]

        def read_fixed(data: Any, path: str) -> Any:
            if not isinstance(data, list) or len(data) != len(readers):
                raise _misfit(path, data, f"a list of {len(readers)}")
            return tuple(read(item, path) for read, item in zip(readers, data, strict=True))

        return read_fixed
    inner = _reader(arguments[0])

    def read_sequence(data: Any, path: str) -> Any:
        if not isinstance(data, list):
            raise _misfit(path, data, "a list")
        return origin(inner(item, f"{path}[{index}]") for index, item in enumerate(data))

    return read_sequence


def _read_float(data: Any, path: str) -> float:
    if type(data) not in (int, float):
        raise _misfit(path, data, "a number")
    try:
        return float(data)
    except OverflowError as error:
        raise _misfit(path, data, "a number that a float can hold") from error


def _read_time(data: Any, path: str) -> datetime:
    if not isinstance(data, str):
        raise _misfit(path, data, "a time with offset")
    try:
        return parse_time(data)
    except InputError as error:
        raise InputError(f"{_at(path)}{error}") from error


def _misfit(path: str, data: Any, wanted: str) -> InputError:
    shown = repr(data)
    shown = shown if len(shown) <= 60 else shown[:57] + "..."
    return InputError(f"{_at(path)}{shown} is not {wanted}")


def _at(path: str) -> str:
    return f"{path}: " if path else ""
