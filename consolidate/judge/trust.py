"""How far a source is believed when a fact comes without a trust of its own.

The source is what stands before the first colon of `Fact.source` (`tool:pytest` is `tool`),
without regard to case.

| source | trust | why |
|---|---|---|
| user | 1.0 | said by the person the memory is about |
| tool | 0.8 | measured or read by a program, but perhaps of another moment or machine |
| assistant | 0.7 | the agent's own words about what it did or was told |
| import | 0.6 | came with another store; nobody knows who said it first |
| unknown | 0.6 | nothing is known about the source |
| inferred | 0.4 | concluded, never said |
| web | 0.3 | read on a page that anyone may have written |

Any other source counts as unknown. A fact of lower trust never retires one of higher trust
without a person; the table decides where that line runs.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

__all__ = ["DEFAULT_TRUST", "default_trust"]

DEFAULT_TRUST: Mapping[str, float] = MappingProxyType(
    {
        "user": 1.0,
        "tool": 0.8,
        "assistant": 0.7,
        "import": 0.6,
        "unknown": 0.6,
        "inferred": 0.4,
        "web": 0.3,
    }
)
"""Source to trust, 0 to 1."""


def default_trust(source: str) -> float:
    """Return the trust of a source that brings none.

    Example:
        >>> default_trust("tool:pytest")
        0.8
    """
    name = source.partition(":")[0].strip().casefold()
    return DEFAULT_TRUST.get(name, DEFAULT_TRUST["unknown"])
