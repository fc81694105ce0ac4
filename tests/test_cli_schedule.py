"""Schedules are valid text for their schedulers, and installing them spares everything else."""

from __future__ import annotations

import plistlib
import shlex
import stat
import sys
from pathlib import Path

import pytest
from command_line import Cli

from consolidate.errors import InputError
from consolidate.scheduling import (
    Job,
    When,
    cron_line,
    job_name,
    launchd_plist,
    parse_when,
    systemd_units,
)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    cli = Cli(home=tmp_path, db=tmp_path / "memory.db")
    # Only programs of the test are found, never those of the machine.
    programs = tmp_path / "bin"
    programs.mkdir()
    cli.env |= {"PATH": str(programs), "XDG_CONFIG_HOME": "", "XDG_STATE_HOME": ""}
    return cli


def program(cli: Cli, name: str, script: str) -> None:
    """Put a program on the path."""
    path = cli.home / "bin" / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


def job(*, when: When | None = None, **fields: object) -> Job:
    values: dict[str, object] = {
        "command": ("/opt/my tools/python", "-m", "consolidate", "run", "--db", "/d/50% $x.db"),
        "log": Path("/logs/a b.log"),
        "name": "consolidate-default-12345678",
        "when": when or When(),
    }
    return Job(**(values | fields))  # type: ignore[arg-type]  # right by construction


@pytest.mark.parametrize(
    ("at", "every", "words"),
    [
        (None, None, "daily at 03:30"),
        ("4:05", None, "daily at 04:05"),
        (None, "30m", "every 30 minutes"),
        (None, "6h", "every 6 hours"),
        (None, "60m", "every hour"),
        (None, "1d", "every day"),
    ],
)
def test_times_are_read(at: str | None, every: str | None, words: str) -> None:
    assert str(parse_when(at, every)) == words


@pytest.mark.parametrize(
    ("at", "every"),
    [("25:00", None), ("3", None), ("03:60", None), (None, "1m"), (None, "x"), (None, "31d"),
     ("3:00", "6h")],
)  # fmt: skip
def test_wrong_times_are_refused(at: str | None, every: str | None) -> None:
    with pytest.raises(InputError):
        parse_when(at, every)


def test_systemd_units_quote_what_systemd_would_expand() -> None:
    units = systemd_units(job(folder=Path("/srv/100%")))
    service = units["consolidate-default-12345678.service"]
    assert 'ExecStart="/opt/my tools/python" "-m"' in service
    assert '"/d/50%% $$x.db"' in service
    assert "StandardOutput=append:/logs/a b.log" in service
    assert "WorkingDirectory=/srv/100%%" in service
    timer = units["consolidate-default-12345678.timer"]
    assert "OnCalendar=*-*-* 03:30:00" in timer
    assert "OnUnitActiveSec=360min" in systemd_units(job(when=When(every=360)))[
        "consolidate-default-12345678.timer"
    ]  # fmt: skip


def test_a_cron_line_is_one_line_with_lock_log_and_exit_code() -> None:
    line = cron_line(job(lock=Path("/locks/a b.lock")))
    assert "\n" not in line
    assert line.startswith("30 3 * * * flock -n '/locks/a b.lock' '/opt/my tools/python'")
    assert "50\\% $x.db" in line
    assert line.endswith("exit $s # consolidate-default-12345678")
    words = shlex.split(line.replace("\\%", "%"))
    assert "/d/50% $x.db" in words


@pytest.mark.parametrize(
    ("every", "fields"),
    [(5, "*/5 * * * *"), (60, "0 * * * *"), (360, "0 */6 * * *"), (1440, "30 3 * * *")],
)
def test_cron_spans(every: int, fields: str) -> None:
    assert cron_line(job(when=When(every=every))).startswith(fields)


@pytest.mark.parametrize("every", [7, 45, 300, 2880])
def test_cron_refuses_spans_it_can_not_keep(every: int) -> None:
    with pytest.raises(InputError, match="cron can't run"):
        cron_line(job(when=When(every=every)))


def test_a_launchd_job_is_a_property_list() -> None:
    made = plistlib.loads(launchd_plist(job(when=When(every=90))).encode())
    assert made["ProgramArguments"][-1] == "/d/50% $x.db"
    assert made["StartInterval"] == 5400
    daily = plistlib.loads(launchd_plist(job()).encode())
    assert daily["StartCalendarInterval"] == {"Hour": 3, "Minute": 30}


def test_control_characters_can_not_reach_a_crontab() -> None:
    with pytest.raises(InputError, match="control character"):
        job(command=("run", "--db", "x\n* * * * * rm"))


def test_each_agent_of_each_database_has_a_job_of_its_own() -> None:
    names = {job_name(Path(db), agent) for db in ("/a.db", "/b.db") for agent in ("Ada", "ada é")}
    assert len(names) == 4
    assert all(name.replace("-", "").isascii() and name.islower() for name in names)


