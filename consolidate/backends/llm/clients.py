"""What the clients of all APIs share: from settings to a client, and from a client to a role.

The clients of openai and anthropic come out of one generator, so they are made alike and fail
alike; that is here too. What an API is asked and how its answers are read is in its own module.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, TypeVar

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
from consolidate.backends.llm.served import Api, ServedModel

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["Client", "GeneratedClient", "as_classifier", "as_embedder", "as_extractor"]

Answer = TypeVar("Answer")


class Client:
    """A model at one server; the client itself is made when it is first used.

    Args:
        backend: Such as `ollama`; also the name of the package and of the extra.
        model: The model's name at the server.
        options: Where the server is and what it may cost.
        usual: The server's address if none is given.
        url_variable: Environment variable with another one.
        key_variable: Environment variable with the key.
        needs_key: Servers elsewhere than on this machine want one.

    Raises:
        MissingExtraError: The client is not installed.
        InputError: No model is named, or the address is none.
        BackendError: A key is needed and not there.
    """

    def __init__(
        self,
        backend: str,
        model: str,
        options: LlmOptions,
        *,
        usual: str,
        url_variable: str,
        key_variable: str,
        needs_key: bool = True,
    ) -> None:
        self._model = checked_model(backend, model)
        self._timeout = options.timeout
        self._endpoint = Endpoint(
            backend,
            usual=usual,
            url_variable=url_variable,
            key_variable=key_variable,
            options=options,
            needs_key=needs_key,
        )
        require(backend, backend)
        self._client = Lazy(self._make)

    @property
    def name(self) -> str:
        """Backend and model, and the server if it is not the usual one."""
        return f"{self._endpoint.backend}:{self._model}{self._endpoint.suffix}"

    def close(self) -> None:
        """Close all connections."""
        self._client.close()

    def _make(self) -> Any:
        raise NotImplementedError

    def _refused(self, status: int, message: str, headers: Mapping[str, str]) -> Exception:
        """What to raise for a status."""
        return failure_of_status(self._endpoint, status, message, headers, model=self._model)


class GeneratedClient(Client):
    """For the packages `openai` and `anthropic`."""

    def _official(self, make: Callable[..., Any], http: Callable[..., Any]) -> Any:
        return make(
            api_key=self._endpoint.key or "none",
            base_url=self._endpoint.url,
            timeout=self._timeout,
            max_retries=0,
            http_client=http(
                follow_redirects=False,
                timeout=self._timeout,
                # The way out may lead through a proxy; the way to this machine does not.
                trust_env=not self._endpoint.local,
            ),
        )

    def _ask(
        self,
        package: Any,
        base_error: type[Exception],
        ask: Callable[[Any], Answer],
        *,
        adapt: Callable[[int, str], None] = lambda status, message: None,
    ) -> Answer:
        """Send a request; what the package raises becomes a failure with plain words.

        Args:
            package: The imported package, for its errors.
            base_error: The error that all of its own derive from.
            ask: Is given the client.
            adapt: Is told status and words of a refusal, and may raise to ask in another way.
        """
        try:
            return ask(self._client.get())
        except package.APIStatusError as error:
            message = words(error.body)
            adapt(error.status_code, message)
            raise self._refused(error.status_code, message, error.response.headers) from None
        except package.APITimeoutError:
            raise self._endpoint.slow(self._timeout) from None
        except package.APIConnectionError as error:
            unreachable = type(error.__cause__).__name__ == "ConnectError"
            raise self._endpoint.lost("the connection broke off", unreachable=unreachable) from None
        except (base_error, ValueError, TypeError, AttributeError, LookupError):
            raise self._endpoint.strange() from None


def as_embedder(api: Api, options: Options) -> LlmEmbedder:
    """An embedder that asks this API."""
    return LlmEmbedder(ServedModel(api, options.llm))


def as_extractor(api: Api, options: Options) -> LlmExtractor:
    """An extractor that asks this API."""
    model = ServedModel(api, options.llm)
    return LlmExtractor(model, batch=options.llm.batch, known=options.known)


def as_classifier(api: Api, options: Options) -> LlmClassifier:
    """A classifier that asks this API."""
    return LlmClassifier(ServedModel(api, options.llm), batch=options.llm.batch)
