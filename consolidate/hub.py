"""How the Hugging Face hub, or a mirror of it, is reached: address, token, switches, errors.

Knows nothing of models or folders. `huggingface_hub` is imported when something is fetched.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from consolidate.errors import InputError, MissingExtraError

__all__ = [
    "HUB",
    "SECONDS",
    "endpoint_of",
    "git_digest",
    "hub",
    "is_offline",
    "reason_of",
    "revision_is_missing",
    "status_of",
    "token_of",
    "url_of",
]

HUB: Final = "https://huggingface.co"

_CHUNK: Final = 256 * 1024  # what a cut connection may cost; the library's own is 10 MB
SECONDS: Final = 10.0
"""To wait for an answer."""
_CRITICAL: Final = 50  # level of log messages
_TRUE: Final = frozenset({"1", "on", "yes", "true"})


@contextmanager
def hub(environ: Mapping[str, str]) -> Iterator[None]:
    """Let the transfer library talk to the hub about the files asked for and nothing else.

    It reads its own switches when it is imported, perhaps by another library long before; so they
    are set here, for as long as the fetch takes.
    """
    try:
        from huggingface_hub import constants
        from huggingface_hub.utils import logging
    except ImportError as error:
        raise MissingExtraError(
            "fetching models needs huggingface_hub: pip install huggingface_hub"
        ) from error
    wanted: dict[str, Any] = {
        "HF_HUB_DISABLE_TELEMETRY": True,  # and with it the list of agents that it would fetch
        "HF_HUB_OFFLINE": False,  # was looked at already
        "HF_HUB_ENABLE_HF_TRANSFER": False,  # knows no resuming
        "DOWNLOAD_CHUNK_SIZE": _CHUNK,
        "HF_HUB_DOWNLOAD_TIMEOUT": SECONDS,
    }
    before = {key: getattr(constants, key) for key in wanted if hasattr(constants, key)}
    verbosity = logging.get_verbosity()
    try:
        for key in before:
            setattr(constants, key, wanted[key])
        logging.set_verbosity(_CRITICAL)
        yield
    finally:
        logging.set_verbosity(verbosity)
        for key, value in before.items():
            setattr(constants, key, value)
        _close_session()


def _close_session() -> None:
    # The name changed between versions; an open connection would only be untidy.
    with contextlib.suppress(ImportError):
        from huggingface_hub import close_session

        close_session()


def endpoint_of(environ: Mapping[str, str]) -> str:
    """The address of the hub: that of `HF_ENDPOINT`, else the hub's own.

    Raises:
        InputError: What is named is no address.
    """
    named = environ.get("HF_ENDPOINT", "").strip().rstrip("/") or HUB
    if not re.match(r"https?://[^/]", named):
        raise InputError(f"HF_ENDPOINT is {named!r}; it must be an address such as {HUB}")
    return named


def token_of(environ: Mapping[str, str]) -> str | None:
    """The token to show, from the variable or from where `hf auth login` keeps it."""
    if token := environ.get("HF_TOKEN", "").strip():
        return token
    if environ.get("HF_HUB_DISABLE_IMPLICIT_TOKEN", "").lower() in _TRUE:
        return None
    home = environ.get("HF_HOME") or str(
        Path(environ.get("XDG_CACHE_HOME") or "~/.cache") / "huggingface"
    )
    path = Path(environ.get("HF_TOKEN_PATH") or Path(home) / "token").expanduser()
    try:
        return path.read_text(encoding="utf-8").strip() or None
    except (OSError, UnicodeDecodeError):
        return None


def is_offline(environ: Mapping[str, str]) -> bool:
    """Whether a variable forbids the network."""
    names = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE", "CONSOLIDATE_NO_NETWORK")
    return any(environ.get(name, "").lower() in _TRUE for name in names)


def url_of(endpoint: str, repository: str, revision: str, path: str) -> str:
    """Where a file of a repository is to be had."""
    from urllib.parse import quote

    return f"{endpoint}/{repository}/resolve/{quote(revision, safe='')}/{quote(path)}"


def status_of(error: BaseException) -> int | None:
    """The HTTP status in an error of the library, if it is about one."""
    response = getattr(error, "response", None)
    status = getattr(response, "status_code", None)
    return status if isinstance(status, int) else None


def revision_is_missing(error: Exception) -> bool:
    """Whether the hub lacks the repository or its revision, not only the file."""
    return type(error).__name__ in ("RevisionNotFoundError", "RepositoryNotFoundError")


def reason_of(error: BaseException) -> str:
    """The first line of the innermost cause that says something."""
    while error.__cause__ is not None and str(error.__cause__):
        error = error.__cause__
    first = next((line.strip() for line in str(error).splitlines() if line.strip()), "")
    if "Consistency check failed" in first:
        return "the connection was cut"
    return first.rstrip(".") or type(error).__name__


def git_digest(path: Path) -> str:
    """The SHA-1 by which git, and so the hub, names a small file."""
    made = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            made.update(block)
    return made.hexdigest()
