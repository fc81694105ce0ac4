"""The commands about the graph around an entity, lineage, claims, episodes and recaps."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import Cli

TOLD = (
    "Alice Meyer works at Acme Robotics.",
    "The office of Acme Robotics is in Porto.",
    "Bruno Sala plays chess with Carla Neri.",
)


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    """A command line over a memory that a run has seen."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    made = Cli(home=tmp_path, db=tmp_path / "memory.db")
    made.env["CONSOLIDATE_EXTRACTOR"] = "rules"
    made("remember", "--stated-at", "2026-01-02T10:00:00Z", *TOLD)
    made("run")
    return made


def fits(out: str) -> bool:
    return all(len(line) <= 80 for line in out.splitlines())


def fact(cli: Cli, text: str) -> str:
    return next(str(f["id"]) for f in cli("facts", "--json").json["facts"] if f["text"] == text)


def test_neighbors_are_drawn_with_predicates_and_facts(cli: Cli) -> None:
    told = cli("entity", "neighbors", "alice meyer", "--hops", "2")
    assert "Acme Robotics" in told.out and "employer" in told.out and "Porto" in told.out
    assert fits(told.out)
    out = cli("entity", "neighbors", "Acme Robotics", "--direction", "out", "--json").json
    into = cli("entity", "neighbors", "Acme Robotics", "--direction", "in", "--json").json
    assert "Alice Meyer" not in [each["name"] for each in out["neighbors"]]
    assert [each["name"] for each in into["neighbors"]] == ["Alice Meyer"]
    before = cli("entity", "neighbors", "Alice Meyer", "--as-of", "2025-01-01T00:00:00Z")
    assert "Nothing is joined to Alice Meyer" in before.out
    assert "did you mean Alice Meyer" in cli("entity", "neighbors", "Alise Meyer", code=1).err
    assert (
        "must be out, in or both"
        in cli("entity", "neighbors", "Alice Meyer", "--direction", "up", code=1).err
    )


def test_ppr_reaches_over_facts_and_says_what_it_does_not_know(cli: Cli) -> None:
    pytest.importorskip("scipy", reason="walks need scipy")
    told = cli("entity", "ppr", "Alice Meyer", "Zebedee")
    assert "'Zebedee' leads to no entity" in told.out
    assert TOLD[0] in told.out and "Porto" in told.out and "chess" not in told.out
    found = cli("entity", "ppr", "Zebedee", "--json").json
    assert (found["facts"], found["unknown"]) == ([], ["Zebedee"])


def test_extract_shows_whom_names_lead_to(cli: Cli) -> None:
    told = cli("entity", "extract", "Alice Meyer lives in Rome.", "--triples")
    assert "Alice Meyer" in told.out and "unknown" in told.out
    assert "Alice Meyer · residence · Rome" in told.out
    assert "names nothing" in cli("entity", "extract", "it rains").out


def test_one_is_linked_to_another_by_a_relation(cli: Cli) -> None:
    assert "Nothing was changed" in cli("entity", "link", "Bruno Sala", "advises", "Porto").out
    done = cli("entity", "link", "Bruno Sala", "advises", "Porto", "--yes", "--json").json
    (near,) = cli("entity", "neighbors", "Bruno Sala", "--direction", "out", "--json").json[
        "neighbors"
    ]
    assert (near["name"], near["predicates"]) == ("Porto", ["advises"])
    cli("delete", done["fact"], "--yes")
    into = cli("entity", "neighbors", "Porto", "--direction", "in", "--json").json["neighbors"]
    assert "Bruno Sala" not in [each["name"] for each in into]
    assert (
        "knows no entity 'Nobody'"
        in cli("entity", "link", "Nobody", "advises", "Porto", code=1).err
    )


def test_facts_are_linked_to_an_entity_that_they_do_not_name(cli: Cli) -> None:
    chess = fact(cli, TOLD[2])
    assert "Nothing was changed" in cli("entity", "link-facts", "Porto", chess).out
    done = cli("entity", "link-facts", "Porto", chess, "--yes", "--json").json
    assert chess in cli("entity", "show", "Porto", "--json").json["facts"]
    cli("undo", done["run"])
    assert chess not in cli("entity", "show", "Porto", "--json").json["facts"]


def test_facts_are_listed_by_id_and_by_entity(cli: Cli) -> None:
    office = fact(cli, TOLD[1])
    (one,) = cli("facts", office[:20], "--json").json["facts"]
    assert one["text"] == TOLD[1]
    told = cli("facts", "--entity", "acme robotics", "--json").json["facts"]
    assert {each["text"] for each in told} == {*TOLD[:2]}
    assert "knows no entity 'Nobody'" in cli("facts", "--entity", "Nobody", code=1).err
    assert "no fact 'nothing-like-it'" in cli("facts", "nothing-like-it", code=1).err
    assert "memory of 'bo'" in cli("facts", office, "--agent", "bo", code=1).err
    assert "don't go together" in cli("facts", office, "--all", code=2).err


