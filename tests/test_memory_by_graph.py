"""Recall over the graph: what is a step away from what a query names."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from consolidate import open_memory
from consolidate.backends.rules import RulesExtractor
from consolidate.errors import SettingsError
from consolidate.graph.refresh import refresh
from consolidate.memory.memory import Memory
from consolidate.types import FactStatus, NewFact, Plan

pytest.importorskip("scipy", reason="walks need scipy")

FAKES = {"embedder": "fake:32", "classifier": "fake", "extractor": "rules"}
NOW = datetime.now(UTC)  # facts of long ago would have faded
HEAD = "The chief executive of Mossbank Timber is Delyth Okafor."
HOME = "Delyth Okafor lives in Wexhill."
OTHERS = [f"Note {n}: Bruno Sala sails with Carla Neri on lake {n}." for n in range(30)]


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "m.db", settings={**FAKES, "recall_graph": "on"}) as opened:
        yield opened


def tell(memory: Memory, *texts: str) -> dict[str, str]:
    added = memory.store.add([NewFact(text=text) for text in texts], now=NOW)
    refresh(memory.store, "default", extractor=RulesExtractor())
    return {text: each.id for text, each in zip(texts, added, strict=True)}


def test_a_fact_that_shares_no_name_with_the_query_is_found_with_its_path(memory: Memory) -> None:
    tell(memory, HEAD, HOME, *OTHERS)
    found = memory.recall_memories("Where is the head of Mossbank Timber at home?", limit=5)
    (home,) = [each for each in found if each.fact.text == HOME]
    assert "graph" in home.found_by
    assert home.path == ("Mossbank Timber", HEAD, "Delyth Okafor")
    assert "graph" in found.used


def test_without_a_known_name_nothing_is_walked(memory: Memory) -> None:
    tell(memory, HEAD, HOME)
    found = memory.recall_memories("Where is the head of Zebedee Mills at home?")
    assert "graph" not in found.used
    assert not any(each.path for each in found)


def test_what_was_superseded_does_not_come_back_over_the_graph(memory: Memory) -> None:
    ids = tell(memory, HEAD, HOME, "Delyth Okafor lives in Yarnwick.")
    memory.recall_memories("Mossbank Timber")  # the graph is made and kept
    plan = Plan(
        id="p" * 64,
        agent="default",
        now=NOW,
        snapshot_digest="",
        settings_digest="",
        facts={},
        decisions=(),
    )
    store = memory.store
    with store.atomic():
        run = store.begin_run(plan, now=NOW)
        heir = ids["Delyth Okafor lives in Yarnwick."]
        old = replace(store.get(ids[HOME]), status=FactStatus.SUPERSEDED, superseded_by=heir)
        store.write_fact(old, run=run)
    for query in ("Where is the head of Mossbank Timber at home?", "Delyth Okafor"):
        found = memory.recall_memories(query, limit=20)
        assert HOME not in [each.fact.text for each in found]
    store.undo(run, now=NOW)
    found = memory.recall_memories("Mossbank Timber", limit=20)
    assert HOME in [each.fact.text for each in found]


def test_filters_hold_for_what_the_graph_finds(memory: Memory) -> None:
    tell(memory, HEAD, HOME)
    assert memory.recall_memories("Mossbank Timber", kind="preference") == []


def test_it_can_be_turned_off(tmp_path: Path) -> None:
    with open_memory(tmp_path / "m.db", settings={**FAKES, "recall_graph": "off"}) as memory:
        tell(memory, HEAD, HOME)
        assert "graph" not in memory.recall_memories("Mossbank Timber").used
    with pytest.raises(SettingsError, match="recall_graph"):
        open_memory(tmp_path / "m.db", settings={**FAKES, "recall_graph": "maybe"})
