"""Counts, the dump, and finding out whether a store is sound."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest

from consolidate.store import Store
from consolidate.types import Alias, Group, Groups, Mention, NewFact, Scores, Verdict

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def filled(store: Store) -> Store:
    facts = [NewFact(text=f"t{n} 🧠", id=f"f{n}", metadata={"n": n}) for n in range(3)]
    store.add([*facts, NewFact(text="x", id="g", agent="other", kind="event")], now=NOW)
    store.add_alias(Alias(agent="default", canonical="Bob", alias="Rob"))
    store.save_vectors({"h": np.zeros(2, dtype=np.float32)}, "m", 2)
    scores = Scores(entailment=1, neutral=0, contradiction=0)
    store.save_verdicts({("a", "b"): Verdict(forward=scores, backward=scores, model="j")}, "j")
    group = Group(key="bob", name="Bob", facts=("f0",))
    store.save_entities(
        "default",
        Groups(groups=(group,), by_fact={"f0": ("bob",)}),
        {"f0": [Mention(start=0, end=3, text="Bob", label="name")]},
    )
    return store


def test_stats_count_for_all_or_one_agent(filled: Store) -> None:
    everything = filled.stats()
    assert everything.pop("bytes") > 0
    assert everything == {
        "active": 4,
        "superseded": 0,
        "merged": 0,
        "forgotten": 0,
        "in_review": 0,
        "facts": 4,
        "kinds": 2,
        "agents": 2,
        "entities": 1,
        "links": 0,
        "open_reviews": 0,
        "blocks": 0,
        "episodes": 0,
        "runs": 0,
        "vectors": 1,
        "verdicts": 1,
    }
    assert filled.stats("other")["facts"] == 1
    assert filled.stats("other")["entities"] == 0
    assert filled.stats("nobody")["facts"] == 0


def test_the_dump_holds_content_and_no_caches(filled: Store) -> None:
    lines = [json.loads(line) for line in filled.dump()]
    assert [name for name, _ in lines] == ["facts"] * 4 + ["aliases"]
    assert lines[0][1]["id"] == "f0"
    assert lines[0][1]["text"] == "t0 🧠"
    assert lines[0][1]["recorded_at"] == "2026-03-01T12:00:00.000000Z"
    derived = [json.loads(line)[0] for line in filled.dump(derived=True)]
    assert list(dict.fromkeys(derived[5:])) == [
        "entities",
        "entity_names",
        "entity_facts",
        "fact_mentions",
    ]
    assert list(filled.dump(derived=True)) == list(filled.dump(derived=True))


def test_a_dump_shows_one_moment_even_if_it_is_read_slowly(filled: Store) -> None:
    lines = filled.dump()
    first = next(lines)
    filled.add([NewFact(text="late", id="a-first")], now=NOW)
    assert len([first, *lines]) == 5


def test_a_sound_store_has_no_problems_and_checking_writes_nothing(filled: Store) -> None:
    before = filled.rows_written()
    assert filled.check() == []
    assert filled.rows_written() == before


@pytest.mark.parametrize(
    ("damage", "problem"),
    [
        (
            "INSERT INTO facts_fts (facts_fts, rowid, text) VALUES ('delete', 1, 't0 🧠')",
            "text index",
        ),
        ("UPDATE facts_fts_data SET block = x'00' WHERE id > 10", "text index: it does not fit"),
        ("UPDATE facts_fts_docsize SET id = 99 WHERE id = 1", "text index: 1 facts missing, 1"),
        ("UPDATE facts SET agent = 'third', superseded_by = 'f1' WHERE id = 'f0'", "agents: f0"),
        ("UPDATE facts SET merged_into = 'nobody' WHERE id = 'f0'", "orphan: row"),
        ("DELETE FROM texts", "orphan: row"),
        ("DELETE FROM entities", "orphan: row"),
    ],
)
def test_each_kind_of_damage_is_found(filled: Store, damage: str, problem: str) -> None:
    filled._db.query("PRAGMA foreign_keys = OFF")
    with filled.atomic():
        filled._db.write(damage)
    problems = filled.check()
    assert any(problem in each for each in problems), problems


def test_a_text_index_that_does_not_fit_can_be_made_anew(filled: Store) -> None:
    with filled.atomic():
        filled._db.write("DELETE FROM facts_fts_docsize")
    assert "`Store.rebuild_index` makes it anew" in filled.check()[0]
    filled.rebuild_index()
    assert filled.check() == []
    assert [fact.id for fact in filled.search("t1")] == ["f1"]


def test_a_snapshot_of_many_facts_takes_few_queries(
    open_store: Callable[..., Store],
) -> None:
    store = open_store(":memory:")
    facts = [
        NewFact(
            text=f"Fact number {n} says that item {n % 977} lies in box {n % 89}.",
            stated_at=NOW - timedelta(minutes=n),
            source="user",
        )
        for n in range(5_000)
    ]
    store.add(facts, now=NOW)
    statements: list[str] = []
    store._db._connection.set_trace_callback(statements.append)
    snapshot = store.snapshot("default")
    store._db._connection.set_trace_callback(None)
    assert len(snapshot.facts) == 5_000
    assert len(statements) < 50
