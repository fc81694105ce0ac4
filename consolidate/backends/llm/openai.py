"""Models behind any OpenAI-compatible /v1 endpoint, through the official client.

Servers differ in what they accept. What one refuses by name (a temperature, a schema, the newer
name of the length limit) is left out from then on and the request is sent again; the answer is
checked against the schema here in any case.
"""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from consolidate.backends.llm.classifier import LlmClassifier
from consolidate.backends.llm.clients import (
    GeneratedClient,
    as_classifier,
    as_embedder,
    as_extractor,
)
from consolidate.backends.llm.embedder import LlmEmbedder
from consolidate.backends.llm.extractor import LlmExtractor
from consolidate.backends.llm.limits import LlmOptions
from consolidate.backends.llm.served import CallFailed, Reply, ServedModel
from consolidate.types import Prompt

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["OpenAiApi", "classifier", "embedder", "extractor", "language_model"]

# What may be refused, and how a refusal names it.
_REFUSABLE: Final[Mapping[str, re.Pattern[str]]] = {
    "temperature": re.compile("temperature"),
    "max_completion_tokens": re.compile("max_completion_tokens"),
    "json_schema": re.compile("response_format|json_schema|structured output", re.IGNORECASE),
    "json_object": re.compile("response_format|json_object", re.IGNORECASE),
}
_REASONING_ROOM: Final = 8


def embedder(model: str, options: Options) -> LlmEmbedder:
    """For the resolver: `openai:text-embedding-3-small`."""
    return as_embedder(OpenAiApi(model, options.llm), options)


def extractor(model: str, options: Options) -> LlmExtractor:
    """For the resolver: `openai:MODEL`."""
    return as_extractor(OpenAiApi(model, options.llm), options)


def classifier(model: str, options: Options) -> LlmClassifier:
    """For the resolver: `openai:MODEL`."""
    return as_classifier(OpenAiApi(model, options.llm), options)


def language_model(model: str, options: Options) -> ServedModel:
    """For the resolver: the model itself."""
    return ServedModel(OpenAiApi(model, options.llm), options.llm)


class OpenAiApi(GeneratedClient):
    """See `consolidate.backends.llm.served.Api`; named `openai:qwen3@localhost:8000/v1` or so.

    Raises:
        MissingExtraError: The client is not installed.
        InputError: No model is named, or the address is none.
        BackendError: A key is needed and not there.
    """

    def __init__(self, model: str, options: LlmOptions) -> None:
        super().__init__(
            "openai",
            model,
            options,
            usual="https://api.openai.com/v1",
            url_variable="OPENAI_BASE_URL",
            key_variable="OPENAI_API_KEY",
        )
        self._lock = threading.Lock()
        self._left_out: set[str] = set()
        self._room = 1

    def chat(self, prompt: Prompt, schema: Mapping[str, Any], *, note: str) -> Reply:
        """Ask at /chat/completions."""
        with self._lock:
            used = set(_REFUSABLE) - self._left_out
            room = self._room
        arguments: dict[str, Any] = {"temperature": 0} if "temperature" in used else {}
        limit = "max_completion_tokens" if "max_completion_tokens" in used else "max_tokens"
        arguments[limit] = prompt.most_tokens * room
        task = f"{prompt.task}\n\n{note}".rstrip()
        if "json_schema" in used:
            used.discard("json_object")
            form = {"name": "answers", "strict": True, "schema": dict(schema)}
            arguments["response_format"] = {"type": "json_schema", "json_schema": form}
        else:
            task += f"\n\nThe JSON schema of your answer: {json.dumps(schema)}"
            if "json_object" in used:
                arguments["response_format"] = {"type": "json_object"}

        def ask(client: Any) -> Reply:
            answer = client.chat.completions.create(
                model=self._model,
                messages=[
                    {"role": "system", "content": task},
                    {"role": "user", "content": prompt.data},
                ],
                **arguments,
            )
            choice, usage = answer.choices[0], answer.usage
            if choice.message.content is None and getattr(choice.message, "refusal", None):
                raise CallFailed("the model refused to answer")
            if choice.finish_reason == "length":
                self._cut(usage, room)
            if choice.finish_reason == "content_filter":
                raise CallFailed("the server's content filter withheld the answer")
            content = choice.message.content or ""
            return Reply(
                text=content if isinstance(content, str) else "",
                tokens_in=(usage and usage.prompt_tokens) or 0,
                tokens_out=(usage and usage.completion_tokens) or 0,
            )

        return self._send(ask, used)

    def embed(self, texts: Sequence[str]) -> Reply:
        """Ask at /embeddings."""

        def ask(client: Any) -> Reply:
            answer = client.embeddings.create(
                model=self._model,
                input=list(texts),
                encoding_format="float",  # base64, the client's default, is not served by all
            )
            rows = {row.index: row.embedding for row in answer.data}
            if len(answer.data) != len(texts) or rows.keys() != set(range(len(texts))):
                raise CallFailed("the vectors' numbers are not those of the texts")
            usage = answer.usage
            return Reply(
                vectors=[rows[index] for index in range(len(texts))],
                tokens_in=(usage and usage.prompt_tokens) or 0,
            )

        return self._send(ask, set())

    def _make(self) -> Any:
        import openai

        return self._official(openai.OpenAI, openai.DefaultHttpxClient)

    def _send(self, ask: Callable[[Any], Reply], used: set[str]) -> Reply:
        import openai

        def adapt(status: int, message: str) -> None:
            self._adapt(status, message, used)

        return self._ask(openai, openai.OpenAIError, ask, adapt=adapt)

    def _adapt(self, status: int, message: str, used: set[str]) -> None:
        """Leave out what the server refuses by name.

        Raises:
            CallFailed: Something was left out, so that the request can be sent again.
        """
        if status not in (400, 422):
            return
        for name, named in _REFUSABLE.items():
            if name in used and named.search(message):
                with self._lock:
                    self._left_out.add(name)
                raise CallFailed(f"the server refuses {name}", adapted=True) from None

    def _cut(self, usage: Any, room: int) -> None:
        """An answer reached its longest length; give a model that thinks first more room, once."""
        details = getattr(usage, "completion_tokens_details", None)
        if room == 1 and (getattr(details, "reasoning_tokens", None) or 0) > 0:
            with self._lock:
                self._room = _REASONING_ROOM
            raise CallFailed("the model spent its answer on reasoning", adapted=True)
        raise CallFailed("the answer was cut at its longest length")
