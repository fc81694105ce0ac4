"""Commands that find facts and look at their strength: recall, search, decay, pin, unpin."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from consolidate.cli.common import (
    Agent,
    Assign,
    Context,
    Db,
    Json,
    Timezone,
    context,
    hint_at_agents,
)
from consolidate.cli.errors import UsageError, complain
from consolidate.cli.render import day, draw, say, table, write_json
from consolidate.errors import InputError
from consolidate.times import parse_time

if TYPE_CHECKING:
    pass

__all__ = ["decay", "pin", "recall", "search", "unpin"]

Words = Annotated[
    list[str],
    typer.Argument(metavar="QUERY", help="What to look for; quotes are not needed."),
]
Kind = Annotated[
    str | None,
    typer.Option("--kind", metavar="KIND", help="Only this kind.", show_default=False),
]
Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="How many.")]
FactIds = Annotated[
    list[str], typer.Argument(metavar="FACT...", help="Their ids, or the starts of them.")
]


def recall(
    query: Words,
    kind: Kind = None,
    limit: Limit = 10,
    as_of: Annotated[
        str | None,
        typer.Option(
            "--as-of",
            metavar="TIME",
            help="What held then: ISO 8601 with offset, or with --timezone a day.",
            show_default=False,
        ),
    ] = None,
    history: Annotated[
        bool, typer.Option("--history", help="Also what no longer holds or has faded.")
    ] = False,
    timezone: Timezone = None,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Find facts by meaning and by words, weighed by strength and newness."""
    ctx = context(db, agent, as_json, assign=assign, timezone=timezone)
    moment = None
    if as_of is not None:
        try:
            moment = parse_time(as_of, zone=ctx.settings.timezone)
        except InputError as error:
            raise UsageError(f"--as-of: {error}") from error
    with ctx.memory() as memory:
        found = memory.recall_memories(
            " ".join(query), kind=kind, limit=limit, as_of=moment, include_history=history
        )
        agents = [] if found else [*memory.store.agents()]
    if as_json:
        write_json({"used": found.used, "notes": found.notes, "recalled": list(found)})
        return
    for note in found.notes:
        complain(f"Note: {note}")
    if not found:
        hint_at_agents(ctx.agent, agents)
        say("Nothing was found.")
        return
    draw(
        table(
            ["score", "fact", "said", "by", "status", "id"],
            [
                (
                    f"{each.score:.2f}",
                    each.passage or each.fact.text,
                    day(each.fact.stated_at) or "?",
                    each.fact.source,
                    each.fact.status,
                    each.fact.id,
                )
                for each in found
            ],
            right=["score"],
            grow="fact",
        )
    )


def search(
    query: Words,
    kind: Kind = None,
    limit: Limit = 10,
    history: Annotated[bool, typer.Option("--history", help="Also what no longer holds.")] = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Find facts by words alone, of all agents or of one; no model is needed."""
    ctx = context(db, agent, as_json)
    with ctx.reading() as store:
        facts = store.search(
            " ".join(query),
            agent=ctx.agent if agent else None,
            kind=kind,
            limit=limit,
            include_history=history,
        )
    if as_json:
        write_json({"facts": facts})
        return
    if not facts:
        say("Nothing was found.")
        return
    rows = [(f.text, day(f.stated_at) or "?", f.agent, f.status, f.id) for f in facts]
    draw(table(["fact", "said", "agent", "status", "id"], rows, grow="fact"))


def decay(
    preview: Annotated[
        bool, typer.Option("--preview", help="Said for clearness: nothing is ever changed.")
    ] = True,
    days: Annotated[
        float, typer.Option("--days", metavar="N", min=0, help="How far to look ahead.")
    ] = 30.0,
    limit: Limit = 50,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show which facts have left recall, or will, if nobody uses them.

    Strength is computed when it is asked for and never written, so there is nothing to run.
    """
    del preview
    ctx = context(db, agent, as_json, assign=assign)
    with ctx.memory() as memory:
        found = memory.decay_preview(days=days, limit=limit)
        agents = [] if found else [*memory.store.agents()]
    if as_json:
        write_json({"days": days, "fading": found})
        return
    if not found:
        hint_at_agents(ctx.agent, agents)
        say(f"No fact has left recall, and none will within {days:g} days.")
        return
    draw(
        table(
            ["fact", "strength", "leaves recall", "id"],
            [
                (
                    each.fact.text,
                    f"{each.strength:.3f}",
                    f"left {day(each.leaves_at)}" if each.left else day(each.leaves_at),
                    each.fact.id,
                )
                for each in found
            ],
            right=["strength"],
            grow="fact",
        )
    )
    say("They stay in the history. `consolidate pin` keeps one for good.", style="dim")


def pin(facts: FactIds, db: Db = None, agent: Agent = None, as_json: Json = False) -> None:
    """Keep facts from fading, whatever happens."""
    _pins(context(db, agent, as_json), facts, wanted=True)


def unpin(facts: FactIds, db: Db = None, agent: Agent = None, as_json: Json = False) -> None:
    """Let pinned facts fade again."""
    _pins(context(db, agent, as_json), facts, wanted=False)


def _pins(ctx: Context, facts: list[str], *, wanted: bool) -> None:
    with ctx.memory() as memory, memory.store.atomic():
        found = [memory.own(each) for each in facts]
        changed = [memory.pin(f.id) if wanted else memory.unpin(f.id) for f in found]
    if ctx.as_json:
        pairs = zip(found, changed, strict=True)
        write_json(
            {"facts": [{"id": f.id, "pinned": wanted, "changed": done} for f, done in pairs]}
        )
        return
    word = "pinned" if wanted else "not pinned"
    for fact, done in zip(found, changed, strict=True):
        say(f"{fact.id}  {fact.text} ({word}{'' if done else ' already'})")
