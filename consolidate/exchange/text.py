"""Plain text out of what other tools store as content.

Some write `{"text": "..."}`, the same as a JSON string, or a list of message blocks where a
sentence is meant. Facts are compared as sentences, so the wrapping goes.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["TEXT_NAMES", "unwrap"]

TEXT_NAMES = (
    "text",
    "content",
    "memory",
    "fact",
    "statement",
    "observation",
    "proposition",
    "value",
    "data",
    "body",
    "message",
    "note",
    "document",
)
"""Names under which tools keep the sentence itself, the most common first."""

_WRAPPERS = TEXT_NAMES[:7]
"""The narrower set that makes a JSON object a wrapping: `{"value": 3}` may be the fact itself."""

_DEPTH = 4  # wrappings within wrappings; more is taken for content


def unwrap(content: Any) -> tuple[str, dict[str, Any]] | None:
    """Take a sentence out of its wrapping.

    Args:
        content: A string, or an already parsed JSON value.

    Returns:
        The text, and what else the wrapping held; None if there is no text in it.
    """
    return _unwrap(content, _DEPTH)


def _unwrap(content: Any, depth: int) -> tuple[str, dict[str, Any]] | None:
    if isinstance(content, str):
        inner = _parsed(content) if depth else None
        found = _unwrap(inner, depth - 1) if inner is not None else None
        return found if found is not None else (content, {})
    if isinstance(content, dict) and depth:
        for name in _WRAPPERS:
            if name in content and (found := _unwrap(content[name], depth - 1)):
                rest = {key: value for key, value in content.items() if key != name}
                return found[0], rest | found[1]
    if isinstance(content, list) and content and depth:
        parts = [_unwrap(part, depth - 1) for part in content]
        if all(parts):
            return "\n".join(part[0] for part in parts if part), {}
    return None


def _parsed(text: str) -> Any:
    """Parse text that looks like wrapped content; None if it is just text."""
    if not text.lstrip().startswith(("{", "[{", '"{', '"[{')):
        return None  # a sentence in quotation marks stays as it is
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, str | dict | list) else None
