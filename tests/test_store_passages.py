"""Passages of long texts, and tombstones that keep a forgotten text out."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from datetime import datetime
from itertools import pairwise
from pathlib import Path

from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.store import Store
from consolidate.store.database import Database
from consolidate.store.migrations import MIGRATIONS, migrate
from consolidate.store.passages import PASSAGES_FROM
from consolidate.store.rows import fact_hash
from consolidate.types import NewFact

LONG = " ".join(f"Sentence {n} of the report is about topic{n} and little else." for n in range(80))


def exported(store: Store, now: datetime) -> bytes:
    return "\n".join(export_lines(store, agent=None, now=now)).encode()


def test_a_long_text_is_kept_whole_and_in_passages(store: Store, now: datetime) -> None:
    added = store.add([NewFact(text=LONG, kind="memory"), NewFact(text="Short.")], now=now)
    found = store.passages(added[0].id)
    assert len(found) > 4
    assert [each.position for each in found] == list(range(len(found)))
    assert all(LONG[each.start : each.stop] == each.text for each in found)
    assert all(each.content_hash == fact_hash(each.text) for each in found)
    assert all(a.start < b.start < a.stop < b.stop for a, b in pairwise(found))
    assert found[0].start == 0 and found[-1].stop == len(LONG)
    assert store.passages(added[1].id) == []
    assert store.get(added[0].id).text == LONG


def test_a_word_of_a_long_text_finds_its_passage(store: Store, now: datetime) -> None:
    added = store.add([NewFact(text=LONG, kind="memory"), NewFact(text=LONG, agent="b")], now=now)
    hits = store.search_passages("topic57", agent="default")
    assert hits and all("topic57" in hit.text for hit in hits)
    assert {hit.fact for hit in hits} == {added[0].id}
    assert store.search_passages("topic57", agent="default", kinds=["fact"]) == []
    assert store.search_passages(' "; DROP TABLE passages --', agent="default") == []


def test_passages_go_with_their_fact(store: Store, now: datetime) -> None:
    (added,) = store.add([NewFact(text=LONG)], now=now)
    with store.atomic():
        store._db.write("DELETE FROM facts WHERE id = ?", (added.id,))
    assert store.passages(added.id) == []
    assert store.search_passages("topic57", agent="default") == []
    assert store.check() == []


def test_a_damaged_passage_index_is_noticed_and_made_anew(store: Store, now: datetime) -> None:
    store.add([NewFact(text=LONG)], now=now)
    with store.atomic():
        store._db.write("INSERT INTO passages_fts (passages_fts) VALUES ('delete-all')")
    assert any("text index" in problem for problem in store.check())
    store.rebuild_index()
    assert store.check() == []
    assert store.search_passages("topic57", agent="default")


def test_long_texts_of_an_older_file_get_passages(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    database = Database.open(path, mode="rwc", busy_timeout=1)
    migrate(database, [step for step in MIGRATIONS if step.name != "passages_and_tombstones"][:3])
    database.close()
    connection = sqlite3.connect(path)
    connection.execute(
        "INSERT INTO facts (id, agent, kind, text, metadata, recorded_at, source, trust, "
        "intensity, encounters, access_count, content_hash, status) VALUES ('a', 'default', "
        "'memory', ?, '{}', '2026-01-01T00:00:00.000000Z', 'user', 1.0, 0.5, 1, 0, ?, 'active')",
        (LONG, fact_hash(LONG)),
    )
    connection.commit()
    connection.close()
    with Store.open(path) as store:
        assert len(store.passages("a")) > 4
        assert store.check() == []


def test_passages_and_tombstones_come_back_with_an_export(
    tmp_path: Path, open_store: Callable[..., Store], now: datetime
) -> None:
    one, two = open_store(tmp_path / "one.db"), open_store(tmp_path / "two.db")
    one.add([NewFact(text=LONG, kind="memory")], now=now)
    one.bury("default", [fact_hash("gone")], now=now)
    import_bytes(two, exported(one, now), Options(), now=now)
    assert list(two.dump(derived=True)) == list(one.dump(derived=True))
    assert two.buried("default", [fact_hash("gone"), fact_hash("other")]) == {fact_hash("gone")}


def test_a_forgotten_text_stays_out_whatever_it_comes_as(store: Store, now: datetime) -> None:
    assert store.bury("default", [fact_hash("My secret.")], now=now) == 1
    assert store.bury("default", [fact_hash("My secret.")], now=now) == 0
    told = [
        NewFact(text="My secret."),
        NewFact(text="My secret.", id="given", kind="memory", source="import", stated_at=now),
        NewFact(text="Another thing."),
        NewFact(text="My secret.", agent="other"),
    ]
    added = store.add(told, now=now)
    assert [each.new for each in added] == [False, False, True, True]
    assert [(each.id, each.reason) for each in added[:2]] == [("", "forgotten")] * 2
    assert [fact.text for fact in store.facts(agent="default")] == ["Another thing."]


def test_an_export_does_not_bring_a_forgotten_text_back(
    tmp_path: Path, open_store: Callable[..., Store], now: datetime
) -> None:
    one, two = open_store(tmp_path / "one.db"), open_store(tmp_path / "two.db")
    one.add([NewFact(text="My secret."), NewFact(text="Tea is in the jar.")], now=now)
    two.bury("default", [fact_hash("My secret.")], now=now)
    report = import_bytes(two, exported(one, now), Options(), now=now)
    assert (report.new, report.known) == (1, 1)
    assert [fact.text for fact in two.facts(statuses=None)] == ["Tea is in the jar."]
    assert two.check() == []


def test_what_is_taken_out_of_its_grave_may_be_said_again(store: Store, now: datetime) -> None:
    store.bury("default", [fact_hash("Said.")], now=now)
    assert store.unearth("other", [fact_hash("Said.")]) == 0
    assert store.unearth("default", [fact_hash("Said.")]) == 1
    assert store.add([NewFact(text="Said.")], now=now)[0].new


def test_short_texts_have_no_passages(store: Store, now: datetime) -> None:
    text = "w " * (PASSAGES_FROM // 2)
    (added,) = store.add([NewFact(text=text.strip())], now=now)
    assert store.passages(added.id) == []
