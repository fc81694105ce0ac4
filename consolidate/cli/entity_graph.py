"""The commands `entity neighbors`, `ppr`, `extract`, `link`, `link-facts`: around an entity."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from consolidate.cli.common import Agent, Db, Json, Timezone, context, utc_now
from consolidate.cli.entity import Name, Yes, carry
from consolidate.cli.render import draw, say, table, write_json
from consolidate.errors import InputError

__all__ = ["extract", "link", "link_facts", "neighbors", "ppr"]


def neighbors(
    name: Name,
    hops: Annotated[int, typer.Option(min=1, max=6, help="How many joints may lie between.")] = 1,
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="At most this many.")] = 10,
    direction: Annotated[
        str,
        typer.Option(
            metavar="out|in|both",
            help="Of what facts state: from it, to it, or any and all that one fact names.",
        ),
    ] = "both",
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of", metavar="TIME", help="By the facts that held then.", show_default=False
        ),
    ] = None,
    predicate: Annotated[
        str | None,
        typer.Option(
            metavar="WORDS", help="Only what is stated so: 'employer'.", show_default=False
        ),
    ] = None,
    timezone: Timezone = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show what an entity is joined to, nearest first, and by which facts."""
    ctx = context(db, agent, as_json, timezone=timezone)
    with ctx.memory() as memory:
        found = memory.entity_neighbors(
            name,
            hops=hops,
            k=limit,
            direction=_direction(direction),
            as_of=as_of,
            predicate=predicate,
        )
        ids = [fact for near in found["neighbors"] for fact in near["facts"]]
        texts = {fact.id: fact.text for fact in memory.store.facts(statuses=None, ids=ids)}
    if as_json:
        write_json(found)
        return
    if not found["neighbors"]:
        say(f"Nothing is joined to {found['entity']['label']}.")
        return
    rows = [
        (
            f"#{near['id']}",
            near["name"],
            near["hops"],
            ", ".join(near["predicates"]),
            "\n".join(texts.get(fact, fact) for fact in near["facts"][:3]),
        )
        for near in found["neighbors"]
    ]
    draw(table(["id", "name", "hops", "by", "facts"], rows, right=["hops"], grow="facts"))


def ppr(
    names: Annotated[
        list[str], typer.Argument(metavar="NAME...", help="Names of what is asked about.")
    ],
    damping: Annotated[
        float, typer.Option(help="Chance to walk on, over 0 and under 1: how far it goes.")
    ] = 0.5,
    limit: Annotated[int, typer.Option("--limit", "-k", min=1, help="At most this many.")] = 20,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Rank facts by Personalised PageRank from some entities; reaches over several facts."""
    ctx = context(db, agent, as_json)
    with ctx.memory() as memory:
        found = memory.ppr_retrieve(names, damping=damping, k=limit)
    if as_json:
        write_json(found)
        return
    for kind, why in (("unknown", "leads to no entity, or to several"),
                      ("left_out", "is in too many facts to say anything")):  # fmt: skip
        for each in found[kind]:
            say(f"{each!r} {why}.", style="yellow")
    if not found["facts"]:
        say("Nothing was found.")
        return
    rows = [(f"{each['score']:.4f}", each["text"], each["id"]) for each in found["facts"]]
    draw(table(["score", "fact", "id"], rows, right=["score"], grow="fact"))


def extract(
    text: Annotated[list[str], typer.Argument(metavar="TEXT", help="Any text.")],
    triples: Annotated[
        bool, typer.Option("--triples", help="Also what it states: subject, predicate, object.")
    ] = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show what a text names, and which known entity each name leads to. Stores nothing."""
    ctx = context(db, agent, as_json)
    with ctx.memory() as memory:
        found = memory.extract_entities(" ".join(text), mode="ner+triple" if triples else "ner")
    if as_json:
        write_json(found)
        return
    if not found["entities"]:
        say("It names nothing.")
    else:
        rows = [(each["text"], each["type"], _meant(each)) for each in found["entities"]]
        draw(table(["name", "type", "entity"], rows, grow="entity"))
    for each in found["triples"]:
        say(f"{each['subject']} · {each['predicate']} · {each['object']}")


def link(
    src: Name,
    predicate: Annotated[
        str, typer.Argument(metavar="PREDICATE", help="What it is or does: 'works with'.")
    ],
    dst: Annotated[str, typer.Argument(metavar="OTHER", help="The other one.")],
    weight: Annotated[float, typer.Option(help="How much it counts in a walk, over 0.")] = 1.0,
    yes: Yes = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Declare that one entity stands in a relation to another; again sets the weight."""
    ctx = context(db, agent, as_json)
    with ctx.memory() as memory:
        done = memory.entity_link(src, dst, predicate, weight=weight, preview=not yes)
    if as_json:
        write_json(done)
        return
    say(done["sentence"], style="bold")
    if not yes:
        say("Nothing was changed. Do it with --yes.")
        return
    if done["run"] is None:
        say("It was declared so already.")
        return
    say(f"Done. Take it back with: consolidate undo {done['run']}")


def link_facts(
    name: Name,
    facts: Annotated[
        list[str], typer.Argument(metavar="FACT", help="Facts that are about it, unnamed.")
    ],
    yes: Yes = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Declare that facts are about an entity that they do not name."""
    from consolidate.graph import declaring

    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        carry(ctx, store, declaring.link(store, ctx.agent, name, facts, now=utc_now()), yes)


def _direction(given: str) -> Any:
    if given not in ("out", "in", "both"):
        raise InputError(f"--direction {given!r} must be out, in or both")
    return given


def _meant(mention: dict[str, Any]) -> str:
    if mention["entity"] is not None:
        return f"{mention['entity']['label']} #{mention['entity']['id']}"
    may = ", ".join(f"{each['label']} #{each['id']}" for each in mention["candidates"])
    return f"may be {may}" if may else "unknown"
