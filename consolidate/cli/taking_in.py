"""What `consolidate remember --extract` does and shows."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from consolidate.cli.common import Context
from consolidate.cli.errors import complain
from consolidate.cli.render import say, write_json

if TYPE_CHECKING:
    from consolidate.memory.records import RememberedFact

__all__ = ["take_in"]


def take_in(
    ctx: Context,
    text: str,
    *,
    stated_at: datetime | None,
    source: str,
    metadata: Mapping[str, Any],
) -> None:
    """Read the facts of a text, bring them into the memory, and show what became of each."""
    from consolidate.memory.memory import Memory

    ctx.path.parent.mkdir(parents=True, exist_ok=True)
    with Memory.open(ctx.path, ctx.agent, settings=ctx.settings) as memory:
        done = memory.remember_facts(text, stated_at=stated_at, source=source, metadata=metadata)
    if ctx.as_json:
        write_json(done)
        return
    if done.note:
        complain(f"Note: {done.note}")
    for fact in done.facts:
        _show(fact)
    for part in done.left_out:
        say(f"{'left out':<13} {' '.join(part.text.split())}  ({part.reason})", style="dim")
    if not done.facts:
        say("No fact was found in it.")
    if done.run:
        say(f"Recorded as {done.run}; `consolidate undo {done.run}` takes the changes back.")


def _show(fact: RememberedFact) -> None:
    say(f"{fact.action:<13} {fact.text}")
    where = f"{fact.id}  " if fact.id else ""
    say(f"{'':<13} {where}{fact.reason}", style="dim")
