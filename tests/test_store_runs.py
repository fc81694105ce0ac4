"""Runs: plans as they were, the journal, undo byte for byte, history, reviews, links, states."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from consolidate.errors import InputError, NotFoundError, StoreError, UndoConflictError
from consolidate.store import State, Store, fact_digest, fact_hash
from consolidate.types import (
    Decision,
    DecisionKind,
    Evidence,
    FactStatus,
    Link,
    NewFact,
    Plan,
    Receipt,
    Relation,
    Review,
    ReviewState,
    Scores,
    StageStats,
)

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
LATER = NOW + timedelta(hours=1)
IDS = [f"fact-{n}" for n in range(6)]


@pytest.fixture
def filled(store: Store) -> Store:
    fill(store)
    return store


def fill(store: Store) -> None:
    store.add([NewFact(text=f"Text {n}.", id=fact_id) for n, fact_id in enumerate(IDS)], now=NOW)


def decision(subject: str, target: str, **changes: Any) -> Decision:
    fields = {
        "id": f"d-{subject}-{target}",
        "kind": DecisionKind.SUPERSEDE,
        "subject": subject,
        "object": target,
        "reason": "values-differ",
        "sentence": f"{target} says it anew.",
        "evidence": (
            Evidence(
                left=subject,
                right=target,
                rule="same-slot",
                relation=Relation.CONTRADICTS,
                confidence=0.9,
                forward=Scores(entailment=0.1, neutral=0.2, contradiction=0.7),
            ),
        ),
    }
    return Decision(**{**fields, **changes})


def make_plan(name: str, *decisions: Decision, agent: str = "default") -> Plan:
    return Plan(
        id=f"plan-{name}",
        agent=agent,
        now=NOW,
        snapshot_digest="s",
        settings_digest="t",
        facts={each.subject: "digest" for each in decisions},
        decisions=decisions,
        stages=(StageStats(stage="embed", seconds=0.5, items_in=3, detail={"x": 1}),),
        models={"embedder": "minilm@1"},
        settings={"profile": "balanced", "neighbours": 4},
        due=LATER,
        cut=3,
    )


def supersede(store: Store, name: str, old: str, new: str, **changes: Any) -> str:
    """A run that retires one fact, as the apply stage does it."""
    with store.atomic():
        run = store.begin_run(make_plan(name, decision(old, new)), now=NOW)
        fact = store.get(old)
        fields = {"status": FactStatus.SUPERSEDED, "superseded_by": new, "changed_by": run}
        store.write_fact(replace(fact, **{**fields, **changes}), run=run)
        finish(store, run)
    return run


def finish(store: Store, run: str, rows: int = 1) -> Receipt:
    plan = store.plan(run)
    receipt = Receipt(
        run=run,
        plan=plan.id,
        agent=plan.agent,
        applied_at=NOW,
        applied={"supersede": len(plan.decisions)},
        rows=rows,
    )
    store.finish_run(run, receipt, now=NOW, state_digest=store.snapshot(plan.agent).digest)
    return receipt


def dump(store: Store) -> list[str]:
    return list(store.dump())


# Runs and plans


def test_a_plan_comes_back_from_its_run_as_it_was(filled: Store) -> None:
    plan = make_plan("a", decision(IDS[0], IDS[1]), decision(IDS[3], IDS[2], proposal=None))
    run = filled.begin_run(plan, now=NOW)
    receipt = finish(filled, run)
    assert filled.plan(run) == plan
    found = filled.run(run)
    assert (found.id, found.agent, found.plan, found.state) == (run, "default", plan.id, "applied")
    assert (found.started_at, found.finished_at, found.receipt) == (NOW, NOW, receipt)
    assert found.summary["models"] == {"embedder": "minilm@1"}
    assert found.summary["settings"] == {"profile": "balanced", "neighbours": 4}
    assert found.summary["stages"][0]["stage"] == "embed"


def test_run_ids_carry_the_date_and_can_be_shortened(filled: Store) -> None:
    with pytest.raises(NotFoundError, match=r"no run in .* yet"):
        filled.run("last")
    first = filled.begin_run(make_plan("a"), now=NOW)
    second = filled.begin_run(make_plan("b"), now=NOW)
    assert first.startswith("run-20260301-")
    assert filled.run("last").id == second
    assert filled.run(first[-6:]).id == first
    assert filled.run(first[:-1] if first[:-1] != second[:-1] else first).id == first
    with pytest.raises(InputError, match="fits several runs"):
        filled.run("run-2026")
    for missing in ("", "run", "nothing", "zzzzzz"):
        with pytest.raises(NotFoundError, match=repr(missing)):
            filled.run(missing)


def test_runs_are_listed_newest_first(filled: Store) -> None:
    ids = [filled.begin_run(make_plan(str(n)), now=NOW) for n in range(3)]
    other = filled.begin_run(make_plan("x", agent="other"), now=NOW)
    assert [run.id for run in filled.runs()] == [other, *reversed(ids)]
    assert [run.id for run in filled.runs("default", 2)] == [ids[2], ids[1]]
    assert filled.runs("nobody") == []
    with pytest.raises(InputError):
        filled.runs(limit=-1)


def test_a_plan_is_applied_once_until_it_is_undone(filled: Store) -> None:
    plan = make_plan("a", decision(IDS[0], IDS[1]))
    assert filled.find_run(plan.id) is None
    run = filled.begin_run(plan, now=NOW)
    found = filled.find_run(plan.id)
    assert found is not None and found.id == run
    with pytest.raises(StoreError, match=rf"applied already, by {run}"):
        filled.begin_run(plan, now=NOW)
    filled.undo(run, now=LATER)
    assert filled.find_run(plan.id) is None
    again = filled.begin_run(plan, now=LATER)
    assert again != run
    assert filled.plan(again) == plan


def test_finishing_a_run_records_the_state_it_left(filled: Store) -> None:
    assert filled.last_state("default") is None
    supersede(filled, "a", IDS[0], IDS[1])
    state = filled.last_state("default")
    assert state == State(
        digest=filled.snapshot("default").digest,
        settings_digest="t",
        models={"embedder": "minilm@1"},
        due=LATER,
        cut=3,
    )
    assert state is not None
    before = filled.rows_written()
    filled.record_state("default", state)
    assert filled.rows_written() == before
    filled.record_state("default", replace(state, due=None, cut=0))
    assert filled.last_state("default") == replace(state, due=None, cut=0)
    assert filled.last_state("other") is None
    with pytest.raises(NotFoundError):
        filled.finish_run(
            "run-x",
            Receipt(run="run-x", plan="p", agent="a", applied_at=NOW),
            now=NOW,
            state_digest="",
        )


# Writing


def test_an_equal_row_is_not_written(filled: Store) -> None:
    run = filled.begin_run(make_plan("a"), now=NOW)
    before = filled.rows_written()
    filled.write_fact(filled.get(IDS[0]), run=run)
    assert filled.rows_written() == before
    link = Link(left=IDS[0], right=IDS[1], relation="series")
    filled.write_link("default", link, run=run)
    before = filled.rows_written()
    other = filled.begin_run(make_plan("b"), now=NOW)
    written = filled.rows_written()
    filled.write_link("default", link, run=other)
    assert filled.rows_written() == written > before
    assert filled.links() == [replace(link, run=run)]


def test_writes_need_a_run_that_is_not_undone(filled: Store) -> None:
    fact = replace(filled.get(IDS[0]), encounters=9)
    with pytest.raises(NotFoundError, match="no run 'run-x'"):
        filled.write_fact(fact, run="run-x")
    run = filled.begin_run(make_plan("a"), now=NOW)
    filled.undo(run, now=NOW)
    with pytest.raises(NotFoundError, match="no run"):
        filled.write_fact(fact, run=run)
    assert filled.get(IDS[0]).encounters == 1


def test_what_does_not_hold_together_is_refused(filled: Store) -> None:
    filled.add([NewFact(text="x", id="elsewhere", agent="other")], now=NOW)
    run = filled.begin_run(make_plan("a"), now=NOW)
    before = dump(filled)
    fact = filled.get(IDS[0])
    with pytest.raises(NotFoundError, match="no fact 'nobody'"):
        filled.write_fact(replace(fact, id="nobody"), run=run)
    with pytest.raises(NotFoundError, match="no fact 'nobody'"):
        filled.write_fact(replace(fact, superseded_by="nobody"), run=run)
    with pytest.raises(InputError, match="crosses agents"):
        filled.write_fact(replace(fact, merged_into="elsewhere"), run=run)
    with pytest.raises(InputError, match="belongs to agent 'default', not 'other'"):
        filled.write_fact(replace(fact, agent="other"), run=run)
    with pytest.raises(InputError, match="content_hash is not the hash of its text"):
        filled.write_fact(replace(fact, text="changed"), run=run)
    with pytest.raises(StoreError, match="contradict itself"):
        filled.write_fact(replace(fact, superseded_by=fact.id), run=run)
    with pytest.raises(StoreError, match="contradict itself"):
        filled.write_fact(replace(fact, trust=2), run=run)
    with pytest.raises(StoreError, match="contradict itself"):
        filled.write_fact(replace(fact, changed_by="nobody"), run=run)
    with pytest.raises(InputError, match="crosses agents"):
        filled.write_link("default", Link(left=IDS[0], right="elsewhere", relation="x"), run=run)
    with pytest.raises(StoreError, match="contradict itself"):
        filled.write_link("default", Link(left=IDS[0], right=IDS[0], relation="x"), run=run)
    with pytest.raises(InputError, match="relation"):
        filled.write_link("default", Link(left=IDS[0], right=IDS[1], relation=""), run=run)
    assert dump(filled) == before


def test_many_facts_are_written_at_once_as_they_are_one_by_one(filled: Store) -> None:
    before = dump(filled)
    run = filled.begin_run(make_plan("a"), now=NOW)
    facts = filled.facts()
    changed = [
        replace(facts[0], encounters=2),
        facts[1],
        replace(facts[2], status=FactStatus.SUPERSEDED, superseded_by=IDS[3], changed_by=run),
        replace(facts[4], encounters=5),
    ]
    assert filled.write_facts(changed, run=run) == 3
    assert filled.write_facts(changed, run=run) == 0
    assert filled.write_facts([], run=run) == 0
    assert [filled.get(fact.id) for fact in changed] == changed
    with pytest.raises(InputError, match="fact-0 is given twice"):
        filled.write_facts([facts[0], facts[0]], run=run)
    with pytest.raises(NotFoundError, match="no fact 'nobody'"):
        filled.write_facts([facts[0], replace(facts[3], merged_into="nobody")], run=run)
    assert filled.get(IDS[0]).encounters == 2
    assert filled.undo(run, now=LATER).rows == 3
    assert dump(filled) == before


# Links and reviews


def test_links_are_found_from_both_sides(filled: Store) -> None:
    run = filled.begin_run(make_plan("a"), now=NOW)
    for left, right in ((1, 0), (1, 2), (3, 4)):
        link = Link(left=IDS[left], right=IDS[right], relation="refines")
        filled.write_link("default", link, run=run)
    assert len(filled.links()) == 3
    assert {(link.left, link.right) for link in filled.links(fact=IDS[1])} == {
        (IDS[1], IDS[0]),
        (IDS[1], IDS[2]),
    }
    assert filled.links(agent="other") == []
    snapshot = filled.snapshot("default")
    assert snapshot.linked == {(IDS[0], IDS[1]), (IDS[1], IDS[2]), (IDS[3], IDS[4])}


def open_review(store: Store, run: str, subject: str, target: str) -> Review:
    review = Review(
        id=f"review-{subject}",
        agent="default",
        state=ReviewState.OPEN,
        decision=decision(
            subject, target, kind=DecisionKind.REVIEW, proposal=DecisionKind.SUPERSEDE
        ),
        run=run,
    )
    store.write_review(review, run=run)
    return review


def test_reviews_are_kept_in_every_state_and_settle_their_pair(filled: Store) -> None:
    run = filled.begin_run(make_plan("a"), now=NOW)
    first, second = (open_review(filled, run, IDS[n + 1], IDS[n]) for n in (0, 2))
    assert filled.reviews() == [first, second]
    assert filled.review("review-fact-1") == filled.review("review-fact-1"[:13]) == first
    settled = {(IDS[0], IDS[1]), (IDS[2], IDS[3])}
    assert filled.snapshot("default").settled == settled
    closed = replace(first, state=ReviewState.REJECTED, decided_at=LATER)
    other = filled.begin_run(make_plan("b"), now=NOW)
    filled.write_review(closed, run=other)
    assert filled.reviews(agent="default") == [second]
    assert filled.reviews(state=ReviewState.REJECTED) == [closed]
    assert filled.reviews(state=None) == [closed, second]
    assert filled.reviews(agent="other", state=None) == []
    assert filled.snapshot("default").settled == settled
    with pytest.raises(NotFoundError, match="no review 'nothing'"):
        filled.review("nothing")
    filled.undo(other, now=LATER)
    assert filled.reviews() == [first, second]


# Undo


def test_undo_restores_what_a_run_changed_and_settles_its_pairs(filled: Store) -> None:
    before = dump(filled)
    snapshot = filled.snapshot("default")
    digest = fact_digest(filled.get(IDS[0]))
    with filled.atomic():
        run = filled.begin_run(make_plan("a", decision(IDS[1], IDS[0])), now=NOW)
        old = filled.get(IDS[1])
        retired = replace(
            old, status=FactStatus.SUPERSEDED, superseded_by=IDS[0], valid_to=NOW, changed_by=run
        )
        filled.write_fact(retired, run=run)
        filled.write_fact(replace(filled.get(IDS[0]), encounters=2, confirmed_at=NOW), run=run)
        filled.write_fact(replace(filled.get(IDS[0]), encounters=3), run=run)
        filled.write_link("default", Link(left=IDS[2], right=IDS[3], relation="series"), run=run)
        open_review(filled, run, IDS[4], IDS[5])
        finish(filled, run, rows=5)
    assert dump(filled) != before
    receipt = filled.undo(run, now=LATER)
    assert receipt == Receipt(
        run=run,
        plan="plan-a",
        agent="default",
        applied_at=LATER,
        applied={"supersede": 1},
        rows=5,
    )
    assert dump(filled) == before
    assert fact_digest(filled.get(IDS[0])) == digest
    assert filled.run(run).state == "undone"
    after = filled.snapshot("default")
    assert after.facts == snapshot.facts
    assert after.settled == {(IDS[0], IDS[1])}
    assert after.digest != snapshot.digest
    assert filled.check() == []


def test_undoing_twice_writes_nothing_the_second_time(filled: Store) -> None:
    run = supersede(filled, "a", IDS[0], IDS[1])
    assert filled.undo("last", now=LATER).rows == 1
    written = filled.rows_written()
    again = filled.undo(run, now=LATER)
    assert (again.rows, again.already_applied) == (0, True)
    assert filled.rows_written() == written


def test_a_row_that_a_later_run_changed_is_a_conflict_that_names_both(filled: Store) -> None:
    first = supersede(filled, "a", IDS[0], IDS[1])
    second = supersede(filled, "b", IDS[0], IDS[2])
    before = dump(filled)
    message = rf"fact {IDS[0]} was changed again by the later run {second}; undo {second} first"
    with pytest.raises(UndoConflictError, match=message):
        filled.undo(first, now=LATER)
    assert dump(filled) == before
    assert filled.run(first).state == "applied"
    filled.undo(second, now=LATER)
    filled.undo(first, now=LATER)
    assert filled.get(IDS[0]).superseded_by is None


def test_a_later_run_that_put_the_row_back_is_a_conflict_too(filled: Store) -> None:
    """Undoing the first alone would leave the second impossible to undo."""
    first = supersede(filled, "a", IDS[0], IDS[1])
    retired = filled.get(IDS[0])
    second = filled.begin_run(make_plan("b"), now=NOW)
    filled.write_fact(replace(retired, encounters=5), run=second)
    filled.write_fact(retired, run=second)
    with pytest.raises(UndoConflictError, match=f"undo {second} first"):
        filled.undo(first, now=LATER)
    filled.undo(second, now=LATER)
    assert filled.get(IDS[0]) == retired
    filled.undo(first, now=LATER)


def test_a_row_changed_outside_of_any_run_is_a_conflict(filled: Store) -> None:
    run = supersede(filled, "a", IDS[0], IDS[1])
    with filled.atomic():
        filled._db.write("UPDATE facts SET encounters = 7 WHERE id = ?", (IDS[0],))
    with pytest.raises(UndoConflictError, match="outside of any run; nothing was changed"):
        filled.undo(run, now=LATER)
    with filled.atomic():
        filled._db.write("UPDATE facts SET encounters = 1 WHERE id = ?", (IDS[0],))
    filled.undo(run, now=LATER)


def test_runs_that_touch_other_rows_are_undone_in_any_order(filled: Store) -> None:
    before = dump(filled)
    first = supersede(filled, "a", IDS[0], IDS[1])
    second = supersede(filled, "b", IDS[2], IDS[3])
    filled.undo(first, now=LATER)
    filled.undo(second, now=LATER)
    assert dump(filled) == before


def test_undo_of_nothing_is_said_to_be_nothing(filled: Store) -> None:
    with pytest.raises(NotFoundError):
        filled.undo("last", now=NOW)
    with pytest.raises(NotFoundError):
        filled.undo("run-20200101-abcdef", now=NOW)


def test_rows_journalled_before_a_new_column_came_can_still_be_undone(filled: Store) -> None:
    before = filled.get(IDS[0])
    run = supersede(filled, "a", IDS[0], IDS[1])
    # What a journal looks like that was written when facts had no intensity yet.
    with filled.atomic():
        filled._db.write(
            "UPDATE journal SET before = json_remove(before, '$.intensity'), "
            "after = json_remove(after, '$.intensity')"
        )
    filled.undo(run, now=LATER)
    assert filled.get(IDS[0]) == before


numbers = st.integers(0, len(IDS) - 1)
operations = st.lists(
    st.one_of(
        st.tuples(
            st.just("fact"),
            numbers,
            st.fixed_dictionaries(
                {},
                optional={
                    "status": st.sampled_from(FactStatus),
                    "superseded_by": st.none() | st.sampled_from(IDS),
                    "merged_into": st.none() | st.sampled_from(IDS),
                    "valid_to": st.none() | st.just(NOW),
                    "confirmed_at": st.none() | st.just(LATER),
                    "encounters": st.integers(0, 3),
                    "trust": st.sampled_from([0.0, 0.1, 1.0]),
                    "metadata": st.dictionaries(st.sampled_from("abé"), st.integers(0, 2)),
                    "text": st.sampled_from(["Text 0.", "new", "🧠 \"';"]),
                },
            ),
        ),
        st.tuples(
            st.just("link"), numbers, st.tuples(numbers, st.sampled_from(["refines", "series"]))
        ),
        st.tuples(st.just("review"), numbers, st.tuples(numbers, st.sampled_from(ReviewState))),
    ),
    max_size=12,
)


def perform(store: Store, run: str, operation: tuple[str, int, Any]) -> None:
    what, number, detail = operation
    fact_id = IDS[number]
    if what == "fact":
        changes = {
            name: value
            for name, value in detail.items()
            if name not in ("superseded_by", "merged_into") or value != fact_id
        }
        if "text" in changes:
            changes["content_hash"] = fact_hash(changes["text"])
        store.write_fact(replace(store.get(fact_id), **changes, changed_by=run), run=run)
    elif detail[0] == number:
        return
    elif what == "link":
        link = Link(left=fact_id, right=IDS[detail[0]], relation=detail[1])
        store.write_link("default", link, run=run)
    else:
        review = Review(
            id=f"review-{fact_id}",
            agent="default",
            state=detail[1],
            decision=decision(fact_id, IDS[detail[0]]),
            run=run,
            decided_at=None if detail[1] is ReviewState.OPEN else LATER,
        )
        store.write_review(review, run=run)


@settings(max_examples=150)
@given(runs=st.lists(operations, min_size=1, max_size=4))
def test_undoing_runs_one_by_one_passes_through_every_state_before(
    runs: list[list[tuple[str, int, Any]]],
) -> None:
    with Store.open(":memory:") as store:
        fill(store)
        states = []
        for number, each in enumerate(runs):
            states.append(dump(store))
            with store.atomic():
                run = store.begin_run(make_plan(str(number)), now=NOW)
                for operation in each:
                    perform(store, run, operation)
                finish(store, run)
        for state, each_run in zip(reversed(states), store.runs(), strict=True):
            store.undo(each_run.id, now=LATER)
            assert dump(store) == state
        assert store.check() == []


@settings(max_examples=60)
@given(runs=st.lists(operations, min_size=2, max_size=3), data=st.data())
def test_undoing_in_any_order_either_restores_or_refuses_without_a_trace(
    runs: list[list[tuple[str, int, Any]]], data: st.DataObject
) -> None:
    with Store.open(":memory:") as store:
        fill(store)
        before = dump(store)
        left = []
        for number, each in enumerate(runs):
            run = store.begin_run(make_plan(str(number)), now=NOW)
            for operation in each:
                perform(store, run, operation)
            left.append(run)
        while left:
            run = data.draw(st.sampled_from(left))
            state = dump(store)
            try:
                store.undo(run, now=LATER)
            except UndoConflictError as error:
                assert any(other in str(error) for other in left if other != run)
                assert dump(store) == state
                # The way out that the message names works.
                run = left[-1]
                store.undo(run, now=LATER)
            left.remove(run)
        assert dump(store) == before


# History


@pytest.fixture
def chain(filled: Store) -> Iterator[Store]:
    """0 -> 1 -> 2 superseded, 3 merged into 2, 4 linked to nothing."""
    supersede(filled, "01", IDS[0], IDS[1])
    supersede(filled, "12", IDS[1], IDS[2])
    with filled.atomic():
        merge = decision(IDS[3], IDS[2], kind=DecisionKind.MERGE, reason="same-text")
        run = filled.begin_run(make_plan("32", merge), now=LATER)
        absorbed = replace(
            filled.get(IDS[3]), status=FactStatus.MERGED, merged_into=IDS[2], changed_by=run
        )
        filled.write_fact(absorbed, run=run)
    yield filled


def test_history_tells_the_whole_chain_with_reasons(chain: Store) -> None:
    story = chain.history(IDS[2])
    assert story.fact.id == IDS[2]
    assert story.after == ()
    assert [(event.fact.id, event.to, event.change) for event in story.before] == [
        (IDS[0], IDS[1], FactStatus.SUPERSEDED),
        (IDS[1], IDS[2], FactStatus.SUPERSEDED),
        (IDS[3], IDS[2], FactStatus.MERGED),
    ]
    merged = story.before[-1]
    assert merged.run == chain.run("last").id
    assert (merged.reason, merged.at) == ("same-text", LATER)
    assert merged.sentence == f"{IDS[2]} says it anew."
    assert merged.evidence[0].forward == Scores(entailment=0.1, neutral=0.2, contradiction=0.7)


def test_history_of_a_retired_fact_leads_to_the_one_that_holds_now(chain: Store) -> None:
    story = chain.history(IDS[0])
    assert story.before == ()
    assert [(event.fact.id, event.to) for event in story.after] == [
        (IDS[0], IDS[1]),
        (IDS[1], IDS[2]),
    ]
    middle = chain.history(IDS[1])
    assert [event.fact.id for event in middle.before] == [IDS[0]]
    assert [event.fact.id for event in middle.after] == [IDS[1]]
    assert chain.history(IDS[4]).before == chain.history(IDS[4]).after == ()
    with pytest.raises(NotFoundError):
        chain.history("nothing")


def test_history_names_the_decision_about_the_present_successor(filled: Store) -> None:
    other = decision(IDS[0], IDS[2], kind=DecisionKind.LINK, sentence="Only a link.")
    right = decision(IDS[0], IDS[1], sentence="The right one.")
    with filled.atomic():
        run = filled.begin_run(make_plan("a", other, right), now=NOW)
        fact = replace(
            filled.get(IDS[0]), status=FactStatus.SUPERSEDED, superseded_by=IDS[1], changed_by=run
        )
        filled.write_fact(fact, run=run)
    assert filled.history(IDS[0]).after[0].sentence == "The right one."


def test_a_circle_of_successors_is_found_and_does_not_hang(filled: Store) -> None:
    supersede(filled, "a", IDS[0], IDS[1])
    supersede(filled, "b", IDS[1], IDS[0])
    assert len(filled.history(IDS[0]).after) == 2
    assert any("its own successor" in problem for problem in filled.check())


def test_history_after_undo_is_empty_again(filled: Store) -> None:
    run = supersede(filled, "a", IDS[0], IDS[1])
    filled.undo(run, now=LATER)
    assert filled.history(IDS[1]).before == ()
    assert filled.history(IDS[0]).after == ()


# Snapshots


def test_the_snapshot_digest_changes_with_everything_in_it_and_nothing_else(
    filled: Store, open_store: Callable[..., Store]
) -> None:
    from consolidate.types import Alias

    digests = [filled.snapshot("default").digest]
    assert open_store(filled.path).snapshot("default").digest == digests[0]

    def step(changes: bool) -> None:
        digests.append(filled.snapshot("default").digest)
        assert (digests[-1] != digests[-2]) == changes

    run = supersede(filled, "a", IDS[0], IDS[1])
    step(True)
    filled.add_alias(Alias(agent="default", canonical="Bob", alias="Robert"))
    step(True)
    filled.write_link("default", Link(left=IDS[1], right=IDS[2], relation="series"), run=run)
    step(True)
    open_review(filled, run, IDS[4], IDS[5])
    step(True)
    filled.add([NewFact(text="of another", agent="other")], now=NOW)
    filled.add_alias(Alias(agent="other", canonical="x", alias="y"))
    filled.record_state("default", State(digest="d", settings_digest="s"))
    step(False)
    filled.add([NewFact(text="one more")], now=NOW)
    step(True)


def test_the_order_of_adding_does_not_show_in_snapshot_and_dump(
    open_store: Callable[..., Store],
) -> None:
    facts = [NewFact(text=f"t{n}", id=f"id-{n}") for n in range(20)]
    one, other = open_store(":memory:"), open_store(":memory:")
    one.add(facts, now=NOW)
    for fact in reversed(facts):
        other.add([fact], now=NOW)
    assert one.snapshot("default") == other.snapshot("default")
    assert dump(one) == dump(other)
