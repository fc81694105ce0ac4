"""How kinds of facts behave. The set of kinds is open; the set of behaviours is closed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

__all__ = ["BEHAVIOURS", "Behaviour", "behaviour_of"]


@dataclass(frozen=True, kw_only=True)
class Behaviour:
    """What may happen to a fact of some kind."""

    compared: bool = True
    """Compared with others by the models. False: only verbatim repeats are merged."""
    conflicts: bool = True
    """May retire another fact or be retired."""
    planned: bool = False
    """Says what is meant to be, whatever its words."""


_CLAIM: Final = Behaviour()

BEHAVIOURS: Final[Mapping[str, Behaviour]] = {
    "fact": _CLAIM,
    "preference": _CLAIM,
    "instruction": _CLAIM,
    "decision": _CLAIM,
    "plan": Behaviour(planned=True),
    "event": Behaviour(conflicts=True),
    "memory": Behaviour(compared=False, conflicts=False),
    "relation": Behaviour(compared=False, conflicts=False),
    "synthesis": Behaviour(compared=False, conflicts=False),
}
"""An unknown kind behaves as `fact`."""


def behaviour_of(kind: str) -> Behaviour:
    """The behaviour of a kind."""
    return BEHAVIOURS.get(kind, _CLAIM)
