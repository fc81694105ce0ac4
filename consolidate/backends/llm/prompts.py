"""Puts stored text into prompts as data: quoted, short enough, and under ids of its own.

A prompt has two parts that never mix. The task is fixed text of this project. The data is one
JSON document and all of the user's message, so a text has no end marker that it could forge: a
quote, a brace or "end of data" inside a text is a character of a string. Two things beside JSON
are escaped, in JSON's own way: lone surrogates, which no server takes, and the beginnings of
control tokens such as `<|im_end|>` or `[INST]`, which some servers read inside of text.

Ids are digests of the items. A model that skips an item and counts on gives ids that fit none,
where running numbers would shift every later answer by one; and no text can know another's id.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

__all__ = [
    "MOST_BYTES",
    "MOST_TEXT_BYTES",
    "Item",
    "array_schema",
    "batches",
    "document",
    "fit",
    "items_of",
    "quoted",
    "sound",
    "windows",
]

# In bytes as sent, since no tokenizer makes more tokens than there are bytes: what fits here fits
# into any context of 8192 tokens together with task and answer, and no server cuts it unsaid.
MOST_BYTES: Final = 5600
MOST_TEXT_BYTES: Final = 2600

_ESCAPED: Final = re.compile(r"[\ud800-\udfff]|<|\[(?=/?[A-Z_]{2,}\])")


@dataclass(frozen=True, kw_only=True)
class Item:
    """One thing that is asked about."""

    id: str
    fields: dict[str, str]

    def json(self) -> str:
        """The item as it stands in the data."""
        inner = [f'"id": {quoted(self.id)}']
        inner += [f"{quoted(name)}: {quoted(text)}" for name, text in self.fields.items()]
        return "{" + ", ".join(inner) + "}"


def items_of(fields: Sequence[dict[str, str]]) -> list[Item]:
    """Give items ids: short digests, none twice among those given together."""
    taken: set[str] = set()
    made = []
    for each in fields:
        digest = hashlib.sha256(json.dumps(each, sort_keys=True).encode()).hexdigest()
        length = next(n for n in range(8, 65) if digest[:n] not in taken)
        taken.add(digest[:length])
        made.append(Item(id=digest[:length], fields=each))
    return made


def batches(items: Sequence[Item], *, most: int) -> Iterator[list[Item]]:
    """Cut items into prompts: at most `most` in each, and no more than fits."""
    batch: list[Item] = []
    size = 0
    for item in items:
        length = len(item.json().encode()) + 2
        if batch and (len(batch) >= most or size + length > MOST_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += length
    if batch:
        yield batch


def document(items: Sequence[Item]) -> str:
    """The data of a prompt."""
    return '{"items": [\n' + ",\n".join(item.json() for item in items) + "\n]}"


def quoted(text: str) -> str:
    """A text as a JSON string that can be sent: any JSON reader gives the same text back."""
    dumped = json.dumps(text, ensure_ascii=False)
    return _ESCAPED.sub(lambda match: f"\\u{ord(match[0]):04x}", dumped)


def fit(text: str, *, most: int = MOST_TEXT_BYTES) -> tuple[str, bool]:
    """The part of a text that takes at most `most` bytes in the data, and whether that is a cut."""
    end = _end(text, 0, most)
    return text[:end], end < len(text)


def windows(text: str, *, most: int = MOST_TEXT_BYTES) -> list[str]:
    """Cut a text into parts that fit, between words where there are words."""
    parts = []
    start = 0
    while start < len(text):
        end = _end(text, start, most)
        if end < len(text):
            space = text.rfind(" ", start + (end - start) // 2, end)
            end = space + 1 if space > 0 else end
        parts.append(text[start:end])
        start = end
    return parts or [""]


def sound(text: str) -> str:
    """The text with lone surrogates replaced by question marks."""
    return text.encode("utf-8", "replace").decode("utf-8")


def _end(text: str, start: int, most: int) -> int:
    """How far a part that begins at `start` reaches if it takes at most `most` bytes."""
    end = min(len(text), start + most)
    if len(quoted(text[start:end]).encode()) - 2 <= most:
        return end
    low, high = start + 1, end  # a single character always fits
    while low < high:
        middle = (low + high + 1) // 2
        if len(quoted(text[start:middle]).encode()) - 2 <= most:
            low = middle
        else:
            high = middle - 1
    return low


def array_schema(properties: dict[str, Any]) -> dict[str, Any]:
    """The schema of an answer: `answers`, one object an item, each with its id."""
    item = {
        "type": "object",
        "properties": {"id": {"type": "string"}, **properties},
        "required": ["id", *properties],
        "additionalProperties": False,
    }
    return {
        "type": "object",
        "properties": {"answers": {"type": "array", "items": item}},
        "required": ["answers"],
        "additionalProperties": False,
    }
