"""Writes model folders as `consolidate.backends.files` reads them: files, config, manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from consolidate.backends.files import CONFIG, MANIFEST, MODEL, TOKENIZER, file_digest

__all__ = ["TASKS", "write_config", "write_manifest", "write_tokenizer"]

TASKS: Final = ("feature-extraction", "text-classification")

# What a reader of the folder needs; the rest of a training config says how it was made elsewhere.
_KEPT: Final = (
    "architectures",
    "hidden_size",
    "id2label",
    "max_position_embeddings",
    "model_type",
    "num_attention_heads",
    "num_hidden_layers",
    "pad_token_id",
    "type_vocab_size",
    "vocab_size",
)


def write_config(
    folder: Path, source: Mapping[str, Any], *, name: str, settings: Mapping[str, Any]
) -> None:
    """Write `config.json`: the kept keys of `source` and a section `consolidate`."""
    config: dict[str, Any] = {key: source[key] for key in _KEPT if key in source}
    if not any("Classification" in kind for kind in config.get("architectures") or ()):
        config.pop("id2label", None)  # two made-up labels that every config carries
    config["consolidate"] = {"name": name, **settings}
    _write_json(folder / CONFIG, config)


def write_tokenizer(folder: Path, content: str) -> None:
    """Write `tokenizer.json` without padding and truncation, which belong to the reader."""
    tokenizer = json.loads(content)
    tokenizer["padding"] = tokenizer["truncation"] = None
    text = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (folder / TOKENIZER).write_text(text + "\n", encoding="utf-8", newline="\n")


def write_manifest(folder: Path, *, task: str, **facts: Any) -> None:
    """Write `manifest.json` with size and SHA-256 of each file."""
    files = {
        name: {"sha256": file_digest(folder / name), "size": (folder / name).stat().st_size}
        for name in (CONFIG, MODEL, TOKENIZER)
    }
    _write_json(folder / MANIFEST, {"task": task, **facts, "files": files})


def _write_json(path: Path, value: Any) -> None:
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
