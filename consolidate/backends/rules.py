"""Finds names without a model: capitals, quotes, code-like tokens, names it was told.

What it knows of language is small: everyday words that begin sentences (`common_words`), titles,
particles, days and months. Scripts without capitals have names only in quotes, in katakana, before
an honorific, or if they were told. Pronouns and "the user" are no mentions; facts about nobody in
particular are handled where facts are grouped.
"""

from __future__ import annotations

import hashlib
import re
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from consolidate.backends.code_tokens import code_tokens
from consolidate.backends.common_words import is_common
from consolidate.names import name_key
from consolidate.types import Mention

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["RulesExtractor", "extractor"]

# Part of the identity: raise it when the same text would give other mentions.
_REVISION: Final = 1

_WORD: Final = re.compile(r"(?<!\w)[^\W\d_](?:\w|(?<=\w)[\u0300-\u036f])*(?:['’\u2010-][^\W_]\w*)*")
_SENTENCE_END: Final = frozenset('.!?:;…•*|>\n"“„«‘([{–—-')
_TITLES: Final = frozenset(
    "mr mrs ms miss mx dr prof professor sir dame lord lady rev reverend father sister brother st "
    "captain capt sgt sergeant lt col major gen general judge chef coach uncle aunt auntie cousin "
    "grandma grandpa granny herr frau madame monsieur mme mlle señor señora don doña sig signor "
    "signora tante onkel dra doctor".split()
)
_PARTICLES: Final = frozenset(
    "de da do dos das di del della der den dem van von zu zur zum ten ter te la le du y bin ibn bint "
    "al el af av".split()
)
_LEADING: Final = frozenset(("van", "von", "bin", "ibn"))
_BETWEEN: Final = frozenset(("of", "&"))
_ROLES: Final = frozenset(
    "head director member manager chief president owner founder cofounder lead mother father son "
    "daughter sister brother friend wife husband partner".split()
)
# Words that begin names of places and firms as well as sentences.
_STARTERS: Final = frozenset(
    "new san santa saint st los las el north south east west great old big little red blue green "
    "white black royal united grand lake mount port fort cape upper lower central national "
    "international american european bank university state city hotel radio google open".split()
)
_NEVER: Final = frozenset(
    "i i'm i've i'd i'll me my mine myself we us our ours you your yours he him his she her hers it "
    "its they them their theirs user users assistant ich wir sie er es ihr du mein meine je j'ai tu "
    "il elle nous vous ils elles mon ma mes yo él ella nosotros ellos mi mis io lui lei noi loro mio "
    "mia monday tuesday wednesday thursday friday saturday sunday mondays tuesdays wednesdays "
    "thursdays fridays saturdays sundays mon tue tues wed thu thur thurs fri sat sun january february "
    "march april may june july august september october november december jan feb mar apr jun jul aug "
    "sep sept oct nov dec montag dienstag mittwoch donnerstag freitag samstag sonntag montags "
    "dienstags mittwochs donnerstags freitags samstags sonntags januar februar märz mai juni juli "
    "oktober dezember okay ok am pm todo fyi nb ps eta asap tbd tba fixme n/a aka eg ie etc vs re "
    "я он она мы вы они мой моя моё мои пользователь".split()
)
# First names that are words as well: names if another name follows.
_WORDY_NAMES: Final = frozenset(
    "april art august bill dawn dean drew faith frank grace guy hope ivy jack joy june mark may pat "
    "ray rob rose sage sue will".split()
)
# Everyday words of the trade, but names of things if written in capitals.
_ACRONYMS: Final = frozenset(
    "api aws cd ci cpu css csv dns gcp gpu hr html http https it json pdf pr qa sql ssh ssl tls ui url "
    "vpn yaml".split()
)
_FUNCTION_WORDS: Final = frozenset(
    "a an and as at but by for from here how if in no not of on or so that the then there these this "
    "those to what when where while who why with yes".split()
)
_NAME_BEFORE: Final = frozenset(("aus", "heißt", "in", "mit", "nach", "und"))
# What does not end a name; Chiang Mai and Anna May have theirs.
_NOT_LAST: Final = _NEVER - {"mai", "may", "sun"}
_HYPHEN_ENDS: Final = frozenset(
    "based born style like only side bound wide free related compatible speaking made owned run".split()
)
_GERMAN: Final = frozenset(
    "der die das und ist nicht ein eine einen im mit auf für zum zur wird hat seit bei den dem des "
    "wohnt arbeitet nutzt mag trinkt".split()
)
_BEFORE_NOUN: Final = re.compile(
    r"(?:der|die|das|den|dem|des|(?:k?ein|mein|dein|sein|ihr|unser|jed|dies|welch|all)(?:e[mnrs]?)?"
    r"|im|am|zum|zur|vom|beim|ins|ans|\w+(?:en|er|es|em|te|ige))"
)
_NOUN_ENDING: Final = re.compile(
    r".+(?:ung|heit|keit|schaft|chen|tion|tät|nis|ung(?:en)|isch|zeit|tag)s?"
)
_VERB_RU: Final = re.compile(r".+(?:ет|ёт|ит|ют|ут|ят|ть|ся|сь|ал|ла|ли|ого|ый|ая)", re.IGNORECASE)

