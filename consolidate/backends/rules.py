"""Finds names without a model: capitals, quotes, code-like tokens, names it was told.

What it knows of language is small: everyday words that begin sentences (`common_words`), titles,
particles, days and months. Scripts without capitals have names only in quotes, in katakana, before
an honorific, or if they were told. Pronouns and "the user" are no mentions; facts about nobody in
particular are handled where facts are grouped.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from consolidate.backends import name_words as lexicon
from consolidate.backends.capitals import capitalised
from consolidate.backends.code_tokens import code_tokens
from consolidate.backends.spans import HIGH, LOW, Busy, Span, free_of, without_ending
from consolidate.names import name_key
from consolidate.types import Mention

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["RulesExtractor", "extractor"]

# Part of the identity: raise it when the same text would give other mentions.
_REVISION: Final = 2


_QUOTED: Final = re.compile(
    r"\"([^\"\n]{1,60})\"|“([^“”\n]{1,60})”|„([^“”„\n]{1,60})[“”]|«([^«»\n]{1,60})»"
    r"|「([^「」\n]{1,40})」|『([^『』\n]{1,40})』|《([^《》\n]{1,40})》"
    r"|(?<![\w'’])['‘]([^\W_][^'‘’\n]{0,58})['’](?!\w)"
)
_KATAKANA: Final = re.compile(r"[\u30a1-\u30fa\u30fc]{2,}(?:[・＝][\u30a1-\u30fa\u30fc]+)*")
_HONOURED: Final = re.compile(
    r"(?<![\u4e00-\u9fff々])([\u4e00-\u9fff々]{1,3})(?:さん|さま|様|ちゃん|氏|先生|老师|女士|小姐)"
    r"|(?<![가-힣])([가-힣]{2,4})\s?(?:씨|님)"
)
# What stands around a name in running text and is no part of it.
_EDGE_BEFORE: Final = "([{<\"'“”„«»‘’¿¡「『《"
_EDGE_AFTER: Final = ")]}>\"'“”«»‘’.,;:!?…」』》。、，"
_CHUNK: Final = re.compile(r"\S+")
_UNSPACED: Final = re.compile(r"[\u0e00-\u0e7f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3]")
_MOST_WORDS: Final = 8


def extractor(model: str, options: Options) -> RulesExtractor:
    """For the resolver: `rules`."""
    return RulesExtractor(known=options.known)


class RulesExtractor:
    """See the module's text.

    Args:
        known: Names and aliases that count wherever they stand, matched by `name_key`.
    """

    def __init__(self, known: Iterable[str] = ()) -> None:
        keys = {name_key(name) for name in known}
        self._known = frozenset(key for key in keys if key and key not in lexicon.NEVER)
        self._firsts = frozenset(key.split(" ", 1)[0] for key in self._known)
        self._unspaced = tuple(sorted(k for k in self._known if _UNSPACED.search(k)))
        self._longest = min(_MOST_WORDS, max((k.count(" ") + 1 for k in self._known), default=0))

    @property
    def identity(self) -> str:
        """Rules by revision, and a digest of the known names if there are any."""
        if not self._known:
            return f"rules@{_REVISION}"
        joined = "\n".join(sorted(self._known)).encode("utf-8", "replace")
        return f"rules@{_REVISION}+{hashlib.sha256(joined).hexdigest()[:8]}"

    def knowing(self, names: Iterable[str]) -> RulesExtractor:
        """An extractor that knows `names`, and no others."""
        return RulesExtractor(known=names)

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        """See `consolidate.protocols.EntityExtractor`."""
        return [self._mentions(text) for text in texts]

    def _mentions(self, text: str) -> list[Mention]:
        code = [(start, end, label, HIGH) for start, end, label in code_tokens(text)]
        quoted = free_of(_quoted(text), code)
        taken = [*code, *quoted]
        capitals = list(capitalised(text, Busy(taken)))
        spans = [*taken, *capitals]
        spans += free_of(_other_scripts(text), spans)
        if self._known:
            busy = Busy(spans)
            told = sorted(self._known_names(text), key=lambda span: (span[0], -span[1]))
            # A told name inside a longer one is part of that one; elsewhere it wins.
            known: list[Span] = []
            for span in told:
                other = busy.touching(span[0], span[1])
                free = not known or span[0] >= known[-1][1]
                if free and not (other is not None and _inside(span, other)):
                    known.append(span)
            spans = [*known, *free_of(spans, known)]
        return [
            Mention(start=start, end=end, text=text[start:end], label=label, score=score)
            for start, end, label, score in sorted(spans)
        ]

    def _known_names(self, text: str) -> Iterator[Span]:
        words = [_core(text, *match.span()) for match in _CHUNK.finditer(text)]
        index = 0
        while index < len(words):
            start = words[index].start
            last = 0
            if self._is_first(text, words[index]):
                for count in range(min(self._longest, len(words) - index), 0, -1):
                    end = words[index + count - 1].end
                    for stop in (end, without_ending(text, start, end)):
                        if name_key(text[start:stop]) in self._known:
                            yield start, stop, "known", 1.0
                            last = count
                            break
                    if last:
                        break
            index += max(last, 1)
        for key in self._unspaced:
            for match in re.finditer(re.escape(key), text, re.IGNORECASE):
                yield *match.span(), "known", 1.0

    def _is_first(self, text: str, word: _Word) -> bool:
        piece = text[word.start : word.end]
        short = text[word.start : without_ending(text, word.start, word.end)]
        return name_key(piece) in self._firsts or name_key(short) in self._firsts


@dataclass(frozen=True)
class _Word:
    start: int
    end: int


def _core(text: str, start: int, end: int) -> _Word:
    """A chunk between spaces without the brackets, quotes and stops around it."""
    while start < end and text[start] in _EDGE_BEFORE:
        start += 1
    while end > start and text[end - 1] in _EDGE_AFTER:
        end -= 1
    return _Word(start, end)


def _inside(span: Span, other: Span) -> bool:
    return (
        other[0] <= span[0] and span[1] <= other[1] and span[1] - span[0] < other[1] - other[0]
    )  # fmt: skip


def _quoted(text: str) -> Iterator[Span]:
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        start, end = match.span(group)
        while start < end and text[start].isspace():
            start += 1
        while end > start and (text[end - 1].isspace() or text[end - 1] in ".,;:!?"):
            end -= 1
        words = text[start:end].split()
        if not words or len(words) > 6 or name_key(text[start:end]) in lexicon.NEVER:
            continue
        named = sum(not word[0].islower() for word in words)
        # One word may be any name; of several, half must look like one, else it is what was said.
        if len(words) == 1 or (words[0][0].isupper() and 2 * named >= len(words)):
            yield start, end, "quoted", HIGH if named else LOW


def _other_scripts(text: str) -> Iterator[Span]:
    for match in _KATAKANA.finditer(text):
        yield *match.span(), "name", LOW
    for match in _HONOURED.finditer(text):
        yield *match.span(match.lastindex or 0), "person", HIGH
