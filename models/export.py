"""Exports a torch model folder to ONNX: `python -m models.export --task TASK SOURCE OUT`.

The graph gives raw outputs, `last_hidden_state` or `logits`. Pooling and softmax are left to the
reader: a sum over tokens inside the graph changes its order, and so its last bit, with the number
of texts. Attention is traced in its plain form, so that the graph has standard operators only.
A GLiNER keeps the inputs and the output `logits` that the gliner package gives it. Needs the
workshop environment (torch, transformers, and gliner for its models).
"""

from __future__ import annotations

import argparse
import json
import logging
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import torch
from transformers import (
    AutoModel,
    AutoModelForSequenceClassification,
    AutoTokenizer,
    PreTrainedModel,
)

from consolidate.backends.files import MODEL
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

OPSET: Final = 17
_OUTPUTS: Final = {
    "feature-extraction": "last_hidden_state",
    "text-classification": "logits",
}


class _Plain(torch.nn.Module):  # type: ignore[misc]  # torch has no types here
    """Takes inputs by position and gives the one output that is kept."""

    def __init__(self, model: PreTrainedModel, names: list[str], output: str) -> None:
        super().__init__()
        self.model, self.names, self.output = model, names, output

    def forward(self, *inputs: torch.Tensor) -> torch.Tensor:
        """Run the model."""
        result: torch.Tensor = self.model(**dict(zip(self.names, inputs, strict=True)))[self.output]
        return result


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
    """
    if task == "gliner":
        _export_gliner(source, out, name=name, settings=settings or {})
        return
    kind = AutoModel if task == "feature-extraction" else AutoModelForSequenceClassification
    model = kind.from_pretrained(source, local_files_only=True, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(source, local_files_only=True)
    sample = tokenizer(["a b c", "a"], ["d", "d e f"], padding=True, return_tensors="pt")
    names = ["input_ids", "attention_mask"]
    if getattr(model.config, "type_vocab_size", 0):
        names.append("token_type_ids")
    output = _OUTPUTS[task]
    axes = {each: {0: "rows", 1: "tokens"} for each in names}
    axes[output] = {0: "rows"} if output == "logits" else {0: "rows", 1: "tokens"}
    out.mkdir(parents=True, exist_ok=True)
    with warnings.catch_warnings():
        # The trace-based exporter is deprecated; its graphs are smaller and ran 5 to 20 % faster.
        warnings.simplefilter("ignore")
        torch.onnx.export(
            _Plain(model, names, output),
            tuple(sample[each] for each in names),
            str(out / MODEL),
            input_names=names,
            output_names=[output],
            dynamic_axes=axes,
            opset_version=OPSET,
            dynamo=False,
        )
    write_config(out, model.config.to_dict(), name=name, settings=settings or {})
    write_tokenizer(out, tokenizer.backend_tokenizer.to_str())
    write_manifest(out, task=task, name=name, opset=OPSET, scheme="float32")
    log.info("%s: %.1f MB", out, (out / MODEL).stat().st_size / 1e6)


def _export_gliner(source: Path, out: Path, *, name: str, settings: Mapping[str, Any]) -> None:
    from gliner import GLiNER

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
            opset_version=OPSET,
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
    write_manifest(out, task="gliner", name=name, opset=OPSET, scheme="float32")
    log.info("%s: %.1f MB", out, (out / MODEL).stat().st_size / 1e6)


def main() -> None:
    """Parse arguments and export."""
    parser = argparse.ArgumentParser(description="Export a torch model folder to ONNX.")
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--task", choices=TASKS, required=True)
    parser.add_argument("--name", help="name in identities; the default is the source's folder")
    parser.add_argument(
        "--settings", type=json.loads, default={},
        help='JSON for the section "consolidate" of the config, e.g. \'{"max_tokens": 256}\'',
    )  # fmt: skip
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    export(
        arguments.source,
        arguments.out,
        task=arguments.task,
        name=arguments.name or arguments.source.name,
        settings=arguments.settings,
    )


if __name__ == "__main__":
    main()
