"""What each setting may be: checks that bring a value into form, and readers for plain text.

A check raises ValueError with the words "must be ..."; `consolidate.settings` says where the value
came from. This module knows nothing of files and precedence.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal, get_args
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

__all__ = ["READERS", "RULES", "Profile"]

Profile = Literal["careful", "balanced", "eager"]


# ---- checks: bring a value into form or raise ValueError saying what it must be


def _path(value: Any) -> Path | None:
    if value is None or isinstance(value, Path):
        return value
    if isinstance(value, str) and value.strip() and "\0" not in value:
        return Path(value).expanduser()
    raise ValueError(f"must be a path, not {value!r}")


def _text(value: Any) -> str:
    if isinstance(value, str) and value.strip() and value.isprintable():
        return value
    raise ValueError(f"must be some printable text, not {value!r}")


def _zone(value: Any) -> str | None:
    if value is None:
        return None
    try:
        return ZoneInfo(value).key
    except (ValueError, TypeError, OSError, KeyError):  # ZoneInfoNotFoundError is a KeyError
        raise ValueError(
            f"must be the name of a time zone such as 'Europe/Berlin' or 'UTC', not {value!r}"
        ) from None


def _one_of(*choices: str) -> Callable[[Any], str]:
    def check(value: Any) -> str:
        if isinstance(value, str) and value in choices:
            return value
        raise ValueError(f"must be one of {', '.join(choices)}, not {value!r}")

    return check


def _flag(value: Any) -> bool:
    if isinstance(value, bool):
        return value
    raise ValueError(f"must be true or false, not {value!r}")


def _whole(low: int) -> Callable[[Any], int]:
    def check(value: Any) -> int:
        if isinstance(value, int) and not isinstance(value, bool) and value >= low:
            return value
        raise ValueError(f"must be a whole number of at least {low}, not {value!r}")

    return check


def _number(low: float, high: float) -> Callable[[Any], float]:
    def check(value: Any) -> float:
        if isinstance(value, int | float) and not isinstance(value, bool) and low <= value <= high:
            return float(value)
        raise ValueError(f"must be a number from {low:g} to {high:g}, not {value!r}")

    return check


def _address(value: Any) -> str:
    """Check an address. What is wrong with it is not shown: it may hold a password."""
    if not isinstance(value, str) or not value.isprintable() or " " in value:
        raise ValueError("must be an http or https address such as 'http://localhost:8000/v1'")
    try:
        parts = urlsplit(value)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound:
        raise ValueError("must be an http or https address such as 'http://localhost:8000/v1'")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise ValueError(
            "must be an address without user name, password and query; keys belong in the "
            "environment"
        )
    return value.rstrip("/")


def _variable(value: Any) -> str:
    """Check the name of an environment variable. It is not shown: somebody may paste a key."""
    if isinstance(value, str) and re.fullmatch(r"[A-Z_][A-Z0-9_]{0,99}", value):
        return value
    raise ValueError(
        "must be the name of an environment variable such as 'OPENAI_API_KEY', not the key itself"
    )


def _optional(check: Callable[[Any], Any]) -> Callable[[Any], Any]:
    return lambda value: None if value is None else check(value)


def _slot_table(value: Any) -> dict[str, str]:
    if not isinstance(value, Mapping):
        raise ValueError(f"must be a table of attributes, each 'one' or 'many', not {value!r}")
    bad = {key: what for key, what in value.items() if what not in ("one", "many")}
    if bad:
        listed = ", ".join(f"{key} = {what!r}" for key, what in bad.items())
        raise ValueError(f"must say 'one' or 'many' for each attribute, not {listed}")
    return {str(key): str(what) for key, what in sorted(value.items())}


RULES: Mapping[str, Callable[[Any], Any]] = {
    "db": _path,
    "agent": _text,
    "timezone": _zone,
    "embedder": _text,
    "extractor": _text,
    "classifier": _text,
    "profile": _one_of(*get_args(Profile)),
    "merge": _flag,
    "supersede": _flag,
    "max_false_merge": _optional(_number(0.0001, 0.5)),
    "max_false_supersede": _optional(_number(0.0001, 0.5)),
    "merge_threshold": _optional(_number(0, 1)),
    "supersede_threshold": _optional(_number(0, 1)),
    "review_threshold": _optional(_number(0, 1)),
    "neighbours": _whole(0),
    "similarity_floor": _number(-1, 1),
    "hub_size": _whole(2),
    "pairs_per_fact": _whole(1),
    "pair_budget": _whole(0),
    "threads": _whole(0),
    "providers": _text,
    "lease_seconds": _number(1, 86_400),
    "relevance_weight": _number(0, 1),
    "strength_weight": _number(0, 1),
    "recency_weight": _number(0, 1),
    "fusion_k": _whole(1),
    "recall_similarity": _number(-1, 1),
    "recall_use": _number(0, 1),
    "recall_embeds": _whole(0),
    "recall_graph": _one_of("auto", "on", "off"),
    "decay_per_hour": _number(0, 1),
    "access_resistance": _number(0, 100),
    "strength_floor": _number(0, 1),
    "recency_per_day": _number(0, 1),
    "slots": _slot_table,
    "llm": _optional(_text),
    "llm_base_url": _optional(_address),
    "llm_key_variable": _optional(_variable),
    "llm_timeout": _number(0.01, 3600),
    "llm_retries": _whole(0),
    "llm_concurrency": _whole(1),
    "llm_batch": _whole(1),
    "llm_max_calls": _whole(0),
    "llm_max_tokens": _whole(0),
}


# ---- readers: text to a typed value; the check above then judges it


def _read_flag(text: str) -> Any:
    words = {"true": True, "yes": True, "on": True, "1": True}
    words |= {"false": False, "no": False, "off": False, "0": False}
    return words.get(text.strip().lower(), text)


def _read_number(text: str) -> Any:
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def _read_slots(text: str) -> Any:
    """Read `port=one,city=many`."""
    parts = [part.partition("=") for part in text.split(",") if part.strip()]
    return {key.strip(): value.strip() for key, _, value in parts}


READERS: Mapping[str, Callable[[str], Any]] = {
    **dict.fromkeys(("merge", "supersede"), _read_flag),
    **dict.fromkeys(
        (
            "max_false_merge",
            "max_false_supersede",
            "merge_threshold",
            "supersede_threshold",
            "review_threshold",
            "neighbours",
            "similarity_floor",
            "hub_size",
            "pairs_per_fact",
            "pair_budget",
            "threads",
            "lease_seconds",
            "relevance_weight",
            "strength_weight",
            "recency_weight",
            "fusion_k",
            "recall_similarity",
            "recall_use",
            "recall_embeds",
            "decay_per_hour",
            "access_resistance",
            "strength_floor",
            "recency_per_day",
            "llm_timeout",
            "llm_retries",
            "llm_concurrency",
            "llm_batch",
            "llm_max_calls",
            "llm_max_tokens",
        ),
        _read_number,
    ),
    "slots": _read_slots,
}
