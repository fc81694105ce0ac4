"""Model files that are missing, cut, changed, swapped or strange are refused by name."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from models_under_test import TINY_ENCODER, TINY_JUDGE, WEIGHTS

from consolidate.backends import resolve_classifier, resolve_embedder
from consolidate.backends.files import ModelFiles
from consolidate.errors import BackendError, MissingExtraError, ModelFilesError


@pytest.fixture
def encoder(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY_ENCODER, tmp_path / "encoder"))


@pytest.fixture
def judge(tmp_path: Path) -> Path:
    return Path(shutil.copytree(TINY_JUDGE, tmp_path / "judge"))


def edit(path: Path, **changes: Any) -> None:
    """Change keys of a JSON file; None removes one."""
    value = json.loads(path.read_text(encoding="utf-8"))
    for key, new in changes.items():
        value.pop(key, None)
        if new is not None:
            value[key] = new
    path.write_text(json.dumps(value), encoding="utf-8")


def without_manifest(folder: Path) -> str:
    (folder / "manifest.json").unlink()
    return f"onnx:{folder}"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match=r"expected a folder.*nowhere.*found nothing"):
        resolve_embedder(f"onnx:{tmp_path / 'nowhere'}")


def test_a_file_in_place_of_a_folder_is_named(encoder: Path) -> None:
    with pytest.raises(ModelFilesError, match="found a file"):
        resolve_embedder(f"onnx:{encoder / 'config.json'}")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_missing_file_is_named_with_what_is_there(encoder: Path, name: str) -> None:
    (encoder / name).unlink()
    with pytest.raises(ModelFilesError, match=rf"missing {name}, found"):
        resolve_embedder(f"onnx:{encoder}")


def test_onnx_without_a_model_says_how_to_name_one() -> None:
    with pytest.raises(ModelFilesError, match="onnx:/path/to/folder"):
        resolve_embedder("onnx")


def test_an_unknown_bundled_name_is_refused() -> None:
    with pytest.raises(BackendError, match="'nosuch'"):
        resolve_embedder("onnx:nosuch")


def test_without_the_weights_package_its_name_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="consolidate-weights"):
        resolve_embedder("onnx:minilm")


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "config.json"])
def test_a_cut_file_is_found_by_its_size(encoder: Path, name: str) -> None:
    whole = (encoder / name).read_bytes()
    (encoder / name).write_bytes(whole[:-7])
    expected = rf"{name}: expected {len(whole)} bytes, found {len(whole) - 7}"
    with pytest.raises(ModelFilesError, match=expected):
        resolve_embedder(f"onnx:{encoder}")


def test_a_flipped_bit_is_found_by_its_digest(encoder: Path) -> None:
    content = bytearray((encoder / "model.onnx").read_bytes())
    content[len(content) // 2] ^= 1
    (encoder / "model.onnx").write_bytes(content)
    with pytest.raises(ModelFilesError, match=r"model.onnx: expected sha256 \w+, found \w+"):
        resolve_embedder(f"onnx:{encoder}")


@pytest.mark.parametrize("content", [b"", b"not a graph", b"\x08\x07" * 100])
def test_a_graph_that_is_none_is_refused_at_first_use(encoder: Path, content: bytes) -> None:
    (encoder / "model.onnx").write_bytes(content)
    model = resolve_embedder(without_manifest(encoder))
    with pytest.raises(ModelFilesError, match=rf"whole ONNX graph.*found {len(content)} bytes"):
        model.embed(["a"])


@pytest.mark.parametrize("content", [b"", b"[]", b"{", b'"model"', b"\xff\xfe"])
def test_a_config_that_is_none_is_refused(encoder: Path, content: bytes) -> None:
    (encoder / "config.json").write_bytes(content)
    with pytest.raises(ModelFilesError, match=r"expected a JSON object.*config.json"):
        resolve_embedder(without_manifest(encoder))


def test_a_tokenizer_that_is_none_is_refused_at_first_use(encoder: Path) -> None:
    (encoder / "tokenizer.json").write_text('{"version": "1.0"}', encoding="utf-8")
    with pytest.raises(ModelFilesError, match=r"expected a tokenizer in"):
        resolve_embedder(without_manifest(encoder)).embed(["a"])


def test_the_tokenizer_of_a_larger_model_is_refused(encoder: Path) -> None:
    shutil.copyfile(WEIGHTS / "minilm" / "tokenizer.json", encoder / "tokenizer.json")
    with pytest.raises(ModelFilesError, match=r"another model: expected at most \d+ tokens"):
        resolve_embedder(without_manifest(encoder)).embed(["a"])


def test_an_encoder_is_no_judge_by_manifest_and_by_config(encoder: Path) -> None:
    with pytest.raises(ModelFilesError, match="expected text-classification, found feature"):
        resolve_classifier(f"onnx:{encoder}")
    with pytest.raises(ModelFilesError, match=r"three classes.*found None"):
        resolve_classifier(without_manifest(encoder))


def test_an_encoder_with_the_config_of_a_judge_is_no_judge(encoder: Path) -> None:
    shutil.copyfile(TINY_JUDGE / "config.json", encoder / "config.json")
    with pytest.raises(ModelFilesError, match=r"no judge of three classes.*last_hidden_state"):
        resolve_classifier(without_manifest(encoder)).classify([("a", "b")])


def test_a_judge_is_no_encoder(judge: Path) -> None:
    with pytest.raises(ModelFilesError, match="expected feature-extraction, found text"):
        resolve_embedder(f"onnx:{judge}")
    edit(judge / "config.json", hidden_size=32)
    with pytest.raises(ModelFilesError, match=r"no encoder: expected.*found logits"):
        resolve_embedder(without_manifest(judge)).embed(["a"])


def test_vectors_of_another_size_than_stated_are_refused(encoder: Path) -> None:
    edit(encoder / "config.json", hidden_size=64)
    with pytest.raises(ModelFilesError, match="expected vectors of 64, found 32"):
        resolve_embedder(without_manifest(encoder)).embed(["a"])


def test_a_config_without_a_size_is_refused(encoder: Path) -> None:
    edit(encoder / "config.json", hidden_size=None)
    with pytest.raises(ModelFilesError, match="hidden_size"):
        resolve_embedder(without_manifest(encoder))


def test_a_way_of_pooling_that_is_not_known_is_refused(encoder: Path) -> None:
    edit(encoder / "config.json", consolidate={"pooling": "weighted"})
    with pytest.raises(ModelFilesError, match="expected mean, cls or last, found 'weighted'"):
        resolve_embedder(without_manifest(encoder))


def test_pooling_is_read_from_the_files_of_sentence_transformers(encoder: Path) -> None:
    edit(encoder / "config.json", consolidate=None)
    (encoder / "manifest.json").unlink()
    (encoder / "1_Pooling").mkdir()
    beside = encoder / "1_Pooling" / "config.json"
    beside.write_text('{"pooling_mode_cls_token": true, "pooling_mode_mean_tokens": false}')
    first = resolve_embedder(f"onnx:{encoder}")
    beside.write_text('{"pooling_mode_cls_token": false, "pooling_mode_mean_tokens": true}')
    second = resolve_embedder(f"onnx:{encoder}")
    assert first.identity != second.identity
    assert (first.embed(["a b"]) != second.embed(["a b"])).any()


def test_files_that_change_after_they_were_looked_at_are_not_run(encoder: Path) -> None:
    model = resolve_embedder(f"onnx:{encoder}")
    shutil.copyfile(TINY_JUDGE / "model.onnx", encoder / "model.onnx")
    with pytest.raises(ModelFilesError, match="changed since it was looked at"):
        model.embed(["a"])


@pytest.mark.parametrize(
    "labels",
    [
        None,
        {"0": "entailment", "1": "not_entailment"},
        {"0": "LABEL_0", "1": "LABEL_1", "2": "LABEL_2"},
        {"0": "entailment", "1": "neutral", "2": "neutral"},
        {"0": "entailment", "1": "neutral", "7": "contradiction"},
        {"0": "entail contradict", "1": "neutral", "2": "other"},
        ["entailment", "neutral", "contradiction"],
    ],
    ids=["none", "two", "unnamed", "twice", "gap", "one-for-two", "list"],
)
def test_labels_that_do_not_name_three_classes_are_refused(judge: Path, labels: Any) -> None:
    edit(judge / "config.json", id2label=labels)
    with pytest.raises(ModelFilesError, match="id2label"):
        resolve_classifier(without_manifest(judge))


@pytest.mark.parametrize("name", ["minilm", "judge"])
def test_bundled_files_are_those_of_their_manifest_and_small(name: str) -> None:
    manifest = json.loads((WEIGHTS / name / "manifest.json").read_text(encoding="utf-8"))
    files = ModelFiles.open(WEIGHTS / name, task=manifest["task"])
    assert set(manifest["files"]) == set(files.digests)
    assert files.size < 25_000_000
    assert (WEIGHTS / name / "MODEL_CARD.md").is_file()
