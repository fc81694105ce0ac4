"""Claude models, through the official client. There are no embeddings in this API.

The answer is the input of a tool that the model must call, whose schema is the one asked for; no
tool is run. What the model writes beside the call is not read. No temperature is sent: the client
knows none any more.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from consolidate.backends.llm.classifier import LlmClassifier
from consolidate.backends.llm.clients import GeneratedClient, as_classifier, as_extractor
from consolidate.backends.llm.extractor import LlmExtractor
from consolidate.backends.llm.limits import LlmOptions
from consolidate.backends.llm.served import CallFailed, Reply, ServedModel
from consolidate.errors import BackendError
from consolidate.types import Prompt

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["AnthropicApi", "classifier", "extractor", "language_model"]

_TOOL: Final = "answer"


def extractor(model: str, options: Options) -> LlmExtractor:
    """For the resolver: `anthropic:MODEL`."""
    return as_extractor(AnthropicApi(model, options.llm), options)


def classifier(model: str, options: Options) -> LlmClassifier:
    """For the resolver: `anthropic:MODEL`."""
    return as_classifier(AnthropicApi(model, options.llm), options)


def language_model(model: str, options: Options) -> ServedModel:
    """For the resolver: the model itself."""
    return ServedModel(AnthropicApi(model, options.llm), options.llm)


class AnthropicApi(GeneratedClient):
    """See `consolidate.backends.llm.served.Api`; named `anthropic:claude-haiku-4-5` or so.

    Raises:
        MissingExtraError: The client is not installed.
        InputError: No model is named, or the address is none.
        BackendError: A key is needed and not there.
    """

    def __init__(self, model: str, options: LlmOptions) -> None:
        super().__init__(
            "anthropic",
            model,
            options,
            usual="https://api.anthropic.com",
            url_variable="ANTHROPIC_BASE_URL",
            key_variable="ANTHROPIC_API_KEY",
        )

    def chat(self, prompt: Prompt, schema: Mapping[str, Any], *, note: str) -> Reply:
        """Ask at /v1/messages."""
        answer = self._send(
            max_tokens=prompt.most_tokens,
            system=f"{prompt.task}\n\n{note}".rstrip(),
            messages=[{"role": "user", "content": prompt.data}],
            tools=[
                {
                    "name": _TOOL,
                    "description": "Takes the answer.",
                    "input_schema": dict(schema),
                }
            ],
            tool_choice={"type": "tool", "name": _TOOL, "disable_parallel_tool_use": True},
        )
        try:
            return self._read(answer)
        except (AttributeError, TypeError, ValueError):
            raise self._endpoint.strange() from None

    def embed(self, texts: Sequence[str]) -> Reply:
        """Not in this API.

        Raises:
            BackendError: Always.
        """
        raise BackendError("anthropic has no embeddings; choose another embedder")

    def _read(self, answer: Any) -> Reply:
        if answer.stop_reason == "max_tokens":
            raise CallFailed("the answer was cut at its longest length")
        if answer.stop_reason == "refusal":
            raise CallFailed("the model refused to answer")
        calls = [block for block in answer.content if block.type == "tool_use"]
        fits = len(calls) == 1 and calls[0].name == _TOOL
        return Reply(
            # Not exactly one call is no answer; the empty text is refused further on.
            text=json.dumps(calls[0].input) if fits else "",
            tokens_in=answer.usage.input_tokens or 0,
            tokens_out=answer.usage.output_tokens or 0,
        )

    def _make(self) -> Any:
        import anthropic

        return self._official(anthropic.Anthropic, anthropic.DefaultHttpxClient)

    def _send(self, **arguments: Any) -> Any:
        import anthropic

        return self._ask(
            anthropic,
            anthropic.AnthropicError,
            lambda client: client.messages.create(model=self._model, **arguments),
        )
