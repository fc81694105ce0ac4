"""Each layer of the judge, with an overconfident classifier that is wrong."""

from __future__ import annotations

import pytest
from builders import fact, verdict

from consolidate.backends.fake import FakeExtractor
from consolidate.judge.assess import assess, relation_of
from consolidate.judge.reading import Reading, read
from consolidate.types import Assessment, Relation, Scores, Verdict

CONTRADICTS, EQUIVALENT, COMPATIBLE = (
    Relation.CONTRADICTS, Relation.EQUIVALENT, Relation.COMPATIBLE,
)  # fmt: skip
LEFT_MORE, RIGHT_MORE = Relation.LEFT_ENTAILS_RIGHT, Relation.RIGHT_ENTAILS_LEFT


def reading(fact_id: str, text: str, stated: float, kind: str = "fact") -> Reading:
    return read(fact(fact_id, text, stated, kind=kind), FakeExtractor().extract([text])[0])


def judged(
    left: str,
    right: str,
    says: Relation | Verdict | None = CONTRADICTS,
    *,
    kinds: tuple[str, str] = ("fact", "fact"),
    **options: object,
) -> Assessment:
    """The assessment of two texts, the right one said later, by a classifier sure to 0.99."""
    return assess(
        reading("a", left, 1, kinds[0]),
        reading("b", right, 2, kinds[1]),
        verdict(says) if isinstance(says, Relation) else says,
        **options,  # type: ignore[arg-type]  # passed through
    )


def both_ways(left: str, right: str, says: Relation = CONTRADICTS) -> tuple[Assessment, Assessment]:
    """A pair with its sides in either order, the same one said later."""
    turned = {LEFT_MORE: RIGHT_MORE, RIGHT_MORE: LEFT_MORE}.get(says, says)
    again = assess(reading("a", right, 2), reading("b", left, 1), verdict(turned))
    return judged(left, right, says), again


def merges(found: Assessment) -> bool:
    """Whether a fact may be absorbed on this ground, with nobody asked."""
    return found.relation in (EQUIVALENT, LEFT_MORE, RIGHT_MORE) and not found.review_only


# -- reading the verdict -------------------------------------------------------------------------


@pytest.mark.parametrize("relation", list(Relation))
def test_a_clear_verdict_is_read_as_it_is(relation: Relation) -> None:
    assert relation_of(verdict(relation))[0] is relation


def test_contradiction_is_averaged_and_equivalence_takes_the_weaker_way() -> None:
    def scores(entailment: float, contradiction: float) -> Scores:
        return Scores(
            entailment=entailment,
            neutral=1 - entailment - contradiction,
            contradiction=contradiction,
        )

    for forward, backward, relation, confidence in (
        (scores(0.0, 1.0), scores(0.0, 0.6), CONTRADICTS, 0.8),
        (scores(0.9, 0.0), scores(0.6, 0.1), EQUIVALENT, 0.6),
        (scores(0.9, 0.0), scores(0.2, 0.3), LEFT_MORE, 0.7),
    ):
        found = relation_of(Verdict(forward=forward, backward=backward, model="m"))
        assert found[0] is relation
        assert found[1] == pytest.approx(confidence)


@pytest.mark.parametrize(
    "says",
    [None, Verdict(forward=None, backward=None, model="m", failure="too long")],
    ids=["no verdict", "a failure"],
)
def test_what_was_not_judged_is_left_alone(says: Verdict | None) -> None:
    found = judged("Mia lives in Ghent", "Mia lives in Bonn", says)
    assert (found.relation, found.confidence, found.reason) == (COMPATIBLE, 0.0, "not-judged")
    assert "too long" in found.because[0] or says is None


@pytest.mark.parametrize("says", [CONTRADICTS, EQUIVALENT])
def test_a_script_that_the_judge_does_not_read_is_left_alone(says: Relation) -> None:
    found = judged("Мия живёт в Генте", "Мия живёт в Бонне", says)
    assert (found.relation, found.reason) == (COMPATIBLE, "language")


def test_cut_texts_are_never_acted_upon_without_a_person() -> None:
    says = Verdict(
        forward=verdict(CONTRADICTS).forward, backward=verdict(CONTRADICTS).backward,
        model="m", truncated=True,
    )  # fmt: skip
    found = judged("Mia lives in Ghent", "Mia lives in Bonn", says)
    assert found.relation is CONTRADICTS
    assert found.review_only


