"""The command line's root: which commands there are. Knows none of their work."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from consolidate.cli import (
    blocks,
    calibrate,
    demo,
    doctor,
    entity,
    entity_graph,
    episodes,
    exchange,
    facts,
    forget,
    graph,
    inspect,
    listing,
    models,
    recall,
    review,
    runs,
    schedule,
    serve,
    synthesise,
    tracing,
)
from consolidate.cli.errors import ErrorsToExitCodes
from consolidate.version import __version__

__all__ = ["app", "main"]

app = typer.Typer(
    name="consolidate",
    cls=ErrorsToExitCodes,
    help="Sleep for agent memory: merges what is said twice, retires what no longer holds, "
    "says why, and can undo it. Local models, no network.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"consolidate {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    pass


app.command()(facts.init)
app.command()(facts.remember)
app.command()(recall.recall)
app.command()(recall.search)
app.command()(recall.decay)
app.command()(recall.pin)
app.command()(recall.unpin)
app.command()(blocks.blocks)
app.command()(blocks.block)
app.command()(forget.forget)
app.command()(forget.delete)
app.command()(forget.purge)
app.command()(listing.agents)
app.command(name="facts")(listing.facts)
app.command(name="import")(exchange.import_file)
app.command(name="audit")(exchange.audit_file)
app.command(name="export")(exchange.export_file)
app.command()(runs.plan)
app.command()(runs.apply)
app.command()(runs.run)
app.command()(runs.undo)
app.command()(synthesise.synthesise)
app.add_typer(review.app, name="review")
app.add_typer(entity.app, name="entity")
entity.app.command()(entity_graph.neighbors)
entity.app.command()(entity_graph.ppr)
entity.app.command()(entity_graph.extract)
entity.app.command()(entity_graph.link)
entity.app.command(name="link-facts")(entity_graph.link_facts)
app.command()(graph.graph)
app.command()(tracing.lineage)
app.command()(tracing.claim)
app.add_typer(episodes.app, name="episode")
app.command()(episodes.recap)
app.command()(calibrate.calibrate)
app.command()(facts.history)
app.command()(runs.report)
app.command()(facts.stats)
app.command()(inspect.settings)
app.add_typer(models.app, name="models")
app.command()(doctor.doctor)
app.command()(schedule.schedule)
app.command()(serve.serve)
app.command()(demo.demo)


def main() -> None:
    """Run the command line; the console script calls this."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that can't show a letter gets an escape, not a crash.
            stream.reconfigure(errors="backslashreplace")
    app()
