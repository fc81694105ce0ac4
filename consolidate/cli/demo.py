"""The command `demo`: a messy memory before, a run, and the same memory after."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consolidate.cli.common import Agent, Assign, Context, Db, Json, Profile, context, utc_now
from consolidate.cli.render import day, draw, heading, say, table
from consolidate.cli.runs import run_and_show
from consolidate.errors import InputError

if TYPE_CHECKING:
    from consolidate.store import Store
    from consolidate.types import Fact

__all__ = ["demo"]


def demo(
    path: Annotated[
        Path | None,
        typer.Argument(
            metavar="PATH",
            help="Where the demo store is, or is to be made; else demo.db in the data folder.",
            show_default=False,
        ),
    ] = None,
    fresh: Annotated[bool, typer.Option("--fresh", help="Throw the old one away first.")] = False,
    every: Annotated[bool, typer.Option("--all", help="Show every decision.")] = False,
    profile: Profile = None,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Try it out: a messy memory of an invented person is made and consolidated.

    A second call finds nothing new. Your own database is never touched.
    """
    from consolidate.backends import Backends

    if path is not None and db is not None:
        raise typer.BadParameter("give PATH or --db, not both", param_hint="PATH")
    place = str(path) if path is not None else db or str(_usual_place())
    ctx = context(place, agent, as_json, assign=assign, profile=profile)
    backends = Backends.load(ctx.settings)  # before the store: without models nothing is made
    if fresh:
        _throw_away(ctx)
    with ctx.store(create=True) as store:
        loaded = _fill(store, ctx)
        if not as_json:
            say(f"Demo memory: {ctx.path}")
            if loaded:
                _before(store, ctx)
        if run_and_show(ctx, store, backends, every=every) and not as_json:
            _after(store, ctx)


def _usual_place() -> Path:
    from consolidate.places import data_folder

    return data_folder() / "demo.db"


def _throw_away(ctx: Context) -> None:
    from consolidate.demo import holds_only_demo
    from consolidate.store import Store

    if not ctx.path.exists():
        return
    with Store.open(ctx.path, create=False) as store:
        if not holds_only_demo(store):
            raise InputError(f"{ctx.path} holds more than the demo; it is not thrown away")
    for end in ("", "-wal", "-shm"):
        Path(f"{ctx.path}{end}").unlink(missing_ok=True)


def _fill(store: Store, ctx: Context) -> int:
    """Load the demo into a new store; one that holds it already is left as it is."""
    from consolidate.demo import holds_only_demo, load_demo

    if not holds_only_demo(store):
        raise InputError(
            f"{ctx.path} holds facts of your own; name another place: consolidate demo PATH"
        )
    if store.facts(statuses=None, limit=1):
        return 0
    return load_demo(store, utc_now(), agent=ctx.agent)


def _before(store: Store, ctx: Context) -> None:
    from consolidate.demo import messy_sample

    facts = store.facts(agent=ctx.agent)
    heading("Before")
    _count(store, ctx)
    heading("A look at the mess")
    rows: list[tuple[str, str, str]] = []
    for group in messy_sample(facts):
        rows += [(day(fact.stated_at), fact.source, fact.text) for fact in group]
        rows.append(("", "", ""))
    draw(table(["said", "by", "fact"], rows[:-1], grow="fact"))


def _after(store: Store, ctx: Context) -> None:
    heading("After")
    _count(store, ctx)
    retired = _retired(store, ctx)
    if retired is not None:
        say(f"Why a fact gave way: consolidate history {retired.id} --db {ctx.path}")
    if store.stats(ctx.agent).get("open_reviews"):
        say(f"What is for you to decide: consolidate review list --db {ctx.path}")


def _retired(store: Store, ctx: Context) -> Fact | None:
    from consolidate.types import FactStatus

    found = store.facts(agent=ctx.agent, statuses=[FactStatus.SUPERSEDED], limit=1)
    return found[0] if found else None


def _count(store: Store, ctx: Context) -> None:
    from consolidate.types import FactStatus

    counts = store.stats(ctx.agent)
    rows = [(status.value, counts.get(status.value, 0)) for status in FactStatus]
    shown = [row for row in rows if row[1] or row[0] == "active"]
    draw(table(["facts", "number"], shown, right=["number"]))
