"""Edges: what facts state of entities, closed and opened with the facts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consolidate.backends.rules import RulesExtractor
from consolidate.graph.refresh import refresh
from consolidate.graph.registry import lookup
from consolidate.store import Store
from consolidate.types import FactStatus, NewFact, Plan

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
    plan = Plan(
        id="p" * 64,
        agent="default",
        now=NOW,
        snapshot_digest="",
        settings_digest="",
        facts={},
        decisions=(),
    )
    with store.atomic():
        run = store.begin_run(plan, now=NOW)
        retired = replace(store.get(old), status=FactStatus.SUPERSEDED, superseded_by=new)
        store.write_fact(retired, run=run)
    assert {edge.value for edge in store.edges("default")} == {"Globex Labs"}
    closed = [edge for edge in store.edges("default", history=True) if not edge.live]
    assert [edge.fact for edge in closed] == [old]
    store.undo(run, now=NOW)
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
