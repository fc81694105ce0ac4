"""The pipeline from end to end with fake models: run, plan, apply, undo, reviews."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from builders import NOW, day, said
from hypothesis import given, settings
from hypothesis import strategies as st
from pipelines import FAKE_SETTINGS, Classifier, Memory, brief, messy

from consolidate import pipeline
from consolidate.backends.fake import FakeEmbedder
from consolidate.errors import (
    InputError,
    ModelMismatchError,
    NotFoundError,
    StalePlanError,
    UndoConflictError,
)
from consolidate.store import Store
from consolidate.types import DecisionKind, FactStatus, NewFact, Relation, ReviewState

CONTRADICTS, EQUIVALENT = Relation.CONTRADICTS, Relation.EQUIVALENT

ACME = "Mia works at Acme."
GLOBEX = "Mia works at Globex."
INITECH = "Mia works at Initech."

Make = Callable[..., Memory]


@pytest.fixture
def memory(store: Store) -> Make:
    """A memory with these facts, said by the user."""

    def make(*facts: NewFact, **options: object) -> Memory:
        made = Memory(store, **options)  # type: ignore[arg-type]  # passed through
        made.add(*facts)
        return made

    return make


def mixed() -> list[NewFact]:
    """Facts that give a decision of every kind."""
    return [
        said(ACME, 1, id="acme-1"),
        said(GLOBEX, 5, id="globex-1"),
        said("Mia  works at Globex", 6, id="globex-2"),
        said("Ada drives a red car.", 1, id="ada-1"),
        said("Ada drives a blue car.", 1, id="ada-2"),
        said("Otto plans to paint the old shed.", 1, id="shed-1"),
        said("Otto did paint the old shed.", 9, id="shed-2"),
        said("Vera keeps bees.", 1, id="bees-1"),
    ]


def test_a_run_merges_supersedes_links_and_asks(memory: Make) -> None:
    it = memory(*mixed())
    outcome = it.run()
    assert outcome.plan is not None
    assert brief(outcome.plan) == {
        ("merge", "globex-2", "globex-1"),
        ("supersede", "acme-1", "globex-1"),
        ("review", "ada-1", "ada-2"),
        ("link", "shed-1", "shed-2"),
    }
    facts = it.all()
    assert facts["globex-2"].merged_into == "globex-1"
    assert facts["globex-1"].encounters == 2
    assert facts["globex-1"].confirmed_at == day(6)
    assert (facts["acme-1"].status, facts["acme-1"].superseded_by) == ("superseded", "globex-1")
    assert facts["acme-1"].valid_to == day(5)
    assert facts["ada-1"].status is facts["ada-2"].status is FactStatus.IN_REVIEW
    assert facts["bees-1"].changed_by is None
    assert [link.relation for link in it.store.links()] == ["fulfils"]
    assert outcome.receipt is not None
    assert outcome.receipt.applied == {"link": 1, "merge": 1, "review": 1, "supersede": 1}
    assert {fact.changed_by for fact in facts.values()} == {None, outcome.receipt.run}
    assert it.store.check() == []


def test_every_decision_says_why_with_evidence(memory: Make) -> None:
    it = memory(*mixed())
    texts = {fact.id: " ".join(fact.text.split()) for fact in it.all().values()}
    for decision in it.plan().decisions:
        assert texts[decision.subject] in decision.sentence
        assert texts[decision.object] in decision.sentence
        assert decision.reason
        if decision.reason != "repeat":
            assert decision.evidence[0].because
            assert decision.evidence[0].forward is not None
            assert decision.evidence[0].rule in ("same-slot", "same-entity", "neighbour")


def test_a_run_on_an_empty_store_does_nothing(memory: Make) -> None:
    it = memory()
    outcome = it.run()
    assert outcome.plan is not None
    assert outcome.plan.decisions == ()
    assert it.calls == 0
    assert it.store.runs() == []
    assert str(outcome.report)


def test_a_run_on_one_fact_leaves_it_as_it_is(memory: Make) -> None:
    it = memory(said(ACME))
    before = it.all()
    outcome = it.run()
    assert outcome.plan is not None
    assert outcome.plan.decisions == ()
    assert it.all() == before
    assert it.run().nothing_new


# -- again ---------------------------------------------------------------------------------------


def test_a_second_run_on_200_facts_asks_no_model_and_writes_no_row(memory: Make) -> None:
    it = memory(*messy(200))
    assert not it.run().nothing_new
    calls, rows, before = it.calls, it.store.rows_written(), it.dump()
    outcome = it.run()
    assert outcome.nothing_new
    assert outcome.plan is None
    assert outcome.receipt is None
    assert outcome.report.lines() == [
        "default: nothing new since the last run; 0 model calls, 0 rows written"
    ]
    assert it.calls == calls
    assert it.store.rows_written() == rows
    assert it.dump() == before


class FastEmbedder(FakeEmbedder):
    """Vectors from the number in each text: texts of one number are equal, others far apart."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.items += len(texts)
        numbers = [int(text.split()[1][1:-1]) for text in texts]
        vectors = np.random.default_rng(3).standard_normal((8500, 64)).astype(np.float32)[numbers]
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


