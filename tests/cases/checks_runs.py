"""Checks on runs: what they tell, what they leave, how they end, how they are undone."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

from cases.bench import NOW, Bench, check, day, judged, live, said
from cases.book import Harm, Miss
from consolidate import pipeline
from consolidate.backends.fake import fake_backends
from consolidate.errors import InputError, LeaseHeldError, StalePlanError, StoreError
from consolidate.settings import Settings
from consolidate.store import Store, leases
from consolidate.store.database import Database
from consolidate.types import Alias, DecisionKind, FactStatus, NewFact, Relation

PORTS = [
    said("a", "The ledger port is 7001", 1),
    said("b", "The ledger port is 7002", 2),
    said("c", "The ledger port is 7003", 3),
]
REPEATS = [
    said("key-1", "The depot opens at seven", 1),
    said("key-2", "The depot opens at seven", 2),
]


@check
def every_absorbed_text_is_kept_word_for_word(bench: Bench) -> None:
    opening = "the old mill by the river keeps grain and flour for the whole valley "
    words = "oak ash elm fir yew bay fig nut hop rye oat pea".split()
    texts = [opening + " ".join([word] * 350) for word in words]
    verdicts = {(a, b): Relation.EQUIVALENT for a in texts for b in texts if a != b}
    backends = fake_backends(verdicts=verdicts)
    store = bench.store()
    for number, text in enumerate(texts):
        store.add([said(f"note-{number:02}", text, number)], now=NOW)
        bench.run(store, backends)
    standing = live(store)
    assert len(standing) < len(texts)
    for number, text in enumerate(texts):
        assert store.get(f"note-{number:02}").text == text
    told = [event.fact.text for fact in standing for event in store.history(fact).before]
    assert sorted([*told, *(fact.text for fact in standing.values())]) == sorted(texts)


@check
def every_change_is_told_and_can_be_undone(bench: Bench) -> None:
    store = bench.filled(
        [
            *REPEATS,
            *PORTS,
            said("d", "Deliveries come to the side gate", 1),
            said("e", "Side gate deliveries", 2),
        ]
    )
    before = list(store.dump())
    backends = judged(
        ("Deliveries come to the side gate", "Side gate deliveries", Relation.LEFT_ENTAILS_RIGHT)
    )
    bench.run(store, backends)
    gone = [f for f in store.facts(statuses=None) if not f.status.is_live]
    assert {f.status for f in gone} == {FactStatus.MERGED, FactStatus.SUPERSEDED}
    for fact in gone:
        event = store.history(fact.id).after[0]
        assert event.run == fact.changed_by
        assert event.at is not None
        assert event.to in {f.id for f in store.facts(statuses=None)}
        assert event.reason
        assert fact.text[:10] in event.sentence
        if event.reason != "repeat":  # word for word the same: no model was asked
            assert event.evidence[0].forward is not None
            assert event.evidence[0].because
    store.undo("last", now=NOW)
    assert list(store.dump()) == before


@check
def a_fault_while_applying_changes_nothing(bench: Bench) -> None:
    reached = True
    number = -1
    while reached:
        number += 1
        store = bench.filled([*PORTS, *REPEATS])
        plan = pipeline.plan(store, fake_backends(), Settings(), now=NOW)
        before = list(store.dump())
        with _writing(bench, _Fault(number)) as fault:
            try:
                pipeline.apply(store, plan, now=NOW)
            except StoreError as error:
                assert str(error) == "disk full"
        reached = fault.reached
        if reached:
            assert list(store.dump()) == before
            assert store.runs() == []
            pipeline.apply(store, plan, now=NOW)
        assert {fact.text for fact in store.facts()} == {PORTS[2].text, REPEATS[0].text}
        store.close()
    assert number > 3


class _Fault:
    """Lets so many writes to the database through, and no further one."""

    def __init__(self, last: int) -> None:
        self.left = last
        self.reached = False

    def __call__(self) -> None:
        self.left -= 1
        if self.left < 0:
            self.reached = True
            raise StoreError("disk full")


Watch = TypeVar("Watch", bound=Callable[[], None])


@contextmanager
def _writing(bench: Bench, watch: Watch) -> Iterator[Watch]:
    """Call `watch` before each write to any database."""

    def watched(real: Callable[..., Any]) -> Callable[..., Any]:
        def write(*args: Any, **options: Any) -> Any:
            watch()
            return real(*args, **options)

        return write

    with bench.monkeypatch.context() as context:
        for name in ("write", "write_many"):
            context.setattr(Database, name, watched(getattr(Database, name)))
        yield watch


@check
def the_id_of_an_absorbed_fact_stays_taken(bench: Bench) -> None:
    store = bench.filled(REPEATS)
    before = list(store.dump())
    bench.run(store)
    (survivor,) = live(store)
    gone = "key-1" if survivor == "key-2" else "key-2"
    with pytest.raises(InputError, match=gone):
        store.add([said(gone, "Something else altogether", 9)], now=NOW)
    store.undo("last", now=NOW)
    assert list(store.dump()) == before
    assert set(live(store)) == {"key-1", "key-2"}


@check
def a_merge_leaves_no_moment_without_an_answer(bench: Bench) -> None:
    store = bench.filled(REPEATS, bench.path)
    reader = bench.store(bench.path)
    plan = pipeline.plan(store, fake_backends(), Settings(), now=NOW)
    answers: list[int] = []

    def ask() -> None:
        answers.append(len(reader.search("when does the depot open")))

    with _writing(bench, ask):
        pipeline.apply(store, plan, now=NOW)
    assert len(answers) > 3
    assert set(answers) == {2}
    ask()
    assert answers[-1] == 1


@check
def a_crash_at_any_write_leaves_a_sound_store(bench: Bench) -> None:
    facts = [
        said("a", "Marlow keeps the harbour log", 1),
        said("b", "Captain Ray Marlow sails on Friday", 2),
        *REPEATS,
    ]
    alias = Alias(agent="default", canonical="Ray Marlow", alias="Marlow")
    names = {"Marlow keeps the harbour log": ["Marlow"],
             "Captain Ray Marlow sails on Friday": ["Ray Marlow"]}  # fmt: skip
    backends = fake_backends(mentions=names)
    whole = bench.filled(facts)
    bench.run(whole, backends)
    whole.add_alias(alias)
    bench.run(whole, backends)
    wanted = _without_runs(whole)
    number = 0
    while True:
        number += 1
        store = bench.filled(facts)
        bench.run(store, backends)
        store.add_alias(alias)
        with _writing(bench, _Fault(number)) as fault:
            try:
                bench.run(store, backends)
            except StoreError:
                pass
        assert store.check() == []
        with bench.monkeypatch.context() as later:
            # The process that held the lease is gone by then; here it is this one.
            later.setattr(leases, "_is_dead", lambda pid: True)
            bench.run(store, backends)
        assert _without_runs(store) == wanted
        store.close()
        if not fault.reached:
            break
    assert number > 3


def _without_runs(store: Store) -> list[str]:
    """Everything the store holds but the names of runs, which are made by chance."""
    return [re.sub("run-[0-9a-z-]+", "", line) for line in store.dump(derived=True)]


@check
def an_overtaken_plan_is_refused(bench: Bench) -> None:
    store = bench.filled([*PORTS, *REPEATS])
    backends = fake_backends()
    approved = pipeline.plan(store, backends, Settings(), now=NOW)
    other = pipeline.plan(store, backends, Settings(supersede=False), now=NOW)
    pipeline.apply(store, other, now=NOW)
    before = list(store.dump())
    with pytest.raises(StalePlanError):
        pipeline.apply(store, approved, now=NOW)
    assert list(store.dump()) == before


@check
def proposals_are_taken_one_by_one(bench: Bench) -> None:
    texts = ["The depot opens at seven", "The pier closes at nine", "The bell rings at noon"]
    store = bench.filled(
        [said(f"{n}{copy}", text, copy) for n, text in enumerate(texts) for copy in (1, 2)]
    )
    bench.run(store, merge=False)
    proposals = {review.decision.subject[0]: review for review in store.reviews()}
    assert sorted(proposals) == ["0", "1", "2"]
    before = list(store.dump())
    for which in "02":
        pipeline.accept(store, proposals[which].id, now=NOW)
    assert [fact.id for fact in store.facts() if fact.id.startswith("1")] == ["11", "12"]
    merged = store.facts(statuses=[FactStatus.MERGED])
    assert sorted(fact.id[0] for fact in merged) == ["0", "2"]
    store.undo("last", now=NOW)
    store.undo(store.runs()[1].id, now=NOW)
    assert list(store.dump()) == before


@check
def two_runs_never_overlap(bench: Bench) -> None:
    first = bench.filled(PORTS, bench.path)
    second = bench.store(bench.path)
    third = bench.store(bench.path)
    refused: list[str] = []

    def meanwhile(stage: str, done: int, total: int) -> None:
        if refused:
            return
        with pytest.raises(LeaseHeldError) as caught:
            bench.run(second)
        refused.append(str(caught.value))
        third.add([said("z", "The gate is painted green", 5)], now=NOW)
        assert [fact.id for fact in third.search("green gate")] == ["z"]

    pipeline.run(first, fake_backends(), Settings(), now=NOW, progress=meanwhile)
    assert "pid" in refused[0]
    assert set(live(first)) == {"c", "z"}
    assert second.check() == []
    assert not bench.run(second).nothing_new  # it had not seen z
    assert bench.run(third).nothing_new


@check
def a_failed_verdict_changes_nothing(bench: Bench) -> None:
    left, right = "Guests eat in the hall", "Guests eat in the yard"
    backends = fake_backends(verdicts={(left, right): None})
    store = bench.filled([said("a", left, 1), said("b", right, 2)])
    outcome = bench.run(store, backends)
    assert outcome.plan is not None
    assert outcome.plan.decisions == ()
    assert sum(stage.failures for stage in outcome.plan.stages) == 1
    assert set(live(store)) == {"a", "b"}
    asked = backends.classifier.items  # type: ignore[attr-defined]  # the fake counts
    bench.run(store, backends)
    assert backends.classifier.items == asked + 1  # type: ignore[attr-defined]  # asked again


@check
def a_dismissed_pair_stays_dismissed(bench: Bench) -> None:
    store = bench.filled(
        [said("a", "The stall sells plums", 1), said("b", "The stall sells figs", 1)]
    )
    bench.run(store)
    (review,) = store.reviews()
    pipeline.reject(store, review.id, now=NOW)
    for profile in ("careful", "balanced", "eager"):
        bench.run(store, profile=profile)
    store.add([said("c", "The stall has a new awning", 9)], now=NOW)
    bench.run(store, merge=False)
    asked = [{review.decision.subject, review.decision.object} for review in store.reviews()]
    assert {"a", "b"} not in asked
    assert {"a", "b"} <= set(live(store))


@check
def notes_without_conflicts_raise_no_flood(bench: Bench) -> None:
    crops = "leeks onions chard kale beans peas beets carrots sorrel fennel".split()
    helpers = "Ada Boris Chidi Dalia Emre Fiona Goran Hana Ilan Jutta".split()
    notes = [
        *(f"Bed {n} holds {crop}" for n, crop in enumerate(crops, start=11)),
        *(f"{name} waters the {crop}" for name, crop in zip(helpers, crops, strict=True)),
        *(f"{name} has the key to shed {n}" for n, name in enumerate(helpers, start=3)),
        *(f"On 2026-05-{n:02} the {crop} were thinned" for n, crop in enumerate(crops, start=4)),
        *(f"We should try {crop} under glass next year" for crop in crops[:5]),
        *(f"{name} likes {crop}" for name in helpers[:3] for crop in crops[:5]),
        *(f"Order number GB-{n}72 was for {crop} seed" for n, crop in enumerate(crops, start=40)),
        *(f"The {crop} row is {n} m long" for n, crop in enumerate(crops, start=5)),
    ]
    store = bench.filled([said(f"{n:03}", note, n) for n, note in enumerate(notes)])
    outcome = pipeline.run(store, bench.real, bench.settings, now=NOW)
    assert outcome.plan is not None
    acting = (DecisionKind.MERGE, DecisionKind.SUPERSEDE)
    acted = [d for d in outcome.plan.decisions if d.kind in acting]
    asked = [d for d in outcome.plan.decisions if d.kind is DecisionKind.REVIEW]
    if acted:
        raise Harm("; ".join(decision.sentence for decision in acted))
    if len(asked) > len(notes) * 0.005:
        raise Miss(f"{len(asked)} questions about {len(notes)} notes: {asked[0].sentence} ...")


@check
def what_is_undone_is_not_done_again(bench: Bench) -> None:
    store = bench.filled(
        [said("a", "Jamie works at Tarn", 1), said("b", "Jamie works at Ruddle", 30)]
    )
    bench.run(store)
    assert set(live(store)) == {"b"}
    store.undo("last", now=NOW)
    assert set(live(store)) == {"a", "b"}
    for _ in range(2):
        bench.run(store)
        assert set(live(store)) == {"a", "b"}


@check
def a_jumping_clock_retires_nothing(bench: Bench) -> None:
    facts = [
        said("a", "The mast is made of spruce", 1),
        said("b", "Old ropes lie in the loft", 2),
        NewFact(id="c", text="The keel was painted red", stated_at=day(4000)),
    ]
    store = bench.filled(facts)
    before = list(store.dump())
    for moment in (day(0), day(1461), day(-1), day(36500)):
        pipeline.run(store, fake_backends(), Settings(), now=moment)
        assert list(store.dump()) == before
    # A lease taken under a clock that was far ahead binds nobody once the clock is right.
    with store.lease(seconds=60, now=lambda: day(36500)):
        with store.lease(seconds=60, now=lambda: day(0)):
            pass


@check
def others_write_while_models_work(bench: Bench) -> None:
    store = bench.filled(PORTS, bench.path)
    other = bench.store(bench.path, busy_timeout=0.05)
    written: list[str] = []

    def meanwhile(stage: str, done: int, total: int) -> None:
        number = len(written)
        # In another thread, as it would be: the store of a run belongs to the run.
        thread = threading.Thread(
            target=lambda: written.extend(
                added.id for added in other.add([said(f"w{number}", f"note {number}", 5)], now=NOW)
            )
        )
        thread.start()
        thread.join()

    pipeline.run(store, fake_backends(), Settings(), now=NOW, progress=meanwhile)
    assert len(written) >= 4  # before and after the work of each model
    assert set(written) <= set(live(store))
