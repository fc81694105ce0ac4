"""The command `synthesise`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from consolidate.cli.common import Agent, Assign, Db, Json, context, utc_now
from consolidate.cli.progress import watched
from consolidate.cli.render import say, write_json

if TYPE_CHECKING:
    from consolidate.synthesis import Synthesis

__all__ = ["synthesise"]


def synthesise(
    least: Annotated[
        int, typer.Option(min=1, help="Current facts that an entity needs for a note.")
    ] = 3,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Write a note of what is known of each entity, from its current facts, dated.

    A note is made anew when its facts change, and goes when one of them is retired. With the
    setting llm a language model words it; what the facts do not bear out is left out.
    """
    from consolidate.backends import Backends
    from consolidate.synthesis import synthesise as bring_in_step

    ctx = context(db, agent, as_json, assign=assign)
    with ctx.store() as store, watched(as_json) as progress:
        done = bring_in_step(
            store,
            Backends.load(ctx.settings),
            ctx.settings,
            agent=ctx.agent,
            least=least,
            now=utc_now(),
            progress=progress,
        )
        standing = store.notes(ctx.agent)
    if as_json:
        write_json({"done": done, "notes": standing})
        return
    for note in done.notes:
        for line in note.text.splitlines():
            say(line)
        say("")
    _say_what_was_done(done, len(standing))


def _say_what_was_done(done: Synthesis, standing: int) -> None:
    if done.dropped:
        say(f"{done.dropped} sentences were left out: the facts they cite do not bear them out.")
    if done.failures:
        say(f"{done.failures} notes had no usable answer; they are asked about again next time.")
    if done.meanwhile:
        say(f"{done.meanwhile} notes were not written: their facts changed meanwhile.")
    if done.receipt is not None:
        say(
            f"Notes: {len(done.notes)} written, {len(done.retired)} retired, {standing} stand. "
            f"Take it back with: consolidate undo {done.receipt.run}"
        )
    elif standing:
        say(f"Nothing new, nothing was written. Notes that stand: {standing}")
    else:
        say("No entity has enough current facts. They are found by: consolidate run")
