"""Checks on model files and vectors: integrity, identity, network, text that is too long."""

from __future__ import annotations

import hashlib
import importlib.util
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn

import numpy as np
import numpy.typing as npt
import pytest
from llm_models import APIS, Made
from llm_server import Text, answer_all, serving

from cases.bench import NOW, Bench, check, said
from consolidate import pipeline
from consolidate.backends import Backends, resolve_embedder
from consolidate.backends.fake import FakeClassifier, FakeEmbedder, FakeExtractor
from consolidate.backends.files import MANIFEST, MODEL, bundled_folder
from consolidate.errors import (
    MissingExtraError,
    ModelFilesError,
    ModelMismatchError,
    ModelOutputError,
)

SHELVES = "oak elm fir ash yew".split()
FACTS = [said(f"f{n}", f"Shelf {shelf} holds jars", n) for n, shelf in enumerate(SHELVES)]


def embedded_with(embedder: FakeEmbedder) -> Backends:
    return Backends(embedder=embedder, extractor=FakeExtractor(), classifier=FakeClassifier())


@check
def the_bundled_model_works_on_a_bare_machine(bench: Bench) -> None:
    bench.without_network()
    bench.monkeypatch.setenv("HOME", str(bench.folder / "nobody"))
    for name in ("HF_HOME", "TRANSFORMERS_CACHE", "XDG_CACHE_HOME"):
        bench.monkeypatch.delenv(name, raising=False)
    vectors = resolve_embedder("onnx:minilm").embed(["The well is deep", "The rope is new"])
    assert np.allclose(np.linalg.norm(vectors, axis=1), 1)


@check
def a_missing_model_names_the_command(bench: Bench) -> None:
    real = importlib.util.find_spec
    bench.monkeypatch.setattr(
        importlib.util,
        "find_spec",
        lambda name, *rest: None if name == "consolidate_weights" else real(name, *rest),
    )
    with pytest.raises(MissingExtraError, match="pip install"):
        resolve_embedder("onnx:minilm")
    bench.monkeypatch.undo()
    with pytest.raises(ModelFilesError, match="minilm"):
        resolve_embedder("onnx:nosuch")


@check
def a_first_run_opens_no_connection(bench: Bench) -> None:
    bench.without_network()
    fresh = Backends.load(bench.settings)
    store = bench.filled([said("a", "The well is deep", 1), said("b", "The well is very deep", 2)])
    outcome = pipeline.run(store, fresh, bench.settings, now=NOW)
    assert outcome.report.model_calls > 0


@check
def another_model_is_refused_until_reembedded(bench: Bench) -> None:
    store = bench.filled(FACTS)
    old, new = FakeEmbedder(revision="1"), FakeEmbedder(revision="2")
    assert old.dimensions == new.dimensions
    bench.run(store, embedded_with(old))
    before = list(store.dump())
    store.add([said("late", "Shelf bay holds tins", 9)], now=NOW)
    with pytest.raises(ModelMismatchError, match="--reembed") as caught:
        bench.run(store, embedded_with(new))
    assert old.identity in str(caught.value)
    assert new.identity in str(caught.value)
    assert [line for line in store.dump() if '"late"' not in line] == before
    assert store.drop_vectors() == len(FACTS)
    bench.run(store, embedded_with(new))
    assert new.items == len(FACTS) + 1


@check
def another_length_names_both_models(bench: Bench) -> None:
    store = bench.filled(FACTS)
    bench.run(store, embedded_with(FakeEmbedder(dimensions=1536)))
    store.add([said("late", "Shelf bay holds tins", 9)], now=NOW)
    with pytest.raises(ModelMismatchError) as caught:
        pipeline.run(store, bench.real, bench.settings, now=NOW)
    ours = bench.real.embedder
    for part in ("1536", str(ours.dimensions), ours.identity, "--reembed"):
        assert part in str(caught.value)


class _Faltering(FakeEmbedder):
    """An embedder that is down for one text."""

    def __init__(self) -> None:
        super().__init__()
        self.down = True

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        if self.down and any("fir" in text for text in texts):
            raise ModelOutputError("no vector for this one")
        return super().embed(texts)


@check
def a_fact_without_vector_is_found_and_caught_up(bench: Bench) -> None:
    store = bench.filled(FACTS)
    embedder = _Faltering()
    outcome = bench.run(store, embedded_with(embedder))
    assert {s.stage: s.failures for s in outcome.report.stages}["embed"] == 1
    found = store.search("fir shelf", include_history=True)
    assert found[0].id == "f2"
    embedder.down = False
    outcome = bench.run(store, embedded_with(embedder))
    assert not outcome.nothing_new
    hashes = [fact.content_hash for fact in store.facts(statuses=None)]
    assert len(store.vectors(hashes, embedder.identity)) == len(FACTS)


