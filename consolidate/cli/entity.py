"""The commands `entity show`, `list`, `merge`, `split`, `alias`, `rename`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from consolidate.cli.common import Agent, Db, Json, context, utc_now
from consolidate.cli.errors import complain
from consolidate.cli.render import day, draw, heading, say, table, write_json
from consolidate.cli.text import visible
from consolidate.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from consolidate.cli.common import Context
    from consolidate.graph.declaring import Act
    from consolidate.graph.registry import Lookup
    from consolidate.store import Store

__all__ = ["Name", "Yes", "app", "carry"]

app = typer.Typer(
    help="Who and what the memory is about.", no_args_is_help=True, rich_markup_mode=None
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Any name of it, or #12 for its number.")]
Yes = Annotated[bool, typer.Option("--yes", help="Do it; without, only show what would change.")]


@app.command()
def show(
    name: Name,
    history: Annotated[bool, typer.Option("--history", help="Also what no longer holds.")] = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show an entity with its names and facts."""
    from consolidate.graph.registry import lookup
    from consolidate.graph.tools import entity_get

    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        found = lookup(store, name, agent=ctx.agent)
        if as_json:
            write_json(entity_get(store, name, agent=ctx.agent, history=history))
            return
        if found.entity is None:
            _not_one(found, ctx.agent)
        _tree(store, ctx.agent, found, history)


