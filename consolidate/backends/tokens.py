"""Turns texts into token rows with the `tokenizers` library, never cutting anything unsaid.

Padding and truncation stored in a tokenizer file are switched off: they would make a text's rows
depend on settings of whoever exported it.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from consolidate.backends.files import TOKENIZER, ModelFiles
from consolidate.backends.onnx import Item
from consolidate.errors import MissingExtraError, ModelFilesError

__all__ = ["Tokens", "Window", "row_limit"]

# Attention looks at all pairs of tokens: more of them take gigabytes and minutes. Texts are cut
# into windows of this length even where a model says it reads more.
_LONGEST: Final = 2048
# These count positions from one after the padding token, so as many of them can't be used.
_OFFSET_POSITIONS: Final = frozenset(
    {"roberta", "xlm-roberta", "xlm-roberta-xl", "camembert", "mpnet", "longformer"}
)
_POSITIONS: Final = ("max_position_embeddings", "n_positions", "max_trained_positions")


@dataclass(frozen=True, kw_only=True)
class Window:
    """A part of a text as the model reads it."""

    item: Item
    tokens: int
    """Tokens of the text in it, without special ones and prefix."""
    skipped: int
    """Tokens at its start that belong to the prefix or are special."""


def row_limit(files: ModelFiles, *, stated: Any = None, otherwise: int = 512) -> int:
    """Tokens of a row, at most.

    Args:
        files: The folder; the section `consolidate` of its config may say `max_tokens`.
        stated: What another file of the model says.
        otherwise: If nobody says anything.
    """
    positions = [_whole(files.config.get(name)) for name in _POSITIONS]
    padding = files.config.get("pad_token_id")
    if files.config.get("model_type") in _OFFSET_POSITIONS and positions[0]:
        positions[0] -= (padding if isinstance(padding, int) else 1) + 1
    room = min((each for each in positions if each), default=None)
    wanted = _whole(files.setting("max_tokens")) or _whole(stated) or room or otherwise
    return min(wanted, room or wanted, _LONGEST)


def _whole(value: Any) -> int | None:
    fits = isinstance(value, int) and not isinstance(value, bool) and value > 0
    return int(value) if fits else None


class Tokens:
    """The tokenizer of a model folder.

    Args:
        files: The folder.
        most: The most tokens of a row, special tokens counted.
    """

    def __init__(self, files: ModelFiles, *, most: int) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError as error:
            raise MissingExtraError(
                f"the model {files.name!r} needs tokenizers: pip install tokenizers"
            ) from error
        path = files.folder / TOKENIZER
        try:
            tokenizer: Any = Tokenizer.from_str(files.read(TOKENIZER).decode("utf-8"))
            # Two objects: truncation is a state of the tokenizer, and threads share it.
            pairs: Any = Tokenizer.from_str(tokenizer.to_str())
        except Exception as error:  # the library raises bare Exception
            raise ModelFilesError(
                f"expected a tokenizer in {str(path)!r}, found: {error}"
            ) from error
        for each in (tokenizer, pairs):
            each.no_padding()
            each.no_truncation()
        size, limit = tokenizer.get_vocab_size(), files.config.get("vocab_size")
        if isinstance(limit, int) and size > limit:
            raise ModelFilesError(
                f"{str(path)!r} belongs to another model: expected at most {limit} tokens "
                f"(vocab_size in config.json), found {size}"
            )
        mask = tokenizer.encode("a").special_tokens_mask
        before = mask.index(0) if 0 in mask else len(mask)
        self._before = tokenizer.encode("a").ids[:before]
        self._after = (
            tokenizer.encode("a").ids[len(mask) - mask[::-1].index(0) :] if 0 in mask else []
        )
        self._room = most - len(self._before) - len(self._after)
        if self._room < 1:
            raise ModelFilesError(f"{str(path)!r}: rows of {most} tokens leave no room for a text")
        pairs.enable_truncation(most, strategy="longest_first")
        self._tokenizer = tokenizer
        self._pairs = pairs

    def windows(self, text: str, *, prefix: str = "") -> list[Window]:
        """Rows for a text: one, or, if it is too long for one, several of about equal length.

        Args:
            text: It may be empty.
            prefix: Words that stand before every window.

        Raises:
            ModelFilesError: The prefix leaves no room for a text.
        """
        encoded = self._tokenizer.encode(prefix + sound(text), add_special_tokens=False)
        ids = encoded.ids
        # A token that reaches into the text is the text's.
        ahead = sum(1 for _, end in encoded.offsets if end <= len(prefix)) if prefix else 0
        before, ids = [*self._before, *ids[:ahead]], ids[ahead:]
        room = self._room - ahead
        if room < 1:
            raise ModelFilesError(
                f"the prefix {prefix!r} has {ahead} tokens and leaves no room for a text in rows "
                f"of {self._room}"
            )
        count = max(1, math.ceil(len(ids) / room))
        windows = []
        for k in range(count):
            part = ids[k * len(ids) // count : (k + 1) * len(ids) // count]
            row = np.array([[*before, *part, *self._after]], dtype=np.int64)
            item = Item(ids=row, types=np.zeros_like(row))
            windows.append(Window(item=item, tokens=len(part), skipped=len(before)))
        return windows

    def both_ways(self, left: str, right: str) -> tuple[Item, bool]:
        """Two rows, left before right and right before left, and whether anything was cut.

        Raises:
            ValueError: The tokenizer gives the two rows different lengths.
        """
        left, right = sound(left), sound(right)
        rows = [self._pairs.encode(left, right), self._pairs.encode(right, left)]
        if len(rows[0].ids) != len(rows[1].ids):
            raise ValueError("the tokenizer gives the two directions different lengths")
        item = Item(
            ids=np.array([row.ids for row in rows], dtype=np.int64),
            types=np.array([row.type_ids for row in rows], dtype=np.int64),
        )
        return item, any(row.overflowing for row in rows)


def sound(text: str) -> str:
    """The text with lone surrogates, which no tokenizer takes, replaced by question marks."""
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace").decode("utf-8")
    return text
