"""The commands `review list`, `review accept`, `review reject`, `review export`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consolidate.cli.common import Agent, Db, Json, context, utc_now
from consolidate.cli.errors import complain
from consolidate.cli.render import say, write_json
from consolidate.types import Review, ReviewState

if TYPE_CHECKING:
    from consolidate.store import Store

__all__ = ["app"]

app = typer.Typer(
    help="Decide what a run was not sure of.", no_args_is_help=True, rich_markup_mode=None
)

_Ids = Annotated[list[str], typer.Argument(metavar="REVIEW", help="Its id, or the start of it.")]


@app.command(name="list")
def list_reviews(
    every: Annotated[bool, typer.Option("--all", help="Also those decided already.")] = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """List open reviews with what accepting them would do."""
    from consolidate.cli.decisions import draw_question, facts_of

    ctx = context(db, agent, as_json)
    with ctx.reading() as store:
        reviews = store.reviews(agent=ctx.agent, state=None if every else ReviewState.OPEN)
        facts = facts_of(store, [review.decision for review in reviews])
    if as_json:
        texts = {fact_id: fact.text for fact_id, fact in facts.items()}
        write_json({"agent": ctx.agent, "reviews": reviews, "texts": texts})
        return
    for review in reviews:
        draw_question(review, facts)
    if not reviews:
        say("No reviews are open.")
    else:
        say("Decide with: consolidate review accept ID, or reject ID")


@app.command()
def accept(
    ids: _Ids,
    keep: Annotated[
        str | None,
        typer.Option(
            metavar="FACT",
            help="The fact that stays, where the review can't tell, or to turn it round.",
            show_default=False,
        ),
    ] = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Carry out what was proposed. It can be undone like any run."""
    from consolidate import pipeline

    if keep is not None and len(ids) > 1:
        raise typer.BadParameter("it goes with one review at a time", param_hint="--keep")
    ctx = context(db, agent, as_json)
    receipts = []
    with ctx.store() as store, store.atomic():
        for found in _found(store, ids):
            receipts.append(pipeline.accept(store, found.id, keep=keep, now=utc_now()))
    if as_json:
        write_json({"receipts": receipts})
        return
    for receipt in receipts:
        done = ", ".join(f"{count} {kind}" for kind, count in receipt.applied.items() if count)
        say(f"Accepted ({done or 'nothing left to do'}); undo with: consolidate undo {receipt.run}")


@app.command()
def reject(ids: _Ids, db: Db = None, agent: Agent = None, as_json: Json = False) -> None:
    """Leave both facts as they are. The same is never proposed again."""
    from consolidate import pipeline

    ctx = context(db, agent, as_json)
    with ctx.store() as store, store.atomic():
        found = _found(store, ids)
        receipts = [pipeline.reject(store, review.id, now=utc_now()) for review in found]
    if as_json:
        write_json({"receipts": receipts})
        return
    for review in found:
        say(f"Rejected {review.id}: both stay, and the same is not proposed again.")
    for receipt in receipts:
        say(f"Take it back with: consolidate undo {receipt.run}")


@app.command()
def export(
    file: Annotated[str, typer.Argument(metavar="FILE", help="Where to, or - for the terminal.")],
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Write what was accepted and rejected as labelled pairs, for calibrate.

    A rejected one counts as compatible: both facts stay.
    """
    from consolidate.calibration.labels import exported
    from consolidate.cli.decisions import facts_of

    ctx = context(db, agent, as_json)
    if file != "-":
        ctx.spare(Path(file))
    with ctx.reading() as store:
        reviews = store.reviews(agent=ctx.agent, state=None)
        lines, gone = exported(reviews, facts_of(store, [r.decision for r in reviews]))
    content = "".join(line + "\n" for line in lines)
    if file == "-":
        sys.stdout.write(content)
    else:
        Path(file).write_text(content, encoding="utf-8")
        if as_json:
            write_json({"labels": len(lines), "left_out": gone, "file": file})
        else:
            say(f"{len(lines)} labels written to {file}")
    if gone:
        complain(f"{gone} decided reviews are left out: a fact of theirs is gone")


def _found(store: Store, ids: list[str]) -> list[Review]:
    """Find reviews; one that is named twice, or by two beginnings, comes once."""
    return list({review.id: review for review in map(store.review, ids)}.values())
