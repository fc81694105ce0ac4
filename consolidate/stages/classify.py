"""Asks the classifier about pairs, each pair of texts once in its life.

Knows the store only through its cache, keyed by (both text hashes, classifier identity). Verdicts
are kept raw; no threshold is applied here. A pair that fails is a value, counted and asked again
in the next run, up to three times.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from consolidate.protocols import ContradictionClassifier
from consolidate.stages.work import Progress, Tally, in_chunks
from consolidate.store import Store
from consolidate.types import Fact, Pair, Verdict

__all__ = ["classify"]

CHUNK = 128


def classify(
    store: Store,
    classifier: ContradictionClassifier,
    pairs: Sequence[Pair],
    facts: Mapping[str, Fact],
    *,
    budget: int,
    tally: Tally,
    progress: Progress,
) -> Mapping[tuple[str, str], Verdict]:
    """Verdicts of pairs by (left, right), forward = left as premise.

    Args:
        store: Holds the cache.
        classifier: The model.
        pairs: Pairs to judge.
        facts: Facts by id.
        budget: At most this many pairs go to the model, the most similar first; 0 is no limit.
            What is left over is counted under `cut` and stands first in the next run, since the
            ones judged now are cached then.
        tally: Counts.
        progress: Told after each chunk.
    """
    keys = {(pair.left, pair.right): _key(facts[pair.left], facts[pair.right]) for pair in pairs}
    known = store.verdicts(set(keys.values()), classifier.identity)
    open_pairs = [pair for pair in pairs if keys[pair.left, pair.right] not in known]
    tally.cached = len(pairs) - len(open_pairs)
    hopeless = store.given_up({keys[p.left, p.right] for p in open_pairs}, classifier.identity)
    for key in hopeless:
        known[key] = Verdict(
            forward=None, backward=None, model=classifier.identity, failure="it failed before"
        )
    tally.passed_over(len(hopeless))
    open_pairs = [pair for pair in open_pairs if keys[pair.left, pair.right] not in known]
    open_pairs.sort(key=lambda p: (-p.similarity, p.left, p.right))
    if budget and len(open_pairs) > budget:
        tally.detail["cut"] = len(open_pairs) - budget
        open_pairs = open_pairs[:budget]
    texts = {fact.content_hash: fact.text for fact in facts.values()}
    # Two pairs may hold the same two texts; sorted so that progress and cache fill in one order
    todo = list(dict.fromkeys(keys[pair.left, pair.right] for pair in open_pairs))
    for part in in_chunks(todo, getattr(classifier, "chunk", CHUNK), "classify", progress):
        verdicts = classifier.classify([(texts[a], texts[b]) for a, b in part])
        fresh = dict(zip(part, verdicts, strict=True))
        tally.failed(
            store, [key for key, v in fresh.items() if v.failure is not None], classifier.identity
        )
        tally.model_calls += len(part)
        store.save_verdicts(
            {key: v for key, v in fresh.items() if v.failure is None}, classifier.identity
        )
        known.update(fresh)
    return {
        (pair.left, pair.right): _turned(known[key], facts[pair.left], key)
        for pair in pairs
        if (key := keys[pair.left, pair.right]) in known
    }


def _key(left: Fact, right: Fact) -> tuple[str, str]:
    a, b = sorted((left.content_hash, right.content_hash))
    return a, b


def _turned(verdict: Verdict, left: Fact, key: tuple[str, str]) -> Verdict:
    """The verdict with `forward` from the left fact, whichever hash is smaller."""
    if left.content_hash == key[0]:
        return verdict
    return replace(verdict, forward=verdict.backward, backward=verdict.forward)
