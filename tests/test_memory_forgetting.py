"""Forgetting: a look first, then really gone, and not back again."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from builders import day, said
from pipelines import FAKE_SETTINGS
from pipelines import Memory as Pipeline

from consolidate.errors import InputError, NotFoundError, StalePlanError, UndoConflictError
from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.memory import open_memory
from consolidate.memory.forgetting import ForgettingPart
from consolidate.memory.memory import Memory
from consolidate.store import Store
from consolidate.store.migrations import own_tables
from consolidate.store.tokens import TOKEN_LASTS
from consolidate.types import FactStatus, Group, Groups, Mention, Relation

OLD = "Wilhelmina Quackenbush lives in Fiddlestick"
NEW = "Wilhelmina Quackenbush lives in Balderdash"
AGAIN = "Balderdash is where Wilhelmina Quackenbush lives"
OTHER = "The greenhouse needs a new pane"
WORDS = (b"quackenbush", b"balderdash", b"wilhelmina", b"fiddlestick")

TABLE = {
    (OLD, NEW): Relation.CONTRADICTS,
    (OLD, AGAIN): Relation.CONTRADICTS,
    (AGAIN, NEW): Relation.EQUIVALENT,
}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "memory.db"


@pytest.fixture
def memory(path: Path) -> Iterator[Memory]:
    with open_memory(path, settings=FAKE_SETTINGS) as opened:
        yield opened


def bytes_of(path: Path) -> bytes:
    """The file and its log, in lower case, since the text index holds words so."""
    log = Path(f"{path}-wal")
    return (path.read_bytes() + (log.read_bytes() if log.exists() else b"")).lower()


def lived(memory: Memory) -> str:
    """A memory with a past: OLD was superseded by NEW, into which AGAIN was merged."""
    pipeline = Pipeline(memory.store, TABLE)
    pipeline.add(
        said(OLD, 1, id="old"), said(NEW, 50, id="new"), said(OTHER, 2, id="other"),
        said(AGAIN, 60, id="again", metadata={"note": "from Quackenbush herself"}),
    )  # fmt: skip
    run = pipeline.run().receipt
    assert run is not None
    facts = pipeline.all()
    assert facts["old"].status is FactStatus.SUPERSEDED
    assert {facts["new"].status, facts["again"].status} == {FactStatus.ACTIVE, FactStatus.MERGED}
    return run.run


def standing(memory: Memory) -> str:
    """Which of the two equal facts outlived the other."""
    return next(f.id for f in memory.store.facts() if f.id in ("new", "again"))


def test_a_preview_shows_what_fits_with_scores_and_changes_nothing(memory: Memory) -> None:
    lived(memory)
    before = list(memory.store.dump(derived=True))
    preview = memory.forget_preview("where Wilhelmina Quackenbush lives", threshold=0.4)
    shown = {match.fact.id: match for match in preview.matches}
    assert shown.keys() == {"old", "new", "again"}
    assert all(0 <= match.score <= 1 for match in preview.matches)
    assert preview.token and preview.expires_at
    assert list(memory.store.dump(derived=True)) == before
    assert memory.forget_preview("brass instruments", threshold=0.9).token == ""


def test_what_is_forgotten_is_in_no_byte_of_the_file(memory: Memory, path: Path) -> None:
    lived(memory)
    memory.store.save_mentions({}, "fake")
    assert all(word in bytes_of(path) for word in WORDS)
    preview = memory.forget_preview(ids=["old", standing(memory)])
    done = memory.forget_memory(preview.token)
    assert set(done.facts) == {"old", "new", "again"}
    assert done.scrubbed and done.notes == ()
    left = bytes_of(path)
    assert not [word for word in WORDS if word in left]
    assert b"greenhouse" in left
    assert memory.store.check() == []
    assert [fact.id for fact in memory.store.facts(statuses=None)] == ["other"]
    assert memory.store.search("Quackenbush", include_history=True) == []
    assert memory.recall_memories("Wilhelmina Quackenbush", include_history=True) == []


def test_no_table_of_the_store_is_left_out() -> None:
    # Whoever adds a table must say here what forgetting does to it.
    gone_with_the_fact = {
        "facts",
        "entity_facts",
        "fact_mentions",
        "passages",
        "uses",
        "pins",
        "entity_pins",
        "entity_doubts",
        "edges",
        "episode_facts",
    }
    cleaned = {
        "journal", "decisions", "reviews", "links", "entities", "entity_names", "vectors",
        "staged_vectors",
        "mention_cache", "verdicts", "failures", "texts", "messages", "episodes", "forget_tokens",
    }  # fmt: skip
    without_texts_of_facts = {
        "migrations", "meta", "plans", "runs", "states", "models", "lease", "tombstones",
        "fact_revisions", "graph_revision",
    }  # fmt: skip
    said_by_a_person = {"aliases", "entity_declarations", "blocks", "block_versions"}
    parts = ("facts_fts", "passages_fts", "messages_fts", "episodes_fts")
    indexes = {name for name in own_tables() if name.startswith(parts)}
    known = gone_with_the_fact | cleaned | without_texts_of_facts | said_by_a_person | indexes
    assert own_tables() - {"sqlite_sequence", "sqlite_stat1"} == known


def test_vectors_verdicts_mentions_and_entities_go_along(memory: Memory) -> None:
    lived(memory)
    store = memory.store
    assert store.stats()["vectors"] == 4 and store.stats()["verdicts"] > 0
    assert any("Quackenbush" in each.name for each in store.entities("default"))
    memory.forget_memory(ids=["old", standing(memory)])
    assert store.stats()["vectors"] == 1
    assert store.stats()["verdicts"] == 0
    assert not any("Quackenbush" in each.name for each in store.entities("default"))
    assert store._db.value("SELECT count(*) FROM texts") == 1


def test_another_agents_answers_about_the_same_text_stay(memory: Memory) -> None:
    pipeline = Pipeline(memory.store)
    pipeline.add(said(NEW, id="mine"), said(NEW, id="theirs", agent="bo"))
    pipeline.run()
    memory.forget_memory(ids=["mine"])
    assert memory.store.stats()["vectors"] == 1
    assert [fact.id for fact in memory.store.facts()] == ["theirs"]


def test_what_it_had_superseded_stays_retired_unless_asked_for(memory: Memory) -> None:
    lived(memory)
    preview = memory.forget_preview(ids=[standing(memory)])
    assert [fact.id for fact in preview.superseded] == ["old"]
    done = memory.forget_memory(preview.token)
    assert (done.retired, done.revived) == (("old",), ())
    old = memory.store.get("old")
    assert (old.status, old.superseded_by) == (FactStatus.SUPERSEDED, None)
    event = memory.store.history("old").after[0]
    assert event.sentence == "What took its place has been forgotten."
    assert memory.store.check() == []


def test_revive_lets_it_hold_again_as_it_was(memory: Memory) -> None:
    lived(memory)
    assert memory.store.get("old").valid_to is not None
    done = memory.forget_memory(ids=[standing(memory)], revive=True)
    assert (done.retired, done.revived) == ((), ("old",))
    old = memory.store.get("old")
    assert (old.status, old.superseded_by, old.valid_to) == (FactStatus.ACTIVE, None, None)


def test_the_middle_of_a_chain_goes_and_the_chain_holds(memory: Memory) -> None:
    a, b, c = (f"The rent is {n} euros" for n in (700, 800, 900))
    pipeline = Pipeline(
        memory.store,
        dict.fromkeys(((a, b), (b, c), (a, c)), Relation.CONTRADICTS),
    )
    pipeline.add(said(a, 1, id="a"), said(b, 2, id="b"))
    pipeline.run()
    pipeline.add(said(c, 3, id="c"))
    pipeline.run()
    assert memory.store.get("a").superseded_by == "b"
    done = memory.forget_memory(ids=["b"], revive=True)
    assert done.revived == ()
    assert memory.store.get("a").superseded_by == "c"
    assert [event.to for event in memory.store.history("a").after] == ["c"]
    assert memory.store.check() == []


def test_the_run_can_still_be_undone_for_what_is_left(memory: Memory) -> None:
    run = lived(memory)
    memory.forget_memory(ids=[standing(memory)])
    receipt = memory.store.undo(run, now=day(400))
    assert receipt.run == run
    old = memory.store.get("old")
    assert (old.status, old.valid_to) == (FactStatus.ACTIVE, None)
    assert {fact.id for fact in memory.store.facts(statuses=None)} == {"old", "other"}
    assert memory.store.check() == []


def test_undo_after_reviving_keeps_it_alive_or_says_why_not(memory: Memory) -> None:
    run = lived(memory)
    memory.forget_memory(ids=[standing(memory)], revive=True)
    try:
        memory.store.undo(run, now=day(400))
    except UndoConflictError as error:
        assert "changed" in str(error)
    assert memory.store.get("old").status is FactStatus.ACTIVE


def test_a_review_with_a_forgotten_fact_goes_and_the_other_is_plain_again(
    memory: Memory, path: Path
) -> None:
    left, right = "Quackenbush pays in marmosets", "Quackenbush pays in cash"
    pipeline = Pipeline(memory.store, {(left, right): Relation.CONTRADICTS})
    pipeline.add(said(left, 5, id="left"), said(right, 5, id="right"))  # a tie: asked about
    run = pipeline.run().receipt
    assert run is not None
    assert len(memory.store.reviews()) == 1
    memory.forget_memory(ids=["left"])
    assert memory.store.reviews(state=None) == []
    assert memory.store.get("right").status is FactStatus.ACTIVE
    assert b"marmoset" not in bytes_of(path)
    memory.store.undo(run.run, now=day(400))
    assert memory.store.get("right").status is FactStatus.ACTIVE


def test_facts_with_the_same_text_go_along_of_the_same_agent_only(memory: Memory) -> None:
    memory.store.add(
        [
            said(NEW, 1, id="one"),
            said(NEW, 2, id="two", kind="memory"),
            said(NEW, 3, id="three", agent="bo"),
        ],
        now=day(300),
    )
    preview = memory.forget_preview(ids=["one"])
    assert [(m.fact.id, m.why) for m in preview.matches] == [
        ("one", "named"),
        ("two", "the same text"),
    ]
    assert memory.forget_memory(preview.token).facts == ("one", "two")
    assert [fact.id for fact in memory.store.facts(statuses=None)] == ["three"]


def test_a_survivor_that_stays_is_named(memory: Memory) -> None:
    lived(memory)
    (merged,) = memory.store.facts(statuses=[FactStatus.MERGED])
    preview = memory.forget_preview(ids=[merged.id])
    assert [match.fact.id for match in preview.matches] == [merged.id]
    assert preview.notes == (f"{standing(memory)} says the same as {merged.id} and stays",)


def test_a_token_works_once(memory: Memory) -> None:
    memory.store.add([said(NEW, id="one"), said(OTHER, id="two")], now=day(300))
    token = memory.forget_preview(ids=["one"]).token
    memory.forget_memory(token)
    with pytest.raises(NotFoundError, match="works once"):
        memory.forget_memory(token)
    with pytest.raises(NotFoundError, match="no preview has the token 'forget-x'"):
        memory.forget_memory("forget-x")
    assert [fact.id for fact in memory.store.facts()] == ["two"]


def test_a_token_is_for_the_agent_that_looked(memory: Memory, path: Path) -> None:
    memory.store.add([said(NEW, id="one")], now=day(300))
    token = memory.forget_preview(ids=["one"]).token
    with open_memory(path, "bo", settings=FAKE_SETTINGS) as other:
        with pytest.raises(NotFoundError):
            other.forget_memory(token)
        with pytest.raises(NotFoundError, match="memory of 'bo'"):
            other.forget_memory(ids=["one"])
    assert memory.store.get("one")


def test_a_token_expires(memory: Memory, monkeypatch: pytest.MonkeyPatch) -> None:
    memory.store.add([said(NEW, id="one")], now=day(300))
    token = memory.forget_preview(ids=["one"]).token
    later = memory.now() + TOKEN_LASTS + timedelta(seconds=1)
    monkeypatch.setattr(ForgettingPart, "now", staticmethod(lambda: later))
    with pytest.raises(NotFoundError, match="within 15 minutes"):
        memory.forget_memory(token)
    assert memory.store.get("one")


@pytest.mark.parametrize("change", ["altered", "joined"])
def test_a_token_deletes_only_what_was_seen(memory: Memory, change: str) -> None:
    run = lived(memory)
    token = memory.forget_preview(ids=["other"]).token
    if change == "altered":
        with memory.store.atomic():
            memory.store._db.write("UPDATE facts SET intensity = 0.9 WHERE id = 'other'")
    else:
        memory.store.add([said(OTHER, 77, id="copy")], now=day(300))
    before = list(memory.store.dump())
    with pytest.raises(StalePlanError, match=r"look again, nothing was deleted"):
        memory.forget_memory(token)
    assert list(memory.store.dump()) == before
    assert memory.store.run(run)


def test_a_token_outlives_the_process_that_looked(memory: Memory, path: Path) -> None:
    memory.store.add([said(NEW, id="one")], now=day(300))
    token = memory.forget_preview(ids=["one"]).token
    with open_memory(path, settings=FAKE_SETTINGS) as other:
        assert other.forget_memory(token).facts == ("one",)


def test_being_recalled_does_not_spoil_a_token(memory: Memory) -> None:
    memory.store.add([said(NEW, id="one")], now=day(300))
    token = memory.forget_preview(ids=["one"]).token
    assert memory.recall_memories("Quackenbush")
    memory.write_uses()
    assert memory.forget_memory(token).facts == ("one",)


@pytest.mark.parametrize(
    "again",
    [
        NEW,
        f"{NEW}.",
        NEW.upper(),
        f"  {NEW.replace(' ', '  ')} ",
    ],
)
def test_a_forgotten_text_does_not_come_back(memory: Memory, again: str) -> None:
    memory.store.add([said(NEW, id="one")], now=day(300))
    bundle = "\n".join(export_lines(memory.store, agent=None, now=day(300))).encode()
    assert memory.forget_memory(ids=["one"]).kept_out == 1
    for data in (bundle, json.dumps({"text": again.strip()}).encode()):
        report = import_bytes(memory.store, data, Options(), now=day(301))
        assert report.new == 0
    (added,) = memory.store.add([said(again.strip(), 99, kind="memory")], now=day(301))
    assert (added.new, added.reason) == (False, "forgotten")
    assert memory.store.facts(statuses=None) == []
    assert memory.allow_again(NEW) and not memory.allow_again(NEW)
    assert memory.store.add([said(NEW)], now=day(302))[0].new


def test_messages_that_say_it_are_counted_and_go_if_asked(memory: Memory, path: Path) -> None:
    memory.add_message("user", f"By the way: {NEW}!")
    memory.add_message("assistant", "Noted.")
    memory.store.add([said(NEW, id="one"), said(OTHER, id="two")], now=day(300))
    preview = memory.forget_preview(ids=["one"])
    assert preview.messages == 1
    assert memory.forget_memory(preview.token, messages=True).messages == 1
    assert b"balderdash" not in bytes_of(path)
    assert [hit.message.content for hit in memory.recall_conversation("Noted")] == ["Noted."]


def test_the_bytes_wait_for_a_reader_and_go_later(memory: Memory, path: Path) -> None:
    memory.store._db._busy_timeout = 0.1
    memory.store._db.query("PRAGMA busy_timeout = 100")
    memory.store.add([said(NEW, id="one")], now=day(300))
    reader = sqlite3.connect(path, isolation_level=None)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM facts").fetchone()
    done = memory.forget_memory(ids=["one"])
    assert not done.scrubbed
    assert "another process reads it" in done.notes[0]
    assert memory.store.facts(statuses=None) == []
    reader.execute("COMMIT")
    reader.close()
    assert memory.store.scrub() == ""
    assert not memory.store.scrub_due
    assert b"balderdash" not in bytes_of(path)


def test_a_strangers_table_is_not_renumbered(memory: Memory, path: Path) -> None:
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE chat (said TEXT)")
    connection.commit()
    connection.close()
    memory.store.add([said(NEW, id="one")], now=day(300))
    done = memory.forget_memory(ids=["one"])
    assert not done.scrubbed and "'chat'" in done.notes[0]


def test_work_of_a_run_that_began_before_leaves_no_words(memory: Memory, path: Path) -> None:
    (added,) = memory.store.add([said(NEW)], now=day(300))
    fact = memory.store.get(added.id)
    memory.forget_memory(ids=[fact.id])
    found = Mention(start=0, end=10, text="Wilhelmina", label="person")
    memory.store.save_mentions({fact.content_hash: [found]}, "fake")
    person = Group(key="wilhelmina", name="Wilhelmina", facts=(fact.id,))
    groups = Groups(groups=(person,), by_fact={fact.id: ("wilhelmina",)})
    memory.store.save_entities("default", groups, {fact.id: [found]})
    assert memory.store.entities("default") == []
    memory.store.scrub()
    assert b"wilhelmina" not in bytes_of(path)


def test_wrong_calls_are_refused(memory: Memory) -> None:
    for call in (
        lambda: memory.forget_preview(),
        lambda: memory.forget_preview("x", ids=["y"]),
        lambda: memory.forget_preview(ids=[]),
        lambda: memory.forget_preview("x", threshold=1.5),
        lambda: memory.forget_preview("x", limit=0),
        lambda: memory.forget_memory(),
        lambda: memory.forget_memory("token", ids=["x"]),
    ):
        with pytest.raises(InputError):
            call()
    with pytest.raises(NotFoundError):
        memory.forget_memory(ids=["nothing-here"])


# ---- purge


def test_purge_deletes_history_and_only_that(memory: Memory, path: Path) -> None:
    lived(memory)
    shown = memory.purge()
    assert shown.preview and len(shown.facts) == 2
    assert len(memory.store.facts(statuses=None)) == 4
    done = memory.purge(preview=False)
    assert done.facts == shown.facts and done.scrubbed
    assert {fact.id for fact in memory.store.facts(statuses=None)} == {standing(memory), "other"}
    assert b"fiddlestick" not in bytes_of(path)
    assert memory.store.check() == []
    assert memory.purge(preview=False).facts == ()


def test_purge_keeps_what_was_said_later(memory: Memory) -> None:
    lived(memory)
    assert memory.purge(before=day(10)).facts == ("old",)
    assert memory.purge(before="2026-01-01T00:00:00Z").facts == ()
    assert memory.purge("bo").facts == ()


def test_a_purged_claim_is_not_imported_again_and_a_standing_text_is(memory: Memory) -> None:
    back = "The rent is 700 euros"
    between = "The rent is 800 euros"
    pipeline = Pipeline(memory.store, {(back, between): Relation.CONTRADICTS})
    pipeline.add(said(back, 1, id="first"), said(between, 2, id="second"))
    pipeline.run()
    pipeline.add(said(back, 3, id="third"))
    pipeline.run()
    assert {fact.id for fact in memory.store.facts()} == {"third"}
    memory.purge(preview=False)
    assert {fact.id for fact in memory.store.facts(statuses=None)} == {"third"}
    added = memory.store.add([said(between, 2), said(back, 9)], now=day(300))
    assert [each.reason for each in added] == ["forgotten", "added"]


def test_forgetting_is_all_or_nothing(
    memory: Memory, monkeypatch: pytest.MonkeyPatch, open_store: Callable[..., Store], now: datetime
) -> None:
    lived(memory)
    before = list(memory.store.dump(derived=True))

    def fail(*_: object) -> None:
        raise RuntimeError("power cut")

    monkeypatch.setattr(Store, "_drop_unused_answers", fail)
    with pytest.raises(RuntimeError):
        memory.forget_memory(ids=["other"])
    assert list(memory.store.dump(derived=True)) == before
    assert memory.store.check() == []
