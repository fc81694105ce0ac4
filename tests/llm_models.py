"""Makes language models that ask a server of the tests, and closes them afterwards."""

from __future__ import annotations

from typing import Any

from llm_server import LlmServer

from consolidate.backends.llm.anthropic import AnthropicApi
from consolidate.backends.llm.classifier import LlmClassifier
from consolidate.backends.llm.embedder import LlmEmbedder
from consolidate.backends.llm.extractor import LlmExtractor
from consolidate.backends.llm.limits import Ceiling, LlmOptions
from consolidate.backends.llm.ollama import OllamaApi
from consolidate.backends.llm.openai import OpenAiApi
from consolidate.backends.llm.served import Api, ServedModel

__all__ = ["APIS", "EMBEDDING_APIS", "Made", "url_of"]

APIS = ("ollama", "openai", "anthropic")
EMBEDDING_APIS = ("ollama", "openai")


def url_of(server: LlmServer, api: str) -> str:
    """The base URL as each API's users write it."""
    return server.url + ("/v1" if api == "openai" else "")


class Made:
    """Makes the roles for one server.

    Attributes:
        waits: Seconds that the models would have waited.
    """

    def __init__(self, server: LlmServer, api: str) -> None:
        self.server = server
        self.api = api
        self.waits: list[float] = []
        self._open: list[ServedModel] = []

    def model(
        self, *, name: str = "m", max_calls: int = 0, max_tokens: int = 0, **options: Any
    ) -> ServedModel:
        """A language model."""
        options = {"timeout": 30.0, "concurrency": 1} | options
        chosen = LlmOptions(
            base_url=url_of(self.server, self.api),
            ceiling=Ceiling(most_calls=max_calls, most_tokens=max_tokens),
            **options,
        )
        api: Api
        if self.api == "ollama":
            api = OllamaApi(name, chosen)
        elif self.api == "openai":
            api = OpenAiApi(name, chosen)
        else:
            api = AnthropicApi(name, chosen)
        made = ServedModel(api, chosen, sleep=self.waits.append)
        self._open.append(made)
        return made

    def classifier(self, *, batch: int = 1, **options: Any) -> LlmClassifier:
        """A classifier."""
        return LlmClassifier(self.model(**options), batch=batch)

    def extractor(self, *, batch: int = 1, **options: Any) -> LlmExtractor:
        """An extractor."""
        return LlmExtractor(self.model(**options), batch=batch)

    def embedder(self, **options: Any) -> LlmEmbedder:
        """An embedder."""
        return LlmEmbedder(self.model(**options))

    def close(self) -> None:
        """Close all connections."""
        for model in self._open:
            model.close()
