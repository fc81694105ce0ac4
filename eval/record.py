"""What every result file says beside its numbers: data, models, settings, code and machine.

Result files have fixed names and are replaced by the next run; their history is the repository's.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any, Final

import consolidate
from consolidate.settings import Settings
from consolidate.version import __version__

__all__ = [
    "RESULTS",
    "SETS",
    "code_digest",
    "files_digest",
    "heading",
    "machine",
    "read_jsonl",
    "write_result",
]

SETS: Final = Path(__file__).parent / "sets"
RESULTS: Final = Path(__file__).parent / "results"

_LIBRARIES: Final = ("numpy", "onnxruntime", "tokenizers")


def read_jsonl(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the rows of a JSON-lines file."""
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)


def files_digest(paths: Iterable[Path]) -> str:
    """SHA-256 over names and contents, whatever the order of `paths`."""
    whole = hashlib.sha256()
    for path in sorted(paths, key=lambda p: p.name):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.name} {content}\n".encode())
    return whole.hexdigest()


def code_digest() -> str:
    """SHA-256 over the package's modules: which code made a result, committed or not."""
    root = Path(consolidate.__file__).parent
    whole = hashlib.sha256()
    for path in sorted(root.rglob("*.py")):
        content = hashlib.sha256(path.read_bytes()).hexdigest()
        whole.update(f"{path.relative_to(root).as_posix()} {content}\n".encode())
    return whole.hexdigest()


def machine() -> dict[str, Any]:
    """The machine in words: what a reader needs in order to compare numbers."""
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return {
        "cpu": _cpu_name(),
        "cores": usable or 1,
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        **{name: _version(name) for name in _LIBRARIES},
    }


def heading(
    suite: str, *, settings: Settings, models: Mapping[str, str], data: Mapping[str, str]
) -> dict[str, Any]:
    """The head of a result: everything it depends on.

    Args:
        suite: Name of what was measured.
        settings: The settings that decisions were made with.
        models: Role to identity. Identities, never paths.
        data: Name of each input to the SHA-256 of its content.
    """
    return {
        "suite": suite,
        "date": datetime.now(UTC).date().isoformat(),
        "version": __version__,
        "code": code_digest(),
        "data": dict(data),
        "models": dict(models),
        "settings": settings.digest(),
        "machine": machine(),
    }


def write_result(folder: Path, name: str, result: Mapping[str, Any]) -> Path:
    """Write a result as JSON under its fixed name, replacing the one before."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    text = json.dumps(_rounded(result), indent=1, ensure_ascii=False, allow_nan=False)
    path.write_text(text + "\n", encoding="utf-8")
    return path


def _rounded(value: Any) -> Any:
    """Floats to six digits, since more are noise; what is no number becomes null."""
    if isinstance(value, Mapping):
        return {str(key): _rounded(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_rounded(item) for item in value]
    if isinstance(value, float):
        return None if value != value else round(value, 6)
    return value


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    if info.is_file():
        for line in info.read_text(encoding="utf-8", errors="replace").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or "unknown"


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return "not installed"
