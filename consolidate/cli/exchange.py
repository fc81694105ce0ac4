"""The commands `import`, `export` and `audit`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from consolidate.cli.common import Agent, Assign, Context, Db, Json, Timezone, context, utc_now
from consolidate.cli.errors import complain
from consolidate.cli.progress import watched
from consolidate.cli.render import draw, heading, say, table, write_json
from consolidate.errors import InputError
from consolidate.exchange.columns import parse_map
from consolidate.exchange.findings import Audit
from consolidate.exchange.records import ImportReport, Options, Parsed

__all__ = ["audit_file", "check_target", "export_file", "import_file", "write_whole"]

_FOLDER_OF = (".md", ".markdown")
_FOUND = 20  # of each kind
_COMPLAINTS = 20  # broken lines shown one by one; a wrong file would fill the screen


File = Annotated[
    str,
    typer.Argument(
        metavar="FILE", help="A file, a folder of Markdown notes, or - for standard input."
    ),
]
Form = Annotated[
    str,
    typer.Option(
        "--format",
        help="auto, consolidate, jsonl, json, csv, hippo, mcp-memory, aingram, mem0, letta, "
        "graphiti, basic-memory, chatgpt or markdown.",
    ),
]
Map = Annotated[
    list[str] | None,
    typer.Option(
        "--map",
        metavar="FIELD=COLUMN,...",
        help="Which column holds what, e.g. text=content,stated_at=created_at.",
        show_default=False,
    ),
]
Quick = Annotated[
    bool, typer.Option("--quick", help="Look without models: no conflicts, no rewordings.")
]


def import_file(
    file: File,
    form: Form = "auto",
    columns: Map = None,
    preview: Annotated[
        bool,
        typer.Option(
            "--preview", help="Say what would come in, and what `audit` finds; only look."
        ),
    ] = False,
    quick: Quick = False,
    strict: Annotated[
        bool, typer.Option("--strict", help="One broken line, and nothing comes in.")
    ] = False,
    kind: Annotated[
        str | None, typer.Option(help="Kind of facts that name none.", show_default=False)
    ] = None,
    source: Annotated[
        str | None, typer.Option(help="Source of facts that name none.", show_default=False)
    ] = None,
    timezone: Timezone = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Take in facts from a file. A second import of the same file adds nothing.

    A broken line is reported with its number, and the rest comes in. What was retired here stays
    retired. With --agent all facts go to that agent, whatever the file says.
    """
    from consolidate.exchange.importing import import_parsed

    ctx = context(db, agent, as_json, timezone=timezone)
    options = Options(
        agent=ctx.agent,
        every_agent=agent is not None,
        timezone=ctx.settings.timezone,
        kind=kind,
        source=source,
        columns=_mapping(columns),
    )
    parsed = _parsed(file, options, form)
    found = _audited(ctx, parsed, quick) if preview else None
    if preview and not ctx.path.exists():
        from consolidate.store import Store

        opened = Store.open(":memory:")  # a preview does not even make the file
    else:
        opened = None
    with opened or ctx.store(create=True) as store:
        report = import_parsed(
            store, parsed, options, now=utc_now(), preview=preview, strict=strict, audit=found
        )
    _show(report, as_json)
    if report.refused:
        complain("Error: nothing was taken in, since lines are broken and --strict was given")
        raise typer.Exit(1)
    if _useless(report):
        complain("Error: nothing in the file could be used")
        raise typer.Exit(1)