# -- what forbids a contradiction ----------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Mia lives in Ghent", "Mia lives in Bonn"),
        ("The user works at Acme", "The user works at Globex"),
        ("Mia no longer eats meat", "Mia eats meat"),
        ("The port is 8080", "The port is 8081"),
    ],
)
def test_a_plain_update_passes_all_layers(left: str, right: str) -> None:
    for found in both_ways(left, right):
        assert found.relation is CONTRADICTS
        assert found.confidence > 0.95
        assert not found.review_only


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("Mia lives in Ghent", "Jonas lives in Bonn", "other-subject"),
        ("Mia works at Acme.", "Jonas works at Acme.", "other-subject"),
        ("Per works at Acme.", "Una works at Acme.", "other-subject"),
        ("The user lives in Ghent", "Jonas lives in Bonn", "other-subject"),
        ("2026-03-01: weight 70 kg", "2026-04-01: weight 72 kg", "series"),
        ("Pump KX2203 is red", "Pump KX2205 is blue", "other-identifier"),
        ("Ticket ABC-12 is open", "Ticket ABC-13 is closed", "other-identifier"),
        ("Ticket 260 was closed today", "Ticket 261 was opened today", "other-identifier"),
        ("Mia has 3 cats", "Mia has 2 dogs", "other-measure"),
        ("Mia eats meat", "Does Mia eat fish?", "modality"),
        ("Mia lives in Ghent", "Mia plans to live in Bonn", "modality"),
        ("Mia lives in Ghent", "Otto said that Mia lives in Bonn", "modality"),
        ("Mia lives in Ghent", "Maybe Mia lives in Bonn", "modality"),
        ("Mia speaks Dutch", "Mia speaks French", "many-valued"),
        ("Mia has visited Ghent", "Mia has visited Bonn", "many-valued"),
    ],
)
def test_what_only_looks_like_a_contradiction_is_left_alone(
    left: str, right: str, reason: str
) -> None:
    for found in both_ways(left, right):
        assert (found.relation, found.reason) == (COMPATIBLE, reason), found.because
        assert len(found.because) >= 2


def test_what_was_before_does_not_contradict_what_is() -> None:
    found = judged("Mia used to live in Bonn", "Mia lives in Ghent")
    assert (found.relation, found.reason) == (COMPATIBLE, "modality")


def test_an_end_retires_what_ended_even_of_a_plan_or_of_many() -> None:
    for left, right in (
        ("Mia plans to move to Bonn", "Mia gave up her plans to move to Bonn"),
        ("Mia speaks Dutch", "Mia no longer speaks Dutch"),
    ):
        assert judged(left, right).relation is CONTRADICTS


def test_a_negation_contradicts_one_of_many_values() -> None:
    assert judged("Mia speaks Dutch", "Mia does not speak Dutch").relation is CONTRADICTS


def test_settings_say_how_many_values_an_attribute_holds() -> None:
    pair = ("Mia speaks Dutch", "Mia speaks French")
    assert judged(*pair, slots={"language": "one"}).relation is CONTRADICTS


def test_an_ambiguous_name_is_no_ground_to_retire() -> None:
    found = judged("Ada lives in Ghent", "Ada lives in Bonn", doubtful=("ada",))
    assert (found.relation, found.reason) == (COMPATIBLE, "ambiguous-name")


def test_a_value_whose_name_fits_several_is_still_a_value() -> None:
    pair = ("The mayor of Ghent is Ada Roe", "The mayor of Ghent is Bo Lind")
    found = judged(*pair, doubtful=("ada",))
    assert (found.relation, found.reason) == (CONTRADICTS, "same-slot")
    assert judged(*pair, doubtful=("ghent",)).relation is COMPATIBLE


def test_one_attribute_of_two_people_is_two() -> None:
    for found in both_ways("Nerea's job: backend developer", "My job is platform engineer"):
        assert (found.relation, found.reason) == (COMPATIBLE, "other-subject")
    for found in both_ways("Nerea's job: backend developer", "Job title: platform engineer"):
        assert found.relation is COMPATIBLE or found.review_only


def test_an_alias_is_the_same_subject() -> None:
    assert judged("Otto lives in Ghent", "Bob lives in Bonn").reason == "other-subject"
    pair = ("Robert lives in Ghent", "Bob lives in Bonn")
    found = judged(*pair)
    assert (found.relation, found.review_only) == (CONTRADICTS, True)
    assert "may be two" in found.because[-1]
    names = {"bob", "robert"}
    found = judged(*pair, same_name=lambda a, b: a == b or {a, b} == names)
    assert found.relation is CONTRADICTS


def test_a_kind_that_cannot_conflict_does_not() -> None:
    found = judged("Mia lives in Ghent", "Mia lives in Bonn", kinds=("memory", "fact"))
    assert (found.relation, found.reason) == (COMPATIBLE, "kind")


def test_a_fact_of_kind_plan_is_a_plan_whatever_its_words() -> None:
    found = judged("Mia lives in Ghent", "Mia lives in Bonn", kinds=("fact", "plan"))
    assert (found.relation, found.reason) == (COMPATIBLE, "modality")


def test_what_cannot_change_goes_to_a_person() -> None:
    for found in both_ways("Mia was born in Ghent", "Mia was born in Bonn"):
        assert (found.relation, found.reason) == (CONTRADICTS, "immutable")
        assert found.review_only