SENTENCE = "On shelf {} the jars were counted and put back in their row."
LONG = " ".join(SENTENCE.format(number) for number in range(100))
END = "The keys were given to Tomasz Brandvold."


@check
def the_end_of_a_long_note_is_read(bench: Bench) -> None:
    text = f"{LONG} {END}"
    assert len(text.split()) > 1200
    (mentions,) = bench.real.extractor.extract([text])
    assert "Tomasz Brandvold" in [mention.text for mention in mentions]
    with_end, without = bench.real.embedder.embed([text, LONG])
    assert with_end.tobytes() != without.tobytes()
    store = bench.filled(
        [said("long", text, 1), said("short", "Tomasz Brandvold lost the keys", 2)]
    )
    pipeline.run(store, bench.real, bench.settings, now=NOW)
    named = {entity.name: entity.facts for entity in store.entities("default")}
    assert named["Tomasz Brandvold"] == ("long", "short")


@check
def a_cut_text_is_marked(bench: Bench) -> None:
    long, short = bench.real.classifier.classify(
        [(f"{LONG} {END}", "Nobody has the keys."), (END, "Nobody has the keys.")]
    )
    assert long.truncated
    assert not short.truncated


@check
def models_load_at_first_use(bench: Bench) -> None:
    import onnxruntime

    def refuse(*args: Any, **options: Any) -> NoReturn:
        raise AssertionError("a model was loaded")

    bench.monkeypatch.setattr(onnxruntime, "InferenceSession", refuse)
    loaded = Backends.load(bench.settings)
    assert loaded.identities == bench.real.identities


@check
def a_damaged_model_is_refused(bench: Bench) -> None:
    whole = bundled_folder("minilm")
    copy = bench.folder / "copy"
    shutil.copytree(whole, copy)
    content = (whole / MODEL).read_bytes()
    damaged = bytearray(content)
    damaged[len(damaged) // 2] ^= 1
    (copy / MODEL).write_bytes(damaged)
    with pytest.raises(ModelFilesError) as caught:
        resolve_embedder(f"onnx:{copy}")
    for each in (content, damaged):
        assert hashlib.sha256(each).hexdigest() in str(caught.value)
    (copy / MODEL).write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelFilesError, match=str(len(content))):
        resolve_embedder(f"onnx:{copy}")
    (copy / MODEL).write_bytes(content)
    assert resolve_embedder(f"onnx:{copy}").identity == bench.real.embedder.identity


@check
def a_plan_records_the_digest_of_its_models(bench: Bench) -> None:
    one, other = (_copy_of_encoder(bench.folder / name, name) for name in ("first", "second"))
    assert resolve_embedder(f"onnx:{one}").identity != resolve_embedder(f"onnx:{other}").identity
    store = bench.filled([said("a", "The well is deep", 1), said("b", "The well is deep", 2)])
    outcome = pipeline.run(store, bench.real, bench.settings, now=NOW)
    assert outcome.plan is not None
    assert dict(outcome.plan.models) == bench.real.identities
    assert "@" in outcome.plan.models["embedder"]
    assert dict(store.plan("last").models) == bench.real.identities


def _copy_of_encoder(folder: Path, note: str) -> Path:
    """The bundled encoder with another graph, as two builds of one model are."""
    graph = shutil.ignore_patterns(MODEL, MANIFEST)
    shutil.copytree(bundled_folder("minilm"), folder, ignore=graph)
    (folder / MODEL).write_bytes(note.encode())
    return folder


@check
def an_answer_with_two_labels_is_no_verdict(bench: Bench) -> None:
    unclear = (
        answer_all(forward="contradiction", backward="neutral or contradiction"),
        answer_all(forward="contradiction, neutral", backward="contradiction"),
        answer_all(forward=["contradiction", "neutral"], backward="contradiction"),
        Text("Contradiction? Rather neutral."),
        Text('{"answers": []} contradiction'),
    )
    clear = answer_all(forward="contradiction", backward="contradiction")
    for api in APIS:
        with serving(clear) as server:
            made = Made(server, api)
            backends = Backends(
                embedder=FakeEmbedder(), extractor=FakeExtractor(), classifier=made.classifier()
            )
            for answer in (*unclear, clear):
                server.answer_with(answer)
                store = bench.filled(
                    [
                        said("a", "User works for the mill as a miller", 1),
                        said("b", "User works for the dairy as a driver", 2),
                    ]
                )
                outcome = bench.run(store, backends)
                assert outcome.plan is not None
                failures = sum(stage.failures for stage in outcome.plan.stages)
                live = {fact.id for fact in store.facts()}
                # The pair is one that a clear answer decides
                assert (failures, live) == ((0, {"b"}) if answer is clear else (1, {"a", "b"}))
                assert answer is clear or not outcome.plan.decisions
            made.close()
