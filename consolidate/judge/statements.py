"""Statements in a text: subject, predicate, object, read off by patterns without a model.

"The capital of Querida is Zellhof", "Orion's lead is now Ayşe" and "Ana lives in Oslo" are such;
most sentences are not, and give nothing. Predicates are the names of `judge.attributes`; another
noun in "the NOUN of X is Y" stands for itself. Pure, and only ever about one text.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache, lru_cache
from typing import Final

from consolidate.judge.attributes import ATTRIBUTES, MANY_NOUNS, Cardinality, Values
from consolidate.names import USER

__all__ = ["PRINCIPAL", "Statement", "statements_of"]

PRINCIPAL: Final = USER
"""Subject of what is said in the first person, of the user, or without a subject."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One statement of a text, with the places of its ends."""

    subject: str
    """As it is written, without article; `PRINCIPAL` for the user."""
    predicate: str
    object: str
    cardinality: Cardinality
    subject_span: tuple[int, int]
    """Offsets in code points, end exclusive; of the principal, where it is spoken of, if anywhere
    (else an empty span at the start of the sentence)."""
    object_span: tuple[int, int]
    fixed: bool = False
    """Of an attribute that cannot change."""
    named: bool = True
    """The predicate is one of the table, not a noun that stands for itself."""
    values: Values = "name"
    whole: bool = True
    """The object was the rest of its sentence; nothing was cut off."""

    @property
    def spoken_of(self) -> bool:
        """Whether the text says whom or what it is about."""
        start, end = self.subject_span
        return end > start

    @property
    def head(self) -> str:
        """The object without what is added to it: "Turin" of "Turin with two cats"."""
        return _ADDED.split(self.object, maxsplit=1)[0].strip() or self.object

    @property
    def is_name(self) -> bool:
        """Whether the object is a name, a number or a code rather than a description."""
        return bool(_OPENS_NAME.match(self.object))


_SENTENCE: Final = re.compile(r"[^.!?;\n]+(?:[.!?](?!\s|$)[^.!?;\n]+)*")
"""Full stops inside words ("Node.js", "3.11") end no sentence."""
_LEAD: Final = re.compile(
    r"\s*(?:(?:correction|update|updated|note|fyi|reminder|fact|remember)\s*[:,]\s*|"
    r"(?:as of|since|from|starting|by)\s+[^,]{2,25},\s*|"
    r"(?:actually|currently|now|today|meanwhile|these days|nowadays|by now|and|so)\b,?\s+)*",
    re.IGNORECASE,
)
_TRAIL: Final = re.compile(
    r"\s*(?:,\s*)?(?:\bnow|\bthese days|\bnowadays|\bcurrently|\bat the moment|\binstead|\bagain|"
    r"\bfor now|\bas well|\btoo|"
    r"\b(?:since|as of|starting|effective|from)\s+(?:the\s+)?(?:\w+\s+){0,2}[\w-]*\d[\w-]*|"
    r"\b(?:since|as of|starting|from)\s+(?:last|this|next|yesterday|today|tomorrow|then|"
    r"january|february|march|april|may|june|july|august|september|october|november|december)"
    r"(?:\s+\w+)?|\b(?:last|this) \w+|\b\w+ (?:days|weeks|months|years) ago|"
    r"\((?:since|as of|from) [^)]*\))\s*$",
    re.IGNORECASE,
)
_CLAUSE: Final = re.compile(
    r"(?:,?\s+(?:because|which|who|whose|where|although|though|but|while|after|before|until|"
    r"unless|if|when|so that|and (?:is|was|has|had|he|she|they|it|its|her|his|their|we|I|the)|"
    r"not)\b|,\s+(?:and|now|then|formerly|previously)\b|\s+[–—]\s+|\s+\().*$",
    re.IGNORECASE | re.DOTALL,
)
_ARTICLE: Final = re.compile(r"(?:the|an?|our|my|a new|der|die|das|il|la|le|el)\s+", re.IGNORECASE)
_USER: Final = re.compile(r"(?:the\s+)?user|i|we|me", re.IGNORECASE)
_PRONOUN: Final = re.compile(
    r"(?:he|she|it|they|this|that|these|those|there|here|who|which|what|everyone|everybody|nobody|"
    r"somebody|someone|anyone|one|each|all|some|both)\b",
    re.IGNORECASE,
)
_NO_SUBJECT: Final = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|would|can|could|should|must|does|did|do|not|never|"
    r"that|which|who|if|when|because|says?|said|thinks?|and|used to|in|on|at|until|to|by|with|out|"
    r"from|her|his|their|your|lives?|gets?|works?|runs?|still|now|only|also)\b|[,:()\"“”]",
    re.IGNORECASE,
)
_OPENS_NAME: Final = re.compile(r"[^\W\d_a-zà-ÿ]|\d|\w*[-_/.\d]\w|[\"“‘']")
"""A subject is a name, a code or has an article; a lower-case word is more often a verb."""
_ADDED: Final = re.compile(
    r",|\s+(?:in|at|with|near|on|for|from|over|above|as|of|to|by|together|since|until)\b",
    re.IGNORECASE,
)
_NO_OBJECT: Final = re.compile(
    r"^(?:not|no|never|nobody|none|nothing|unknown|tbd|open|undecided|about|around|to|that|if|being|"
    r"still|under|on|in the)\b",
    re.IGNORECASE,
)
_FILLER: Final = re.compile(r"\b(?:current|new|present|own|official|actual)\s+", re.IGNORECASE)
_NOT_NOW: Final = re.compile(
    r"\b(?:former|old|previous|first|last|next|future|ex|original|planned|proposed|possible|"
    r"backup|deputy|vice|acting|interim|assistant|second|third|other|another|late)\b",
    re.IGNORECASE,
)
_MOST_WORDS: Final = 7