_ENDING: Final = re.compile(r"['’](?:s|S|ll|d|ve|re|n?[dt][ae]n?|[yn]?[aeıiuü]|[nl][ae]r)$")
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
_HIGH: Final = 0.9
_LOW: Final = 0.6

Span = tuple[int, int, str, float]


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
        self._known = frozenset(key for key in keys if key and key not in _NEVER)
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
        code = [(start, end, label, _HIGH) for start, end, label in code_tokens(text)]
        quoted = _free(_quoted(text), code)
        taken = [*code, *quoted]
        capitals = list(_capitalised(text, _Busy(taken)))
        spans = [*taken, *capitals]
        spans += _free(_other_scripts(text), spans)
        if self._known:
            busy = _Busy(spans)
            told = sorted(self._known_names(text), key=lambda span: (span[0], -span[1]))
            # A told name inside a longer one is part of that one; elsewhere it wins.
            known: list[Span] = []
            for span in told:
                other = busy.touching(span[0], span[1])
                free = not known or span[0] >= known[-1][1]
                if free and not (other is not None and _inside(span, other)):
                    known.append(span)
            spans = [*known, *_free(spans, known)]
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
                    for stop in (end, _without_possessive(text, start, end)):
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
        short = text[word.start : _without_possessive(text, word.start, word.end)]
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


def _without_possessive(text: str, start: int, end: int) -> int:
    """Where a name ends that has an ending after an apostrophe: Anna's, Anna'll, İzmir'de."""
    ending = _ENDING.search(text, start + 1, end)
    return ending.start() if ending else end


def _inside(span: Span, other: Span) -> bool:
    return (
        other[0] <= span[0] and span[1] <= other[1] and span[1] - span[0] < other[1] - other[0]
    )  # fmt: skip


def _free(spans: Iterable[Span], taken: Sequence[Span]) -> list[Span]:
    """The spans that touch none of those taken, which do not overlap."""
    busy = _Busy(taken)
    return [span for span in spans if busy.touching(span[0], span[1]) is None]


class _Busy:
    """Spans that do not overlap, for quick questions."""

    def __init__(self, spans: Iterable[Span]) -> None:
        self._spans = sorted(spans)
        self._ends = [span[1] for span in self._spans]

    def touching(self, start: int, end: int) -> Span | None:
        """The first span that shares a character with start to end."""
        index = bisect_right(self._ends, start)
        if index < len(self._spans) and self._spans[index][0] < end:
            return self._spans[index]
        return None


def _quoted(text: str) -> Iterator[Span]:
    for match in _QUOTED.finditer(text):
        group = match.lastindex or 0
        start, end = match.span(group)
        while start < end and text[start].isspace():
            start += 1
        while end > start and (text[end - 1].isspace() or text[end - 1] in ".,;:!?"):
            end -= 1
        words = text[start:end].split()
        if not words or len(words) > 6 or name_key(text[start:end]) in _NEVER:
            continue
        named = sum(not word[0].islower() for word in words)
        # One word may be any name; of several, half must look like one, else it is what was said.
        if len(words) == 1 or (words[0][0].isupper() and 2 * named >= len(words)):
            yield start, end, "quoted", _HIGH if named else _LOW


