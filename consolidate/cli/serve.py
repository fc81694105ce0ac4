"""The command that serves a memory to agents over MCP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Literal

import typer

from consolidate.cli.common import Db, context
from consolidate.errors import InputError

__all__ = ["serve"]

Transport = Literal["stdio", "http"]


def serve(
    transport: Annotated[
        str,
        typer.Option(
            "--transport",
            metavar="stdio|http",
            envvar="HIPPO_TRANSPORT",
            show_envvar=False,
            help="How clients reach it.",
        ),
    ] = "stdio",
    host: Annotated[
        str, typer.Option("--host", help="For http: where to listen. Elsewhere needs a token.")
    ] = "127.0.0.1",
    port: Annotated[
        int,
        typer.Option(
            "--port",
            min=0,
            max=65535,
            envvar="HIPPO_PORT",
            show_envvar=False,
            help="For http; 0 takes a free one.",
        ),
    ] = 8765,
    only: Annotated[
        str | None,
        typer.Option("--only", metavar="AGENT", help="Serve this agent alone.", show_default=False),
    ] = None,
    token_file: Annotated[
        Path | None,
        typer.Option(
            "--token-file",
            metavar="FILE",
            help="For http: holds the token that clients must send; else CONSOLIDATE_TOKEN.",
            show_default=False,
        ),
    ] = None,
    calls_a_minute: Annotated[
        int,
        typer.Option(
            "--calls-a-minute",
            min=1,
            help="For http: requests that one address may make in a minute.",
        ),
    ] = 600,
    tools: Annotated[
        str,
        typer.Option(
            "--tools",
            metavar="all|memory|entities|maintenance",
            help="Which groups of tools clients see; several with commas.",
        ),
    ] = "all",
    names: Annotated[
        str,
        typer.Option(
            "--names",
            metavar="own|hippo",
            help="hippo: tools also answer to HippoAgent's hippo_* names, with its payloads.",
        ),
    ] = "own",
    db: Db = None,
) -> None:
    """Serve the memory to agents over MCP: standard input and output, or HTTP.

    HTTP has /mcp (streamable HTTP), /sse with /messages/ (older clients) and /health.
    """
    from consolidate.server.memories import Memories
    from consolidate.server.protocol import make_server, quiet_logging
    from consolidate.server.toolbox import groups_of

    if transport not in ("stdio", "http"):
        raise InputError(f"--transport {transport!r} must be stdio or http")
    if names not in ("own", "hippo"):
        raise InputError(f"--names {names!r} must be own or hippo")
    groups = groups_of(tools)
    ctx = context(db, only, False)
    quiet_logging()
    with ctx.store(create=True):
        pass  # a file that can't be used is told of now, not at the first call
    hippo = sorted(name for name in os.environ if name.startswith("HIPPO_"))
    if hippo:
        typer.echo(
            f"note: {', '.join(hippo)} set; HIPPO_DB, HIPPO_TRANSPORT and HIPPO_PORT are read "
            "where nothing of ours says otherwise, the others are not needed",
            err=True,
        )
    memories = Memories(ctx.path, ctx.settings, only)
    server = make_server(memories, groups=groups, hippo=names == "hippo")
    try:
        if transport == "stdio":
            _over_stdio(server)
        else:
            _over_http(server, host, port, _token(token_file), calls_a_minute)
    finally:
        memories.close()


def _over_stdio(server: object) -> None:
    import anyio
    from mcp.server.lowlevel import Server
    from mcp.server.stdio import stdio_server

    assert isinstance(server, Server)  # noqa: S101 - for the type checker

    async def go() -> None:
        async with stdio_server() as (reading, writing):
            await server.run(reading, writing, server.create_initialization_options())

    anyio.run(go)


def _over_http(
    server: object, host: str, port: int, token: str | None, calls_a_minute: int
) -> None:
    import socket

    import uvicorn
    from mcp.server.lowlevel import Server

    from consolidate.server.http import check_exposure, http_app

    assert isinstance(server, Server)  # noqa: S101 - for the type checker
    check_exposure(host, token)
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        listening = socket.create_server((host, port), family=family)
    except OSError as error:
        raise InputError(
            f"can't listen at {host} port {port}: {error.strerror or error}; name another with "
            "--port, or 0 for any"
        ) from error
    bound = listening.getsockname()[1]
    app = http_app(server, host=host, port=bound, token=token, calls_a_minute=calls_a_minute)
    shown = f"[{host}]" if ":" in host else host
    typer.echo(f"listening at http://{shown}:{bound}/mcp", err=True)
    config = uvicorn.Config(app, log_level="warning", access_log=False, limit_concurrency=512)
    uvicorn.Server(config).run(sockets=[listening])


def _token(file: Path | None) -> str | None:
    if file is None:
        return os.environ.get("CONSOLIDATE_TOKEN") or None
    try:
        token = file.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"--token-file {str(file)!r} can't be read: {error}") from error
    if not token:
        raise InputError(f"--token-file {str(file)!r} is empty")
    return token
