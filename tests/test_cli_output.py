"""What is printed fits, holds no escape codes where none belong, and obeys no stored text."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from command_line import Cli
from rich.console import Console
from rich.text import Text

from consolidate.cli import render
from consolidate.cli.text import one_line, visible

EVIL = "\x1b[2J\x1b]0;owned\x07 [bold red]x[/] [link=http://x.test]y[/link] \u202egnp :smile: {x}"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    return Cli(home=tmp_path, db=tmp_path / "memory.db")


def on_terminal(monkeypatch: pytest.MonkeyPatch, width: int) -> io.StringIO:
    """Let everything be drawn on a terminal of some width."""
    screen = io.StringIO()

    def console(*, err: bool = False) -> Console:
        return Console(
            file=screen,
            width=width,
            force_terminal=True,
            color_system="truecolor",
            markup=False,
            highlight=False,
            emoji=False,
        )

    monkeypatch.setattr(render, "console", console)
    return screen


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain, ünïcode 日本語 👩\u200d🚀", "plain, ünïcode 日本語 👩\u200d🚀"),
        ("a\nb\tc\rd", "a\\nb\\tc\\rd"),
        ("\x1b[31mred\x9b1m", "\\x1b[31mred\\x9b1m"),
        ("abc\u202edef", "abc\\u202edef"),
        ("zero\u200bwidth\ufeff", "zero\\u200bwidth\\ufeff"),
        ("hidden\U000e0041", "hidden\\U000e0041"),
        ("half \ud800", "half \\ud800"),
    ],
)
def test_what_could_steer_a_terminal_is_made_visible(text: str, shown: str) -> None:
    assert visible(text) == shown


def test_one_line_is_cut_by_columns_not_characters() -> None:
    assert one_line("日本語のテキスト", 9) == "日本語の…"
    assert one_line("short", 9) == "short"


@pytest.mark.parametrize("command", ["run", "report", "review list", "history", "plan"])
def test_stored_text_is_shown_not_obeyed(cli: Cli, command: str) -> None:
    fact = cli("remember", f"{EVIL} is on", "--stated-at", "2025-01-01T00:00:00Z", "--json")
    cli("remember", f"{EVIL} is off", "--stated-at", "2026-01-01T00:00:00Z")
    if command != "run" and command != "plan":
        cli("run", "--set", "supersede=false")
    args = [*command.split(), *([fact.json["facts"][0]["id"]] if command == "history" else [])]
    result = cli(*args)
    for stream in (result.out, result.err):
        assert "\x1b" not in stream
        assert "\x07" not in stream
        assert "\u202e" not in stream
    joined = " ".join(result.out.split())
    assert "[bold red]x[/]" in joined
    assert "[link=http://x.test]y[/link]" in joined
    assert ":smile:" in joined


def test_an_error_shows_a_hostile_value_harmlessly(cli: Cli) -> None:
    cli("init")
    err = cli("history", "\x1b[2Jabc", code=1).err
    assert "\x1b" not in err


def test_stored_text_stays_text_on_a_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    cli("remember", f"{EVIL} is on", "--stated-at", "2025-01-01T00:00:00Z")
    cli("remember", f"{EVIL} is off", "--stated-at", "2026-01-01T00:00:00Z")
    screen = on_terminal(monkeypatch, 80)
    cli("run")
    drawn = screen.getvalue()
    assert "\x1b[1m" in drawn  # headings are bold here
    assert "\x1b[2J" not in drawn
    assert "\x1b]0;" not in drawn
    assert "\x1b]8;" not in drawn
    assert "[bold red]x[/]" in drawn


@pytest.mark.parametrize("width", [40, 80, 132])
def test_tables_and_decisions_fit_the_terminal(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, width: int
) -> None:
    long = "word " * 40 + "x" * 200 + " 日本語" * 30
    cli("remember", f"{long} is on", "--stated-at", "2025-01-01T00:00:00Z")
    cli("remember", f"{long} is off", "--stated-at", "2026-01-01T00:00:00Z")
    screen = on_terminal(monkeypatch, width)
    cli("run", "--set", "supersede=false")
    cli("stats")
    cli("settings")
    lines = [Text.from_ansi(line) for line in screen.getvalue().splitlines()]
    # Paths and commands are left whole, so that they can be copied; the terminal wraps them.
    drawn = [line for line in lines if not line.plain.startswith(("Applied as", str(cli.db)))]
    assert len(drawn) > 40
    assert [line.plain for line in drawn if line.cell_len > width] == []


def test_piped_output_is_plain_and_has_no_trailing_blanks(cli: Cli) -> None:
    cli("remember", "The office is in Bonn", "--stated-at", "2025-01-01T00:00:00Z")
    cli("remember", "The office is in Ghent", "--stated-at", "2026-01-01T00:00:00Z")
    cli.env |= {"FORCE_COLOR": "1", "TERM": "xterm-256color"}
    for args in (("run",), ("report",), ("stats",), ("settings",), ("doctor",)):
        out = cli(*args).out
        assert "\x1b" not in out
        assert not [line for line in out.splitlines() if line != line.rstrip()]


def test_piped_output_follows_columns(cli: Cli) -> None:
    cli("remember", "The office is in Bonn " + "word " * 60, "--stated-at", "2025-01-01T00:00:00Z")
    cli("remember", "The office is in Rome " + "word " * 60, "--stated-at", "2026-01-01T00:00:00Z")
    cli.env["COLUMNS"] = "50"
    lines = [line for line in cli("plan").out.splitlines() if line.startswith("  ")]
    assert lines
    assert max(map(len, lines)) <= 50


def test_letters_that_the_terminal_lacks_do_not_crash(cli: Cli) -> None:
    cli("remember", "Likes 緑茶 and café")
    fact = cli("export").out
    assert "緑茶" in fact
    cli.env |= {"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"}
    done = cli.process("remember", "Likes 緑茶 and café")
    assert done.returncode == 0, done.stderr
    assert "\\u7dd1" in done.stdout
