"""Reads `conversations.json` of a ChatGPT data export.

Every message of the branch that is shown comes in as a message of its conversation, for
`recall_conversation`. What the user plainly says about themselves ("I live in Ghent.") becomes a
fact as well; questions, requests, quoted or pasted text and everything longer does not: that is for
`remember_facts`, which reads a text as a whole.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Final

from consolidate.errors import InputError
from consolidate.exchange.columns import known_time
from consolidate.exchange.history import foreign_id
from consolidate.exchange.lines import parse_json, whole_text
from consolidate.exchange.records import Broken, Options, Parsed, Said
from consolidate.sentences import sentences
from consolidate.store import Message
from consolidate.types import NewFact

__all__ = ["looks_like_chatgpt", "plain_statements", "read_chatgpt"]

_ROLES: Final = frozenset({"user", "assistant"})
_SHORT: Final = 600
"""Messages of more characters are pasted text more often than statements."""
_PLAIN: Final = re.compile(
    r"(?:I|We)(?:'m| am|'ve| have| live| work| prefer| like| love| hate| use| own| study| speak|"
    r" moved| was born| started| quit| don't (?:eat|drink|like|use)| never| always)\b"
    r"|(?:My|Our) [\w' -]{2,40} (?:is|are|was|were|has|have|lives|works|starts|ends)\b"
)
"""Ways in which people say of themselves how things are."""
_NOT_PLAIN: Final = re.compile(
    r"\?|\b(?:if|would|could|should|maybe|perhaps|wondering|trying|looking|going to|want|wish|"
    r"need|think|guess|sure|question|idea|problem|issue|request|task|sorry|afraid|glad|confused|getting|having|pretend|imagine|suppose)\b",
    re.IGNORECASE,
)


def looks_like_chatgpt(value: Any) -> bool:
    """Say whether a parsed JSON file is a list of conversations with their messages as a tree."""
    first = value[0] if isinstance(value, list) and value else None
    return isinstance(first, dict) and isinstance(first.get("mapping"), dict)


def read_chatgpt(data: bytes, options: Options) -> Parsed:
    """Read conversations, which are numbered instead of lines.

    Raises:
        InputError: The file has another shape.
    """
    whole = parse_json(whole_text(data))
    if not looks_like_chatgpt(whole):
        raise InputError("this is no conversations.json of ChatGPT: it needs a mapping")
    messages: list[Message] = []
    facts: list[tuple[int, NewFact]] = []
    broken: list[Broken] = []
    for number, talk in enumerate(whole, start=1):
        try:
            for message in _messages(talk, options):
                messages.append(message)
                if message.role == "user":
                    facts += [(number, fact) for fact in _facts(message, talk, options)]
        except InputError as error:
            broken.append(Broken(line=number, reason=str(error)))
    return Parsed(
        format="chatgpt",
        facts=tuple(facts),
        said=Said(agent=options.agent, messages=tuple(messages)) if messages else None,
        broken=tuple(broken),
        notes=(
            f"{len(facts)} plain statements of the user were taken as facts; what else is said in "
            "the messages can be found, and `remember` reads it",
        ),
    )


def plain_statements(text: str) -> list[str]:
    """Sentences in which somebody plainly says how things are with them."""
    if len(text) > _SHORT or "```" in text or '"' in text or "\u201c" in text:
        return []
    found = []
    for start, stop in sentences(text):
        sentence = " ".join(text[start:stop].split())
        if (
            12 <= len(sentence) <= 200
            and _PLAIN.match(sentence)
            and not _NOT_PLAIN.search(sentence)
        ):
            found.append(sentence)
    return found


def _messages(talk: Any, options: Options) -> Iterator[Message]:
    if not isinstance(talk, dict) or not isinstance(talk.get("mapping"), dict):
        raise InputError("a conversation without a mapping")
    mapping = talk["mapping"]
    where = str(talk.get("conversation_id") or talk.get("id") or talk.get("title") or "chatgpt")
    for key in _branch(mapping, talk.get("current_node")):
        message = mapping[key].get("message")
        if not isinstance(message, dict):
            continue
        author = message.get("author")
        role = author.get("role") if isinstance(author, dict) else None
        content = message.get("content")
        hidden = (message.get("metadata") or {}).get("is_visually_hidden_from_conversation")
        if role not in _ROLES or hidden or not isinstance(content, dict):
            continue
        parts = [part for part in content.get("parts") or [] if isinstance(part, str)]
        text = "\n".join(parts).strip()
        if content.get("content_type") not in ("text", "multimodal_text") or not text:
            continue
        yield Message(
            id=foreign_id("chatgpt", options.agent, message.get("id"), where, key),
            conversation=where.strip()[:200].strip(),
            role=role,
            content=text,
            at=_time(message.get("create_time")),
        )


def _branch(mapping: dict[str, Any], leaf: Any) -> list[str]:
    """Keys of the messages of the branch that is shown, first to last."""
    if leaf not in mapping:
        # Without a leaf: the one that was written last.
        times = {
            key: ((node.get("message") or {}).get("create_time") or 0)
            for key, node in mapping.items()
            if isinstance(node, dict) and not node.get("children")
        }
        leaf = max(times, key=lambda key: (times[key], key), default=None)
    found: list[str] = []
    while isinstance(leaf, str) and leaf in mapping and leaf not in found:
        if not isinstance(mapping[leaf], dict):
            break
        found.append(leaf)
        leaf = mapping[leaf].get("parent")
    return found[::-1]


def _facts(message: Message, talk: dict[str, Any], options: Options) -> list[NewFact]:
    title = talk.get("title")
    metadata: dict[str, Any] = {"message": message.id}
    if isinstance(title, str) and title:
        metadata["conversation"] = title[:200]
    return [
        NewFact(
            text=text,
            agent=options.agent,
            kind=options.kind or "fact",
            source=options.source or "user",
            stated_at=message.at,
            metadata=metadata,
        )
        for text in plain_statements(message.content)
    ]


def _time(value: Any) -> datetime | None:
    moment = known_time(value, "create_time", "UTC")
    return None if moment is None else moment.astimezone(UTC)
