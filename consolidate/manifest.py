"""The models known by name: where they come from, what belongs to them, which bytes those are.

The list ships with the package (`data/manifest.toml`). A file `manifest.toml` of the same form in
the models folder adds models of one's own; it can't redefine a shipped one. This module reads; it
fetches nothing and looks at no model file.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from pathlib import Path, PurePosixPath
from types import MappingProxyType
from typing import Any, Final, Literal

from consolidate.errors import InputError, ModelFilesError
from consolidate.places import models_folder

__all__ = ["OWN", "ROLES", "ModelEntry", "ModelPart", "entries", "entry", "known_names", "parse"]

OWN: Final = "manifest.toml"
"""Name of the list of one's own, in the models folder."""

Role = Literal["embedder", "extractor", "classifier"]

ROLES: Final[Mapping[str, Role]] = MappingProxyType(
    {
        "feature-extraction": "embedder",
        "gliner": "extractor",
        "text-classification": "classifier",
    }
)
"""What a model is made for to the setting that names it."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,79}")
_REPOSITORY: Final = re.compile(r"[A-Za-z0-9][\w.-]*(/[\w.-]+)?", re.ASCII)
_COMMIT: Final = re.compile(r"[0-9a-f]{40}")
_DIGEST: Final = re.compile(r"[0-9a-f]{64}")
_FORMATS: Final = ("onnx", "torch")


@dataclass(frozen=True, kw_only=True)
class ModelPart:
    """One file of a model."""

    path: str
    """In the source repository."""
    name: str
    """In the model's folder."""
    sha256: str | None = None
    """None where it is not public knowledge."""
    size: int | None = None
    optional: bool = False
    """The model works without it, if the repository has none."""


@dataclass(frozen=True, kw_only=True)
class ModelEntry:
    """What the list says about a model."""

    name: str
    task: str
    source: str
    """Repository on the hub."""
    parts: tuple[ModelPart, ...]
    revision: str | None = None
    """Commit of the source; None is what the first fetch finds."""
    licence: str = ""
    languages: tuple[str, ...] = ()
    dimensions: int | None = None
    labels: tuple[str, ...] = ()
    """Classes in the order of the outputs."""
    prompts: Mapping[str, str] = field(default_factory=dict)
    """What the model wants before a `query` and a `document`."""
    format: str = "onnx"
    """`torch` is raw material: it has to be exported before it can be used."""
    bundled: bool = False
    """Comes with the package consolidate-weights; there is nothing to fetch."""

    @property
    def role(self) -> Role:
        """The setting that names such a model."""
        return ROLES[self.task]

    @property
    def size(self) -> int | None:
        """Bytes of all files, if all sizes are known."""
        sizes = [part.size for part in self.parts if not part.optional]
        return None if None in sizes else sum(size or 0 for size in sizes)


def entry(name: str, folder: Path | None = None) -> ModelEntry:
    """Look a model up.

    Raises:
        InputError: There is none of this name; names those that sound alike.
    """
    known = entries(folder)
    if name in known:
        return known[name]
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.5)
    hint = f"did you mean {' or '.join(near)}?" if near else "see `consolidate models list`."
    place = (folder or models_folder()) / OWN
    raise InputError(
        f"no model is called {name!r}; {hint} Models of your own can be listed in {str(place)!r}"
    )


def known_names(folder: Path | None = None) -> tuple[str, ...]:
    """Names of all listed models, sorted."""
    return tuple(sorted(entries(folder)))


def entries(folder: Path | None = None) -> dict[str, ModelEntry]:
    """All listed models by name, the shipped ones and one's own.

    Args:
        folder: The models folder; None is the platform's.

    Raises:
        ModelFilesError: The list of one's own can't be read or says something impossible.
    """
    known = dict(_shipped())
    own = (folder or models_folder()) / OWN
    if own.is_file():
        try:
            text = own.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            raise ModelFilesError(f"{str(own)!r} can't be read: {error}") from error
        added = parse(text, str(own))
        if twice := sorted(known.keys() & added.keys()):
            raise ModelFilesError(
                f"{str(own)!r} lists {', '.join(twice)}, which is shipped; give another name"
            )
        known |= added
    return known


