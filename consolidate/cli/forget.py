"""Commands that delete for good: forget, delete, purge. Without --yes each only shows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from consolidate.cli.common import Agent, Assign, Db, Json, Timezone, context, hint_at_agents
from consolidate.cli.errors import UsageError, complain
from consolidate.cli.render import day, draw, say, table, write_json
from consolidate.errors import InputError
from consolidate.times import parse_time

if TYPE_CHECKING:
    from consolidate.memory.records import ForgetPreview, Forgotten

__all__ = ["delete", "forget", "purge"]

_SHOWN = 100

Yes = Annotated[bool, typer.Option("--yes", "-y", "--force", help="Delete; do not only show.")]
Revive = Annotated[bool, typer.Option("--revive", help="What they had superseded holds again.")]
Messages = Annotated[
    bool, typer.Option("--messages", help="Also messages in which the texts stand.")
]

Episodes = Annotated[bool, typer.Option("--episodes", help="Also episodes that tell of them.")]


def forget(
    description: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="DESCRIPTION",
            help="What is to be forgotten, in any words.",
            show_default=False,
        ),
    ] = None,
    token: Annotated[
        str | None,
        typer.Option(
            "--token",
            metavar="TOKEN",
            help="Delete what a preview showed, exactly that.",
            show_default=False,
        ),
    ] = None,
    threshold: Annotated[
        float | None,
        typer.Option(
            "--threshold",
            min=0,
            max=1,
            help="How well a fact must fit; else 0.25, and with --yes 0.6.",
            show_default=False,
        ),
    ] = None,
    limit: Annotated[int, typer.Option("--limit", metavar="N", min=1, max=200)] = 50,
    allow: Annotated[
        str | None,
        typer.Option(
            "--allow",
            metavar="TEXT",
            help="Let a forgotten text be stored again; deletes nothing.",
            show_default=False,
        ),
    ] = None,
    scrub: Annotated[
        bool,
        typer.Option("--scrub", help="Only clear bytes of what was deleted out of the file."),
    ] = False,
    revive: Revive = False,
    messages: Messages = False,
    episodes: Episodes = False,
    yes: Yes = False,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Delete facts for good: text, index, vectors, journal, bytes of the file.

    Shows first what fits the description, history included, and a token to delete just that. A hash
    stays, so that an import does not bring the text back.
    """
    from consolidate.memory import open_memory
    from consolidate.memory.forgetting import FORGET_FROM, FORGET_UNSEEN_FROM

    chosen = [bool(description), token is not None, allow is not None, scrub]
    if sum(chosen) != 1:
        raise UsageError("give one of: a description, --token, --allow, --scrub")
    ctx = context(db, agent, as_json, assign=assign)
    with open_memory(ctx.path, ctx.agent, settings=ctx.settings, create=False) as memory:
        if allow is not None:
            allowed = memory.allow_again(allow)
            if as_json:
                write_json({"allowed": allowed})
            else:
                say("It may be stored again." if allowed else "It was not kept out.")
            return
        if scrub:
            note = memory.store.scrub()
            _show_scrub(note, as_json)
            return
        if token is not None:
            _show_forgotten(
                memory.forget_memory(token, revive=revive, messages=messages, episodes=episodes),
                as_json,
            )
            return
        if threshold is None:
            threshold = FORGET_UNSEEN_FROM if yes else FORGET_FROM
        preview = memory.forget_preview(
            " ".join(description or ()), threshold=threshold, limit=limit
        )
        if yes and preview.token:
            _show_forgotten(
                memory.forget_memory(
                    preview.token, revive=revive, messages=messages, episodes=episodes
                ),
                as_json,
            )
            return
        agents = [*memory.store.agents()]
    _show_preview(preview, as_json)
    if not preview.matches and not as_json:
        hint_at_agents(ctx.agent, agents)


