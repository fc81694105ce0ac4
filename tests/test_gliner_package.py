"""The gliner package and the runner without torch say the same of the same model."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

import pytest
from models_under_test import TINY_GLINER, TINY_GLINER_TOKEN

from consolidate.backends import resolve_extractor
from consolidate.errors import MissingExtraError, ModelFilesError

needs_package = pytest.mark.skipif(
    importlib.util.find_spec("gliner") is None,
    reason="the gliner package is not installed (pip install 'consolidate[gliner]')",
)
# Each fits into one row of the tiny models; what the package does with longer ones is to cut them.
TEXTS = (
    "Anna lives in Oslo.",
    "My brother is married.",
    "The server is stopped, the shop is open!",
    "user likes tea",
    "user drinks coffee daily",
    "Tests run weekly on the main branch",
    "Anna and Rust, in Oslo; build_server",
    "Привет Anna 田中さん, tea",
    "Oslo\tParis\n\nthe user's dog",
    "no",
)


@needs_package
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("folder", [TINY_GLINER, TINY_GLINER_TOKEN], ids=["span", "token"])
@pytest.mark.parametrize("query", ["", "?labels=animal,beverage,city or town&threshold=0.3"])
def test_both_give_the_same_spans_on_the_same_model(folder: Path, query: str) -> None:
    ours = resolve_extractor(f"gliner:{folder}{query}").extract(TEXTS)
    theirs = resolve_extractor(f"gliner-package:{folder}{query}").extract(TEXTS)
    assert sum(map(len, ours)) > 3
    for text, mine, other in zip(TEXTS, ours, theirs, strict=True):
        assert [(m.start, m.end, m.label) for m in mine] == [
            (m.start, m.end, m.label) for m in other
        ], text
        assert [m.score for m in mine] == pytest.approx([m.score for m in other], abs=1e-5)


def test_without_the_package_the_error_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gliner", None)
    model = resolve_extractor(f"gliner-package:{TINY_GLINER}")
    with pytest.raises(MissingExtraError, match=r"consolidate\[gliner\]"):
        model.extract(["Anna"])


def test_the_two_have_different_identities() -> None:
    identities = {
        resolve_extractor(f"{backend}:{TINY_GLINER}").identity
        for backend in ("gliner", "gliner-package")
    }
    assert len(identities) == 2


def test_a_folder_without_weights_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ModelFilesError, match=r"expected gliner_config\.json and one of"):
        resolve_extractor(f"gliner-package:{tmp_path}")
