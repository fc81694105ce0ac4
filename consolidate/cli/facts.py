"""Commands about facts: init, remember, history, stats."""

from __future__ import annotations

import sys
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consolidate.cli.common import Agent, Db, Json, Timezone, context, hint_at_agents, utc_now
from consolidate.cli.errors import UsageError, complain
from consolidate.cli.render import day, draw, heading, say, table, write_json
from consolidate.errors import InputError
from consolidate.exchange.lines import parse_json, text_lines
from consolidate.times import parse_time
from consolidate.types import Fact, NewFact

if TYPE_CHECKING:
    from consolidate.store import Event

__all__ = ["history", "init", "remember", "stats"]


def init(db: Db = None, agent: Agent = None, as_json: Json = False) -> None:
    """Make an empty database. One that is there already is left as it is."""
    ctx = context(db, agent, as_json)
    there = ctx.path.exists()
    with ctx.store(create=True):
        pass
    if as_json:
        write_json({"db": str(ctx.path), "created": not there})
    else:
        say(f"{'Already there' if there else 'Made'}: {ctx.path}")


def remember(
    texts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="TEXT",
            help="Facts, each in quotes; single words are read as one sentence. "
            "Without any, or with -, one fact a line is read from standard input.",
            show_default=False,
        ),
    ] = None,
    kind: Annotated[str, typer.Option(help="fact, preference, decision, plan, ...")] = "fact",
    source: Annotated[str, typer.Option(help="Who said it: user, tool, assistant, web, ...")] = (
        "user"
    ),
    stated_at: Annotated[
        str | None,
        typer.Option(
            metavar="TIME",
            help="When it was said: ISO 8601 with offset, or 'unknown'; else now.",
            show_default=False,
        ),
    ] = None,
    metadata: Annotated[
        str | None, typer.Option(metavar="JSON", help="A JSON object.", show_default=False)
    ] = None,
    extract: Annotated[
        bool,
        typer.Option(
            "--extract",
            help="Read the facts out of the text and compare them with what is known, at once.",
        ),
    ] = False,
    timezone: Timezone = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Store facts as they are; what they change is found at the next run.

    With --extract the text is read first: facts are taken out of it, "I" becomes the user and
    "yesterday" a date, and each fact is added, strengthens a known one, takes its place, or is
    put up for review.
    """
    ctx = context(db, agent, as_json, timezone=timezone)
    if extract:
        from consolidate.cli.taking_in import take_in

        if kind != "fact":
            raise UsageError("--kind does not go with --extract: each fact is read with its kind")
        if stated_at == "unknown":
            raise UsageError(
                '--stated-at unknown does not go with --extract: "yesterday" could not be told'
            )
        take_in(
            ctx,
            _whole_text(texts or []),
            stated_at=_stated(stated_at, utc_now(), ctx.settings.timezone),
            source=source,
            metadata=_metadata(metadata),
        )
        return
    now = utc_now()
    said, about = _stated(stated_at, now, ctx.settings.timezone), _metadata(metadata)
    facts = [
        NewFact(
            text=text,
            agent=ctx.agent,
            kind=kind,
            source=source,
            stated_at=said,
            metadata=about,
        )
        for text in _sentences(texts or [])
    ]
    with ctx.store(create=True) as store:
        added = store.add(facts, now=now)
    if as_json:
        pairs = zip(facts, added, strict=True)
        write_json(
            {
                "facts": [
                    {"id": done.id, "new": done.new, "reason": done.reason, "text": fact.text}
                    for fact, done in pairs
                ]
            }
        )
        return
    for fact, done in zip(facts, added, strict=True):
        say(f"{done.id}  {fact.text}" if done.new else f"{done.id}  {fact.text} ({done.reason})")


def history(
    fact: Annotated[str, typer.Argument(metavar="FACT", help="Its id, or the start of it.")],
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show what a fact replaced, what replaced it, and why."""
    ctx = context(db, agent, as_json)
    with ctx.reading() as store:
        found = store.history(fact)
        ids = [event.to for event in found.after if event.to is not None]
        successors = {each.id: each for each in store.facts(statuses=None, ids=ids)}
    if as_json:
        write_json(found)
        return
    heading("The fact")
    _describe(found.fact)
    if found.before:
        heading("What it took the place of")
        for event in found.before:
            _describe(event.fact)
            _tell(event)
    if found.after:
        heading("What took its place")
        for event in found.after:
            if event.to in successors:
                _describe(successors[event.to])
            _tell(event)
    if not found.before and not found.after:
        say("Nothing took its place, and it took nothing's place.")