def _other_scripts(text: str) -> Iterator[Span]:
    for match in _KATAKANA.finditer(text):
        yield *match.span(), "name", _LOW
    for match in _HONOURED.finditer(text):
        yield *match.span(match.lastindex or 0), "person", _HIGH


def _capitalised(text: str, taken: _Busy) -> Iterator[Span]:
    words = [m.span() for m in _WORD.finditer(text)]
    words = [word for word in words if taken.touching(*word) is None]
    if not words:
        return
    long_words = [text[a:b] for a, b in words if b - a > 1]
    shouted = len(long_words) > 3 and sum(w.isupper() for w in long_words) > 0.7 * len(long_words)
    if shouted:
        return
    capitals = sum(w[0].isupper() for w in long_words)
    # In a heading every word is written as if it began a sentence.
    heading = len(long_words) > 4 and capitals > 0.7 * len(long_words)
    german = sum(w.casefold() in _GERMAN for w in long_words) >= 2
    run: list[_Part] = []
    for index, (start, end) in enumerate(words):
        part = _part(text, start, end, begins=heading or _begins(text, start))
        if run and not _joins(text, run, part):
            yield from _name_in(text, run, german=german)
            run = []
        follows = index + 1 < len(words)
        if part.capital:
            run.append(part)
            if part.closed:
                yield from _name_in(text, run, german=german)
                run = []
        elif follows and _leads(text, part, words[index + 1]) and (run or part.leading):
            run.append(part)
        elif run:
            yield from _name_in(text, run, german=german)
            run = []
    yield from _name_in(text, run, german=german)


@dataclass(frozen=True)
class _Part:
    """A word that may belong to a name."""

    start: int
    end: int
    word: str
    capital: bool
    begins: bool
    """At the start of a sentence, where a capital says little."""
    closed: bool
    """A possessive: the name ends here."""
    leading: bool = False
    """A particle that may begin a surname."""


def _part(text: str, start: int, end: int, *, begins: bool) -> _Part:
    word = text[start:end]
    if word[0].islower():
        # l'Italia, ex-Google: the name begins after the sign.
        cut = max(word.find("'"), word.find("’"), word.find("-"))
        if 0 < cut < len(word) - 1 and cut <= 4 and word[cut + 1].isupper():
            start += cut + 1
            word, begins = text[start:end], False
    shorter = _without_possessive(text, start, end)
    closed = shorter < end
    end = shorter
    head, _, tail = text[start:end].rpartition("-")
    if head and tail in _HYPHEN_ENDS:
        end -= len(tail) + 1
        closed = True
    word = text[start:end]
    return _Part(
        start=start,
        end=end,
        word=word,
        capital=word[0].isupper() or word[0].istitle(),
        begins=begins,
        closed=closed,
        leading=word in _LEADING,
    )


def _begins(text: str, start: int) -> bool:
    before = text[:start].rstrip(" \t\u00a0")
    if not before or before[-1] in "\n":
        return True
    mark = before[-1]
    if mark == ".":
        return not _abbreviates(before)
    if mark in "-–—":
        return len(before) < 2 or before[-2].isspace() or mark != "-"
    return mark in _SENTENCE_END


def _abbreviates(before: str) -> bool:
    word = re.search(r"([^\W\d_]+)\.$", before[-12:])
    return word is not None and (len(word[1]) == 1 or word[1].casefold() in _TITLES)


def _joins(text: str, run: Sequence[_Part], part: _Part) -> bool:
    last = run[-1]
    gap = text[last.end : part.start]
    if gap in (" ", "\u00a0"):
        return True
    initial = len(last.word) == 1 or last.word.casefold() in _TITLES
    return (initial and gap in (". ", ".")) or gap in (" & ",)