def test_a_correction_of_what_cannot_change_is_one() -> None:
    found = judged("Mia was born in Ghent", "Correction: Mia was born in Bonn")
    assert (found.relation, found.subtype) == (CONTRADICTS, "correction")
    assert not found.review_only


def test_two_texts_that_share_nothing_go_to_a_person() -> None:
    found = judged("Sleeps until noon on Sundays", "Gets up at dawn every morning")
    assert found.relation is COMPATIBLE or found.review_only


# -- what the words alone show -------------------------------------------------------------------


@pytest.mark.parametrize("says", [CONTRADICTS, COMPATIBLE, LEFT_MORE])
def test_the_same_value_in_another_unit_is_the_same(says: Relation) -> None:
    for found in both_ways("The bag weighs 1.5 kg", "The bag weighs 1500 g", says):
        assert (found.relation, found.reason) == (EQUIVALENT, "same-words")


def test_another_value_in_the_same_words_is_never_the_same() -> None:
    for says in (EQUIVALENT, LEFT_MORE, CONTRADICTS):
        for found in both_ways("The port is 8080", "The port is 8081", says):
            assert not merges(found)


def test_opposite_words_are_never_the_same() -> None:
    for found in both_ways("The heating is on", "The heating is off", EQUIVALENT):
        assert found.relation is CONTRADICTS or found.review_only


# -- what forbids a merge ------------------------------------------------------------------------


def test_the_same_in_other_words_is_the_same() -> None:
    for found in both_ways("Mia resides in Ghent", "Mia lives in Ghent", EQUIVALENT):
        assert found.relation is EQUIVALENT
        assert not found.review_only


@pytest.mark.parametrize(
    ("left", "right", "reason"),
    [
        ("Mia likes tea", "Jonas likes tea", "other-subject"),
        ("Mia lives in Ghent", "Mia plans to live in Ghent", "modality"),
        ("2026-03-01: weight 70 kg", "2026-04-01: weight 70 kg", "series"),
    ],
)
def test_what_only_looks_like_a_repeat_is_left_alone(left: str, right: str, reason: str) -> None:
    for found in both_ways(left, right, EQUIVALENT):
        assert (found.relation, found.reason) == (COMPATIBLE, reason), found.because


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("Mia pays 20 euros for tea", "For tea, Mia pays 30 euros a month"),
        ("Mia and Otto like tea", "Mia and Paul like tea"),
        ("Mia lives in Ghent", "Does Mia live in Ghent?"),
        ("Mia lives in Ghent", "Otto said that Mia lives in Ghent"),
        ("Mia moved to Ghent with Otto", "Mia moved to Ghent in 2019"),
    ],
    ids=["values", "names", "question", "hearsay", "a name and a value"],
)
def test_what_each_has_alone_is_never_merged_away_without_a_person(left: str, right: str) -> None:
    for found in both_ways(left, right, EQUIVALENT):
        assert not merges(found), found.because


def test_the_one_that_says_more_is_not_absorbed() -> None:
    rich, poor = "Mia moved to Ghent in 2019 with Otto", "Mia moved to Ghent"
    first, second = both_ways(rich, poor, EQUIVALENT)
    assert (first.keep or first.relation) in ("a", LEFT_MORE)
    assert (second.keep or second.relation) in ("b", RIGHT_MORE)
    assert not merges(judged(poor, rich, LEFT_MORE))
    assert not merges(judged(rich, poor, RIGHT_MORE))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("The gate is locked at night", "The gate is not locked at night"),
        ("Mia smokes cigars", "Mia stopped smoking cigars"),
        ("Mia rides a horse", "Mia used to ride a horse"),
        ("The dog bit the man", "The man bit the dog"),
        ("The minimum is ten", "The maximum is ten"),
    ],
    ids=["negation", "end", "past", "order of words", "antonym"],
)
def test_what_turns_the_meaning_is_never_merged_without_a_person(left: str, right: str) -> None:
    for found in both_ways(left, right, EQUIVALENT):
        assert not merges(found), found.because


# -- links ---------------------------------------------------------------------------------------


def test_a_plan_and_what_was_done_later_belong_together() -> None:
    found = judged("Mia plans to paint the shed", "Mia painted the shed", COMPATIBLE)
    assert (found.relation, found.subtype) == (COMPATIBLE, "fulfils")


def test_a_plan_is_not_fulfilled_by_what_came_before_it() -> None:
    assert judged("Mia painted the shed", "Mia plans to paint the shed", COMPATIBLE).subtype == ""


def test_readings_of_two_days_are_a_series() -> None:
    found = judged("2026-03-01: weight 70 kg", "2026-04-01: weight 72 kg", COMPATIBLE)
    assert found.subtype == "series"


@pytest.mark.parametrize("says", list(Relation))
def test_every_assessment_gives_its_reasons(says: Relation) -> None:
    found = judged("Mia lives in Ghent", "Mia lives in Bonn", says)
    assert found.reason
    assert all(found.because)
    assert (found.left, found.right) == ("a", "b")
    assert 0 <= found.confidence <= 1
