"""Holds what a tool answers against its output schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # comes with mcp

from consolidate.memory.tools import Tool


def strict(schema: Any) -> Any:
    """The same schema, by which an object has no key that is not described."""
    if isinstance(schema, Mapping):
        made = {key: strict(value) for key, value in schema.items()}
        if "properties" in made:
            made.setdefault("additionalProperties", False)
        return made
    return [strict(each) for each in schema] if isinstance(schema, list) else schema


def check(tool: Tool, /, **arguments: Any) -> Any:
    answer = tool.call(**arguments)
    schema = strict(tool.returns)
    Draft202012Validator.check_schema(schema)
    Draft202012Validator(schema).validate(answer)
    return answer
