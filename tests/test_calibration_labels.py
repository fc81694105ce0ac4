"""Labelled pairs: read, judged, and made from reviews."""

from __future__ import annotations

import json
from typing import Any

import pytest
from builders import NOW, day
from pipelines import FAKE_SETTINGS, Memory

from consolidate.backends.fake import fake_backends
from consolidate.calibration.labels import exported, judged, read_labels
from consolidate.store import Store
from consolidate.types import NewFact, Relation

A, B = "Mia works at Acme.", "Mia works at Globex."


def line(**values: Any) -> str:
    row = {"id": "x", "a": A, "b": B, "a_time": "2026-01-01", "b_time": "2026-02-01"}
    return json.dumps(row | {"relation": "contradicts", "winner": "b"} | values)


def labels_of(*lines: str) -> Any:
    return read_labels("\n".join(lines).encode())


def act_of(said: Relation, **values: Any) -> tuple[str | None, bool]:
    """What is done about the pair when the model says this, and whether the label agrees."""
    labels, broken = labels_of(line(**values))
    assert not broken
    (found,), without = judged(labels, fake_backends(verdicts={(A, B): said}))
    assert not without
    return found.act, found.right


def test_the_keys_of_the_labelled_sets_are_read() -> None:
    (label,), broken = labels_of(line(category="job", lang="en", subtype="x"))
    assert not broken
    assert (label.id, label.relation, label.winner) == ("x", "contradicts", "b")
    assert label.a_time is not None
    assert label.a_time.isoformat() == "2026-01-01T00:00:00+00:00"


def test_times_winner_and_id_may_be_missing() -> None:
    row = json.dumps({"a": A, "b": B, "relation": "compatible"})
    labels, broken = labels_of(row, row)
    assert [label.id for label in labels] == ["line1", "line2"]
    assert not broken


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ("{", "no valid JSON"),
        ("[]", "not an object"),
        (line(a=""), "'a' must be"),
        (line(b=None), "'b' must be"),
        (line(relation="same"), "'relation' must be one of equivalent"),
        (line(winner="c"), "'winner' must be"),
        (line(a_time=3), "'a_time' must be a time"),
        (line(a_time="soon"), "'a_time'"),
    ],
)
def test_a_broken_line_is_told_and_the_rest_is_read(row: str, told: str) -> None:
    labels, ((number, error),) = labels_of(row, line(id="y"))
    assert [label.id for label in labels] == ["y"]
    assert number == 1
    assert told in str(error)


def test_an_id_used_twice_is_told() -> None:
    labels, ((number, error),) = labels_of(line(), line())
    assert (len(labels), number) == (1, 2)
    assert "used before" in str(error)


def test_retiring_the_older_one_of_a_contradiction_is_right() -> None:
    assert act_of(Relation.CONTRADICTS) == ("supersede", True)
    assert act_of(Relation.CONTRADICTS, winner=None) == ("supersede", True)


def test_retiring_the_one_that_holds_is_wrong() -> None:
    assert act_of(Relation.CONTRADICTS, winner="a") == ("supersede", False)


def test_retiring_one_of_two_that_both_hold_is_wrong() -> None:
    assert act_of(Relation.CONTRADICTS, relation="compatible", winner=None) == ("supersede", False)


def test_without_order_in_time_nothing_is_retired() -> None:
    assert act_of(Relation.CONTRADICTS, a_time=None, b_time=None)[0] is None


def test_merging_is_right_for_equals_and_wrong_for_others() -> None:
    for relation, right in (("equivalent", True), ("contradicts", False), ("compatible", False)):
        texts = {"a": "Mia has a small dog.", "b": "A small dog is owned by Mia."}
        labels, _ = labels_of(line(**texts, relation=relation, winner=None))
        table = {(texts["a"], texts["b"]): Relation.EQUIVALENT}
        (found,), _ = judged(labels, fake_backends(verdicts=table))
        assert (found.act, found.right) == ("merge", right)


