"""JSON Schemas of what tools take and what they give.

What a tool takes is put together from `takes`, `text`, `count` and the like. What it gives is read
off the type hints of the record or `TypedDict` that describes the answer, so it can't fall behind.
"""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from typing import Any, Final

__all__ = [
    "Schema",
    "chosen",
    "count",
    "flag",
    "gives",
    "number",
    "takes",
    "text",
    "texts",
]

Schema = Mapping[str, Any]

_PLAIN: Final[Mapping[Any, str]] = {
    str: "string",
    int: "integer",
    float: "number",
    bool: "boolean",
    type(None): "null",
}


def takes(required: Sequence[str] = (), /, **properties: Schema) -> dict[str, Any]:
    """Schema of a tool's arguments; nothing but these is taken."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def text(description: str, **more: Any) -> Schema:
    """Schema of a text."""
    return {"type": "string", "description": description, **more}


def texts(description: str) -> Schema:
    """Schema of a list of texts."""
    return {"type": "array", "items": {"type": "string"}, "description": description}


def chosen(description: str, *options: str, default: str | None = None) -> Schema:
    """Schema of one of some words."""
    known = {} if default is None else {"default": default}
    return {"type": "string", "enum": list(options), "description": description, **known}


def count(description: str, low: int, high: int, default: int) -> Schema:
    """Schema of a whole number."""
    return {
        "type": "integer",
        "description": description,
        "minimum": low,
        "maximum": high,
        "default": default,
    }


def number(description: str, default: float) -> Schema:
    """Schema of a number."""
    return {"type": "number", "description": description, "default": default}


def flag(description: str) -> Schema:
    """Schema of a yes or no; no if it is left out."""
    return {"type": "boolean", "description": description, "default": False}


@cache
def gives(hint: Any) -> Schema:
    """Schema of the JSON form of a type, as `serialise.to_data` writes it.

    Args:
        hint: A record, a `TypedDict`, a plain type, or a list, mapping or union of these.

    Raises:
        TypeError: The type has no JSON form that could be described.
    """
    origin, arguments = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any:
        return {}
    if hint in _PLAIN:
        return {"type": _PLAIN[hint]}
    if origin is typing.Literal:
        return {"type": "string", "enum": list(arguments)}
    if origin in (typing.Union, types.UnionType):
        return _any_of([gives(each) for each in arguments])
    if isinstance(origin, type):
        return _container(origin, arguments, hint)
    if not isinstance(hint, type):
        raise TypeError(f"no JSON schema for {hint}")
    if issubclass(hint, Enum):
        return {"type": "string", "enum": [member.value for member in hint]}
    if issubclass(hint, datetime):
        return {"type": "string", "format": "date-time"}
    if is_dataclass(hint):
        return _object(hint, [entry.name for entry in fields(hint)])
    if typing.is_typeddict(hint):
        return _object(hint, sorted(hint.__required_keys__))  # type: ignore[attr-defined]  # checked
    raise TypeError(f"no JSON schema for {hint}")


def _object(record: type, required: Sequence[str]) -> Schema:
    hints = typing.get_type_hints(record)
    return {
        "type": "object",
        "properties": {name: gives(hint) for name, hint in hints.items()},
        "required": list(required),
    }


def _container(origin: type, arguments: Sequence[Any], hint: Any) -> Schema:
    if issubclass(origin, Mapping):
        return {"type": "object", "additionalProperties": gives(arguments[1])}
    if issubclass(origin, Sequence | frozenset):
        kinds = dict.fromkeys(each for each in arguments if each is not Ellipsis)
        return {"type": "array", "items": _any_of([gives(each) for each in kinds])}
    raise TypeError(f"no JSON schema for {hint}")


def _any_of(schemas: Sequence[Schema]) -> Schema:
    if len(schemas) == 1:
        return schemas[0]
    if all(schema.keys() == {"type"} for schema in schemas):
        return {"type": [schema["type"] for schema in schemas]}
    return {"anyOf": list(schemas)}
