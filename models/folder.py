"""Writes model folders as `consolidate.backends.files` reads them: files, config, manifest."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from consolidate.backends.files import (
    CONFIG,
    MANIFEST,
    MODEL,
    SENTENCE_FILES,
    TOKENIZER,
    config_name,
    file_digest,
)

__all__ = [
    "TASKS",
    "TOKENIZER_SETTINGS",
    "beside",
    "write_config",
    "write_gliner_config",
    "write_json",
    "write_manifest",
    "write_tokenizer",
]

TASKS: Final = ("feature-extraction", "text-classification", "gliner")
TOKENIZER_SETTINGS: Final = "tokenizer_config.json"
"""Read by the gliner package, which otherwise looks for a tokenizer on the hub."""


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
_KEPT_GLINER: Final = (
    "class_token_index",
    "dropout",
    "embed_ent_token",
    "ent_token",
    "fuse_layers",
    "hidden_size",
    "max_len",
    "max_types",
    "max_width",
    "num_post_fusion_layers",
    "num_rnn_layers",
    "post_fusion_schema",
    "represent_spans",
    "sep_token",
    "span_mode",
    "subtoken_pooling",
    "vocab_size",
    "words_splitter_type",
)
_KEPT_ENCODER: Final = (
    "attention_probs_dropout_prob",
    "hidden_act",
    "hidden_dropout_prob",
    "hidden_size",
    "intermediate_size",
    "layer_norm_eps",
    "max_position_embeddings",
    "max_relative_positions",
    "model_type",
    "norm_rel_ebd",
    "num_attention_heads",
    "num_hidden_layers",
    "pad_token_id",
    "pos_att_type",
    "position_biased_input",
    "position_buckets",
    "relative_attention",
    "share_att_key",
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
    write_json(folder / CONFIG, config)


def write_gliner_config(
    folder: Path, source: Mapping[str, Any], *, name: str, settings: Mapping[str, Any]
) -> None:
    """Write `gliner_config.json`: what a GLiNER's config says, and a section `consolidate`.

    The gliner package reads the same file, and tells kinds of models apart by what is in it.
    """
    config: dict[str, Any] = {key: source[key] for key in _KEPT_GLINER if key in source}
    encoder = source.get("encoder_config") or {}
    config["encoder_config"] = {
        key: value for key, value in encoder.items() if key in _KEPT_ENCODER and value is not None
    }
    config["model_name"] = name
    config["consolidate"] = {"name": name, **settings}
    write_json(folder / config_name("gliner"), config)


def write_tokenizer(folder: Path, content: str) -> None:
    """Write `tokenizer.json` without padding and truncation, which belong to the reader."""
    tokenizer = json.loads(content)
    tokenizer["padding"] = tokenizer["truncation"] = None
    text = json.dumps(tokenizer, ensure_ascii=False, separators=(",", ":"))
    (folder / TOKENIZER).write_text(text + "\n", encoding="utf-8", newline="\n")


def write_manifest(folder: Path, *, task: str, **facts: Any) -> None:
    """Write `manifest.json` with size and SHA-256 of each file."""
    required = (config_name(task), MODEL, TOKENIZER)
    files = {
        name: {"sha256": file_digest(folder / name), "size": (folder / name).stat().st_size}
        for name in (*required, *beside(folder))
    }
    write_json(folder / MANIFEST, {"task": task, **facts, "files": files})


def beside(folder: Path) -> list[str]:
    """What lies in a folder beside the three files that each has, and belongs to the model."""
    names = (f"{MODEL}.data", f"{MODEL}_data", TOKENIZER_SETTINGS, *SENTENCE_FILES)
    return [name for name in names if (folder / name).is_file()]


def write_json(path: Path, value: Any) -> None:
    """Write JSON as all files of model folders are written."""
    text = json.dumps(value, ensure_ascii=False, indent=2, sort_keys=True)
    path.write_text(text + "\n", encoding="utf-8", newline="\n")
