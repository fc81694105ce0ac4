"""Reads atomic facts out of what somebody said. Local and deterministic; no store, no clock.

    text -> sentences -> greeting or note cut off -> question? command? -> clauses
         -> "she" and "I" to a name, dates made absolute -> kind, intensity

What makes no fact is reported with the reason, never dropped unsaid. A language model may read
instead (`consolidate.backends.llm.facts`); this is what is used without one, and when it fails.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import date
from typing import Final

from consolidate.judge.modality import modality_of
from consolidate.memory.clauses import clauses
from consolidate.memory.first_person import about
from consolidate.memory.persons import third_person, with_name
from consolidate.memory.pronouns import named
from consolidate.memory.records import LeftOut
from consolidate.memory.relative import absolute, language
from consolidate.memory.speech import act_of, as_rule, without_greeting, without_request
from consolidate.sentences import sentences

__all__ = ["Claim", "extract_claims", "intensity_of", "kind_of"]

LONGEST_SENTENCE: Final = 2000
"""Characters; what is longer was not spoken as a sentence and is kept as it is."""

_WHY_NOT: Final = {
    "question": "a question states nothing",
    "greeting": "a greeting or an interjection states nothing",
    "command": "something to do now is no fact",
    "talk": "it is about the conversation itself",
}

_MARKER: Final = re.compile(
    r"^(?:(?:[-*•‣▪+–>|]|\(?\d{1,3}[.)]|\(?[a-zA-Z]\)|#{1,6})\s+)+(?:\[[ xX]\]\s+)?"
)
_HEADING: Final = re.compile(r"^#{1,6}\s")
_FENCE: Final = re.compile(r"^[ \t]*(```|~~~)", re.MULTILINE)
_WORD: Final = re.compile(r"[^\W_]+")
_NO_SPACES: Final = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\u0e00-\u0e7f]")

_PREFERENCE: Final = re.compile(
    r"\b(?:prefers?|favou?rites?|(?:dis)?likes?|loves?|hates?|enjoys?|adores?|can['’]t stand|"
    r"cannot stand|is (?:not )?(?:a|no) (?:big )?fan of|is fond of|would rather|preference|"
    r"bevorzug\w*|lieblings\w*|préfère|prefiere|preferisce)\b",
    re.IGNORECASE,
)
_DECISION: Final = re.compile(
    r"\b(?:decided|has chosen|have chosen|chose|opted|settled on|agreed (?:on|to|that)|"
    r"(?:we|user)(?:['’]ll| will) go with|decision\b|went with|hat entschieden|haben entschieden|"
    r"a décidé|decidió|ha deciso)\b",
    re.IGNORECASE,
)
_DATE: Final = re.compile(r"\b(?:19|20)\d\d\b")
_FIRST_PERSON_PLAN: Final = re.compile(
    r"\b(?:is|are) (?:going|planning|hoping|about) to\b|\bwill (?:be )?[a-z]+\b", re.IGNORECASE
)

_USUAL: Final = 0.5
_CHARGED: Final = re.compile(
    r"\b(?:love|loves|hate|hates|adore|adores|terrified|furious|devastated|thrilled|heartbroken|"
    r"amazing|awful|terrible|horrible|wonderful|excited|afraid|scared|angry|can['’]t stand|grief|"
    r"died|death|dying|divorced?|fired|crying|panic|desperate|proud|ashamed|passionate)\b",
    re.IGNORECASE,
)
_WEIGHTY: Final = re.compile(
    r"\b(?:allerg\w+|diabet\w+|asthma|epilep\w+|pregnan\w+|diagnos\w+|medication|emergency|"
    r"vegetarian|vegan|deadline|critical|crucial|urgent|must|password|legal\w*|lawsuit|"
    r"production|outage|incident|dangerous|mortgage|wedding|married|engaged|born|birthday)\b",
    re.IGNORECASE,
)
_IDENTITY: Final = re.compile(
    r"^(?:User|[A-Z]\w+)(?:['’]s (?:full |first |last |real )?name\b"
    r"| is (?:an? )?(?!going|not\b)\w+(?:er|or|ist|ian|an|ese|ish)\b| (?:lives|works|was born)\b)"
)
_ABSOLUTE: Final = re.compile(
    r"\b(?:always|never|absolutely|completely|totally|extremely|most important|at all costs|"
    r"under no circumstances|definitely|without exception|every single)\b",
    re.IGNORECASE,
)
_HEDGED: Final = re.compile(
    r"\b(?:maybe|perhaps|probably|kind of|kinda|sort of|somewhat|slightly|a bit|might|i guess|"
    r"not sure|possibly|apparently|i think|thinks|seems?)\b",
    re.IGNORECASE,
)
_SHOUTED: Final = re.compile(r"\b[A-Z]{4,} [A-Z]{2,}\b")
_IMPORTANT: Final = re.compile(r"\b(?:important|remember this|never forget|crucial)\b", re.I)


@dataclass(frozen=True, kw_only=True)
class Claim:
    """One fact as read from a text."""

    text: str
    kind: str
    intensity: float
    """0 to 1."""
    said: str
    """The words it was read from."""


def extract_claims(
    text: str, *, said_on: date, speaker: str = "user"
) -> tuple[list[Claim], list[LeftOut]]:
    """Read the facts of a text, and what in it makes none.

    Args:
        text: What was said.
        said_on: The day it was said, where it was said.
        speaker: Who "I" is.
    """
    claims: list[Claim] = []
    left_out: list[LeftOut] = []
    name = with_name(speaker)
    before = ""
    for sentence in _sentences(text, left_out):
        if len(sentence) > LONGEST_SENTENCE:
            claims.append(Claim(text=sentence, kind="fact", intensity=_USUAL, said=sentence))
            continue
        for said in clauses(sentence) if language(sentence) == "en" else [sentence]:
            bare, noted = without_request(without_greeting(said))
            bare = named(bare, before)
            act = "statement" if noted and not _ordered_for_good(bare) else act_of(bare or said)
            reason = _WHY_NOT.get(act) or _too_little(bare)
            if reason:
                left_out.append(LeftOut(text=said, reason=reason))
                continue
            claims.append(_claim(bare, said, act, noted, said_on=said_on, name=name))
            before = bare
    return claims, left_out


def kind_of(text: str) -> str:
    """The kind of a claim where its words are plain; else `fact`."""
    mood = modality_of(text)
    if mood.question or mood.reported or mood.hypothetical:
        return "fact"
    if _PREFERENCE.search(text) and not mood.plan:
        return "preference"
    if _DECISION.search(text):
        return "decision"
    if mood.plan or (mood.future and _FIRST_PERSON_PLAN.search(text)):
        return "plan"
    if mood.event and _DATE.search(text) and not mood.ended:
        return "event"
    return "fact"


def intensity_of(text: str, *, noted: bool = False) -> float:
    """How much a claim seems to matter, 0 to 1, by its words.

    Half is usual. Feeling, weight (health, deadlines), identity, absolutes, exclamation and being
    asked to remember add; hedging takes away. The steps are this project's choice.
    """
    score = _USUAL
    score += 0.15 * bool(_CHARGED.search(text))
    score += 0.2 * bool(_WEIGHTY.search(text))
    score += 0.1 * bool(_IDENTITY.search(text))
    score += 0.1 * bool(_ABSOLUTE.search(text))
    score += 0.1 * (text.rstrip().endswith("!") or bool(_SHOUTED.search(text)))
    score += 0.2 * (noted or bool(_IMPORTANT.search(text)))
    score -= 0.15 * bool(_HEDGED.search(text))
    return round(min(1.0, max(0.1, score)), 2)


def _claim(bare: str, said: str, act: str, noted: bool, *, said_on: date, name: str) -> Claim:
    text = absolute(bare, said_on)
    if act == "instruction":
        text = as_rule(text)
        called = re.match(
            r"(?:please )?(?:you can |just )?call me (.+?)[.!]*$", text, re.IGNORECASE
        )
        if called:
            text = f"{name} wants to be called {called[1]}."
    tongue = language(bare)
    if tongue == "en":
        text = third_person(text, name)
    elif act != "instruction":
        text = about(text, tongue, name)
    kind = "instruction" if act == "instruction" else kind_of(text)
    intensity = intensity_of(text, noted=noted)
    if kind == "instruction":
        intensity = max(intensity, 0.7)
    return Claim(text=text, kind=kind, intensity=intensity, said=said)


def _sentences(text: str, left_out: list[LeftOut]) -> Iterator[str]:
    for block, is_code in _blocks(text):
        if is_code:
            left_out.append(LeftOut(text=block, reason="code is no claim"))
            continue
        for start, end in sentences(block):
            sentence = block[start:end]
            if _HEADING.match(sentence):
                left_out.append(LeftOut(text=sentence, reason="a heading states nothing"))
                continue
            bare = _MARKER.sub("", sentence).strip().strip("*_").strip()
            yield " ".join(bare.split()) if bare else sentence


def _blocks(text: str) -> Iterator[tuple[str, bool]]:
    """The text outside and inside of fences of code, in order."""
    position = 0
    while opened := _FENCE.search(text, position):
        yield text[position : opened.start()], False
        closing = re.compile(rf"^[ \t]*{re.escape(opened[1])}[ \t]*$", re.MULTILINE)
        closed = closing.search(text, opened.end())
        end = closed.end() if closed else len(text)
        yield text[opened.start() : end], True
        position = end
    yield text[position:], False


def _too_little(text: str) -> str:
    if len(_WORD.findall(text)) < 2 and not (_NO_SPACES.search(text) and len(text) >= 4):
        return "one word alone states nothing"
    return ""


def _ordered_for_good(text: str) -> bool:
    return act_of(text) in ("instruction", "command")
