"""What is in force for a classifier, and what a run does by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pytest
from builders import NOW, day
from calibrations import calibration, item, plain

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.backends.fake import FakeClassifier, FakeEmbedder, FakeExtractor
from consolidate.calibration.policy import UNPROVEN, in_force, policy_for
from consolidate.calibration.shelf import FILE_NAME, find, keep, own_path
from consolidate.errors import InputError
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import DecisionKind, FactStatus, NewFact, Verdict

OLD, NEW = "The office of Nadia is in Ghent.", "The office of Nadia is in Bonn."


@dataclass
class Judge:
    """A classifier that nobody has measured, with a folder of its own."""

    folder: Path
    identity: str = "onnx:judge@1"

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        return FakeClassifier().classify(pairs)


@pytest.fixture
def judge(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Judge:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "model").mkdir()
    return Judge(tmp_path / "model")


def backends(judge: Judge) -> Backends:
    return Backends(embedder=FakeEmbedder(), extractor=FakeExtractor(), classifier=judge)


def remember(store: Store, *texts: str) -> None:
    store.add(
        [NewFact(id=f"f{n}", text=text, stated_at=day(n)) for n, text in enumerate(texts)], now=NOW
    )


# ---- where it is found


def test_the_calibration_beside_the_model_is_found(judge: Judge) -> None:
    made = calibration(judge.identity)
    keep(made, judge.folder / FILE_NAME)
    assert find(judge.identity, judge.folder).calibration == made


def test_ones_own_goes_before_that_of_the_model(judge: Judge) -> None:
    keep(calibration(judge.identity), judge.folder / FILE_NAME)
    own = calibration(judge.identity, labels=plain(wrong=[0.7]))
    keep(own, own_path(judge.identity))
    found = find(judge.identity, judge.folder)
    assert (found.calibration, found.path) == (own, own_path(judge.identity))


def test_a_calibration_of_other_files_is_not_used_and_told(judge: Judge) -> None:
    keep(calibration("onnx:judge@2"), judge.folder / FILE_NAME)
    found = find(judge.identity, judge.folder)
    assert found.calibration is None
    assert "made for onnx:judge@2, not for onnx:judge@1" in found.passed_over[0]
    assert not policy_for(Settings(), judge).proven_supersede


def test_a_broken_one_is_passed_over_for_the_next(judge: Judge) -> None:
    made = calibration(judge.identity)
    keep(made, judge.folder / FILE_NAME)
    own_path(judge.identity).parent.mkdir(parents=True)
    own_path(judge.identity).write_text("{}", encoding="utf-8")
    found = find(judge.identity, judge.folder)
    assert found.calibration == made
    assert "no calibration" in found.passed_over[0]


def test_identities_become_file_names_that_differ(judge: Judge) -> None:
    names = {own_path(f"onnx:judge@{n}").name for n in (1, 2)}
    assert names == {"onnx-judge@1.json", "onnx-judge@2.json"}
    assert own_path("ollama:../../x").parent == own_path("a").parent


def test_a_place_that_can_not_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="can't be written"):
        keep(calibration(), tmp_path / "file" / "x.json")


# ---- what follows from it


def test_rates_choose_the_thresholds_and_given_thresholds_win(judge: Judge) -> None:
    keep(
        calibration(judge.identity, labels=plain(wrong=[0.6] * 20 + [0.8] * 20)),
        judge.folder / FILE_NAME,
    )
    thresholds = [
        policy_for(Settings(max_false_supersede=rate), judge).supersede
        for rate in (0.001, 0.015, 0.1)
    ]
    assert thresholds == [0.805, 0.605, 0.5]
    given = in_force(Settings(supersede_threshold=0.7), judge)
    assert given.policy.supersede == 0.7
    assert given.policy.supersede_languages is None
    assert given.policy.merge_languages == frozenset({"en"})
    assert given.origins["supersede"] == "the settings"


def test_the_profile_is_a_preset_of_the_rates(judge: Judge) -> None:
    wrong = [0.55] * 20 + [0.7] * 10 + [0.9]
    keep(calibration(judge.identity, labels=plain(wrong=wrong)), judge.folder / FILE_NAME)
    found = [
        policy_for(Settings(profile=profile), judge).supersede
        for profile in ("careful", "balanced", "eager")
    ]
    assert found == [0.705, 0.555, 0.5]


def test_without_calibration_it_only_proposes(judge: Judge, store: Store) -> None:
    assert policy_for(Settings(), judge).supersede == UNPROVEN.supersede
    remember(store, OLD, NEW, "Mia has a dog.", "Mia has a dog.")
    made = pipeline.run(store, backends(judge), Settings(), now=NOW).plan
    assert made is not None
    done = {(d.kind, d.reason) for d in made.decisions}
    # A repeat word for word needs no judge
    assert done == {(DecisionKind.REVIEW, "not-calibrated"), (DecisionKind.MERGE, "repeat")}
    (review,) = store.reviews(agent="default", state=None)
    assert review.decision.proposal is DecisionKind.SUPERSEDE
    assert "only proposes" in review.decision.sentence


def test_calibrating_sets_a_memory_going_again(judge: Judge, store: Store) -> None:
    remember(store, "Mia has a dog.", "Otto sings.")
    assert not pipeline.run(store, backends(judge), Settings(), now=NOW).nothing_new
    assert pipeline.run(store, backends(judge), Settings(), now=NOW).nothing_new
    keep(calibration(judge.identity), judge.folder / FILE_NAME)
    assert not pipeline.run(store, backends(judge), Settings(), now=NOW).nothing_new


def test_with_one_it_acts_and_the_plan_says_by_what(judge: Judge, store: Store) -> None:
    keep(calibration(judge.identity), judge.folder / FILE_NAME)
    remember(store, OLD, NEW)
    made = pipeline.run(store, backends(judge), Settings(), now=NOW).plan
    assert made is not None
    assert [d.kind for d in made.decisions] == [DecisionKind.SUPERSEDE]
    assert made.settings["supersede_threshold"] == 0.5
    assert made.settings["supersede_languages"] == ["en"]
    assert store.get("f0").status is FactStatus.SUPERSEDED


def test_a_given_threshold_acts_without_calibration(judge: Judge, store: Store) -> None:
    remember(store, OLD, NEW)
    made = pipeline.plan(store, backends(judge), Settings(supersede_threshold=0.9), now=NOW)
    assert [d.kind for d in made.decisions] == [DecisionKind.SUPERSEDE]


def test_a_language_that_is_not_proven_is_asked_about(judge: Judge, store: Store) -> None:
    keep(calibration(judge.identity), judge.folder / FILE_NAME)
    remember(
        store, "Das Büro von Nadia ist jetzt in Gent.", "Das Büro von Nadia ist jetzt in Bonn."
    )
    made = pipeline.plan(store, backends(judge), Settings(), now=NOW)
    assert [(d.kind, d.reason) for d in made.decisions] == [
        (DecisionKind.REVIEW, "language-not-proven")
    ]


def test_what_a_person_sees_is_how_likely_it_is_right(judge: Judge, store: Store) -> None:
    half = [item("supersede", 0.96, right=k % 2 == 0) for k in range(400)]
    keep(calibration(judge.identity, labels=half), judge.folder / FILE_NAME)
    remember(store, OLD, NEW)
    (decision,) = pipeline.plan(store, backends(judge), Settings(), now=NOW).decisions
    assert decision.kind is DecisionKind.REVIEW  # half wrong: nothing is safe
    assert decision.evidence[0].confidence == pytest.approx(0.5, abs=0.05)


def test_the_bundled_judge_has_a_calibration_of_its_very_files() -> None:
    """If this fails: `python -m eval.calibrate`, and look at what has become of the band."""
    classifier = Backends.load(Settings()).classifier
    found = find(classifier.identity, classifier.folder, environ={"HOME": "/nowhere"})  # type: ignore[attr-defined]  # of the ONNX one
    assert found.calibration is not None, found.passed_over
    assert set(found.calibration.sources) == {"pairs", "streams"}
    assert not any("test" in name for name in found.calibration.data)
