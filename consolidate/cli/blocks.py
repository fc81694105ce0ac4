"""The commands `blocks` and `block`."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from consolidate.cli.common import Agent, Context, Db, Json, context, utc_now
from consolidate.cli.errors import UsageError
from consolidate.cli.render import day, draw, heading, say, table, write_json
from consolidate.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from consolidate.store import Block, Store

__all__ = ["block", "blocks"]


def blocks(db: Db = None, agent: Agent = None, as_json: Json = False) -> None:
    """List memory blocks, of all agents or of one."""
    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        found = store.blocks(ctx.agent if agent else None)
    if as_json:
        listed = [
            {
                "agent": each.agent,
                "name": each.name,
                "size": each.size,
                "limit": each.limit,
                "version": each.version,
                "updated_at": each.updated_at,
            }
            for each in found
        ]
        write_json({"blocks": listed})
        return
    if not found:
        say("There are no blocks; `consolidate block NAME --set TEXT` makes one.")
        return
    draw(
        table(
            ["agent", "block", "characters", "of", "version", "changed"],
            [(b.agent, b.name, b.size, b.limit, b.version, day(b.updated_at)) for b in found],
            right=["characters", "of", "version"],
        )
    )


def block(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The block's name.")],
    content: Annotated[
        str | None,
        typer.Option(
            "--set",
            metavar="TEXT",
            help="Give it this content; - reads standard input.",
            show_default=False,
        ),
    ] = None,
    more: Annotated[
        str | None,
        typer.Option(
            "--append",
            metavar="TEXT",
            help="Add lines at the end; - reads standard input.",
            show_default=False,
        ),
    ] = None,
    history: Annotated[bool, typer.Option("--history", help="Show what it has held.")] = False,
    remove: Annotated[bool, typer.Option("--delete", help="Delete it with all it held.")] = False,
    limit: Annotated[
        int | None,
        typer.Option(
            "--limit", metavar="N", help="Characters it may have from now on.", show_default=False
        ),
    ] = None,
    version: Annotated[
        int | None,
        typer.Option(
            "--version",
            metavar="N",
            help="Refuse if it has another version by now; 0 if it must not be there.",
            show_default=False,
        ),
    ] = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show or change a named block of text."""
    if sum([content is not None, more is not None, history, remove]) > 1:
        raise UsageError("--set, --append, --history and --delete don't go together")
    if limit is not None and (more is not None or history or remove):
        raise UsageError("--limit goes with --set, or alone")
    ctx = context(db, agent, as_json)
    writes = content is not None or more is not None
    with ctx.store(create=writes) as store:
        if history:
            _show_history(store, ctx, name)
            return
        if remove:
            _delete(store, ctx, name)
            return
        if more is not None:
            found = store.append_block(ctx.agent, name, _text(more), now=utc_now(), version=version)
        else:
            there = store.block(ctx.agent, name)
            if there is None and content is None:
                raise _missing(ctx.agent, name)
            if content is None and limit is None and there is not None:
                _show(there, ctx)
                return
            whole = _text(content) if content is not None else there.content if there else ""
            found = store.write_block(
                ctx.agent, name, whole, now=utc_now(), version=version, limit=limit
            )
    if as_json:
        write_json({"block": found, "size": found.size})
    else:
        say(f"{name}: version {found.version}, {found.size} of {found.limit} characters")


def _show(block: Block, ctx: Context) -> None:
    if ctx.as_json:
        write_json({"block": block, "size": block.size})
    else:
        say(block.content)


def _show_history(store: Store, ctx: Context, name: str) -> None:
    past = store.block_history(ctx.agent, name)
    if not past:
        raise _missing(ctx.agent, name)
    if ctx.as_json:
        write_json({"name": name, "versions": past})
        return
    for each in past:
        heading(f"version {each.version}, since {day(each.at)}")
        say(each.content)


def _delete(store: Store, ctx: Context, name: str) -> None:
    if not store.delete_block(ctx.agent, name):
        raise _missing(ctx.agent, name)
    if ctx.as_json:
        write_json({"name": name, "deleted": True})
    else:
        say(f"Deleted block {name} with all it held.")


def _missing(agent: str, name: str) -> NotFoundError:
    return NotFoundError(
        f"{agent!r} has no block {name!r}; `consolidate blocks` lists them, --set makes one"
    )


def _text(given: str) -> str:
    if given != "-":
        return given
    try:
        return sys.stdin.buffer.read().decode("utf-8").removesuffix("\n")
    except UnicodeDecodeError as error:
        raise InputError("standard input is not UTF-8") from error
