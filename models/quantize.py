"""Makes an ONNX folder four times smaller: `python -m models.quantize IN OUT --scheme SCHEME`.

Schemes:
    weights: 8-bit weights with a scale for each row of a table and for each 128 inputs of a column
        of a matrix, turned back into floats once, when the session is made. All arithmetic stays
        in floats: answers differ from the original by the rounding of the weights alone, hardly
        from one processor to another, and not with what else is in a run. Speed is that of floats.
    dynamic: 8-bit weights and, scaled anew in each run, 8-bit activations. Faster, less exact, and
        an answer depends on all rows of its run. Weights use 7 bits: on processors with AVX2 but
        without VNNI, sums of two full 8-bit products overflow 16 bits and are clipped, so one file
        would give different answers on different machines.
    dynamic-full-range: the same with 8-bit weights, for comparison.

Needs `onnx` and `onnxruntime` (the workshop environment).
"""

from __future__ import annotations

import argparse
import json
import logging
import shutil
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

try:
    import onnx
    from onnx import TensorProto, helper, numpy_helper
except ImportError as error:
    if __name__ != "__main__":
        raise
    sys.exit(f"error: {error}: `make models-env`, or pip install 'consolidate[export]'")

from consolidate.backends.files import MANIFEST, MODEL, TOKENIZER, config_name
from models.folder import beside, write_manifest

log = logging.getLogger("models.quantize")

SCHEMES: Final = ("weights", "dynamic", "dynamic-full-range")
_SMALLEST: Final = 1000  # tensors with fewer values stay floats
_BLOCK: Final = 128  # inputs that share a scale; with one for all, errors are a third larger


def quantize(source: Path, out: Path, *, scheme: str) -> None:
    """Write a quantised copy of the ONNX folder `source` to `out`."""
    out.mkdir(parents=True, exist_ok=True)
    if scheme == "weights":
        model = onnx.load(str(source / MODEL))
        pack_weights(model)
        onnx.checker.check_model(model)
        onnx.save(model, str(out / MODEL))
    else:
        _dynamic(source / MODEL, out / MODEL, reduce_range=scheme == "dynamic")
    facts = json.loads((source / MANIFEST).read_text(encoding="utf-8"))
    # What lies beside the graph is about texts, not about its weights, and stays as it is.
    for name in (config_name(facts["task"]), TOKENIZER, *beside(source)):
        if not name.startswith(MODEL):
            (out / name).parent.mkdir(exist_ok=True)
            shutil.copyfile(source / name, out / name)
    facts = {key: value for key, value in facts.items() if key not in ("files", "scheme")}
    write_manifest(out, scheme=scheme, **facts)
    log.info("%s: %.1f MB", out, (out / MODEL).stat().st_size / 1e6)


def pack_weights(model: onnx.ModelProto) -> None:
    """Replace float matrices by int8 ones, with the nodes that turn them back.

    Cast and multiply are used rather than DequantizeLinear: onnxruntime computes them once when
    it loads the graph, whereas it keeps DequantizeLinear, in every run, unless told otherwise.
    Tables stay int8 in memory too; only the rows looked up are turned back, in each run.
    """
    graph = model.graph
    tables, transposed = _tables(graph), _transposed(graph)
    nodes: list[onnx.NodeProto] = []
    small: dict[str, tuple[str, str]] = {}
    for tensor in list(graph.initializer):
        values = numpy_helper.to_array(tensor)
        if values.dtype != np.float32 or values.ndim != 2 or values.size < _SMALLEST:
            continue
        name = tensor.name
        if name in tables:
            packed, scale = round_to_int8(values, axis=1)
        else:
            packed, scale = _in_blocks(values, axis=1 if name in transposed else 0)
        graph.initializer.remove(tensor)
        graph.initializer.extend(
            [
                numpy_helper.from_array(packed, f"{name}.int8"),
                numpy_helper.from_array(scale, f"{name}.scale"),
            ]
        )
        if name in tables:
            small[name] = (f"{name}.int8", f"{name}.scale")
        else:
            shape = np.array(values.shape, dtype=np.int64)
            graph.initializer.append(numpy_helper.from_array(shape, f"{name}.shape"))
            nodes += _restored(f"{name}.blocks", f"{name}.int8", f"{name}.scale")
            nodes.append(helper.make_node("Reshape", [f"{name}.blocks", f"{name}.shape"], [name]))
    for node in graph.node:
        if node.op_type == "Gather" and node.input[0] in small:
            rows, scales = small[node.input[0]]
            out, indices = node.output[0], node.input[1]
            nodes += [
                helper.make_node("Gather", [rows, indices], [f"{out}.int8"]),
                helper.make_node("Gather", [scales, indices], [f"{out}.scale"]),
                *_restored(out, f"{out}.int8", f"{out}.scale"),
            ]
        else:
            nodes.append(node)
    del graph.node[:]
    graph.node.extend(nodes)


def _restored(name: str, packed: str, scale: str) -> list[onnx.NodeProto]:
    return [
        helper.make_node("Cast", [packed], [f"{name}.cast"], to=TensorProto.FLOAT),
        helper.make_node("Mul", [f"{name}.cast", scale], [name]),
    ]


def _in_blocks(
    values: npt.NDArray[np.float32], *, axis: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Round a matrix whose inputs lie along `axis`, a scale for each block of them."""
    length = values.shape[axis]
    block = _BLOCK if length % _BLOCK == 0 else length
    shape = list(values.shape)
    shape[axis : axis + 1] = [length // block, block]
    return round_to_int8(values.reshape(shape), axis=axis + 1)


def round_to_int8(
    values: npt.NDArray[np.float32], *, axis: int
) -> tuple[npt.NDArray[np.int8], npt.NDArray[np.float32]]:
    """Round to -127..127 with one scale along `axis`; zero stays exactly zero."""
    scale = np.abs(values).max(axis=axis, keepdims=True) / np.float32(127)
    scale = np.where(scale == 0, np.float32(1), scale).astype(np.float32)
    return np.rint(values / scale).astype(np.int8), scale


def _tables(graph: onnx.GraphProto) -> set[str]:
    """Names of tables that are only ever looked up by row."""
    looked_up = {node.input[0] for node in graph.node if node.op_type == "Gather"}
    elsewhere = {
        name
        for node in graph.node
        for place, name in enumerate(node.input)
        if node.op_type != "Gather" or place != 0
    }
    by_column = {
        node.input[0]
        for node in graph.node
        if node.op_type == "Gather" and any(a.name == "axis" and a.i != 0 for a in node.attribute)
    }
    return looked_up - elsewhere - by_column


def _transposed(graph: onnx.GraphProto) -> set[str]:
    """Names of matrices stored with a row for each output."""
    return {
        node.input[1]
        for node in graph.node
        if node.op_type == "Gemm" and any(a.name == "transB" and a.i for a in node.attribute)
    }


def _dynamic(source: Path, out: Path, *, reduce_range: bool) -> None:
    from onnxruntime.quantization import QuantType, quantize_dynamic

    options: dict[str, Any] = {"DefaultTensorType": TensorProto.FLOAT}
    quantize_dynamic(
        str(source),
        str(out),
        per_channel=True,
        reduce_range=reduce_range,
        weight_type=QuantType.QInt8,
        extra_options=options,
    )


def main() -> None:
    """Parse arguments and quantise."""
    parser = argparse.ArgumentParser(description="Make an ONNX folder four times smaller.")
    parser.add_argument("source", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--scheme", choices=SCHEMES, default="weights")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    quantize(arguments.source, arguments.out, scheme=arguments.scheme)


if __name__ == "__main__":
    main()
