"""Model folders: where they are, whether they are whole, and the digest that identifies them.

A folder holds `model.onnx`, `tokenizer.json`, `config.json` (`gliner_config.json` for a GLiNER)
and perhaps a `manifest.json` with the size and SHA-256 of each. The graph may also lie in
`onnx/model.onnx`, as on the hub, and where a folder has several graphs (float, 8-bit), the path of
a graph names one. Bundled models lie in the package `consolidate_weights`. No session is made here
and no ONNX read; this module knows bytes and JSON.
"""

from __future__ import annotations

import hashlib
import importlib.util
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from consolidate.errors import MissingExtraError, ModelFilesError

__all__ = [
    "MANIFEST",
    "MODEL",
    "SENTENCE_FILES",
    "TOKENIZER",
    "ModelFiles",
    "bundled_folder",
    "bundled_names",
    "config_name",
    "folder_of",
]

MODEL: Final = "model.onnx"
TOKENIZER: Final = "tokenizer.json"
CONFIG: Final = "config.json"
MANIFEST: Final = "manifest.json"

_CONFIGS: Final = {"gliner": "gliner_config.json"}
_GRAPHS: Final = (MODEL, f"onnx/{MODEL}")
# Files that say how vectors are made of what the graph gives.
SENTENCE_FILES: Final = (
    "1_Pooling/config.json",
    "config_sentence_transformers.json",
    "modules.json",
    "sentence_bert_config.json",
)
_WEIGHTS_PACKAGE: Final = "consolidate_weights"


@dataclass(frozen=True, kw_only=True)
class ModelFiles:
    """A model folder that was read once and found whole."""

    folder: Path
    name: str
    """From the model's own config or manifest, so that a copy elsewhere has the same name."""
    config: Mapping[str, Any]
    """`config.json`."""
    digests: Mapping[str, str]
    """File name to SHA-256."""
    digest: str
    """SHA-256 over names and digests of all files."""
    size: int
    """Bytes of all files."""
    graph: str = MODEL
    """Where in the folder the graph is."""

    @classmethod
    def find(cls, model: str, *, task: str) -> ModelFiles:
        """Open a bundled or fetched model by name (`minilm`) or a folder by path.

        Args:
            model: What stands after `onnx:` or `gliner:`.
            task: `feature-extraction`, `text-classification` or `gliner`; a manifest that says
                otherwise is refused.

        Raises:
            ModelFilesError: Missing, cut, changed, or made for another task.
            MissingExtraError: The package with the bundled weights is not installed.
        """
        if not model:
            raise ModelFilesError(
                "'onnx' needs a model: onnx:NAME with NAME one of "
                f"{', '.join(bundled_names()) or '(none installed)'}, or onnx:/path/to/folder"
            )
        return cls.open(folder_of(model), task=task)

    @classmethod
    def open(cls, folder: Path, *, task: str) -> ModelFiles:
        """Read and check the files in `folder`, which may name one graph in it; see `find`."""
        named = None
        if folder.suffix == ".onnx" and folder.is_file():
            named, folder = folder, _folder_around(folder, config_name(task))
        if not folder.is_dir():
            found = "a file" if folder.exists() else "nothing"
            raise ModelFilesError(
                f"expected a folder with a model at {str(folder)!r}, found {found}"
            )
        graph = named.relative_to(folder).as_posix() if named else _graph_in(folder)
        required = (graph, TOKENIZER, config_name(task))
        missing = [name for name in required if not (folder / name).is_file()]
        if missing:
            raise ModelFilesError(
                f"{str(folder)!r} is no model folder: expected {', '.join(required)}, missing "
                f"{', '.join(missing)}, found {', '.join(_present(folder)) or 'no files'}"
            )
        # Some graphs keep their weights beside them.
        optional = (f"{graph}.data", f"{graph}_data", *SENTENCE_FILES)
        names = [*required, *(name for name in optional if (folder / name).is_file())]
        sizes = {name: (folder / name).stat().st_size for name in names}
        digests = {name: file_digest(folder / name) for name in names}
        _check_manifest(folder, sizes, digests, task)
        config = read_json(folder / config_name(task))
        return cls(
            folder=folder,
            name=_name_of(config, folder / MANIFEST),
            config=config,
            digests=digests,
            # The same bytes are the same model, wherever in the folder its graph lies.
            digest=_joined({MODEL if k == graph else k: v for k, v in digests.items()}),
            size=sum(sizes.values()),
            graph=graph,
        )

    def read(self, name: str) -> bytes:
        """The bytes of a file, if they are still those that were looked at."""
        try:
            content = (self.folder / name).read_bytes()
        except OSError as error:
            raise ModelFilesError(
                f"{str(self.folder / name)!r} can't be read any more: {error}"
            ) from error
        found = hashlib.sha256(content).hexdigest()
        if found != self.digests[name]:
            raise ModelFilesError(
                f"{str(self.folder / name)!r} changed since it was looked at: expected sha256 "
                f"{self.digests[name]}, found {found}; start again"
            )
        return content

    def setting(self, name: str) -> Any:
        """A value from the section `consolidate` of the config, or None."""
        section = self.config.get("consolidate")
        return section.get(name) if isinstance(section, dict) else None


