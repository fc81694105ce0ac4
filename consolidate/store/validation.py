"""Checks on facts that come in. Pure; every refusal names the value and what is allowed."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from consolidate.errors import InputError, NaiveTimeError
from consolidate.judge.trust import default_trust
from consolidate.serialise import canonical
from consolidate.store.records import Episode, Message
from consolidate.store.rows import fact_hash
from consolidate.times import format_time
from consolidate.types import Alias, NewFact

__all__ = [
    "LONGEST_NAME",
    "LONGEST_TEXT",
    "check_alias",
    "check_episode",
    "check_fact",
    "check_message",
    "check_name",
    "new_row",
]

LONGEST_TEXT = 1_000_000
"""Bytes of UTF-8 that a text, or the metadata, may have."""

LONGEST_NAME = 256
"""Characters that an id, agent, kind, source or alias may have."""


def check_fact(fact: NewFact) -> None:
    """Refuse what the store can't hold or readers could not make sense of.

    Raises:
        InputError: Naming field and value.
        NaiveTimeError: A time without offset.
    """
    if fact.id is not None:
        check_name("id", fact.id)
    check_name("agent", fact.agent)
    check_name("kind", fact.kind)
    check_name("source", fact.source)
    _check_text("text", fact.text)
    if len(fact.text.encode()) > LONGEST_TEXT:
        raise InputError(
            f"text {_shown(fact.text)} has {len(fact.text.encode())} bytes; at most "
            f"{LONGEST_TEXT} are stored, split it into single facts"
        )
    if fact.trust is not None:
        _check_share("trust", fact.trust)
    _check_share("intensity", fact.intensity)
    for name in ("stated_at", "valid_from", "valid_to"):
        _check_time(name, getattr(fact, name))
    if fact.valid_from and fact.valid_to and fact.valid_to < fact.valid_from:
        raise InputError(
            f"valid_to {fact.valid_to.isoformat()} is before valid_from "
            f"{fact.valid_from.isoformat()}"
        )


def check_alias(alias: Alias) -> None:
    """Refuse names that can't be names."""
    check_name("agent", alias.agent)
    check_name("canonical", alias.canonical)
    check_name("alias", alias.alias)


def check_message(message: Message) -> None:
    """Refuse a message that can't be stored or found again."""
    check_name("role", message.role)
    if message.conversation:
        check_name("conversation", message.conversation)
    _check_text("content", message.content)
    size = len(message.content.encode())
    if size > LONGEST_TEXT:
        raise InputError(
            f"content {_shown(message.content)} has {size} bytes; at most {LONGEST_TEXT} are stored"
        )
    _check_time("at", message.at)


def check_episode(episode: Episode) -> None:
    """Refuse an episode that can't be stored or found again."""
    check_name("agent", episode.agent)
    check_name("title", episode.title)
    for what, name in (("outcome", episode.outcome), ("session", episode.session)):
        if name:
            check_name(what, name)
    if episode.id:
        check_name("id", episode.id)
    _check_text("text", episode.text)
    size = len(episode.text.encode())
    if size > LONGEST_TEXT:
        raise InputError(
            f"text {_shown(episode.text)} has {size} bytes; at most {LONGEST_TEXT} are stored"
        )
    for what, moment in (("started_at", episode.started_at), ("ended_at", episode.ended_at)):
        _check_time(what, moment)
    if episode.started_at and episode.ended_at and episode.ended_at < episode.started_at:
        raise InputError(
            f"ended_at {episode.ended_at.isoformat()} is before started_at "
            f"{episode.started_at.isoformat()}"
        )


def check_name(what: str, name: object) -> None:
    """Refuse an identifier that is blank, too long or can't be written."""
    text = _check_text(what, name)
    if len(text) > LONGEST_NAME:
        raise InputError(f"{what} {_shown(text)} is longer than {LONGEST_NAME} characters")
    if text != text.strip():
        raise InputError(f"{what} {text!r} begins or ends with white space")


def new_row(fact: NewFact, *, fact_id: str, recorded_at: str) -> tuple[Any, ...]:
    """Write a checked fact in the order of `FACT_COLUMNS`."""
    return (
        fact_id,
        fact.agent,
        fact.kind,
        fact.text,
        _metadata(fact.metadata),
        _time(fact.stated_at),
        None,
        _time(fact.valid_from),
        _time(fact.valid_to),
        recorded_at,
        fact.source,
        float(default_trust(fact.source) if fact.trust is None else fact.trust),
        float(fact.intensity),
        1,
        0,
        None,
        fact_hash(fact.text),
        "active",
        None,
        None,
        None,
    )


def _check_text(what: str, text: object) -> str:
    if not isinstance(text, str):
        raise InputError(f"{what} must be text, not {_shown(text)}")
    if not text.strip():
        raise InputError(f"{what} {_shown(text)} is blank")
    if "\0" in text:
        raise InputError(f"{what} {_shown(text)} holds a NUL character; remove it")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise InputError(
            f"{what} {_shown(text)} holds a lone surrogate (half a character) at "
            f"{error.start}; decode its source as UTF-8 or UTF-16"
        ) from error
    return text


def _check_share(what: str, value: object) -> None:
    # NaN compares as false with everything.
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if not (is_number and 0 <= value <= 1):  # type: ignore[operator]  # checked just before
        raise InputError(f"{what} {_shown(value)} is not a number from 0 to 1")


def _check_time(what: str, moment: object) -> None:
    if moment is None:
        return
    if not isinstance(moment, datetime):
        raise InputError(f"{what} {_shown(moment)} is not a datetime; use parse_time")
    try:
        format_time(moment)
    except NaiveTimeError as error:
        raise NaiveTimeError(f"{what}: {error}") from error
    except InputError as error:
        raise InputError(f"{what}: {error}") from error


def _metadata(metadata: Mapping[str, Any]) -> str:
    if not isinstance(metadata, Mapping):
        raise InputError(f"metadata {_shown(metadata)} is not a mapping")
    try:
        text = canonical(dict(metadata))
    except InputError as error:
        raise InputError(f"metadata {_shown(metadata)}: {error}") from error
    if len(text.encode()) > LONGEST_TEXT:
        raise InputError(f"metadata {_shown(metadata)} has more than {LONGEST_TEXT} bytes")
    return text


def _time(moment: datetime | None) -> str | None:
    return None if moment is None else format_time(moment)


def _shown(value: object) -> str:
    try:
        shown = repr(value[:60] if isinstance(value, str) else value)
    except ValueError:  # a whole number of thousands of digits
        shown = f"this {type(value).__name__}"
    return shown if len(shown) <= 60 else f"{shown[:57]}..."
