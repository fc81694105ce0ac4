"""What every model must hold to, one body for each promise, over every implementation."""

from __future__ import annotations

import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from models_under_test import (
    CLASSIFIERS,
    EMBEDDERS,
    EXTRACTORS,
    HOSTILE,
    LONG,
    NOTES,
    TINY_ENCODER,
    TINY_JUDGE,
)

from consolidate.backends import resolve_classifier, resolve_embedder
from consolidate.backends.gliner import GlinerExtractor
from consolidate.protocols import ContradictionClassifier, Embedder, EntityExtractor
from consolidate.types import Verdict

# The large models read the long texts once, in one test, to keep the suite quick.
SHORT_HOSTILE = tuple(text for text in HOSTILE if len(text) < 1000)
MANY = [f"{note} {number}" for number in range(8) for note in NOTES]


@pytest.fixture(scope="module", params=EMBEDDERS)
def embedder(request: pytest.FixtureRequest) -> Embedder:
    return EMBEDDERS[request.param]()


@pytest.fixture(scope="module", params=EXTRACTORS)
def extractor(request: pytest.FixtureRequest) -> EntityExtractor:
    return EXTRACTORS[request.param]()


@pytest.fixture(scope="module", params=CLASSIFIERS)
def classifier(request: pytest.FixtureRequest) -> ContradictionClassifier:
    return CLASSIFIERS[request.param]()


def pairs_of(texts: list[str] | tuple[str, ...]) -> list[tuple[str, str]]:
    return list(zip(texts, [*texts[1:], texts[0]], strict=True))


def same(left: Verdict, right: Verdict) -> bool:
    # == on floats is meant: not one bit may differ.
    return left == right


# embedders


def test_nothing_in_gives_no_vectors(embedder: Embedder) -> None:
    assert embedder.embed([]).shape == (0, embedder.dimensions)


def test_vectors_are_float32_of_unit_length(embedder: Embedder) -> None:
    vectors = embedder.embed(NOTES)
    assert vectors.dtype == np.float32
    assert vectors.shape == (len(NOTES), embedder.dimensions)
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


def test_vectors_keep_the_order_of_texts(embedder: Embedder) -> None:
    forward = embedder.embed(NOTES)
    backward = embedder.embed(NOTES[::-1])
    assert (forward == backward[::-1]).all()


def test_a_vector_is_the_same_alone_and_in_any_company(embedder: Embedder) -> None:
    alone = np.concatenate([embedder.embed([text]) for text in NOTES])
    assert (embedder.embed(NOTES) == alone).all()
    many = embedder.embed(MANY)
    shuffled = random.Random(3).sample(range(len(MANY)), len(MANY))
    assert (embedder.embed([MANY[i] for i in shuffled]) == many[shuffled]).all()
    assert (embedder.embed(MANY[:5]) == many[:5]).all()


def test_hostile_texts_get_finite_vectors(embedder: Embedder) -> None:
    vectors = embedder.embed(SHORT_HOSTILE)
    assert np.isfinite(vectors).all()
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1, atol=1e-5)


@pytest.mark.parametrize("name", ["fake", "tiny", "tiny-int8"])
def test_very_long_texts_get_finite_vectors(name: str) -> None:
    vectors = EMBEDDERS[name]().embed([LONG, "x" * 100_000])
    assert np.isfinite(vectors).all()


def test_a_repeated_text_has_the_same_vector_twice(embedder: Embedder) -> None:
    first, _, third = embedder.embed([NOTES[0], NOTES[1], NOTES[0]])
    assert (first == third).all()


# extractors


def test_nothing_in_gives_no_mentions(extractor: EntityExtractor) -> None:
    assert extractor.extract([]) == []


@pytest.mark.parametrize("texts", [NOTES, HOSTILE], ids=["notes", "hostile"])
def test_mentions_are_sorted_apart_and_at_their_offsets(
    extractor: EntityExtractor, texts: tuple[str, ...]
) -> None:
    if isinstance(extractor, GlinerExtractor) and extractor.files.size > 1_000_000:
        texts = tuple(text for text in texts if len(text) < 1000)
    found = extractor.extract(texts)
    assert len(found) == len(texts)
    for text, mentions in zip(texts, found, strict=True):
        last = 0
        for mention in mentions:
            assert text[mention.start : mention.end] == mention.text
            assert mention.text.strip()
            assert mention.label
            assert 0 <= mention.score <= 1
            assert last <= mention.start < mention.end
            last = mention.end


def test_mentions_do_not_depend_on_company_or_order(extractor: EntityExtractor) -> None:
    alone = [extractor.extract([text])[0] for text in NOTES]
    assert extractor.extract(NOTES) == alone
    assert extractor.extract(NOTES[::-1]) == alone[::-1]


