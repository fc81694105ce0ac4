"""`consolidate remember --extract`: what it stores, shows and writes as JSON."""

from __future__ import annotations

from pathlib import Path

import pytest
from command_line import Cli


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    return Cli(home=tmp_path, db=tmp_path / "memory.db")


def test_facts_are_stored_as_given_without_it(cli: Cli) -> None:
    cli("remember", "I like tea, do you?")
    assert cli("stats", "--json").json["counts"]["facts"] == 1


def test_what_was_done_to_each_is_shown(cli: Cli) -> None:
    done = cli("remember", "--extract", "Hi! I like tea.", "Where is the port?")
    assert "added         User likes tea." in done.out
    assert "left out      Hi!" in done.out and "a question states nothing" in done.out
    cli("remember", "--extract", "The red door code is 1234.")
    changed = cli("remember", "--extract", "The red door code is 5678.")
    assert "superseded    The red door code is 5678." in changed.out
    run = changed.out.split("Recorded as ")[1].split(";")[0]
    cli("undo", run)
    assert cli("stats", "--json").json["counts"]["superseded"] == 0


def test_it_writes_one_json_document(cli: Cli) -> None:
    done = cli(
        "remember", "--extract", "--json", "--stated-at", "2026-03-04T12:00:00Z", "--source",
        "user", "--metadata", '{"chat": 1}', "I met Ana yesterday.",
    )  # fmt: skip
    (fact,) = done.json["facts"]
    assert fact["text"] == "User met Ana on 2026-03-03."
    assert fact["action"] == "added" and done.json["run"] == ""


def test_standard_input_is_read_as_one_text(cli: Cli) -> None:
    done = cli("remember", "--extract", "--json", "-", stdin="I like tea.\nI own a boat.\n")
    assert [f["text"] for f in done.json["facts"]] == ["User likes tea.", "User owns a boat."]


def test_nothing_to_remember_is_said(cli: Cli) -> None:
    assert "No fact was found" in cli("remember", "--extract", "Hello!").out


@pytest.mark.parametrize(
    "options", [["--kind", "plan"], ["--stated-at", "unknown"], ["--metadata", "7"]]
)
def test_options_that_make_no_sense_are_refused(options: list[str], cli: Cli) -> None:
    done = cli("remember", "--extract", *options, "I like tea.", code=2)
    assert options[0] in done.err


def test_control_characters_do_not_reach_the_terminal(cli: Cli) -> None:
    done = cli("remember", "--extract", "The \x1b[31mred\x1b[0m door is open.")
    assert "\x1b" not in done.out
