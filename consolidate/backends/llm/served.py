"""A `LanguageModel` over one server's API: retries, limits, counting, strict JSON.

An `Api` sends one request and says what went wrong; everything else is here, once for all of
them. Time comes from outside, and waiting has no chance in it: the same failures lead to the same
waits.
"""

from __future__ import annotations

import logging
import threading
import time
import weakref
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final, Protocol, TypeVar

from consolidate.backends.llm.answers import Unusable, read
from consolidate.backends.llm.limits import CeilingReached, LlmOptions, Usage
from consolidate.errors import BackendError
from consolidate.types import Completion, Prompt

__all__ = ["Api", "CallFailed", "Reply", "ServedModel"]

_log = logging.getLogger(__name__)

_FIRST_WAIT: Final = 1.0
_LONGEST_WAIT: Final = 30.0
_LONGEST_ASKED_WAIT: Final = 60.0
# After so many prompts in a row that the server failed, the rest of the run does not ask.
_PATIENCE: Final = 3

Item = TypeVar("Item")
Result = TypeVar("Result")


class Reply:
    """What a server answered: a text or vectors, and what it counted."""

    __slots__ = ("text", "tokens_in", "tokens_out", "vectors")

    def __init__(
        self,
        *,
        text: str = "",
        vectors: Sequence[Sequence[float]] = (),
        tokens_in: int = 0,
        tokens_out: int = 0,
    ) -> None:
        self.text = text
        self.vectors = vectors
        self.tokens_in = tokens_in
        self.tokens_out = tokens_out


