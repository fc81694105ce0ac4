"""Gets the files of a listed model from the Hugging Face hub, or a mirror of it.

For each file: ask what it is (HEAD), go on where an earlier fetch was cut, compare size and
digest, and only when all files are there and right, move the folder to its place. Whatever goes
wrong, a model that was usable before still is.

`huggingface_hub` does the transfer, with its telemetry, progress bars and long retries off; what
it raises is turned into errors of this package here. Proxies are read from the usual variables by
the HTTP library below it. Nothing here runs unless a fetch was asked for.
"""

from __future__ import annotations

import errno
import os
import re
import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO, Final

from consolidate.backends.files import file_digest, read_json
from consolidate.errors import BackendError, InputError, MissingExtraError, ModelFilesError
from consolidate.hub import (
    SECONDS,
    endpoint_of,
    git_digest,
    hub,
    is_offline,
    reason_of,
    revision_is_missing,
    status_of,
    token_of,
    url_of,
)
from consolidate.manifest import ModelEntry, ModelPart
from consolidate.shelf import Expected, Shelf, write_json
from consolidate.version import __version__

__all__ = ["Fetched", "Progress", "fetch", "missing_by_hand"]

_STATE: Final = "state.json"
_SPARE: Final = 16 * 1024 * 1024
_SHA256: Final = re.compile(r"[0-9a-f]{64}")
_SHA1: Final = re.compile(r"[0-9a-f]{40}")

Progress = Callable[[str, int, int], None]
"""Called with a file's name, the bytes that are there, and how many it has."""


def _silent(name: str, done: int, total: int) -> None:
    pass


@dataclass(frozen=True, kw_only=True)
class Fetched:
    """What a fetch did."""

    name: str
    folder: Path
    bytes: int
    revision: str | None
    fetched: tuple[str, ...]
    """Files that came over the network; empty if all were there."""
    noted: tuple[str, ...]
    """Files whose digest nobody knew before; it is in the lock now."""


@dataclass(frozen=True, kw_only=True)
class _Remote:
    """A file as the hub describes it."""

    url: str
    size: int
    etag: str
    commit: str | None


def fetch(
    name: str,
    *,
    shelf: Shelf | None = None,
    environ: Mapping[str, str] | None = None,
    progress: Progress = _silent,
) -> Fetched:
    """Make a listed model usable: `onnx:NAME`. If it is there and right, no connection is opened.

    Args:
        name: As `consolidate models list` shows it.
        shelf: The models folder.
        environ: Where `HF_ENDPOINT`, `HF_TOKEN`, `HF_HUB_OFFLINE` are read; None is the process's.
        progress: Told of every quarter of a megabyte.

    Raises:
        InputError: No such model, or one that needs no fetching.
        BackendError: The network or the hub refuses; says which file, its address, and where it
            can be put by hand.
        ModelFilesError: What came is not what it should be.
    """
    shelf = shelf or Shelf()
    model = shelf.entry(name)
    if model.bundled:
        raise InputError(
            f"{name!r} is bundled: it comes with the package consolidate-weights, in a checkout "
            "`pip install ./models/weights`"
        )
    if shelf.place(name).is_dir() and not shelf.problems(name) and _settled(shelf, model):
        done = shelf.accept(model, shelf.place(name))
        return _result(shelf, done.bytes, model, fetched=(), noted=done.noted)
    env = os.environ if environ is None else environ
    shelf.folder.mkdir(parents=True, exist_ok=True)
    with _alone(shelf, name):
        shelf.recover(name)
        return _Fetch(shelf, model, env, progress).run()


def missing_by_hand(
    model: ModelEntry, shelf: Shelf, environ: Mapping[str, str], first: ModelPart | None = None
) -> str:
    """Say which files to get on another machine, from where, and where to put them."""
    lock = shelf.lock(model.name)
    revision = model.revision or (lock.revision if lock else None) or "main"
    wanted = shelf.expected(model, lock)
    lacking = [
        part
        for part in model.parts
        if part.name in wanted
        and not part.optional
        and wanted[part.name].problem(shelf.place(model.name) / part.name) is not None
    ]
    lacking.sort(key=lambda part: first is not None and part.name != first.name)
    lines = [
        f"  {url_of(endpoint_of(environ), model.source, revision, part.path)}\n"
        f"    as {shelf.place(model.name) / part.name}"
        for part in lacking
    ]
    return "\n".join(
        (
            "By hand: get on another machine",
            *lines,
            f"then run: consolidate models verify {model.name}",
        )
    )


