"""Turns texts into the rows a GLiNER graph reads: labels as words, then the words of the text.

    <<ENT>> person <<ENT>> place <<SEP>> Anna lives in Oslo .

A text longer than the graph reads is cut at words into windows that overlap by the widest span, so
that each span lies whole in one of them. Offsets are code points of the whole text. A word without
a token (a lone zero-width character) keeps its place and has no score of its own.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.backends.files import TOKENIZER, ModelFiles
from consolidate.backends.tokens import sound
from consolidate.errors import InputError, MissingExtraError, ModelFilesError

__all__ = ["GlinerRows", "Window", "word_places"]

_WORD: Final = re.compile(r"\w+(?:[-_]\w+)*|\S")
_POOLINGS: Final = ("first", "last", "mean", "max")
# A longer word is no name, and a tokenizer that spells it out would fill the row with it.
_LONGEST_WORD: Final = 200
_USUAL_TOKENS: Final = 512
_USUAL_WORDS: Final = 384  # GLiNER's own default for `max_len`


@dataclass(frozen=True, kw_only=True)
class Window:
    """A row and the words it is about."""

    ids: npt.NDArray[np.int64]
    """Shape (1, tokens)."""
    words_mask: npt.NDArray[np.int64]
    """Shape (1, tokens): number of the word whose token this is, from 1; 0 for all others."""
    places: tuple[tuple[int, int], ...]
    """Start and end of each word in the whole text."""
    first: int
    """Number of the first word in the whole text."""


def word_places(text: str) -> list[tuple[int, int]]:
    """Start and end of each word: letters and digits, joined by - or _; other signs alone."""
    return [match.span() for match in _WORD.finditer(text)]


class GlinerRows:
    """The tokenizer of a GLiNER folder.

    Args:
        files: The folder.
        overlap: Words that neighbouring windows share.
    """

    def __init__(self, files: ModelFiles, *, overlap: int) -> None:
        self._files = files
        self._overlap = overlap
        self._tokenizer = _tokenizer(files)
        self._ent = self._marker("ent_token", "<<ENT>>")
        self._sep = self._marker("sep_token", "<<SEP>>", required=False)
        stated = files.config.get("class_token_index")
        self.class_token = int(self._tokenizer.token_to_id(self._ent))
        if isinstance(stated, int) and stated not in (-1, self.class_token):
            raise ModelFilesError(
                f"{str(files.folder / TOKENIZER)!r} belongs to another model: {self._ent} is token "
                f"{self.class_token}, and class_token_index in the config is {stated}"
            )
        self._pooling = files.config.get("subtoken_pooling") or "first"
        if self._pooling not in _POOLINGS:
            raise ModelFilesError(
                f"the config in {str(files.folder)!r}: subtoken_pooling must be one of "
                f"{', '.join(_POOLINGS)}, found {self._pooling!r}"
            )
        splitter = files.config.get("words_splitter_type") or "whitespace"
        if splitter != "whitespace":
            raise ModelFilesError(
                f"the model in {str(files.folder)!r} wants texts split into words by {splitter!r}; "
                f"only 'whitespace' is known here. Try gliner-package:{files.folder}"
            )
        self._most_words = _count(files.config.get("max_len")) or _USUAL_WORDS
        encoder = files.config.get("encoder_config")
        limit = encoder.get("max_position_embeddings") if isinstance(encoder, dict) else None
        self._most_tokens = min(
            _count(files.setting("max_tokens")) or _USUAL_TOKENS, _count(limit) or _USUAL_TOKENS
        )

    def windows(self, text: str, labels: Sequence[str]) -> list[Window]:
        """Rows for a text: none if it has no words, one, or several if it is long.

        Raises:
            InputError: So many labels that hardly a word fits beside them.
        """
        places = word_places(text)
        if not places:
            return []
        prompt = self.prompt(labels)
        words = [sound(text[start : min(end, start + _LONGEST_WORD)]) for start, end in places]
        if len(words) <= self._most_words:
            whole = self._window(prompt, words, places, 0)
            if whole.ids.shape[1] <= self._most_tokens:
                return [whole]
        room = self._most_tokens - len(self._encoded(prompt).ids)
        if room < 8:
            raise InputError(
                f"{len(labels)} labels take {self._most_tokens - room} of the "
                f"{self._most_tokens} tokens that {self._files.name!r} reads: ask for fewer"
            )
        sizes = self._sizes(words)
        for index, size in enumerate(sizes):
            if size > room:  # spelled out byte by byte: a part of it fits
                words[index] = words[index][: max(1, room // 4)]
                sizes[index] = min(size, room)
        return [
            self._window(prompt, words[start:end], places[start:end], start)
            for start, end in self._cuts(sizes, room)
        ]

    def prompt(self, labels: Sequence[str]) -> list[str]:
        """What stands before the words."""
        return [part for label in labels for part in (self._ent, label)] + [self._sep]

    def _cuts(self, sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
        cuts: list[tuple[int, int]] = []
        start = 0
        while True:
            end, used = start, 0
            while (
                end < len(sizes) and end - start < self._most_words and used + sizes[end] <= room
            ):  # fmt: skip
                used += sizes[end]
                end += 1
            cuts.append((start, end))
            if end == len(sizes):
                return cuts
            start = max(start + 1, end - self._overlap)

    def _sizes(self, words: Sequence[str]) -> list[int]:
        sizes = [0] * len(words)
        encoded = self._tokenizer.encode(
            list(words), is_pretokenized=True, add_special_tokens=False
        )
        for word in encoded.word_ids:
            if word is not None:
                sizes[word] += 1
        return sizes

    def _encoded(self, words: Sequence[str]) -> Any:
        return self._tokenizer.encode(list(words), is_pretokenized=True)

    def _window(
        self,
        prompt: Sequence[str],
        words: Sequence[str],
        places: Sequence[tuple[int, int]],
        first: int,
    ) -> Window:
        encoded = self._encoded([*prompt, *words])
        owners = [
            0 if word is None or word < len(prompt) else word - len(prompt) + 1
            for word in encoded.word_ids
        ]
        if self._pooling == "first":
            mask = [w if i == 0 or owners[i - 1] != w else 0 for i, w in enumerate(owners)]
        elif self._pooling == "last":
            after = [*owners[1:], 0]
            mask = [w if after[i] != w else 0 for i, w in enumerate(owners)]
        else:
            mask = owners
        return Window(
            ids=np.array([encoded.ids], dtype=np.int64),
            words_mask=np.array([mask], dtype=np.int64),
            places=tuple(places),
            first=first,
        )

    def _marker(self, key: str, usual: str, *, required: bool = True) -> str:
        token = self._files.config.get(key) or usual
        if required and (not isinstance(token, str) or self._tokenizer.token_to_id(token) is None):
            raise ModelFilesError(
                f"{str(self._files.folder / TOKENIZER)!r} is no tokenizer of a GLiNER: expected "
                f"the token {token!r} ({key}), found none"
            )
        return str(token)


def _tokenizer(files: ModelFiles) -> Any:
    try:
        from tokenizers import Tokenizer
    except ImportError as error:
        raise MissingExtraError(
            f"the model {files.name!r} needs tokenizers: pip install tokenizers"
        ) from error
    path = files.folder / TOKENIZER
    try:
        tokenizer: Any = Tokenizer.from_str(files.read(TOKENIZER).decode("utf-8"))
    except ModelFilesError:
        raise
    except Exception as error:  # the library raises bare Exception
        raise ModelFilesError(f"expected a tokenizer in {str(path)!r}, found: {error}") from error
    tokenizer.no_padding()
    tokenizer.no_truncation()
    size, limit = tokenizer.get_vocab_size(), files.config.get("vocab_size")
    if isinstance(limit, int) and 0 < limit < size:
        raise ModelFilesError(
            f"{str(path)!r} belongs to another model: expected at most {limit} tokens (vocab_size "
            f"in the config), found {size}"
        )
    return tokenizer


def _count(value: Any) -> int | None:
    return value if isinstance(value, int) and value > 0 else None
