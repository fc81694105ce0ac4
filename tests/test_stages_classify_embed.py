from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pytest
from builders import fact, mention
from pipelines import Classifier

from consolidate.backends.fake import FakeEmbedder, FakeExtractor
from consolidate.errors import ModelMismatchError, ModelOutputError
from consolidate.stages.classify import CHUNK, classify
from consolidate.stages.embed import embed
from consolidate.stages.entities import entities
from consolidate.stages.work import Tally, in_chunks, silent
from consolidate.store import Store
from consolidate.types import Fact, Mention, Pair, Relation, Verdict

FACTS = {f.id: f for f in (fact("a", "tea"), fact("b", "tea and milk"), fact("c", "bees"))}


def asked(
    store: Store,
    classifier: Classifier,
    *pairs: Pair,
    facts: dict[str, Fact] = FACTS,
    budget: int = 0,
) -> tuple[dict[tuple[str, str], Verdict], Tally]:
    tally = Tally("classify")
    verdicts = classify(
        store, classifier, pairs, facts, budget=budget, tally=tally, progress=silent
    )
    return dict(verdicts), tally


def pair(left: str, right: str, similarity: float = 0.5) -> Pair:
    return Pair(left=left, right=right, rule="neighbour", similarity=similarity)


# -- classify ------------------------------------------------------------------------------------


def test_a_pair_is_judged_once_in_its_life(store: Store) -> None:
    model = Classifier()
    first, tally = asked(store, model, pair("a", "b"), pair("a", "c"))
    assert (tally.model_calls, tally.cached) == (2, 0)
    rows = store.rows_written()
    second, tally = asked(store, model, pair("a", "b"), pair("a", "c"))
    assert (tally.model_calls, tally.cached) == (0, 2)
    assert second == first
    assert model.items == 2
    assert store.rows_written() == rows


def test_another_model_is_asked_anew(store: Store) -> None:
    asked(store, Classifier(), pair("a", "b"))
    other = Classifier({("x", "y"): Relation.CONTRADICTS})
    _, tally = asked(store, other, pair("a", "b"))
    assert tally.model_calls == 1


def test_forward_is_from_the_left_fact_whichever_hash_is_smaller(store: Store) -> None:
    long, short = "tea and milk", "tea"  # the first says all that the second says
    for left, right in ((long, short), (short, long)):
        facts = {"a": fact("a", left), "b": fact("b", right)}
        for _ in range(2):  # from the model, then from the cache
            found, _ = asked(store, Classifier(), pair("a", "b"), facts=facts)
            verdict = found["a", "b"]
            assert verdict.forward is not None and verdict.backward is not None
            richer = verdict.forward if left == long else verdict.backward
            poorer = verdict.backward if left == long else verdict.forward
            assert richer.entailment > 0.9 > poorer.entailment


def test_the_verdict_of_a_pair_does_not_depend_on_which_ids_have_its_texts(store: Store) -> None:
    class Biased(Classifier):
        """Answers otherwise when asked the other way round, as real models do a little."""

        def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
            table = dict.fromkeys(pairs, Relation.LEFT_ENTAILS_RIGHT)
            return Classifier(table).classify(pairs)

    seen = []
    for left, right in (("tea", "milk"), ("milk", "tea")):
        with Store.open(":memory:") as fresh:
            facts = {"a": fact("a", left), "b": fact("b", right)}
            found, _ = asked(fresh, Biased(), pair("a", "b"), facts=facts)
        verdict = found["a", "b"]
        seen.append(verdict.forward if left == "tea" else verdict.backward)
    assert seen[0] == seen[1]


def test_two_pairs_of_the_same_texts_are_asked_once(store: Store) -> None:
    facts = {
        "a": fact("a", "tea"), "b": fact("b", "milk"),
        "c": fact("c", "tea", kind="plan"), "d": fact("d", "milk", kind="plan"),
    }  # fmt: skip
    found, tally = asked(store, Classifier(), pair("a", "b"), pair("c", "d"), facts=facts)
    assert tally.model_calls == 1
    assert found["a", "b"] == found["c", "d"]