def config_name(task: str) -> str:
    """The name of the file that says how a model of this kind is made."""
    return _CONFIGS.get(task, CONFIG)


def bundled_names() -> tuple[str, ...]:
    """Names of the models in the installed weights package, sorted; empty without it."""
    root = _weights_root()
    if root is None:
        return ()
    return tuple(sorted(path.name for path in root.iterdir() if (path / MANIFEST).is_file()))


def bundled_folder(name: str) -> Path:
    """The folder of a bundled model.

    Raises:
        MissingExtraError: The weights package is not installed.
        ModelFilesError: It holds no model of this name.
    """
    root = _weights_root()
    if root is None:
        raise MissingExtraError(
            f"the bundled model {name!r} needs the package consolidate-weights: in a checkout run "
            "`pip install ./models/weights`, or name a folder as onnx:/path/to/folder"
        )
    if name not in bundled_names():
        raise ModelFilesError(
            f"no bundled model is called {name!r}: expected one of "
            f"{', '.join(bundled_names()) or '(none)'} in {str(root)!r}, or onnx:/path/to/folder"
        )
    return root / name


def file_digest(path: Path) -> str:
    """SHA-256 of a file."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def read_json(path: Path) -> dict[str, Any]:
    """Read a JSON object.

    Raises:
        ModelFilesError: It is not one.
    """
    try:
        value = json.loads(path.read_bytes())
    except (OSError, ValueError) as error:
        raise ModelFilesError(f"expected a JSON object in {str(path)!r}, found: {error}") from error
    if not isinstance(value, dict):
        raise ModelFilesError(
            f"expected a JSON object in {str(path)!r}, found {type(value).__name__}"
        )
    return value


def folder_of(model: str) -> Path:
    """Where a model lies that is named by a path, or by the name of a bundled or fetched one."""
    if "/" in model or "\\" in model or model.startswith(("~", ".")):
        return Path(model).expanduser()
    if model not in bundled_names():
        from consolidate.shelf import ready_folder

        if (fetched := ready_folder(model)) is not None:
            return fetched
    # Names of fetched models may have dots in them; other words with dots are paths.
    return Path(model) if "." in model else bundled_folder(model)


def _graph_in(folder: Path) -> str:
    """The graph of a folder in which none was named."""
    for name in _GRAPHS:
        if (folder / name).is_file():
            return name
    others = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.onnx"))
    if others:
        raise ModelFilesError(
            f"{str(folder)!r} has no {MODEL}, but {', '.join(others)}: name the one you want, as "
            f"in onnx:{folder / others[0]}"
        )
    return MODEL


def _folder_around(graph: Path, config: str) -> Path:
    """The folder that a graph belongs to: its own, or the one above it."""
    own = graph.parent
    return own if (own / config).is_file() or not (own.parent / config).is_file() else own.parent


def _present(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.is_file())[:12]


def _weights_root() -> Path | None:
    spec = importlib.util.find_spec(_WEIGHTS_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations)))


def _check_manifest(
    folder: Path, sizes: Mapping[str, int], digests: Mapping[str, str], task: str
) -> None:
    path = folder / MANIFEST
    if not path.is_file():
        return
    manifest = read_json(path)
    if manifest.get("task", task) != task:
        raise ModelFilesError(
            f"{str(folder)!r} holds a model for another task: expected {task}, found "
            f"{manifest['task']}"
        )
    problems: list[str] = []
    for name, entry in manifest.get("files", {}).items():
        expected, size = entry.get("sha256"), entry.get("size")
        if not (folder / name).is_file():
            problems.append(f"{name} is missing")
            continue
        # A fetched folder has files that no backend reads, such as `modules.json`.
        found_size = sizes.get(name) or (folder / name).stat().st_size
        found = digests.get(name) or file_digest(folder / name)
        if size != found_size:
            problems.append(f"{name}: expected {size} bytes, found {found_size}")
        elif expected != found:
            problems.append(f"{name}: expected sha256 {expected}, found {found}")
    if problems:
        raise ModelFilesError(
            f"the files in {str(folder)!r} are not those of its {MANIFEST}: {'; '.join(problems)}; "
            "fetch or install the model again"
        )


def _name_of(config: Mapping[str, Any], manifest: Path) -> str:
    section = config.get("consolidate")
    own = section.get("name") if isinstance(section, dict) else None
    # Configs from the hub name the folder of whoever trained the model, or nothing.
    listed = read_json(manifest).get("name") if own is None and manifest.is_file() else None
    usual = (config.get("_name_or_path"), config.get("model_type"))
    candidates: Sequence[Any] = (own, listed, *usual)
    for value in candidates:
        if isinstance(value, str) and value.strip("/"):
            return value.strip("/").rsplit("/", 1)[-1]
    return "model"


def _joined(digests: Mapping[str, str]) -> str:
    lines = "".join(f"{name} {digests[name]}\n" for name in sorted(digests))
    return hashlib.sha256(lines.encode()).hexdigest()
