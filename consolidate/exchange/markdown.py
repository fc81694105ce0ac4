"""Reads Markdown: notes of basic-memory, and memory files of bullets such as Claude keeps.

A note of basic-memory is about one thing: its observations and relations become facts about that,
the rest of the text a memory. In a memory file each bullet is a fact, under the headings it stands
below; paragraphs become memories. No file's own date is taken for the time of saying.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Any, Final

from consolidate.errors import InputError
from consolidate.exchange.columns import known_time
from consolidate.exchange.lines import whole_text
from consolidate.exchange.mcp_memory import about
from consolidate.exchange.records import Broken, Options, Parsed
from consolidate.types import Alias, NewFact

__all__ = ["looks_like_basic_memory", "read_basic_memory", "read_markdown"]

_OBSERVATION: Final = re.compile(r"\[(?![ xX]?\])(?!\[)([^\[\]]{1,60})\]\s+(.+)", re.DOTALL)
_RELATION: Final = re.compile(
    r"([\w' -]{0,80}?)\s*\[\[([^\[\]|]+)(?:\|[^\[\]]*)?\]\]\s*(?:\(([^()]*)\))?"
)
_CONTEXT: Final = re.compile(r"\s+\(([^()]*)\)$")
_TAG: Final = re.compile(r"(?<!\S)#([\w/-]+)")
_BULLET: Final = re.compile(r"^(\s*)(?:[-*+•]|\d{1,3}[.)])\s+(.*)$")
_HEADING: Final = re.compile(r"^(#{1,6})\s+(.*?)\s*#*$")
_FENCE: Final = re.compile(r"^\s*(```|~~~)")
_CHECKBOX: Final = re.compile(r"^\[[ xX]\]\s+")
_DATED: Final = re.compile(r"^[(\[]?(\d{4}-\d\d-\d\d)[)\]]?\s*(?:[:–—-]\s+|\s)(?=\S)")
_ORDERS: Final = frozenset({"claude.md", "claude.local.md", "agents.md", "gemini.md"})
_WHEN: Final = ("created", "created_at", "date", "modified", "updated_at", "updated")


@dataclass(frozen=True, kw_only=True)
class _Item:
    """A bullet or a paragraph."""

    line: int
    text: str
    bullet: bool
    headings: tuple[str, ...]
    code: bool = False


def looks_like_basic_memory(data: bytes) -> bool:
    """Say whether a Markdown file is a note of basic-memory."""
    text = whole_text(data[:20_000])
    front, _ = _front(text)
    if "permalink" in front:
        return True
    marked = sum(bool(_OBSERVATION.fullmatch(i.text)) for i in _items(text) if i.bullet)
    linked = sum(bool(_RELATION.fullmatch(i.text)) for i in _items(text) if i.bullet)
    return bool(front.get("title")) and marked + linked > 0


def read_basic_memory(data: bytes, options: Options, *, name: str = "") -> Parsed:
    """Read a note.

    Raises:
        InputError: It is no text.
    """
    text = _checked(data)
    front, _ = _front(text)
    items = list(_items(text))
    title = str(front.get("title") or _first_heading(text) or PurePath(name).stem or "note").strip()
    stated, broken = _stated(front, options)
    note: dict[str, Any] = {"entity": title}
    for key in ("permalink", "type", "tags"):
        if front.get(key):
            note["note_type" if key == "type" else key] = front[key]
    facts: list[tuple[int, NewFact]] = []
    prose: list[_Item] = []

    def add(line: int, said: str, more: Mapping[str, Any], kind: str = "fact") -> None:
        facts.append(
            (
                line,
                NewFact(
                    text=said,
                    agent=options.agent,
                    kind=options.kind or kind,
                    source=options.source or "import:basic-memory",
                    stated_at=stated,
                    metadata=note | dict(more),
                ),
            )
        )

    for item in items:
        observed = _OBSERVATION.fullmatch(item.text) if item.bullet else None
        related = _RELATION.fullmatch(item.text) if item.bullet else None
        if observed:
            category, said = observed.group(1).strip(), observed.group(2).strip()
            more: dict[str, Any] = {"category": category}
            if context := _CONTEXT.search(said):
                more["context"] = context.group(1)
                said = said[: context.start()]
            if tags := _TAG.findall(said):
                more["tags"] = tags
                said = " ".join(_TAG.sub("", said).split())
            if said:
                add(item.line, about(title, said), more)
        elif related:
            relation = (related.group(1) or "relates to").replace("_", " ").strip() or "relates to"
            other = related.group(2).strip()
            more = {"relation": relation, "to": other}
            if related.group(3):
                more["context"] = related.group(3)
            add(item.line, f"{title} {relation} {other}", more)
        else:
            prose.append(item)
    body = "\n".join(f"- {item.text}" if item.bullet else item.text for item in prose).strip()
    if body:
        add(prose[0].line, body, {}, "memory")
    alias = Alias(agent=options.agent, canonical=title, alias=title)
    return Parsed(
        format="basic-memory",
        facts=tuple(facts),
        aliases=(alias,) if facts and len(title) <= 200 else (),
        broken=tuple(broken),
    )


def read_markdown(data: bytes, options: Options, *, name: str = "") -> Parsed:
    """Read a memory file: bullets and paragraphs under headings.

    Raises:
        InputError: It is no text, or holds nothing.
    """
    text = _checked(data)
    front, _ = _front(text)
    stated, broken = _stated(front, options)
    orders = PurePath(name).name.casefold() in _ORDERS
    common: dict[str, Any] = {}
    if isinstance(front.get("type"), str):
        common["memory_type"] = front["type"]
    facts: list[tuple[int, NewFact]] = []
    undated = 0
    for item in _items(text):
        said = _CHECKBOX.sub("", item.text)
        when = stated
        more: dict[str, Any] = {}
        if item.headings:
            more["section"] = " / ".join(item.headings)[:200]
        if item.bullet and (dated := _DATED.match(said)):
            try:
                when = known_time(dated.group(1), "date", options.timezone)
                said = said[dated.end() :]
            except InputError:
                undated += 1
        kind = ("instruction" if orders else "fact") if item.bullet else "memory"
        facts.append(
            (
                item.line,
                NewFact(
                    text=said,
                    agent=options.agent,
                    kind=options.kind or kind,
                    source=options.source or "import:markdown",
                    stated_at=when,
                    metadata=common | more,
                ),
            )
        )
    if not facts:
        raise InputError("the file holds neither bullets nor paragraphs")
    notes = []
    if undated:
        notes.append(f"{undated} bullets begin with a day; --timezone makes it their time")
    return Parsed(format="markdown", facts=tuple(facts), broken=tuple(broken), notes=tuple(notes))


def _checked(data: bytes) -> str:
    text = whole_text(data).replace("\r\n", "\n")
    if "\0" in text or any("\ud800" <= char <= "\udfff" for char in text):
        raise InputError("this is binary or not UTF-8 text")
    return text


def _stated(front: Mapping[str, Any], options: Options) -> tuple[Any, list[Broken]]:
    for key in _WHEN:
        if isinstance(front.get(key), str) and front[key]:
            try:
                return known_time(front[key], key, options.timezone), []
            except InputError as error:
                return None, [Broken(line=1, reason=f"the time stays unknown: {error}")]
    return None, []


def _front(text: str) -> tuple[dict[str, Any], int]:
    """The block between dashes at the start, as names and values, and how many lines it has.

    Only what such files hold is read: texts, and lists of texts. No YAML, which can do more than a
    stranger's file should.
    """
    lines = text.split("\n")
    if not lines or lines[0].strip() != "---":
        return {}, 0
    ends = next((n for n, line in enumerate(lines[1:200], 1) if line.strip() == "---"), 0)
    found: dict[str, Any] = {}
    last = ""
    for line in lines[1:ends]:
        item = re.match(r"^\s*-\s+(.*)$", line)
        pair = re.match(r"^([\w-]+):\s*(.*)$", line)
        if item and last:
            value = found[last] if isinstance(found.get(last), list) else []
            found[last] = [*value, _unquoted(item.group(1))]
        elif pair:
            last, value = pair.group(1), pair.group(2).strip()
            if value.startswith("[") and value.endswith("]"):
                parts = [_unquoted(part) for part in value[1:-1].split(",")]
                found[last] = [part for part in parts if part]
            else:
                found[last] = _unquoted(value)
    return found, ends + 1 if ends else 0


def _unquoted(value: str) -> str:
    value = value.strip()
    if len(value) > 1 and value[0] == value[-1] and value[0] in "\"'":
        return value[1:-1]
    return value


def _first_heading(text: str) -> str:
    match = re.search(r"^#\s+(.+)$", text, re.MULTILINE)
    return match.group(1).strip() if match else ""


def _items(text: str) -> Iterator[_Item]:
    """Bullets and paragraphs with the line each begins at. Headings are where things stand."""
    _, skipped = _front(text)
    headings: list[tuple[int, str]] = []
    open_item: tuple[int, list[str], bool] | None = None
    fenced = False

    def close() -> list[_Item]:
        nonlocal open_item
        if open_item is None:
            return []
        line, parts, bullet = open_item
        open_item = None
        joint = "\n" if any(_FENCE.match(part) for part in parts) else " "
        said = joint.join(part.rstrip() if joint == "\n" else part.strip() for part in parts)
        names = tuple(name for _, name in headings)
        return (
            [_Item(line=line, text=said.strip(), bullet=bullet, headings=names)]
            if said.strip()
            else []
        )

    for number, line in _without_comments(text.split("\n")[skipped:], skipped + 1):
        if _FENCE.match(line):
            fenced = not fenced
            if open_item is None:
                open_item = (number, [], False)
            open_item[1].append(line)
            continue
        if fenced:
            if open_item is not None:
                open_item[1].append(line)
            continue
        heading, bullet = _HEADING.match(line), _BULLET.match(line)
        if heading:
            yield from close()
            level = len(heading.group(1))
            headings = [(at, name) for at, name in headings if at < level]
            headings.append((level, heading.group(2)))
        elif bullet:
            yield from close()
            open_item = (number, [bullet.group(2)], True)
        elif not line.strip() or re.fullmatch(r"\s*([-*_])(?:\s*\1){2,}\s*", line):
            yield from close()
        elif open_item is not None:
            open_item[1].append(line)
        else:
            open_item = (number, [line], False)
    yield from close()


def _without_comments(lines: Sequence[str], first: int) -> Iterator[tuple[int, str]]:
    """Lines with their numbers, HTML comments taken out."""
    inside = False
    for number, line in enumerate(lines, start=first):
        kept = ""
        while line:
            if inside:
                _, ended, line = line.partition("-->")
                inside = not ended
            else:
                before, began, line = line.partition("<!--")
                kept += before
                inside = bool(began)
        yield number, kept
