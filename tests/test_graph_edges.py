"""Edges: what facts state of entities, closed and opened with the facts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from consolidate import run
from consolidate.backends.rules import RulesExtractor
from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.graph.refresh import refresh
from consolidate.graph.registry import lookup
from consolidate.store import Store
from consolidate.types import FactStatus, NewFact, Plan, Triple

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path / "m.db") as opened:
        yield opened


def tell(store: Store, *texts: str, kind: str = "fact") -> list[str]:
    added = store.add([NewFact(text=text, kind=kind) for text in texts], now=NOW)
    refresh(store, "default", extractor=RulesExtractor())
    return [each.id for each in added]


def triples(store: Store) -> set[tuple[str, str, str]]:
    names = {number: label[1] for number, label in store.entity_labels("default").items()}
    return {
        (names[e.source], e.predicate, names[e.target] if e.target is not None else e.value)
        for e in store.edges("default")
    }


def retire(store: Store, old: str, new: str, now: datetime) -> str:
    """Supersede a fact in a run of its own; returns the run."""
    plan = Plan(
        id=old.ljust(64, "p"),
        agent="default",
        now=now,
        snapshot_digest="",
        settings_digest="",
        facts={},
        decisions=(),
    )
    with store.atomic():
        started = store.begin_run(plan, now=now)
        gone = replace(
            store.get(old),
            status=FactStatus.SUPERSEDED,
            superseded_by=new,
            changed_by=started,
        )
        store.write_fact(gone, run=started)
    return started


def test_a_fact_gives_an_edge_between_the_entities_it_names(store: Store) -> None:
    tell(store, "Alice Meyer works at Acme Robotics.", "The port of Orion is 8080.")
    assert triples(store) == {
        ("Alice Meyer", "employer", "Acme Robotics"),
        ("Orion", "port", "8080"),
    }


def test_both_ends_lead_to_the_edge(store: Store) -> None:
    tell(store, "Alice Meyer works at Acme Robotics.")
    for name in ("Alice Meyer", "acme robotics"):
        entity = lookup(store, name).entity
        assert entity is not None
        (edge,) = store.edges("default", entity=entity.id)
        assert edge.predicate == "employer"


@pytest.mark.parametrize(
    "text",
    [
        "Alice Meyer plans to move; Alice Meyer will perhaps work at Acme Robotics.",
        "Alice Meyer used to work at Acme Robotics.",
        "Alice Meyer no longer works at Acme Robotics.",
        "According to Bob, Alice Meyer works at Acme Robotics.",
    ],
)
def test_what_is_not_meant_as_a_fact_gives_no_edge(store: Store, text: str) -> None:
    tell(store, text)
    assert triples(store) == set()


def test_a_plan_by_kind_gives_no_edge(store: Store) -> None:
    tell(store, "Alice Meyer works at Acme Robotics.", kind="plan")
    assert triples(store) == set()


def test_what_the_user_states_is_an_edge_of_the_user(store: Store) -> None:
    tell(store, "Works at Acme Robotics.", "I live in Porto.")
    assert {(p, o) for _, p, o in triples(store)} == {
        ("employer", "Acme Robotics"),
        ("residence", "Porto"),
    }


def test_nothing_is_written_when_nothing_changed(store: Store) -> None:
    tell(store, "Alice Meyer works at Acme Robotics.")
    assert refresh(store, "default", extractor=RulesExtractor()) == 0


def test_an_edge_closes_and_opens_with_its_fact(store: Store) -> None:
    old, new = tell(
        store, "Alice Meyer works at Acme Robotics.", "Alice Meyer works at Globex Labs."
    )
    run_id = retire(store, old, new, NOW)
    assert {edge.value for edge in store.edges("default")} == {"Globex Labs"}
    closed = [edge for edge in store.edges("default", history=True) if not edge.live]
    assert [edge.fact for edge in closed] == [old]
    store.undo(run_id, now=NOW)
    assert {edge.fact for edge in store.edges("default")} == {old, new}


def test_an_edge_held_while_its_fact_did(store: Store) -> None:
    begun, over = datetime(2020, 1, 1, tzinfo=UTC), datetime(2022, 1, 1, tzinfo=UTC)
    store.add(
        [NewFact(text="Alice Meyer works at Acme Robotics.", valid_from=begun, valid_to=over)],
        now=NOW,
    )
    refresh(store, "default", extractor=RulesExtractor())
    for year, held in ((2019, 0), (2021, 1), (2023, 0)):
        assert len(store.edges("default", as_of=datetime(year, 6, 1, tzinfo=UTC))) == held


def test_a_forgotten_fact_leaves_no_edge(store: Store) -> None:
    (fact,) = tell(store, "Alice Meyer works at Acme Robotics.")
    store.erase("default", [fact], now=NOW)
    assert store.edges("default", history=True) == []


def test_an_edge_whose_fact_was_retired_without_a_date_held_up_to_that_run(store: Store) -> None:
    old, new = tell(
        store, "Alice Meyer works at Acme Robotics.", "Alice Meyer works at Globex Labs."
    )
    later = NOW + timedelta(days=5)
    retire(store, old, new, later)
    then, now = NOW + timedelta(days=1), later + timedelta(days=1)
    assert old in {edge.fact for edge in store.edges("default", as_of=then)}
    assert {edge.fact for edge in store.edges("default", as_of=now)} == {new}


def test_an_edge_whose_validity_is_over_does_not_hold_now_but_what_happened_has(
    store: Store,
) -> None:
    begun, over = NOW - timedelta(days=9), NOW - timedelta(days=2)
    texts = (("fact", "Alice Meyer works at Acme Robotics."), ("event", "Bruno Sala owns Acme."))
    store.add(
        [NewFact(text=text, kind=kind, valid_from=begun, valid_to=over) for kind, text in texts],
        now=NOW,
    )
    refresh(store, "default", extractor=RulesExtractor())
    assert {e.predicate for e in store.edges("default", now=NOW)} == {"possession"}


def test_a_statement_made_twice_in_a_text_is_one_edge_and_drawn_once(store: Store) -> None:
    (fact,) = store.add(
        [NewFact(text="Orion is owned by Ayla. As Bo said: Orion is owned by Ayla.")], now=NOW
    )
    triples = {
        fact.id: [
            Triple(subject=(0, 5), predicate="owner", object=(18, 22), value="Ayla"),
            Triple(subject=(0, 5), predicate="owner", object=(50, 54), value="Ayla"),
        ]
    }
    refresh(store, "default", extractor=RulesExtractor())
    for _ in range(2):
        store.draw_edges("default", triples)
    assert store.draw_edges("default", triples) == 0
    assert len(store.edges("default")) == 1


def test_edges_come_in_with_an_export(store: Store, tmp_path: Path) -> None:
    tell(store, "Alice Meyer works at Acme Robotics.", "I live in Porto.")
    lines = "".join(f"{line}\n" for line in export_lines(store, agent=None, now=NOW))
    with Store.open(tmp_path / "other.db") as other:
        assert not import_bytes(other, lines.encode(), Options(), now=NOW).broken
        assert triples(other) == triples(store) != set()


def test_the_next_run_draws_the_edges_of_a_file_from_before_there_were_any(tmp_path: Path) -> None:
    path, fakes = tmp_path / "m.db", {"embedder": "fake:32", "classifier": "fake"}
    with Store.open(path) as store:
        store.add([NewFact(text="Alice Meyer works at Acme Robotics.")], now=NOW)
        run(store, agent="default", settings=fakes)
        drawn = triples(store)
    with closing(sqlite3.connect(path)) as old, old:
        old.execute("DELETE FROM edges")
        old.execute("DELETE FROM migrations WHERE version > 11")
    with Store.open(path) as store:
        assert triples(store) == set() != drawn
        done = run(store, agent="default", settings=fakes)
        assert done.report.funnel and triples(store) == drawn
        assert run(store, agent="default", settings=fakes).nothing_new
