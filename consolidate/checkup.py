"""Looks whether everything a run needs is there and sound; `consolidate doctor` shows it.

Each check gives a result, never an exception, so that one trouble does not hide the next. Changes
nothing.
"""

from __future__ import annotations

import os
import shutil
import sqlite3
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING

from consolidate.errors import ConsolidateError
from consolidate.settings import Settings
from consolidate.silence import leaves_the_machine, watched

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["Check", "Verdict", "check_up"]

_OLDEST_SQLITE = (3, 37, 0)
_LEAST_FREE = 64 * 1024 * 1024
_LITTLE_FREE = 512 * 1024 * 1024
_LENIENT = timedelta(minutes=5)  # file servers have clocks of their own
_BUILT = datetime(2026, 1, 1, tzinfo=UTC)  # a clock before this has lost its battery


class Verdict(StrEnum):
    """How a check came out."""

    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, kw_only=True)
class Check:
    """One line of the doctor."""

    name: str
    verdict: Verdict
    detail: str
    remedy: str = ""
    """What to do; empty if all is well."""


def check_up(settings: Settings, *, now: datetime) -> Iterator[Check]:
    """Check this machine, the models and the database, one after the other.

    Args:
        settings: Which models and which database.
        now: The present moment by the machine's clock.
    """
    path = settings.database
    yield _python()
    yield _sqlite()
    yield _clock(now, path)
    yield _folder(path)
    yield _space(path)
    with watched() as seen:
        yield from _models(settings)
    yield _network(settings, seen)
    yield from _files()
    yield from _database(path, now)
    yield from _vectors(settings)


def _python() -> Check:
    version = ".".join(map(str, sys.version_info[:3]))
    if not hasattr(sqlite3.Connection, "setlimit"):  # came with 3.11, as much that is used here
        return _fail("python", version, "use Python 3.11 or newer")
    return _ok("python", version)


def _sqlite() -> Check:
    version = sqlite3.sqlite_version
    try:
        with sqlite3.connect(":memory:") as connection:
            connection.execute("CREATE VIRTUAL TABLE probe USING fts5 (text)")
        connection.close()
    except sqlite3.Error as error:
        remedy = "use a Python whose SQLite has FTS5, as those from python.org and Linux do"
        return _fail("sqlite", f"{version}, without FTS5 ({error})", remedy)
    if sqlite3.sqlite_version_info < _OLDEST_SQLITE:
        return _fail("sqlite", version, "use a Python with SQLite 3.37 or newer")
    return _ok("sqlite", f"{version} with FTS5")


def _clock(now: datetime, path: Path) -> Check:
    shown = now.isoformat(timespec="seconds")
    if now < _BUILT:
        return _fail("clock", shown, "set the clock: facts would be recorded in the past")
    try:
        written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    except (OSError, OverflowError, ValueError):  # there is none yet
        return _ok("clock", shown)
    if written > now + _LENIENT:
        detail = f"{shown}, but {path} was written at {written.isoformat(timespec='seconds')}"
        return _warn("clock", detail, "look at the clock: it went back since")
    return _ok("clock", shown)


def _folder(path: Path) -> Check:
    place = path if path.exists() else _nearest(path)
    if path.is_dir():
        return _fail("folder", f"{path} is a folder", f"name a file: --db {path / 'memory.db'}")
    # SQLite keeps two helper files beside the database, so the folder counts too.
    for needed in {place, place if place.is_dir() else place.parent}:
        if not os.access(needed, os.W_OK):
            remedy = f"change the permissions of {needed}, or name another database with --db"
            return _fail("folder", f"{needed} can't be written", remedy)
    return _ok("folder", f"{path.parent} can be written")


def _space(path: Path) -> Check:
    try:
        free = shutil.disk_usage(_nearest(path)).free
    except OSError as error:
        return _warn("space", str(error), "look whether the disk is there")
    shown = f"{free / 1024**2:.0f} MB free"
    if free < _LEAST_FREE:
        return _fail("space", shown, "make room: a run needs some for its journal")
    if free < _LITTLE_FREE:
        return _warn("space", shown, "make room soon")
    return _ok("space", shown)