def test_a_second_run_on_10000_facts_asks_no_model_and_writes_no_row(memory: Make) -> None:
    it = memory(
        *(
            said(f"room r{n % 8500}x holds {'oak' if n < 8500 else 'tin'}", n)
            for n in range(10_000)
        ),
        settings=replace(FAKE_SETTINGS, neighbours=1, similarity_floor=0.9),
    )
    it.embedder = FastEmbedder()
    outcome = it.run()
    assert outcome.plan is not None
    assert len(outcome.plan.decisions) == 1500
    calls, rows = it.calls, it.store.rows_written()
    assert it.run().nothing_new
    assert it.calls == calls
    assert it.store.rows_written() == rows


def test_planning_after_a_run_finds_nothing_more(memory: Make) -> None:
    for facts in (mixed(), list(messy(200))):
        it = memory(*facts)
        it.run()
        assert brief(it.plan()) == set()


def test_a_new_fact_is_new_and_only_what_is_new_is_asked(memory: Make) -> None:
    it = memory(*mixed())
    it.run()
    texts, extracted = it.embedder.items, it.extractor.items
    it.add(said(INITECH, 9, id="initech-1"))
    outcome = it.run()
    assert brief(outcome.plan) == {("supersede", "globex-1", "initech-1")}
    assert (it.embedder.items - texts, it.extractor.items - extracted) == (1, 1)


def test_other_settings_or_models_are_a_reason_to_run(memory: Make) -> None:
    it = memory(*mixed())
    it.run()
    assert it.run().nothing_new
    it.settings = replace(it.settings, profile="eager")
    assert not it.run().nothing_new
    assert it.run().nothing_new
    it.classifier._identity = "fake:other"
    assert not it.run().nothing_new
    assert it.run().nothing_new


def test_a_declared_alias_is_a_reason_to_run(memory: Make) -> None:
    from consolidate.types import Alias

    it = memory(*mixed())
    it.run()
    it.store.add_alias(Alias(agent="default", canonical="Mia", alias="Mimi"))
    assert not it.run().nothing_new
    assert it.run().nothing_new


# -- order ---------------------------------------------------------------------------------------


@settings(max_examples=15)
@given(st.randoms(use_true_random=False))
def test_the_plan_is_the_same_in_whatever_order_facts_came(rng: random.Random) -> None:
    facts = [*mixed(), *messy(40)]
    plans = []
    for order in (facts, rng.sample(facts, len(facts))):
        with Store.open(":memory:") as store:
            it = Memory(store)
            for fact in order:
                it.add(fact)
            plans.append(it.plan())
    assert plans[0].decisions == plans[1].decisions
    assert plans[0].id == plans[1].id


def test_planning_twice_gives_the_same_plan_and_changes_no_fact(memory: Make) -> None:
    it = memory(*messy(60))
    before = it.all()
    first, second = it.plan(), it.plan()
    assert (first.id, first.decisions, first.facts) == (second.id, second.decisions, second.facts)
    assert it.all() == before
    assert sum(stage.model_calls for stage in second.stages) == 0


# -- apply ---------------------------------------------------------------------------------------


def test_a_plan_whose_facts_changed_is_refused_and_nothing_is_changed(memory: Make) -> None:
    it = memory(*mixed())
    stale = it.plan()
    it.add(said(INITECH, 9, id="initech-1"))
    it.run()
    before, rows = it.dump(), it.store.rows_written()
    with pytest.raises(StalePlanError, match="acme-1") as refused:
        it.apply(stale)
    assert "consolidate plan" in str(refused.value)
    assert it.dump() == before
    assert it.store.rows_written() == rows
    assert len(it.store.runs()) == 1