def _leads(text: str, part: _Part, following: tuple[int, int]) -> bool:
    """Whether a word in lower case may stand inside a name, before the word that follows."""
    word = part.word
    if word not in _PARTICLES and word not in _BETWEEN:
        return False
    if text[part.end : following[0]] != " ":
        return False
    after = text[following[0] : following[1]]
    return after[0].isupper() or after in _PARTICLES or (word == "of" and after == "the")


def _name_in(text: str, run: Sequence[_Part], *, german: bool) -> Iterator[Span]:
    parts = list(run)
    person = any(p.word in _PARTICLES for p in parts[1:-1]) or (parts[:1] and parts[0].leading)
    while parts and not parts[-1].capital:
        parts.pop()
    cut_at = next((i for i, p in enumerate(parts) if p.word in _BETWEEN), None)
    if cut_at is not None and _is_role(parts[0]):
        # "CEO of Acme" names a person's role, and Acme.
        yield from _name_in(text, parts[:cut_at], german=german)
        yield from _name_in(text, parts[cut_at + 1 :], german=german)
        return
    dropped = 0
    while parts and _unnamed(parts[0], parts[1:]):
        dropped += 1
        parts.pop(0)
        while parts and not parts[0].capital and not parts[0].leading:
            parts.pop(0)
    while parts and parts[-1].word.casefold() in _NOT_LAST and not _titled(parts[:-1]):
        parts.pop()
    titled = len(parts) > 1 and _titled(parts[:1])
    if titled and parts[0].word.casefold() != "st":  # St. John is called so
        parts.pop(0)
    if not parts or (len(parts) == 1 and len(parts[0].word) == 1):
        return
    if len(parts) == 1 and not titled:
        if not _stands_alone(text, parts[0], german=german):
            return
        if dropped and _everyday(parts[0].word.casefold()):  # "Meeting Notes"
            return
    sure = len(parts) > 1 or not parts[0].begins or titled
    initials = any(len(p.word) == 1 for p in parts)
    label = "person" if titled or person or (initials and len(parts) > 1) else "name"
    yield parts[0].start, parts[-1].end, label, _HIGH if sure else _LOW


def _is_role(part: _Part) -> bool:
    return part.word.casefold() in _ROLES or (part.word.isupper() and len(part.word) > 1)


def _titled(parts: Sequence[_Part]) -> bool:
    return len(parts) == 1 and parts[0].word.casefold() in _TITLES


def _unnamed(part: _Part, rest: Sequence[_Part]) -> bool:
    """Whether the first word of a run is a capital by its place or no name at all."""
    word = part.word.casefold().replace("’", "'")
    if not part.capital:
        return not part.leading
    if rest and word in _WORDY_NAMES:
        return not rest[0].capital or _everyday(rest[0].word.casefold())
    if word in _NEVER:
        return True
    if not part.begins or len(part.word) == 1:
        return False
    if rest and (word in _STARTERS or word in _TITLES):
        return False
    return _everyday(word) and not (word in _ACRONYMS and part.word.isupper())


def _everyday(word: str) -> bool:
    pieces = re.split(r"['-]", word)
    return is_common(word) or (len(pieces) > 1 and all(len(p) < 3 or is_common(p) for p in pieces))


def _stands_alone(text: str, part: _Part, *, german: bool) -> bool:
    word = part.word.casefold()
    if word in _FUNCTION_WORDS:
        return False
    if word in _TITLES and part.begins:
        return False
    if part.begins and _cyrillic(part.word):
        return _VERB_RU.fullmatch(part.word) is None
    if german:
        if part.begins:
            return not _NOUN_ENDING.fullmatch(word)
        # Every noun has a capital there: what follows an article or an adjective is one.
        before = re.search(r"(\w+)\s$", text[max(0, part.start - 24) : part.start])
        if before is not None and before[1] in _NAME_BEFORE:
            return not is_common(word)
        noun = before is not None and _BEFORE_NOUN.fullmatch(before[1].casefold())
        return not noun and not _NOUN_ENDING.fullmatch(word) and not is_common(word)
    return True


@lru_cache(maxsize=4096)
def _cyrillic(word: str) -> bool:
    return any("\u0400" <= c <= "\u04ff" for c in word)
