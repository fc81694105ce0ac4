"""Turns texts into vectors, each text once.

Knows the store only through its cache: what has a vector under (text hash, model) is not asked
again. Model work happens outside of any transaction; vectors are saved in small ones.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import numpy.typing as npt

from consolidate.errors import ModelOutputError
from consolidate.protocols import Embedder
from consolidate.stages.work import Progress, Tally, in_chunks
from consolidate.store import Store
from consolidate.types import Fact

__all__ = ["embed"]

CHUNK = 256


def embed(
    store: Store, embedder: Embedder, facts: Sequence[Fact], *, tally: Tally, progress: Progress
) -> npt.NDArray[np.float32]:
    """Vectors of facts, from the cache or the model.

    A text that the model can't embed is counted as a failure and tried again in the next run, up
    to three times; it must not stop the others.

    Returns:
        Shape (len(facts), dimensions), rows of unit length, in the order of `facts`; a row of
        zeros, near to nothing, for a text that failed.

    Raises:
        ModelMismatchError: The store holds vectors of another model.
    """
    store.check_embedding_model(embedder.identity, embedder.dimensions)
    texts = {fact.content_hash: fact.text for fact in facts}
    known = store.vectors(texts.keys(), embedder.identity)
    missing = sorted(texts.keys() - known.keys())
    tally.cached = len(texts) - len(missing)
    hopeless = store.given_up([(key,) for key in missing], embedder.identity)
    missing = [key for key in missing if (key,) not in hopeless]
    tally.passed_over(len(hopeless))
    for part in in_chunks(missing, getattr(embedder, "chunk", CHUNK), "embed", progress):
        fresh = _embed(embedder, {key: texts[key] for key in part})
        store.save_vectors(fresh, embedder.identity, embedder.dimensions)
        tally.failed(store, [(key,) for key in part if key not in fresh], embedder.identity)
        known.update(fresh)
        tally.model_calls += len(part)
    if not facts:
        return np.zeros((0, embedder.dimensions), dtype=np.float32)
    nothing = np.zeros(embedder.dimensions, dtype=np.float32)
    return np.stack([known.get(fact.content_hash, nothing) for fact in facts])


def _embed(embedder: Embedder, texts: Mapping[str, str]) -> dict[str, npt.NDArray[np.float32]]:
    """Embed a chunk; where that fails, one by one, leaving out what fails by itself."""
    try:
        return dict(zip(texts, embedder.embed(list(texts.values())), strict=True))
    except ModelOutputError:
        if len(texts) == 1:
            return {}
    found = {}
    for key, text in texts.items():
        found.update(_embed(embedder, {key: text}))
    return found
