"""The commands that find facts: recall, search, decay, pin, unpin."""

from __future__ import annotations

import os
import stat
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from command_line import Cli

from consolidate.store import Store
from consolidate.types import NewFact

OLD = datetime.now(UTC) - timedelta(days=200)


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    made = Cli(home=tmp_path, db=tmp_path / "memory.db")
    with Store.open(made.db) as store:
        store.add(
            [
                NewFact(text="The harbour is closed.", stated_at=OLD, source="user"),
                NewFact(text="The ferry leaves at nine.", kind="plan", source="web"),
            ],
            now=datetime.now(UTC),
        )
        store.add([NewFact(text="The tent is in the attic.", intensity=0.3)], now=OLD)
        store.add([NewFact(text="Bo sees the harbour.", agent="bo")], now=datetime.now(UTC))
    return made


def test_recall_shows_score_fact_source_and_id(cli: Cli) -> None:
    out = cli("recall", "is", "the", "harbour", "open?").out
    first = out.splitlines()[1]
    assert "The harbour is closed." in first
    assert "user" in first
    assert "attic" not in out
    assert "Bo" not in out


def test_recall_as_json_says_how_each_was_found(cli: Cli) -> None:
    found = cli("recall", "harbour", "--limit", "1", "--json").json
    assert found["used"] == ["meaning", "words"]
    (only,) = found["recalled"]
    assert only["fact"]["text"] == "The harbour is closed."
    assert only["found_by"] == ["meaning", "words"]
    assert 0 < only["score"] <= 1


def test_recall_keeps_to_kind_history_and_date(cli: Cli) -> None:
    assert cli("recall", "ferry harbour", "--kind", "plan", "--json").json["recalled"][0]["fact"][
        "kind"
    ] == "plan"  # fmt: skip
    assert "attic" in cli("recall", "tent", "--history").out
    then = (OLD + timedelta(days=1)).isoformat()
    assert "attic" in cli("recall", "tent", "--as-of", then).out
    assert (
        "Nothing was found."
        in cli("recall", "harbour", "--as-of", (OLD - timedelta(days=1)).isoformat()).out
    )


def test_recall_counts_a_use(cli: Cli) -> None:
    cli("recall", "harbour")
    with Store.open(cli.db) as store:
        assert store._db.value("SELECT count(*) FROM uses") >= 1


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (("recall",), 2, "QUERY"),
        (("recall", "x", "--as-of", "soon"), 2, "--as-of"),
        (("recall", "x", "--limit", "0"), 2, "limit"),
        (("recall", " "), 1, "query"),
        (("pin", "nothing-like-it"), 1, "no fact"),
    ],
)
def test_what_can_not_be_done_is_said(
    cli: Cli, arguments: tuple[str, ...], code: int, words: str
) -> None:
    assert words in cli(*arguments, code=code).err


def test_no_command_makes_a_store(cli: Cli) -> None:
    cli.db = cli.home / "none.db"
    for arguments in (("recall", "x"), ("search", "x"), ("decay",), ("pin", "abcdef")):
        assert "no store" in cli(*arguments, code=1).err
    assert not cli.db.exists()


def test_an_agent_without_facts_is_hinted_at(cli: Cli) -> None:
    assert "there are bo, default" in cli("recall", "harbour", "--agent", "boo").err


def test_a_model_that_is_not_there_is_noted_and_words_do(cli: Cli) -> None:
    cli.env["CONSOLIDATE_EMBEDDER"] = "onnx:/nowhere"
    done = cli("recall", "harbour")
    assert "The harbour is closed." in done.out
    assert "found by words only" in done.err


def test_search_needs_no_model_and_looks_at_all_agents(cli: Cli) -> None:
    cli.env["CONSOLIDATE_EMBEDDER"] = "onnx:/nowhere"
    out = cli("search", "harbour").out
    assert "The harbour is closed." in out
    assert "Bo sees the harbour." in out
    assert "Bo" not in cli("search", "harbour", "--agent", "default").out
    assert cli("search", "the", "--kind", "plan", "--json").json["facts"][0]["kind"] == "plan"
    assert "Nothing" in cli("search", "zeppelin").out


def test_decay_shows_what_has_left_and_pin_keeps_it(cli: Cli) -> None:
    (left,) = cli("decay", "--preview", "--json").json["fading"]
    assert left["left"] is True
    assert left["fact"]["text"] == "The tent is in the attic."
    assert "attic" in cli("decay").out
    assert "(pinned)" in cli("pin", left["fact"]["id"]).out
    assert "(pinned already)" in cli("pin", left["fact"]["id"]).out
    assert "No fact has left recall" in cli("decay").out
    assert "attic" in cli("recall", "tent").out
    assert cli("unpin", left["fact"]["id"], "--json").json["facts"][0]["changed"] is True
    # Being recalled while it was pinned was a use.
    assert "attic" in cli("decay", "--days", "100").out
    assert "attic" in cli("recall", "tent").out


def test_pinning_is_all_or_nothing(cli: Cli) -> None:
    fact = cli("search", "ferry", "--json").json["facts"][0]["id"]
    cli("pin", fact, "nothing-like-it", code=1)
    with Store.open(cli.db) as store:
        assert store.pinned() == []


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_file_that_may_not_be_written_is_recalled_from(cli: Cli) -> None:
    cli.db.chmod(stat.S_IRUSR)
    assert "harbour" in cli("recall", "harbour").out
