"""The command `graph`: the memory as a page to look at."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from consolidate.cli.common import Agent, Db, Json, context, hint_at_agents
from consolidate.cli.exchange import check_target, write_whole
from consolidate.cli.render import say, write_json

__all__ = ["graph"]


def graph(
    html: Annotated[
        str, typer.Option("--html", metavar="FILE", help="The page to write; open it in a browser.")
    ],
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Write entities, the facts that join them and their history as one HTML page.

    The page needs no network and no other file. It holds the facts themselves, those that no
    longer hold too: give it only to whom you would give the memory.
    """
    from consolidate.graph.page import graph_page

    ctx = context(db, agent, as_json)
    target = Path(html)
    ctx.spare(target)
    check_target(html)
    with ctx.reading() as store:
        page = graph_page(store, agent=ctx.agent)
        entities = len(store.entity_labels(ctx.agent))
        facts = store.agents()
    write_whole(target, page.rstrip("\n").split("\n"))
    if as_json:
        write_json({"file": html, "entities": entities})
        return
    say(f"Wrote {entities} entities to {html}")
    if ctx.agent not in facts:
        hint_at_agents(ctx.agent, facts)
    elif not entities:
        say("No entities yet. They are found when facts are consolidated: consolidate run")
