"""The commands `episode record`, `list`, `show`, `search`, `delete`, and `recap`."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from consolidate.cli.common import Agent, Assign, Db, Json, Timezone, context
from consolidate.cli.errors import complain
from consolidate.cli.render import draw, heading, say, table, write_json
from consolidate.errors import InputError

__all__ = ["app", "recap"]

app = typer.Typer(
    help="What happened, told as a whole.", no_args_is_help=True, rich_markup_mode=None
)

_Session = Annotated[
    str | None,
    typer.Option("--session", metavar="ID", help="Session or conversation.", show_default=False),
]
_Limit = Annotated[int, typer.Option("--limit", metavar="N", min=1, max=1000, help="How many.")]
_Since = Annotated[
    str | None,
    typer.Option("--since", metavar="TIME", help="From this time on.", show_default=False),
]


@app.command()
def record(
    title: Annotated[str, typer.Argument(metavar="TITLE", help="A line.")],
    text: Annotated[
        str, typer.Argument(metavar="TEXT", help="What happened; - reads standard input.")
    ],
    outcome: Annotated[
        str, typer.Option("--outcome", metavar="WORD", help="How it ended.", show_default=False)
    ] = "",
    session: _Session = None,
    started_at: Annotated[
        str | None, typer.Option("--started-at", metavar="TIME", show_default=False)
    ] = None,
    ended_at: Annotated[
        str | None, typer.Option("--ended-at", metavar="TIME", show_default=False)
    ] = None,
    fact: Annotated[
        list[str] | None,
        typer.Option(
            "--fact", metavar="ID", help="A fact that it is about; may be repeated.",
            show_default=False,
        ),
    ] = None,
    remember: Annotated[
        bool, typer.Option("--remember", help="Also take the text apart into facts.")
    ] = False,
    timezone: Timezone = None,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Keep what happened; the very same again is not kept twice."""
    ctx = context(db, agent, as_json, assign=assign, timezone=timezone)
    told = _standard_input() if text == "-" else text
    with ctx.memory(create=True) as memory:
        done = memory.record_episode(
            title,
            told,
            outcome=outcome,
            session=session or "",
            started_at=started_at,
            ended_at=ended_at,
            facts=fact or (),
            remember=remember,
        )
    if as_json:
        write_json(done)
        return
    kept = done["episode"]
    say(f"{kept['id']}  {kept['title']}{'' if done['new'] else ' (kept already)'}")
    for each in done["remembered"]:
        say(f"  {each['id']}  {each['text']} ({each['action']})")