def test_a_budget_takes_the_most_similar_and_counts_the_rest(store: Store) -> None:
    model = Classifier()
    pairs = (pair("a", "b", 0.2), pair("a", "c", 0.9), pair("b", "c", 0.5))
    found, tally = asked(store, model, *pairs, budget=2)
    assert set(found) == {("a", "c"), ("b", "c")}
    assert tally.detail["cut"] == 1
    found, tally = asked(store, model, *pairs, budget=2)
    assert set(found) == {("a", "b"), ("a", "c"), ("b", "c")}
    assert (tally.cached, tally.model_calls, tally.detail.get("cut")) == (2, 1, None)


def test_a_failure_is_counted_and_not_kept(store: Store) -> None:
    model = Classifier()
    model.failing = {frozenset(("tea", "bees"))}
    found, tally = asked(store, model, pair("a", "b"), pair("a", "c"))
    assert tally.failures == 1
    assert found["a", "c"].failure == "out of order"
    model.failing = set()
    found, tally = asked(store, model, pair("a", "b"), pair("a", "c"))
    assert (tally.model_calls, tally.cached, tally.failures) == (1, 1, 0)
    assert found["a", "c"].failure is None


def test_a_pair_is_asked_about_three_times_and_then_stays_a_failure(store: Store) -> None:
    model = Classifier()
    model.failing = {frozenset(("tea", "bees"))}
    for attempt in (1, 2, 3):
        _, tally = asked(store, model, pair("a", "c"))
        assert (tally.model_calls, tally.failures) == (1, 1)
        assert tally.detail == ({"to retry": 1} if attempt < 3 else {"given up": 1})
    model.failing = set()
    found, tally = asked(store, model, pair("a", "c"), pair("a", "b"), budget=1)
    assert (tally.model_calls, tally.failures, tally.detail) == (1, 0, {"given up": 1})
    assert found["a", "c"].failure == "it failed before"
    assert store.retry_failures() == 1
    found, tally = asked(store, model, pair("a", "c"))
    assert found["a", "c"].failure is None


def test_what_was_judged_before_a_crash_is_kept(store: Store) -> None:
    class Crashing(Classifier):
        def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
            if self.items:
                raise RuntimeError("killed")
            return super().classify(pairs)

    facts = {f"f{n:04}": fact(f"f{n:04}", f"text {n}") for n in range(CHUNK + 20)}
    pairs = [pair("f0000", other) for other in sorted(facts)[1:]]
    with pytest.raises(RuntimeError, match="killed"):
        asked(store, Crashing(), *pairs, facts=facts)
    _, tally = asked(store, Classifier(), *pairs, facts=facts)
    assert (tally.cached, tally.model_calls) == (CHUNK, 19)


def test_nothing_to_judge_asks_nothing(store: Store) -> None:
    model = Classifier()
    assert asked(store, model)[0] == {}
    assert model.calls == 0


# -- embed ---------------------------------------------------------------------------------------


def test_each_text_is_embedded_once_and_rows_follow_the_facts(store: Store) -> None:
    model = FakeEmbedder()
    facts = [fact("a", "tea"), fact("b", "bees"), fact("c", "tea")]
    tally = Tally("embed")
    vectors = embed(store, model, facts, tally=tally, progress=silent)
    assert (tally.model_calls, tally.cached, model.items) == (2, 0, 2)
    assert np.array_equal(vectors[0], vectors[2])
    assert np.array_equal(vectors[[0, 1]], FakeEmbedder().embed(["tea", "bees"]))
    tally = Tally("embed")
    again = embed(store, model, facts[::-1], tally=tally, progress=silent)
    assert (tally.model_calls, tally.cached) == (0, 2)
    assert np.array_equal(again, vectors[::-1])
    assert again.dtype == np.float32