def delete(
    facts: Annotated[
        list[str], typer.Argument(metavar="FACT...", help="Their ids, or the starts of them.")
    ],
    revive: Revive = False,
    messages: Messages = False,
    episodes: Episodes = False,
    yes: Yes = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Delete facts by id, as `forget` does."""
    from consolidate.memory import open_memory

    ctx = context(db, agent, as_json)
    with open_memory(ctx.path, ctx.agent, settings=ctx.settings, create=False) as memory:
        if yes:
            done = memory.forget_memory(
                ids=facts, revive=revive, messages=messages, episodes=episodes
            )
            _show_forgotten(done, as_json)
        else:
            _show_preview(memory.forget_preview(ids=facts), as_json)


def purge(
    before: Annotated[
        str | None,
        typer.Option(
            "--before",
            metavar="TIME",
            help="Only what was said before: ISO 8601 with offset, or with --timezone a day.",
            show_default=False,
        ),
    ] = None,
    yes: Yes = False,
    timezone: Timezone = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Delete history for good: superseded and merged facts of all agents, or of one.

    What holds stays. Runs that retired the facts can't be undone for them any more.
    """
    from consolidate.memory import open_memory

    ctx = context(db, agent, as_json, timezone=timezone)
    moment = None
    if before is not None:
        try:
            moment = parse_time(before, zone=ctx.settings.timezone)
        except InputError as error:
            raise UsageError(f"--before: {error}") from error
    with open_memory(ctx.path, ctx.agent, settings=ctx.settings, create=False) as memory:
        names = [ctx.agent] if agent else [*memory.store.agents()]
        done = [memory.purge(name, moment, not yes, scrub=False) for name in names]
        note = memory.store.scrub() if yes and any(each.facts for each in done) else ""
    if as_json:
        write_json({"preview": not yes, "purged": done, "note": note})
        return
    rows = [(each.agent, len(each.facts)) for each in done]
    draw(table(["agent", "facts" if yes else "facts that would go"], rows))
    if note:
        complain(f"Note: {note}")
    if not yes and any(each.facts for each in done):
        say("Nothing was deleted; --yes does it. It can't be undone.")


def _show_preview(preview: ForgetPreview, as_json: bool) -> None:
    if as_json:
        write_json({"preview": preview})
        return
    for note in preview.notes:
        complain(f"Note: {note}")
    if not preview.matches:
        say("Nothing fits; a lower --threshold shows more.")
        return
    draw(
        table(
            ["score", "fact", "why", "said", "status", "id"],
            [
                (
                    f"{each.score:.2f}" if each.score else "",
                    each.fact.text if len(each.fact.text) <= 300 else f"{each.fact.text[:297]}...",
                    each.why,
                    day(each.fact.stated_at) or "?",
                    each.fact.status,
                    each.fact.id,
                )
                for each in preview.matches[:_SHOWN]
            ],
            right=["score"],
            grow="fact",
        )
    )
    if len(preview.matches) > _SHOWN:
        say(f"... and {len(preview.matches) - _SHOWN} more")
    for fact in preview.superseded:
        say(f"It had superseded: {fact.text} ({fact.id}); --revive lets it hold again.")
    if preview.messages:
        say(f"{preview.messages} messages say it too; --messages deletes them along.")
    if preview.episodes:
        say(f"{preview.episodes} episodes tell of it; --episodes deletes them along.")
    say(f"Nothing was deleted. Delete just these: consolidate forget --token {preview.token}")


def _show_forgotten(done: Forgotten, as_json: bool) -> None:
    if as_json:
        write_json(done)
        return
    count = len(done.facts)
    say(f"Deleted {count} {'fact' if count == 1 else 'facts'} for good.")
    for fact in done.revived:
        say(f"{fact} holds again.")
    for fact in done.retired:
        say(f"{fact}, which it had superseded, stays retired.")
    if done.messages:
        say(f"Deleted {done.messages} messages.")
    if done.episodes:
        say(f"Deleted {done.episodes} episodes.")
    for note in done.notes:
        complain(f"Note: {note}")


def _show_scrub(note: str, as_json: bool) -> None:
    if as_json:
        write_json({"scrubbed": not note, "note": note})
    else:
        say(note or "No bytes of deleted facts are left in the file.")
    if note:
        raise typer.Exit(1)
