"""The server over HTTP: streamable HTTP at /mcp, the older pair /sse and /messages/, /health.

On loopback anyone on the machine may call; elsewhere nobody without the token. Either way a web
page in a browser can't: its Origin is not one of ours, and a Host that merely points here is
refused (DNS rebinding).
"""

from __future__ import annotations

import hmac
import ipaddress
import time
from collections import OrderedDict
from typing import TYPE_CHECKING, Any, Final

from consolidate.errors import InputError

if TYPE_CHECKING:
    from mcp.server.lowlevel import Server
    from starlette.types import ASGIApp, Receive, Scope, Send

__all__ = ["MOST_BYTES", "Guard", "check_exposure", "http_app", "is_loopback"]

MOST_BYTES: Final = 2 * 1024 * 1024
"""Longest request body."""

CALLS_A_MINUTE: Final = 600
"""Requests that one address may make in a minute before it is told to wait."""

SHORTEST_TOKEN: Final = 16
"""Characters."""

_MOST_ADDRESSES: Final = 4096


def is_loopback(host: str) -> bool:
    """Whether an address to listen at can be reached from this machine only."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host == "localhost"


def check_exposure(host: str, token: str | None) -> None:
    """Refuse to listen where others can reach it without a token.

    Raises:
        InputError: There is no token, or one that could be guessed.
    """
    if token is not None and len(token) < SHORTEST_TOKEN:
        raise InputError(
            f"the token has {len(token)} characters; use {SHORTEST_TOKEN} or more, for example "
            "from `python -c 'import secrets; print(secrets.token_urlsafe())'`"
        )
    if not is_loopback(host) and token is None:
        raise InputError(
            f"{host} can be reached from other machines, so the server needs a token: put one in "
            "CONSOLIDATE_TOKEN or in a file named with --token-file, or listen at 127.0.0.1"
        )


class Guard:
    """Checks each request's token and pace before anything reads its body.

    Args:
        app: What the request goes on to.
        token: What `Authorization: Bearer` must carry; None asks for none.
        calls_a_minute: A bucket of this size for each address, filled evenly.
    """

    def __init__(
        self, app: ASGIApp, token: str | None, calls_a_minute: int = CALLS_A_MINUTE
    ) -> None:
        self.app = app
        self._token = None if token is None else token.encode()
        self._rate = calls_a_minute / 60
        self._size = float(calls_a_minute)
        self._buckets: OrderedDict[str, tuple[float, float]] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Let a request through, or answer it."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        if scope["path"] != "/health" and not self._may(scope):
            await _answer(send, 401, "a token is needed", (b"www-authenticate", b"Bearer"))
        elif not self._paced(scope):
            wait = str(max(1, round(1 / self._rate))).encode()  # by then one more may come
            await _answer(send, 429, "too many requests", (b"retry-after", wait))
        else:
            await self.app(scope, receive, send)

    def _may(self, scope: Scope) -> bool:
        if self._token is None:
            return True
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        expected = b"Bearer " + self._token
        # Compared in constant time, so that it can't be guessed byte by byte
        return len(given) == 1 and hmac.compare_digest(given[0], expected)

    def _paced(self, scope: Scope) -> bool:
        address = (scope.get("client") or ("", 0))[0]
        now = time.monotonic()
        left, seen = self._buckets.pop(address, (self._size, now))
        left = min(self._size, left + (now - seen) * self._rate)
        passes = left >= 1
        self._buckets[address] = (left - 1 if passes else left, now)
        while len(self._buckets) > _MOST_ADDRESSES:
            self._buckets.popitem(last=False)
        return passes


async def _answer(send: Send, status: int, text: str, header: tuple[bytes, bytes]) -> None:
    headers = [(b"content-type", b"text/plain; charset=utf-8"), header]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": text.encode()})


def http_app(
    server: Server[Any],
    *,
    host: str,
    port: int,
    token: str | None,
    calls_a_minute: int = CALLS_A_MINUTE,
) -> ASGIApp:
    """Make the ASGI application.

    Args:
        server: The MCP server.
        host: Where it listens; also the name by which clients may call it.
        port: The port, for the names that may stand in Host and Origin.
        token: What callers must carry; None for none.
        calls_a_minute: Requests that one address may make in a minute.

    Raises:
        InputError: See `check_exposure`.
    """
    from mcp.server.sse import SseServerTransport
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.responses import JSONResponse, Response
    from starlette.routing import Mount, Route

    check_exposure(host, token)
    names = ["127.0.0.1", "localhost", "[::1]"]
    if not is_loopback(host):
        names.append(f"[{host}]" if ":" in host else host)
    hosts = [name + end for name in names for end in ("", ":*")]
    security = TransportSecuritySettings(
        enable_dns_rebinding_protection=True,
        # Behind 0.0.0.0 the machine has names we don't know; there the token is the guard.
        allowed_hosts=hosts,
        allowed_origins=[f"{scheme}://{each}" for scheme in ("http", "https") for each in hosts],
    )
    if host in ("0.0.0.0", "::"):  # noqa: S104 - compared, not listened at
        security = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    sse = SseServerTransport("/messages/", security, max_request_body_size=MOST_BYTES)

    async def health(request: Any) -> Response:
        return JSONResponse({"status": "ok"})

    async def events(request: Any) -> Response:
        try:
            async with sse.connect_sse(request.scope, request.receive, request._send) as (
                reading,
                writing,
            ):
                await server.run(reading, writing, server.create_initialization_options())
        except ValueError:
            pass  # refused for its Host or Origin, and answered already
        return Response()

    app = server.streamable_http_app(
        transport_security=security,
        max_request_body_size=MOST_BYTES,
        max_sessions=256,
        host=host,
        custom_starlette_routes=[
            Route("/health", health),
            Route("/sse", events),
            Mount("/messages/", app=sse.handle_post_message),  # type: ignore[list-item]
        ],
    )
    return Guard(app, token, calls_a_minute)
