"""Turns a bundled judge back into a torch checkpoint, to train it further.

    python -m models.train.unpack JUDGE_DIR --base MODEL_DIR --out DIR

The 8-bit weights become floats again; what quantising rounded away (less than one part in a
hundred of a block's largest weight) is soon learnt back. `--base` is a folder of the MiniLM
encoder: its configuration and tokenizer are copied. Needs the workshop environment.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
import onnx
import torch
from onnx import numpy_helper
from transformers import AutoTokenizer, BertForSequenceClassification

from consolidate.backends.files import MODEL
from models.train.data import ID2LABEL

Weights = dict[str, npt.NDArray[np.float32]]


def weights_of(path: Path) -> Weights:
    """All float tensors of a judge's graph, by the names that torch gives them.

    Raises:
        ValueError: The graph is not laid out like an exported BERT classifier.
    """
    model = onnx.load(str(path))
    tensors = {t.name: numpy_helper.to_array(t) for t in model.graph.initializer}
    for node in model.graph.node:
        # Cast of 8-bit blocks, times their scales, in the shape of the matrix (models.quantize)
        if node.op_type == "Cast" and node.input[0] in tensors:
            tensors[node.output[0]] = tensors[node.input[0]].astype(np.float32)
        elif node.op_type == "Mul" and set(node.input) <= tensors.keys():
            tensors[node.output[0]] = tensors[node.input[0]] * tensors[node.input[1]]
        elif node.op_type == "Reshape" and set(node.input) <= tensors.keys():
            tensors[node.output[0]] = tensors[node.input[0]].reshape(tensors[node.input[1]])
    for name in [name for name in tensors if name.endswith(".int8")]:
        table = name.removesuffix(".int8")  # rows are looked up first and scaled after
        if table not in tensors and f"{table}.scale" in tensors:
            tensors[table] = tensors[name].astype(np.float32) * tensors[f"{table}.scale"]
    found: Weights = {
        name.removeprefix("model."): values
        for name, values in tensors.items()
        if name.startswith(("model.bert.", "model.classifier."))
    }
    for node in model.graph.node:
        if node.op_type == "MatMul" and node.input[1] in tensors:
            place = node.name.strip("/").removesuffix("/MatMul").removeprefix("model/")
            found[place.replace("/", ".") + ".weight"] = tensors[node.input[1]].T
    if not any(name.endswith("query.weight") for name in found):
        raise ValueError(f"{str(path)!r} does not look like an exported BERT classifier")
    return found


def main() -> None:
    """Read a judge, write a checkpoint."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("judge", type=Path, help="folder with model.onnx")
    parser.add_argument("--base", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    model = BertForSequenceClassification.from_pretrained(
        args.base, num_labels=3, id2label=ID2LABEL, label2id={v: k for k, v in ID2LABEL.items()}
    )
    wanted = model.state_dict()
    found = weights_of(args.judge / MODEL)
    missing = [name for name in wanted if name not in found and not name.endswith("position_ids")]
    if missing:
        raise SystemExit(f"error: {args.judge / MODEL} lacks {', '.join(missing[:5])}")
    for name, values in wanted.items():
        if name in found:
            if values.shape != found[name].shape:
                raise SystemExit(f"error: {name} is of shape {found[name].shape}")
            values.copy_(torch.from_numpy(np.ascontiguousarray(found[name])))
    model.save_pretrained(args.out)
    AutoTokenizer.from_pretrained(args.base).save_pretrained(args.out)


if __name__ == "__main__":
    main()