# classifiers


def test_no_pairs_give_no_verdicts(classifier: ContradictionClassifier) -> None:
    assert classifier.classify([]) == []


def test_scores_are_probabilities_of_the_named_model(classifier: ContradictionClassifier) -> None:
    for verdict in classifier.classify(pairs_of(NOTES)):
        assert verdict.model == classifier.identity
        assert verdict.failure is None
        for scores in (verdict.forward, verdict.backward):
            assert scores is not None
            three = (scores.entailment, scores.neutral, scores.contradiction)
            assert all(0 <= value <= 1 for value in three)
            assert sum(three) == pytest.approx(1)


def test_a_verdict_is_the_same_alone_and_in_any_company(
    classifier: ContradictionClassifier,
) -> None:
    pairs = pairs_of(NOTES)
    alone = [classifier.classify([pair])[0] for pair in pairs]
    assert all(map(same, classifier.classify(pairs), alone))
    assert all(map(same, classifier.classify(pairs[::-1]), alone[::-1]))
    many = pairs_of(MANY)
    together = classifier.classify(many)
    shuffled = random.Random(5).sample(range(len(many)), len(many))
    again = classifier.classify([many[i] for i in shuffled])
    assert all(same(again[k], together[i]) for k, i in enumerate(shuffled))
    assert all(map(same, classifier.classify(many[:3]), together[:3]))


def test_turning_a_pair_round_turns_the_verdict_round(classifier: ContradictionClassifier) -> None:
    pairs = pairs_of(NOTES)
    there = classifier.classify(pairs)
    back = classifier.classify([(right, left) for left, right in pairs])
    for one, other in zip(there, back, strict=True):
        assert (one.forward, one.backward) == (other.backward, other.forward)


def test_a_statement_entails_itself_and_contradicts_its_negation(
    classifier: ContradictionClassifier,
) -> None:
    statement, negation = "Anna lives in Oslo", "Anna does not live in Oslo"
    same_text, negated = classifier.classify([(statement, statement), (statement, negation)])
    assert same_text.forward is not None and negated.forward is not None
    assert same_text.forward.entailment > 0.5
    assert negated.forward.contradiction > negated.forward.entailment


def test_hostile_pairs_never_raise(classifier: ContradictionClassifier) -> None:
    pairs = [(text, NOTES[0]) for text in HOSTILE] + [(text, text) for text in SHORT_HOSTILE]
    verdicts = classifier.classify(pairs)
    assert len(verdicts) == len(pairs)
    assert all((v.forward is None) == (v.failure is not None) for v in verdicts)


@pytest.mark.parametrize("name", ["tiny", "judge"])
def test_a_pair_longer_than_the_model_reads_says_so(name: str) -> None:
    long, short = CLASSIFIERS[name]().classify([(LONG, NOTES[0]), (NOTES[0], NOTES[1])])
    assert long.truncated
    assert long.forward is not None
    assert not short.truncated


# identities


@pytest.mark.parametrize(
    "make",
    [*EMBEDDERS.values(), *EXTRACTORS.values(), *CLASSIFIERS.values()],
    ids=[
        *(f"embedder-{name}" for name in EMBEDDERS),
        *(f"extractor-{name}" for name in EXTRACTORS),
        *(f"classifier-{name}" for name in CLASSIFIERS),
    ],
)
def test_identity_is_stable_and_names_a_revision(make: Callable[[], Any]) -> None:
    assert make().identity == make().identity
    assert "@" in make().identity


@pytest.mark.parametrize(
    ("source", "resolve"),
    [(TINY_ENCODER, resolve_embedder), (TINY_JUDGE, resolve_classifier)],
    ids=["embedder", "classifier"],
)
def test_equal_files_elsewhere_have_the_same_identity_and_changed_ones_another(
    source: Path, resolve: Callable[[str], Any], tmp_path: Path
) -> None:
    copy = tmp_path / "another name"
    shutil.copytree(source, copy)
    assert resolve(f"onnx:{copy}").identity == resolve(f"onnx:{source}").identity
    (copy / "manifest.json").unlink()
    assert resolve(f"onnx:{copy}").identity == resolve(f"onnx:{source}").identity
    config = copy / "config.json"
    config.write_bytes(config.read_bytes() + b"\n")
    assert resolve(f"onnx:{copy}").identity != resolve(f"onnx:{source}").identity


def test_two_models_never_share_an_identity() -> None:
    made = [make() for table in (EMBEDDERS, EXTRACTORS, CLASSIFIERS) for make in table.values()]
    identities = [model.identity for model in made]
    assert len(set(identities)) == len(identities)
