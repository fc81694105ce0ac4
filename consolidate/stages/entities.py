"""Finds what each text names, each text once.

Knows the store only through its cache, keyed by (text hash, extractor identity).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consolidate.judge.declared import declared_in
from consolidate.protocols import EntityExtractor
from consolidate.stages.work import Progress, Tally, in_chunks
from consolidate.store import Store
from consolidate.types import Fact, Mention

__all__ = ["entities", "named_by"]

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
    # An extractor may tell a text it could not read (None) from one that names nothing. The first
    # is asked about again in the next run, up to three times.
    attempt = getattr(extractor, "attempt", extractor.extract)
    tally.cached = len(texts) - len(missing)
    hopeless = store.given_up([(key,) for key in missing], extractor.identity)
    known.update({key: () for (key, *_) in hopeless})
    missing = [key for key in missing if key not in known]
    tally.passed_over(len(hopeless))
    for part in in_chunks(missing, getattr(extractor, "chunk", CHUNK), "entities", progress):
        found = attempt([texts[key] for key in part])
        answers = dict(zip(part, found, strict=True))
        fresh = {key: tuple(m) for key, m in answers.items() if m is not None}
        store.save_mentions(fresh, extractor.identity)
        known.update(dict.fromkeys(part, ()) | fresh)
        tally.model_calls += len(part)
        tally.failed(store, [(key,) for key in part if key not in fresh], extractor.identity)
    return {fact.id: named_by(fact, known[fact.content_hash]) for fact in facts}


def named_by(fact: Fact, found: Sequence[Mention]) -> tuple[Mention, ...]:
    """What a fact names, given what an extractor found in its text.

    A declared edge names its two ends, whatever an extractor makes of it.
    """
    edge = declared_in(fact)
    if edge is None:
        return tuple(found)
    labels = {
        (mention.start, mention.end): mention.label
        for mention in found
        if mention.label not in ("version", "date")  # which name no entity
    }
    return tuple(
        Mention(
            start=start, end=end, text=fact.text[start:end], label=labels.get((start, end), "name")
        )
        for start, end in (edge.subject, edge.object)
    )
