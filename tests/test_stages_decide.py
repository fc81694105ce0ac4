from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import replace

import pytest
from builders import NOW, assessment, day, fact, pairs_of, singles
from hypothesis import given
from hypothesis import strategies as st

from consolidate.stages.collapse import collapse
from consolidate.stages.decide import Policy, decide
from consolidate.stages.outcome import absorb
from consolidate.types import (
    Assessment,
    Decision,
    DecisionKind,
    Fact,
    FactStatus,
    Relation,
    Unique,
)

POLICY = Policy(merge=0.95, supersede=0.95, review=0.7)

EQUIVALENT = Relation.EQUIVALENT
CONTRADICTS = Relation.CONTRADICTS
LEFT_MORE = Relation.LEFT_ENTAILS_RIGHT


def decided(
    facts: Sequence[Fact],
    *found: Assessment,
    uniques: Sequence[Unique] | None = None,
    policy: Policy = POLICY,
    settled: frozenset[tuple[str, str]] = frozenset(),
) -> tuple[Decision, ...]:
    assessments = {(a.left, a.right): a for a in found}
    decisions, _ = decide(
        {f.id: f for f in facts},
        uniques if uniques is not None else collapse(facts),
        pairs_of(assessments),
        {},
        assessments,
        settled=settled,
        policy=policy,
        now=NOW,
    )
    return decisions


def brief(decisions: Sequence[Decision]) -> set[tuple[str, str, str]]:
    return {(str(d.kind), d.subject, d.object) for d in decisions}


def test_the_later_stated_of_two_contradicting_facts_stays() -> None:
    facts = [fact("a", stated=1), fact("b", stated=2)]
    (decision,) = decided(facts, assessment("a", "b", CONTRADICTS))
    assert (decision.kind, decision.subject, decision.object) == ("supersede", "a", "b")
    assert decision.reason == "newer-stated"
    assert decision.valid_to == day(2)


def test_valid_time_beats_stated_time() -> None:
    facts = [fact("a", stated=9, valid_from=1), fact("b", stated=2, valid_from=5)]
    (decision,) = decided(facts, assessment("a", "b", CONTRADICTS))
    assert (decision.subject, decision.reason) == ("a", "newer-valid")


def test_recorded_time_decides_when_nothing_else_is_known() -> None:
    facts = [fact("a", stated=None, recorded=5), fact("b", stated=None, recorded=4)]
    (decision,) = decided(facts, assessment("a", "b", CONTRADICTS))
    assert (decision.subject, decision.reason) == ("b", "newer-recorded")


@pytest.mark.parametrize(
    "facts",
    [
        [fact("a", stated=1), fact("b", stated=1)],
        [fact("a", stated=None), fact("b", stated=1)],
    ],
    ids=["equal times", "one of them of unknown time"],
)
def test_an_order_that_cannot_be_told_goes_to_review(facts: list[Fact]) -> None:
    (decision,) = decided(facts, assessment("a", "b", CONTRADICTS))
    assert (decision.kind, decision.reason) == ("review", "order-unknown")
    assert decision.proposal is None


def test_a_chain_of_updates_gives_each_fact_its_nearest_successor() -> None:
    facts = [fact("a", stated=1), fact("b", stated=2), fact("c", stated=3)]
    found = [assessment(x, y, CONTRADICTS) for x, y in (("a", "b"), ("b", "c"), ("a", "c"))]
    assert brief(decided(facts, *found)) == {("supersede", "a", "b"), ("supersede", "b", "c")}


def test_a_value_that_comes_back_does_not_merge_over_the_one_between() -> None:
    facts = [
        fact("a", "main", stated=1), fact("b", "trunk", stated=2), fact("c", "main", stated=3),
    ]  # fmt: skip
    decisions = decided(facts, assessment("a", "b", CONTRADICTS))
    assert brief(decisions) == {("supersede", "a", "b"), ("supersede", "b", "c")}


def test_a_value_that_comes_back_in_other_words_does_not_merge_either() -> None:
    facts = [fact("a", stated=1), fact("b", stated=2), fact("c", stated=3)]
    decisions = decided(
        facts,
        assessment("a", "b", CONTRADICTS),
        assessment("a", "c", EQUIVALENT),
        assessment("b", "c", CONTRADICTS),
    )
    assert brief(decisions) == {("supersede", "a", "b"), ("supersede", "b", "c")}


def test_repeats_merge_into_the_one_said_first() -> None:
    facts = [fact("b", "x", stated=1), fact("a", "x", stated=2), fact("c", "x.", stated=3)]
    assert brief(decided(facts)) == {("merge", "a", "b"), ("merge", "c", "b")}


