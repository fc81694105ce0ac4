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
from consolidate.backends.llm.embedder import LlmEmbedder
from consolidate.backends.llm.endpoints import (
    Endpoint,
    Lazy,
    checked_model,
    failure_of_status,
    require,
    words,
)
from consolidate.backends.llm.extractor import LlmExtractor
from consolidate.backends.llm.limits import LlmOptions
from consolidate.backends.llm.served import CallFailed, Reply, ServedModel
from consolidate.types import Prompt

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["OpenAiApi", "classifier", "embedder", "extractor"]

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
    return LlmEmbedder(ServedModel(OpenAiApi(model, options.llm), options.llm))


def extractor(model: str, options: Options) -> LlmExtractor:
    """For the resolver: `openai:MODEL`."""
    return LlmExtractor(ServedModel(OpenAiApi(model, options.llm), options.llm),
                        batch=options.llm.batch, known=options.known)  # fmt: skip


def classifier(model: str, options: Options) -> LlmClassifier:
    """For the resolver: `openai:MODEL`."""
    return LlmClassifier(ServedModel(OpenAiApi(model, options.llm), options.llm),
                         batch=options.llm.batch)  # fmt: skip


class OpenAiApi:
    """See `consolidate.backends.llm.served.Api`.

    Raises:
        MissingExtraError: The client is not installed.
        InputError: No model is named, or the address is none.
        BackendError: A key is needed and not there.
    """

    def __init__(self, model: str, options: LlmOptions) -> None:
        self._model = checked_model("openai", model)
        self._timeout = options.timeout
        self._endpoint = Endpoint(
            "openai",
            usual="https://api.openai.com/v1",
            url_variable="OPENAI_BASE_URL",
            key_variable="OPENAI_API_KEY",
            options=options,
        )
        require("openai", "openai")
        self._client = Lazy(self._make)
        self._lock = threading.Lock()
        self._refused: set[str] = set()
        self._room = 1

    @property
    def name(self) -> str:
        """Such as `openai:gpt-5-mini`, or `openai:qwen3@localhost:8000/v1`."""
        return f"openai:{self._model}{self._endpoint.suffix}"

    def chat(self, prompt: Prompt, schema: Mapping[str, Any], *, note: str) -> Reply:
        """Ask at /chat/completions."""
        with self._lock:
            used = set(_REFUSABLE) - self._refused
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

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _make(self) -> Any:
        import openai

        return openai.OpenAI(
            api_key=self._endpoint.key or "none",
            base_url=self._endpoint.url,
            timeout=self._timeout,
            max_retries=0,
            http_client=openai.DefaultHttpxClient(
                follow_redirects=False,
                timeout=self._timeout,
                # The way out may lead through a proxy; the way to this machine does not.
                trust_env=not self._endpoint.local,
            ),
        )

    def _send(self, ask: Callable[[Any], Reply], used: set[str]) -> Reply:
        import openai

        try:
            return ask(self._client.get())
        except openai.APIStatusError as error:
            self._adapt(error.status_code, words(error.body), used)
            raise failure_of_status(
                self._endpoint,
                error.status_code,
                words(error.body),
                error.response.headers,
                model=self._model,
            ) from None
        except openai.APITimeoutError:
            raise self._endpoint.slow(self._timeout) from None
        except openai.APIConnectionError as error:
            unreachable = type(error.__cause__).__name__ == "ConnectError"
            raise self._endpoint.lost("the connection broke off", unreachable=unreachable) from None
        except (openai.OpenAIError, ValueError, TypeError, AttributeError, LookupError):
            raise self._endpoint.strange() from None

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
                    self._refused.add(name)
                raise CallFailed(f"the server refuses {name}", adapted=True) from None

    def _cut(self, usage: Any, room: int) -> None:
        """An answer reached its longest length; give a model that thinks first more room, once."""
        details = getattr(usage, "completion_tokens_details", None)
        if room == 1 and (getattr(details, "reasoning_tokens", None) or 0) > 0:
            with self._lock:
                self._room = _REASONING_ROOM
            raise CallFailed("the model spent its answer on reasoning", adapted=True)
        raise CallFailed("the answer was cut at its longest length")
