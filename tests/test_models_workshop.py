"""Export, 8 bits and comparison with torch, on tiny models made here.

Runs where the workshop's libraries are installed (`make models-env`).
"""

from __future__ import annotations

import importlib.util
import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import workshop_models as tiny

from consolidate.backends import resolve_classifier, resolve_embedder
from consolidate.backends.files import ModelFiles
from consolidate.backends.onnx_classifier import PROBES
from consolidate.backends.onnx_embedder import OnnxEmbedder
from consolidate.errors import ModelFilesError

ROOT = Path(__file__).parents[1]
LACKING = [
    name
    for name in ("torch", "transformers", "optimum", "onnx")
    if importlib.util.find_spec(name) is None
]
pytestmark = [
    pytest.mark.skipif(
        bool(LACKING), reason=f"needs the workshop (make models-env): no {', '.join(LACKING)}"
    ),
    # What torch and transformers warn of while they export is theirs.
    pytest.mark.filterwarnings("ignore"),
]

TEXTS = ["Anna lives in Oslo.", "my brother likes tea, not coffee", "Rome", "user: python?"]
PAIRS = [
    ("Anna lives in Oslo.", "Anna does not live in Oslo."),
    ("The user likes tea.", "The shop is open on Sundays."),
    ("tea", "my brother is married, the server is running, a user likes coffee."),
]


