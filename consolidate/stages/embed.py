"""Turns texts into vectors, each text once.

Knows the store only through its cache: what has a vector under (text hash, model) is not asked
again. Model work happens outside of any transaction; vectors are saved in small ones.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

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

    Returns:
        Shape (len(facts), dimensions), rows of unit length, in the order of `facts`.

    Raises:
        ModelMismatchError: The store holds vectors of another model.
    """
    store.check_embedding_model(embedder.identity, embedder.dimensions)
    texts = {fact.content_hash: fact.text for fact in facts}
    known = store.vectors(texts.keys(), embedder.identity)
    missing = sorted(texts.keys() - known.keys())
    tally.cached = len(texts) - len(missing)
    for part in in_chunks(missing, CHUNK, "embed", progress):
        vectors = embedder.embed([texts[key] for key in part])
        fresh = dict(zip(part, vectors, strict=True))
        store.save_vectors(fresh, embedder.identity, embedder.dimensions)
        known.update(fresh)
        tally.model_calls += len(part)
    if not facts:
        return np.zeros((0, embedder.dimensions), dtype=np.float32)
    return np.stack([known[fact.content_hash] for fact in facts])