def audit_file(
    file: File,
    form: Form = "auto",
    columns: Map = None,
    quick: Quick = False,
    every: Annotated[bool, typer.Option("--all", help="Show all of each kind.")] = False,
    timezone: Timezone = None,
    assign: Assign = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Look through a file: repeats, conflicts, junk, secrets, times. Nothing is stored.

    Conflicts and rewordings are found by the models, among the 2,000 facts said last.
    """
    ctx = context(None, agent, as_json, timezone=timezone, assign=assign)
    options = Options(
        agent=ctx.agent,
        every_agent=agent is not None,
        timezone=ctx.settings.timezone,
        columns=_mapping(columns),
    )
    parsed = _parsed(file, options, form)
    found = _audited(ctx, parsed, quick)
    if as_json:
        write_json({"format": parsed.format, "audit": found})
        return
    say(f"{found.looked_at} facts ({parsed.format}); nothing was stored")
    _show_audit(found, None if every else _FOUND)
    for note in parsed.notes:
        say(f"Note: {note}")


def export_file(
    file: Annotated[
        str | None,
        typer.Argument(metavar="FILE", help="Else standard output.", show_default=False),
    ] = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Write everything as JSON lines: facts with their past, links, reviews, names.

    All agents, or with --agent that one. Importing it elsewhere brings all of it back.
    """
    from consolidate.exchange.export import export_lines

    ctx = context(db, agent, as_json)
    with ctx.reading() as store:
        lines = list(export_lines(store, agent=ctx.agent if agent else None, now=utc_now()))
    if file is None or file == "-":
        if as_json:
            import json

            write_json({"lines": [json.loads(line) for line in lines]})
            return
        sys.stdout.buffer.write("".join(f"{line}\n" for line in lines).encode())
        sys.stdout.buffer.flush()
        return
    ctx.spare(Path(file))
    check_target(file)
    write_whole(Path(file), lines)
    if as_json:
        write_json({"file": file, "rows": len(lines) - 1})
    else:
        say(f"Wrote {len(lines) - 1} rows to {file}")


def _mapping(columns: list[str] | None) -> dict[str, str]:
    try:
        return parse_map(columns or ())
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--map") from error


def _parsed(file: str, options: Options, form: str) -> Parsed:
    from consolidate.exchange.formats import FORMATS, parse_files

    if form not in ("auto", *FORMATS):
        known = ", ".join(("auto", *FORMATS))
        raise typer.BadParameter(f"{form!r} is none of {known}", param_hint="--format")
    if file == "-":
        files = [(file, sys.stdin.buffer.read())]
    elif Path(file).is_dir():
        notes = sorted(p for p in Path(file).rglob("*") if p.suffix.lower() in _FOLDER_OF)
        if not notes:
            raise InputError(f"the folder {file!r} holds no Markdown; name a file")
        files = [(str(note), _read(note)) for note in notes if note.is_file()]
    else:
        files = [(file, _read(Path(file)))]
    return parse_files(files, options, now=utc_now(), form=None if form == "auto" else form)


def _audited(ctx: Context, parsed: Parsed, quick: bool) -> Audit:
    from consolidate.exchange.audit import audit

    if quick:
        return audit(parsed, now=utc_now(), agent=ctx.agent)
    with watched(ctx.as_json) as progress:
        return audit(
            parsed, now=utc_now(), agent=ctx.agent, settings=ctx.settings, progress=progress
        )


def _show_audit(found: Audit, most: int | None) -> None:
    reworded = sum("word for word" not in each.reason for each in found.duplicates)
    rows = [
        ("said again word for word", found.repeats),
        ("say the same in other words", reworded),
        ("can't both hold", len(found.conflicts)),
        ("junk", len(found.junk)),
        ("secrets", len(found.secrets)),
        ("times", len(found.times)),
    ]
    draw(table(["found", "number"], rows, right=["number"]))
    for title, pairings in (("Said again", found.duplicates), ("Conflicts", found.conflicts)):
        if pairings:
            heading(title)
        for each in pairings[:most]:
            sure = "" if each.sure else " (not sure)"
            say(f"  line {each.lines[0]}: {each.texts[0]}")
            say(f"  line {each.lines[1]}: {each.texts[1]}")
            say(f"    {each.reason}{sure}", style="dim")
        _more(len(pairings), most)
    for title, findings in (
        ("Junk", found.junk),
        ("Secrets", found.secrets),
        ("Times", found.times),
    ):
        if findings:
            heading(title)
            where = [f"line {each.line}" if each.line else "" for each in findings[:most]]
            cells = [(w, e.what, e.shown) for w, e in zip(where, findings, strict=False)]
            draw(table(["where", "what", "text"], cells, grow="text"))
        _more(len(findings), most)
    for note in found.notes:
        complain(f"Note: {note}")


def _more(count: int, most: int | None) -> None:
    if most is not None and count > most:
        say(f"  ... and {count - most} more; `consolidate audit --all` shows them", style="dim")


def _read(path: Path) -> bytes:
    from consolidate.store.foreign import SQLITE, whole_file

    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}") from None
    return whole_file(path) if data.startswith(SQLITE) else data


def check_target(file: str) -> None:
    """Refuse a name that no file can be written to."""
    path = Path(file)
    if path.is_dir():
        raise InputError(f"{file!r} is a folder; name a file")
    if not path.parent.is_dir():
        raise InputError(f"can't write {file!r}: there is no folder {str(path.parent)!r}")


def write_whole(path: Path, lines: list[str]) -> None:
    """Write lines beside the target first, so that a failure leaves an older file whole."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:  # it names the file beside, of which nobody has heard
        raise InputError(f"can't write {str(path)!r}: {error.strerror or error}") from error
    try:
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as out:
            out.writelines(f"{line}\n" for line in lines)
        Path(name).replace(path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise


def _useless(report: ImportReport) -> bool:
    used = report.new or report.known or report.names or any(report.extra.values())
    return bool(report.broken) and not used


def _show(report: ImportReport, as_json: bool) -> None:
    if as_json:
        write_json(report)
    else:
        unchanged = report.preview or report.refused
        done = "Nothing was taken in" if _useless(report) else "Done"
        say(f"{'Nothing was changed; this would be so' if unchanged else done} ({report.format})")
        rows = [("new", report.new), ("known already", report.known)]
        rows += [("broken", len(report.broken))]
        if report.names:
            rows.append(("names declared", report.names))
        rows += [(kind, count) for kind, count in report.extra.items() if count]
        draw(table(["what", "number"], rows, right=["number"]))
        for note in report.notes:
            say(f"Note: {note}")
        if report.audit is not None:
            heading("What is in the file")
            _show_audit(report.audit, _FOUND)
    for item in report.broken[:_COMPLAINTS]:
        where = f"{item.file}, line {item.line}" if item.file else f"line {item.line}"
        complain(f"{where}: {item.reason}")
    if len(report.broken) > _COMPLAINTS:
        complain(f"... and {len(report.broken) - _COMPLAINTS} more broken lines")
