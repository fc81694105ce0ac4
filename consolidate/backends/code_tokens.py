"""Finds what is written like code: addresses, paths, versions, tickets, packages, hosts, names.

One pass of one expression; where two kinds would fit, the earlier in the list wins. Knows no
sentences.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final

__all__ = ["code_tokens"]

_FILE_ENDING: Final = (
    r"(?:py|pyi|js|mjs|ts|tsx|jsx|json|jsonl|toml|ya?ml|md|rst|txt|csv|tsv|sql|sh|bash|rs|go|java|kt"
    r"|cc?|cpp|hpp|h|cs|rb|php|html?|s?css|ini|cfg|conf|lock|env|log|xml|pdf|docx?|xlsx?|pptx?|png"
    r"|jpe?g|gif|svg|ipynb|db|sqlite|onnx|parquet|tf|proto|gradle|vue|swift|lua|zip|tar|gz|tgz|pem)"
)
_TOP_LEVEL: Final = (
    r"(?:com|org|net|io|dev|ai|app|co|de|fr|es|it|uk|eu|edu|gov|local|internal|lan|cloud|tech|info"
    r"|nl|ch|at|be|pl|se|no|fi|dk|jp|cn|in|us|ca|au|br|example|test)"
)
_FOLDERS: Final = (
    r"(?:src|lib|libs|tests?|docs?|apps?|api|bin|etc|cmd|pkg|packages|scripts|config|infra)"
)

_KINDS: Final = (
    ("code", r"`(?P<ticked>[^`\n]{1,80})`"),
    ("url", r"\b[a-z][a-z0-9+.-]{1,15}://[^\s<>\"'`«»]+"),
    ("email", r"(?<![\w.+-])[\w+-][\w.+-]*@[\w-]+(?:\.[\w-]+)+"),
    ("package", r"(?<![\w@/])@[a-z0-9][\w.-]*/[a-z0-9][\w.-]*"),
    # Absolute, from home, from here; drive letters; relative only with a file ending or a folder
    # that code is kept in, since "and/or" and "24/7" are no paths.
    (
        "path",
        r"(?<![\w/.~:])(?:~|\.{1,2})?/(?:[\w.@+-]+/)*[\w.@+-]*[\w@+-]/?(?![\w/])"
        r"|\b[A-Za-z]:\\[^\s\"<>|]+"
        rf"|(?<![\w/.-])(?:[\w.@-]+/)+[\w@-]*(?:\.\w+)*\.{_FILE_ENDING}\b"
        rf"|(?<![\w/.-]){_FOLDERS}(?:/[\w@-][\w.@-]*)+"
        rf"|(?<![\w/.])[\w-]+(?:\.[\w-]+)*\.{_FILE_ENDING}\b(?![.-]?\w)(?<!\bNode\.js)"
        r"|(?<![\w.\"'])\.(?:env|git\w*|bash\w*|zsh\w*|npmrc|docker\w+|editorconfig|ssh)\b(?:\.\w+)*",
    ),
    ("variable", r"\$\{?[A-Za-z_]\w+\}?|\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+\b"),
    ("ticket", r"\b[A-Z][A-Z0-9]{1,9}-\d+\b(?![.-]?\w)|(?<![\w#&/])\#\d{1,7}\b"),
    (
        "host",
        r"\b\d{1,3}(?:\.\d{1,3}){3}\b(?::\d{1,5})?(?:/\d{1,2})?"
        r"|\blocalhost\b(?::\d{1,5})?"
        rf"|\b(?:[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?\.)+{_TOP_LEVEL}\b(?::\d{{1,5}})?(?![.-]?\w)"
        r"|\b[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)*:\d{2,5}\b"
        r"|\b[a-z][a-z0-9]*(?:-[a-z0-9]+)*-0\d{1,2}\b"
        r"|\b[a-z]{2,}(?:-[a-z]{2,})+-\d{1,3}\b",
    ),
    (
        "version",
        r"\bv\d+(?:\.\d+)*(?:-[A-Za-z][\w.]*)?\b(?!\.\d)"
        r"|(?<![\w.,])\d+\.\d+\.\d+(?:[-+][A-Za-z][\w.]*)?\b(?!\.?\d)",
    ),
    # Names of languages and libraries that end in a sign or hold a stop.
    (
        "name",
        r"(?<![\w.+#])(?:[Cc]\+\+|[CcFfJj]\#|(?:ASP)?\.NET|Objective-C|[A-Za-z]\w*\.(?:js|ts|io|ai))"
        r"(?![\w+#])",
    ),
    (
        "code",
        r"\b[A-Za-z]\w*(?:\.\w+)*\(\)|\b[A-Za-z][A-Za-z0-9]*(?:_+[A-Za-z0-9]+)+\b"
        r"|\b(?=[a-f0-9]*\d)(?=[0-9]*[a-f])[0-9a-f]{7,40}\b"
        r"|\b[a-z][a-z0-9]*(?:[A-Z][a-z0-9]*)+\b",
    ),
    # Part numbers and the like: capitals and digits mixed, but no "10GB".
    (
        "code",
        r"\b(?=[A-Z0-9]*[A-Z])(?=[A-Z0-9]*\d)(?!\d+[A-Z]{1,3}\b)[A-Z0-9]{4,40}(?:-[A-Z0-9]+)*\b",
    ),
)  # fmt: skip

_TOKEN: Final = re.compile("|".join(f"(?P<k{i}>{rule})" for i, (_, rule) in enumerate(_KINDS)))
# Longer runs without a space are no token of any kind, and would cost quadratic time.
_ENDLESS: Final = re.compile(r"\S{300,}")
_TRAILING: Final = ".,;:!?)]}'\""


def code_tokens(text: str) -> Iterator[tuple[int, int, str]]:
    """Yield (start, end, label) of code-like tokens, left to right, not overlapping."""
    for match in _matches(text):
        kind = next(i for i in range(len(_KINDS)) if match[f"k{i}"] is not None)
        start, end = match.span("ticked") if match["ticked"] is not None else match.span()
        if _KINDS[kind][0] in ("url", "path", "email"):
            while end > start and text[end - 1] in _TRAILING:
                end -= 1
        if text[start:end].strip():
            yield start, end, _KINDS[kind][0]


def _matches(text: str) -> Iterator[re.Match[str]]:
    begin = 0
    for endless in _ENDLESS.finditer(text):
        yield from _TOKEN.finditer(text, begin, endless.start())
        begin = endless.end()
    yield from _TOKEN.finditer(text, begin)