def _models(settings: Settings) -> Iterator[Check]:
    from consolidate import backends

    try:
        options = backends.Options.of(settings)
    except ConsolidateError as error:
        yield _fail("models", str(error), "change it in the settings")
        return
    tests: tuple[tuple[str, str, Callable[[], str]], ...] = (
        ("embedder", settings.embedder, lambda: _embed(settings.embedder, options)),
        ("extractor", settings.extractor, lambda: _extract(settings.extractor, options)),
        ("classifier", settings.classifier, lambda: _classify(settings.classifier, options)),
    )
    for role, spec, test in tests:
        try:
            yield _ok(role, test())
        except ConsolidateError as error:
            yield _fail(role, f"{spec}: {error}", f"set another one with --set {role}=...")
        except Exception as error:
            yield _fail(role, f"{spec}: {error!r}", "install the models again")


def _network(settings: Settings, seen: list[str]) -> Check:
    """Whether the models kept to themselves while they were tried."""
    from consolidate.backends import served

    chosen = (settings.embedder, settings.extractor, settings.classifier, settings.llm or "")
    asked = served(chosen)
    places = sorted(set(seen))
    if asked:
        reached = f", at {', '.join(places)}" if places else ""
        return _ok("network", f"{', '.join(asked)} work on a server, as you chose{reached}")
    if any(leaves_the_machine(place) for place in places):
        remedy = (
            "a library calls out by itself: please report it, and until then run without a network "
            "(unshare -rn, or a firewall)"
        )
        return _fail("network", f"something opened {', '.join(places)}", remedy)
    if places:
        remedy = "find out what listens there; no model of yours needs it"
        return _warn("network", f"something opened {', '.join(places)}", remedy)
    return _ok("network", "silent: the models opened no connection")


def _files() -> Iterator[Check]:
    """Whether the bundled and fetched models are what they should be, byte for byte."""
    from consolidate.backends.files import bundled_names
    from consolidate.shelf import Shelf

    shelf = Shelf()
    try:
        bundled, fetched, unchecked = bundled_names(), shelf.names(), shelf.unchecked()
    except (ConsolidateError, OSError) as error:
        yield _fail("model files", str(error), f"look at {shelf.folder}")
        return
    sound = True
    for name in bundled:
        if problem := _bundled_problem(name):
            sound = False
            remedy = "install it again: pip install --force-reinstall consolidate-weights"
            yield _fail("model files", f"{name}: {problem}", remedy)
    for name in fetched:
        try:
            problems = shelf.problems(name)
        except (ConsolidateError, OSError) as error:
            problems = [str(error)]
        if problems:
            sound = False
            remedy = f"get it again with: consolidate models fetch {name}"
            yield _fail("model files", f"{name}: {'; '.join(problems)}", remedy)
    for name in unchecked:
        remedy = f"check what was put there with: consolidate models verify {name}"
        yield _warn("model files", f"{name} in {shelf.folder} was never checked", remedy)
    for name in shelf.unfinished():
        remedy = f"go on with: consolidate models fetch {name}; or consolidate models remove {name}"
        yield _warn("model files", f"the fetch of {name} was cut", remedy)
    if sound:
        found = f"{len(bundled)} bundled, {len(fetched)} fetched into {shelf.folder}"
        yield _ok("model files", f"{found}, all digests right")


def _bundled_problem(name: str) -> str | None:
    from consolidate.backends.files import MANIFEST, ModelFiles, bundled_folder, read_json

    try:
        folder = bundled_folder(name)
        ModelFiles.open(folder, task=str(read_json(folder / MANIFEST).get("task")))
    except (ConsolidateError, OSError) as error:
        return str(error)
    return None


