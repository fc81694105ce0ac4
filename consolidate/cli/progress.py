"""Shows how far a run is: bars on a terminal, one line a stage in a log, nothing beside JSON."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import typer
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn
from rich.progress import TaskID as Task

from consolidate.cli.render import console

__all__ = ["watched"]

_Told = Callable[[str, int, int], None]

_WORDS = {"embed": "reading texts", "entities": "finding names", "classify": "judging pairs"}


@contextmanager
def watched(as_json: bool) -> Iterator[_Told]:
    """Give the function that a run tells how far it is."""
    if as_json:
        yield lambda stage, done, total: None
    elif sys.stderr.isatty():
        with _bars() as bars:
            tasks: dict[str, Task] = {}

            def draw(stage: str, done: int, total: int) -> None:
                if stage not in tasks:
                    tasks[stage] = bars.add_task(_words(stage), total=total)
                bars.update(tasks[stage], completed=done, total=total)

            yield draw
    else:
        yield _line


def _bars() -> Progress:
    return Progress(
        TextColumn("{task.description:<14}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        console=console(err=True),
    )


def _line(stage: str, done: int, total: int) -> None:
    if done == total:
        typer.echo(f"{_words(stage)}: {total}", err=True)


def _words(stage: str) -> str:
    return _WORDS.get(stage, stage)