def test_no_facts_have_no_vectors(store: Store) -> None:
    model = FakeEmbedder(dimensions=32)
    found = embed(store, model, [], tally=Tally("embed"), progress=silent)
    assert found.shape == (0, 32)
    assert model.calls == 0
    assert store.embedding_model() is None


def test_a_store_of_another_model_is_refused_before_anything_is_asked(store: Store) -> None:
    embed(store, FakeEmbedder(), [fact("a")], tally=Tally("embed"), progress=silent)
    other = FakeEmbedder(revision="2")
    with pytest.raises(ModelMismatchError):
        embed(store, other, [fact("a")], tally=Tally("embed"), progress=silent)
    assert other.calls == 0


# -- entities ------------------------------------------------------------------------------------


def test_each_text_is_read_once(store: Store) -> None:
    model = FakeExtractor()
    facts = [fact("a", "Mia naps"), fact("b", "Otto naps"), fact("c", "Mia naps")]
    tally = Tally("entities")
    found = entities(store, model, facts, tally=tally, progress=silent)
    assert found["a"] == found["c"] == (mention("Mia naps", "Mia"),)
    assert (tally.model_calls, model.items) == (2, 2)
    tally = Tally("entities")
    assert entities(store, model, facts, tally=tally, progress=silent) == found
    assert (tally.model_calls, tally.cached) == (0, 2)


def test_an_extractor_that_knows_other_names_is_asked_anew(store: Store) -> None:
    facts = [fact("a", "the old mill burns")]
    assert entities(store, FakeExtractor(), facts, tally=Tally(""), progress=silent)["a"] == ()
    knowing = FakeExtractor().knowing(["old mill"])
    found = entities(store, knowing, facts, tally=Tally(""), progress=silent)
    assert [m.text for m in found["a"]] == ["old mill"]


def test_a_text_that_an_extractor_can_not_read_is_given_up(store: Store) -> None:
    class Stuck(FakeExtractor):
        def attempt(self, texts: Sequence[str]) -> list[list[Mention] | None]:
            return [
                None if "Mia" in t else m for t, m in zip(texts, self.extract(texts), strict=True)
            ]

    model, facts = Stuck(), [fact("a", "Mia naps"), fact("b", "Otto naps")]
    for _ in range(3):
        tally = Tally("entities")
        found = entities(store, model, facts, tally=tally, progress=silent)
        assert tally.failures == 1
    tally = Tally("entities")
    assert entities(store, model, facts, tally=tally, progress=silent) == found
    assert (tally.model_calls, tally.failures, tally.detail) == (0, 0, {"given up": 1})


def test_a_text_that_can_not_be_embedded_is_given_up_until_all_is_embedded_anew(
    store: Store,
) -> None:
    class Stuck(FakeEmbedder):
        def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
            if "tea" in texts:
                raise ModelOutputError("no vector")
            return super().embed(texts)

    model, facts = Stuck(), [FACTS["a"], FACTS["c"]]
    tallies = []
    for _ in range(4):
        tallies.append(Tally("embed"))
        rows = embed(store, model, facts, tally=tallies[-1], progress=silent)
        assert not rows[0].any() and rows[1].any()
    assert [t.failures for t in tallies] == [1, 1, 1, 0]
    assert tallies[-1].detail == {"given up": 1}
    store.drop_vectors()
    tally = Tally("embed")
    embed(store, model, facts, tally=tally, progress=silent)
    assert tally.failures == 1


# -- progress ------------------------------------------------------------------------------------


def test_progress_is_told_before_the_first_chunk_and_after_each() -> None:
    told: list[tuple[str, int, int]] = []
    parts = list(in_chunks(range(5), 2, "embed", lambda *step: told.append(step)))
    assert [list(p) for p in parts] == [[0, 1], [2, 3], [4]]
    assert told == [("embed", 0, 5), ("embed", 2, 5), ("embed", 4, 5), ("embed", 5, 5)]
    assert list(in_chunks([], 2, "embed", lambda *step: told.append(step))) == []
    assert len(told) == 4