def _vectors(settings: Settings) -> Iterator[Check]:
    """Whether the store's vectors are those of the embedder in use."""
    from consolidate import backends
    from consolidate.store import Store

    if not settings.database.exists():
        return
    try:
        options = backends.Options.of(settings)
        model = backends.resolve_embedder(settings.embedder, options=options)
        with Store.open(settings.database, create=False, read_only=True) as store:
            bound, staged = store.embedding_model(), store.staged_vectors()
    except ConsolidateError:
        return  # another line says so
    for name, count in staged.items():
        detail = f"a change to {name} was begun, {count} vectors are there"
        yield _warn("vectors", detail, "go on, or back, with: consolidate models use NAME")
    if bound is not None and bound[0] != model.identity:
        detail = f"the store has those of {bound[0]}, the settings name {model.identity}"
        remedy = f"change the store with: consolidate models use {settings.embedder}"
        yield _fail("vectors", detail, f"{remedy}; or the settings back")


def _embed(spec: str, options: Options) -> str:
    from consolidate import backends

    model = backends.resolve_embedder(spec, options=options)
    near, same, far = model.embed(
        ["The office is in Bonn.", "Their office is located in Bonn.", "I like green tea."]
    )
    if not float(near @ same) > float(near @ far):
        raise ConsolidateError("it does not put texts of one meaning nearer than others")
    return f"{model.identity}, {model.dimensions} dimensions, self-test passed"


def _extract(spec: str, options: Options) -> str:
    from consolidate import backends

    model = backends.resolve_extractor(spec, options=options)
    text = "Yesterday we met Ada Lovelace in Bonn."
    for mention in model.extract([text])[0]:
        if text[mention.start : mention.end] != mention.text:
            raise ConsolidateError("its offsets do not fit the text")
    return f"{model.identity}, self-test passed"


def _classify(spec: str, options: Options) -> str:
    from consolidate import backends

    model = backends.resolve_classifier(spec, options=options)
    verdict = model.classify([("The office is in Bonn.", "The office is not in Bonn.")])[0]
    if verdict.forward is None:
        raise ConsolidateError(f"it gave no answer ({verdict.failure})")
    if verdict.forward.contradiction < verdict.forward.entailment:
        raise ConsolidateError("it takes a denial for the same statement")
    return f"{model.identity}, self-test passed"


def _database(path: Path, now: datetime) -> Iterator[Check]:
    from consolidate.store import Store

    if not path.exists():
        remedy = "make one with `consolidate init`, or name yours with --db"
        yield _warn("database", f"{path} does not exist yet", remedy)
        return
    try:
        with Store.open(path, create=False) as store:
            problems = store.check()
            counts = store.stats()
            newest = max((run.started_at for run in store.runs(limit=1)), default=None)
    except ConsolidateError as error:
        yield _fail("database", str(error), "name another database, or restore a copy")
        return
    for problem in problems:
        remedy = "export what can be read (`consolidate export`) and import it into a new one"
        yield _fail("database", problem, remedy)
    if not problems:
        yield _ok("database", f"{path}, {counts.get('facts', 0)} facts, sound")
    if newest is not None and newest > now:
        shown = f"the last run is dated {newest.isoformat(timespec='seconds')}, in the future"
        yield _warn("last run", shown, "look at the clock: it went back since")


def _nearest(path: Path) -> Path:
    """The folder that is there, in which the missing ones would be made."""
    for folder in path.absolute().parents:
        if folder.exists():
            return folder
    return path.absolute()


def _ok(name: str, detail: str) -> Check:
    return Check(name=name, verdict=Verdict.OK, detail=detail)


def _warn(name: str, detail: str, remedy: str) -> Check:
    return Check(name=name, verdict=Verdict.WARN, detail=detail, remedy=remedy)


def _fail(name: str, detail: str, remedy: str) -> Check:
    return Check(name=name, verdict=Verdict.FAIL, detail=detail, remedy=remedy)
