"""Declared edges."""

from __future__ import annotations

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consolidate import open_memory, undo
from consolidate.backends.rules import RulesExtractor
from consolidate.errors import InputError, NotFoundError
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
