"""What onnxruntime may compute on, by name: the processor, a graphics card, and others.

The default install has the processor only. For others a build of onnxruntime that has them is
installed in its place (`onnxruntime-gpu`, `onnxruntime-directml`, ...).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from consolidate.errors import BackendError

__all__ = ["CPU", "mark_of", "providers_of"]

CPU: Final = "cpu"

# Short names for what onnxruntime calls ...ExecutionProvider.
_NAMES: Final = {
    "cpu": "CPUExecutionProvider",
    "cuda": "CUDAExecutionProvider",
    "tensorrt": "TensorrtExecutionProvider",
    "rocm": "ROCMExecutionProvider",
    "migraphx": "MIGraphXExecutionProvider",
    "openvino": "OpenVINOExecutionProvider",
    "directml": "DmlExecutionProvider",
    "coreml": "CoreMLExecutionProvider",
    "xnnpack": "XnnpackExecutionProvider",
    "qnn": "QNNExecutionProvider",
}


def providers_of(names: str, available: Sequence[str]) -> tuple[str, ...]:
    """Read a list of names such as `cuda,cpu`.

    The processor is always last: it computes the parts of a graph that another can't.

    Args:
        names: Short names, or onnxruntime's own, separated by commas.
        available: What this build of onnxruntime has.

    Raises:
        BackendError: One is not among them; names those that are.
    """
    found: list[str] = []
    for name in _parts(names):
        full = _NAMES.get(name.casefold(), name)
        match = next((each for each in available if each.casefold() == full.casefold()), None)
        if match is None:
            short = {full: name for name, full in _NAMES.items()}
            there = ", ".join(short.get(each, each) for each in available)
            raise BackendError(
                f"this onnxruntime can't compute on {name!r}; it has {there}. Others come with "
                "other builds, such as onnxruntime-gpu for cuda"
            )
        found.append(match)
    return tuple(dict.fromkeys([*found, _NAMES[CPU]]))


def mark_of(names: str) -> str:
    """What to add to a model's identity: other hardware gives other last digits."""
    short = {full.casefold(): name for name, full in _NAMES.items()}
    named = [short.get(name.casefold(), name.casefold()) for name in _parts(names)]
    others = [name for name in named if name != CPU]
    return f"/{'+'.join(others)}" if others else ""


def _parts(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
