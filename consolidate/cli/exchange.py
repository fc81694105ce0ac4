"""The commands `import` and `export`."""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Annotated

import typer

from consolidate.cli.common import Agent, Db, Json, Timezone, context, utc_now
from consolidate.cli.errors import complain
from consolidate.cli.render import draw, say, table, write_json
from consolidate.errors import InputError
from consolidate.exchange.columns import parse_map
from consolidate.exchange.records import ImportReport, Options

__all__ = ["export_file", "import_file"]

_FORMATS = ("auto", "consolidate", "jsonl", "json", "csv", "hippo", "mcp-memory")
_COMPLAINTS = 20  # broken lines shown one by one; a wrong file would fill the screen


def import_file(
    file: Annotated[str, typer.Argument(metavar="FILE", help="A file, or - for standard input.")],
    form: Annotated[
        str,
        typer.Option("--format", help="auto, consolidate, jsonl, json, csv, hippo or mcp-memory."),
    ] = "auto",
    columns: Annotated[
        list[str] | None,
        typer.Option(
            "--map",
            metavar="FIELD=COLUMN,...",
            help="Which column holds what, e.g. text=content,stated_at=created_at.",
            show_default=False,
        ),
    ] = None,
    preview: Annotated[
        bool, typer.Option("--preview", help="Say what would come in; change nothing.")
    ] = False,
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
    from consolidate.exchange.importing import import_bytes

    if form not in _FORMATS:
        raise typer.BadParameter(
            f"{form!r} is none of {', '.join(_FORMATS)}", param_hint="--format"
        )
    try:
        mapping = parse_map(columns or ())
    except InputError as error:
        raise typer.BadParameter(str(error), param_hint="--map") from error
    ctx = context(db, agent, as_json, timezone=timezone)
    options = Options(
        agent=ctx.agent,
        every_agent=agent is not None,
        timezone=ctx.settings.timezone,
        kind=kind,
        source=source,
        columns=mapping,
    )
    data = sys.stdin.buffer.read() if file == "-" else _read(Path(file))
    if preview and not ctx.path.exists():
        from consolidate.store import Store

        opened = Store.open(":memory:")  # a preview does not even make the file
    else:
        opened = None
    with opened or ctx.store(create=True) as store:
        report = import_bytes(
            store,
            data,
            options,
            now=utc_now(),
            form=None if form == "auto" else form,
            name=file,
            preview=preview,
            strict=strict,
        )
    _show(report, as_json)
    if report.refused:
        complain("Error: nothing was taken in, since lines are broken and --strict was given")
        raise typer.Exit(1)
    if _useless(report):
        complain("Error: nothing in the file could be used")
        raise typer.Exit(1)


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
    _check(file)
    _write(Path(file), lines)
    if as_json:
        write_json({"file": file, "rows": len(lines) - 1})
    else:
        say(f"Wrote {len(lines) - 1} rows to {file}")


def _read(path: Path) -> bytes:
    if path.is_dir():
        raise InputError(f"{str(path)!r} is a folder; name a file")
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"there is no file {str(path)!r}") from None


def _check(file: str) -> None:
    path = Path(file)
    if path.is_dir():
        raise InputError(f"{file!r} is a folder; name a file")
    if not path.parent.is_dir():
        raise InputError(f"can't write {file!r}: there is no folder {str(path.parent)!r}")


def _write(path: Path, lines: list[str]) -> None:
    """Write beside the target first, so that a failure leaves an older export whole."""
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
    for item in report.broken[:_COMPLAINTS]:
        complain(f"line {item.line}: {item.reason}")
    if len(report.broken) > _COMPLAINTS:
        complain(f"... and {len(report.broken) - _COMPLAINTS} more broken lines")