@app.command(name="list")
def list_entities(
    kind: Annotated[
        str | None,
        typer.Option("--type", metavar="TYPE", help="Only person, place, ...", show_default=False),
    ] = None,
    limit: Annotated[int, typer.Option(min=1, help="At most this many.")] = 50,
    doubts: Annotated[
        bool, typer.Option("--doubts", help="Names that fit several, or none surely enough.")
    ] = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """List entities, those with most current facts first."""
    from consolidate.graph.registry import label
    from consolidate.graph.tools import entity_list

    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        if as_json:
            write_json(entity_list(store, agent=ctx.agent, kind=kind, limit=limit))
            return
        open_questions = store.doubts(ctx.agent)
        if doubts:
            _draw_doubts(store, ctx)
            return
        rows = [
            (f"#{entity.id}", label(entity), entity.type, count)
            for entity, count in store.entity_list(ctx.agent, kind=kind, limit=limit)
        ]
    if not rows:
        say("No entities yet. They are found when facts are consolidated: consolidate run")
        return
    draw(table(["id", "name", "type", "facts"], rows, right=["facts"], grow="name"))
    if open_questions:
        say(f"{len(open_questions)} names are in doubt; see: consolidate entity list --doubts")


@app.command()
def merge(
    name: Name,
    into: Annotated[str, typer.Argument(metavar="INTO", help="The one that keeps its name.")],
    yes: Yes = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Declare that two entities are one."""
    from consolidate.graph import declaring

    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        carry(ctx, store, declaring.merge(store, ctx.agent, name, into, now=utc_now()), yes)


@app.command()
def split(
    name: Name,
    facts: Annotated[
        list[str], typer.Argument(metavar="FACT", help="Facts that are about the other one.")
    ],
    new: Annotated[
        str | None,
        typer.Option("--name", metavar="NAME", help="Else it has the same.", show_default=False),
    ] = None,
    kind: Annotated[
        str, typer.Option("--type", metavar="TYPE", help="What it is: person, place, ...")
    ] = "",
    note: Annotated[str, typer.Option(help="What tells it from the first.")] = "",
    yes: Yes = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Declare that some facts are about another, of the same or a new name."""
    from consolidate.graph import declaring

    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        act = declaring.split(
            store, ctx.agent, name, facts, new=new, kind=kind, note=note, now=utc_now()
        )
        carry(ctx, store, act, yes)


@app.command()
def alias(
    name: Name,
    other: Annotated[str, typer.Argument(metavar="OTHER", help="Another name.")],
    never: Annotated[bool, typer.Option("--never", help="It is never this one.")] = False,
    remove: Annotated[bool, typer.Option("--remove", help="Take a declared name back.")] = False,
    yes: Yes = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Declare another name of an entity, or that a name is never this one."""
    from consolidate.graph import declaring

    if never and remove:
        raise typer.BadParameter("it does not go with --remove", param_hint="--never")
    work = declaring.apart if never else declaring.unalias if remove else declaring.alias
    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        carry(ctx, store, work(store, ctx.agent, name, other, now=utc_now()), yes)


@app.command()
def rename(
    name: Name,
    new: Annotated[str, typer.Argument(metavar="NEW", help="The name to show.")],
    yes: Yes = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show an entity under another name; the old one still leads to it."""
    from consolidate.graph import declaring

    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        carry(ctx, store, declaring.rename(store, ctx.agent, name, new, now=utc_now()), yes)


def carry(ctx: Context, store: Store, act: Act, yes: bool) -> None:
    """Show what a declaration changes, and do it if the person said yes."""
    from consolidate.graph import declaring

    texts = {fact.id: fact.text for fact in store.facts(statuses=None, ids=list(act.facts))}
    receipt = declaring.carry_out(store, act, now=utc_now()) if yes else None
    if ctx.as_json:
        write_json(
            {
                "act": act.kind,
                "sentence": act.sentence,
                "facts": [{"id": fact, "text": texts[fact]} for fact in act.facts],
                "warnings": list(act.warnings),
                "run": None if receipt is None else receipt.run,
            }
        )
        return
    say(act.sentence, style="bold")
    for fact in act.facts:
        say(f"  {fact}  {texts[fact]}")
    for warning in act.warnings:
        say(f"  But: {warning}", style="yellow")
    if receipt is None:
        say("Nothing was changed. Do it with --yes.")
    else:
        say(f"Done. Take it back with: consolidate undo {receipt.run}")


def _not_one(found: Lookup, agent: str) -> None:
    """Say why there is nothing to show.

    Raises:
        InputError: The name leads to several.
        NotFoundError: It leads to none.
    """
    from consolidate.graph.registry import label

    if found.candidates:
        rows = [(f"#{c.entity.id}", label(c.entity), c.why) for c in found.candidates]
        draw(table(["id", "name", "why"], rows))
        raise InputError(f"{found.name!r} may mean each of these; ask for one by its id")
    near = ", ".join(f"{label(c.entity)} ({c.why})" for c in found.suggestions)
    hint = f"; did you mean: {near}" if near else ""
    raise NotFoundError(f"agent {agent!r} knows no entity {found.name!r}{hint}")


def _tree(store: Store, agent: str, found: Lookup, history: bool) -> None:
    from rich.text import Text
    from rich.tree import Tree

    from consolidate.graph.registry import label

    entity = found.entity
    if entity is None:
        return
    kind = f" · {entity.type}" if entity.type else ""
    root = Tree(Text(visible(f"{label(entity)}{kind} · #{entity.id}"), style="bold"))
    if found.candidates and found.candidates[0].confidence < 1:
        complain(f"Note: {found.name!r} was taken for {label(entity)}: {found.candidates[0].why}")
    names = [(text, origin) for text, origin in store.names_of(entity.id) if text != entity.name]
    if names:
        branch = root.add(Text("also called", style="dim"))
        for text, origin in names:
            branch.add(Text(visible(f"{text} ({origin})" if origin == "declared" else text)))
    for note in store.notes(agent, entity=entity.key):
        branch = root.add(Text(visible(f"note · {note.id}"), style="dim"))
        for sentence in note.text.splitlines()[1:]:  # the first line is the name
            branch.add(Text(visible(sentence)))
    facts = store.facts_of_entity(entity.id, history=history)
    current = [each for each in facts if each[0].status.is_live]
    gone = [each for each in facts if not each[0].status.is_live]
    for title, rows in (("facts", current), ("no longer", gone)):
        if not rows:
            continue
        branch = root.add(Text(f"{title} ({len(rows)})", style="dim"))
        for fact, _, confidence in rows:
            line = Text(visible(fact.text))
            doubt = "" if confidence >= 0.9 else f" · {confidence:.0%} sure"
            status = "" if fact.status.is_live else f" · {fact.status}"
            line.append(visible(f"  {day(fact.stated_at)} · {fact.id}{status}{doubt}"), style="dim")
            branch.add(line)
    if not facts:
        root.add(Text("no facts", style="dim"))
    draw(root)


def _draw_doubts(store: Store, ctx: Context) -> None:
    from consolidate.graph.registry import label

    found = store.doubts(ctx.agent)
    ids = [doubt.fact for doubt in found]
    texts = {fact.id: fact.text for fact in store.facts(statuses=None, ids=ids)}
    rows: list[tuple[Any, ...]] = []
    for doubt in found:
        entities = [store.entity_of(ctx.agent, key) for key in doubt.candidates]
        may = ", ".join(f"{label(each)} #{each.id}" for each in entities if each is not None)
        rows.append((doubt.name, may, doubt.fact, texts.get(doubt.fact, "")))
    if not rows:
        say("No names are in doubt.")
        return
    heading("Names in doubt")
    draw(table(["name", "may be", "fact", "text"], rows, grow="text"))
    say("Say which one a fact means with: consolidate entity split NAME FACT, or entity alias")
