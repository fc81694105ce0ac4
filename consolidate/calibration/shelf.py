"""Where calibrations lie: beside the model's files, and the user's own in the data folder."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from consolidate.calibration.record import Calibration
from consolidate.errors import InputError
from consolidate.places import data_folder

__all__ = ["FILE_NAME", "Found", "find", "keep", "own_path"]

FILE_NAME: Final = "calibration.json"
"""Beside the files of a model."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class Found:
    """A calibration that holds for a model, or why there is none."""

    calibration: Calibration | None = None
    path: Path | None = None
    passed_over: tuple[str, ...] = ()
    """Files that were looked at and not used, each with the reason, in words."""


def own_path(identity: str, environ: Mapping[str, str] | None = None) -> Path:
    """Where the user's own calibration of a model lies."""
    name = re.sub(r"[^A-Za-z0-9._@-]+", "-", identity).strip("-.")
    return data_folder(environ) / "calibrations" / f"{name}.json"


def find(
    identity: str, beside: Path | None = None, *, environ: Mapping[str, str] | None = None
) -> Found:
    """Find the calibration of a model.

    The user's own goes first. One that was made for another model, other files or an older form
    is never used.

    Args:
        identity: Of the classifier, digest included.
        beside: The folder of the model's files, where there is one.
        environ: The environment; None is that of the process.
    """
    passed: list[str] = []
    paths = [own_path(identity, environ)] + ([beside / FILE_NAME] if beside else [])
    for path in paths:
        try:
            content = path.read_bytes()
        except FileNotFoundError:
            continue
        except OSError as error:
            passed.append(f"{path} can't be read: {error.strerror}")
            continue
        try:
            made = Calibration.from_json(content)
        except InputError as error:
            passed.append(f"{path}: {error}")
            continue
        if made.model == identity:
            return Found(calibration=made, path=path, passed_over=tuple(passed))
        passed.append(f"{path} was made for {made.model}, not for {identity}")
    for reason in passed:
        _log.debug("no calibration: %s", reason)
    return Found(passed_over=tuple(passed))


def keep(made: Calibration, path: Path) -> None:
    """Write a calibration as a whole or not at all.

    Raises:
        InputError: The place can't be written to.
    """
    beside = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(made.to_json(), encoding="utf-8")
        beside.replace(path)
    except OSError as error:
        raise InputError(f"{str(path)!r} can't be written: {error.strerror}") from error
