"""Each command does what it says, for people and as JSON, with the right exit code."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli

from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import FactStatus

OLD, NEW = "The office is in Bonn", "The office is in Ghent"


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    return Cli(home=tmp_path, db=tmp_path / "memory.db")


@pytest.fixture
def updated(cli: Cli) -> Cli:
    """A store in which one fact contradicts an older one."""
    cli("remember", OLD, "--stated-at", "2025-01-01T00:00:00Z")
    cli("remember", NEW, "--stated-at", "2026-01-01T00:00:00Z")
    return cli


def texts(cli: Cli, *statuses: FactStatus) -> list[str]:
    with Store.open(cli.db, create=False) as store:
        found = store.facts(statuses=statuses) if statuses else store.facts()
        return [fact.text for fact in found]


def dump(cli: Cli) -> list[str]:
    with Store.open(cli.db, create=False) as store:
        return [*store.dump(derived=True)]


# ---- init, remember, stats


def test_init_makes_a_database_and_leaves_one_that_is_there(cli: Cli) -> None:
    cli.db = cli.home / "new folder" / "ö" / "データ.db"
    assert cli("init").out.startswith("Made: ")
    assert cli("init").out.startswith("Already there: ")
    assert cli("init", "--json").json == {"db": str(cli.db), "created": False}


def test_remember_stores_each_quoted_text(cli: Cli) -> None:
    found = cli("remember", "Likes tea", "Likes jam", "--json").json["facts"]
    assert [(fact["text"], fact["new"]) for fact in found] == [
        ("Likes tea", True),
        ("Likes jam", True),
    ]
    assert texts(cli) == ["Likes tea", "Likes jam"]


def test_words_without_quotes_are_one_sentence(cli: Cli) -> None:
    cli("remember", "I", "like", "tea")
    assert texts(cli) == ["I like tea"]


@pytest.mark.parametrize("args", [(), ("-",)])
def test_remember_reads_one_fact_a_line_from_standard_input(cli: Cli, args: tuple[str]) -> None:
    cli("remember", *args, stdin="Likes tea\n\n  Likes jam \n")
    assert texts(cli) == ["Likes tea", "Likes jam"]


def test_remember_takes_what_is_known_about_a_fact(cli: Cli) -> None:
    about = ("--kind", "plan", "--source", "tool:ci", "--metadata", '{"a": [1]}')
    when = ("--stated-at", "2026-01-01T09:00", "--timezone", "Asia/Tokyo")
    cli("remember", "x y", "--agent", "ada", *about, *when)
    with Store.open(cli.db, create=False) as store:
        (fact,) = store.facts()
    assert (fact.kind, fact.source, fact.agent, fact.metadata) == (
        "plan", "tool:ci", "ada", {"a": [1]},
    )  # fmt: skip
    assert fact.stated_at is not None
    assert fact.stated_at.isoformat() == "2026-01-01T00:00:00+00:00"


def test_a_fact_is_stated_now_by_the_user_unless_told(cli: Cli) -> None:
    cli("remember", "Likes tea")
    cli("remember", "Likes jam", "--stated-at", "unknown")
    with Store.open(cli.db, create=False) as store:
        tea, jam = store.facts()
    assert (tea.source, tea.stated_at, jam.stated_at) == ("user", tea.recorded_at, None)


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (("x y", "--stated-at", "2026-01-01"), "--timezone"),
        (("x y", "--stated-at", "soon"), "is not a time"),
        (("x y", "--metadata", "[]"), "must be a JSON object"),
        (("x y", "--metadata", "{"), "no valid JSON"),
        ((" ",), "blank"),
        (("nul \0 inside",), "NUL"),
    ],
)
def test_what_can_not_be_remembered_is_refused_with_the_reason(
    cli: Cli, args: tuple[str, ...], part: str
) -> None:
    # The value of an option is wrong usage; a text is not an option.
    result = cli("remember", *args, code=2 if len(args) > 1 else 1)
    assert part in result.err
    assert result.err.startswith("Error: ")
    assert result.out == ""


def test_standard_input_is_utf8_with_or_without_a_mark(cli: Cli) -> None:
    cli("remember", stdin=b"\xef\xbb\xbfLikes tea\n")
    assert texts(cli) == ["Likes tea"]
    assert "line 2 is not UTF-8" in cli("remember", stdin=b"Likes jam\ncaf\xe9\n", code=1).err
    assert texts(cli) == ["Likes tea"]


def test_a_fact_from_the_future_is_taken_with_a_warning(cli: Cli) -> None:
    assert "in the future" in cli("remember", "x y", "--stated-at", "2999-01-01T00:00:00Z").err
    assert texts(cli) == ["x y"]


def test_a_mistyped_agent_is_hinted_at(cli: Cli) -> None:
    cli("remember", "Likes tea", "--agent", "ada")
    for command in ("run", "stats"):
        assert "there are ada" in cli(command, "--agent", "adda").err
        assert "there are" not in cli(command, "--agent", "ada").err


@pytest.mark.parametrize(
    ("args", "part"),
    [
        (("run", "--set", "a=b"), "--set a: there is no setting"),
        (("run", "--set", "threads=-1"), "--set threads: must be"),
        (("run", "--profile", "bold"), "--profile: must be"),
        (("remember", "x y", "--timezone", "Mars"), "--timezone: must be"),
    ],
)
def test_wrong_values_of_options_are_wrong_usage(
    cli: Cli, args: tuple[str, ...], part: str
) -> None:
    assert part in cli(*args, code=2).err


def test_stats_count_everything_or_one_agent(cli: Cli) -> None:
    cli("remember", "Likes tea")
    cli("remember", "Likes jam", "--agent", "ada")
    assert cli("stats", "--json").json["counts"]["facts"] == 2
    assert cli("stats", "--agent", "ada", "--json").json["counts"]["facts"] == 1
    assert "ada" in cli("stats").out


# ---- plan, apply, run, undo, report, history


def test_a_run_retires_what_no_longer_holds_and_says_how_to_take_it_back(updated: Cli) -> None:
    out = updated("run").out
    assert "No longer holds: 1" in out
    assert OLD in out
    assert "why: " in out
    assert "consolidate undo run-" in out
    assert texts(updated) == [NEW]
    assert texts(updated, FactStatus.SUPERSEDED) == [OLD]


def test_a_second_run_finds_nothing_new(updated: Cli) -> None:
    updated("run")
    before = dump(updated)
    assert updated("run").out == "Nothing new: no model was asked, nothing was written.\n"
    document = updated("run", "--json").json
    assert document["nothing_new"] is True
    assert document["receipt"] is None
    assert dump(updated) == before


def test_a_plan_shows_and_changes_nothing(updated: Cli) -> None:
    before = dump(updated)
    out = updated("plan").out
    assert "No longer holds: 1" in out
    assert "Nothing was changed" in out
    assert [row for row in dump(updated) if row.startswith('["facts"')] == [
        row for row in before if row.startswith('["facts"')
    ]


def test_a_plan_written_to_a_file_can_be_applied_later(updated: Cli) -> None:
    updated("plan", "--out", "plan.json")
    receipt = updated("apply", "plan.json", "--json").json
    assert receipt["applied"] == {"supersede": 1}
    assert texts(updated) == [NEW]
    assert "was applied before" in updated("apply", "plan.json").out


def test_a_plan_as_json_is_what_apply_takes_from_a_pipe(updated: Cli) -> None:
    plan = updated("plan", "--json").out
    assert json.loads(plan)["decisions"]
    assert "Applied as run-" in updated("apply", "-", stdin=plan).out


def test_a_stale_plan_is_refused(updated: Cli) -> None:
    updated("plan", "--out", "plan.json")
    updated("run", "--set", "supersede=false")  # changes both facts: they wait for a review
    before = dump(updated)
    assert "out of date" in updated("apply", "plan.json", code=1).err
    assert dump(updated) == before


def test_a_broken_plan_is_refused(updated: Cli) -> None:
    Path("plan.json").write_text("{}", encoding="utf-8")
    assert "no plan" in updated("apply", "plan.json", code=1).err
    Path("x.txt").write_text("hello", encoding="utf-8")
    assert "'x.txt' is no plan: it is no JSON\n" in updated("apply", "x.txt", code=1).err
    assert "there is no file" in updated("apply", "none.json", code=1).err


def test_a_plan_of_another_agent_is_refused(updated: Cli) -> None:
    updated("plan", "--out", "plan.json")
    assert "agent 'default'" in updated("apply", "plan.json", "--agent", "ada", code=1).err


def test_undo_brings_everything_back_and_the_same_is_not_done_again(updated: Cli) -> None:
    before = [row for row in dump(updated) if row.startswith('["facts"')]
    updated("run")
    out = updated("undo", "last").out
    assert "rows are as they were" in out
    assert [row for row in dump(updated) if row.startswith('["facts"')] == before
    assert "was undone before" in updated("undo", "last").out
    updated("run")
    assert texts(updated) == [OLD, NEW]
    updated("run", "--include-undone")
    assert texts(updated) == [NEW]


def test_undo_of_an_unknown_run_says_so(updated: Cli) -> None:
    assert "no run" in updated("undo", "run-x", code=1).err
    assert "has no run yet" in updated("undo", "last", code=1).err


def test_last_is_the_last_run_of_the_agent(updated: Cli) -> None:
    updated("run")
    for number, day in enumerate(("2025-01-01", "2026-01-01")):
        updated("remember", (OLD, NEW)[number], "--agent", "ada",
                "--stated-at", f"{day}T00:00:00Z")  # fmt: skip
    hers = updated("run", "--agent", "ada", "--json").json["receipt"]["run"]
    mine = updated("report", "--json").json["run"]["id"]
    assert mine != hers
    assert updated("report", "--agent", "ada", "--json").json["run"]["id"] == hers


def test_a_report_tells_decisions_funnel_and_stages(updated: Cli) -> None:
    run = updated("run", "--json").json["receipt"]["run"]
    for args in ((), (run,), ("last",)):
        out = updated("report", *args).out
        assert run in out
        assert "No longer holds: 1" in out
        assert "classify" in out
    document = updated("report", "--json").json
    assert set(document["texts"].values()) == {OLD, NEW}
    assert document["report"]["decisions"][0]["kind"] == "supersede"


def test_history_tells_both_directions(updated: Cli) -> None:
    updated("run")
    with Store.open(updated.db) as store:
        old, new = store.facts(statuses=None)
    out = updated("history", old.id).out
    assert "What took its place" in out
    assert NEW in out
    assert "superseded on " in out
    assert "What it took the place of" in updated("history", new.id).out
    assert updated("history", old.id, "--json").json["after"][0]["to"] == new.id
    assert "no fact" in updated("history", "nothing-like-it", code=1).err


def test_history_of_a_lone_fact(cli: Cli) -> None:
    fact = cli("remember", "Likes tea", "--json").json["facts"][0]["id"]
    assert "Nothing took its place" in cli("history", fact).out


def test_another_embedding_model_needs_reembed(updated: Cli) -> None:
    updated("run")
    updated("remember", "Something else entirely")
    updated.env["CONSOLIDATE_EMBEDDER"] = "fake:128"
    assert "--reembed" in updated("run", code=1).err
    assert "In numbers" in updated("run", "--reembed").out


def test_set_and_profile_reach_the_run(updated: Cli) -> None:
    updated("run", "--set", "supersede=false")
    assert texts(updated, FactStatus.SUPERSEDED) == []
    assert updated("review", "list", "--json").json["reviews"]
    settings = updated("settings", "--profile", "careful", "--set", "hub-size=9", "--json").json
    assert settings["settings"]["profile"] == "careful"
    assert settings["origins"]["hub_size"] == "--set hub_size"


# ---- review


@pytest.fixture
def asked(updated: Cli) -> Cli:
    """A store with one open review."""
    updated("run", "--set", "supersede=false")
    return updated


def review_id(cli: Cli) -> str:
    (review,) = cli("review", "list", "--json").json["reviews"]
    return str(review["id"])


def test_reviews_are_listed_with_what_accepting_does(asked: Cli) -> None:
    out = asked("review", "list").out
    assert OLD in out
    assert NEW in out
    assert "accepting: would retire the first" in out


def test_a_tie_says_which_facts_can_be_kept(cli: Cli) -> None:
    cli("remember", "Ada drives a red car.", "Ada drives a blue car.")
    cli("run")
    out = " ".join(cli("review", "list").out.split())
    with Store.open(cli.db) as store:
        assert all(f"--keep {fact.id}" in out for fact in store.facts())


def test_an_accepted_review_is_carried_out_and_can_be_undone(asked: Cli) -> None:
    out = asked("review", "accept", review_id(asked)).out
    assert "Accepted (1 supersede)" in out
    assert texts(asked) == [NEW]
    asked("undo", "last")
    assert sorted(texts(asked)) == sorted([OLD, NEW])


def test_keep_turns_a_review_round(asked: Cli) -> None:
    with Store.open(asked.db) as store:
        old, _ = store.facts()
    asked("review", "accept", review_id(asked), "--keep", old.id)
    assert texts(asked) == [OLD]
    with Store.open(asked.db) as store:
        (new,) = store.facts(statuses=[FactStatus.SUPERSEDED])
    assert new.valid_to is None  # it can't have ended before it was said


def test_a_review_named_twice_is_decided_once(asked: Cli) -> None:
    known = review_id(asked)
    assert len(asked("review", "accept", known, known[:12], "--json").json["receipts"]) == 1


def test_a_rejected_review_leaves_both_and_is_not_asked_again(asked: Cli) -> None:
    out = asked("review", "reject", review_id(asked)).out
    assert "both stay" in out
    assert "Take it back with: consolidate undo run-" in out
    assert "A review was rejected" in asked("report").out
    assert texts(asked) == [OLD, NEW]
    asked("run")
    assert "No reviews are open." in asked("review", "list").out
    assert len(asked("review", "list", "--all", "--json").json["reviews"]) == 1


def test_an_unknown_review_is_an_error(asked: Cli) -> None:
    assert "no review" in asked("review", "accept", "nothing-like-it", code=1).err
    asked("review", "accept", "a", "b", "--keep", "c", code=2)


# ---- import, export


def test_an_export_comes_back_through_the_command_line(asked: Cli) -> None:
    asked("export", "all.jsonl")
    first = Path("all.jsonl").read_bytes()
    piped = asked("export").out.encode()
    assert piped.split(b"\n")[1:] == first.split(b"\n")[1:]
    asked.db = asked.home / "other.db"
    assert "new" in asked("import", "all.jsonl").out
    asked("export", "again.jsonl")
    assert Path("again.jsonl").read_bytes().split(b"\n")[1:] == first.split(b"\n")[1:]
    assert asked("import", "all.jsonl", "--json").json["new"] == 0


def test_the_database_is_never_written_over(updated: Cli) -> None:
    before = dump(updated)
    assert "the database itself" in updated("export", str(updated.db), code=1).err
    assert "the database itself" in updated("plan", "--out", "memory.db", code=1).err
    assert dump(updated) == before


def test_a_place_that_can_not_be_written_is_named_as_the_user_did(updated: Cli) -> None:
    err = updated("export", "nodir/x.jsonl", code=1).err
    assert err == "Error: can't write 'nodir/x.jsonl': there is no folder 'nodir'\n"
    assert updated("export", ".", code=1).err == "Error: '.' is a folder; name a file\n"


def test_a_file_of_which_nothing_can_be_used_fails(cli: Cli) -> None:
    Path("facts.jsonl").write_text("{broken\n{broken\n", encoding="utf-8")
    result = cli("import", "facts.jsonl", code=1)
    assert "nothing in the file could be used" in result.err
    assert "Done" not in result.out


def test_a_preview_counts_and_does_not_even_make_the_file(cli: Cli) -> None:
    Path("facts.jsonl").write_text('{"memory": "Likes tea"}\n{broken\n', encoding="utf-8")
    result = cli("import", "facts.jsonl", "--preview")
    assert "Nothing was changed" in result.out
    assert "text=memory" in result.out
    assert "line 2: no valid JSON" in result.err
    assert not cli.db.exists()
    document = cli("import", "facts.jsonl", "--preview", "--json").json
    assert (document["new"], document["known"], len(document["broken"])) == (1, 0, 1)


def test_a_broken_line_is_told_and_the_rest_comes_in(cli: Cli) -> None:
    Path("facts.jsonl").write_text(
        '{"text": "Likes tea"}\n{broken\n{"text": "Likes jam"}\n', encoding="utf-8"
    )
    assert cli("import", "facts.jsonl").err.startswith("line 2: ")
    assert texts(cli) == ["Likes tea", "Likes jam"]


def test_strict_takes_in_nothing_and_fails(cli: Cli) -> None:
    Path("facts.jsonl").write_text('{"text": "Likes tea"}\n{broken\n', encoding="utf-8")
    result = cli("import", "facts.jsonl", "--strict", code=1)
    assert "--strict" in result.err
    assert texts(cli) == []


def test_import_reads_a_map_a_zone_and_standard_input(cli: Cli) -> None:
    csv = "claim;when\nLikes tea;2026-01-01 09:00\n"
    cli("import", "-", "--format", "csv", "--map", "text=claim,stated_at=when",
        "--timezone", "Europe/Athens", "--kind", "preference", stdin=csv)  # fmt: skip
    with Store.open(cli.db) as store:
        (fact,) = store.facts()
    assert fact.kind == "preference"
    assert fact.stated_at is not None
    assert fact.stated_at.hour == 7


def test_many_broken_lines_do_not_fill_the_screen(cli: Cli) -> None:
    Path("facts.jsonl").write_text("{broken\n" * 100 + '{"text": "x y"}\n', encoding="utf-8")
    err = cli("import", "facts.jsonl").err
    assert len(err.splitlines()) == 21
    assert "and 80 more" in err


@pytest.mark.parametrize(
    ("args", "code", "part"),
    [
        (("none.jsonl",), 1, "there is no file"),
        ((".",), 1, "the folder '.' holds no Markdown"),
        (("f.jsonl", "--format", "xml"), 2, "is none of"),
        (("f.jsonl", "--map", "txt=a"), 2, "there is no field"),
    ],
)
def test_wrong_imports_are_told(cli: Cli, args: tuple[str, ...], code: int, part: str) -> None:
    assert part in cli("import", *args, code=code).err


# ---- settings, models, doctor


def test_settings_show_where_each_value_came_from(cli: Cli) -> None:
    Path("consolidate.toml").write_text("hub_size = 30\n", encoding="utf-8")
    out = cli("settings").out
    rows = {line.split()[0]: line.split()[1:] for line in out.splitlines() if line.split()}
    assert rows["hub_size"] == ["30", "consolidate.toml"]
    assert rows["embedder"] == ["fake", "CONSOLIDATE_EMBEDDER"]
    assert rows["neighbours"] == [str(Settings().neighbours), "default"]


def test_all_wrong_settings_are_told_at_once(cli: Cli) -> None:
    Path("consolidate.toml").write_text("hubsize = 30\nthreads = -1\n", encoding="utf-8")
    err = cli("stats", code=1).err
    assert len(err.splitlines()) == 2
    assert "did you mean 'hub_size'?" in err


def test_the_database_comes_from_option_variable_file_or_data_folder(cli: Cli) -> None:
    assert cli("init", "--db", "a.db", "--json").json["db"] == "a.db"
    assert cli("init", "--json").json["db"] == str(cli.db)
    Path("consolidate.toml").write_text('db = "c.db"\n', encoding="utf-8")
    cli.env |= {"CONSOLIDATE_DB": "", "XDG_DATA_HOME": str(cli.home / "data")}
    cli.env["HOME"] = str(cli.home)

    def where() -> Any:
        return json.loads(cli.process("settings", "--json").stdout)["effective"]["database"]

    assert where() == "c.db"
    Path("consolidate.toml").unlink()
    assert where() == str(cli.home / "data" / "consolidate" / "memory.db")


def test_models_are_listed_with_identity_or_problem(cli: Cli) -> None:
    assert "fake:bag-of-words" in cli("models", "list").out
    cli.env["CONSOLIDATE_CLASSIFIER"] = "onnx:/nowhere/at/all"
    document = cli("models", "list", "--json").json
    (classifier,) = [model for model in document["models"] if model["role"] == "classifier"]
    assert classifier["identity"] is None
    assert "/nowhere/at/all" in classifier["problem"]


def test_the_path_of_a_model_is_found_by_name_or_setting(cli: Cli) -> None:
    name = cli("models", "list", "--json").json["listed"][0]["name"]
    assert cli("models", "path", f"onnx:{name}").out == cli("models", "path", name).out
    assert "`consolidate models list`. Models" in cli("models", "path", "zzzzzz", code=1).err


def test_the_doctor_is_content_with_a_sound_store(cli: Cli) -> None:
    cli("init")
    out = cli("doctor").out
    assert "All that is needed is there." in out
    names = [check["name"] for check in cli("doctor", "--json").json["checks"]]
    assert names == ["python", "sqlite", "clock", "folder", "space", "embedder", "extractor",
                     "classifier", "network", "model files", "database"]  # fmt: skip


def test_the_doctor_fails_with_a_remedy(cli: Cli) -> None:
    cli.env["CONSOLIDATE_EMBEDDER"] = "onnx:/nowhere/at/all"
    result = cli("doctor", code=1)
    assert "fail embedder: set another one with --set embedder=..." in result.out
    assert "warn database: make one with `consolidate init`" in result.out
    assert cli("doctor", "--json", code=1).json["sound"] is False


def test_the_doctor_sees_a_file_that_is_no_database(cli: Cli) -> None:
    cli.db.write_text("not a database, but long enough to be taken for one" * 100)
    assert "fail  database" in cli("doctor", code=1).out


# ---- demo


def test_the_demo_shows_before_and_after_and_then_nothing_new(cli: Cli) -> None:
    out = cli("demo", "demo.db").out
    places = [out.index(part) for part in ("Before", "A look at the mess", "Said more than once",
                                           "In numbers", "Applied as", "After")]  # fmt: skip
    assert places == sorted(places)
    again = cli("demo", "demo.db").out
    assert "Nothing new" in again
    assert "Before" not in again
    assert not cli.db.exists()


def test_the_demo_shows_a_few_decisions_or_all(cli: Cli) -> None:
    few = cli("demo", "a.db").out
    everything = cli("demo", "b.db", "--all").out
    assert len(few.splitlines()) <= len(everything.splitlines())
    assert "--all shows them" not in everything


def test_the_demo_never_touches_a_store_of_ones_own(cli: Cli) -> None:
    cli("remember", "Likes tea")
    before = dump(cli)
    assert "facts of your own" in cli("demo", str(cli.db), code=1).err
    assert "not thrown away" in cli("demo", str(cli.db), "--fresh", code=1).err
    assert dump(cli) == before


def test_a_fresh_demo_starts_again(cli: Cli) -> None:
    cli("demo", "demo.db")
    assert "Before" in cli("demo", "demo.db", "--fresh").out
    assert cli("demo", "demo.db", "--fresh", "--json").json["nothing_new"] is False


# ---- all of them


def test_every_command_offers_json_agent_and_db(cli: Cli) -> None:
    import typer

    from consolidate.cli.app import app

    def leaves(command: Any, path: tuple[str, ...]) -> Any:
        children = getattr(command, "commands", None)
        if children is None:
            yield path, {option for param in command.params for option in param.opts}
        else:
            for name, child in children.items():
                yield from leaves(child, (*path, name))

    found = dict(leaves(typer.main.get_command(app), ()))
    assert len(found) > 30
    # Model files belong to the machine, not to a store.
    less: dict[tuple[str, ...], set[str]]
    less = {("models", name): {"--json"} for name in ("fetch", "verify", "remove", "path")}
    # It speaks JSON alone, and which agent is meant stands in each call.
    less[("serve",)] = {"--db"}
    less |= {("agents",): {"--json", "--db"}, ("audit",): {"--json", "--agent"}}
    for path, options in found.items():
        assert less.get(path, {"--json", "--agent", "--db"}) <= options, path


@pytest.mark.parametrize(
    "args",
    [
        ("init",),
        ("remember", "Likes tea"),
        ("export",),
        ("plan",),
        ("run",),
        ("report",),
        ("stats",),
        ("settings",),
        ("models", "list"),
        ("doctor",),
        ("schedule",),
        ("review", "list"),
        ("undo", "last"),
    ],
)
def test_json_is_one_document_and_nothing_else(updated: Cli, args: tuple[str, ...]) -> None:
    updated("run", "--profile", "careful")
    result = updated(*args, "--json")
    assert isinstance(result.json, dict)
    assert result.err == ""
    assert result.out.isascii()


def test_an_error_is_a_document_too_when_json_is_asked_for(cli: Cli) -> None:
    result = cli("stats", "--json", code=1)
    assert result.json["error"]["kind"] == "NotFoundError"
    assert "consolidate init" in result.json["error"]["message"]
    assert len(result.err.splitlines()) == 1