def test_printing_changes_nothing(cli: Cli) -> None:
    for kind in ("systemd", "cron", "launchd"):
        out = cli("schedule", "--kind", kind).out
        assert str(cli.db) in out
        assert "--install" in out
    assert sorted(path.name for path in cli.home.iterdir()) == ["bin"]


def test_the_kind_is_that_of_the_machine(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    assert cli("schedule", "--json").json["kind"] == "cron"
    program(cli, "systemctl", "exit 0")
    assert cli("schedule", "--json").json["kind"] == "systemd"
    monkeypatch.setattr(sys, "platform", "darwin")
    assert cli("schedule", "--json").json["kind"] == "launchd"


def test_a_cron_job_is_put_in_replaced_and_taken_out(cli: Cli) -> None:
    tab = cli.home / "tab"
    tab.write_text("0 1 * * * backup\n# mine\n")
    program(cli, "crontab", f'if [ "$1" = -l ]; then /bin/cat {tab}; else /bin/cat > {tab}; fi')
    cli("schedule", "--kind", "cron", "--install")
    cli("schedule", "--kind", "cron", "--every", "6h", "--install")
    lines = tab.read_text().splitlines()
    assert lines[:2] == ["0 1 * * * backup", "# mine"]
    assert len(lines) == 3
    assert lines[2].startswith("0 */6 * * *")
    cli("schedule", "--kind", "cron", "--uninstall")
    assert tab.read_text() == "0 1 * * * backup\n# mine\n"


def test_a_missing_crontab_is_an_empty_one(cli: Cli) -> None:
    tab = cli.home / "tab"
    program(
        cli,
        "crontab",
        f'if [ "$1" = -l ]; then echo "no crontab for me" >&2; exit 1; else /bin/cat > {tab}; fi',
    )
    cli("schedule", "--kind", "cron", "--install")
    assert len(tab.read_text().splitlines()) == 1


def test_a_crontab_that_can_not_be_read_is_not_overwritten(cli: Cli) -> None:
    tab = cli.home / "tab"
    program(
        cli,
        "crontab",
        f'if [ "$1" = -l ]; then echo "you may not" >&2; exit 1; else /bin/cat > {tab}; fi',
    )
    assert "you may not" in cli("schedule", "--kind", "cron", "--install", code=1).err
    assert not tab.exists()


def test_systemd_units_are_written_switched_on_and_removed(cli: Cli) -> None:
    calls = cli.home / "calls"
    program(cli, "systemctl", f'echo "$@" >> {calls}')
    cli("schedule", "--kind", "systemd", "--install")
    units = cli.home / ".config" / "systemd" / "user"
    assert len(list(units.iterdir())) == 2
    assert "--user daemon-reload" in calls.read_text()
    assert "--user enable --now consolidate-default-" in calls.read_text()
    assert (cli.home / ".local" / "state" / "consolidate").is_dir()
    cli("schedule", "--kind", "systemd", "--uninstall")
    assert list(units.iterdir()) == []
    assert "--user disable --now consolidate-default-" in calls.read_text()
    assert "Nothing was installed" in cli("schedule", "--kind", "systemd", "--uninstall").out


def test_what_can_not_be_switched_on_is_left_to_the_user(cli: Cli) -> None:
    program(cli, "systemctl", 'echo "no bus" >&2; exit 1')
    result = cli("schedule", "--kind", "systemd", "--install", code=1)
    assert "written, not switched on" in result.err
    assert "no bus" in result.err
    assert "Run it yourself: systemctl --user daemon-reload" in result.err
    assert "Runs daily" not in result.out
    assert cli("schedule", "--kind", "launchd", "--install", "--json", code=1).json[
        "installed"
    ] is (False)


def test_the_line_that_sets_it_up_repeats_what_was_given(cli: Cli) -> None:
    given = ("--kind", "cron", "--at", "04:00", "--agent", "ada b", "--db", "x.db")
    line = cli("schedule", *given).out.splitlines()[-1]
    again = shlex.split(line.partition(": ")[2])
    assert again == ["consolidate", "schedule", *given, "--install"]


def test_a_scheduler_that_is_not_there_is_told(cli: Cli) -> None:
    err = cli("schedule", "--kind", "cron", "--install", code=1).err
    assert "there is no 'crontab' on this machine" in err
    cli("schedule", "--kind", "at", code=2)
    cli("schedule", "--install", "--uninstall", code=2)


def test_a_settings_file_of_the_folder_is_found_again(cli: Cli) -> None:
    (cli.home / "consolidate.toml").write_text("hub_size = 30\n")
    assert f"WorkingDirectory={cli.home}" in cli("schedule", "--kind", "systemd").out


def test_the_scheduled_command_runs(cli: Cli) -> None:
    cli.env["PATH"] = "/usr/bin:/bin"
    cli("remember", "Likes tea")
    files = cli("schedule", "--kind", "launchd", "--json").json["files"]
    command = plistlib.loads(next(iter(files.values())).encode())["ProgramArguments"]
    at = command.index("run")
    done = cli.process(*command[at:])
    assert done.returncode == 0, done.stderr
