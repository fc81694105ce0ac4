"""Where a fact comes from and what became of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consolidate.backends.rules import RulesExtractor
from consolidate.errors import InputError, NotFoundError
from consolidate.graph.lineage import lineage_trace
from consolidate.graph.refresh import refresh
from consolidate.store import Episode, Store
from consolidate.types import FactStatus, Link, NewFact, Plan

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXTS = (
    "Alice Meyer lives in Ghent.",
    "Alice Meyer lives in Lund.",
    "Alice Meyer has moved to Porto.",
    "Alice Meyer keeps bees.",
    "Bruno Sala plays chess.",
)


@pytest.fixture
def told(tmp_path: Path) -> Iterator[tuple[Store, list[str]]]:
    """Ghent gave way to Lund, Lund to Porto; the bees are linked to Porto."""
    with Store.open(tmp_path / "m.db") as store:
        ids = [each.id for each in store.add([NewFact(text=text) for text in TEXTS], now=NOW)]
        refresh(store, "default", extractor=RulesExtractor())
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
            for old, new in ((0, 1), (1, 2)):
                fact = store.get(ids[old])
                gone = replace(fact, status=FactStatus.SUPERSEDED, superseded_by=ids[new])
                store.write_fact(gone, run=run)
            store.write_link("default", Link(left=ids[2], right=ids[3], relation="with"), run=run)
        yield store, ids


def test_backward_leads_to_what_came_before(told: tuple[Store, list[str]]) -> None:
    store, (ghent, lund, porto, *_) = told
    found = lineage_trace(store, porto, direction="backward", depth=2)
    depths = {node.id: node.depth for node in found.nodes}
    assert (depths[porto], depths[lund], depths[ghent]) == (0, 1, 2)
    assert {(e.start, e.end) for e in found.edges if e.how == "superseded_by"} == {
        (ghent, lund),
        (lund, porto),
    }


def test_forward_from_the_last_finds_nothing_later(told: tuple[Store, list[str]]) -> None:
    store, (_, _, porto, *_) = told
    found = lineage_trace(store, porto, direction="forward", depth=1)
    assert not [edge for edge in found.edges if edge.how == "superseded_by"]


def test_links_and_names_are_ties_too(told: tuple[Store, list[str]]) -> None:
    store, (_, _, porto, bees, chess) = told
    found = lineage_trace(store, porto, depth=1)
    assert bees in {node.id for node in found.nodes}
    assert "Alice Meyer" in {node.text for node in found.nodes if node.kind == "entity"}
    assert chess not in {node.id for node in lineage_trace(store, porto, depth=10).nodes}


def test_an_entity_leads_to_its_facts_retired_ones_too(told: tuple[Store, list[str]]) -> None:
    store, ids = told
    found = lineage_trace(store, "Alice Meyer", "entity", depth=1)
    states = {node.id: node.status for node in found.nodes if node.kind == "fact"}
    assert states.keys() == set(ids[:4])
    assert states[ids[0]] == "superseded"


def test_what_is_cut_is_said_to_be_cut(told: tuple[Store, list[str]]) -> None:
    store, (_, _, porto, *_) = told
    found = lineage_trace(store, porto, depth=5, most=2)
    assert found.truncated
    assert len(found.nodes) == 2
    assert all({e.start, e.end} <= {n.id for n in found.nodes} for e in found.edges)


def test_another_agents_fact_is_not_there(told: tuple[Store, list[str]]) -> None:
    store, ids = told
    with pytest.raises(NotFoundError):
        lineage_trace(store, ids[0], agent="other")
    with pytest.raises(NotFoundError):
        lineage_trace(store, "Zebedee", "entity")
    with pytest.raises(InputError):
        lineage_trace(store, ids[0], depth=0)


def test_episodes_are_what_facts_came_of(told: tuple[Store, list[str]]) -> None:
    store, (ghent, lund, _, bees, _) = told
    visit = Episode(agent="default", title="A visit", text="We met.", facts=(lund, bees))
    id_ = store.add_episode(visit, now=NOW)[0].id
    found = lineage_trace(store, lund, direction="backward", depth=1)
    assert {node.id for node in found.nodes if node.kind != "entity"} == {lund, ghent, f"@{id_}"}
    assert ("A visit", "") in {(node.text, node.status) for node in found.nodes}
    onward = lineage_trace(store, lund, direction="forward", depth=1)
    assert not [node for node in onward.nodes if node.kind == "episode"]
    whole = lineage_trace(store, id_[:20], "episode", direction="forward", depth=1)
    assert {node.id for node in whole.nodes} == {f"@{id_}", lund, bees}
    assert {edge.how for edge in whole.edges} == {"told"}
    back = lineage_trace(store, f"@{id_}", "episode", direction="backward")
    assert [node.id for node in back.nodes] == [f"@{id_}"]
    with pytest.raises(NotFoundError):
        lineage_trace(store, id_, "episode", agent="somebody else")


def test_ids_may_begin_like_those_of_others(store: Store) -> None:
    odd = [NewFact(text=f"Alice Meyer has {n} hens.", id=f"{sign}1") for n, sign in enumerate("#@")]
    store.add(odd, now=NOW)
    refresh(store, "default", extractor=RulesExtractor())
    found = lineage_trace(store, "#1")
    assert [node.text for node in found.nodes if node.kind == "fact"] == [
        "Alice Meyer has 0 hens.",
        "Alice Meyer has 1 hens.",
    ]
