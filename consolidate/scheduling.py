"""Texts for the schedulers of three systems: systemd user timers, cron lines, launchd jobs.

Builds text only; `cli/schedule.py` writes it where it belongs. Each job runs `consolidate run`,
appends what it says to a log, and leaves the exit code to the scheduler: 0 is done or nothing to
do, 1 is failed, 2 is wrong usage. Two runs never overlap: the store's lease sees to that, and the
schedulers start no second instance.
"""

from __future__ import annotations

import hashlib
import plistlib
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from consolidate.errors import InputError

__all__ = [
    "Job",
    "Kind",
    "When",
    "cron_line",
    "job_name",
    "launchd_plist",
    "parse_when",
    "systemd_units",
]

Kind = Literal["systemd", "cron", "launchd"]

_UNITS = {"m": 1, "h": 60, "d": 1440}
_DAY = 1440


@dataclass(frozen=True, kw_only=True)
class When:
    """Once a day at a time of the machine's clock, or every so many minutes."""

    hour: int = 3
    minute: int = 30
    every: int | None = None
    """Minutes between two runs; None is once a day."""

    def __str__(self) -> str:
        """Say it in words."""
        if self.every is None:
            return f"daily at {self.hour:02d}:{self.minute:02d}"
        for unit, minutes in (("day", 1440), ("hour", 60)):
            if self.every % minutes == 0:
                count = self.every // minutes
                return f"every {unit}" if count == 1 else f"every {count} {unit}s"
        return f"every {self.every} minutes"


@dataclass(frozen=True, kw_only=True)
class Job:
    """What is to be run."""

    command: tuple[str, ...]
    """The program with its arguments; paths absolute."""
    log: Path
    name: str
    when: When
    folder: Path | None = None
    """Where to run it, if its settings file is found from there."""
    lock: Path | None = None
    """Lock file for `flock`, where there is that program."""

    def __post_init__(self) -> None:
        for part in (*self.command, str(self.log), str(self.folder), str(self.lock)):
            if not part.isprintable():
                raise InputError(f"{part!r} can't be scheduled: it holds a control character")


def job_name(db: Path, agent: str) -> str:
    """Name a job, so that each agent of each database has one of its own."""
    word = re.sub(r"[^a-z0-9]+", "-", agent.lower()).strip("-")[:24] or "agent"
    mark = hashlib.sha256(f"{db}\0{agent}".encode("utf-8", "surrogateescape")).hexdigest()[:8]
    return f"consolidate-{word}-{mark}"


def parse_when(at: str | None, every: str | None) -> When:
    """Read `--at 03:30` or `--every 6h`.

    Raises:
        InputError: Both are given, or one can't be read.
    """
    if at and every:
        raise InputError("give --at or --every, not both")
    if every:
        match = re.fullmatch(r"(\d{1,4})\s*([mhd])", every.strip())
        minutes = int(match[1]) * _UNITS[match[2]] if match else 0
        if not 5 <= minutes <= 30 * _DAY:
            raise InputError(f"--every {every!r} is not a span from 5m to 30d, such as 30m, 6h, 1d")
        return When(every=minutes)
    match = re.fullmatch(r"(\d{1,2}):(\d{2})", (at or "03:30").strip())
    if not match or int(match[1]) > 23 or int(match[2]) > 59:
        raise InputError(f"--at {at!r} is not a time of day such as 03:30")
    return When(hour=int(match[1]), minute=int(match[2]))


def systemd_units(job: Job) -> dict[str, str]:
    """Write service and timer of a systemd user instance; file name to text."""
    if job.when.every is None:
        # Persistent makes up for a night when the machine was off.
        trigger = f"OnCalendar=*-*-* {job.when.hour:02d}:{job.when.minute:02d}:00\nPersistent=true"
    else:
        trigger = f"OnActiveSec=2min\nOnUnitActiveSec={job.when.every}min"
    folder = f"WorkingDirectory={_specifiers(str(job.folder))}\n" if job.folder else ""
    service = (
        "[Unit]\n"
        "Description=Consolidate an agent's memory\n"
        "\n"
        "[Service]\n"
        "Type=oneshot\n"
        f"{folder}"
        f"ExecStart={' '.join(_systemd_word(word) for word in job.command)}\n"
        f"StandardOutput=append:{_specifiers(str(job.log))}\n"
        f"StandardError=append:{_specifiers(str(job.log))}\n"
        "Nice=10\n"
    )
    timer = (
        "[Unit]\n"
        f"Description=Consolidate an agent's memory {job.when}\n"
        "\n"
        "[Timer]\n"
        f"{trigger}\n"
        "\n"
        "[Install]\n"
        "WantedBy=timers.target\n"
    )
    return {f"{job.name}.service": service, f"{job.name}.timer": timer}


def cron_line(job: Job) -> str:
    """Write a line for a crontab; the comment at its end is how the line is found again.

    Raises:
        InputError: Cron can't express the span.
    """
    fields = _cron_fields(job.when)
    words = [shlex.quote(word) for word in job.command]
    if job.lock:
        words = ["flock", "-n", shlex.quote(str(job.lock)), *words]
    log = shlex.quote(str(job.log))
    change = f"cd {shlex.quote(str(job.folder))} && " if job.folder else ""
    # The shell reports the run's own exit code, and the log has it too.
    script = f'{change}{" ".join(words)} >>{log} 2>&1; s=$?; echo "exit $s" >>{log}; exit $s'
    return f"{fields} {script.replace('%', chr(92) + '%')} # {job.name}"


def launchd_plist(job: Job) -> str:
    """Write a property list for `~/Library/LaunchAgents`."""
    values: dict[str, object] = {
        "Label": job.name,
        "ProgramArguments": list(job.command),
        "StandardOutPath": str(job.log),
        "StandardErrorPath": str(job.log),
        "ProcessType": "Background",
    }
    if job.folder:
        values["WorkingDirectory"] = str(job.folder)
    if job.when.every is None:
        values["StartCalendarInterval"] = {"Hour": job.when.hour, "Minute": job.when.minute}
    else:
        values["StartInterval"] = job.when.every * 60
    return plistlib.dumps(values).decode()


def _cron_fields(when: When) -> str:
    if when.every is None:
        return f"{when.minute} {when.hour} * * *"
    if when.every < 60 and 60 % when.every == 0:
        return f"*/{when.every} * * * *"
    hours, rest = divmod(when.every, 60)
    if rest == 0 and hours < 24 and 24 % hours == 0:
        return f"0 {'*' if hours == 1 else f'*/{hours}'} * * *"
    if when.every == _DAY:
        return "30 3 * * *"
    raise InputError(
        f"cron can't run something {when}; take a span that divides an hour or a day, or --at"
    )


def _systemd_word(word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("$", "$$")
    return f'"{_specifiers(escaped)}"'


def _specifiers(text: str) -> str:
    return text.replace("%", "%%")
