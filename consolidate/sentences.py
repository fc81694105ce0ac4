"""Where sentences end, and passages of a long text for search. Pure; knows no store and no model.

Offsets are code points, and a text is never changed: `text[start:end]` is what was found. All
scans go forward once, so a megabyte of anything takes time in proportion to its length.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["LONGEST_PASSAGE", "passages", "sentences"]

Span = tuple[int, int]

LONGEST_PASSAGE: Final = 900
"""Characters of a passage at most: some 200 tokens, of which the bundled embedder reads 256."""
_OVERLAP: Final = 180
"""Characters at most that two neighbouring passages share, in whole sentences."""

_ABBREVIATIONS: Final = frozenset(
    "dr mr mrs ms mx prof st sr jr vs eg e.g ie i.e cf al approx ca no nr inc ltd co corp dept est "
    "fig vol pp ed eds gen gov rep sen hon rev capt col lt sgt mt ft ave blvd rd jan feb mar apr "
    "jun jul aug sep sept oct nov dec mon tue tues wed thu thur thurs fri sat sun a.m p.m u.s u.k "
    "z.b d.h u.a bzw usw evtl ggf inkl zzgl abs str hr fr tel s.o s.u o.ä v.a mio mrd "
    "p.ex ex env av mme mlle sra srta ud uds dott sig sigg dra pág págs núm".split()
)
_ENDS_TOO: Final = frozenset("inc ltd co corp a.m p.m u.s u.k usw jr sr".split())
"""Abbreviations that a sentence may end with, if what follows can only begin one."""

_STARTERS: Final = frozenset(
    "i we you he she it they the my our your his her their this that these those but and so then "
    "also however there please what when where why how who ich wir er sie es das der die je nous "
    "il elle les yo nosotros el la los io noi".split()
)
_ORDINAL_NEXT: Final = frozenset(
    "januar februar märz april mai juni juli august september oktober november dezember "
    "januar, februar, märz, stock klasse jahrhundert platz etage".split()
)

_TERMINATOR: Final = re.compile(r"[.!?…]+|[。！？｡]+|\n\s*")
_CLOSERS: Final = "\"'”’»)]}』」"
_OPENERS: Final = "\"'“‘«([{¿¡『「*_-–— "
_WORD_BEFORE: Final = re.compile(r"[^\s(\"“«'‘]+$")
_ITEM: Final = re.compile(r"[ \t]*(?:[-*•‣▪+–]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\)|#{1,6}|>|\|)[ \t]+")
_OPENED: Final = re.compile(r"[(“«\"]")
_PAIRS: Final = {"(": ")", "“": "”", "«": "»", '"': '"'}
_LONGEST_ASIDE: Final = 300
"""A bracket or quotation mark that is not closed within so many characters holds nothing."""


def sentences(text: str) -> list[Span]:
    """Find the sentences of a text.

    A line that begins like an item of a list, a heading or a quotation is a sentence of its own;
    other lines are joined only where the second goes on in lower case. Full stops of
    abbreviations, numbers, versions, addresses and initials end nothing, and neither does what
    stands inside brackets or quotation marks.

    Returns:
        Spans in order, without white space around them, none empty.
    """
    found: list[Span] = []
    start = 0
    inside_until = 0
    plain_small = not any(c.isupper() for c in text[:20_000])
    for match in _TERMINATOR.finditer(text):
        if match.start() < start:
            continue
        if match[0][0] == "\n":
            if _line_ends(text, start, match):
                _add(found, text, start, match.start())
                start = match.end()
            continue
        if match.start() >= inside_until:
            inside_until = _closed_at(text, max(start, inside_until), match.start())
        if match.start() < inside_until and not _closes(text, match.end(), inside_until):
            continue
        end = match.end()
        while end < len(text) and text[end] in _CLOSERS:
            end += 1
        if _ends(text, start, match, end, plain_small):
            _add(found, text, start, end)
            start = end
    _add(found, text, start, len(text))
    return found


def passages(text: str, *, longest: int = LONGEST_PASSAGE, overlap: int = _OVERLAP) -> list[Span]:
    """Cut a long text into passages at the borders of sentences; neighbours overlap.

    A sentence longer than a passage is cut between words, and where there are none, anywhere.

    Args:
        text: The text.
        longest: Characters of a passage at most.
        overlap: Characters at most that a passage repeats of the one before.

    Returns:
        Spans in order that together hold every sentence; one span for a text that fits.
    """
    units = [part for span in sentences(text) for part in _cut(text, span, longest)]
    if not units:
        return []
    found: list[Span] = []
    first = 0
    while first < len(units):
        last = first
        while last + 1 < len(units) and units[last + 1][1] - units[first][0] <= longest:
            last += 1
        found.append((units[first][0], units[last][1]))
        if last + 1 == len(units):
            break
        following = last + 1
        while (
            following - 1 > first
            and units[last][1] - units[following - 1][0] <= overlap
            and units[last + 1][1] - units[following - 1][0] <= longest
        ):
            following -= 1
        first = following
    return found


def _add(found: list[Span], text: str, start: int, end: int) -> None:
    while start < end and text[start].isspace():
        start += 1
    while end > start and text[end - 1].isspace():
        end -= 1
    if start < end:
        found.append((start, end))


def _line_ends(text: str, start: int, match: re.Match[str]) -> bool:
    """Whether a sentence ends with its line."""
    at, next_at = match.span()
    line = text[max(start, text.rfind("\n", max(start, at - 2000), at) + 1) : at].strip()
    if not line or next_at == len(text) or match[0].count("\n") > 1:
        return True
    if _ITEM.match(text, text.rfind("\n", at, next_at) + 1) or line.startswith("#"):
        return True  # the next is an item, or this one a heading
    return not (text[next_at].islower() and (len(line) >= 40 or line[-1] in ",;-(–"))


def _ends(text: str, start: int, match: re.Match[str], end: int, plain_small: bool) -> bool:
    """Whether a terminator with what closes after it ends the sentence that began at `start`."""
    if match[0][0] in "。！？｡":
        return True
    if end < len(text) and not text[end].isspace():
        return False  # 3.14, v1.2, example.org, "Yahoo!x"
    if end == len(text):
        return True
    following = text[end : end + 80].lstrip()
    if not following:
        return True
    first = following.lstrip(_OPENERS)[:1]
    if match[0] != "." and match[0] != "...":
        return not first.islower() or plain_small or _first_word(following) == "i"
    before = _WORD_BEFORE.search(text[max(start, match.start() - 40) : match.start()])
    word = before[0] if before else ""
    if _is_item_number(text, start, match.start(), word):
        return False
    return _full_stop_ends(word, following, first, plain_small)


def _full_stop_ends(word: str, following: str, first: str, plain_small: bool) -> bool:
    small, then = word.casefold(), _first_word(following)
    if small in _ABBREVIATIONS:
        return small in _ENDS_TOO and first.isupper() and then in _STARTERS
    if len(word) == 1 and word.isalpha() and word.isupper() and word != "I":
        return then in _STARTERS  # an initial, unless "plan B. Then"
    if word.isdigit() and len(word) <= 2 and (first.islower() or then in _ORDINAL_NEXT):
        return False  # "am 3. März"
    if first.islower():
        return plain_small or then == "i"
    return True


def _is_item_number(text: str, start: int, at: int, word: str) -> bool:
    """Whether a full stop belongs to the number of a list item: "1. First"."""
    if not (len(word) <= 3 and word.isdigit()):
        return False
    return not text[start : at - len(word)].strip(" \t\n\r-*•>(")


def _first_word(text: str) -> str:
    word = text.lstrip(_OPENERS).split(maxsplit=1)
    return word[0].strip(".,;:!?'\"”’").casefold() if word else ""


def _closed_at(text: str, start: int, at: int) -> int:
    """Where a bracket or quotation mark that is open at `at` is closed; 0 if none is."""
    start = max(start, at - _LONGEST_ASIDE)
    if not _OPENED.search(text, start, at):
        return 0
    piece = text[start:at]
    for opener, closer in _PAIRS.items():
        if opener == closer:
            is_open = piece.count(opener) % 2 == 1
        else:
            is_open = piece.count(opener) > piece.count(closer)
        if is_open:
            closed = text.find(closer, at, at + _LONGEST_ASIDE)
            if closed >= 0:
                return closed + 1
    return 0


def _closes(text: str, end: int, closed: int) -> bool:
    """Whether an aside closes right after a terminator and so may end the sentence with it."""
    return closed - end <= 2 and all(c in _CLOSERS for c in text[end:closed])


def _cut(text: str, span: Span, longest: int) -> Iterator[Span]:
    start, end = span
    while end - start > longest:
        cut = text.rfind(" ", start + longest // 2, start + longest)
        cut = cut if cut > 0 else start + longest
        yield start, cut
        start = cut
        while start < end and text[start].isspace():
            start += 1
    if start < end:
        yield start, end
