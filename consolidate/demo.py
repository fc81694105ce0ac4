"""The demo: a memory of one invented person over three years, shipped with the package.

Knows how to fill a store with it and how to tell whether a store is that demo. Shows nothing.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import datetime
from importlib import resources

from consolidate.store import Store
from consolidate.times import parse_time
from consolidate.types import Fact, NewFact

__all__ = ["demo_facts", "holds_only_demo", "load_demo", "messy_sample"]

_TIMES = ("stated_at", "valid_from", "valid_to")
_COMMON = 12
"""A word that more facts than this share says nothing about two of them."""


def demo_facts(*, agent: str = "default") -> list[NewFact]:
    """Read the shipped facts."""
    text = (resources.files("consolidate") / "data" / "demo_facts.jsonl").read_text("utf-8")
    facts = []
    for line in text.splitlines():
        row = json.loads(line)
        row |= {name: parse_time(row[name]) for name in _TIMES if row.get(name)}
        facts.append(NewFact(agent=agent, **row))
    return facts


def load_demo(store: Store, now: datetime, *, agent: str = "default") -> int:
    """Fill a store with the demo; returns how many facts are new in it."""
    return sum(added.new for added in store.add(demo_facts(agent=agent), now=now))


def holds_only_demo(store: Store) -> bool:
    """Whether nothing but demo facts is in a store, so that it may be thrown away."""
    ours = {fact.id for fact in demo_facts()}
    return all(fact.id in ours for fact in store.facts(statuses=None))


def messy_sample(facts: Sequence[Fact], *, groups: int = 4, most: int = 4) -> list[list[Fact]]:
    """Pick groups of facts that speak of the same in other words, for a first look at the mess.

    Only words are counted, no model is asked: facts that share rare words are put together.

    Args:
        facts: All facts.
        groups: How many groups at most.
        most: How many facts a group has at most.
    """
    words = {fact.id: _words(fact.text) for fact in facts}
    by_word: dict[str, list[Fact]] = {}
    for fact in facts:
        for word in words[fact.id]:
            by_word.setdefault(word, []).append(fact)
    ranked = []
    for word, sharing in by_word.items():
        if 3 <= len(sharing) <= _COMMON:
            chosen = sorted(sharing, key=_said)[-most:]
            ranked.append((-_overlap([words[fact.id] for fact in chosen]), word, chosen))
    sample: list[list[Fact]] = []
    taken: set[str] = set()
    for _, _, chosen in sorted(ranked, key=lambda item: item[:2]):
        if len(sample) < groups and not taken.intersection(fact.id for fact in chosen):
            sample.append(chosen)
            taken.update(fact.id for fact in chosen)
    return sample


def _words(text: str) -> frozenset[str]:
    return frozenset(word for word in re.findall(r"\w+", text.casefold()) if len(word) > 3)


def _overlap(sets: Sequence[frozenset[str]]) -> float:
    """Mean share of common words over all pairs; equal texts count less than reworded ones."""
    pairs = [(a, b) for i, a in enumerate(sets) for b in sets[i + 1 :]]
    shares = [len(a & b) / len(a | b) for a, b in pairs]
    return sum(share if share < 0.9 else 0.3 for share in shares) / len(shares)


def _said(fact: Fact) -> tuple[str, str]:
    return (fact.stated_at.isoformat() if fact.stated_at else "", fact.id)
