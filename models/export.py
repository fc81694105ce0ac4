"""Exports a torch model folder to ONNX: `python -m models.export SOURCE OUT --task TASK`.

optimum does it. The graph gives raw outputs, `last_hidden_state` or `logits`. Pooling and softmax
are left to the reader: a sum over tokens inside the graph changes its order, and so its last bit,
with the number of texts. Attention is traced in its plain form, so that the graph has standard
operators only. What sentence-transformers says about pooling and prefixes goes along. A GLiNER
keeps the inputs and the output `logits` that the gliner package gives it. Needs the workshop
environment: `make models-env`.
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import sys
import tempfile
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from consolidate.backends.files import MODEL, SENTENCE_FILES
from consolidate.errors import ConsolidateError, MissingExtraError
from models.folder import (
    TASKS,
    TOKENIZER_SETTINGS,
    write_config,
    write_gliner_config,
    write_json,
    write_manifest,
    write_tokenizer,
)

log = logging.getLogger("models.export")

OPSET: Final = 18
_GLINER_OPSET: Final = 17


def export(
    source: Path, out: Path, *, task: str, name: str, settings: Mapping[str, Any] | None = None
) -> None:
    """Write an ONNX folder for the model in `source`.

    Args:
        source: A folder with config, safetensors and tokenizer of a transformers model.
        out: Where to write; made if missing.
        task: One of `models.folder.TASKS`.
        name: The model's name in identities.
        settings: More for the section `consolidate` of the config, e.g. `max_tokens`.

    Raises:
        MissingExtraError: The workshop's libraries are not installed.
    """
    if task == "gliner":
        _export_gliner(source, out, name=name, settings=settings or {})
        return
    try:
        from optimum.exporters.onnx import onnx_export_from_model
        from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer
    except ImportError as error:
        raise _missing(error) from error
    kind = AutoModel if task == "feature-extraction" else AutoModelForSequenceClassification
    model = kind.from_pretrained(source, local_files_only=True, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=True)
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as raw, warnings.catch_warnings():
        # The trace-based exporter is deprecated; its graphs are smaller and ran 5 to 20 % faster.
        warnings.simplefilter("ignore")
        onnx_export_from_model(
            model,
            Path(raw),
            task=task,
            library_name="transformers",
            opset=OPSET,
            preprocessors=[tokenizer],
            do_validation=False,  # `models.verify` compares more than two random rows
        )
        # Weights of more than two gigabytes come in files beside the graph.
        for part in Path(raw).glob(f"{MODEL}*"):
            shutil.copyfile(part, out / part.name)
    for name_beside in SENTENCE_FILES:
        if (source / name_beside).is_file() and task == "feature-extraction":
            (out / name_beside).parent.mkdir(exist_ok=True)
            shutil.copyfile(source / name_beside, out / name_beside)
    write_config(out, model.config.to_dict(), name=name, settings=settings or {})
    write_tokenizer(out, tokenizer.backend_tokenizer.to_str())
    write_manifest(out, task=task, name=name, opset=OPSET, scheme="float32")
    log.info("%s: %.1f MB", out, (out / MODEL).stat().st_size / 1e6)


def _missing(error: ImportError) -> MissingExtraError:
    return MissingExtraError(
        f"exporting needs the workshop's libraries ({error}): `make models-env`, or pip install "
        "'consolidate[export]' (and 'consolidate[gliner]' for a GLiNER)"
    )


def _export_gliner(source: Path, out: Path, *, name: str, settings: Mapping[str, Any]) -> None:
    try:
        import torch
        from gliner import GLiNER
    except ImportError as error:
        raise _missing(error) from error

    model = GLiNER.from_pretrained(
        str(source), local_files_only=True, _attn_implementation="eager"
    ).eval()
    out.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        wrapper, inputs, spec = model._prepare_export_graph()
        torch.onnx.export(
            wrapper,
            inputs,
            str(out / MODEL),
            input_names=spec["input_names"],
            output_names=spec["output_names"],
            dynamic_axes=spec["dynamic_axes"],
            opset_version=_GLINER_OPSET,
            dynamo=False,
        )
    write_gliner_config(out, model.config.to_dict(), name=name, settings=settings)
    tokenizer = model.data_processor.transformer_tokenizer
    write_tokenizer(out, tokenizer.backend_tokenizer.to_str())
    special = {
        f"{kind}_token": getattr(tokenizer, f"{kind}_token")
        for kind in ("cls", "mask", "pad", "sep", "unk")
        if getattr(tokenizer, f"{kind}_token") is not None
    }
    facts = {"tokenizer_class": "PreTrainedTokenizerFast", "model_max_length": 512, **special}
    write_json(out / TOKENIZER_SETTINGS, facts)
    write_manifest(out, task="gliner", name=name, opset=_GLINER_OPSET, scheme="float32")
    log.info("%s: %.1f MB", out, (out / MODEL).stat().st_size / 1e6)


def _beside(source: Path) -> Path:
    whole = source.resolve()
    return whole.with_name(f"{whole.name}-onnx")


def main() -> int:
    """Parse arguments and export; gives the exit code."""
    parser = argparse.ArgumentParser(description="Export a torch model folder to ONNX.")
    parser.add_argument("source", type=Path)
    parser.add_argument(
        "out", type=Path, nargs="?", help="folder to write; the default is SOURCE-onnx beside it"
    )
    parser.add_argument("--task", choices=TASKS, required=True)
    parser.add_argument("--name", help="name in identities; the default is the source's folder")
    parser.add_argument(
        "--settings", type=json.loads, default={},
        help='JSON for the section "consolidate" of the config, e.g. \'{"max_tokens": 256}\'',
    )  # fmt: skip
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    try:
        export(
            arguments.source,
            arguments.out or _beside(arguments.source),
            task=arguments.task,
            name=arguments.name or arguments.source.resolve().name,
            settings=arguments.settings,
        )
    except (ConsolidateError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