def test_a_plan_is_not_refused_for_facts_that_it_does_not_touch(memory: Make) -> None:
    it = memory(*mixed())
    plan = it.plan()
    it.add(said("Paul collects stamps.", 9))
    assert it.apply(plan).applied["merge"] == 1


def test_applying_twice_writes_once(memory: Make) -> None:
    it = memory(*mixed())
    plan = it.plan()
    first = it.apply(plan)
    before, rows = it.dump(), it.store.rows_written()
    second = it.apply(plan)
    assert second.already_applied
    assert (second.run, second.applied, second.rows) == (first.run, first.applied, 0)
    assert it.dump() == before
    assert it.store.rows_written() == rows


def test_a_plan_of_another_store_is_refused(memory: Make) -> None:
    with Store.open(":memory:") as other:
        elsewhere = Memory(other)
        elsewhere.add(*mixed())
        plan = elsewhere.plan()
    it = memory(said(ACME, 1, id="acme-1"))
    with pytest.raises(StalePlanError):
        it.apply(plan)


def test_what_is_written_while_models_run_is_not_taken_as_seen(memory: Make) -> None:
    it = memory(*mixed())

    def write(stage: str, done: int, total: int) -> None:
        if stage == "classify" and done == 0:
            it.add(said(INITECH, 9, id="initech-1"))

    assert "initech-1" not in str(it.run(progress=write).plan)
    outcome = it.run()
    assert brief(outcome.plan) == {("supersede", "globex-1", "initech-1")}


def test_a_run_that_waits_for_another_sees_what_that_one_did(memory: Make) -> None:
    """The snapshot of a run is never older than its lease."""
    it = memory(*mixed())
    store = it.store

    class Waiting:
        """A store on which another run finishes just before the lease is given."""

        def __getattr__(self, name: str) -> object:
            if name == "lease" and not store.runs():
                it.run()
            return getattr(store, name)

    outcome = pipeline.run(Waiting(), it.backends, it.settings, now=NOW)  # type: ignore[arg-type]
    assert outcome.nothing_new or brief(outcome.plan) == set()
    assert len(store.runs()) == 1


# -- undo ----------------------------------------------------------------------------------------


def test_undo_restores_the_content_exactly(memory: Make) -> None:
    it = memory(*mixed(), *messy(80))
    it.plan()  # entities are derived data; they are there after planning already
    before = it.dump()
    it.run()
    assert it.dump() != before
    receipt = it.undo()
    assert it.dump() == before
    assert receipt.rows > 0
    assert it.store.check() == []


def test_undo_twice_writes_nothing_more(memory: Make) -> None:
    it = memory(*mixed())
    it.run()
    run = it.store.run("last").id
    it.undo(run)
    before, rows = it.dump(), it.store.rows_written()
    again = it.undo(run)
    assert again.already_applied
    assert again.rows == 0
    assert it.dump() == before
    assert it.store.rows_written() == rows


def test_undo_goes_back_through_several_runs_in_turn(memory: Make) -> None:
    it = memory(*mixed())
    it.plan()
    before = it.dump()
    first = it.run().receipt
    it.add(said(INITECH, 9, id="initech-1"))
    it.plan()
    between = it.dump()
    second = it.run().receipt
    assert first is not None and second is not None
    after = it.dump()
    with pytest.raises(UndoConflictError, match=f"undo {second.run}"):
        it.undo(first.run)
    assert it.dump() == after
    it.undo(second.run)
    assert it.dump() == between
    it.undo(first.run)
    assert [row for row in it.dump() if "nitech" not in row] == before
    assert it.store.check() == []


def test_what_was_undone_is_left_alone_until_asked_for(memory: Make) -> None:
    it = memory(*mixed())
    decided = brief(it.run().plan)
    it.undo()
    before = it.all()
    outcome = it.run()
    assert brief(outcome.plan) == set()
    assert it.all() == before
    assert it.run().nothing_new
    again = it.run(include_undone=True)
    assert brief(again.plan) == decided
    assert it.all()["acme-1"].status is FactStatus.SUPERSEDED
    # Done again it is settled no more than what was never undone: only the open review is
    assert it.store.snapshot("default").settled == {("ada-1", "ada-2")}
    assert it.run().nothing_new