def stats(db: Db = None, agent: Agent = None, as_json: Json = False) -> None:
    """Count what the database holds, of all agents or of one."""
    ctx = context(db, agent, as_json)
    with ctx.reading() as store:
        # Without --agent the question is about the whole file.
        counts = store.stats(ctx.agent if agent else None)
        agents = store.agents()
    if agent:
        hint_at_agents(ctx.agent, agents)
    if as_json:
        write_json({"db": str(ctx.path), "agents": agents, "counts": counts})
        return
    say(f"{ctx.path}")
    draw(table(["what", "number"], counts.items(), right=["number"]))
    if len(agents) > 1:
        heading("Agents")
        draw(table(["agent", "facts"], agents.items(), right=["facts"]))


def _whole_text(texts: list[str]) -> str:
    """The text of the arguments, or of standard input, as one piece."""
    return "\n".join(_sentences(texts))


def _sentences(texts: list[str]) -> list[str]:
    if not texts or texts == ["-"]:
        if not texts and sys.stdin.isatty():
            raise typer.BadParameter("nothing to remember; write it in quotes", param_hint="TEXT")
        found = []
        # As UTF-8 whatever the locale says: what is stored must be what was sent
        for number, line in text_lines(sys.stdin.buffer.read()):
            if isinstance(line, InputError):
                raise InputError(f"line {number} is {line}")
            found += [part.strip() for part in line.splitlines() if part.strip()]
        if not found:
            raise InputError("standard input held no fact")
        return found
    if len(texts) > 1 and not any(" " in text for text in texts):
        return [" ".join(texts)]  # quotes were forgotten: these are words, not facts
    return texts


def _stated(value: str | None, now: datetime, zone: str | None) -> datetime | None:
    if value is None or value == "now":
        return now
    if value == "unknown":
        return None
    try:
        moment = parse_time(value, zone=zone)
    except InputError as error:
        raise UsageError(f"--stated-at: {error}") from error
    if moment > now + timedelta(days=1):
        complain(f"Warning: --stated-at {value} lies in the future; it will beat all said before")
    return moment


def _metadata(value: str | None) -> dict[str, Any]:
    if value is None:
        return {}
    try:
        parsed = parse_json(value)
    except InputError as error:
        raise UsageError(f"--metadata {value!r}: {error}") from error
    if not isinstance(parsed, dict):
        raise UsageError(f"--metadata must be a JSON object, not {value!r}")
    return parsed


def _describe(fact: Fact) -> None:
    say(f"  {fact.text}")
    said = day(fact.stated_at) or "at an unknown time"
    limits = f", holds from {day(fact.valid_from)}" if fact.valid_from else ""
    limits += f", holds until {day(fact.valid_to)}" if fact.valid_to else ""
    what = f"{fact.id} · {fact.status} · {fact.kind} · said {said} by {fact.source}{limits}"
    say(f"  {what}", style="dim")


def _tell(event: Event) -> None:
    when = f" on {day(event.at)}" if event.at else ""
    run = f" by {event.run}" if event.run else ""
    say(f"    {event.change}{when}{run}: {event.sentence or 'no run is known'}")
    for evidence in event.evidence:
        for reason in evidence.because:
            say(f"      - {reason}", style="dim")