def parse(text: str, where: str) -> dict[str, ModelEntry]:
    """Read a list; all problems are reported together.

    Raises:
        ModelFilesError: It is no TOML, or a model in it is not described as it must be.
    """
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ModelFilesError(f"{where} is no TOML: {error}") from error
    problems: list[str] = []
    found: dict[str, ModelEntry] = {}
    if unknown := sorted(table.keys() - {"model"}):
        problems.append(f"unknown keys {', '.join(unknown)}; a model is a table [[model]]")
    for number, raw in enumerate(table.get("model", ()), start=1):
        name = str(raw.get("name", f"number {number}"))
        try:
            made = _entry(raw)
        except ValueError as error:
            problems.append(f"model {name}: {error}")
            continue
        if made.name in found:
            problems.append(f"model {name}: listed twice")
        found[made.name] = made
    if problems:
        raise ModelFilesError(f"{where}: {'; '.join(problems)}")
    return found


@cache
def _shipped() -> Mapping[str, ModelEntry]:
    text = (resources.files("consolidate") / "data" / "manifest.toml").read_text("utf-8")
    return parse(text, "the shipped list of models")


_KEYS: Final = frozenset(
    "name task source revision licence languages dimensions labels prompts format bundled "
    "files".split()
)
_PART_KEYS: Final = frozenset({"path", "as", "sha256", "size", "optional"})


def _entry(raw: Mapping[str, Any]) -> ModelEntry:
    _no_other_keys(raw, _KEYS)
    parts = tuple(_part(item) for item in raw.get("files", ()))
    names = [part.name for part in parts]
    if not parts or len(set(names)) != len(names):
        raise ValueError("files must be a list of at least one, each with a name of its own")
    return ModelEntry(
        name=_matching(raw, "name", _NAME, "letters, digits, '.', '_' and '-'"),
        task=_one_of(raw, "task", tuple(ROLES)),
        source=_matching(raw, "source", _REPOSITORY, "a repository such as 'owner/name'"),
        revision=_optional(raw, "revision", _COMMIT, "a commit of 40 hexadecimal digits"),
        licence=str(raw.get("licence", "")),
        languages=tuple(map(str, raw.get("languages", ()))),
        dimensions=_count(raw, "dimensions"),
        labels=tuple(map(str, raw.get("labels", ()))),
        prompts=MappingProxyType({str(k): str(v) for k, v in raw.get("prompts", {}).items()}),
        format=_one_of({"format": "onnx", **raw}, "format", _FORMATS),
        bundled=bool(raw.get("bundled", False)),
        parts=parts,
    )


def _part(raw: Mapping[str, Any]) -> ModelPart:
    _no_other_keys(raw, _PART_KEYS)
    path = str(raw.get("path", ""))
    name = str(raw.get("as", path))
    for value in (path, name):
        pure = PurePosixPath(value)
        plain = bool(value) and value.isprintable() and "\\" not in value and ":" not in value
        # What is written below a folder must stay below it.
        if not plain or pure.is_absolute() or ".." in pure.parts or str(pure) != value:
            raise ValueError(f"{value!r} is no path of a file below the model's folder")
    if name.startswith(".") or name == "manifest.json":
        raise ValueError(f"{name!r} is a name that the folder itself uses")
    return ModelPart(
        path=path,
        name=name,
        sha256=_optional(raw, "sha256", _DIGEST, "64 hexadecimal digits"),
        size=_count(raw, "size"),
        optional=bool(raw.get("optional", False)),
    )


def _no_other_keys(raw: Mapping[str, Any], allowed: frozenset[str]) -> None:
    if unknown := sorted(raw.keys() - allowed):
        raise ValueError(
            f"unknown keys {', '.join(unknown)}; there are {', '.join(sorted(allowed))}"
        )


def _matching(raw: Mapping[str, Any], key: str, form: re.Pattern[str], words: str) -> str:
    value = raw.get(key)
    if isinstance(value, str) and form.fullmatch(value):
        return value
    raise ValueError(f"{key} must be {words}, not {value!r}")


def _optional(raw: Mapping[str, Any], key: str, form: re.Pattern[str], words: str) -> str | None:
    return None if raw.get(key) is None else _matching(raw, key, form, words)


def _one_of(raw: Mapping[str, Any], key: str, choices: tuple[str, ...]) -> str:
    value = raw.get(key)
    if value in choices:
        return str(value)
    raise ValueError(f"{key} must be one of {', '.join(choices)}, not {value!r}")


def _count(raw: Mapping[str, Any], key: str) -> int | None:
    value = raw.get(key)
    if value is None or (isinstance(value, int) and not isinstance(value, bool) and value >= 0):
        return value
    raise ValueError(f"{key} must be a whole number, not {value!r}")
