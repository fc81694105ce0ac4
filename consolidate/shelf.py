"""The folder of fetched models: what lies there, whether it is what it should be, what was noted.

    <models folder>/NAME/             the files, and manifest.json, written once they were checked
    <models folder>/NAME.lock.json    commit, digests and sizes of the first fetch
    <models folder>/.NAME.partial/    a fetch that is under way or was cut

A folder without `manifest.json` was put there by hand and not looked at yet; `verify` does that.
What a model should be is known from the list of models, from the lock, or from neither; then what
comes first is noted in the lock, and everything later must match it. No network here.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from consolidate.backends.files import MANIFEST, file_digest, read_json
from consolidate.errors import InputError, ModelFilesError
from consolidate.manifest import ModelEntry, entries, entry
from consolidate.places import models_folder

__all__ = ["Checked", "Expected", "Lock", "Shelf", "ready_folder", "write_json"]

_LOCK_FORMAT: Final = 1

Progress = Callable[[str, int, int], None]


@dataclass(frozen=True, kw_only=True)
class Expected:
    """What a file must be; None is not known."""

    sha256: str | None = None
    size: int | None = None

    def problem(self, path: Path) -> str | None:
        """What is wrong with a file, in words; None if nothing is."""
        if not path.is_file():
            return f"{path.name} is missing"
        size = path.stat().st_size
        if self.size is not None and size != self.size:
            return f"{path.name}: expected {self.size} bytes, found {size}"
        if self.sha256 is not None and (found := file_digest(path)) != self.sha256:
            return f"{path.name}: expected sha256 {self.sha256}, found {found}"
        return None


@dataclass(frozen=True, kw_only=True)
class Lock:
    """What the first fetch of a model got."""

    source: str
    revision: str | None
    """The commit; None if the files were put there by hand and the list names no commit."""
    files: Mapping[str, Expected]
    """Name in the folder to digest and size, both known."""
    absent: tuple[str, ...] = ()
    """Optional files that the repository does not have."""


@dataclass(frozen=True, kw_only=True)
class Checked:
    """What came of looking at a model."""

    name: str
    folder: Path
    bytes: int
    noted: tuple[str, ...] = ()
    """Files whose digest was not known and is now in the lock."""


class Shelf:
    """The models in one folder.

    Args:
        folder: Where they lie; None is the platform's place, or `CONSOLIDATE_MODELS`.
    """

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder if folder is not None else models_folder()

    # Places

    def place(self, name: str) -> Path:
        """Where the files of a model lie or belong."""
        return self.folder / name

    def lock_file(self, name: str) -> Path:
        """Where is noted what the first fetch got."""
        return self.folder / f"{name}.lock.json"

    def partial(self, name: str) -> Path:
        """Where a fetch collects files until all are there."""
        return self.folder / f".{name}.partial"

    def entry(self, name: str) -> ModelEntry:
        """What the list says about a model.

        Raises:
            InputError: It is not listed.
        """
        return entry(name, self.folder)

    def names(self) -> tuple[str, ...]:
        """Models that were fetched or accepted, sorted."""
        return tuple(path.name for path in self._folders() if (path / MANIFEST).is_file())

    def unchecked(self) -> tuple[str, ...]:
        """Folders of listed models that nobody has looked at yet, sorted."""
        known = entries(self.folder)
        return tuple(
            path.name
            for path in self._folders()
            if path.name in known and not (path / MANIFEST).is_file()
        )

    def unfinished(self) -> tuple[str, ...]:
        """Models that are not there because their fetch was cut, sorted."""
        if not self.folder.is_dir():
            return ()
        found = {
            path.name.removeprefix(".").removesuffix(".partial")
            for path in self.folder.glob(".*.partial")
        }
        return tuple(sorted(found - set(self.names())))

    def _folders(self) -> list[Path]:
        if not self.folder.is_dir():
            return []
        return sorted(
            path
            for path in self.folder.iterdir()
            if path.is_dir() and not path.name.startswith(".")
        )

    # What is expected

    def lock(self, name: str) -> Lock | None:
        """What the first fetch got, if there was one.

        Raises:
            ModelFilesError: The lock can't be read.
        """
        path = self.lock_file(name)
        if not path.is_file():
            return None
        raw = read_json(path)
        try:
            if raw["format"] != _LOCK_FORMAT:
                raise ValueError(f"its format is {raw['format']!r}")
            return Lock(
                source=str(raw["source"]),
                revision=raw["revision"],
                files={
                    str(key): Expected(sha256=str(value["sha256"]), size=int(value["size"]))
                    for key, value in raw["files"].items()
                },
                absent=tuple(map(str, raw["absent"])),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise ModelFilesError(
                f"{str(path)!r} is no lock of this version ({error}); if you trust the next "
                "fetch, remove it"
            ) from error

    def expected(self, model: ModelEntry, lock: Lock | None) -> dict[str, Expected]:
        """What each file of a model must be, from the list and the lock.

        Raises:
            ModelFilesError: The two contradict each other.
        """
        self._compare(model, lock)
        noted = lock.files if lock else {}
        return {
            part.name: noted.get(part.name, Expected(sha256=part.sha256, size=part.size))
            for part in model.parts
            if not (lock and part.name in lock.absent)
        }

    def _compare(self, model: ModelEntry, lock: Lock | None) -> None:
        if lock is None:
            return
        differing = []
        if lock.source != model.source:
            differing.append(f"source {lock.source} and {model.source}")
        if model.revision and lock.revision and lock.revision != model.revision:
            differing.append(f"revision {lock.revision} and {model.revision}")
        for part in model.parts:
            noted = lock.files.get(part.name)
            if noted and part.sha256 and noted.sha256 != part.sha256:
                differing.append(f"{part.name} {noted.sha256} and {part.sha256}")
        if differing:
            raise ModelFilesError(
                f"{str(self.lock_file(model.name))!r} was written for another model than the one "
                f"now listed as {model.name!r} (noted and listed: {'; '.join(differing)}). To take "
                f"the listed one: `consolidate models remove {model.name} --forget`, then fetch it"
            )

    def write_lock(self, name: str, lock: Lock) -> None:
        """Note what was got."""
        content = {
            "format": _LOCK_FORMAT,
            "source": lock.source,
            "revision": lock.revision,
            "files": {
                key: {"sha256": value.sha256, "size": value.size}
                for key, value in sorted(lock.files.items())
            },
            "absent": sorted(lock.absent),
        }
        write_json(self.lock_file(name), content)

    # Checking

    def problems(self, name: str) -> list[str]:
        """What is wrong with the files of a model that is there; empty if nothing is.

        Raises:
            InputError: It is not listed.
        """
        model = self.entry(name)
        folder = self.place(name)
        optional = {part.name for part in model.parts if part.optional}
        wanted = self.expected(model, self.lock(name))
        return [
            f"{key}: {problem.partition(': ')[2] or 'it is missing'}"
            for key, value in wanted.items()
            if not (key in optional and not (folder / key).exists())
            if (problem := value.problem(folder / key)) is not None
        ]

    def verify(self, name: str) -> Checked:
        """Look at every byte; files that were put there by hand become usable if they are right.

        Raises:
            InputError: There is no such model, or it was never fetched.
            ModelFilesError: Files are missing or not what they should be; names each.
        """
        model = self.entry(name)
        if not self.place(name).is_dir():
            raise InputError(
                f"{name!r} is not there; fetch it with `consolidate models fetch {name}`, or put "
                f"its files into {str(self.place(name))!r}"
            )
        if found := self.problems(name):
            raise ModelFilesError(
                f"{str(self.place(name))!r} is not the model {name!r}: {'; '.join(found)}. Fetch "
                f"it again with `consolidate models fetch {name}`"
            )
        return self.accept(model, self.place(name))

    def accept(self, model: ModelEntry, folder: Path, *, revision: str | None = None) -> Checked:
        """Note what checked files are, and mark their folder as usable."""
        lock = self.lock(model.name)
        found = {
            part.name: Expected(
                sha256=file_digest(folder / part.name), size=(folder / part.name).stat().st_size
            )
            for part in model.parts
            if (folder / part.name).is_file()
        }
        listed = {part.name for part in model.parts if part.sha256}
        known = listed | set(lock.files if lock else ())
        if lock is None or found.keys() - lock.files.keys():
            self.write_lock(
                model.name,
                Lock(
                    source=model.source,
                    revision=(lock.revision if lock else None) or revision or model.revision,
                    files=found,
                    absent=tuple(part.name for part in model.parts if part.name not in found),
                ),
            )
        if not (folder / MANIFEST).is_file():
            write_json(folder / MANIFEST, _manifest(model, found, revision or model.revision))
        return Checked(
            name=model.name,
            folder=folder,
            bytes=sum(value.size or 0 for value in found.values()),
            noted=tuple(sorted(found.keys() - known)),
        )

    # Changing

    def put(self, name: str) -> None:
        """Move what a fetch has collected to its place, in the stead of what was there."""
        old = self.folder / f".{name}.old"
        place = self.place(name)
        _remove_tree(old)
        if place.exists():
            place.rename(old)
        self.partial(name).rename(place)
        _remove_tree(old)

    def recover(self, name: str) -> None:
        """Undo a `put` that was killed half-way."""
        old = self.folder / f".{name}.old"
        if old.is_dir() and not self.place(name).exists():
            old.rename(self.place(name))

    def remove(self, name: str, *, forget: bool = False) -> int:
        """Delete a model's files and what was left of a cut fetch; gives the bytes freed.

        The lock stays, so that fetching it again must give the same, unless `forget`.

        Raises:
            InputError: There is nothing of it.
        """
        gone = [p for p in (self.place(name), self.partial(name)) if p.is_dir()]
        lock = self.lock_file(name)
        inside = self.place(name).parent == self.folder and not name.startswith(".")
        if not inside or not (gone or (forget and lock.is_file())):
            raise InputError(f"nothing of {name!r} is in {str(self.folder)!r}")
        freed = sum(p.stat().st_size for top in gone for p in top.rglob("*") if p.is_file())
        # A folder that is half deleted must not look like a model.
        (self.place(name) / MANIFEST).unlink(missing_ok=True)
        for path in gone:
            _remove_tree(path)
        if forget:
            lock.unlink(missing_ok=True)
        return freed


def ready_folder(name: str, folder: Path | None = None) -> Path | None:
    """The folder of a fetched model, or None if no such model is known.

    Raises:
        ModelFilesError: The model is known, but not there, or nobody has checked it yet.
    """
    shelf = Shelf(folder)
    place = shelf.place(name)
    listed = entries(shelf.folder).get(name)
    if (place / MANIFEST).is_file():
        if listed is not None and listed.format == "torch":
            raise ModelFilesError(
                f"{name!r} is there, but as PyTorch has it; make an ONNX folder of it first, in a "
                f"checkout: `python -m models.export {place} --task {listed.task}`"
            )
        return place
    if listed is None or listed.bundled:
        return None
    if place.is_dir():
        raise ModelFilesError(
            f"the files in {str(place)!r} have not been checked yet; do that with "
            f"`consolidate models verify {name}`"
        )
    raise ModelFilesError(
        f"the model {name!r} is not on this machine; get it with `consolidate models fetch {name}`"
    )


def _manifest(
    model: ModelEntry, found: Mapping[str, Expected], revision: str | None
) -> dict[str, Any]:
    facts: dict[str, Any] = {
        "name": model.name,
        "task": model.task,
        "source": model.source,
        "revision": revision,
        "licence": model.licence,
        "languages": list(model.languages),
        "dimensions": model.dimensions,
        "labels": list(model.labels),
        "prompts": dict(model.prompts),
        "format": model.format,
    }
    files = {
        key: {"sha256": value.sha256, "size": value.size} for key, value in sorted(found.items())
    }
    return {**{k: v for k, v in facts.items() if v not in (None, [], {}, "")}, "files": files}


def write_json(path: Path, value: Mapping[str, Any]) -> None:
    """Write beside and rename, so that no reader sees half a file."""
    path.parent.mkdir(parents=True, exist_ok=True)
    beside = path.with_name(f".{path.name}.{os.getpid()}.new")
    text = json.dumps(value, ensure_ascii=False, indent=2)
    beside.write_text(text + "\n", encoding="utf-8", newline="\n")
    beside.replace(path)


def _remove_tree(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path)