def test_an_undone_chain_does_not_come_back_with_a_link_left_out(memory: Make) -> None:
    it = memory(said(ACME, 1, id="a"), said(GLOBEX, 5, id="b"), said(INITECH, 9, id="c"))
    it.run()
    it.undo()
    assert brief(it.run().plan) == set()
    assert len(it.live()) == 3


def test_deciding_anew_can_be_undone_again(memory: Make) -> None:
    it = memory(*mixed())
    it.plan()
    before = it.dump()
    for _ in range(3):
        it.run(include_undone=True)
        assert it.dump() != before
        it.undo(it.store.runs()[0].id)
        assert it.dump() == before
    assert len(it.store.runs()) == 3


def test_news_about_an_undone_pair_is_decided(memory: Make) -> None:
    it = memory(*mixed())
    it.run()
    it.undo()
    it.add(said(INITECH, 9, id="initech-1"))
    assert ("supersede", "acme-1", "initech-1") in brief(it.run().plan)
    assert it.all()["globex-1"].superseded_by == "initech-1"


def test_undo_of_an_unknown_run_is_refused(memory: Make) -> None:
    with pytest.raises(NotFoundError):
        memory(*mixed()).undo("run-20200101-000000")


# -- reviews -------------------------------------------------------------------------------------


def one_review(memory: Make) -> tuple[Memory, str]:
    """A review of two facts of which nobody knows which is newer."""
    it = memory(
        said("Ada drives a red car.", 1, id="red-car"),
        said("Ada drives a blue car.", 1, id="blue-car"),
        said("Vera keeps bees.", 1, id="bees-1"),
    )
    it.run()
    (review,) = it.store.reviews()
    return it, review.id


def test_a_review_without_a_proposal_needs_to_be_told_what_to_keep(memory: Make) -> None:
    it, review = one_review(memory)
    before = it.dump()
    with pytest.raises(InputError, match="--keep blue-car or --keep red-car"):
        pipeline.accept(it.store, review, now=NOW)
    with pytest.raises(InputError, match="bees-1"):
        pipeline.accept(it.store, review, keep="bees-1", now=NOW)
    assert it.dump() == before


@pytest.mark.parametrize(("keep", "goes"), [("red-car", "blue-car"), ("blue-car", "red-car")])
def test_accepting_keeps_the_one_that_was_chosen(memory: Make, keep: str, goes: str) -> None:
    it, review = one_review(memory)
    receipt = pipeline.accept(it.store, review, keep=keep, now=NOW)
    facts = it.all()
    assert facts[keep].status is FactStatus.ACTIVE
    assert (facts[goes].status, facts[goes].superseded_by) == ("superseded", keep)
    assert receipt.applied == {"supersede": 1}
    assert it.store.review(review).state is ReviewState.ACCEPTED
    assert it.store.reviews() == []
    assert brief(it.run().plan) == set()


def test_undo_of_an_acceptance_opens_the_review_again(memory: Make) -> None:
    it, review = one_review(memory)
    before = it.dump()
    receipt = pipeline.accept(it.store, review, keep="red-car", now=NOW)
    it.undo(receipt.run)
    assert it.dump() == before
    assert it.store.review(review).state is ReviewState.OPEN
    assert brief(it.run().plan) == set()
    pipeline.accept(it.store, review, keep="red-car", now=NOW + timedelta(hours=1))
    assert it.all()["blue-car"].status is FactStatus.SUPERSEDED


def test_an_acceptance_undone_can_be_given_again_at_the_same_moment(memory: Make) -> None:
    it, review = one_review(memory)
    for _ in range(2):
        receipt = pipeline.accept(it.store, review, keep="red-car", now=NOW)
        assert not receipt.already_applied
        assert it.all()["blue-car"].status is FactStatus.SUPERSEDED
        it.undo(receipt.run)


def test_rejecting_leaves_both_and_never_asks_again(memory: Make) -> None:
    it, review = one_review(memory)
    receipt = pipeline.reject(it.store, review, now=NOW)
    facts = it.all()
    assert facts["red-car"].status is facts["blue-car"].status is FactStatus.ACTIVE
    assert it.store.review(review).state is ReviewState.REJECTED
    assert brief(it.plan()) == set()
    assert brief(it.plan(include_undone=True)) == set()
    assert receipt.run == it.store.run("last").id
    with pytest.raises(InputError, match="rejected already"):
        pipeline.accept(it.store, review, keep="red-car", now=NOW)