_NOUNS: Final = {noun.casefold(): name for name, a in ATTRIBUTES.items() for noun in a.nouns}
_KNOWN: Final = "|".join(re.escape(n) for n in sorted(_NOUNS, key=lambda n: (-len(n), n)))
_QUALIFIED: Final = rf"(?:(?:main|primary|default|favou?rite|lead|head|chief|deputy) )?(?:{_KNOWN})"
_FAVOURITE: Final = r"favou?rite [a-z]+(?: [a-z]+)?"
_NOUN: Final = rf"(?:{_QUALIFIED}|{_FAVOURITE}|[a-z][a-z-]+(?: [a-z][a-z-]+){{0,2}}|[A-Z]{{2,5}})"
_IS: Final = (
    r"(?:is|are|was changed to|has changed to|changed to|is set to|is called|remains|became|"
    r"is in|are in|ist|è|est|es)(?:\s+(?:now|currently|again))?"
)
_S: Final = r"(?P<s>[^:;]{1,60}?)"
_O: Final = r"(?P<o>\S.{0,100}?)"

_NOUN_FORMS: Final = tuple(
    f"{form}$"
    for form in (
        rf"(?:[Tt]he |[Oo]ur |[Mm]y )?(?P<r>(?i:{_QUALIFIED}|{_FAVOURITE})) of {_S} {_IS} {_O}",
        rf"[Tt]he (?P<r>{_NOUN}) of {_S} {_IS} {_O}",
        rf"(?P<r>(?i:{_QUALIFIED}|{_FAVOURITE})) of {_S}\s*[:=]\s*{_O}",
        rf"(?P<s>[Mm]y|[Oo]ur)\s+(?P<r>{_NOUN}) {_IS} {_O}",
        rf"{_S}(?:['’]s|s['’])\s+(?P<r>{_NOUN})(?: {_IS}|\s*[:=])\s+{_O}",
        rf"(?P<r>(?i:{_QUALIFIED}|{_FAVOURITE}))\s*[:=]\s*{_O}",
        rf"{_S}\s+(?P<r>{_QUALIFIED})(?: {_IS}|\s*[:=])\s+{_O}",
        rf"{_S} has {_O} as (?:its|their|her|his) (?P<r>{_NOUN})",
    )
)
_INVERSE_NOUNS: Final = tuple(
    f"{form}$"
    for form in (
        rf"(?P<o>[A-Z][^:;,]{{0,50}}?) (?:is|became|was (?:named|appointed|elected)|serves as|"
        rf"has become|took over as)(?: now)? (?:the )?(?:new )?(?P<r>{_QUALIFIED}) (?:of|for|at) "
        rf"(?P<s>[^:;,]{{1,60}})",
        rf"(?P<o>[A-Z][^:;,]{{0,50}}?) (?:is|became|was (?:named|appointed|elected))(?: now)? "
        rf"(?P<s>[^:;,]{{1,50}}?)(?:['’]s|s['’]) (?:new )?(?P<r>{_QUALIFIED})",
    )
)


@dataclass(frozen=True)
class _Forms:
    """The patterns, compiled when the first text is read: that takes some 30 ms."""

    nouns: tuple[re.Pattern[str], ...]
    verbs: tuple[tuple[re.Pattern[str], str], ...]
    any_verb: re.Pattern[str]
    """A sentence without any of these words has no verb form; most are done with here."""


