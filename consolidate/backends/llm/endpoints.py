"""Where a server is and with which key it is asked; and what of that may be shown.

Addresses are shown in identities and errors, so one with a password or a query in it is refused.
Keys come from the environment, are handed to the client, and are shown nowhere.
"""

from __future__ import annotations

import email.utils
import ipaddress
import os
import re
import threading
from collections.abc import Callable, Mapping
from importlib.util import find_spec
from typing import Any, Final
from urllib.parse import urlsplit

from consolidate.backends.llm.limits import LlmOptions
from consolidate.backends.llm.served import CallFailed
from consolidate.errors import BackendError, InputError, MissingExtraError

__all__ = ["Endpoint", "Lazy", "checked_model", "failure_of_status", "require", "words"]

_SHOWN: Final = 200
_TOO_LONG: Final = re.compile(
    r"context[ _]?(length|window)|maximum (context|input)|input length|reduce the (length|input)|"
    r"(input|prompt|text|sequence)[^.]{0,40} too (long|large)",
    re.IGNORECASE,
)


class Lazy:
    """A client that is made when it is first used and may be closed at any time."""

    def __init__(self, make: Callable[[], Any]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self._client: Any = None

    def get(self) -> Any:
        """The client."""
        with self._lock:
            if self._client is None:
                self._client = self._make()
            return self._client

    def close(self) -> None:
        """Close it if it was made."""
        with self._lock:
            client, self._client = self._client, None
        if client is not None:
            client.close()


class Endpoint:
    """One API's server and key.

    Args:
        backend: Such as `openai`; also the name of the extra.
        usual: The address if none is given.
        url_variable: Environment variable with another one.
        key_variable: Environment variable with the key.
        options: May name another address and variable.
        needs_key: Servers elsewhere than on this machine want one.
    """

    def __init__(
        self,
        backend: str,
        *,
        usual: str,
        url_variable: str,
        key_variable: str,
        options: LlmOptions,
        needs_key: bool = True,
    ) -> None:
        self.backend = backend
        self.key_variable = options.key_variable or key_variable
        self._url_variable = url_variable
        named = os.environ.get(url_variable, "").strip()
        if options.base_url:
            self.url = _checked(options.base_url, "llm_base_url")
        elif named:
            self.url = _checked(_with_scheme(named, usual), url_variable)
        else:
            self.url = usual
        parts = urlsplit(self.url)
        self.local = _is_local(parts.hostname or "")
        self.suffix = "" if _same(self.url, usual) else f"@{parts.netloc}{parts.path}"
        self.key = os.environ.get(self.key_variable, "").strip() or None
        if self.key and not (self.key.isascii() and self.key.isprintable()):
            raise BackendError(
                f"the key in {self.key_variable} holds characters that no key has (a line break, "
                "a quote from a document?); set it again"
            )
        if needs_key and self.key is None and not self.local:
            raise BackendError(
                f"{backend} at {self.url} needs a key: set {self.key_variable} (a server that "
                "checks none takes any, such as 'none')"
            )

    def shown(self, text: str) -> str:
        """A server's words for an error: one line, not long, without the key."""
        if self.key:
            text = text.replace(self.key, "***")
        text = re.sub(r"(?i)(bearer|x-api-key:?)\s+\S+", r"\1 ***", text)
        text = re.sub(r"\bsk-[\w*-]+", "***", text)  # services echo a key in part
        text = " ".join("".join(c if c.isprintable() else " " for c in text).split())
        return text if len(text) <= _SHOWN else text[: _SHOWN - 3] + "..."

    def lost(self, what: str, *, unreachable: bool = False) -> CallFailed:
        """The failure for a connection that was not made or broke off."""
        reason = f"{what} at {self.url}"
        if unreachable:
            hint = " (start it with `ollama serve`)" if self.backend == "ollama" else ""
            reason = (
                f"no server can be reached at {self.url}{hint}; the address comes from "
                f"llm_base_url or {self._url_variable}"
            )
        return CallFailed(reason, again=True, down=True, unreachable=unreachable)

    def slow(self, seconds: float) -> CallFailed:
        """The failure for a server that did not answer in time.

        It is not asked again: what is too slow now is too slow in a second, and is paid for.
        """
        return CallFailed(f"no answer within {seconds:g} s from {self.url}", down=True)

    def strange(self) -> CallFailed:
        """The failure for an answer that is not what the API promises."""
        return CallFailed(f"the server at {self.url} did not answer as this API does", down=True)


def words(body: object) -> str:
    """What a server says in the body of an error, whichever way it puts it."""
    for name in ("error", "message", "detail"):
        if isinstance(body, dict) and name in body:
            body = body[name]
    return str(body)


def failure_of_status(
    endpoint: Endpoint, status: int, message: str, headers: Mapping[str, str], *, model: str
) -> CallFailed:
    """What an HTTP status means.

    Raises:
        BackendError: It means that no request will be answered.
    """
    # What the server says of a key may hold the key, so it is not shown.
    if status in (401, 403):
        raise BackendError(
            f"{endpoint.backend} at {endpoint.url} refused the key in {endpoint.key_variable} "
            f"(HTTP {status})"
        )
    said = endpoint.shown(message)
    if status == 404:
        hint = f"; get it with `ollama pull {model}`" if endpoint.backend == "ollama" else ""
        raise BackendError(
            f"{endpoint.backend} at {endpoint.url} has no model {model!r}{hint} (HTTP 404: {said})"
        )
    if 300 <= status < 400:
        raise BackendError(
            f"{endpoint.url} redirects elsewhere (HTTP {status}), which is not followed: memory "
            "goes only to the address that was named"
        )
    reason = f"HTTP {status} from {endpoint.url}: {said}"
    if status in (400, 413, 422, 500) and _TOO_LONG.search(message):
        return CallFailed(reason, too_long=True)
    passing = status in (408, 409, 425, 429) or status >= 500
    return CallFailed(reason, again=passing, down=passing, wait=_asked_wait(headers))


def require(backend: str, package: str) -> None:
    """Check that a client is installed, without importing it.

    Raises:
        MissingExtraError: It is not; names the extra.
    """
    if find_spec(package) is None:
        raise MissingExtraError(
            f"the backend {backend!r} needs the package {package}: pip install "
            f"'consolidate[{backend}]'"
        )


def checked_model(backend: str, model: str) -> str:
    """The model's name.

    Raises:
        InputError: There is none.
    """
    if not model or not model.isprintable() or model != model.strip():
        raise InputError(f"{backend}: a model must be named, as in '{backend}:MODEL'")
    return model


def _checked(url: str, origin: str) -> str:
    try:
        parts = urlsplit(url)
        sound = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        sound = False
    if not sound or not url.isprintable() or " " in url:
        raise InputError(f"{origin} must be an http or https address such as http://localhost:8000")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise InputError(
            f"{origin} must be an address without user name, password and query; keys belong in "
            "an environment variable"
        )
    return url.rstrip("/")


def _with_scheme(named: str, usual: str) -> str:
    """An address from a variable that may hold a bare host, port or both (OLLAMA_HOST does)."""
    if "://" in named:
        return named
    url = f"http://{'127.0.0.1' if named.startswith(':') else ''}{named}"
    try:
        port = urlsplit(url).port
    except ValueError:
        return url
    usual_port = urlsplit(usual).port
    return url if port is not None or usual_port is None else f"{url.rstrip('/')}:{usual_port}"


def _same(url: str, usual: str) -> bool:
    """Whether two addresses lead to one server; this machine has several names."""
    one, other = urlsplit(url), urlsplit(usual)
    return url == usual or (
        _is_local(one.hostname or "")
        and _is_local(other.hostname or "")
        and (one.scheme, one.port, one.path) == (other.scheme, other.port, other.path)
    )


def _is_local(host: str) -> bool:
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(host)
        return address.is_loopback or address.is_unspecified
    except ValueError:
        return False


def _asked_wait(headers: Mapping[str, str]) -> float | None:
    """Seconds from Retry-After; a date in it is read against the server's own clock."""
    value = headers.get("retry-after", "").strip()
    try:
        seconds = float(value)
    except ValueError:
        try:
            until = email.utils.parsedate_to_datetime(value)
            seconds = (until - email.utils.parsedate_to_datetime(headers["date"])).total_seconds()
        except (ValueError, KeyError, TypeError):
            return None
    return max(seconds, 0.0) if seconds == seconds else None
