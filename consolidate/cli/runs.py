"""Commands about runs: plan, apply, run, undo, report."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consolidate.cli.common import (
    Agent,
    Assign,
    Context,
    Db,
    Json,
    Profile,
    context,
    hint_at_agents,
    utc_now,
)
from consolidate.cli.progress import watched
from consolidate.cli.render import draw, heading, say, table, write_json
from consolidate.errors import InputError, NotFoundError

if TYPE_CHECKING:
    from consolidate.backends import Backends
    from consolidate.stages.report import Report
    from consolidate.store import Store
    from consolidate.types import Receipt

__all__ = ["apply", "draw_funnel", "plan", "report", "run", "run_and_show", "say_receipt", "undo"]

_All = Annotated[bool, typer.Option("--all", help="Show every decision.")]
_Undone = Annotated[
    bool, typer.Option("--include-undone", help="Decide anew what was undone before.")
]
_Run = Annotated[
    str, typer.Argument(metavar="RUN", help="Its id, the start or end of it, or 'last'.")
]


def plan(
    out: Annotated[
        Path | None,
        typer.Option("--out", metavar="FILE", help="Keep the plan for apply.", show_default=False),
    ] = None,
    include_undone: _Undone = False,
    every: _All = False,
    profile: Profile = None,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show what a run would do, and do none of it.

    With --json the plan itself is written; apply takes that as well as a file made with --out.
    """
    from consolidate import pipeline
    from consolidate.backends import Backends
    from consolidate.cli.decisions import draw_decisions, facts_of
    from consolidate.serialise import plan_to_json
    from consolidate.stages.report import report_of

    ctx = context(db, agent, as_json, assign=assign, profile=profile)
    if out is not None:
        ctx.spare(out)
    with ctx.store() as store, watched(as_json) as progress:
        made = pipeline.plan(
            store,
            Backends.load(ctx.settings),
            ctx.settings,
            agent=ctx.agent,
            now=utc_now(),
            include_undone=include_undone,
            progress=progress,
        )
        facts = facts_of(store, made.decisions)
    if out is not None:
        out.write_text(plan_to_json(made, indent=1) + "\n", encoding="utf-8")
    if as_json:
        sys.stdout.write(plan_to_json(made) + "\n")
        return
    draw_decisions(made.decisions, facts, every=every)
    draw_funnel(report_of(made))
    if out is not None:
        say(f"Kept in {out}; carry it out with: consolidate apply {out}")
    elif made.decisions:
        say("Nothing was changed. Carry it out with: consolidate run")


