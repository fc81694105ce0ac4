"""Which stored facts a new one is to be judged against: a few, found three ways.

By vector (nearest of the live and superseded ones), by words (the rare ones of the text), by name
(others that mention what it mentions). What is found is read as a part of a snapshot, and the
pipeline's own stages choose pairs among it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.judge.reading import word_set
from consolidate.memory.index import MemoryIndex
from consolidate.names import name_key
from consolidate.store import Store
from consolidate.types import Fact, Mention

__all__ = ["by_meaning", "by_words", "names_of"]

Vectors = npt.NDArray[np.float32]

_BY_WORDS: Final = 12
_BY_NAME: Final = 24
"""As many as `hub_size` has by default: a name in more facts than this tells little."""
_WORDS_ASKED: Final = 8
_SMALL_WORDS: Final = frozenset(
    "user that this with from have been were will would could should about into over after before "
    "their there they them then than when what which where while because does doesn only also very "
    "just like more most some such each other your yours mine ours currently really usually".split()
)


def by_meaning(
    index: MemoryIndex, vectors: Vectors, model: str, *, count: int, floor: float
) -> set[str]:
    """Ids of the facts nearest to some vectors; live and superseded ones, above the floor.

    Args:
        index: The memory's index.
        vectors: Shape (new facts, dimensions).
        model: Identity of their embedder.
        count: At most so many for each of them.
        floor: Cosine that another must have at least.
    """
    found: set[int] = set()
    with index.lock:
        index.refresh(model, vectors.shape[1])
        compared = index.compared()
        for vector in vectors:
            similar = np.where(compared, index.similarities(vector), -np.inf)
            found.update(index.best(similar, count, least=floor))
        return set(index.ids(found))


def by_words(store: Store, agent: str, fact: Fact, names: Iterable[str]) -> set[str]:
    """Ids of live facts that share rare words with a fact, or a name it mentions."""
    words = {w for w in word_set(fact.text) if len(w) > 3 and w not in _SMALL_WORDS}
    rare = sorted(words, key=lambda w: (-len(w), w))[:_WORDS_ASKED]
    found = store.search(" ".join(rare) or fact.text[:200], agent=agent, limit=_BY_WORDS)
    for name in sorted(names)[:_WORDS_ASKED]:
        found += store.search(name, agent=agent, limit=_BY_NAME)
    return {each.id for each in found}


def names_of(mentions: Mapping[str, Sequence[Mention]]) -> dict[str, set[str]]:
    """Keys of the names that each fact mentions; versions are values, not names."""
    return {
        fact: {key for m in found if m.label != "version" and (key := name_key(m.text))}
        for fact, found in mentions.items()
    }