class CallFailed(Exception):
    """A request brought no answer.

    Args:
        reason: In plain words, without keys.
        again: The same request may succeed later.
        wait: Seconds that the server asks to wait before.
        adapted: The API changed how it asks; asking again at once is no repetition.
        down: The server failed, not this request.
        unreachable: No connection was made.
        too_long: The input is longer than the model reads.
    """

    def __init__(
        self,
        reason: str,
        *,
        again: bool = False,
        wait: float | None = None,
        adapted: bool = False,
        down: bool = False,
        unreachable: bool = False,
        too_long: bool = False,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.again = again
        self.wait = wait
        self.adapted = adapted
        self.down = down
        self.unreachable = unreachable
        self.too_long = too_long


class Api(Protocol):
    """One server's way of being asked. Each method sends one request.

    Methods raise CallFailed for what concerns this request or passes, and BackendError for what
    makes every request useless, such as a refused key.
    """

    @property
    def name(self) -> str:
        """Backend, model and unusual endpoint, e.g. `ollama:qwen3:4b`."""

    def chat(self, prompt: Prompt, schema: Mapping[str, Any], *, note: str) -> Reply:
        """Ask for JSON; `note` is added to the task when an earlier answer was no use."""

    def embed(self, texts: Sequence[str]) -> Reply:
        """Ask for vectors, one a text, in the order of the texts."""

    def close(self) -> None:
        """Close all connections."""


class ServedModel:
    """See `consolidate.protocols.LanguageModel`.

    Args:
        api: How the server is asked.
        options: Retries, concurrency, ceiling.
        sleep: Waits that many seconds.

    Attributes:
        usage: What was asked so far.
    """

    def __init__(
        self, api: Api, options: LlmOptions, *, sleep: Callable[[float], None] = time.sleep
    ) -> None:
        self.usage = Usage()
        self._api = api
        self._options = options
        self._sleep = sleep
        self._lock = threading.Lock()
        self._in_a_row = 0
        self._answered = False
        # Sockets are closed even if nobody calls `close`.
        self._closing = weakref.finalize(self, api.close)

    @property
    def identity(self) -> str:
        """Backend, model, and the endpoint if it is not the usual one."""
        return self._api.name

    @property
    def concurrency(self) -> int:
        """Requests that are under way at a time."""
        return self._options.concurrency

    def begin_run(self) -> None:
        """A run begins: its ceiling is counted anew, and a server that failed is tried again."""
        self._options.ceiling.begin()
        with self._lock:
            self._in_a_row = 0

    def close(self) -> None:
        """Close all connections."""
        self._closing()

    def complete(self, prompts: Sequence[Prompt], schema: Mapping[str, Any]) -> list[Completion]:
        """See `consolidate.protocols.LanguageModel`.

        When an answer does not fit, the model is asked once more, with a note of what was wrong.
        """
        return self.each(lambda prompt: self._complete(prompt, schema), prompts)

    def embed(self, texts: Sequence[str]) -> Reply:
        """Ask for vectors in one request, with the same retries and limits.

        Raises:
            CallFailed: There are none.
            CeilingReached: The run may cost no more.
        """
        try:
            return self._call(lambda: self._api.embed(texts))
        except (CallFailed, CeilingReached) as failure:
            self._note_unasked(failure)
            raise

    def each(self, ask: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Ask about items, some at a time; results in the order of the items."""
        if len(items) < 2 or self._options.concurrency < 2:
            return [ask(item) for item in items]
        with ThreadPoolExecutor(min(self._options.concurrency, len(items))) as pool:
            futures = [pool.submit(ask, item) for item in items]
            try:
                return [future.result() for future in futures]
            except BaseException:
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _complete(self, prompt: Prompt, schema: Mapping[str, Any]) -> Completion:
        def ask(note: str) -> Completion:
            reply = self._call(lambda: self._api.chat(prompt, schema, note=note))
            return Completion(value=read(reply.text, schema))

        try:
            try:
                return ask("")
            except Unusable as problem:
                self.usage.add(repairs=1)
                # The answer itself is not sent back: it may repeat what a stored text told it.
                return ask(f"An earlier answer could not be used: {problem}.")
        except Unusable as problem:
            return Completion(failure=f"no usable answer, asked twice: {problem}")
        except (CallFailed, CeilingReached) as failure:
            self._note_unasked(failure)
            return Completion(failure=str(failure))

    def _note_unasked(self, failure: CallFailed | CeilingReached) -> None:
        """Count what is no fault of the text: the server had trouble, or nothing could be asked."""
        if not getattr(failure, "too_long", False):
            self.usage.add(unasked=1)

    def _call(self, send: Callable[[], Reply]) -> Reply:
        with self._lock:
            if self._in_a_row >= _PATIENCE:
                raise CallFailed(
                    f"not asked: the server failed {_PATIENCE} times in a row in this run"
                )
        try:
            reply = self._persist(send)
        except CallFailed as failure:
            if failure.down:
                with self._lock:
                    self._in_a_row += 1
                    answered = self._answered
                if failure.unreachable and not answered:
                    raise BackendError(f"{self.identity}: {failure.reason}") from failure
            raise
        with self._lock:
            self._in_a_row = 0
            self._answered = True
        self._options.ceiling.add_tokens(reply.tokens_in + reply.tokens_out)
        self.usage.add(tokens_in=reply.tokens_in, tokens_out=reply.tokens_out)
        return reply

    def _persist(self, send: Callable[[], Reply]) -> Reply:
        failed = 0
        while True:
            self._options.ceiling.take_call()
            self.usage.add(calls=1)
            try:
                return send()
            except CallFailed as failure:
                if failure.adapted:
                    continue
                wait = min(_FIRST_WAIT * 2**failed, _LONGEST_WAIT)
                if failure.wait is not None:
                    if failure.wait > _LONGEST_ASKED_WAIT:
                        raise CallFailed(
                            f"{failure.reason}; it asks to wait {failure.wait:.0f} s, longer than "
                            f"the {_LONGEST_ASKED_WAIT:.0f} s that are waited here",
                            down=True,
                        ) from None
                    wait = max(failure.wait, 0.0)
                if not failure.again or failed >= self._options.retries:
                    raise
                failed += 1
                self.usage.add(retries=1)
                _log.info("%s: %s; attempt %d in %g s", self.identity, failure.reason,
                          failed + 1, wait)  # fmt: skip
                self._sleep(wait)
