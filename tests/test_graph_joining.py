"""Declared edges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from consolidate import open_memory, run, undo
from consolidate.backends.rules import RulesExtractor
from consolidate.errors import InputError, NotFoundError
from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.graph.refresh import refresh
from consolidate.memory.memory import Memory
from consolidate.types import NewFact

FAKES = {"embedder": "fake:32", "classifier": "fake", "extractor": "rules"}
NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "m.db", settings=FAKES) as opened:
        texts = ("Alice Meyer works at Acme Robotics.", "Bruno Sala plays chess in Porto.")
        opened.store.add([NewFact(text=text) for text in texts], now=NOW)
        refresh(opened.store, "default", extractor=RulesExtractor())
        yield opened


def between(memory: Memory) -> list[tuple[str, float]]:
    return [
        (edge.predicate, edge.weight)
        for edge in memory.store.edges("default")
        if edge.predicate == "plays chess with"
    ]


def test_two_entities_are_joined_and_found_from_both_ends(memory: Memory) -> None:
    told = memory.entity_link("alice meyer", "Bruno Sala", "plays chess with")
    assert told["new"]
    assert told["sentence"] == "Alice Meyer, plays chess with, Bruno Sala"
    for one, other in (("Alice Meyer", "Bruno Sala"), ("Bruno Sala", "Alice Meyer")):
        near = memory.entity_neighbors(one)["neighbors"]
        assert "plays chess with" in next(n for n in near if n["name"] == other)["predicates"]


def test_a_preview_stores_nothing(memory: Memory) -> None:
    before = list(memory.store.dump(derived=True))
    told = memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with", preview=True)
    assert told["fact"] == ""
    assert list(memory.store.dump(derived=True)) == before


def test_joining_again_sets_the_weight_and_can_be_undone(memory: Memory) -> None:
    first = memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")
    again = memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with", weight=3)
    assert (again["new"], again["fact"]) == (False, first["fact"])
    assert between(memory) == [("plays chess with", 3.0)]
    undo(memory.store, memory.store.runs()[0].id)
    assert between(memory) == [("plays chess with", 1.0)]


def test_a_new_edge_can_be_undone_to_the_last_row(memory: Memory) -> None:
    before = [row for row in memory.store.dump(derived=True) if row[0] not in ("runs", "journal")]
    told = memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")
    undo(memory.store, told["run"])
    after = [row for row in memory.store.dump(derived=True) if row[0] not in ("runs", "journal")]
    assert after == before
    assert memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")["new"]


def test_declaring_the_same_again_writes_nothing(memory: Memory) -> None:
    memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")
    before = list(memory.store.dump(derived=True))
    again = memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")
    assert (again["new"], again["run"]) == (False, None)
    assert list(memory.store.dump(derived=True)) == before


def test_an_edge_hangs_on_entities_not_on_how_they_are_written(memory: Memory) -> None:
    store = memory.store
    store.add([NewFact(text="I live in Porto.")], now=NOW)
    refresh(store, "default", extractor=RulesExtractor())
    number = store.declare_entity("default", "meals on wheels", now=NOW)
    shed = store.declare_entity("default", "the shed", now=NOW)
    memory.entity_link(f"#{number}", f"#{shed}", "on")
    memory.entity_link("the user", "Bruno Sala", "is a cousin of")
    for _ in range(2):
        found = {(e.source, e.predicate, e.target) for e in store.edges("default")}
        assert (number, "on", shed) in found
        (cousin,) = [each for each in found if each[1] == "is a cousin of"]
        assert None not in cousin
        run(store, agent="default", settings=FAKES)  # which extracts anew, with other names known


def test_of_two_who_bear_one_name_the_edge_is_of_the_one_that_was_meant(memory: Memory) -> None:
    (fact,) = memory.store.add([NewFact(text="Alice Meyer sails with Dora Lind.")], now=NOW)
    refresh(memory.store, "default", extractor=RulesExtractor())
    memory.entity_split("Alice Meyer", [fact.id], note="the sailor")
    with pytest.raises(InputError, match="may mean"):
        memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")
    memory.entity_link("Alice Meyer ②", "Bruno Sala", "plays chess with")
    (edge,) = [e for e in memory.store.edges("default") if e.predicate == "plays chess with"]
    sailor = memory.store.entity_of("default", edge.source)
    assert sailor is not None and sailor.note == "the sailor"
    with pytest.raises(InputError, match="bear one name"):
        memory.entity_link("Alice Meyer ①", "Alice Meyer ②", "is not")


def test_an_edge_follows_a_merge_and_a_new_name(memory: Memory) -> None:
    told = memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")
    memory.entity_rename("Alice Meyer", "Alice Lind")
    again = memory.entity_link("Alice Lind", "Bruno Sala", "plays chess with", weight=2)
    assert (again["new"], again["fact"]) == (False, told["fact"])
    memory.store.declare_entity("default", "Bruno S. Sala", now=NOW)
    memory.entity_merge("Bruno Sala", "Bruno S. Sala")
    (near,) = memory.entity_neighbors("Alice Lind", direction="out", predicate="plays chess with")[
        "neighbors"
    ]
    assert near["name"] == "Bruno S. Sala"


def test_what_was_forgotten_for_good_is_not_declared_again(memory: Memory) -> None:
    told = memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")
    memory.forget_memory(memory.forget_preview(ids=[told["fact"]]).token)
    runs = len(memory.store.runs())
    with pytest.raises(InputError, match="forgotten"):
        memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")
    assert len(memory.store.runs()) == runs


def test_declared_edges_go_out_and_come_back(memory: Memory, tmp_path: Path) -> None:
    memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with", weight=2)
    lines = "".join(f"{line}\n" for line in export_lines(memory.store, agent=None, now=NOW))
    with open_memory(tmp_path / "other.db", settings=FAKES) as other:
        assert not import_bytes(other.store, lines.encode(), Options(), now=NOW).broken
        assert between(other) == [("plays chess with", 2.0)]


@pytest.mark.parametrize(
    "edge",
    [
        {"predicate": "knows", "weight": 0},
        {"predicate": "knows", "weight": -1},
        {"predicate": "knows", "weight": True},
        {"predicate": "knows", "at": 4},
        {"predicate": "knows", "at": "x"},
        {"predicate": ""},
        {"predicate": 3},
        "knows",
    ],
)
def test_strange_metadata_of_imported_facts_does_no_harm(memory: Memory, edge: Any) -> None:
    text, kind = "Alice Meyer knows Bruno Sala", "relation"
    memory.store.add([NewFact(text=text, kind=kind, metadata={"edge": edge})], now=NOW)
    refresh(memory.store, "default", extractor=RulesExtractor())
    assert {e.weight for e in memory.store.edges("default")} == {1.0}
    memory.entity_neighbors("Alice Meyer")


def test_forgetting_the_fact_takes_the_edge_back(memory: Memory) -> None:
    told = memory.entity_link("Alice Meyer", "Bruno Sala", "plays chess with")
    preview = memory.forget_preview(ids=[told["fact"]])
    memory.forget_memory(preview.token)
    assert between(memory) == []


def test_what_can_not_be_joined(memory: Memory) -> None:
    with pytest.raises(NotFoundError, match="Zebedee"):
        memory.entity_link("Alice Meyer", "Zebedee", "knows")
    with pytest.raises(InputError, match="one entity"):
        memory.entity_link("Alice Meyer", "ALICE MEYER", "knows")
    with pytest.raises(InputError, match="predicate"):
        memory.entity_link("Alice Meyer", "Bruno Sala", "  ")
    for weight in (0, -1, math.inf, math.nan):
        with pytest.raises(InputError, match="weight"):
            memory.entity_link("Alice Meyer", "Bruno Sala", "knows", weight=weight)
