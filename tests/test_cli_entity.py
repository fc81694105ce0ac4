"""The commands about entities, as a person types them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli

TOLD = (
    "Anna Rossi is the user's dentist.",
    "Anna Rossi moved her practice to Via Roma.",
    "The planet Mercury has no moons.",
    "The lab keeps liquid Mercury, the metal is toxic.",
    "Dr. Susumu Tonegawa got the Nobel Prize in 1987.",
)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A command line over a memory that a run has seen."""
    monkeypatch.chdir(tmp_path)
    made = Cli(home=tmp_path, db=tmp_path / "memory.db")
    made.env["CONSOLIDATE_EXTRACTOR"] = "rules"
    made("remember", "--stated-at", "2026-01-02T10:00:00Z", *TOLD)
    made("run")
    return made


def shown(cli: Cli, name: str) -> Any:
    return cli("entity", "show", name, "--json").json


def test_show_draws_a_tree_of_names_and_facts(cli: Cli) -> None:
    told = cli("entity", "show", "anna rossi")
    assert told.err == ""
    lines = told.out.splitlines()
    assert lines[0].startswith("Anna Rossi · person · #")
    assert lines[1] == "└── facts (2)"
    assert all(any(text in line for line in lines) for text in TOLD[:2])
    assert "S. Tonegawa" in cli("entity", "show", "S. Tonegawa").err


def test_an_ambiguous_name_lists_all_it_may_mean(cli: Cli) -> None:
    told = cli("entity", "show", "Mercury", code=1)
    assert "Mercury (planet)" in told.out and "Mercury ② (metal)" in told.out
    assert "may mean each of these" in told.err
    found = shown(cli, "Mercury")
    assert found["entity"] is None and len(found["candidates"]) == 2
    assert shown(cli, "Mercury ②")["texts"][0]["text"] == TOLD[3]


def test_an_unknown_name_says_so_and_what_may_be_meant(cli: Cli) -> None:
    assert "knows no entity 'Zoe'" in cli("entity", "show", "Zoe", code=1).err
    assert "Susumu Tonegawa" in cli("entity", "show", "Susumu Tonegwa", code=1).err
    assert shown(cli, "Zoe") == {
        "entity": None,
        "aliases": [],
        "facts": [],
        "texts": [],
        "candidates": [],
        "suggestions": [],
    }


def test_list_shows_types_and_counts(cli: Cli) -> None:
    out = cli("entity", "list").out
    assert "Anna Rossi" in out and "person" in out
    people = cli("entity", "list", "--type", "person", "--json").json["entities"]
    assert {each["type"] for each in people} == {"person"}
    assert people[0]["facts"] >= people[-1]["facts"]
    assert cli("entity", "list", "--doubts").out == "No names are in doubt.\n"


def test_nothing_is_changed_without_yes(cli: Cli) -> None:
    for args in (
        ("merge", "Via Roma", "Anna Rossi"),
        ("split", "Anna Rossi", shown(cli, "Anna Rossi")["facts"][0]),
        ("alias", "Anna Rossi", "the dentist"),
        ("alias", "Anna Rossi", "Anna Bianchi", "--never"),
        ("rename", "Anna Rossi", "Anna Maria Rossi"),
    ):
        before = shown(cli, "Anna Rossi")
        told = cli("entity", *args)
        assert told.out.endswith("Nothing was changed. Do it with --yes.\n")
        assert cli("entity", *args, "--json").json["run"] is None
        assert shown(cli, "Anna Rossi") == before


def test_a_declaration_is_carried_out_outlasts_the_next_run_and_is_undone(cli: Cli) -> None:
    before = shown(cli, "Anna Rossi")
    told = cli("entity", "rename", "Anna Rossi", "Anna Maria Rossi", "--yes")
    run = told.out.split("consolidate undo ")[1].strip()
    cli("remember", "Anna Rossi retired.")
    cli("run")
    after = shown(cli, "Anna Rossi")
    assert after["entity"]["name"] == "Anna Maria Rossi"
    assert after["entity"]["id"] == before["entity"]["id"]
    assert len(after["facts"]) == 3
    cli("undo", run)
    assert shown(cli, "Anna Rossi")["entity"]["name"] == "Anna Rossi"


def test_a_run_after_a_run_writes_nothing(cli: Cli) -> None:
    assert "Nothing new" in cli("run").out


def test_never_and_remove_do_not_go_together(cli: Cli) -> None:
    told = cli("entity", "alias", "Anna Rossi", "Ann", "--never", "--remove", code=2)
    assert "--never" in told.err


def test_output_for_programs_is_one_document(cli: Cli) -> None:
    told = cli("entity", "alias", "Anna Rossi", "the dentist", "--yes", "--json")
    assert json.loads(told.out)["act"] == "alias"
    assert shown(cli, "The  Dentist")["entity"]["name"] == "Anna Rossi"