class _Fetch:
    """One fetch of one model; nobody else fetches it meanwhile."""

    def __init__(
        self, shelf: Shelf, model: ModelEntry, environ: Mapping[str, str], progress: Progress
    ) -> None:
        self._shelf = shelf
        self._model = model
        self._env = environ
        self._progress = progress
        self._endpoint = endpoint_of(environ)
        self._token = token_of(environ)
        self._partial = shelf.partial(model.name)
        self._lock = shelf.lock(model.name)
        self._wanted = shelf.expected(model, self._lock)
        self._revision = model.revision or (self._lock.revision if self._lock else None)
        self._came: list[str] = []

    def run(self) -> Fetched:
        if is_offline(self._env):
            raise BackendError(
                f"{self._model.name!r} can't be fetched: HF_HUB_OFFLINE or CONSOLIDATE_NO_NETWORK "
                f"is set\n{self._by_hand()}"
            )
        self._resume()
        with hub(self._env):
            found = self._describe()
            self._make_room(found)
            for part, remote in found.items():
                self._get(part, remote)
        done = self._shelf.accept(self._model, self._partial, revision=self._revision)
        self._shelf.put(self._model.name)
        (self._shelf.place(self._model.name) / _STATE).unlink(missing_ok=True)
        return _result(
            self._shelf, done.bytes, self._model, fetched=tuple(self._came), noted=done.noted
        )

    def _resume(self) -> None:
        """Go on with a cut fetch if it was of the same commit; else begin anew."""
        state = self._partial / _STATE
        started = read_json(state).get("revision") if state.is_file() else None
        if self._revision is None and isinstance(started, str):
            self._revision = started
        if self._partial.is_dir() and started != self._revision:
            shutil.rmtree(self._partial)
        self._partial.mkdir(parents=True, exist_ok=True)
        names = {part.name for part in self._model.parts}
        kept = {_STATE, *names, *(f"{name}.part" for name in names)}
        for path in [p for p in self._partial.rglob("*") if p.is_file()]:
            if path.relative_to(self._partial).as_posix() not in kept:
                path.unlink()
        self._note_revision()

    def _note_revision(self) -> None:
        if self._revision is not None:
            write_json(self._partial / _STATE, {"revision": self._revision})

    def _describe(self) -> dict[ModelPart, _Remote]:
        """Ask the hub about every file, before any is moved."""
        found = {}
        for part in self._model.parts:
            if part.name not in self._wanted:
                continue  # the first fetch noted that there is none
            remote = self._head(part)
            if remote is None:
                (self._partial / part.name).unlink(missing_ok=True)
                continue
            if self._revision is None:
                if remote.commit is None:
                    raise BackendError(
                        f"{self._endpoint} does not say which commit {remote.url} is of, and none "
                        f"is listed for {self._model.name!r}; use the hub itself, or list a "
                        "revision"
                    )
                self._revision = remote.commit
                self._note_revision()
                # What is fetched later must be of this commit, though the branch moves on.
                url = url_of(self._endpoint, self._model.source, self._revision, part.path)
                remote = replace(remote, url=url)
            self._compare(part, remote)
            found[part] = remote
        return found

    def _head(self, part: ModelPart) -> _Remote | None:
        from huggingface_hub import get_hf_file_metadata

        url = url_of(self._endpoint, self._model.source, self._revision or "main", part.path)
        try:
            found = get_hf_file_metadata(
                url,
                token=self._token or False,
                timeout=SECONDS,
                library_name="consolidate",
                library_version=__version__,
            )
        except Exception as error:
            if part.optional and status_of(error) == 404 and not revision_is_missing(error):
                return None
            raise self._explained(error, part, url) from error
        if found.size is None or found.etag is None:
            raise BackendError(f"{url}: the answer lacks size or ETag; is {self._endpoint} a hub?")
        return _Remote(url=url, size=found.size, etag=found.etag, commit=found.commit_hash)

    def _compare(self, part: ModelPart, remote: _Remote) -> None:
        """Refuse a file that can't be the right one before it is moved."""
        wanted = self._wanted[part.name]
        said = remote.etag if _SHA256.fullmatch(remote.etag) else None
        if wanted.sha256 and said and said != wanted.sha256:
            found = f"sha256 {wanted.sha256}, the hub has {said}"
        elif wanted.size is not None and remote.size != wanted.size:
            found = f"{wanted.size} bytes, the hub has {remote.size}"
        else:
            return
        raise ModelFilesError(
            f"{part.name} of {self._model.name!r} changed: expected {found} at {remote.url}; "
            "nothing was fetched"
        )

    def _make_room(self, found: Mapping[ModelPart, _Remote]) -> None:
        there = sum(p.stat().st_size for p in self._partial.rglob("*") if p.is_file())
        needed = sum(remote.size for remote in found.values()) - there + _SPARE
        free = shutil.disk_usage(self._partial).free
        if needed > free:
            raise BackendError(
                f"{self._model.name!r} needs {needed / 1e6:.0f} MB in "
                f"{str(self._shelf.folder)!r}, {free / 1e6:.0f} MB are free; make room, or name "
                "another folder with CONSOLIDATE_MODELS"
            )

    def _get(self, part: ModelPart, remote: _Remote) -> None:
        target = self._partial / part.name
        target.parent.mkdir(parents=True, exist_ok=True)
        if self._problem(part, remote, target) is None:
            self._progress(part.name, remote.size, remote.size)
            return
        at_hand = self._shelf.place(self._model.name) / part.name
        if at_hand.is_file() and self._problem(part, remote, at_hand) is None:
            beside = target.with_name(f"{target.name}.part")
            shutil.copyfile(at_hand, beside)
            beside.replace(target)
            return
        beside = target.with_name(f"{target.name}.part")
        resumed = beside.is_file() and 0 < beside.stat().st_size <= remote.size
        self._move(part, remote, beside, keep=resumed)
        problem = self._problem(part, remote, beside)
        if problem and resumed:
            # Perhaps only what was there before is bad.
            self._move(part, remote, beside, keep=False)
            problem = self._problem(part, remote, beside)
        if problem:
            beside.unlink()
            raise ModelFilesError(
                f"{remote.url} gave something else than {part.name} of {self._model.name!r}: "
                f"{problem}; it was thrown away. Try again, or look whether a proxy or mirror "
                "changes files"
            )
        beside.replace(target)
        self._came.append(part.name)

    def _problem(self, part: ModelPart, remote: _Remote, path: Path) -> str | None:
        """What is wrong with bytes, by the list, the lock and the hub's own digest."""
        wanted = self._wanted[part.name]
        problem = Expected(sha256=wanted.sha256, size=remote.size).problem(path)
        if problem is not None:
            return problem.partition(": ")[2] or problem
        if wanted.sha256 is not None:
            return None
        if _SHA256.fullmatch(remote.etag):
            found = file_digest(path)
        elif _SHA1.fullmatch(remote.etag):
            found = git_digest(path)
        else:
            return None  # a mirror with tags of its own
        return None if found == remote.etag else f"expected digest {remote.etag}, found {found}"

    def _move(self, part: ModelPart, remote: _Remote, beside: Path, *, keep: bool) -> None:
        from huggingface_hub.file_download import http_get
        from huggingface_hub.utils._headers import build_hf_headers

        headers = build_hf_headers(
            token=self._token or False, library_name="consolidate", library_version=__version__
        )
        # Compression would make ranges and sizes those of the compressed file.
        headers["Accept-Encoding"] = "identity"
        with beside.open("r+b" if keep else "wb") as file:
            start = file.seek(0, os.SEEK_END)
            counted = _Counted(file, lambda done: self._progress(part.name, done, remote.size))
            self._progress(part.name, start, remote.size)
            try:
                http_get(
                    remote.url,
                    counted,  # type: ignore[arg-type]  # all that is called of a file is there
                    resume_size=start,
                    headers=headers,
                    expected_size=remote.size,
                    displayed_filename=part.name,
                    _nb_retries=1,
                    _tqdm_bar=_NoBar(),
                )
            except Exception as error:
                raise self._explained(error, part, remote.url) from error

    def _explained(self, error: Exception, part: ModelPart, url: str) -> Exception:
        """Say in this package's words what the transfer raised."""
        name, repository = self._model.name, self._model.source
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EACCES, errno.EROFS):
            return BackendError(f"{part.name} of {name!r} can't be written: {error}")
        status = status_of(error)
        if status in (401, 403):
            page = f"{self._endpoint}/{repository}"
            said = (
                "the token in HF_TOKEN is not allowed to read it"
                if self._token
                else "it wants to know who asks"
            )
            return BackendError(
                f"{url}: {status}, {said}. Log in and accept the terms at {page}, make a token at "
                f"{self._endpoint}/settings/tokens, and set HF_TOKEN to it"
            )
        if status == 404:
            return BackendError(
                f"{url}: 404, there is no such file. Look at {self._endpoint}/{repository}; a "
                f"mirror may lack the commit\n{self._by_hand(part)}"
            )
        if status == 429:
            return BackendError(f"{url}: 429, too many requests; wait some minutes, then go on")
        if status is not None:
            return BackendError(f"{url}: {status}, the hub has trouble; go on later")
        there = self._partial / f"{part.name}.part"
        kept = there.stat().st_size if there.is_file() else 0
        again = f" {kept} bytes are kept; the next fetch goes on there." if kept else ""
        return BackendError(
            f"{part.name} of {name!r} can't be had from {url}: {reason_of(error)}.{again} Look "
            "whether there is a network, and whether HTTPS_PROXY and HF_ENDPOINT are right\n"
            f"{self._by_hand(part)}"
        )

    def _by_hand(self, part: ModelPart | None = None) -> str:
        return missing_by_hand(self._model, self._shelf, self._env, part)