def apply(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A plan, or - for standard input.")],
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Carry out a plan that was made before. If its facts changed since, nothing is done."""
    from consolidate import pipeline
    from consolidate.serialise import plan_from_json

    ctx = context(db, agent, as_json)
    content = _read(file)
    try:
        made = plan_from_json(content)
    except InputError as error:
        if isinstance(error.__cause__, ValueError | RecursionError):  # what the parser says
            raise InputError(f"{file!r} is no plan: it is no JSON") from error
        raise InputError(
            f"{file!r} is no plan: {str(error).removeprefix('this is no plan: ')}"
        ) from error
    if agent is not None and made.agent != ctx.agent:
        raise InputError(f"the plan is for agent {made.agent!r}, not for {ctx.agent!r}")
    with ctx.store() as store:
        receipt = pipeline.apply(store, made, now=utc_now())
    if as_json:
        write_json(receipt)
    else:
        say_receipt(receipt)


def run(
    reembed: Annotated[
        bool,
        typer.Option("--reembed", help="Forget all vectors first: the embedding model changed."),
    ] = False,
    include_undone: _Undone = False,
    retry_failed: Annotated[
        bool, typer.Option("--retry-failed", help="Ask again what models failed on too often.")
    ] = False,
    every: _All = False,
    profile: Profile = None,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Consolidate: find what is said twice and what no longer holds, and carry it out.

    Every change can be undone. When nothing is new, nothing is done.
    """
    from consolidate.backends import Backends

    ctx = context(db, agent, as_json, assign=assign, profile=profile)
    with ctx.store() as store:
        if agent:
            hint_at_agents(ctx.agent, store.agents())
        backends = Backends.load(ctx.settings)
        if reembed:
            store.drop_vectors()
        run_and_show(
            ctx,
            store,
            backends,
            include_undone=include_undone,
            retry_failed=retry_failed,
            every=every,
        )


def undo(
    run_id: _Run,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Take back everything a run did. The same is not done again by itself."""
    from consolidate import pipeline

    ctx = context(db, agent, as_json)
    with ctx.store() as store:
        receipt = pipeline.undo(store, _found(store, ctx, run_id), now=utc_now())
        standing = [run.id for run in store.runs(receipt.agent) if run.state == "applied"]
        before = standing[0] if standing else ""
    if as_json:
        write_json(receipt)
    elif receipt.already_applied:
        say(f"{receipt.run} was undone before; nothing to do.{_hint(before)}")
    else:
        say(f"Undid {receipt.run}: {receipt.rows} rows are as they were before it.")


def _hint(before: str) -> str:
    return f" The last run that stands is {before}: `consolidate undo {before}`." if before else ""


def report(
    run_id: Annotated[
        str,
        typer.Argument(metavar="RUN", help="Else the last one.", show_default=False),
    ] = "last",
    every: _All = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show what a run found and did, and what it cost."""
    from consolidate.cli.decisions import draw_decisions, facts_of
    from consolidate.stages.report import report_of

    ctx = context(db, agent, as_json)
    with ctx.reading() as store:
        done = store.run(_found(store, ctx, run_id))
        made = store.plan(done.id)
        told = report_of(made, done.receipt)
        facts = facts_of(store, made.decisions)
    if as_json:
        texts = {fact_id: fact.text for fact_id, fact in facts.items()}
        write_json({"run": done, "report": told, "texts": texts})
        return
    when = f"{done.started_at:%Y-%m-%d %H:%M} UTC"
    say(f"{done.id} · {done.state} · agent {done.agent} · {when}", style="bold")
    draw_decisions(made.decisions, facts, every=every)
    if done.receipt is not None and done.receipt.applied.get("reject"):
        say("A review was rejected: both its facts stay, and the same is not proposed again.")
    if synthesis := made.settings.get("synthesis"):
        about = ", ".join(synthesis["about"]) or "nobody"
        say(f"Notes were written about {about}. A note is no decision: nothing else was done.")
        return
    draw_funnel(told)
    rows = [
        (stage.stage, f"{stage.seconds:.2f}", stage.model_calls, stage.cached, stage.model)
        for stage in told.stages
    ]
    if rows:
        heading("Stages")
        numbers = ["seconds", "model calls", "known"]
        draw(table(["stage", *numbers, "model"], rows, right=numbers, grow="model"))


def run_and_show(
    ctx: Context,
    store: Store,
    backends: Backends,
    *,
    include_undone: bool = False,
    retry_failed: bool = False,
    every: bool = False,
) -> bool:
    """Run, and show decisions, funnel and how to undo; returns whether there was anything new."""
    from consolidate import pipeline
    from consolidate.cli.decisions import draw_decisions, facts_of

    with watched(ctx.as_json) as progress:
        outcome = pipeline.run(
            store,
            backends,
            ctx.settings,
            agent=ctx.agent,
            now=utc_now(),
            include_undone=include_undone,
            retry_failed=retry_failed,
            progress=progress,
        )
    if ctx.as_json:
        write_json(
            {
                "agent": ctx.agent,
                "nothing_new": outcome.nothing_new,
                "receipt": outcome.receipt,
                "report": outcome.report,
            }
        )
        return not outcome.nothing_new
    if outcome.nothing_new or outcome.plan is None:
        say("Nothing new: no model was asked, nothing was written.")
        return False
    draw_decisions(outcome.plan.decisions, facts_of(store, outcome.plan.decisions), every=every)
    draw_funnel(outcome.report)
    if outcome.receipt is not None:
        say_receipt(outcome.receipt)
    return True


def draw_funnel(told: Report) -> None:
    """Draw how many facts came in and what became of them."""
    heading("In numbers")
    rows = [(row.label, row.count, row.note) for row in told.funnel]
    draw(table(["what", "number", "note"], rows, right=["number"], grow="note"))
    if told.cut:
        say(f"{told.cut} pairs are left for the next run.")
    if told.given_up:
        say(told.given_up)
    if told.cost:
        say(told.cost)
    say(f"{told.model_calls} model calls in {told.seconds:.1f} s")


def say_receipt(receipt: Receipt) -> None:
    """Say what was carried out, and how to take it back."""
    if receipt.already_applied:
        say(f"This plan was applied before, as {receipt.run}; nothing was written.")
    elif not receipt.run:
        say("There was nothing to do.")
    else:
        say(f"Applied as {receipt.run}. Take it back with: consolidate undo {receipt.run}")


def _found(store: Store, ctx: Context, run_id: str) -> str:
    """Find a run; `last` is the last one of the agent, not of the whole file."""
    if run_id != "last":
        return store.run(run_id).id
    runs = store.runs(ctx.agent, limit=1)
    if not runs:
        raise NotFoundError(f"agent {ctx.agent!r} has no run yet; start with: consolidate run")
    return runs[0].id


def _read(file: str) -> bytes:
    if file == "-":
        return sys.stdin.buffer.read()
    path = Path(file)
    if not path.is_file():
        raise InputError(f"there is no file {file!r}")
    return path.read_bytes()
