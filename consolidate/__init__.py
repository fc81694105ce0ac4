"""Sleep for agent memory.

    import consolidate

    with consolidate.open_store("memory.db") as store:
        outcome = consolidate.run(store)
        print(outcome.report)

Importing the package loads no model library; models load when a run first needs them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from consolidate.version import __version__

if TYPE_CHECKING:
    from consolidate.api import open_store, plan, run, synthesise
    from consolidate.errors import ConsolidateError
    from consolidate.memory import open_memory
    from consolidate.memory.memory import Memory
    from consolidate.pipeline import Outcome, accept, apply, reject, undo
    from consolidate.settings import Settings
    from consolidate.store import Store
    from consolidate.types import Fact, FactStatus, NewFact, Plan, Receipt

_HOMES = {
    "ConsolidateError": "consolidate.errors",
    "Fact": "consolidate.types",
    "FactStatus": "consolidate.types",
    "Memory": "consolidate.memory.memory",
    "NewFact": "consolidate.types",
    "Outcome": "consolidate.pipeline",
    "Plan": "consolidate.types",
    "Receipt": "consolidate.types",
    "Settings": "consolidate.settings",
    "Store": "consolidate.store",
    "accept": "consolidate.pipeline",
    "apply": "consolidate.pipeline",
    "open_memory": "consolidate.memory",
    "open_store": "consolidate.api",
    "plan": "consolidate.api",
    "reject": "consolidate.pipeline",
    "run": "consolidate.api",
    "synthesise": "consolidate.api",
    "undo": "consolidate.pipeline",
}

__all__ = [
    "ConsolidateError",
    "Fact",
    "FactStatus",
    "Memory",
    "NewFact",
    "Outcome",
    "Plan",
    "Receipt",
    "Settings",
    "Store",
    "__version__",
    "accept",
    "apply",
    "open_memory",
    "open_store",
    "plan",
    "reject",
    "run",
    "synthesise",
    "undo",
]


def __getattr__(name: str) -> Any:
    """Load a public name at its first use, so that importing the package stays cheap."""
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)


def __dir__() -> list[str]:
    return sorted(__all__)