class _Counted:
    """A file that says how much is in it; what the transfer library uses of one, and no more."""

    def __init__(self, file: BinaryIO, told: Callable[[int], None]) -> None:
        self._file = file
        self._told = told
        self.name = file.name

    def write(self, data: bytes) -> int:
        written = self._file.write(data)
        self._file.flush()
        self._told(self._file.tell())
        return written

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        return self._file.seek(offset, whence)

    def tell(self) -> int:
        return self._file.tell()

    def truncate(self, size: int | None = None) -> int:
        return self._file.truncate(size)


class _NoBar:
    """Stands where the library would draw a bar of its own."""

    def update(self, n: float | None = 1) -> None:
        """Ignore."""


def _settled(shelf: Shelf, model: ModelEntry) -> bool:
    """Whether files that are right need no look at the hub: it is known what they must be."""
    lock = shelf.lock(model.name)
    if lock is not None:
        return True
    folder = shelf.place(model.name)
    return all(part.sha256 or part.optional for part in model.parts) and all(
        part.sha256 or not (folder / part.name).exists() for part in model.parts
    )


def _result(
    shelf: Shelf, size: int, model: ModelEntry, *, fetched: tuple[str, ...], noted: tuple[str, ...]
) -> Fetched:
    lock = shelf.lock(model.name)
    return Fetched(
        name=model.name,
        folder=shelf.place(model.name),
        bytes=size,
        revision=lock.revision if lock else model.revision,
        fetched=fetched,
        noted=noted,
    )


@contextmanager
def _alone(shelf: Shelf, name: str) -> Iterator[None]:
    """Keep a second fetch of the same model out; a killed one keeps nobody out."""
    try:
        from filelock import FileLock, Timeout
    except ImportError as error:
        raise MissingExtraError("fetching models needs filelock: pip install filelock") from error
    lock = FileLock(str(shelf.folder / f".{name}.busy"))
    try:
        lock.acquire(timeout=0)
    except Timeout as error:
        raise BackendError(f"another process is fetching {name!r} into {shelf.folder}") from error
    try:
        yield
    finally:
        lock.release()