def test_a_repeat_confirms_its_survivor_before_times_are_compared() -> None:
    """Said in 1 and again in 3, a fact is newer than what an unsure rival said in 2."""
    facts = [fact("a", "x", stated=1), fact("b", "y", stated=2), fact("c", "x", stated=3)]
    decisions = decided(facts, assessment("a", "b", CONTRADICTS, 0.8))
    assert ("merge", "c", "a") in brief(decisions)
    assert ("review", "b", "a") in brief(decisions)


def test_a_retired_claim_said_again_about_its_time_stays_retired() -> None:
    facts = [
        fact("a", "x", stated=1, status=FactStatus.SUPERSEDED, superseded_by="b"),
        fact("b", "y", stated=5),
        fact("c", "x", stated=2),
        fact("d", "x", stated=None),
    ]
    assert brief(decided(facts)) == {("merge", "c", "a"), ("merge", "d", "a")}


def test_a_retired_claim_said_anew_stands_and_retires_what_replaced_it() -> None:
    facts = [
        fact("a", "x", stated=1, status=FactStatus.SUPERSEDED, superseded_by="b"),
        fact("b", "y", stated=5),
        fact("c", "x", stated=9),
    ]
    decisions = decided(facts, assessment("a", "b", CONTRADICTS))
    assert brief(decisions) == {("supersede", "b", "c")}


def test_a_retired_claim_said_at_the_time_of_its_successor_goes_to_a_person() -> None:
    facts = [
        fact("a", "x", stated=1, status=FactStatus.SUPERSEDED, superseded_by="b"),
        fact("b", "y", stated=5),
        fact("c", "x", stated=5),
    ]
    decisions = decided(facts, assessment("a", "b", CONTRADICTS))
    assert brief(decisions) == {("review", "b", "c")}


def test_a_repeat_does_not_make_a_retired_claim_newer_than_what_retired_it() -> None:
    """Said late, but about a time before: the claim stays retired, and retires nothing."""
    facts = [
        fact("a", "x", stated=1, status=FactStatus.SUPERSEDED, superseded_by="b"),
        fact("b", "y", stated=5),
        fact("c", "x", stated=6, valid_from=2),
    ]
    (decision,) = decided(facts, assessment("a", "b", CONTRADICTS))
    assert (decision.kind, decision.object, decision.reason) == ("merge", "a", "retired-repeat")
    assert absorb(facts[0], facts[2], decision.reason).confirmed_at is None
    assert absorb(facts[1], facts[2]).confirmed_at == day(6)


def test_a_fact_that_arrives_late_is_retired_by_what_came_after_it() -> None:
    facts = [fact("new", stated=9), fact("old", stated=1)]
    assert brief(decided(facts, assessment("new", "old", CONTRADICTS))) == {
        ("supersede", "old", "new")
    }


def test_a_scheduled_fact_retires_nothing_before_its_time_and_says_when() -> None:
    facts = [fact("a", stated=1), fact("b", stated=2, valid_from=400)]
    found = assessment("a", "b", CONTRADICTS)
    decisions, due = decide(
        {f.id: f for f in facts},
        singles(facts),
        pairs_of({("a", "b"): found}),
        {},
        {("a", "b"): found},
        policy=POLICY,
        now=NOW,
    )
    assert decisions == ()
    assert due == day(400)


def test_what_ended_before_the_other_began_is_left_alone() -> None:
    facts = [fact("a", stated=1, valid_from=1, valid_to=5), fact("b", stated=9)]
    assert decided(facts, assessment("a", "b", CONTRADICTS)) == ()


def test_lower_trust_asks_instead_of_superseding() -> None:
    facts = [fact("a", stated=1, trust=1.0), fact("b", stated=2, trust=0.3)]
    (decision,) = decided(facts, assessment("a", "b", CONTRADICTS))
    assert (decision.kind, decision.reason) == ("review", "lower-trust")
    assert decision.proposal is DecisionKind.SUPERSEDE


def test_a_fact_never_disappears_in_one_of_lower_trust() -> None:
    facts = [fact("a", "short", trust=1.0), fact("b", "longer text", trust=0.3)]
    (decision,) = decided(facts, assessment("a", "b", EQUIVALENT))
    assert (decision.kind, decision.subject, decision.object) == ("merge", "b", "a")
    assert decided(facts, assessment("a", "b", Relation.RIGHT_ENTAILS_LEFT)) == ()


def test_between_act_and_ignore_lies_review() -> None:
    facts = [fact("a", stated=1), fact("b", stated=2)]
    unsure = decided(facts, assessment("a", "b", CONTRADICTS, 0.8))
    assert brief(unsure) == {("review", "a", "b")}
    assert decided(facts, assessment("a", "b", CONTRADICTS, 0.6)) == ()


def test_a_settled_pair_is_never_touched_again() -> None:
    facts = [fact("a", stated=1), fact("b", stated=2)]
    for relation in (CONTRADICTS, EQUIVALENT):
        found = assessment("a", "b", relation)
        assert decided(facts, found, settled=frozenset({("a", "b")})) == ()


