"""What the store does for recall: revisions, words, uses, pins, writing without waiting."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest

from consolidate.errors import InputError, NotFoundError, StoreError
from consolidate.store import Message, Store
from consolidate.types import NewFact

OpenStore = Callable[..., Store]


def add(store: Store, *texts: str, now: datetime, agent: str = "default") -> list[str]:
    return [a.id for a in store.add([NewFact(text=t, agent=agent) for t in texts], now=now)]


def changed(store: Store, after: int) -> tuple[int, set[str], list[int]]:
    revision, rows, gone = store.recall_rows("default", after=after)
    return revision, {row.id for row in rows}, gone


def test_only_what_changed_after_a_revision_is_read(store: Store, now: datetime) -> None:
    one, two = add(store, "One.", "Two.", now=now)
    revision, rows, gone = store.recall_rows("default")
    assert ([row.id for row in rows], gone) == ([one, two], [])
    assert changed(store, revision) == (revision, set(), [])
    for change in (
        lambda: store.pin(one, now=now),
        lambda: store.unpin(one),
        lambda: store.add_uses({one: (1, now)}),
        lambda: store.add_uses({one: (2, now)}),
    ):
        change()
        later, ids, gone = changed(store, revision)
        assert (later > revision, ids, gone) == (True, {one}, [])
        revision = later
    with store.atomic():
        store._db.write("DELETE FROM facts WHERE id = ?", (one,))
    later, ids, gone = changed(store, revision)
    assert (ids, len(gone)) == (set(), 1)
    assert store.check() == []


def test_a_deleted_fact_takes_its_pin_and_uses_along(store: Store, now: datetime) -> None:
    (one,) = add(store, "One.", now=now)
    store.pin(one, now=now)
    store.add_uses({one: (1, now)})
    with store.atomic():
        store._db.write("DELETE FROM facts WHERE id = ?", (one,))
    assert store.pinned() == []
    assert store._db.value("SELECT count(*) FROM uses") == 0


def test_other_agents_facts_are_nobodys_business(store: Store, now: datetime) -> None:
    revision = store.recall_rows("default")[0]
    add(store, "His.", now=now, agent="bo")
    later, rows, _ = store.recall_rows("default", after=revision)
    assert rows == []
    assert later > revision


def test_uses_add_up_and_the_latest_stays(store: Store, now: datetime) -> None:
    (one,) = add(store, "One.", now=now)
    store.add_uses({one: (2, now), "gone": (5, now)})
    store.add_uses({one: (1, now - timedelta(days=1))})
    (row,) = store.recall_rows("default")[1]
    assert (row.uses, row.access_count) == (3, 0)
    assert row.last_use == pytest.approx(now.timestamp())


def test_what_runs_and_undo_see_does_not_change_with_use(store: Store, now: datetime) -> None:
    (one,) = add(store, "One.", now=now)
    before = store.snapshot("default").digest, store.rows_written()
    store.add_uses({one: (2, now)})
    store.pin(one, now=now)
    assert store.snapshot("default").digest == before[0]


def test_pins_are_content_and_uses_are_not(store: Store, now: datetime) -> None:
    (one,) = add(store, "One.", now=now)
    before = list(store.dump())
    store.add_uses({one: (2, now)})
    assert list(store.dump()) == before
    store.pin(one[:12], now=now)
    assert len(list(store.dump())) == len(before) + 1
    with pytest.raises(NotFoundError):
        store.pin("nothing-like-it", now=now)


def test_the_number_of_vectors_saved_rises_and_only_then(store: Store) -> None:
    vector = {"h": np.ones(2, dtype=np.float32)}
    assert store.vectors_revision() == 0
    store.save_vectors(vector, "m", 2)
    first = store.vectors_revision()
    assert first > 0
    store.save_vectors(vector, "m", 2)
    assert store.vectors_revision() == first
    store.stage_vectors({"x": np.ones(3, dtype=np.float32)}, "n", 3)
    assert store.vectors_revision() == first
    store.adopt_vectors("n", 3)
    assert store.vectors_revision() > first


def test_words_are_counted_also_where_nothing_may_be_written(
    store: Store, open_store: OpenStore, now: datetime
) -> None:
    add(store, "The café is red.", "The tent is red.", now=now)
    for each in (store, open_store(store.path, read_only=True)):
        assert each.word_counts({"red", "cafe", "blue"}) == {"red": 2, "cafe": 1, "blue": 0}
    add(store, "A red one.", now=now, agent="bo")
    assert store.word_counts(["red"]) == {"red": 3}


def test_words_are_found_with_the_best_first_and_from_a_number_on(
    store: Store, now: datetime
) -> None:
    add(store, "A red tent.", "A tent.", "Red, a red tent.", "Nothing.", now=now)
    assert store.match_facts(["red", "tent"]) == [3, 1, 2]
    assert store.match_facts(["red", "tent"], since=2) == [3]
    assert store.match_facts(["blue"]) == []


def test_a_write_that_may_not_wait_fails_at_once(
    store: Store, open_store: OpenStore, now: datetime
) -> None:
    other = open_store(store.path, busy_timeout=600)
    with store.atomic():
        with pytest.raises(StoreError, match="busy"), other.atomic(wait=False):
            raise AssertionError("the lock is held")
    add(other, "One.", now=now)
    assert other._db.value("PRAGMA busy_timeout") == 600_000
    with other.atomic(wait=False):
        add(other, "Two.", now=now)
    assert len(store.facts()) == 2


def test_messages_keep_their_ids_and_order(store: Store, now: datetime) -> None:
    talk = [Message(id="m", conversation="", role="user", content="Hello", at=None)]
    assert store.add_messages("default", talk, now=now) == ["m"]
    assert store.add_messages("default", talk, now=now) == ["m"]
    (found,) = store.search_messages("hello", agent="default")
    assert found.message.at == now
    bad = [*talk, Message(id="", conversation="", role=" ", content="x", at=None)]
    with pytest.raises(InputError, match="role"):
        store.add_messages("default", bad, now=now)


def test_a_damaged_index_of_messages_is_told_and_made_anew(store: Store, now: datetime) -> None:
    talk = [Message(id="", conversation="", role="user", content="Hello there", at=None)]
    store.add_messages("default", talk, now=now)
    with store.atomic():
        store._db.write("INSERT INTO messages_fts (messages_fts) VALUES ('delete-all')")
    assert any("text index" in problem for problem in store.check())
    store.rebuild_index()
    assert store.check() == []


def test_facts_of_an_older_file_are_there_from_the_first_look(
    tmp_path: Path, open_store: OpenStore, now: datetime
) -> None:
    from consolidate.store.database import Database
    from consolidate.store.migrations import MIGRATIONS, migrate

    path = tmp_path / "old.db"
    older = next(s for s in MIGRATIONS if s.name == "recall_and_messages").version - 1
    database = Database.open(path, mode="rwc", busy_timeout=1)
    migrate(database, MIGRATIONS[:older])
    with database.atomic():
        for name in "abc":
            database.write(
                "INSERT INTO facts (id, agent, kind, text, metadata, recorded_at, source, trust, "
                "intensity, encounters, access_count, content_hash, status) VALUES (?, 'default', "
                "'fact', 'Old.', '{}', '2026-01-01T00:00:00.000000Z', 'user', 1.0, 0.5, 1, 0, "
                "'h', 'active')",
                (name,),
            )
    database.close()
    store = open_store(path)
    revision, rows, _ = store.recall_rows("default")
    assert {row.id for row in rows} == {"a", "b", "c"}
    (new,) = add(store, "New.", now=now)
    assert changed(store, revision)[1] == {new}
