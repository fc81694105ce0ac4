"""The session adapter: shared runs are exact or not made, threads and lengths change nothing."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from models_under_test import NOTES, TINY_ENCODER, TINY_ENCODER_INT8, TINY_JUDGE, WEIGHTS

from consolidate.backends.files import ModelFiles
from consolidate.backends.onnx import Item, OnnxModel, thread_count
from consolidate.backends.onnx_classifier import OnnxClassifier
from consolidate.backends.onnx_embedder import OnnxEmbedder
from consolidate.errors import ModelFilesError, ModelOutputError

MANY = [f"{note} {number}" for number in range(12) for note in NOTES]


def encoder_files(folder: Path = TINY_ENCODER) -> ModelFiles:
    return ModelFiles.open(folder, task="feature-extraction")


def judge_files() -> ModelFiles:
    return ModelFiles.open(TINY_JUDGE, task="text-classification")


class StubSession:
    """Answers with what a function makes of the input ids."""

    def __init__(self, answer: Any, *, inputs: Sequence[str] = (), outputs: Any = None) -> None:
        self.answer = answer
        self.runs: list[tuple[int, ...]] = []
        self._inputs = inputs or ("input_ids", "attention_mask", "token_type_ids")
        self._outputs = outputs or [("last_hidden_state", ["rows", "tokens", 32])]

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in self._inputs]

    def get_outputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name, shape=shape) for name, shape in self._outputs]

    def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
        self.runs.append(feed["input_ids"].shape)
        return [self.answer(feed["input_ids"])]


def logits_session(answer: Any) -> StubSession:
    return StubSession(answer, outputs=[("logits", ["rows", 3])])


def test_float_graphs_share_runs_and_dynamic_int8_does_not() -> None:
    assert OnnxEmbedder(encoder_files()).shares_runs
    assert not OnnxEmbedder(encoder_files(TINY_ENCODER_INT8)).shares_runs


@pytest.mark.parametrize("folder", [TINY_ENCODER, TINY_ENCODER_INT8], ids=["float", "int8"])
def test_sharing_runs_and_threads_change_no_bit(folder: Path) -> None:
    files = encoder_files(folder)
    alone = OnnxEmbedder(files, threads=1, share_runs=False).embed(MANY)
    for threads in (1, 2, 5):
        assert (OnnxEmbedder(files, threads=threads).embed(MANY) == alone).all()


def test_the_bundled_encoder_gives_the_same_bits_at_every_length_and_count() -> None:
    model = OnnxEmbedder(encoder_files(WEIGHTS / "minilm"), threads=2)
    shared = OnnxModel(model.files, rows=1, threads=1, choose=lambda outputs: outputs[0])
    assert shared.output.name == "last_hidden_state"  # makes the session
    generator = np.random.default_rng(1)
    for length in (2, 3, 5, 8, 12, 16, 17, 31, 33, 64):
        for count in (2, 3, 5, 8, 13):
            if length * count > 520:
                continue
            ids = generator.integers(1000, 30000, (count, 1, length))
            items = [Item(ids=row, types=np.zeros_like(row)) for row in ids]
            together = shared._answer(items, np.copy)
            for place in {0, count // 2, count - 1}:
                (single,) = shared._answer([items[place]], np.copy)
                assert np.asarray(single).tobytes() == np.asarray(together[place]).tobytes()


def test_few_texts_are_not_worth_a_trial() -> None:
    session = StubSession(lambda ids: np.ones((*ids.shape, 32), dtype=np.float32))
    OnnxEmbedder(encoder_files(), session=session).embed(["a", "b", "c"])
    assert session.runs == [(1, 3)] * 3


def test_many_texts_share_runs_of_bounded_size() -> None:
    session = StubSession(lambda ids: np.ones((*ids.shape, 32), dtype=np.float32))
    OnnxEmbedder(encoder_files(), session=session).embed(["a"] * 100)
    real = [shape for shape in session.runs if shape[1] == 3 and shape[0] == 32]
    assert len(real) == 3
    assert max(rows * tokens for rows, tokens in session.runs) <= 512


def test_a_graph_whose_answers_depend_on_company_gets_one_run_each() -> None:
    # The largest id of the whole run leaks into each answer, as a scale per run would.
    session = StubSession(
        lambda ids: np.full((*ids.shape, 32), ids.max(), dtype=np.float32) + ids[:, :, None]
    )
    model = OnnxEmbedder(encoder_files(), session=session)
    assert not model.shares_runs
    session.runs.clear()
    model.embed(MANY)
    assert {rows for rows, _ in session.runs} == {1}


def test_a_long_text_is_read_whole_in_windows() -> None:
    model = OnnxEmbedder(encoder_files(), threads=1)
    start, end = "tea " * 100, "tea " * 100 + "coffee " * 100
    assert (model.embed([start]) != model.embed([end])).any()


def test_a_window_holds_no_more_than_the_model_reads() -> None:
    session = StubSession(lambda ids: np.ones((*ids.shape, 32), dtype=np.float32))
    OnnxEmbedder(encoder_files(), session=session).embed(["tea " * 200])
    lengths = [tokens for _, tokens in session.runs]
    assert max(lengths) <= 64
    assert sum(lengths) == 200 + 2 * len(lengths)


@pytest.mark.parametrize("bad", [np.nan, np.inf, 0.0], ids=["nan", "infinite", "zero"])
def test_unusable_vectors_are_an_error_that_names_text_and_model(bad: float) -> None:
    session = StubSession(lambda ids: np.full((*ids.shape, 32), bad, dtype=np.float32))
    with pytest.raises(ModelOutputError, match=r"onnx:tiny-encoder@.*'hello'"):
        OnnxEmbedder(encoder_files(), session=session).embed(["hello"])


def test_a_run_that_fails_is_a_model_error() -> None:
    def fail(ids: Any) -> Any:
        raise RuntimeError("out of memory")

    with pytest.raises(ModelOutputError, match="out of memory"):
        OnnxEmbedder(encoder_files(), session=StubSession(fail)).embed(["hello"])


def test_inputs_that_can_not_be_fed_are_named() -> None:
    session = StubSession(lambda ids: ids, inputs=["input_ids", "pixel_values"])
    with pytest.raises(ModelFilesError, match=r"can't be fed.*found input_ids, pixel_values"):
        OnnxEmbedder(encoder_files(), session=session).embed(["a"])


def test_a_graph_may_do_without_mask_and_types() -> None:
    def hidden(ids: Any) -> Any:
        return np.ones((*ids.shape, 32), dtype=np.float32)

    session = StubSession(hidden, inputs=["input_ids"])
    assert OnnxEmbedder(encoder_files(), session=session).embed(["a"]).shape == (1, 32)


def test_one_bad_pair_does_not_cost_the_others_their_verdicts() -> None:
    tiny = OnnxClassifier(judge_files(), threads=1)
    tiny.classify([("a", "b")])
    real = tiny._head.model._session
    poisoned = set(tiny._head.tokens().both_ways("x y z", "q")[0].ids.shape)

    class Failing:
        get_inputs, get_outputs = real.get_inputs, real.get_outputs

        def run(self, names: list[str], feed: dict[str, Any]) -> Any:
            answer = real.run(names, feed)[0]
            if feed["input_ids"].shape[1] in poisoned - {2}:
                answer = answer * np.nan
            if feed["input_ids"].shape[1] == 4:
                raise RuntimeError("no luck")
            return [answer]

    judge = OnnxClassifier(judge_files(), threads=2, session=Failing())
    good, bad, failing = judge.classify(
        [("Anna likes tea", "Anna likes coffee"), ("x y z", "q"), ("", "a")]
    )
    assert good.failure is None
    assert bad.failure == "the scores are not finite"
    assert failing.failure is not None and "no luck" in failing.failure


def test_labels_in_another_order_than_stated_are_found(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TINY_JUDGE, tmp_path / "judge"))
    (folder / "manifest.json").unlink()
    config = folder / "config.json"
    text = config.read_text(encoding="utf-8")
    for one, other in (("entailment", "contradiction"), ("neutral", "entailment")):
        swapped = text.replace(one, "@").replace(other, one).replace("@", other)
        config.write_text(swapped, encoding="utf-8")
        judge = OnnxClassifier(ModelFiles.open(folder, task="text-classification"))
        with pytest.raises(ModelFilesError, match=rf"{one} behaves as {other}"):
            judge.classify([("a", "b")])


def test_labels_in_any_order_are_read_as_stated(tmp_path: Path) -> None:
    def moved(ids: Any) -> Any:
        return real.run(["logits"], {"input_ids": ids, "token_type_ids": types_of(ids)})[0][
            :, [2, 0, 1]
        ]

    def types_of(ids: Any) -> Any:
        # [SEP] is 3 in the tiny vocabulary; what follows the first is the second text.
        after = np.cumsum(ids == 3, axis=1) - (ids == 3)
        return (after > 0).astype(np.int64)

    plain = OnnxClassifier(judge_files(), threads=1)
    expected = plain.classify([("Anna likes tea", "Anna never likes tea")])[0]
    real = plain._head.model._session
    folder = Path(shutil.copytree(TINY_JUDGE, tmp_path / "judge"))
    (folder / "manifest.json").unlink()
    (folder / "config.json").write_text(
        '{"id2label": {"0": "NEUTRAL", "1": "Contradiction", "2": "is_entailment"}}'
    )
    files = ModelFiles.open(folder, task="text-classification")
    turned = OnnxClassifier(files, threads=1, session=logits_session(moved))
    (verdict,) = turned.classify([("Anna likes tea", "Anna never likes tea")])
    assert (verdict.forward, verdict.backward) == (expected.forward, expected.backward)


def test_a_judge_that_calls_a_negation_entailment_is_refused() -> None:
    def agrees(ids: Any) -> Any:
        return np.tile(np.array([[0.0, 5.0, 0.0]], dtype=np.float32), (len(ids), 1))

    judge = OnnxClassifier(judge_files(), session=logits_session(agrees))
    with pytest.raises(ModelFilesError, match="can't tell a statement from its negation"):
        judge.classify([("a", "b")])


def test_a_judge_without_finite_scores_is_refused() -> None:
    def empty(ids: Any) -> Any:
        return np.full((len(ids), 3), np.nan, dtype=np.float32)

    judge = OnnxClassifier(judge_files(), session=logits_session(empty))
    with pytest.raises(ModelFilesError, match="not finite"):
        judge.classify([("a", "b")])


def test_the_number_of_threads_has_a_sensible_default() -> None:
    assert 1 <= thread_count(0) <= 4
    assert thread_count(7) == 7


def test_a_model_at_work_leaves_nothing_behind_in_the_home_of_its_user(tmp_path: Path) -> None:
    """Some builds of onnxruntime keep a device id there, and report it, unless told not to."""
    code = (
        "from consolidate.backends import resolve_embedder\n"
        f"resolve_embedder('onnx:' + {str(TINY_ENCODER)!r}).embed(['a note'])\n"
    )
    environment = {**os.environ, "HOME": str(tmp_path), "XDG_CACHE_HOME": str(tmp_path)}
    environment.pop("ORT_DISABLE_TELEMETRY", None)
    subprocess.run([sys.executable, "-c", code], check=True, env=environment, timeout=60)
    assert list(tmp_path.rglob("*")) == []