def test_a_settled_repeat_is_left_alone_too() -> None:
    facts = [fact("a", "x", stated=1), fact("b", "x", stated=2)]
    assert decided(facts, settled=frozenset({("a", "b")})) == ()


def test_a_weak_bridge_does_not_join_two_clusters() -> None:
    """a = b and b = c, but a and c were never found equal: c is not absorbed into a."""
    facts = [fact("a", "aaaa"), fact("b", "bb"), fact("c", "ccc")]
    decisions = decided(facts, assessment("a", "b", EQUIVALENT), assessment("b", "c", EQUIVALENT))
    absorbed = {(d.subject, d.object) for d in decisions}
    assert len(absorbed) == 1
    assert not absorbed & {("a", "c"), ("c", "a")}


def test_switched_off_merging_and_superseding_ask_instead() -> None:
    facts = [fact("a", "x", stated=1), fact("b", "x", stated=2), fact("c", "y", stated=3)]
    policy = replace(POLICY, may_merge=False, may_supersede=False)
    decisions = decided(facts, assessment("a", "c", CONTRADICTS), policy=policy)
    assert {d.kind for d in decisions} == {DecisionKind.REVIEW}


def test_a_plan_and_its_fulfilment_are_linked() -> None:
    facts = [fact("a", stated=1), fact("b", stated=2)]
    found = assessment("a", "b", Relation.COMPATIBLE, subtype="fulfils")
    (decision,) = decided(facts, found)
    assert (decision.kind, decision.relation) == ("link", "fulfils")


def test_the_poorer_of_two_facts_goes_even_when_it_is_newer() -> None:
    facts = [fact("a", "rich text", stated=1), fact("b", "poor", stated=5)]
    (decision,) = decided(facts, assessment("a", "b", LEFT_MORE))
    assert (decision.kind, decision.subject, decision.reason) == ("merge", "b", "contained")


# -- properties --------------------------------------------------------------------------------

RELATIONS = st.sampled_from(list(Relation))
CONFIDENCES = st.sampled_from([0.4, 0.75, 0.9, 0.96, 0.99])


@st.composite
def stores(draw: st.DrawFn) -> tuple[list[Fact], dict[tuple[str, str], Assessment]]:
    """Up to seven facts with times, trusts, retired ones and repeats, and what was found."""
    count = draw(st.integers(2, 7))
    ids = [f"f{i}" for i in range(count)]
    facts: list[Fact] = []
    for i, fact_id in enumerate(ids):
        text = draw(st.sampled_from(["t1", "t2", "t3", "t4", "longer text"]))
        # Nothing is superseded by its own words; what is retired is the oldest of its text
        retired = i > 0 and text != facts[0].text and draw(st.integers(0, 5)) == 0
        began = facts[0].stated_at if facts else None
        facts.append(
            fact(
                fact_id,
                text,
                0.5 if retired else draw(st.sampled_from([None, 1, 2, 3, 4])),
                trust=draw(st.sampled_from([0.3, 1.0])),
                valid_from=draw(st.sampled_from([None, None, 2, 400])),
                valid_to=(began - day(0)).days if retired and began else None,
                recorded=draw(st.sampled_from([300, 301])),
                status=FactStatus.SUPERSEDED if retired else FactStatus.ACTIVE,
                superseded_by=ids[0] if retired else None,
            )
        )
    uniques = collapse(facts)
    representatives = [u.representative for u in uniques]
    found = {}
    for i, left in enumerate(representatives):
        for right in representatives[i + 1 :]:
            if draw(st.booleans()):
                a = assessment(left, right, draw(RELATIONS), draw(CONFIDENCES))
                found[left, right] = replace(
                    a,
                    review_only=draw(st.integers(0, 9)) == 0,
                    subtype=draw(st.sampled_from(["", "", "fulfils", "correction"])),
                )
    return facts, found


def plan_of(
    facts: Sequence[Fact],
    found: dict[tuple[str, str], Assessment],
    settled: frozenset[tuple[str, str]] = frozenset(),
    linked: frozenset[tuple[str, str]] = frozenset(),
    heirs: dict[str, str] | None = None,
) -> tuple[Decision, ...]:
    decisions, _ = decide(
        {f.id: f for f in facts},
        collapse(facts),
        pairs_of(found),
        {},
        found,
        settled=settled,
        linked=linked,
        heirs=heirs,
        policy=POLICY,
        now=NOW,
    )
    return decisions


@given(stores(), st.randoms(use_true_random=False))
def test_the_plan_does_not_depend_on_the_order_of_the_input(
    store: tuple[list[Fact], dict[tuple[str, str], Assessment]], rng: random.Random
) -> None:
    facts, found = store
    first = plan_of(facts, found)
    shuffled, items = list(facts), list(found.items())
    rng.shuffle(shuffled)
    rng.shuffle(items)
    assert plan_of(shuffled, dict(items)) == first