@app.command(name="list")
def list_episodes(
    session: _Session = None,
    outcome: Annotated[
        str | None, typer.Option("--outcome", metavar="WORD", show_default=False)
    ] = None,
    fact: Annotated[
        str | None,
        typer.Option(
            "--fact", metavar="ID", help="Only those it is linked to.", show_default=False
        ),
    ] = None,
    since: _Since = None,
    until: Annotated[
        str | None,
        typer.Option("--until", metavar="TIME", help="Up to this time.", show_default=False),
    ] = None,
    limit: _Limit = 20,
    offset: Annotated[
        int, typer.Option("--offset", metavar="N", min=0, help="How many to leave out first.")
    ] = 0,
    timezone: Timezone = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """List episodes, the latest first."""
    ctx = context(db, agent, as_json, timezone=timezone)
    with ctx.memory() as memory:
        found = memory.episode_list(
            session=session,
            outcome=outcome,
            fact=fact,
            since=since,
            until=until,
            limit=limit,
            offset=offset,
        )
    if as_json:
        write_json(found)
        return
    if not found["episodes"]:
        say("There are no such episodes; `consolidate episode record TITLE TEXT` keeps one.")
        return
    _draw(found["episodes"])
    if found["total"] > offset + limit:
        say(f"There are {found['total']} in all: --offset {offset + limit}")


@app.command()
def show(
    episode: Annotated[str, typer.Argument(metavar="EPISODE", help="Its id, or the start of it.")],
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show an episode with its whole text and its facts."""
    ctx = context(db, agent, as_json)
    with ctx.memory() as memory:
        id_ = memory.store.episode(ctx.agent, episode).id
        (found,) = memory.episode_list([id_])["episodes"]
        facts = memory.facts_list(found["facts"])["facts"]
    if as_json:
        write_json({"episode": found, "facts": facts})
        return
    say(found["title"], style="bold")
    say(" · ".join(part for part in (_when(found), found["outcome"], found["session"]) if part))
    for line in found["text"].splitlines():
        say(line)
    if facts:
        heading("Facts")
        draw(table(["fact", "status", "id"], [(f["text"], f["status"], f["id"]) for f in facts],
                   grow="fact"))  # fmt: skip


@app.command()
def search(
    query: Annotated[list[str], typer.Argument(metavar="QUERY", help="Words to look for.")],
    limit: _Limit = 10,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Find episodes by words; no model is needed."""
    ctx = context(db, agent, as_json)
    with ctx.memory() as memory:
        found = memory.episode_search(" ".join(query), limit=limit)
    if as_json:
        write_json(found)
        return
    if not found["episodes"]:
        say("Nothing was found.")
        return
    _draw(found["episodes"], text="snippet")


@app.command()
def delete(
    episode: Annotated[str, typer.Argument(metavar="EPISODE", help="Its id, or the start of it.")],
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Delete; do not only show.")] = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Delete an episode for good, down to the bytes of the file; its facts stay."""
    ctx = context(db, agent, as_json)
    with ctx.memory() as memory:
        found = memory.store.episode(ctx.agent, episode)
        done = memory.delete_episode(found.id) if yes else None
    if as_json:
        write_json({"episode": found.id, "title": found.title, "deleted": done})
        return
    say(f"{found.id}  {found.title}")
    if done is None:
        say("Nothing was deleted; --yes does it. It can't be undone.")
        return
    for note in done["notes"]:
        complain(f"Note: {note}")
    say("Deleted.")


def recap(
    session: Annotated[
        str | None,
        typer.Argument(metavar="SESSION", help="A session; else the last episodes."),
    ] = None,
    last: Annotated[
        int | None,
        typer.Option(
            "--last", metavar="N", min=1, max=1000, help="Since the last N episodes; 5.",
            show_default=False,
        ),
    ] = None,
    since: _Since = None,
    limit: _Limit = 20,
    timezone: Timezone = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Show what a session or the last days came to; only picks out what is stored."""
    ctx = context(db, agent, as_json, timezone=timezone)
    with ctx.memory() as memory:
        found = memory.session_recap(session, last=last, since=since, limit=limit)
    if as_json:
        write_json(found)
        return
    say(f"{found['since'][:16].replace('T', ' ')} to {found['until'][:16].replace('T', ' ')} UTC")
    if found["episodes"]:
        heading("Episodes")
        _draw(found["episodes"])
    for title, key, columns in (
        ("Facts", "facts", ["fact", "said", "id"]),
        ("No longer holds", "retired", ["fact", "why", "id"]),
        ("Plans", "plans", ["plan", "due", "id"]),
    ):
        rows = [(each["text"], _beside(each), each["id"]) for each in found[key]]
        if rows:
            heading(title)
            draw(table(columns, rows, grow=columns[0]))
    others = [each for each in found["decisions"] if each["kind"] not in ("supersede", "merge")]
    if others:
        heading("Decided besides")
        draw(table(["decision", "run"], [(each["sentence"], each["run"]) for each in others],
                   grow="decision"))  # fmt: skip
    if found["reviews"]:
        heading("Open questions")
        for each in found["reviews"]:
            say(f"{each['id']}  {each['sentence']}")
    if not any(found[key] for key in ("episodes", "facts", "retired", "plans", "decisions")):
        say("Nothing happened then.")


def _beside(fact: dict[str, Any]) -> str:
    """What to know of a fact of a recap: why it ended, when it is due, when it was said."""
    if "due" in fact:
        return (fact["due"] or "no date")[:10]
    return str(fact.get("why") or fact.get("stated_at", "?")[:10])


def _standard_input() -> str:
    # As UTF-8 whatever the locale says: what is kept must be what was sent
    try:
        return sys.stdin.buffer.read().decode("utf-8")
    except UnicodeDecodeError as error:
        raise InputError(f"standard input is no UTF-8: {error}") from error


def _draw(episodes: Sequence[dict[str, Any]], *, text: str = "text") -> None:
    rows = []
    for each in episodes:
        ended = f" ({each['outcome']})" if each["outcome"] else ""
        rows.append((_when(each), each["title"] + ended, " ".join(each[text].split()), each["id"]))
    draw(table(["when", "title", "text", "id"], rows, grow="text"))


def _when(episode: dict[str, Any]) -> str:
    return str(episode.get("started_at") or episode["recorded_at"])[:10]
