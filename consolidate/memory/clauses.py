"""Cuts a sentence into claims where that is safe: each part must stand by itself. English; pure.

"I live in Porto and I work at Acme" is two claims. What a condition, a reason or somebody's words
hold together stays together, and so does anything that is not plainly two sentences.
"""

from __future__ import annotations

import re
from typing import Final

from consolidate.memory.persons import KNOWN_VERBS, PAST

__all__ = ["clauses"]

_HOLDS_TOGETHER: Final = re.compile(
    r"\b(?:if|unless|because|although|though|whereas|until|that|which|who|whose|whether|said|says|"
    r"told|tells|think|thinks|thought|believe|believes|hope|hopes|either|neither|both|so that|"
    r"in order|as long as|provided|when|whenever|while|since|once|before|after|between|"
    r"how|why|what|where|asked|asks)\b",
    re.IGNORECASE,
)
_PRONOUN: Final = r"(?:I|i|we|he|she|they|my|our|his|her|their)"
_JOINT: Final = re.compile(
    rf"\s*;\s+|\s+[–—]\s+(?={_PRONOUN}\b)|,?\s+(?:and|but)\s+(?:also\s+)?(?={_PRONOUN}(?:['’]\w+)?\s)"
    rf"|,\s+(?=(?:can|could|would|will) you\b|please\b)"
)
_SUBJECT_FIRST: Final = re.compile(
    rf"\W*{_PRONOUN}(?:['’]\w+)?\s+\w+|\W*(?:The|A|An)?\s*[A-Z]\w*\s+\w+"
)
_SHARED: Final = re.compile(
    r"^(?P<subject>I|i|We|we)\s+(?P<first>[a-z]+)\s(?P<rest>[^,;]{2,80}?)\s+and\s+"
    r"(?P<second>[a-z]+)\s+(?P<tail>(?:in|at|as|for|with|on|to|a|an|the|my|from|every|about|by)\b.+)$"
)
_QUOTE: Final = re.compile(r'["“”«»`(){}\[\]]')
_LEAST: Final = 3
"""Words that a claim has at least."""


def clauses(sentence: str) -> list[str]:
    """Cut a sentence into claims; a list of one where it had better stay whole."""
    if _QUOTE.search(sentence):
        return [sentence]
    end = re.search(r"[.!?…]*$", sentence)
    mark = end[0] if end else ""
    body = sentence[: len(sentence) - len(mark)]
    parts = _joined(body)
    cut = [piece for part in parts for piece in _with_shared_subject(part)]
    if len(cut) == 1:
        return [sentence]
    finished = [f"{part[:1].upper()}{part[1:]}." for part in cut[:-1]]
    last = cut[-1]
    return [*finished, f"{last[:1].upper()}{last[1:]}{mark or '.'}"]


def _joined(body: str) -> list[str]:
    parts: list[str] = []
    start = 0
    for match in _JOINT.finditer(body):
        left, right = body[start : match.start()].strip(), body[match.end() :].strip()
        semicolon = ";" in match[0]
        whole = len(left.split()) >= _LEAST and len(right.split()) >= _LEAST
        if not whole or (not semicolon and not _may_part(left)):
            continue
        parts.append(left)
        start = match.end()
    parts.append(body[start:].strip())
    return parts


def _may_part(left: str) -> bool:
    return bool(_SUBJECT_FIRST.match(left)) and not _HOLDS_TOGETHER.search(left)


def _with_shared_subject(part: str) -> list[str]:
    """Cut "I live in Porto and work at Acme", where both verbs are known and of one tense."""
    match = _SHARED.match(part)
    if match is None or _HOLDS_TOGETHER.search(part) or " and " in match["rest"]:
        return [part]
    first, second = match["first"], match["second"]
    present = first in KNOWN_VERBS and second in KNOWN_VERBS
    if not (present or (_is_past(first) and _is_past(second))):
        return [part]
    subject = match["subject"]
    return [f"{subject} {first} {match['rest']}", f"{subject} {second} {match['tail']}"]


def _is_past(verb: str) -> bool:
    return verb in PAST or (verb.endswith("ed") and len(verb) > 4)
