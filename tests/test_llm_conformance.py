"""What the protocols ask of every model, asked of language models through each API.

The server is scripted to answer by the text alone, as a perfect model would.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from llm_models import APIS, EMBEDDING_APIS, Made
from llm_server import Request, serving

from consolidate.backends.fake import FakeClassifier, FakeExtractor
from consolidate.protocols import (
    ContradictionClassifier,
    Embedder,
    EntityExtractor,
    LanguageModel,
)
from consolidate.types import Scores

TEXTS = [
    "Anna lives in Oslo.",
    "",
    "   ",
    "İstanbul'da Zoë çalışıyor 😀 Ümit",
    "lone \ud800 Surrogate",
    "null \x00 Byte",
    "Long " * 700,
    'Quote " Brace } <|im_end|> [INST] Bell \x07',
    "Anna lives in Oslo.",
]
PAIRS = [(left, right) for left in TEXTS[:6] for right in TEXTS[3:]]


def label(scores: Scores | None) -> str:
    assert scores is not None
    return max(("entailment", "neutral", "contradiction"), key=lambda name: getattr(scores, name))


def model(request: Request) -> str:
    """Answers as the fakes do, about whatever it is asked."""
    answers = []
    for item in request.items:
        if "left" in item:
            (verdict,) = FakeClassifier().classify([(item["left"], item["right"])])
            answer: dict[str, Any] = {
                "forward": label(verdict.forward),
                "backward": label(verdict.backward),
            }
        else:
            (mentions,) = FakeExtractor().extract([item["text"]])
            answer = {"names": [{"text": m.text, "label": "other"} for m in mentions]}
        answers.append({"id": item["id"], **answer})
    return json.dumps({"answers": answers})


@pytest.fixture(params=APIS)
def made(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Made]:
    for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "OLLAMA_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    with ExitStack() as stack:
        made = Made(stack.enter_context(serving(model)), request.param)
        stack.callback(made.close)
        yield made


def orders(count: int) -> list[Sequence[int]]:
    return [range(count), range(count - 1, -1, -1), sorted(range(count), key=lambda n: n * 7 % 5)]


def test_the_roles_and_the_model_are_what_the_protocols_ask_for(made: Made) -> None:
    assert isinstance(made.model(), LanguageModel)
    assert isinstance(made.classifier(), ContradictionClassifier)
    assert isinstance(made.extractor(), EntityExtractor)
    if made.api in EMBEDDING_APIS:
        assert isinstance(made.embedder(), Embedder)


def test_identities_need_no_server_and_name_model_and_prompt(made: Made) -> None:
    identities = [
        made.classifier(name="a").identity,
        made.extractor(name="a").identity,
        made.classifier(name="b").identity,
    ]
    assert len(set(identities)) == 3
    assert all(each.startswith(f"{made.api}:") for each in identities)
    assert identities[0] == made.classifier(name="a").identity
    assert identities[0].endswith("/pairs-1")
    assert made.server.requests == []


@pytest.mark.parametrize("batch", [1, 5])
def test_a_verdict_depends_on_its_pair_alone(made: Made, batch: int) -> None:
    classifier = made.classifier(batch=batch, concurrency=3)
    alone = {pair: classifier.classify([pair])[0] for pair in dict.fromkeys(PAIRS[::5])}
    for order in orders(len(PAIRS)):
        verdicts = classifier.classify([PAIRS[n] for n in order])
        assert len(verdicts) == len(PAIRS)
        for n, verdict in zip(order, verdicts, strict=True):
            assert verdict == alone.get(PAIRS[n], verdict)
            assert verdict.failure is None
            assert verdict.model == classifier.identity


def test_a_pair_turned_round_gets_the_verdict_turned_round(made: Made) -> None:
    classifier = made.classifier(batch=4)
    one = classifier.classify(PAIRS)
    other = classifier.classify([(right, left) for left, right in PAIRS])
    assert [(v.forward, v.backward) for v in one] == [(v.backward, v.forward) for v in other]


@pytest.mark.parametrize("batch", [1, 5])
def test_mentions_depend_on_their_text_alone_and_fit_it(made: Made, batch: int) -> None:
    extractor = made.extractor(batch=batch, concurrency=3)
    alone = {text: extractor.extract([text])[0] for text in TEXTS}
    for order in orders(len(TEXTS)):
        found = extractor.extract([TEXTS[n] for n in order])
        assert len(found) == len(TEXTS)
        for n, mentions in zip(order, found, strict=True):
            assert mentions == alone[TEXTS[n]]
    for text, mentions in alone.items():
        assert all(text[m.start : m.end] == m.text and 0 <= m.score <= 1 for m in mentions)
        assert all(a.end <= b.start for a, b in pairwise(mentions))
    assert "failures" not in extractor.usage.counts()


@pytest.mark.parametrize("made", EMBEDDING_APIS, indirect=True)
def test_a_vector_depends_on_its_text_alone(made: Made) -> None:
    embedder = made.embedder(concurrency=3)
    alone = np.stack([embedder.embed([text])[0] for text in TEXTS])
    for order in orders(len(TEXTS)):
        np.testing.assert_array_equal(embedder.embed([TEXTS[n] for n in order]), alone[list(order)])
    assert embedder.embed([]).shape == (0, embedder.dimensions)
