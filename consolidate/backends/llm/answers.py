"""Reads answers strictly: the whole text is one JSON value that fits the schema, or it is nothing.

No search for braces, no trimming of prose or code fences, no near-match of labels: an answer that
is nearly right may be nearly the opposite.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["Unusable", "by_id", "read"]


class Unusable(ValueError):
    """An answer can't be used. The message quotes nothing of it: it may hold anything."""


def read(text: str, schema: Mapping[str, Any]) -> Any:
    """Parse an answer and check it against a schema.

    Args:
        text: The whole answer.
        schema: JSON schema made of `type`, `properties`, `required`, `additionalProperties`,
            `items` and `enum`.

    Raises:
        Unusable: It is not one JSON value, or does not fit.
    """
    try:
        value = json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except Unusable:
        raise
    except (ValueError, RecursionError):
        raise Unusable("the answer is not one JSON value and nothing else") from None
    _check(value, schema, "the answer")
    return value


def by_id(answers: Sequence[Mapping[str, Any]], wanted: Sequence[str]) -> dict[str, Any]:
    """Answers by their id: an answer, or the reason why an item has none.

    Returns:
        For each wanted id its answer, or a text that says why there is none. An id given twice
        has none even if both say the same: the model has lost count.
    """
    seen: dict[str, list[Mapping[str, Any]]] = {}
    for answer in answers:
        seen.setdefault(answer["id"], []).append(answer)
    strange = len(seen.keys() - set(wanted))
    found: dict[str, Any] = {}
    for key in wanted:
        given = seen.get(key, [])
        if len(given) == 1:
            found[key] = given[0]
        elif given:
            found[key] = "the model answered twice under this item's id"
        else:
            found[key] = "the model gave no answer under this item's id" + (
                f" ({strange} under ids that were not asked about)" if strange else ""
            )
    return found


def _once(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise Unusable("the answer has an object that names a property twice")
    return found


def _no_constant(name: str) -> Any:
    raise Unusable("the answer holds a number that is not finite")


_TYPES: Mapping[str, type | tuple[type, ...]] = {
    "object": dict,
    "array": list,
    "string": str,
    "integer": int,
    "number": (int, float),
    "boolean": bool,
    "null": type(None),
}


def _check(value: Any, schema: Mapping[str, Any], where: str) -> None:
    kind = schema.get("type")
    if kind is not None:
        fits = isinstance(value, _TYPES[kind])
        if isinstance(value, bool) and kind != "boolean":  # True is an int to Python
            fits = False
        if not fits:
            raise Unusable(f"{where} must be of type {kind}")
    if "enum" in schema and value not in schema["enum"]:
        raise Unusable(f"{where} must be one of {', '.join(map(str, schema['enum']))}")
    if isinstance(value, dict):
        _check_object(value, schema, where)
    elif isinstance(value, list) and "items" in schema:
        for index, item in enumerate(value):
            _check(item, schema["items"], f"{where}[{index}]")


def _check_object(value: Mapping[str, Any], schema: Mapping[str, Any], where: str) -> None:
    properties = schema.get("properties", {})
    missing = [name for name in schema.get("required", ()) if name not in value]
    if missing:
        raise Unusable(f"{where} lacks {', '.join(missing)}")
    if schema.get("additionalProperties") is False and value.keys() - properties.keys():
        raise Unusable(f"{where} has properties beside {', '.join(properties)}")
    for name, rule in properties.items():
        if name in value:
            _check(value[name], rule, f"{where}.{name}")
