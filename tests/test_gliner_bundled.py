"""The bundled GLiNER on plain notes: what it was made for, and that it needs no torch."""

from __future__ import annotations

import subprocess
import sys

import pytest
from models_under_test import WEIGHTS

from consolidate.backends import resolve_extractor
from consolidate.backends.gliner import LABELS, GlinerExtractor


@pytest.fixture(scope="module")
def bundled() -> GlinerExtractor:
    model = resolve_extractor("gliner")
    assert isinstance(model, GlinerExtractor)
    return model


def named(model: GlinerExtractor, text: str) -> list[tuple[str, str]]:
    return [(m.text, m.label) for m in model.extract([text])[0]]


def test_it_is_the_one_in_the_weights_package_and_asks_for_the_usual_labels(
    bundled: GlinerExtractor,
) -> None:
    assert bundled.files.folder.samefile(WEIGHTS / "gliner")
    assert bundled.labels == LABELS
    assert bundled.identity.startswith("gliner:gliner-minilm@")
    assert bundled.files.size <= 35_000_000


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Henrik lives in Antwerp.", [("Henrik", "person"), ("Antwerp", "place")]),
        ("saltmarsh is written in Rust", [("saltmarsh", "project"), ("Rust", "technology")]),
        ("Dr. Okonkwo moved to Lyon", [("Dr. Okonkwo", "person"), ("Lyon", "place")]),
        ("Henrik's sister works at Siemens", [("Henrik", "person"), ("Siemens", "organisation")]),
        ("prefers short answers", []),
    ],
)
def test_plain_notes_are_read_as_people_read_them(
    bundled: GlinerExtractor, text: str, expected: list[tuple[str, str]]
) -> None:
    assert named(bundled, text) == expected


def test_capitals_are_seen_although_the_encoder_was_made_for_small_letters(
    bundled: GlinerExtractor,
) -> None:
    with_capitals = bundled.spans(["Will will mark Rose on Monday"], labels=["person"])[0]
    without = bundled.spans(["will will mark rose on monday"], labels=["person"])[0]
    assert with_capitals and with_capitals != without


def test_it_runs_where_torch_can_not_be_imported() -> None:
    code = (
        "import sys\n"
        "for name in ('torch', 'transformers', 'gliner', 'optimum'):\n"
        "    sys.modules[name] = None\n"
        "from consolidate.backends import resolve_extractor\n"
        "print(resolve_extractor('gliner').extract(['Anna lives in Oslo'])[0][0].text)\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False, timeout=120
    )
    assert (done.returncode, done.stdout.strip()) == (0, "Anna"), done.stderr