def test_a_rejected_pair_says_nothing_of_what_is_said_later(memory: Make) -> None:
    it, review = one_review(memory)
    pipeline.reject(it.store, review, now=NOW)
    it.add(said("Ada drives a red car.", 5, id="red-later"))  # a repeat joins its text
    assert brief(it.run().plan) == {("merge", "red-later", "red-car")}
    assert len(it.store.facts()) == 3
    it.add(said("Ada drives a green car.", 9, id="green-car"))
    assert {f for _, f, _ in brief(it.run().plan)} == {"red-car", "blue-car"}


def test_undo_of_a_rejection_opens_the_review_again(memory: Make) -> None:
    it, review = one_review(memory)
    before = it.dump()
    it.undo(pipeline.reject(it.store, review, now=NOW).run)
    assert it.dump() == before
    assert it.store.review(review).state is ReviewState.OPEN


def test_accepting_a_proposal_does_it(memory: Make) -> None:
    it = memory(said(ACME, 1, id="acme-1"), said(GLOBEX, 5, id="globex-1", trust=0.3))
    it.run()
    (review,) = it.store.reviews()
    assert review.decision.proposal is DecisionKind.SUPERSEDE
    pipeline.accept(it.store, review.id, now=NOW)
    facts = it.all()
    assert (facts["acme-1"].superseded_by, facts["acme-1"].valid_to) == ("globex-1", day(5))
    assert facts["globex-1"].status is FactStatus.ACTIVE


def test_accepting_a_merge_adds_up_what_was_counted(memory: Make) -> None:
    it = memory(
        said(ACME, 1, id="acme-1"),
        said(ACME, 5, id="acme-2"),
        settings=replace(FAKE_SETTINGS, merge=False),
    )
    it.run()
    (review,) = it.store.reviews()
    pipeline.accept(it.store, review.id, now=NOW)
    facts = it.all()
    assert (facts["acme-2"].merged_into, facts["acme-1"].encounters) == ("acme-1", 2)
    assert facts["acme-1"].status is FactStatus.ACTIVE


def test_a_review_about_a_fact_that_went_is_out_of_date(memory: Make) -> None:
    it, review = one_review(memory)
    it.add(said("Ada drives a green car.", 9, id="green-car"))
    it.run()
    assert {f.id for f in it.store.facts()} == {"green-car", "bees-1"}
    before = it.dump()
    with pytest.raises(StalePlanError, match=f"review reject {review}"):
        pipeline.accept(it.store, review, keep="red-car", now=NOW)
    assert it.dump() == before
    pipeline.reject(it.store, review, now=NOW)
    assert it.store.reviews() == []
    assert it.all()["red-car"].status is FactStatus.SUPERSEDED


# -- what happens to facts in time ---------------------------------------------------------------


def ends(it: Memory) -> dict[str, str | None]:
    """Each fact with what took its place."""
    return {f.id: f.superseded_by or f.merged_into for f in it.all().values()}


def test_a_chain_of_updates(memory: Make) -> None:
    it = memory(said(ACME, 1, id="a"), said(GLOBEX, 5, id="b"), said(INITECH, 9, id="c"))
    it.run()
    assert ends(it) == {"a": "b", "b": "c", "c": None}
    assert [it.all()[x].valid_to for x in "abc"] == [day(5), day(9), None]


@pytest.mark.parametrize("order", list(itertools.permutations("abc")))
def test_a_value_that_comes_back_stands_in_whatever_order_it_arrives(
    memory: Make, order: tuple[str, ...]
) -> None:
    facts = {
        "a": said(ACME, 1, id="a"), "b": said(GLOBEX, 5, id="b"), "c": said(ACME, 9, id="c"),
    }  # fmt: skip
    it = memory()
    for fact_id in order:
        it.add(facts[fact_id])
    it.run()
    assert ends(it) == {"a": "b", "b": "c", "c": None}


def test_a_value_that_comes_back_stands_when_runs_lie_between(memory: Make) -> None:
    it = memory(said(ACME, 1, id="a"))
    it.run()
    it.add(said(GLOBEX, 5, id="b"))
    it.run()
    it.add(said(ACME, 9, id="c"))
    it.run()
    assert ends(it) == {"a": "b", "b": "c", "c": None}
    assert it.live() == {ACME}


