"""Finds what each text names, each text once.

Knows the store only through its cache, keyed by (text hash, extractor identity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consolidate.protocols import EntityExtractor
from consolidate.stages.work import Progress, Tally, in_chunks
from consolidate.store import Store
from consolidate.types import Fact, Mention

__all__ = ["entities"]

CHUNK = 1024


def entities(
    store: Store,
    extractor: EntityExtractor,
    facts: Sequence[Fact],
    *,
    tally: Tally,
    progress: Progress,
) -> Mapping[str, tuple[Mention, ...]]:
    """Mentions of each fact, from the cache or the extractor: fact id to mentions."""
    texts = {fact.content_hash: fact.text for fact in facts}
    known = store.mentions(texts.keys(), extractor.identity)
    missing = sorted(texts.keys() - known.keys())
    tally.cached = len(texts) - len(missing)
    for part in in_chunks(missing, CHUNK, "entities", progress):
        found = extractor.extract([texts[key] for key in part])
        fresh = {key: tuple(mentions) for key, mentions in zip(part, found, strict=True)}
        store.save_mentions(fresh, extractor.identity)
        known.update(fresh)
        tally.model_calls += len(part)
    return {fact.id: known[fact.content_hash] for fact in facts}
