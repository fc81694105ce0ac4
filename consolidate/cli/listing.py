"""Commands that list what is there: agents, facts."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from consolidate.cli.common import Agent, Db, Json, context, hint_at_agents
from consolidate.cli.errors import UsageError
from consolidate.cli.render import day, draw, say, table, write_json
from consolidate.errors import NotFoundError
from consolidate.types import Fact, FactStatus

if TYPE_CHECKING:
    from consolidate.store import Store

__all__ = ["agents", "facts"]

_STATUSES = ", ".join(FactStatus)


def agents(db: Db = None, as_json: Json = False) -> None:
    """List agents with what each has."""
    ctx = context(db, None, as_json)
    with ctx.store() as store:
        counts = {name: store.stats(name) for name in store.agents()}
        others = {block.agent for block in store.blocks()} | {*store.agents_with_episodes()}
        counts |= {name: store.stats(name) for name in others - counts.keys()}
    rows = [
        {
            "agent": name,
            "live": each["active"] + each["in_review"],
            "history": each["facts"] - each["active"] - each["in_review"],
            "blocks": each["blocks"],
            "episodes": each["episodes"],
            "open_reviews": each["open_reviews"],
            "runs": each["runs"],
        }
        for name, each in sorted(counts.items())
    ]
    if as_json:
        write_json({"agents": rows})
        return
    if not rows:
        say("There are no agents: nothing is stored yet.")
        return
    names = ["agent", "live", "history", "blocks", "episodes", "open_reviews", "runs"]
    heads = [name.replace("_", " ") for name in names]
    draw(table(heads, [[row[n] for n in names] for row in rows], right=heads[1:]))


def facts(
    ids: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="[FACT]...",
            help="Only these, by id or the start of it, whatever became of them.",
            show_default=False,
        ),
    ] = None,
    entity: Annotated[
        str | None,
        typer.Option(
            "--entity", metavar="NAME", help="Only what speaks of this.", show_default=False
        ),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option("--kind", metavar="KIND", help="Only this kind.", show_default=False),
    ] = None,
    status: Annotated[
        list[str] | None,
        typer.Option(
            "--status",
            metavar="STATUS",
            help=f"Only these: {_STATUSES}; else those that hold.",
            show_default=False,
        ),
    ] = None,
    every: Annotated[bool, typer.Option("--all", help="History too.")] = False,
    superseded: Annotated[
        bool, typer.Option("--superseded", help="Only what was superseded.")
    ] = False,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=0, help="How many.")] = 50,
    offset: Annotated[
        int, typer.Option("--offset", metavar="N", min=0, help="How many to leave out first.")
    ] = 0,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """List facts page by page, of all agents or of one."""
    wanted = _statuses(status, every, superseded)
    if ids and (entity or kind or status or every or superseded):
        raise UsageError("ids of facts and options that choose facts don't go together")
    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        whose = ctx.agent if agent or entity else None
        if ids:
            found = [_one(store, each, whose) for each in dict.fromkeys(ids)]
            found = found[offset : offset + limit + 1]
        else:
            of_it = None if entity is None else _of_entity(store, ctx.agent, entity)
            found = store.facts(
                agent=whose, statuses=wanted, kind=kind, ids=of_it, limit=limit + 1, offset=offset
            )
        names = [*store.agents()]
    more = len(found) > limit
    found = found[:limit]
    if agent:
        hint_at_agents(ctx.agent, names)
    if as_json:
        write_json({"facts": found, "offset": offset, "more": more})
        return
    if not found:
        say("There are no such facts.")
        return
    several = whose is None and len(names) > 1
    heads = ["fact", "kind", "said", "by", "status", "id", *(["agent"] if several else [])]
    rows = [
        (
            each.text if len(each.text) <= 300 else f"{each.text[:297]}...",
            each.kind,
            day(each.stated_at) or "?",
            each.source,
            each.status,
            each.id,
            *([each.agent] if several else []),
        )
        for each in found
    ]
    draw(table(heads, rows, grow="fact"))
    if more:
        say(f"There are more: --offset {offset + limit}")


def _one(store: Store, fact: str, agent: str | None) -> Fact:
    found = store.get(fact)
    if agent not in (None, found.agent):
        raise NotFoundError(f"no fact {fact!r} in the memory of {agent!r}")
    return found


def _of_entity(store: Store, agent: str, name: str) -> list[str]:
    from consolidate.graph.declaring import find

    return store.fact_ids_of_entity(find(store, agent, name).id)


def _statuses(
    status: list[str] | None, every: bool, superseded: bool
) -> list[FactStatus] | frozenset[FactStatus] | None:
    from consolidate.store import LIVE

    if sum([bool(status), every, superseded]) > 1:
        raise UsageError("--status, --all and --superseded don't go together")
    if every:
        return None
    if superseded:
        return [FactStatus.SUPERSEDED]
    if not status:
        return LIVE
    try:
        return [FactStatus(each) for each in status]
    except ValueError:
        bad = next(each for each in status if each not in set(FactStatus))
        raise UsageError(f"--status {bad!r} is none of {_STATUSES}") from None
