"""Shows how far a run is: bars on a terminal, one line a stage in a log, nothing beside JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import typer

from consolidate.cli.render import console

if TYPE_CHECKING:
    from rich.progress import Progress, ProgressColumn
    from rich.progress import TaskID as Task

__all__ = ["transferred", "watched"]

_Told = Callable[[str, int, int], None]

_WORDS = {"embed": "reading texts", "entities": "finding names", "classify": "judging pairs"}


@contextmanager
def watched(as_json: bool) -> Iterator[_Told]:
    """Give the function that a run tells how far it is."""
    if as_json:
        yield lambda stage, done, total: None
    elif sys.stderr.isatty():
        from rich.progress import MofNCompleteColumn, TimeElapsedColumn

        with _bars(MofNCompleteColumn(), TimeElapsedColumn()) as bars:
            yield _drawing(bars)
    else:
        yield _line


@contextmanager
def transferred(as_json: bool) -> Iterator[_Told]:
    """Give the function that a transfer of files tells how many bytes are there."""
    if as_json:
        yield lambda name, done, total: None
    elif sys.stderr.isatty():
        from rich.progress import DownloadColumn, TransferSpeedColumn

        with _bars(DownloadColumn(), TransferSpeedColumn()) as bars:
            yield _drawing(bars)
    else:
        yield _file_line


def _bars(*columns: ProgressColumn) -> Progress:
    from rich.progress import BarColumn, Progress, TextColumn

    return Progress(
        TextColumn("{task.description:<14}"), BarColumn(), *columns, console=console(err=True)
    )


def _drawing(bars: Progress) -> _Told:
    tasks: dict[str, Task] = {}

    def draw(name: str, done: int, total: int) -> None:
        if name not in tasks:
            tasks[name] = bars.add_task(_words(name), total=total)
        bars.update(tasks[name], completed=done, total=total)

    return draw


def _file_line(name: str, done: int, total: int) -> None:
    if done == total:
        typer.echo(f"{name}: {total / 1e6:.1f} MB", err=True)


def _line(stage: str, done: int, total: int) -> None:
    if done == total:
        typer.echo(f"{_words(stage)}: {total}", err=True)


def _words(stage: str) -> str:
    return _WORDS.get(stage, stage)
