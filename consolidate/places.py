"""Where files live on this platform: the data folder, the settings folder, the state folder.

Knows the conventions of Linux (XDG), macOS and Windows, and nothing about what is kept there.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from pathlib import Path

__all__ = ["config_folder", "data_folder", "default_database", "models_folder", "state_folder"]

_APP = "consolidate"


def data_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Give the folder for data that must be kept, e.g. `~/.local/share/consolidate`."""
    return _folder(environ, xdg="XDG_DATA_HOME", unix=".local/share", windows="LOCALAPPDATA")


def config_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Give the folder for settings, e.g. `~/.config/consolidate`."""
    return _folder(environ, xdg="XDG_CONFIG_HOME", unix=".config", windows="APPDATA")


def state_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Give the folder for logs, e.g. `~/.local/state/consolidate`."""
    return _folder(environ, xdg="XDG_STATE_HOME", unix=".local/state", windows="LOCALAPPDATA")


def default_database(environ: Mapping[str, str] | None = None) -> Path:
    """Give the database that is used when none is named."""
    return data_folder(environ) / "memory.db"


def models_folder(environ: Mapping[str, str] | None = None) -> Path:
    """Give the folder for fetched models: `CONSOLIDATE_MODELS`, or one in the data folder."""
    env = os.environ if environ is None else environ
    named = env.get("CONSOLIDATE_MODELS", "")
    return Path(named).expanduser().absolute() if named else data_folder(environ) / "models"


def _folder(environ: Mapping[str, str] | None, *, xdg: str, unix: str, windows: str) -> Path:
    env = os.environ if environ is None else environ
    home = Path(env["HOME"]) if env.get("HOME") else Path.home()
    # The XDG rules say that relative values are to be ignored.
    if (named := env.get(xdg, "")) and Path(named).is_absolute():
        return Path(named) / _APP
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / _APP
    if sys.platform == "win32":
        return Path(env.get(windows) or home / "AppData" / "Local") / _APP
    return home / unix / _APP
