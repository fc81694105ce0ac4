"""The library's front door: the pipeline's verbs with the models and settings filled in.

What is not given comes from the settings: environment, `consolidate.toml`, defaults.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from consolidate import pipeline, synthesis
from consolidate.backends import Backends
from consolidate.pipeline import Outcome, Progress
from consolidate.settings import Settings, resolve
from consolidate.stages.notes import LEAST
from consolidate.stages.work import silent
from consolidate.store import Store
from consolidate.synthesis import Synthesis
from consolidate.types import Plan

__all__ = ["open_store", "plan", "run", "synthesise"]


def open_store(path: str | Path | None = None, *, create: bool = True) -> Store:
    """Open a memory, and make it if it is missing.

    Args:
        path: The SQLite file, or `:memory:`; None takes the one that the settings name.
        create: False refuses a file that does not exist.

    Raises:
        StoreError: The file can't be opened or is no store.
    """
    return Store.open(resolve().settings.database if path is None else path, create=create)


def plan(
    store: Store,
    *,
    agent: str | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    backends: Backends | None = None,
    now: datetime | None = None,
    progress: Progress = silent,
) -> Plan:
    """Decide what to do with a memory, without doing it; apply it with `consolidate.apply`."""
    chosen = _settings(settings)
    return pipeline.plan(
        store,
        backends or Backends.load(chosen),
        chosen,
        agent=agent or chosen.agent,
        now=now or datetime.now(UTC),
        progress=progress,
    )


def run(
    store: Store,
    *,
    agent: str | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    backends: Backends | None = None,
    now: datetime | None = None,
    progress: Progress = silent,
) -> Outcome:
    """Consolidate a memory.

    Args:
        store: The memory.
        agent: Whose; None takes the one of the settings.
        settings: Settings, or a mapping of those that differ from what the settings files say.
        backends: The models; None loads those that the settings name.
        now: The present moment; None asks the clock.
        progress: Told how far the stages with models are.

    Raises:
        LeaseHeldError: Another run is at work on this store.
    """
    chosen = _settings(settings)
    return pipeline.run(
        store,
        backends or Backends.load(chosen),
        chosen,
        agent=agent or chosen.agent,
        now=now,
        progress=progress,
    )


def synthesise(
    store: Store,
    *,
    agent: str | None = None,
    settings: Settings | Mapping[str, Any] | None = None,
    backends: Backends | None = None,
    least: int = LEAST,
    now: datetime | None = None,
    progress: Progress = silent,
) -> Synthesis:
    """Write a note of what is known of each entity; see `consolidate.synthesis.synthesise`."""
    chosen = _settings(settings)
    return synthesis.synthesise(
        store,
        backends or Backends.load(chosen),
        chosen,
        agent=agent or chosen.agent,
        least=least,
        now=now,
        progress=progress,
    )


def _settings(given: Settings | Mapping[str, Any] | None) -> Settings:
    return given if isinstance(given, Settings) else resolve(given).settings
