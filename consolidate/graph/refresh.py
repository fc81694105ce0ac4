"""Bringing the registry in step with facts and declarations, without a run and without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from consolidate.graph.edges import triples_of
from consolidate.graph.resolve import resolve
from consolidate.judge.declared import declared_in
from consolidate.protocols import EntityExtractor
from consolidate.stages.entities import entities, named_by
from consolidate.stages.group import group
from consolidate.stages.work import Tally, silent
from consolidate.store import Store
from consolidate.types import Fact, Mention

__all__ = ["refresh"]

_HUB = 24
"""Marks groups for pairing only; the registry does not keep it."""


def refresh(store: Store, agent: str, *, extractor: EntityExtractor | None = None) -> int:
    """Resolve anew what an agent's facts name, from what was found in them before.

    Args:
        store: The memory.
        agent: Whose.
        extractor: Reads the facts first; without it, facts that no run has seen stay
            unseen, but for declared edges.

    Returns:
        Rows written; 0 if all was so already.
    """
    snapshot = store.snapshot(agent)
    facts = snapshot.facts
    found: Mapping[str, Sequence[Mention]]
    if extractor is not None:
        found = entities(store, extractor, facts, tally=Tally(stage="entities"), progress=silent)
    else:
        found = {
            fact: tuple(
                Mention(start=start, end=end, text=text, label=label, score=score)
                for start, end, text, label, score in rows
            )
            for fact, rows in store.mentions_stored(agent).items()
        }
        seen = found.keys() | store.facts_with_entities(agent)
        facts = tuple(fact for fact in facts if fact.id in seen or declared_in(fact))
        found = {fact.id: named_by(fact, found.get(fact.id, ())) for fact in facts}
    names = resolve(snapshot, facts, found, _vectors(store, facts))
    groups = group(facts, found, names, hub_size=_HUB)
    return store.save_entities(
        agent, groups, {fact.id: found.get(fact.id, ()) for fact in facts}, triples_of(facts)
    )


def _vectors(store: Store, facts: Sequence[Fact]) -> npt.NDArray[np.float32] | None:
    """Vectors that runs have left; a row of zeros, near to nothing, where there is none."""
    bound = store.embedding_model()
    if bound is None:
        return None
    model, dimensions = bound
    known = store.vectors({fact.content_hash for fact in facts}, model)
    nothing = np.zeros(dimensions, dtype=np.float32)
    rows = [known.get(fact.content_hash, nothing) for fact in facts]
    return np.stack(rows) if rows else None