def test_a_repeat_of_a_superseded_fact_does_not_come_back(memory: Make) -> None:
    it = memory(said(ACME, 1, id="a"), said(GLOBEX, 5, id="b"))
    it.run()
    it.add(said(ACME, 2, id="c"), said(ACME, None, id="d"), said("mia works at Acme", 3, id="e"))
    it.run()
    assert it.live() == {GLOBEX}
    assert ends(it) == {"a": "b", "b": None, "c": "a", "d": "a", "e": "a"}


def test_a_fact_that_arrives_late_is_retired_by_what_came_after_it(memory: Make) -> None:
    it = memory(said(GLOBEX, 5, id="b"))
    it.run()
    it.add(said(ACME, 1, id="a"))
    it.run()
    assert ends(it) == {"a": "b", "b": None}


def test_a_fact_between_two_others_arrives_late(memory: Make) -> None:
    it = memory(said(ACME, 1, id="a"), said(INITECH, 9, id="c"))
    it.run()
    assert ends(it) == {"a": "c", "c": None}
    it.add(said(GLOBEX, 5, id="b"))
    it.run()
    assert ends(it)["b"] == "c"
    assert it.live() == {INITECH}


def test_equal_times_ask_a_person(memory: Make) -> None:
    it = memory(said(ACME, 5, id="a"), said(GLOBEX, 5, id="b"))
    it.run()
    assert it.live() == {ACME, GLOBEX}
    assert [review.decision.reason for review in it.store.reviews()] == ["order-unknown"]


def test_facts_about_two_entities_both_stand(memory: Make) -> None:
    it = memory(
        said("Mia works at Acme.", 1),
        said("Jonas works at Globex.", 5),
        said("Mia works at Acme in Ghent.", 7),
        said("Jonas works at Acme.", 3, trust=1.0),
        verdicts={
            ("Mia works at Acme.", "Jonas works at Globex."): CONTRADICTS,
            ("Mia works at Acme.", "Jonas works at Acme."): CONTRADICTS,
        },
    )
    it.run()
    assert {"Jonas works at Globex.", "Mia works at Acme in Ghent."} <= it.live()
    by_fact = {f.text: f for f in it.all().values()}
    for fact in by_fact.values():
        successor = fact.superseded_by or fact.merged_into
        if successor:
            assert it.all()[successor].text.split()[0] == fact.text.split()[0]


def test_nothing_crosses_agents(memory: Make) -> None:
    it = memory(*(replace(f, id=None) for f in mixed()))
    it.add(
        *(replace(f, id=None, agent="other") for f in mixed()),
        said(INITECH, 20, agent="third"),
    )
    theirs = [f for f in it.all().values() if f.agent != "default"]
    it.run()
    assert [f for f in it.all().values() if f.agent != "default"] == theirs
    calls = it.calls
    first = {f.text: f.status for f in it.all().values() if f.agent == "default"}
    outcome = it.run(agent="other")
    assert it.calls == calls  # the same texts are known, whoever said them
    assert {f.text: f.status for f in it.all().values() if f.agent == "other"} == first
    agents = {f.id: f.agent for f in it.all().values()}
    assert outcome.plan is not None
    for decision in outcome.plan.decisions:
        assert agents[decision.subject] == agents[decision.object] == "other"
    assert it.live("third") == {INITECH}
    assert it.run().nothing_new


def test_a_scheduled_fact_takes_effect_when_its_time_has_come(memory: Make) -> None:
    it = memory(
        said(ACME, 1, id="a"),
        said(GLOBEX, 5, id="b", valid_from=day(400)),
    )
    outcome = it.run()
    assert outcome.plan is not None
    assert (brief(outcome.plan), outcome.plan.due) == (set(), day(400))
    assert it.run(now=day(399)).nothing_new
    calls = it.calls
    later = it.run(now=day(400))
    assert brief(later.plan) == {("supersede", "a", "b")}
    assert it.all()["a"].valid_to == day(400)
    assert it.calls == calls
    assert it.run(now=day(800)).nothing_new


# -- settings ------------------------------------------------------------------------------------


