"""Puts a name in the place of "I" and "my", so that a fact says whom it is about. English; pure.

"I don't like my job" becomes "User doesn't like User's job". Words in quotation marks are
somebody's and stay. Where it can't be told whether a verb is present or past, it stays as it is:
"User quit his job" is still understood. Other languages keep their words.
"""

from __future__ import annotations

import re
from typing import Final

__all__ = ["KNOWN_VERBS", "PAST", "third_person", "with_name"]

_QUOTED: Final = re.compile(r'"[^"\n]{0,300}"|“[^”\n]{0,300}”|«[^»\n]{0,300}»|`[^`\n]{0,300}`')
_ADVERBS: Final = (
    "also|really|just|always|never|often|usually|still|now|mostly|currently|actually|only|even|"
    "recently|already|sometimes|rarely|hardly|absolutely|truly|personally|generally|typically|"
    "probably|definitely|certainly|totally|strongly|simply|mainly|normally|finally|once|ever|"
    "occasionally|regularly|both|kinda|no longer|no more|kind of|sort of|at least|of course"
)
_UNCHANGED: Final = frozenset(
    "can could will would should must may might shall ought used can't couldn't won't wouldn't "
    "shouldn't mustn't cannot didn't did had hadn't was wasn't were weren't "
    "read put cut set let hit quit hurt shut split spread bet beat cast".split()
)
PAST: Final = frozenset(
    "went met saw had bought brought came took got gave made said told found left felt kept held "
    "began wrote drove flew ran sold built sent spent lost won paid became chose grew knew thought "
    "taught caught ate drank slept spoke broke fell forgot stood understood heard led wore rode "
    "sang swam threw woke hid shot fought sat lay dealt meant learnt dreamt stuck hung dug swore "
    "tore bit blew drew froze rose shook stole struck was were did overslept rebuilt undertook "
    "withdrew burnt spelt smelt bent lent swept crept wept leapt".split()
)
"""Past forms that do not end in -ed."""
_BASE_IN_ED: Final = frozenset(
    "need feed speed breed bleed seed exceed proceed succeed heed embed".split()
)
KNOWN_VERBS: Final = frozenset(
    "work live love like hate prefer use have need want play eat drink speak own drive run study "
    "teach write manage lead enjoy know make take go keep hold sleep cook bake travel commute plan "
    "hope think believe feel wear ride swim train volunteer collect practise practice learn "
    "maintain host build sell buy rent share support follow watch listen call visit grow raise "
    "start finish avoid dislike code develop design deploy ship review".split()
)
"""Base forms that a second verb after "and" is taken for."""
_NO_VERBS: Final = frozenset(
    "no nor so yet and or but too for from in on at to of with as by than if when not the a an my "
    "your i who which that myself".split()
)
_TAIL: Final = "in|at|as|for|with|on|to|a|an|the|my|from|every|about|by|near|against"
_NUMERAL_AFTER: Final = frozenset(
    "war part type phase chapter level class volume appendix section article title book act grade "
    "tier stage element group category elizabeth charles napoleon".split()
)
_TOKEN: Final = re.compile(
    r"\b(?P<i>I|i)(?P<short>['’](?:m|ve|ll|d|re))?(?![\w'’])"
    r"|\b(?P<poss>my|mine)\b|\b(?P<obj>me)\b|\b(?P<self>myself)\b",
    re.IGNORECASE,
)
_AFTER: Final = re.compile(
    rf"(?P<adverbs>(?:[ ,]+(?:{_ADVERBS})\b)*)(?P<gap>[ ,]+)(?P<verb>[A-Za-z]+(?:['’]t)?)\b"
    r"(?P<negated> not\b)?"
)
_SECOND_VERB: Final = re.compile(
    r"(?P<joint> (?:and|but|or)(?: (?:also|still|now|mostly|sometimes))?) "
    rf"(?P<verb>[a-z]+)(?= (?:{_TAIL})\b)"
)
_SMALL_I_BEFORE: Final = re.compile(
    r"(?:\A|\b(?:and|but|that|when|because|if|so|while|since|as|then|or|before|after|where|what)"
    r"|[,;:(])\s*$",
    re.IGNORECASE,
)


def with_name(principal: str) -> str:
    """How a principal is written in a fact: "User" for `user`, a name as it is."""
    return principal[:1].upper() + principal[1:] if principal == principal.casefold() else principal


