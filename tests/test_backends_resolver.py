"""Names become objects: built-in ones, those of other packages, and clear errors for the rest."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from consolidate.backends import (
    Backends,
    backend_names,
    resolve_classifier,
    resolve_embedder,
    resolve_extractor,
)
from consolidate.backends.fake import FakeClassifier, FakeEmbedder, FakeExtractor, fake_backends
from consolidate.errors import BackendError, InputError
from consolidate.settings import Settings
from consolidate.types import Relation

ACME = """
from consolidate.backends.fake import FakeEmbedder

def embedder(model, options):
    return FakeEmbedder(dimensions=8, revision=f"acme-{model}-{options.threads}")

def classifier(model, options):
    return object()

def extractor(model, options):
    raise RuntimeError("out of paper")
"""


def install(folder: Path, *, name: str, module: str, code: str) -> None:
    """Lay a distribution with one entry point on disk, as an installer would."""
    (folder / f"{module}.py").write_text(code, encoding="utf-8")
    info = folder / f"{module}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[consolidate.backends]\n{name} = {module}\n")


@pytest.fixture
def acme(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path, name="acme", module="acme_models_for_test", code=ACME)
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "acme_models_for_test", raising=False)


def test_fakes_are_resolved_by_name() -> None:
    assert isinstance(resolve_embedder("fake"), FakeEmbedder)
    assert isinstance(resolve_extractor("fake"), FakeExtractor)
    assert isinstance(resolve_classifier("fake"), FakeClassifier)
    assert resolve_embedder("fake:16").dimensions == 16


def test_an_unknown_backend_is_refused_with_the_names_there_are() -> None:
    with pytest.raises(InputError, match=r"'nosuch' in 'nosuch:model'.*fake.*onnx"):
        resolve_embedder("nosuch:model")


def test_a_backend_without_the_role_is_refused() -> None:
    with pytest.raises(InputError, match=r"'rules' named in 'rules:x' offers no embedder"):
        resolve_embedder("rules:x")


def test_a_package_adds_a_backend_by_entry_point(acme: None) -> None:
    assert "acme" in backend_names("embedder")
    assert resolve_embedder("acme:small").identity == "fake:bag-of-words-8@acme-small-0"


def test_what_a_package_gives_must_be_a_model(acme: None) -> None:
    with pytest.raises(BackendError, match=r"'object'.*ContradictionClassifier"):
        resolve_classifier("acme:small")


def test_an_error_in_a_package_names_what_was_asked_for(acme: None) -> None:
    with pytest.raises(BackendError, match=r"'acme:x' can't be made.*out of paper"):
        resolve_extractor("acme:x")


def test_a_package_that_can_not_be_imported_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, name="broken", module="broken_models_for_test", code="import nosuchmodule\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    with pytest.raises(BackendError, match=r"'broken' \(broken_models_for_test\).*nosuchmodule"):
        resolve_embedder("broken:x")


def test_a_package_never_replaces_a_built_in_backend(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path, name="fake", module="false_models_for_test", code="raise SystemExit\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    assert isinstance(resolve_embedder("fake"), FakeEmbedder)


def test_settings_choose_the_three_models() -> None:
    backends = Backends.load(Settings(embedder="fake:8", extractor="rules", classifier="fake"))
    assert backends.identities["embedder"] == "fake:bag-of-words-8@1"
    assert backends.identities["extractor"].startswith("rules@")
    assert set(backends.identities) == {"embedder", "extractor", "classifier"}


def test_known_names_reach_the_extractor_and_change_its_identity() -> None:
    backends = Backends.load(Settings(embedder="fake", extractor="rules", classifier="fake"))
    knowing = backends.knowing(["the old mill"])
    assert knowing.extractor.identity != backends.extractor.identity
    (mention,) = knowing.extractor.extract(["they met at the old mill"])[0]
    assert mention.text == "the old mill"


def test_fakes_count_what_they_are_asked() -> None:
    model = FakeEmbedder()
    model.embed(["a", "b"])
    model.embed([])
    assert (model.calls, model.items) == (1, 2)


def test_a_table_tells_the_fake_judge_what_to_say() -> None:
    judge = fake_backends(
        verdicts={("a", "b"): Relation.LEFT_ENTAILS_RIGHT, ("c", "d"): None}
    ).classifier
    there, back, failed = judge.classify([("a", "b"), ("b", "a"), ("c", "d")])
    assert there.forward is not None and there.forward.entailment > 0.9
    assert (back.forward, back.backward) == (there.backward, there.forward)
    assert failed.failure and failed.forward is None
    assert judge.identity != FakeClassifier().identity


def test_importing_the_package_loads_no_model_library() -> None:
    code = (
        "import sys, consolidate, consolidate.backends, consolidate.backends.fake\n"
        "import consolidate.backends.onnx_embedder, consolidate.backends.onnx_classifier\n"
        "heavy = {'onnxruntime', 'tokenizers', 'torch', 'transformers'} & set(sys.modules)\n"
        "sys.exit(', '.join(sorted(heavy)) or 0)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