def test_merging_switched_off_asks_instead(memory: Make) -> None:
    it = memory(*mixed(), settings=replace(FAKE_SETTINGS, merge=False))
    plan = it.run().plan
    assert ("review", "globex-2", "globex-1") in brief(plan)
    assert not any(kind == "merge" for kind, _, _ in brief(plan))
    assert it.all()["globex-2"].status is FactStatus.IN_REVIEW


def test_superseding_switched_off_asks_instead(memory: Make) -> None:
    it = memory(*mixed(), settings=replace(FAKE_SETTINGS, supersede=False))
    plan = it.run().plan
    assert ("review", "acme-1", "globex-1") in brief(plan)
    assert not any(kind == "supersede" for kind, _, _ in brief(plan))
    assert it.live() >= {ACME, GLOBEX}


def test_thresholds_above_what_the_judge_gives_ask_instead(memory: Make) -> None:
    it = memory(said(ACME, 1, id="a"), said(GLOBEX, 5, id="b"))
    it.settings = replace(it.settings, supersede_threshold=0.99)  # the fake is sure to 0.96
    assert brief(it.run().plan) == {("review", "a", "b")}


def test_a_budget_says_what_it_left_and_the_next_runs_go_on_until_done(memory: Make) -> None:
    facts = list(messy(60))
    it = memory(*facts, settings=replace(FAKE_SETTINGS, pair_budget=40))
    rounds = 0
    while not (outcome := it.run()).nothing_new:
        rounds += 1
        classify = next(s for s in outcome.report.stages if s.stage == "classify")
        assert classify.model_calls <= 40
        assert outcome.report.cut == classify.detail.get("cut", 0)
        if rounds == 1:
            assert outcome.report.cut > 0
            assert f"{outcome.report.cut} pairs are left for the next run" in str(outcome.report)
        assert rounds < 50
    assert rounds > 2
    assert brief(it.plan()) == set()


# -- failures ------------------------------------------------------------------------------------


def test_a_pair_that_fails_is_counted_not_cached_and_asked_again(memory: Make) -> None:
    it = memory(*mixed())
    it.classifier.failing = {frozenset((ACME, GLOBEX))}
    outcome = it.run()
    classify = next(s for s in outcome.report.stages if s.stage == "classify")
    assert classify.failures == 1
    assert "1 failed" in str(outcome.report)
    assert it.live() >= {ACME, GLOBEX}
    calls = it.classifier.items
    assert not it.run().nothing_new
    assert it.classifier.items == calls + 1
    it.classifier.failing = set()
    assert brief(it.run().plan) == {("supersede", "acme-1", "globex-1")}
    assert it.run().nothing_new


def test_a_pair_that_always_fails_is_given_up_after_three_runs(memory: Make) -> None:
    it = memory(*mixed())
    it.classifier.failing = {frozenset((ACME, GLOBEX))}
    for _ in range(3):
        outcome = it.run()
        assert not outcome.nothing_new
    assert "1 texts or pairs failed in 3 runs" in str(outcome.report)
    calls, rows = it.calls, it.store.rows_written()
    assert it.run().nothing_new
    assert (it.calls, it.store.rows_written()) == (calls, rows)
    # It is not asked about when something else is new either, and the report says so.
    it.add(said("Otto collects stamps of Bhutan.", 9))
    outcome = it.run()
    classify = next(s for s in outcome.report.stages if s.stage == "classify")
    assert (classify.failures, classify.detail["given up"]) == (0, 1)
    assert "1 given up" in str(outcome.report)
    assert it.run().nothing_new


def test_what_was_given_up_is_asked_again_when_told_and_of_another_model(memory: Make) -> None:
    it = memory(*mixed())
    it.classifier.failing = {frozenset((ACME, GLOBEX))}
    while not it.run().nothing_new:
        pass
    calls = it.classifier.items
    assert not it.run(retry_failed=True).nothing_new
    assert it.classifier.items == calls + 1
    it.classifier = Classifier({**(it.verdicts or {}), ("x", "y"): Relation.CONTRADICTS})
    assert brief(it.run().plan) == {("supersede", "acme-1", "globex-1")}
    while not it.run().nothing_new:
        pass
    assert it.run(retry_failed=True).nothing_new is False  # the first model's failure is forgotten
    assert it.run(retry_failed=True).nothing_new