def third_person(sentence: str, name: str) -> str:
    """Say of `name` what the sentence says of "I".

    Args:
        sentence: One English sentence or clause.
        name: Who "I" is, as it is to be written.
    """
    quoted = [match.span() for match in _QUOTED.finditer(sentence)]
    pieces: list[str] = []
    position = 0
    while match := _TOKEN.search(sentence, position):
        pieces.append(sentence[position : match.start()])
        position = match.end()
        if any(start < match.start() < end for start, end in quoted):
            pieces.append(match[0])
        elif match["i"]:
            written, position = _subject(sentence, match, name)
            pieces.append(written)
        elif match["self"]:
            pieces.append("themselves")
        elif match[0].isupper() and len(match[0]) > 1:
            pieces.append(match[0])  # "ME" is Maine as often
        else:
            pieces.append(f"{name}'s" if match["poss"] else name)
    pieces.append(sentence[position:])
    return "".join(pieces)


def _subject(sentence: str, match: re.Match[str], name: str) -> tuple[str, int]:
    """What stands for one "I" with its verb, and where reading goes on."""
    before = sentence[max(0, match.start() - 80) : match.start()]
    previous = before.split()[-1].strip(",;:(").casefold() if before.split() else ""
    if match["i"] == "i" and not (match["short"] or _SMALL_I_BEFORE.search(before)):
        return match[0], match.end()
    if match["i"] == "I" and not match["short"] and previous in _NUMERAL_AFTER:
        return match[0], match.end()
    if match["short"]:
        return _contracted(sentence, match, name)
    after = _AFTER.match(sentence, match.end())
    # "Ana and I like tea", but not "if I move and I find a job"
    plural = previous == "and" and len(re.split(r"[,;:.]", before)[-1].split()) <= 4
    if after is None or plural:
        return name, match.end()
    verb = after["verb"]
    if after["negated"] and verb.casefold() in ("do", "am", "have"):
        changed = {"do": "does not", "am": "is not", "have": "has not"}[verb.casefold()]
    else:
        changed = _conjugated(verb) + (after["negated"] or "")
    written = f"{name}{after['adverbs']}{after['gap']}{changed}"
    if changed == verb:
        return written, after.end()
    second, end = _second(sentence, after.end())
    return written + second, end


def _second(sentence: str, start: int) -> tuple[str, int]:
    """Let the second verb of "I live in Porto and work at Acme" follow the first."""
    found = _SECOND_VERB.search(sentence, start, start + 120)
    if found is None or found["verb"] not in KNOWN_VERBS or "." in sentence[start : found.start()]:
        return "", start
    if re.search(
        r"\b(?:I|i|to (?!the\b|a\b|my\b)|that|who|they|we|you)\b", sentence[start : found.start()]
    ):
        return "", start
    between = sentence[start : found.start()]
    if _TOKEN.search(between):
        return "", start
    return f"{between}{found['joint']} {_conjugated(found['verb'])}", found.end()


def _contracted(sentence: str, match: re.Match[str], name: str) -> tuple[str, int]:
    short = match["short"].replace("’", "'").casefold()
    if short == "'d":
        following = re.match(r"\s+(\w+)", sentence[match.end() : match.end() + 40])
        word = following[1].casefold() if following else ""
        had = word == "been" or word in ("already", "just", "never") or word.endswith("ed")
        return f"{name} {'had' if had else 'would'}", match.end()
    verb = {"'m": "is", "'ve": "has", "'ll": "will"}.get(short, "are")
    return f"{name} {verb}", match.end()


def _conjugated(verb: str) -> str:
    """A verb after "I" in the form after a name; unchanged where it may be past."""
    small = verb.casefold().replace("’", "'")
    fixed = {
        "am": "is", "have": "has", "do": "does", "don't": "doesn't", "haven't": "hasn't",
        "ain't": "isn't", "go": "goes",
    }.get(small)  # fmt: skip
    if fixed is not None:
        return fixed
    if small in _UNCHANGED or small in PAST or small in _NO_VERBS or "'" in small:
        return verb
    if small.endswith("ed") and small not in _BASE_IN_ED:
        return verb
    if not verb.islower() or len(verb) < 2:
        return verb
    if small.endswith("y") and small[-2] not in "aeiou":
        return verb[:-1] + "ies"
    if small.endswith(("s", "x", "z", "ch", "sh", "o")):
        return verb + "es"
    return verb + "s"
