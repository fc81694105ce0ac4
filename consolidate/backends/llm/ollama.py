"""Models served by Ollama, through its official client. The default server is this machine's.

The answer's schema goes to the server, which lets the model write nothing else. Reasoning is off.
The context is set, since Ollama would otherwise cut a longer prompt without saying so.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final

from consolidate.backends.llm.classifier import LlmClassifier
from consolidate.backends.llm.clients import Client, as_classifier, as_embedder, as_extractor
from consolidate.backends.llm.embedder import LlmEmbedder
from consolidate.backends.llm.endpoints import words
from consolidate.backends.llm.extractor import LlmExtractor
from consolidate.backends.llm.limits import LlmOptions
from consolidate.backends.llm.served import CallFailed, Reply, ServedModel
from consolidate.types import Prompt

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["OllamaApi", "classifier", "embedder", "extractor", "language_model"]

_CONTEXT: Final = 8192
_KEEP_ALIVE: Final = "10m"


def embedder(model: str, options: Options) -> LlmEmbedder:
    """For the resolver: `ollama:nomic-embed-text`."""
    return as_embedder(OllamaApi(model, options.llm), options)


def extractor(model: str, options: Options) -> LlmExtractor:
    """For the resolver: `ollama:qwen3:4b`."""
    return as_extractor(OllamaApi(model, options.llm), options)


def classifier(model: str, options: Options) -> LlmClassifier:
    """For the resolver: `ollama:qwen3:4b`."""
    return as_classifier(OllamaApi(model, options.llm), options)


def language_model(model: str, options: Options) -> ServedModel:
    """For the resolver: the model itself."""
    return ServedModel(OllamaApi(model, options.llm), options.llm)


class OllamaApi(Client):
    """See `consolidate.backends.llm.served.Api`; named `ollama:qwen3:4b` or so.

    Raises:
        MissingExtraError: The client is not installed.
        InputError: No model is named, or the address is none.
    """

    def __init__(self, model: str, options: LlmOptions) -> None:
        super().__init__(
            "ollama",
            model,
            options,
            usual="http://127.0.0.1:11434",
            url_variable="OLLAMA_HOST",
            key_variable="OLLAMA_API_KEY",
            needs_key=False,
        )

    def chat(self, prompt: Prompt, schema: Mapping[str, Any], *, note: str) -> Reply:
        """Ask at /api/chat."""
        answer = self._send(
            "chat",
            messages=[
                {"role": "system", "content": f"{prompt.task}\n\n{note}".rstrip()},
                {"role": "user", "content": prompt.data},
            ],
            format=dict(schema),
            options={
                "temperature": 0,
                "seed": 1,
                "num_ctx": _CONTEXT,
                "num_predict": prompt.most_tokens,
            },
            think=False,
        )
        if answer.done_reason == "length":
            raise CallFailed("the answer was cut at its longest length")
        return Reply(
            text=answer.message.content or "",
            tokens_in=answer.prompt_eval_count or 0,
            tokens_out=answer.eval_count or 0,
        )

    def embed(self, texts: Sequence[str]) -> Reply:
        """Ask at /api/embed; a text that is too long is refused there, not cut."""
        answer = self._send("embed", input=list(texts), truncate=False)
        return Reply(vectors=answer.embeddings, tokens_in=answer.prompt_eval_count or 0)

    def _make(self) -> Any:
        import ollama

        key = self._endpoint.key
        return ollama.Client(
            host=self._endpoint.url,
            timeout=self._timeout,
            follow_redirects=False,
            trust_env=False,
            headers={"authorization": f"Bearer {key}"} if key else None,
        )

    def _send(self, method: str, **arguments: Any) -> Any:
        import httpx
        import ollama

        call = getattr(self._client.get(), method)
        try:
            return call(model=self._model, keep_alive=_KEEP_ALIVE, **arguments)
        except ollama.ResponseError as error:
            # The client keeps the status and the words; what it was made from has the headers.
            response = getattr(error.__context__, "response", None)
            headers = getattr(response, "headers", {})
            raise self._refused(error.status_code, words(error.error), headers) from None
        except (ConnectionError, httpx.ConnectTimeout):
            raise self._endpoint.lost("", unreachable=True) from None
        except httpx.TimeoutException:
            raise self._endpoint.slow(self._timeout) from None
        except httpx.TransportError:
            raise self._endpoint.lost("the connection broke off") from None
        except (ValueError, TypeError):  # no JSON, or JSON of another shape
            raise self._endpoint.strange() from None
