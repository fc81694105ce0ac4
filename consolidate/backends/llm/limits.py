"""What a language model may cost, and what it has cost so far."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from consolidate.errors import BackendError

__all__ = ["Ceiling", "CeilingReached", "LlmOptions", "Usage"]


class CeilingReached(BackendError):
    """The calls or tokens that a run may cost are used up."""


class Usage:
    """What one object asked of a server since it was made. Safe to count in from many threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._counts: dict[str, int] = {}

    def add(self, **counts: int) -> None:
        """Add to counts by name."""
        with self._lock:
            for name, count in counts.items():
                self._counts[name] = self._counts.get(name, 0) + count

    def counts(self) -> dict[str, int]:
        """What was counted so far, by name, sorted.

        `calls` (requests sent), `tokens_in` and `tokens_out` (as the server counts them),
        `retries`, `repairs` (asked again because an answer did not fit), `failures` (items
        without an answer), `unfound` (names that are not in the text; left out), `unasked`
        (prompts that a limit or the server kept from being answered).
        """
        with self._lock:
            return {name: count for name, count in sorted(self._counts.items()) if count}


class Ceiling:
    """What one run may cost, shared by all roles of the run.

    Tokens are known only after a call, so concurrent calls may overshoot by one round.

    Args:
        most_calls: Requests; 0 is no limit.
        most_tokens: Tokens in and out; 0 is no limit.
    """

    def __init__(self, *, most_calls: int = 0, most_tokens: int = 0) -> None:
        self._lock = threading.Lock()
        self._most_calls, self._most_tokens = most_calls, most_tokens
        self._calls = self._tokens = 0

    def begin(self) -> None:
        """Start counting anew: a run begins."""
        with self._lock:
            self._calls = self._tokens = 0

    def take_call(self) -> None:
        """Count a call that is about to be made.

        Raises:
            CeilingReached: It may not be made.
        """
        with self._lock:
            if self._most_calls and self._calls >= self._most_calls:
                raise CeilingReached(
                    f"the run's limit of {self._most_calls} calls is reached (llm_max_calls)"
                )
            if self._most_tokens and self._tokens >= self._most_tokens:
                raise CeilingReached(
                    f"the run's limit of {self._most_tokens} tokens is reached (llm_max_tokens)"
                )
            self._calls += 1

    def add_tokens(self, count: int) -> None:
        """Count tokens that a call has cost."""
        with self._lock:
            self._tokens += count


@dataclass(frozen=True, kw_only=True)
class LlmOptions:
    """How language models are reached. No key is in here, only where to find it."""

    base_url: str | None = None
    """The server; None takes the API's environment variable, then its usual address."""
    key_variable: str | None = None
    """The environment variable that holds the key; None is the API's usual one."""
    timeout: float = 60.0
    """Seconds without a sign from the server after which a call has failed."""
    retries: int = 3
    """Further attempts after 429, 5xx and lost connections."""
    concurrency: int = 4
    """Requests under way at a time."""
    batch: int = 1
    """Items in one prompt, at most. With 1 no stored text can touch another's verdict; more costs
    less, since the task is sent less often."""
    ceiling: Ceiling = field(default_factory=Ceiling, compare=False)
    """Shared by the roles of a run."""

    @classmethod
    def of(cls, settings: object) -> LlmOptions:
        """Read the `llm_...` settings, where `settings` has them."""

        def value(name: str, otherwise: Any) -> Any:
            return getattr(settings, f"llm_{name}", otherwise)

        return cls(
            base_url=value("base_url", cls.base_url),
            key_variable=value("key_variable", cls.key_variable),
            timeout=value("timeout", cls.timeout),
            retries=value("retries", cls.retries),
            concurrency=value("concurrency", cls.concurrency),
            batch=value("batch", cls.batch),
            ceiling=Ceiling(most_calls=value("max_calls", 0), most_tokens=value("max_tokens", 0)),
        )