@cache
def _forms() -> _Forms:
    verbs = []
    for name, attribute in ATTRIBUTES.items():
        if attribute.verbs:
            adverb = r"(?:now |currently |still |also |always )?"
            verbs.append((rf"(?:{_S}\s+)?{adverb}(?:{attribute.verbs})\s+{_O}$", name))
        if attribute.inverse:
            value = r"(?P<o>[A-Z][^:;,]{0,50}?)"
            verbs.append((rf"{value}\s+(?:{attribute.inverse})\s+(?P<s>\S.{{0,60}}?)$", name))
    words = "|".join(w for a in ATTRIBUTES.values() for w in (a.verbs, a.inverse) if w)
    return _Forms(
        nouns=tuple(map(re.compile, (*_NOUN_FORMS, *_INVERSE_NOUNS))),
        verbs=tuple((re.compile(form), name) for form, name in verbs),
        any_verb=re.compile(rf"\b(?:{words})\b", re.IGNORECASE),
    )


@lru_cache(maxsize=65536)
def statements_of(text: str) -> tuple[Statement, ...]:
    """The statements of a text, at most one a sentence, in order.

    Whether the text means them (a plan, a quote, the past) is `judge.modality`'s matter.

    Example:
        >>> [(s.subject, s.predicate, s.object) for s in statements_of("The port of Orion is 80.")]
        [('Orion', 'port', '80')]
    """
    found = []
    for sentence in _SENTENCE.finditer(text):
        statement = _statement(text, sentence.start(), sentence.end())
        if statement is not None:
            found.append(statement)
    return tuple(found)


def _statement(text: str, start: int, end: int) -> Statement | None:
    lead = _LEAD.match(text, start, end)
    start = lead.end() if lead else start
    while trail := _TRAIL.search(text, start, end):
        if trail.start() <= start:
            break
        end = trail.start()
    sentence = text[start:end].rstrip()
    if not sentence or len(sentence) > 240:
        return None
    forms = _forms()
    for form in forms.nouns:
        match = form.match(sentence)
        if match and (statement := _of_noun(match, start)) is not None:
            return statement
    if not forms.any_verb.search(sentence):
        return None
    best: Statement | None = None
    for form, name in forms.verbs:
        match = form.match(sentence) or form.match(sentence[:1].lower() + sentence[1:])
        statement = _made(match, name, start, named=True) if match else None
        # "plays in the position of" says more than "plays": the longer the verb, the shorter is
        # what is left for the object
        if statement and (best is None or len(statement.object) < len(best.object)):
            best = statement
    return best


def _of_noun(match: re.Match[str], start: int) -> Statement | None:
    noun = _FILLER.sub("", match["r"]).strip()
    key = noun.casefold().replace("favorite", "favourite")
    if key in _NOUNS:
        return _made(match, _NOUNS[key], start, named=True)
    if not key or _NOT_NOW.search(key):
        return None
    if key.split()[-1] in MANY_NOUNS or key.endswith("s"):
        return None
    if not key.startswith("favourite") and not _OPENS_NAME.match(match["o"]):
        return None  # "our dog is shy": a quality, not a value
    return _made(match, key, start, named=False)


def _has(match: re.Match[str], group: str) -> bool:
    return group in match.re.groupindex and match[group] is not None


def _made(match: re.Match[str], predicate: str, start: int, *, named: bool) -> Statement | None:
    subject, subject_span = _subject(match)
    if subject is None:
        return None
    value, begin = match["o"], match.start("o")
    cut = _CLAUSE.search(value)
    whole = cut is None
    if cut is not None:
        value = value[: cut.start()]
    article = _ARTICLE.match(value)
    if article:
        value, begin = value[article.end() :], begin + article.end()
    value = value.strip(" \t\"'“”‘’,.")
    begin = match.string.find(value, begin) if value else begin
    if not value or _NO_OBJECT.match(value) or len(value.split()) > _MOST_WORDS:
        return None
    attribute = ATTRIBUTES.get(predicate)
    return Statement(
        subject=subject,
        predicate=predicate,
        object=value,
        cardinality=attribute.cardinality if attribute else "one",
        subject_span=(start + subject_span[0], start + subject_span[1]),
        object_span=(start + begin, start + begin + len(value)),
        fixed=attribute is not None and attribute.fixed,
        values=attribute.values if attribute else "name",
        named=named,
        whole=whole,
    )


def _subject(match: re.Match[str]) -> tuple[str | None, tuple[int, int]]:
    if not _has(match, "s"):
        return PRINCIPAL, (0, 0)
    words, begin = match["s"], match.start("s")
    if words.casefold() in ("my", "our") or _USER.fullmatch(words):
        return PRINCIPAL, match.span("s")
    article = _ARTICLE.match(words)
    if article:
        words, begin = words[article.end() :], begin + article.end()
    plain = words.strip(" \t\"'“”‘’")
    begin, words = match.string.find(plain, begin) if plain else begin, plain
    if (
        not words
        or not (article or _OPENS_NAME.match(words))
        or len(words.split()) > _MOST_WORDS
        or _PRONOUN.match(words)
        or _NO_SUBJECT.search(words)
    ):
        return None, (0, 0)
    if _USER.fullmatch(words):
        return PRINCIPAL, (begin, begin + len(words))
    return words, (begin, begin + len(words))
