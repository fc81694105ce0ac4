"""Strength: hippo's formula to the day, computed at read, written by nobody."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from builders import NOW, said
from hypothesis import given
from hypothesis import strategies as st

from consolidate.backends.fake import fake_backends
from consolidate.errors import InputError, NotFoundError
from consolidate.memory import open_memory
from consolidate.memory.memory import Memory
from consolidate.memory.strength import Decay, running_average
from consolidate.settings import Settings

HIPPO = Decay()
SHARE = st.floats(0, 1)
COUNT = st.integers(0, 10_000)
HOURS = st.floats(0, 1e6)


class Later(Memory):
    """A memory whose clock stands where a test puts it."""

    days = 0.0

    def now(self):  # type: ignore[no-untyped-def,override]  # a clock of the instance
        return NOW + timedelta(days=self.days)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Later]:
    with Later.open(
        tmp_path / "memory.db", settings=Settings(), backends=fake_backends()
    ) as memory:
        yield memory


def add(memory: Memory, *texts: str, intensity: float = 0.5) -> list[str]:
    facts = [said(text, intensity=intensity) for text in texts]
    return [each.id for each in memory.store.add(facts, now=NOW)]


# ---- the formula


@pytest.mark.parametrize(
    ("accesses", "resistance", "days"),
    [(0, 1.0, 29), (5, 1.54, 44), (20, 1.91, 55), (100, 2.38, 69)],
)
def test_half_lives_are_those_of_hippos_table(accesses: int, resistance: float, days: int) -> None:
    half = math.log(2) * (1 + 0.3 * math.log(1 + accesses)) / 0.001
    assert round(half / 24) == days
    assert round(half * 0.001 / math.log(2), 2) == resistance
    assert HIPPO.strength(0.8, accesses, half) == pytest.approx(0.4)


@pytest.mark.parametrize(("intensity", "days"), [(0.15, 46), (0.5, 96), (1.0, 125)])
def test_a_fact_that_nobody_uses_is_at_the_floor_on_hippos_day(intensity: float, days: int) -> None:
    hours = HIPPO.hours_left(intensity, 0)
    assert round(hours / 24) == days
    assert HIPPO.strength(intensity, 0, hours) == pytest.approx(0.05)


def test_a_faint_fact_is_not_born_forgotten() -> None:
    assert round(HIPPO.hours_left(0.04, 0) / 24) == 29
    assert HIPPO.hours_left(0.0, 0) == HIPPO.hours_left(0.1, 0)


@given(SHARE, COUNT, HOURS, HOURS)
def test_strength_falls_with_time_and_stays_between_nothing_and_the_intensity(
    intensity: float, accesses: int, one: float, other: float
) -> None:
    soon, late = sorted((one, other))
    assert intensity >= HIPPO.strength(intensity, accesses, soon)
    assert (
        HIPPO.strength(intensity, accesses, soon) >= HIPPO.strength(intensity, accesses, late) >= 0
    )


@given(SHARE, COUNT, COUNT, HOURS)
def test_what_is_recalled_more_often_is_never_weaker(
    intensity: float, one: int, other: int, hours: float
) -> None:
    few, many = sorted((one, other))
    assert HIPPO.strength(intensity, few, hours) <= HIPPO.strength(intensity, many, hours)


@given(SHARE, COUNT, st.floats(-1e6, 0))
def test_a_use_that_lies_in_the_future_counts_as_now(
    intensity: float, accesses: int, hours: float
) -> None:
    assert HIPPO.strength(intensity, accesses, hours) == intensity


@given(st.lists(st.tuples(SHARE, COUNT, HOURS), min_size=1, max_size=20))
def test_columns_give_what_single_facts_give(rows: list[tuple[float, int, float]]) -> None:
    columns = [np.array(column, dtype=np.float64) for column in zip(*rows, strict=True)]
    assert HIPPO.strength(*columns).tolist() == pytest.approx([HIPPO.strength(*r) for r in rows])
    left = [HIPPO.hours_left(intensity, accesses) for intensity, accesses, _ in rows]
    assert HIPPO.hours_left(columns[0], columns[1]).tolist() == pytest.approx(left)


def test_without_decay_nothing_leaves() -> None:
    assert math.isinf(Decay(per_hour=0.0).hours_left(0.5, 0))
    assert np.isinf(Decay(floor=0.0).hours_left(np.array([0.5]), np.array([0.0]))).all()


@given(st.lists(SHARE, min_size=1, max_size=30))
def test_intensity_is_the_mean_of_all_encounters(heard: list[float]) -> None:
    intensity = heard[0]
    for count, each in enumerate(heard[1:], start=1):
        intensity = running_average(intensity, count, each)
    assert intensity == pytest.approx(sum(heard) / len(heard))


# ---- in a memory


def test_a_faded_fact_leaves_recall_and_not_history(memory: Later) -> None:
    add(memory, "The tent is in the attic.")
    memory.days = 95
    assert len(memory.recall_memories("tent")) == 1
    # That recall counted as a use, 95 days after the fact was stored.
    memory.write_uses()
    memory.days = 95 + 96
    assert len(memory.recall_memories("tent")) == 1, "being used once slows decay"
    memory.write_uses()
    memory.days += 200
    assert memory.recall_memories("tent") == []
    (found,) = memory.recall_memories("tent", include_history=True)
    assert found.strength < 0.05
    assert memory.store.get(found.fact.id).status.is_live


def test_asking_for_strength_any_number_of_times_changes_nothing(memory: Later) -> None:
    add(memory, "The tent is in the attic.", "The stove is broken.")
    memory.days = 40
    dump = list(memory.store.dump())
    first = memory.decay_preview(days=90)
    again = [memory.decay_preview(days=90) for _ in range(3)]
    assert all(each == first for each in again)
    assert list(memory.store.dump()) == dump
    assert memory.store.rows_written() == 0 or list(memory.store.dump()) == dump


def test_recalling_leaves_the_fact_itself_as_it_was(memory: Later) -> None:
    (tent,) = add(memory, "The tent is in the attic.", intensity=0.1)
    before = memory.store.get(tent)
    for _ in range(40):
        memory.recall_memories("tent")
    assert memory.write_uses()
    assert memory.store.get(tent) == before
    assert memory.store._db.query("SELECT count FROM uses") == [(40,)]
    (found,) = memory.recall_memories("tent")
    assert found.strength == pytest.approx(0.1)


def test_the_preview_names_the_day_and_what_has_left_already(memory: Later) -> None:
    strong, faint = add(memory, "The tent is in the attic.") + add(
        memory, "The stove is old.", intensity=0.15
    )
    memory.days = 50
    (left,) = memory.decay_preview(days=30)
    assert (left.fact.id, left.left) == (faint, True)
    assert round((left.leaves_at - NOW) / timedelta(days=1)) == 46
    both = memory.decay_preview(days=60)
    assert [(each.fact.id, each.left) for each in both] == [(faint, True), (strong, False)]
    assert memory.decay_preview(days=60, limit=1) == both[:1]
    with pytest.raises(InputError, match="negative"):
        memory.decay_preview(days=-1)


def test_a_pinned_fact_never_leaves(memory: Later) -> None:
    (tent,) = add(memory, "The tent is in the attic.")
    assert memory.pin(tent)
    assert not memory.pin(tent)
    memory.days = 5000
    (found,) = memory.recall_memories("tent")
    assert (found.pinned, found.strength) == (True, 0.5)
    assert memory.decay_preview(days=10_000) == []
    assert memory.unpin(tent)
    assert not memory.unpin(tent)
    assert memory.recall_memories("tent") == []


def test_another_agents_fact_can_not_be_pinned(memory: Later, tmp_path: Path) -> None:
    (other,) = (
        each.id for each in memory.store.add([replace(said("Bo sleeps."), agent="bo")], now=NOW)
    )
    for verb in (memory.pin, memory.unpin):
        with pytest.raises(NotFoundError, match="default"):
            verb(other)
    with open_memory(tmp_path / "memory.db", "bo", backends=fake_backends()) as bo:
        assert bo.pin(other[:10]) if len(other) > 10 else bo.pin(other)


def test_settings_change_the_constants() -> None:
    chosen = Decay.of(Settings(decay_per_hour=0.01, access_resistance=1.0, strength_floor=0.2))
    assert chosen.strength(1.0, 0, 100) == pytest.approx(math.exp(-1))
    assert chosen == Decay(per_hour=0.01, resistance=1.0, floor=0.2)