def test_a_model_that_raises_leaves_the_store_as_it_was_and_the_lease_free(memory: Make) -> None:
    it = memory(*mixed())
    before = it.all()

    class Broken(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            raise RuntimeError("no memory left")

    it.embedder = Broken()
    with pytest.raises(RuntimeError, match="no memory left"):
        it.run()
    assert it.all() == before
    assert it.store.check() == []
    it.embedder = FakeEmbedder()
    assert it.run().receipt is not None


def test_another_embedder_is_refused_with_the_way_out(memory: Make) -> None:
    it = memory(*mixed())
    it.run()
    before, rows = it.dump(), it.store.rows_written()
    it.embedder = FakeEmbedder(dimensions=32)
    with pytest.raises(ModelMismatchError, match="consolidate run --reembed") as refused:
        it.run()
    assert "bag-of-words-64" in str(refused.value) and "bag-of-words-32" in str(refused.value)
    assert it.dump() == before
    assert it.store.rows_written() == rows
    it.store.drop_vectors()
    assert brief(it.run().plan) == set()


# -- the funnel ----------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_the_funnel_accounts_for_every_fact(memory: Make, seed: int) -> None:
    it = memory(*mixed(), *messy(90, seed=seed))
    for extra in (messy(20, seed=seed + 50), messy(20, seed=seed + 60)):
        before = it.store.facts()
        outcome = it.run()
        rows = {row.label: row.count for row in outcome.report.funnel}
        after = it.store.facts()
        assert rows["facts"] == len(before)
        assert rows["facts that stand"] == len(after)
        assert rows["facts"] == len(after) + rows["merged"] + rows["superseded"]
        assert rows["distinct texts"] <= rows["facts"] + len(it.all()) - len(before)
        assert rows["judged"] == rows["pairs"]
        it.add(*(replace(f, id=f"{f.id}-{seed}-{id(extra)}") for f in extra))


def test_every_stage_tells_what_it_cost(memory: Make) -> None:
    it = memory(*mixed())
    report = it.run().report
    names = [stage.stage for stage in report.stages]
    assert names == [
        "snapshot", "collapse", "embed", "entities", "group", "pairs", "classify", "decide",
    ]  # fmt: skip
    assert all(stage.seconds >= 0 for stage in report.stages)
    by_name = {stage.stage: stage for stage in report.stages}
    assert by_name["embed"].model == it.embedder.identity
    assert by_name["embed"].model_calls == it.embedder.items
    assert by_name["classify"].model == it.classifier.identity
    assert by_name["classify"].model_calls == it.classifier.items
    assert report.model_calls == it.calls


def test_a_stored_plan_is_the_one_that_was_applied(memory: Make, tmp_path: Path) -> None:
    it = memory(*mixed())
    plan = it.run().plan
    assert it.store.plan("last") == plan


# -- whatever comes in ---------------------------------------------------------------------------

TEXTS = (
    "Mia likes one",
    "Mia likes two",
    "Mia likes three so",
    "Mia likes four so",
    "Mia likes tea",
)
ALL_PAIRS = replace(FAKE_SETTINGS, neighbours=20, similarity_floor=-1.0, pairs_per_fact=50)


@settings(max_examples=25)
@given(st.randoms(use_true_random=False))
def test_whatever_comes_in_each_run_leaves_nothing_to_do_and_can_be_undone(
    rng: random.Random,
) -> None:
    table = {pair: rng.choice(list(Relation)) for pair in itertools.combinations(TEXTS, 2)}
    with Store.open(":memory:") as store:
        it = Memory(store, table, ALL_PAIRS)
        for batch in "abc":
            it.add(
                *(
                    said(
                        rng.choice(TEXTS),
                        rng.choice([None, 1, 2, 3, 4, 5]),
                        id=f"{batch}fact{n}",
                        trust=rng.choice([0.3, 1.0, 1.0]),
                        valid_from=rng.choice([None, None, None, day(2), day(400)]),
                    )
                    for n in range(rng.randint(2, 4))
                )
            )
            it.plan()
            before = it.dump()
            outcome = it.run()
            assert brief(it.plan()) == set()
            assert it.run().nothing_new
            assert store.check() == []  # among others: nothing is its own successor
        assert it.live() or not it.all()
        if outcome.receipt is not None and outcome.receipt.run:
            it.undo(outcome.receipt.run)
            assert it.dump() == before
            assert not brief(it.run().plan) & brief(outcome.plan)
