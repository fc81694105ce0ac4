"""Walks over entities and facts: what is near to a name, and that nothing else is."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from consolidate.backends.rules import RulesExtractor
from consolidate.errors import InputError
from consolidate.graph.refresh import refresh
from consolidate.graph.walking import Graphs, entity_neighbors, ppr_retrieve
from consolidate.store import Store
from consolidate.types import NewFact

pytest.importorskip("scipy", reason="walks need scipy")

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
TEXTS = (
    "Alice Meyer works at Acme Robotics.",
    "The office of Acme Robotics is in Porto.",
    "Bruno Sala plays chess with Carla Neri.",
)


@pytest.fixture
def filled(tmp_path: Path) -> Iterator[tuple[Store, list[str]]]:
    with Store.open(tmp_path / "m.db") as store:
        yield store, tell(store, *TEXTS)


def tell(store: Store, *texts: str, agent: str = "default") -> list[str]:
    added = store.add([NewFact(text=text, agent=agent) for text in texts], now=NOW)
    refresh(store, agent, extractor=RulesExtractor())
    return [each.id for each in added]


def test_a_walk_reaches_facts_over_a_shared_entity_in_both_directions(
    filled: tuple[Store, list[str]],
) -> None:
    store, (works, run_from, chess) = filled
    graphs = Graphs(store)
    for seed, first in (("Alice Meyer", works), ("Porto", run_from)):
        ranking = ppr_retrieve(graphs, store, [seed])
        ids = [fact for fact, _ in ranking.facts]
        assert ids[0] == first
        assert set(ids) == {works, run_from}
        assert chess not in ids


def test_an_unknown_seed_gives_nothing_and_says_so(filled: tuple[Store, list[str]]) -> None:
    store, _ = filled
    ranking = ppr_retrieve(Graphs(store), store, ["Zebedee"])
    assert (ranking.facts, ranking.entities, ranking.unknown) == ((), (), ("Zebedee",))


def test_what_is_retired_is_not_walked(filled: tuple[Store, list[str]]) -> None:
    from dataclasses import replace

    from consolidate.types import FactStatus, Plan

    store, (works, run_from, _) = filled
    graphs = Graphs(store)
    assert len(ppr_retrieve(graphs, store, ["Alice Meyer"]).facts) == 2
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
        old = replace(store.get(works), status=FactStatus.SUPERSEDED, superseded_by=run_from)
        store.write_fact(old, run=run)
    # The cached graph is made anew, since the data changed
    ranking = ppr_retrieve(graphs, store, ["Alice Meyer"])
    assert ranking.facts == ()


def test_agents_do_not_meet(filled: tuple[Store, list[str]]) -> None:
    store, _ = filled
    tell(store, "Alice Meyer sails with Dora Lind.", agent="other")
    found = entity_neighbors(store, "Alice Meyer", hops=3)
    assert "Dora Lind" not in {each.name for each in found}


def test_neighbours_come_by_hops_with_the_facts_that_join_them(
    filled: tuple[Store, list[str]],
) -> None:
    store, (works, run_from, _) = filled
    found = entity_neighbors(store, "Alice Meyer", hops=2)
    by_name = {each.name: each for each in found}
    assert by_name["Acme Robotics"].hops == 1
    assert by_name["Acme Robotics"].through == (works,)
    assert by_name["Porto"].hops == 2
    assert by_name["Porto"].through == (run_from,)
    assert len(entity_neighbors(store, "Alice Meyer", hops=2, k=1)) == 1


def test_a_name_in_most_facts_is_no_place_to_begin(tmp_path: Path) -> None:
    with Store.open(tmp_path / "m.db") as store:
        tell(store, *(f"Harbourlight has a page {n} about Topic{n} Kappa." for n in range(60)))
        ranking = ppr_retrieve(Graphs(store), store, ["Harbourlight"])
        assert ranking.left_out == ("Harbourlight",)
        assert ranking.facts == ()


def test_masses_fall_from_the_seed_on_and_sum_to_at_most_one(
    filled: tuple[Store, list[str]],
) -> None:
    store, _ = filled
    ranking = ppr_retrieve(Graphs(store), store, ["Alice Meyer"], k=50)
    masses = [mass for _, mass in ranking.facts]
    assert masses == sorted(masses, reverse=True)
    assert 0 < sum(masses) < 1


@pytest.mark.parametrize("wrong", [{"damping": 0.0}, {"damping": 1.0}, {"k": 0}])
def test_values_out_of_range_are_refused(
    filled: tuple[Store, list[str]], wrong: dict[str, float]
) -> None:
    store, _ = filled
    with pytest.raises(InputError):
        ppr_retrieve(Graphs(store), store, ["Porto"], **wrong)  # type: ignore[arg-type]


def test_neighbours_by_what_facts_state_in_both_directions(
    filled: tuple[Store, list[str]],
) -> None:
    store, (works, *_) = filled
    (out,) = entity_neighbors(store, "Alice Meyer", direction="out")
    assert (out.name, out.predicates, out.through) == ("Acme Robotics", ("employer",), (works,))
    (back,) = entity_neighbors(store, "Acme Robotics", direction="in")
    assert (back.name, back.predicates) == ("Alice Meyer", ("employer",))
    assert entity_neighbors(store, "Alice Meyer", direction="in") == []
    with pytest.raises(InputError, match="sideways"):
        entity_neighbors(store, "Alice Meyer", direction="sideways")  # type: ignore[arg-type]


def test_neighbours_as_they_were(tmp_path: Path) -> None:
    begun, over = datetime(2020, 1, 1, tzinfo=UTC), datetime(2022, 1, 1, tzinfo=UTC)
    with Store.open(tmp_path / "m.db") as store:
        past = NewFact(text="Alice Meyer works at Acme Robotics.", valid_from=begun, valid_to=over)
        store.add([past, NewFact(text="Alice Meyer works at Globex Labs.")], now=NOW)
        refresh(store, "default", extractor=RulesExtractor())
        then = entity_neighbors(store, "Alice Meyer", as_of=datetime(2021, 1, 1, tzinfo=UTC))
        assert [each.name for each in then] == ["Acme Robotics"]


def test_neighbours_by_one_predicate_only(filled: tuple[Store, list[str]]) -> None:
    store, _ = filled
    tell(store, "Alice Meyer is married to Dora Lind.")
    found = entity_neighbors(store, "Alice Meyer", hops=2, predicate=" employer ")
    assert [each.name for each in found] == ["Acme Robotics"]
    assert entity_neighbors(store, "Alice Meyer", predicate="owner") == []
    with pytest.raises(InputError, match="predicate"):
        entity_neighbors(store, "Alice Meyer", predicate="  ")


def test_what_is_over_is_not_walked_any_more_once_it_is(tmp_path: Path) -> None:
    end = NOW + timedelta(days=10)
    with Store.open(tmp_path / "m.db") as store:
        store.add([NewFact(text=TEXTS[0], valid_to=end), NewFact(text=TEXTS[1])], now=NOW)
        refresh(store, "default", extractor=RulesExtractor())
        moment = NOW
        graphs = Graphs(store, clock=lambda: moment)
        for moment, there in ((NOW, 2), (end - timedelta(seconds=1), 2), (end, 1)):  # noqa: B007
            assert len(ppr_retrieve(graphs, store, ["Acme Robotics"]).facts) == there
        assert len(ppr_retrieve(graphs, store, ["Alice Meyer"], as_of=NOW).facts) == 2
        assert entity_neighbors(store, "Alice Meyer", now=end) == []
        assert len(entity_neighbors(store, "Alice Meyer", now=NOW)) == 1
        assert len(entity_neighbors(store, "Alice Meyer", now=end, as_of=NOW)) == 1


def test_graphs_of_many_times_do_not_pile_up(filled: tuple[Store, list[str]]) -> None:
    store, _ = filled
    graphs = Graphs(store)
    for day in range(12):
        graphs.of("default", NOW + timedelta(days=day))
    assert len(graphs._made) <= 5
