"""Keeps `models/manifest.toml` true: `python -m models.manifest`, after a bundled model was made.

The part about the bundled models is written anew from the folders in `models/weights`; the rest,
about models on the hub, is written by hand and left alone. The package ships a copy, which is
written as well. `--check` writes nothing and exits with 1 if something would change.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from consolidate.backends.files import MANIFEST, config_name, read_json
from consolidate.manifest import parse

__all__ = ["SHIPPED", "SOURCE", "bundled_part", "main", "renewed"]

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = ROOT / "models" / "manifest.toml"
SHIPPED: Final = ROOT / "consolidate" / "data" / "manifest.toml"
WEIGHTS: Final = ROOT / "models" / "weights" / "consolidate_weights"

_BEGIN: Final = "# ---- bundled models, written by `python -m models.manifest`\n"
_END: Final = "# ---- end of the bundled models\n"

# What the folders themselves do not say. `source` is the repository that training or
# quantising started from, at `revision`.
_MINILM: Final = {
    "source": "sentence-transformers/all-MiniLM-L6-v2",
    "revision": "1110a243fdf4706b3f48f1d95db1a4f5529b4d41",
    "licence": "Apache-2.0",
    "languages": ["en"],
}
_FACTS: Final[Mapping[str, Mapping[str, Any]]] = {
    "minilm": _MINILM,
    "judge": _MINILM,
    "gliner": _MINILM,
}


def bundled_part(weights: Path = WEIGHTS) -> str:
    """The tables of all bundled models, as TOML."""
    folders = sorted(path.parent for path in weights.glob(f"*/{MANIFEST}"))
    return "\n".join(_table(folder) for folder in folders)


def renewed(text: str, weights: Path = WEIGHTS) -> str:
    """The manifest with its part about bundled models written anew."""
    before, _, rest = text.partition(_BEGIN)
    _, _, after = rest.partition(_END)
    return f"{before}{_BEGIN}\n{bundled_part(weights)}\n{_END}{after}"


def main(arguments: list[str] | None = None) -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--check", action="store_true", help="write nothing, exit with 1 if stale")
    options = parser.parse_args(arguments)
    text = renewed(SOURCE.read_text(encoding="utf-8"))
    parse(text, str(SOURCE))
    stale = [p for p in (SOURCE, SHIPPED) if not p.is_file() or p.read_text("utf-8") != text]
    for path in stale:
        print(f"{'stale' if options.check else 'written'}: {path.relative_to(ROOT)}")
        if not options.check:
            path.write_text(text, encoding="utf-8", newline="\n")
    return 1 if stale and options.check else 0


def _table(folder: Path) -> str:
    manifest = read_json(folder / MANIFEST)
    config = read_json(folder / config_name(manifest["task"]))
    facts: dict[str, Any] = {
        "name": folder.name,
        "task": manifest["task"],
        **_FACTS[folder.name],
        "bundled": True,
    }
    if manifest["task"] == "feature-extraction":
        facts["dimensions"] = config["hidden_size"]
    if manifest["task"] == "text-classification":
        labels = config["id2label"]
        facts["labels"] = [labels[key] for key in sorted(labels, key=int)]
    lines = [f"{key} = {json.dumps(value)}" for key, value in facts.items()]
    files = "".join(
        f'    {{ path = "{name}", sha256 = "{file["sha256"]}", size = {file["size"]} }},\n'
        for name, file in sorted(manifest["files"].items())
    )
    return "\n".join(["[[model]]", *lines, f"files = [\n{files}]\n"])


if __name__ == "__main__":
    sys.exit(main())
