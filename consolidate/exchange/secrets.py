"""Finds what should not lie in a memory: keys, tokens, passwords, numbers of cards and accounts.

Patterns with a check where there is one (Luhn, ISO 7064). What is found is never shown whole.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

__all__ = ["find_secrets", "masked"]


def _luhn(digits: str) -> bool:
    """The check digit of card numbers (ISO/IEC 7812-1)."""
    numbers = [int(digit) for digit in re.sub(r"\D", "", digits)]
    if not 13 <= len(numbers) <= 19 or len(set(numbers)) < 2:
        return False
    doubled = [n if at % 2 == 0 else sum(divmod(2 * n, 10)) for at, n in enumerate(numbers[::-1])]
    return sum(doubled) % 10 == 0


def _iban(text: str) -> bool:
    """The check digits of bank accounts (ISO 13616, MOD 97-10)."""
    plain = text.replace(" ", "").upper()
    turned = plain[4:] + plain[:4]
    return int("".join(str(int(char, 36)) for char in turned)) % 97 == 1


def _like_a_secret(value: str) -> bool:
    """Whether what follows "password is" can be one: "password is required" is a sentence."""
    if len(value) < 4 or value.casefold() in _WORDS:
        return False
    kinds = (str.isdigit, str.islower, str.isupper, lambda char: not char.isalnum())
    return sum(any(map(kind, value)) for kind in kinds) >= 2 or value.isdigit()


_WORDS: Final = frozenset(
    "required stored reset expired changed wrong hashed encrypted rotated needed missing used not "
    "hidden unknown protected secret weekly monthly null none true false".split()
)

_PATTERNS: Final[tuple[tuple[str, re.Pattern[str], Callable[[str], bool]], ...]] = (
    ("private key", re.compile(r"-----BEGIN [A-Z ]*PRIVATE KEY-----"), bool),
    ("AWS key", re.compile(r"\b(?:AKIA|ASIA)[0-9A-Z]{16}\b"), bool),
    ("GitHub token", re.compile(r"\b(?:gh[pousr]_\w{30,}|github_pat_\w{30,})"), bool),
    ("Slack token", re.compile(r"\bxox[abeoprs]-[\w-]{10,}"), bool),
    ("API key", re.compile(r"\bsk-[\w-]{18,}|\b[rs]k_live_\w{16,}|\bAIza[\w-]{30,}"), bool),
    ("web token", re.compile(r"\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"), bool),
    ("login in an address", re.compile(r"\b[a-z][\w+.-]*://[^\s/:@]+:([^\s/@]{3,})@"), bool),
    ("bearer token", re.compile(r"\b[Bb]earer\s+([\w.~+/-]{16,}=*)"), bool),
    (
        "password",
        re.compile(
            r"\b(?:passwor[dt]|passwd|pwd|passphrase|kennwort|mot de passe|contraseña|pin|secret|"
            r"api[ _-]?key|access[ _-]?key|(?:auth |access |api )?token)\b[\"']?"
            r"(?: for [\w .-]{1,40}?)?\s*(?:is\s+now\s|is\s|ist\s|est\s|es\s|[:=])\s*"
            r"[\"'`]?([^\s\"'`,;]+[^\s\"'`,;.!?])",
            re.IGNORECASE,
        ),
        _like_a_secret,
    ),
    ("card number", re.compile(r"(?<![\d.-])\d(?:[ -]?\d){12,18}(?![\d-])"), _luhn),
    (
        "account number",
        re.compile(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b"),
        _iban,
    ),
    (
        "social security number",
        re.compile(r"\b(?!000|666|9)\d{3}-(?!00)\d\d-(?!0000)\d{4}\b"),
        bool,
    ),
)


def find_secrets(text: str) -> list[tuple[str, str]]:
    """Find secrets in a text.

    Returns:
        What each is, and its value masked; in the order of the patterns, none twice.
    """
    found: dict[str, str] = {}
    spans: list[tuple[int, int]] = []
    for what, pattern, check in _PATTERNS:
        for match in pattern.finditer(text):
            value = match.group(match.lastindex or 0)
            start, end = match.span(match.lastindex or 0)
            if any(start < b and a < end for a, b in spans) or not check(value):
                continue
            spans.append((start, end))
            found.setdefault(value, what)
    return [(what, masked(value)) for value, what in found.items()]


def masked(value: str) -> str:
    """A secret's first letters and its length: enough to find it, too little to use it."""
    shown = min(4, len(value) // 4)
    return f"{value[:shown]}… ({len(value)} characters)"