def test_what_the_richer_one_takes_in_is_right_the_other_way_it_is_wrong() -> None:
    rich, poor = "Mia works at Acme as a driver.", "Mia works at Acme."
    backends = fake_backends(verdicts={(rich, poor): Relation.LEFT_ENTAILS_RIGHT})
    for relation, right in (("a_entails_b", True), ("b_entails_a", False), ("compatible", False)):
        labels, _ = labels_of(line(a=rich, b=poor, relation=relation, winner=None))
        (found,), _ = judged(labels, backends)
        assert (found.act, found.right, found.found) == ("merge", right, "a_entails_b")


def test_repeats_and_failures_count_for_nothing() -> None:
    labels, _ = labels_of(line(id="same", b=A), line(id="broken"))
    found, without = judged(labels, fake_backends(verdicts={(A, B): None}))
    assert not found
    assert [label.id for label in without] == ["same", "broken"]


# ---- reviews as labels


def test_accepted_and_rejected_reviews_become_labels(store: Store) -> None:
    memory = Memory(store, settings=FAKE_SETTINGS)
    memory.settings = type(FAKE_SETTINGS)(
        embedder="fake", extractor="fake", classifier="fake", merge=False, supersede=False
    )
    memory.add(
        NewFact(id="old", text="The office of Nadia is in Ghent.", stated_at=day(1)),
        NewFact(id="new", text="The office of Nadia is in Bonn.", stated_at=day(9)),
        NewFact(id="rich", text="Otto sings every day in the choir.", stated_at=day(2)),
        NewFact(id="poor", text="Otto sings in the choir.", stated_at=day(3)),
        NewFact(id="x", text="The rent of Vera is 900 euros.", stated_at=day(4)),
        NewFact(id="y", text="The rent of Vera is 950 euros.", stated_at=day(5)),
    )
    memory.run()
    reviews = {frozenset((r.decision.subject, r.decision.object)): r for r in store.reviews()}
    assert len(reviews) == 3
    from consolidate import pipeline

    pipeline.accept(store, reviews[frozenset(("old", "new"))].id, now=NOW)
    pipeline.accept(store, reviews[frozenset(("rich", "poor"))].id, now=NOW)
    assert exported(store.reviews(state=None), memory.all())[0]
    pipeline.reject(store, reviews[frozenset(("x", "y"))].id, now=NOW)

    lines, gone = exported(store.reviews(state=None), memory.all())
    labels, broken = read_labels("\n".join(lines).encode())
    assert (gone, broken) == (0, [])
    told = {
        frozenset((label.a, label.b)): (
            label.relation,
            {"a": label.a, "b": label.b}.get(label.winner or ""),
        )
        for label in labels
    }
    texts = {fact.id: fact.text for fact in memory.all().values()}
    assert told[frozenset((texts["old"], texts["new"]))] == ("contradicts", texts["new"])
    assert told[frozenset((texts["x"], texts["y"]))] == ("compatible", None)
    relation = told[frozenset((texts["rich"], texts["poor"]))][0]
    (label,) = [label for label in labels if texts["rich"] in (label.a, label.b)]
    assert relation == ("a_entails_b" if label.a == texts["rich"] else "b_entails_a")


def test_a_review_whose_fact_is_gone_is_counted(store: Store) -> None:
    memory = Memory(store)
    memory.settings = type(FAKE_SETTINGS)(
        embedder="fake", extractor="fake", classifier="fake", supersede=False
    )
    memory.add(
        NewFact(id="old", text="The office of Nadia is in Ghent.", stated_at=day(1)),
        NewFact(id="new", text="The office of Nadia is in Bonn.", stated_at=day(9)),
    )
    memory.run()
    from consolidate import pipeline

    (review,) = store.reviews()
    pipeline.reject(store, review.id, now=NOW)
    assert exported(store.reviews(state=None), {}) == ([], 1)
