"""The models that the conformance suite runs over, and where their files are."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from consolidate.backends import resolve_classifier, resolve_embedder, resolve_extractor
from consolidate.protocols import ContradictionClassifier, Embedder, EntityExtractor

DATA = Path(__file__).parent / "data"
WEIGHTS = Path(__file__).parents[1] / "models" / "weights" / "consolidate_weights"

TINY_ENCODER = DATA / "tiny_encoder"
TINY_ENCODER_INT8 = DATA / "tiny_encoder_int8"
TINY_JUDGE = DATA / "tiny_judge"
TINY_GLINER = DATA / "tiny_gliner"
TINY_GLINER_TOKEN = DATA / "tiny_gliner_token"

EMBEDDERS: Mapping[str, Callable[[], Embedder]] = {
    "fake": lambda: resolve_embedder("fake"),
    "tiny": lambda: resolve_embedder(f"onnx:{TINY_ENCODER}"),
    "tiny-int8": lambda: resolve_embedder(f"onnx:{TINY_ENCODER_INT8}"),
    "minilm": lambda: resolve_embedder(f"onnx:{WEIGHTS / 'minilm'}"),
}
EXTRACTORS: Mapping[str, Callable[[], EntityExtractor]] = {
    "fake": lambda: resolve_extractor("fake"),
    "rules": lambda: resolve_extractor("rules"),
    "gliner-spans": lambda: resolve_extractor(f"gliner:{TINY_GLINER}"),
    "gliner-tokens": lambda: resolve_extractor(f"gliner:{TINY_GLINER_TOKEN}"),
    "gliner-bundled": lambda: resolve_extractor(f"gliner:{WEIGHTS / 'gliner'}"),
    "rules+gliner": lambda: resolve_extractor(f"rules+gliner:{TINY_GLINER}"),
}
CLASSIFIERS: Mapping[str, Callable[[], ContradictionClassifier]] = {
    "fake": lambda: resolve_classifier("fake"),
    "tiny": lambda: resolve_classifier(f"onnx:{TINY_JUDGE}"),
    "judge": lambda: resolve_classifier(f"onnx:{WEIGHTS / 'judge'}"),
}

NOTES = (
    "Anna lives in Oslo.",
    "Anna moved to Rome in May 2024 and works at the shop.",
    "The build uses Rust",
    "user likes tea",
    "user drinks coffee daily",
    "My brother is married.",
    "Port 8090 is open on the server",
    "Deploys go to web-01; see ABC-123 and ./src/app.py",
    'The cat is called "Biscuit"',
    "Tests run weekly.",
    "no",
)
LONG = "wordy " * 16_667  # 100,002 characters
HOSTILE = (
    "",
    " ",
    "\n\t\r",
    LONG,
    "x" * 100_000,
    "🙂" * 50,
    "👩‍👩‍👧‍👦 family",
    "NUL \x00 inside \x00",
    "\u202eright to left\u202c مرحبا שלום",
    "e\u0301" * 40,
    "\ud800 lone surrogate",
    "𝔘𝔫𝔦𝔠𝔬𝔡𝔢 Ⅷ ﬁ ＡＢＣ",
    "田中さんは東京に住んでいる",
    "' OR 1=1; -- \" % _",
    "\ufeff\u200b\u200d",
)
