"""The command `schedule`: shows, installs and removes a job that runs `consolidate run`."""

from __future__ import annotations

import shlex
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated

import typer

from consolidate.cli.common import Agent, Context, Db, Json, context
from consolidate.cli.errors import complain
from consolidate.cli.render import say, write_json
from consolidate.errors import ConsolidateError, InputError
from consolidate.places import config_folder, state_folder
from consolidate.scheduling import (
    Job,
    cron_line,
    job_name,
    launchd_plist,
    parse_when,
    systemd_units,
)
from consolidate.settings import FILE_NAME

__all__ = ["schedule"]

_KINDS = ("systemd", "cron", "launchd")


def schedule(
    at: Annotated[
        str | None,
        typer.Option(metavar="HH:MM", help="Daily at this time; else 03:30.", show_default=False),
    ] = None,
    every: Annotated[
        str | None,
        typer.Option(metavar="SPAN", help="Every 30m, 6h, 1d, ...", show_default=False),
    ] = None,
    kind: Annotated[
        str | None,
        typer.Option(
            help="systemd, cron or launchd; else what this machine has.", show_default=False
        ),
    ] = None,
    install: Annotated[bool, typer.Option("--install", help="Write it, and switch it on.")] = False,
    uninstall: Annotated[bool, typer.Option("--uninstall", help="Take it away again.")] = False,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Run consolidate by itself: shows a timer, and with --install sets it up.

    The exit code of each run is 0 when done or nothing was to do, and 1 when it failed. What it
    said is appended to a log. Two runs never overlap.
    """
    ctx = context(db, agent, as_json)
    if install and uninstall:
        raise typer.BadParameter("give one of the two", param_hint="--install / --uninstall")
    chosen = kind or _usual_kind()
    if chosen not in _KINDS:
        raise typer.BadParameter(f"{kind!r} is none of {', '.join(_KINDS)}", param_hint="--kind")
    try:
        job = _job(ctx, at, every, chosen)
        texts = _texts(chosen, job)
    except InputError as error:
        raise typer.BadParameter(str(error)) from error
    done: list[str] = []
    failed: list[str] = []
    if install:
        done, failed = _install(chosen, job, texts)
    elif uninstall:
        done = _uninstall(chosen, job)
    if as_json:
        write_json(
            {
                "kind": chosen,
                "name": job.name,
                "when": str(job.when),
                "log": str(job.log),
                "installed": install and not failed,
                "files": {str(path): text for path, text in texts.items()},
                "done": done,
                "failed": failed,
            }
        )
    else:
        if not uninstall:
            for path, text in texts.items():
                say(f"# {path}", style="dim")
                # As it is, so that it can be pasted; it holds no stored text.
                typer.echo(text)
        for line in done:
            say(line)
        if not install and not uninstall:
            say(f"Runs {job.when}; log: {job.log}")
            given = {"--kind": kind, "--at": at, "--every": every, "--agent": agent, "--db": db}
            say(f"Set it up with: {_again(given)} --install")
    _fail_with(failed)


def _fail_with(notes: list[str]) -> None:
    if notes:
        complain("Error: written, not switched on")
        for note in notes:
            complain(note)
        raise typer.Exit(1)


def _again(given: Mapping[str, str | None]) -> str:
    parts = [part for key, value in given.items() if value is not None for part in (key, value)]
    return shlex.join(["consolidate", "schedule", *parts])


def _usual_kind() -> str:
    if sys.platform == "darwin":
        return "launchd"
    return "systemd" if shutil.which("systemctl") else "cron"


def _job(ctx: Context, at: str | None, every: str | None, kind: str) -> Job:
    db = ctx.path.absolute()
    name = job_name(db, ctx.agent)
    state = state_folder().absolute()
    # The settings file beside us is only found again from here.
    folder = Path.cwd() if Path(FILE_NAME).is_file() else None
    return Job(
        command=(*_program(), "run", "--db", str(db), "--agent", ctx.agent),
        log=state / f"{name}.log",
        name=name,
        when=parse_when(at, every),
        folder=folder,
        lock=state / f"{name}.lock" if kind == "cron" and shutil.which("flock") else None,
    )


def _program() -> tuple[str, ...]:
    script = Path(sys.executable).with_name("consolidate")
    if script.is_file():
        return (str(script),)
    return (sys.executable, "-m", "consolidate")


def _texts(kind: str, job: Job) -> dict[Path | str, str]:
    if kind == "cron":
        return {"crontab": cron_line(job)}
    if kind == "launchd":
        return {_launch_agents() / f"{job.name}.plist": launchd_plist(job)}
    return {_user_units() / name: text for name, text in systemd_units(job).items()}


def _install(kind: str, job: Job, texts: dict[Path | str, str]) -> tuple[list[str], list[str]]:
    """Install a job; returns what was done, and what is left to the user."""
    job.log.parent.mkdir(parents=True, exist_ok=True)
    if kind == "cron":
        lines = [*_crontab(job.name), *texts.values()]
        _call(["crontab", "-"], text="\n".join(lines) + "\n")
        return [f"Installed in your crontab; runs {job.when}. Log: {job.log}"], []
    for path, text in texts.items():
        Path(path).parent.mkdir(parents=True, exist_ok=True)
        Path(path).write_text(text, encoding="utf-8")
    done = [f"Wrote {path}" for path in texts]
    if kind == "launchd":
        commands = [["launchctl", "load", "-w", str(path)] for path in texts]
    else:
        reload = ["systemctl", "--user", "daemon-reload"]
        commands = [reload, ["systemctl", "--user", "enable", "--now", f"{job.name}.timer"]]
    failed = _switch(commands)
    return done if failed else [*done, f"Runs {job.when}. Log: {job.log}"], failed


def _uninstall(kind: str, job: Job) -> list[str]:
    if kind == "cron":
        lines = _crontab(job.name)
        _call(["crontab", "-"], text="\n".join(lines) + "\n" if lines else "")
        return ["Taken out of your crontab."]
    paths = [Path(path) for path in _texts(kind, job)]
    there = [path for path in paths if path.exists()]
    if not there:
        return ["Nothing was installed."]
    if kind == "launchd":
        done = _switch([["launchctl", "unload", "-w", str(path)] for path in there])
    else:
        done = _switch([["systemctl", "--user", "disable", "--now", f"{job.name}.timer"]])
    for path in there:
        path.unlink()
    if kind == "systemd":
        done += _switch([["systemctl", "--user", "daemon-reload"]])
    return [*done, *(f"Removed {path}" for path in there)]


def _crontab(name: str) -> list[str]:
    """Read the user's crontab without the line of this job."""
    # Any other failure must stop us: writing back an empty list would wipe a crontab.
    lines = _call(["crontab", "-l"], empty_if="no crontab for").splitlines()
    return [line for line in lines if not line.rstrip().endswith(f"# {name}")]


def _switch(commands: list[list[str]]) -> list[str]:
    """Run commands that switch a job on or off; what can't be run is left to the user."""
    notes = []
    for command in commands:
        try:
            _call(command)
        except ConsolidateError as error:
            notes.append(f"{error}. Run it yourself: {' '.join(command)}")
    return notes


def _call(command: list[str], *, text: str | None = None, empty_if: str = "") -> str:
    """Run a program; a failure that says `empty_if` counts as no output."""
    program = shutil.which(command[0])
    if program is None:
        raise InputError(f"there is no {command[0]!r} on this machine; choose another --kind")
    try:
        done = subprocess.run(  # noqa: S603  # fixed programs, no shell
            [program, *command[1:]],
            input=text,
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
    except subprocess.TimeoutExpired as error:
        raise InputError(f"{' '.join(command)} gave no answer") from error
    if not done.returncode:
        return done.stdout
    if empty_if and empty_if in done.stderr:
        return ""
    why = done.stderr.strip().splitlines()
    raise InputError(f"{' '.join(command)} failed ({why[-1] if why else done.returncode})")


def _user_units() -> Path:
    return config_folder().parent / "systemd" / "user"


def _launch_agents() -> Path:
    return Path.home() / "Library" / "LaunchAgents"
