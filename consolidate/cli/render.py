"""Drawing: tables that fit the terminal, plain text when piped, JSON when asked.

Text goes in as `Text`, never as markup, so brackets in a fact stay brackets. The library that
draws is loaded when something is drawn, so that `--help` need not wait for it.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import TYPE_CHECKING, Any

from consolidate.cli.text import visible
from consolidate.serialise import to_data

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.table import Table
    from rich.text import Text

__all__ = ["console", "day", "draw", "heading", "say", "table", "write_json"]

_PIPED_WIDTH = 100
_STYLES = {
    "superseded": "yellow",
    "merged": "cyan",
    "active": "green",
    "in_review": "magenta",
    "ok": "green",
    "warn": "yellow",
    "fail": "bold red",
}


def console(*, err: bool = False) -> Console:
    """Make a console for standard output or error as they are now."""
    from rich.console import Console

    stream = sys.stderr if err else sys.stdout
    terminal = stream.isatty()
    # A pipe has no width; COLUMNS still says what the reader wants.
    width = None if terminal or os.environ.get("COLUMNS", "").isdigit() else _PIPED_WIDTH
    return Console(
        file=stream,
        force_terminal=None if terminal else False,
        no_color=None if terminal else True,
        width=width,
        markup=False,
        highlight=False,
        emoji=False,
        soft_wrap=False,
    )


def say(line: str, *, style: str = "") -> None:
    """Write one line for people; it is not broken, so that commands in it can be copied."""
    from rich.text import Text

    console().print(Text(visible(line), style=style), soft_wrap=True)


def heading(line: str) -> None:
    """Write a heading with a blank line before it."""
    from rich.text import Text

    draw(Text())
    draw(Text(visible(line), style="bold"))


def draw(what: RenderableType) -> None:
    """Draw on standard output."""
    made = console()
    if made.is_terminal:
        made.print(what)
        return
    with made.capture() as drawn:
        made.print(what)
    # Cells are filled up with blanks, which only get in the way in a file.
    sys.stdout.write("".join(f"{line.rstrip()}\n" for line in drawn.get().splitlines()))


def table(
    columns: Sequence[str],
    rows: Iterable[Sequence[Any]],
    *,
    right: Sequence[str] = (),
    title: str | None = None,
    grow: str | None = None,
) -> Table:
    """Lay out rows under columns.

    Args:
        columns: Headings.
        rows: Cells; None is empty.
        right: Headings of columns with numbers.
        title: A line above.
        grow: The column with long text: the others keep their width where that is possible.
    """
    from rich.table import Table
    from rich.text import Text

    made = Table(title=title, title_justify="left", box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for name in columns:
        made.add_column(
            Text(name, style="bold"),
            justify="right" if name in right else "left",
            overflow="fold",
            ratio=1 if name == grow else None,
        )
    for row in rows:
        made.add_row(*(_cell(cell) for cell in row))
    return made


def day(moment: datetime | None) -> str:
    """Show a time as its day; the hour hardly ever matters to a person."""
    return "" if moment is None else moment.strftime("%Y-%m-%d")


def write_json(value: Any) -> None:
    """Write one JSON document to standard output, in ASCII, so that every terminal is safe."""
    sys.stdout.write(json.dumps(to_data(value), indent=2, ensure_ascii=True) + "\n")


def _cell(value: Any) -> Text:
    from rich.text import Text

    if isinstance(value, Text):
        return value
    shown = "" if value is None else visible(str(value))
    return Text(shown, style=_STYLES.get(shown, ""))
