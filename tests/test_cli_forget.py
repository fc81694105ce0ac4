"""The commands forget, delete, purge, blocks, block, agents, facts and audit."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from command_line import Cli

from consolidate.exchange.formats import FORMATS
from consolidate.store import Store
from consolidate.types import FactStatus, NewFact

SAID = datetime(2026, 2, 3, tzinfo=UTC)
SAFE = "The code of the safe is behind the otter painting"


@pytest.fixture
def cli(tmp_path: Path) -> Cli:
    made = Cli(home=tmp_path, db=tmp_path / "memory.db")
    with Store.open(made.db) as store:
        store.add(
            [
                NewFact(id="safe-fact", text=SAFE, stated_at=SAID, source="user"),
                NewFact(id="ferry-plan", text="The ferry leaves at nine", kind="plan"),
            ],
            now=SAID,
        )
        store.add([NewFact(id="bo-fact", text="Bo mends nets", agent="bo")], now=SAID)
    return made


def ids(cli: Cli) -> set[str]:
    with Store.open(cli.db) as store:
        return {fact.id for fact in store.facts(statuses=None)}


def retire(cli: Cli, fact: str) -> None:
    with Store.open(cli.db) as store, store.atomic():
        store._db.write("UPDATE facts SET status = 'superseded' WHERE id = ?", (fact,))


def test_forget_shows_first_and_deletes_by_token(cli: Cli) -> None:
    out = cli("forget", "code", "of", "the", "safe", "--threshold", "0.5").out
    assert SAFE in out and "safe-fact" in out and "ferry" not in out
    token = out.rsplit("--token ", 1)[1].split()[0]
    assert "safe-fact" in ids(cli)
    assert "Deleted 1 fact for good." in cli("forget", "--token", token).out
    assert "safe-fact" not in ids(cli)
    assert b"otter" not in cli.db.read_bytes()
    assert "works once" in cli("forget", "--token", token, code=1).err


def test_forget_yes_does_both_and_allow_takes_it_back(cli: Cli) -> None:
    done = cli("forget", "code of the safe", "--yes", "--json").json
    assert (done["facts"], done["kept_out"], done["scrubbed"]) == (["safe-fact"], 1, True)
    assert "forgotten" in cli("remember", SAFE).out
    assert "may be stored again" in cli("forget", "--allow", SAFE).out
    assert "was not kept out" in cli("forget", "--allow", SAFE).out
    assert cli("remember", SAFE, "--json").json["facts"][0]["new"]


def test_forget_says_when_nothing_fits_and_refuses_a_mix(cli: Cli) -> None:
    assert "Nothing fits" in cli("forget", "submarine", "--threshold", "0.9").out
    for args in ((), ("x", "--scrub"), ("--token", "a", "--allow", "b")):
        assert "give one of" in cli("forget", *args, code=2).err
    assert "No bytes" in cli("forget", "--scrub").out


def test_delete_needs_yes_and_knows_the_agent(cli: Cli) -> None:
    assert "Nothing was deleted" in cli("delete", "safe-fact").out
    assert "safe-fact" in ids(cli)
    assert "memory of 'default'" in cli("delete", "bo-fact", "--yes", code=1).err
    cli("delete", "bo-fact", "--yes", "--agent", "bo")
    assert cli("delete", "ferry-plan", "safe-f", "--yes", "--json").json["facts"] == [
        "ferry-plan",
        "safe-fact",
    ]
    assert ids(cli) == set()


def test_purge_shows_first_and_takes_only_history(cli: Cli) -> None:
    retire(cli, "safe-fact")
    retire(cli, "bo-fact")
    assert "Nothing was deleted" in cli("purge").out
    shown = cli("purge", "--json").json
    assert {each["agent"]: len(each["facts"]) for each in shown["purged"]} == {
        "bo": 1,
        "default": 1,
    }
    cli("purge", "--agent", "bo", "--yes")
    assert ids(cli) == {"safe-fact", "ferry-plan"}
    cli("purge", "--before", "2026-01-01T00:00:00Z", "--yes")
    assert "safe-fact" in ids(cli)
    assert "--before" in cli("purge", "--before", "soon", code=2).err
    cli("purge", "--yes")
    assert ids(cli) == {"ferry-plan"}
    assert b"otter" not in cli.db.read_bytes()


def test_a_block_is_set_shown_appended_and_deleted(cli: Cli) -> None:
    assert "version 1, 9 of 50 characters" in cli(
        "block", "profile", "--set", "Likes tea", "--limit", "50"
    ).out  # fmt: skip
    assert cli("block", "profile").out == "Likes tea\n"
    cli("block", "profile", "--append", "-", stdin="Has a dog\n")
    shown = cli("block", "profile", "--json").json
    assert shown["block"]["content"] == "Likes tea\nHas a dog"
    assert (shown["block"]["version"], shown["size"]) == (2, 19)
    assert "may have 50" in cli("block", "profile", "--append", "x" * 60, code=1).err
    assert "version 2 by now" in cli("block", "profile", "--set", "x", "--version", "1", code=1).err
    history = cli("block", "profile", "--history", "--json").json["versions"]
    assert [each["version"] for each in history] == [2, 1]
    assert "Likes tea" in cli("block", "profile", "--history").out
    assert "of 70 characters" in cli("block", "profile", "--limit", "70").out
    assert "profile" in cli("blocks").out
    assert cli("blocks", "--agent", "bo", "--json").json == {"blocks": []}
    cli("block", "profile", "--delete")
    assert "has no block 'profile'" in cli("block", "profile", code=1).err
    assert "don't go together" in cli("block", "p", "--set", "x", "--history", code=2).err
    assert "There are no blocks" in cli("blocks").out


def test_agents_are_listed_with_what_each_has(cli: Cli) -> None:
    retire(cli, "safe-fact")
    cli("block", "profile", "--set", "x", "--agent", "cy")
    rows = {row["agent"]: row for row in cli("agents", "--json").json["agents"]}
    assert rows.keys() == {"bo", "cy", "default"}
    assert (rows["default"]["live"], rows["default"]["history"]) == (1, 1)
    assert rows["cy"]["blocks"] == 1
    assert "default" in cli("agents").out


def test_facts_are_listed_by_pages_kind_and_status(cli: Cli) -> None:
    assert {row["id"] for row in cli("facts", "--json").json["facts"]} == ids(cli)
    page = cli("facts", "--limit", "2", "--json").json
    assert (len(page["facts"]), page["more"]) == (2, True)
    rest = cli("facts", "--limit", "2", "--offset", "2", "--json").json
    assert (len(rest["facts"]), rest["more"]) == (1, False)
    assert "--offset 2" in cli("facts", "--limit", "2").out
    assert [f["id"] for f in cli("facts", "--kind", "plan", "--json").json["facts"]] == [
        "ferry-plan"
    ]
    retire(cli, "safe-fact")
    assert "otter" not in cli("facts", "--agent", "default").out
    for option in (("--superseded",), ("--status", "superseded"), ("--all",)):
        assert "safe-fact" in cli("facts", *option).out
    assert "is none of" in cli("facts", "--status", "odd", code=2).err
    assert "don't go together" in cli("facts", "--all", "--superseded", code=2).err
    assert "no such facts" in cli("facts", "--kind", "dream").out
    assert set(FactStatus) >= {"superseded"}


def test_audit_changes_nothing_and_shows_no_secret(cli: Cli, tmp_path: Path) -> None:
    file = tmp_path / "facts.jsonl"
    rows = [
        {"text": "The wifi password is Blue-Heron-77", "date": "2026-01-01T00:00:00Z"},
        {"text": "<p>The kiln is hot</p>"},
        {"text": "The kiln is in the yard", "date": "2026-01-03T00:00:00Z"},
        {"text": "The kiln is in the yard.", "date": "2026-01-04T00:00:00Z"},
    ]
    file.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    before = cli.db.read_bytes()
    found = cli("audit", str(file), "--json").json
    assert found["format"] == "jsonl"
    audit = found["audit"]
    assert [each["what"] for each in audit["secrets"]] == ["password"]
    assert [each["what"] for each in audit["junk"]] == ["HTML"]
    assert audit["repeats"] == 1
    shown = cli("audit", str(file), "--quick").out
    assert "Blue-Heron" not in shown + json.dumps(found)
    assert "password" in shown and "word for word" in shown
    assert cli.db.read_bytes() == before
    preview = cli("import", str(file), "--preview", "--json").json
    assert preview["audit"]["repeats"] == 1 and preview["new"] == 4
    assert "What is in the file" in cli("import", str(file), "--preview", "--quick").out
    assert len(ids(cli)) == 3


def test_a_folder_of_notes_is_imported_and_a_wrong_format_refused(cli: Cli, tmp_path: Path) -> None:
    notes = tmp_path / "notes" / "deep"
    notes.mkdir(parents=True)
    (notes / "a.md").write_text("# A\n- Keeps bees\n", encoding="utf-8")
    (notes.parent / "b.markdown").write_text("- Plays chess\n", encoding="utf-8")
    (notes / "c.txt").write_text("- Not read\n", encoding="utf-8")
    assert cli("import", str(notes.parent), "--json").json["new"] == 2
    assert cli("import", str(notes.parent), "--json").json["new"] == 0
    assert "none of auto" in cli("import", str(notes), "--format", "odd", code=2).err


def test_help_of_import_names_every_format(cli: Cli) -> None:
    shown = "".join(cli("import", "--help").out.split())  # words are broken at hyphens
    assert not [form for form in FORMATS if form not in shown]