@given(stores())
def test_each_fact_has_at_most_one_end_and_no_chain_runs_in_a_circle(
    store: tuple[list[Fact], dict[tuple[str, str], Assessment]],
) -> None:
    facts, found = store
    decisions = plan_of(facts, found)
    ends = [d for d in decisions if d.kind in (DecisionKind.MERGE, DecisionKind.SUPERSEDE)]
    assert len({d.subject for d in ends}) == len(ends)
    follows = {d.subject: d.object for d in ends}
    for start in follows:
        seen = {start}
        here = start
        while here in follows:
            here = follows[here]
            assert here not in seen
            seen.add(here)


@given(stores())
def test_something_always_stands(
    store: tuple[list[Fact], dict[tuple[str, str], Assessment]],
) -> None:
    facts, found = store
    gone = {
        d.subject
        for d in plan_of(facts, found)
        if d.kind in (DecisionKind.MERGE, DecisionKind.SUPERSEDE)
    }
    live = {f.id for f in facts if f.status.is_live}
    retired = len(facts) - len(live)
    assert live - gone or not live or retired


@given(stores())
def test_planning_after_apply_finds_nothing_more(
    store: tuple[list[Fact], dict[tuple[str, str], Assessment]],
) -> None:
    facts, found = store
    decisions = plan_of(facts, found)
    assert plan_of(*applied(facts, found, decisions)) == ()


@given(stores(), st.sampled_from([0.9, 0.95, 0.985]))
def test_nothing_is_done_below_its_threshold(
    store: tuple[list[Fact], dict[tuple[str, str], Assessment]], threshold: float
) -> None:
    facts, found = store
    decisions, _ = decide(
        {f.id: f for f in facts}, collapse(facts), pairs_of(found), {}, found,
        policy=replace(POLICY, merge=threshold, supersede=threshold), now=NOW,
    )  # fmt: skip
    for decision in decisions:
        if decision.kind in (DecisionKind.MERGE, DecisionKind.SUPERSEDE):
            assert all(e.confidence >= threshold for e in decision.evidence)


def applied(  # noqa: C901 - the whole of apply, once more, to check it by
    facts: Sequence[Fact], found: dict[tuple[str, str], Assessment], decisions: Sequence[Decision]
) -> tuple[
    list[Fact],
    dict[tuple[str, str], Assessment],
    frozenset[tuple[str, str]],
    frozenset[tuple[str, str]],
    dict[str, str],
]:
    """The facts after a plan, in memory, with the same verdicts about the same texts."""
    rows = {f.id: f for f in facts}
    heirs = {d.subject: d.object for d in decisions if d.kind is DecisionKind.MERGE}
    for merged, survivor in heirs.items():
        while survivor in heirs:
            survivor = heirs[survivor]
        heirs[merged] = survivor
    merges = [d for d in decisions if d.kind is DecisionKind.MERGE]
    while merges:
        leaves = [d for d in merges if d.subject not in {m.object for m in merges}]
        for d in leaves:
            rows[d.object] = absorb(rows[d.object], rows.pop(d.subject), d.reason)
        merges = [d for d in merges if d not in leaves]
    settled, linked = set(), set()
    for d in decisions:
        pair = (min(d.subject, d.object), max(d.subject, d.object))
        if d.kind is DecisionKind.SUPERSEDE:
            rows[d.subject] = replace(
                rows[d.subject], status=FactStatus.SUPERSEDED, superseded_by=d.object,
                valid_to=d.valid_to or rows[d.subject].valid_to,
            )  # fmt: skip
        elif d.kind is DecisionKind.REVIEW:
            settled.add(pair)
        elif d.kind is DecisionKind.LINK:
            linked.add(pair)
    texts = {f.id: f.text for f in facts}
    by_text = {
        frozenset((texts[left], texts[right])): (texts[left], a)
        for (left, right), a in found.items()
    }
    after = list(rows.values())
    kept = {}
    representatives = sorted(u.representative for u in collapse(after))
    for i, left in enumerate(representatives):
        for right in representatives[i + 1 :]:
            known = by_text.get(frozenset((rows[left].text, rows[right].text)))
            if known is None or not (rows[left].status.is_live or rows[right].status.is_live):
                continue
            first, a = known
            relation = a.relation
            if first != rows[left].text:
                relation = {
                    Relation.LEFT_ENTAILS_RIGHT: Relation.RIGHT_ENTAILS_LEFT,
                    Relation.RIGHT_ENTAILS_LEFT: Relation.LEFT_ENTAILS_RIGHT,
                }.get(relation, relation)
            kept[left, right] = replace(a, left=left, right=right, relation=relation)
    return after, kept, frozenset(settled), frozenset(linked), heirs