def test_lineage_is_a_tree_of_what_was_replaced_and_named(cli: Cli) -> None:
    cli("remember", "--stated-at", "2026-02-02T10:00:00Z", "The port of Brant is 8080.")
    cli("remember", "--stated-at", "2026-03-02T10:00:00Z", "The port of Brant is 9090.")
    cli("run")
    new = fact(cli, "The port of Brant is 9090.")
    told = cli("lineage", new)
    lines = told.out.splitlines()
    assert lines[0].startswith("The port of Brant is 9090.")
    assert "it replaced: The port of Brant is 8080." in told.out
    assert "names: Brant" in told.out
    found = cli("lineage", new, "--json", "--direction", "backward", "--depth", "1").json
    assert {"superseded_by", "names"} == {edge["how"] for edge in found["edges"]}
    assert cli("lineage", "--entity", "brant").out.startswith("Brant")
    cli("lineage", new, "--direction", "up", code=2)


def test_claims_are_checked(cli: Cli) -> None:
    told = cli("claim", TOLD[0])
    assert told.out.startswith("supported: a fact says so")
    assert fits(told.out)
    assert cli("claim", "Alice Meyer keeps bees.", "--json").json["verdict"] == "unknown"


def test_an_episode_from_record_to_deletion(cli: Cli) -> None:
    linked = fact(cli, TOLD[1])
    kept = cli(
        "episode", "record", "Visit to Porto", "-", "--session", "trip", "--outcome", "fine",
        "--started-at", "2026-05-01T09:00:00Z", "--fact", linked, "--json",
        stdin="We saw the office.\nIt rained.",
    ).json["episode"]  # fmt: skip
    assert kept["text"] == "We saw the office.\nIt rained."
    again = cli("episode", "record", "Visit to Porto", "-", "--session", "trip",
                "--outcome", "fine", "--started-at", "2026-05-01T09:00:00Z",
                stdin="We saw the office.\nIt rained.")  # fmt: skip
    assert "(kept already)" in again.out
    listed = cli("episode", "list", "--session", "trip")
    assert "Visit to Porto" in listed.out and "2026-05-01" in listed.out and fits(listed.out)
    assert cli("episode", "list", "--fact", linked, "--json").json["total"] == 1
    assert "We saw the office." in cli("episode", "search", "rained").out
    assert "told in: Visit to Porto" in cli("lineage", linked).out
    assert "told of: " + TOLD[1] in cli("lineage", "--episode", kept["id"]).out
    shown = cli("episode", "show", kept["id"][:20])
    assert "It rained." in shown.out and TOLD[1] in shown.out
    assert "Nothing was deleted" in cli("episode", "delete", kept["id"]).out
    assert "Deleted." in cli("episode", "delete", kept["id"], "--yes").out
    assert "no such episodes" in cli("episode", "list").out
    cli("episode", "show", kept["id"], code=1)
    assert "no UTF-8" in cli("episode", "record", "x", "-", stdin=b"\xff\xfe", code=1).err


def test_an_agent_with_episodes_alone_is_listed(cli: Cli) -> None:
    cli("episode", "record", "Visit", "We met.", "--agent", "bo")
    rows = {row["agent"]: row for row in cli("agents", "--json").json["agents"]}
    assert (rows["bo"]["live"], rows["bo"]["episodes"]) == (0, 1)
    assert fits(cli("agents").out)


def test_an_episode_can_be_remembered_too(cli: Cli) -> None:
    told = cli("episode", "record", "Standup", "Dora Lind leads the harbour team.", "--remember")
    assert "Dora Lind leads the harbour team. (added)" in told.out


def test_a_recap_fits_the_terminal_and_is_json(cli: Cli) -> None:
    cli("remember", "--stated-at", "2026-02-02T10:00:00Z", "The port of Brant is 8080.")
    cli("remember", "--stated-at", "2026-03-02T10:00:00Z", "The port of Brant is 9090.")
    cli("remember", "--kind", "plan", "Paint the quay.")
    cli("run")
    cli("entity", "rename", "Brant", "Brent", "--yes")
    cli("episode", "record", "Move of Brant", "It listens elsewhere now.", "--session", "s")
    told = cli("recap", "--since", "2026-01-01T00:00:00Z")
    for part in ("Episodes", "Move of Brant", "Facts", "No longer holds", "Plans", "no date",
                 "Decided besides", "is called 'Brent'"):  # fmt: skip
        assert part in told.out
    assert fits(told.out)
    found = cli("recap", "s", "--json").json
    assert [each["title"] for each in found["episodes"]] == ["Move of Brant"]
    assert json.dumps(found)
    assert "'t'" in cli("recap", "t", code=1).err