@pytest.fixture(scope="module")
def encoder(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    from models.export import export

    base = tmp_path_factory.mktemp("encoder")
    prompts = {"query": "user: ", "document": "the shop: "}
    source = tiny.make_encoder(base / "torch", pooling="cls_token", prompts=prompts)
    export(source, base / "onnx", task="feature-extraction", name="tiny")
    return source, base / "onnx"


@pytest.fixture(scope="module")
def judge(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    from models.export import export

    base = tmp_path_factory.mktemp("judge")
    source = tiny.make_deberta(base / "torch", steps=150)
    export(source, base / "onnx", task="text-classification", name="tiny-deberta")
    return source, base / "onnx"


def torch_vector(source: Path, text: str) -> Any:
    import torch
    from transformers import AutoModel, AutoTokenizer

    model = AutoModel.from_pretrained(source, local_files_only=True).eval()
    inputs = AutoTokenizer.from_pretrained(source)(text, return_tensors="pt")
    with torch.no_grad():
        hidden = model(**inputs).last_hidden_state[0, 0].double().numpy()
    return hidden / np.linalg.norm(hidden)


def torch_scores(source: Path, pairs: list[tuple[str, str]]) -> Any:
    import torch
    from transformers import AutoModelForSequenceClassification, AutoTokenizer

    model = AutoModelForSequenceClassification.from_pretrained(source).eval()
    tokenizer = AutoTokenizer.from_pretrained(source)
    inputs = tokenizer(
        [a for a, _ in pairs], [b for _, b in pairs], padding=True, return_tensors="pt"
    )
    inputs.pop("token_type_ids", None)
    with torch.no_grad():
        return model(**inputs).logits.double().softmax(-1).numpy()


def command(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "ignore", "-m", *map(str, arguments)],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip


# ---- encoders


def test_an_exported_encoder_gives_the_vectors_of_torch(encoder: tuple[Path, Path]) -> None:
    source, out = encoder
    model = OnnxEmbedder(ModelFiles.open(out, task="feature-extraction"))
    for text, stored, asked in zip(
        TEXTS, model.embed(TEXTS), model.embed_queries(TEXTS), strict=True
    ):
        assert stored == pytest.approx(torch_vector(source, "the shop: " + text), abs=1e-5)
        assert asked == pytest.approx(torch_vector(source, "user: " + text), abs=1e-5)


def test_what_says_how_vectors_are_made_goes_along(encoder: tuple[Path, Path]) -> None:
    _, out = encoder
    manifest = json.loads((out / "manifest.json").read_text(encoding="utf-8"))
    assert {"1_Pooling/config.json", "config_sentence_transformers.json", "modules.json"} <= (
        manifest["files"].keys()
    )
    assert manifest["scheme"] == "float32"


def test_an_export_is_repeatable(encoder: tuple[Path, Path], tmp_path: Path) -> None:
    from models.export import export

    source, out = encoder
    export(source, tmp_path / "again", task="feature-extraction", name="tiny")
    for name in ("model.onnx", "config.json", "tokenizer.json", "manifest.json"):
        assert (tmp_path / "again" / name).read_bytes() == (out / name).read_bytes()


@pytest.mark.parametrize(("scheme", "least"), [("weights", 0.99), ("dynamic", 0.95)])
def test_8_bits_are_smaller_and_near(
    encoder: tuple[Path, Path], tmp_path: Path, scheme: str, least: float
) -> None:
    from models.quantize import quantize

    _, out = encoder
    quantize(out, tmp_path / "small", scheme=scheme)
    assert (tmp_path / "small" / "model.onnx").stat().st_size < 0.7 * (
        out / "model.onnx"
    ).stat().st_size
    whole, small = (
        resolve_embedder(f"onnx:{folder}").embed(TEXTS) for folder in (out, tmp_path / "small")
    )
    assert (whole * small).sum(axis=1).min() > least


def test_verify_records_parity_with_torch_and_the_cost_of_8_bits(
    encoder: tuple[Path, Path], tmp_path: Path
) -> None:
    source, out = encoder
    assert command("models.quantize", out, tmp_path / "small").returncode == 0
    record = tmp_path / "record.json"
    done = command(
        "models.verify", source, out, tmp_path / "small", "--count", "60", "--out", record
    )
    assert done.returncode == 0, done.stderr
    whole, small = json.loads(record.read_text(encoding="utf-8"))["models"]
    assert whole["cosine_min"] > 0.99999
    assert whole["scheme"] == "float32"
    assert 0.99 < small["cosine_min"] < whole["cosine_min"]
    assert whole["same_bits_alone"] and small["same_bits_alone"]


# ---- judges


def test_an_exported_deberta_gives_the_scores_of_torch(judge: tuple[Path, Path]) -> None:
    source, out = judge
    verdicts = resolve_classifier(f"onnx:{out}").classify(PAIRS)
    forward = torch_scores(source, PAIRS)
    backward = torch_scores(source, [(b, a) for a, b in PAIRS])
    for verdict, one, other in zip(verdicts, forward, backward, strict=True):
        assert verdict.failure is None
        for scores, expected in ((verdict.forward, one), (verdict.backward, other)):
            assert scores is not None
            named = dict(zip(tiny.LABELS, expected, strict=True))
            assert scores.entailment == pytest.approx(named["entailment"], abs=1e-5)
            assert scores.neutral == pytest.approx(named["neutral"], abs=1e-5)
            assert scores.contradiction == pytest.approx(named["contradiction"], abs=1e-5)


def test_a_pair_longer_than_deberta_reads_is_said_to_be_cut(judge: tuple[Path, Path]) -> None:
    short, long = resolve_classifier(f"onnx:{judge[1]}").classify(
        [("tea", "coffee"), ("tea " * 80, "coffee")]
    )
    assert (short.truncated, long.truncated) == (False, True)


def test_a_deberta_with_swapped_labels_is_refused(judge: tuple[Path, Path], tmp_path: Path) -> None:
    folder = Path(shutil.copytree(judge[1], tmp_path / "swapped"))
    (folder / "manifest.json").unlink()
    path = folder / "config.json"
    stated = json.loads(path.read_text(encoding="utf-8"))
    stated["id2label"] = {"0": "entailment", "1": "contradiction", "2": "neutral"}
    path.write_text(json.dumps(stated), encoding="utf-8")
    with pytest.raises(ModelFilesError, match="entailment behaves as contradiction"):
        resolve_classifier(f"onnx:{folder}").classify(PAIRS)


def test_a_deberta_that_learned_nothing_is_refused(tmp_path: Path) -> None:
    from models.export import export

    source = tiny.make_deberta(
        tmp_path / "torch", labels=("neutral", "contradiction", "entailment")
    )
    export(source, tmp_path / "onnx", task="text-classification", name="untaught")
    with pytest.raises(ModelFilesError, match=r"can't tell a statement|behaves as"):
        resolve_classifier(f"onnx:{tmp_path / 'onnx'}").classify(PAIRS)


def test_a_deberta_of_two_classes_is_refused_with_the_reason(tmp_path: Path) -> None:
    from models.export import export

    source = tiny.make_deberta(tmp_path / "torch", labels=("entailment", "not_entailment"))
    export(source, tmp_path / "onnx", task="text-classification", name="zeroshot")
    with pytest.raises(ModelFilesError, match=r"model of two classes can't say whether texts are"):
        resolve_classifier(f"onnx:{tmp_path / 'onnx'}")


def test_verify_compares_a_judge_with_torch(judge: tuple[Path, Path], tmp_path: Path) -> None:
    source, out = judge
    record = tmp_path / "record.json"
    done = command("models.verify", source, out, "--count", "20", "--out", record)
    assert done.returncode == 0, done.stderr
    result = json.loads(record.read_text(encoding="utf-8"))["models"]
    assert result[1]["moved_most"] < 1e-4
    assert result[1]["same_class"] == 1.0


def test_the_probes_are_what_the_tiny_judge_was_taught(judge: tuple[Path, Path]) -> None:
    verdicts = resolve_classifier(f"onnx:{judge[1]}").classify(list(PROBES))
    assert all(v.forward and v.forward.contradiction > 0.5 for v in verdicts)


# ---- the command


def test_the_export_command_names_the_folder_beside_the_source(tmp_path: Path) -> None:
    source = tiny.make_encoder(tmp_path / "mine", pooling="mean_tokens", prompts={})
    done = command("models.export", source, "--task", "feature-extraction")
    assert done.returncode == 0, done.stderr
    assert resolve_embedder(f"onnx:{tmp_path / 'mine-onnx'}").identity.startswith("onnx:mine@")


def test_a_source_that_is_none_is_an_error_without_traceback(tmp_path: Path) -> None:
    done = command("models.export", tmp_path, "--task", "text-classification")
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "error: " in done.stderr
