"""Which stored facts a new one is to be judged against: a few, found three ways.

By vector (nearest of the live and superseded ones), by words (the rare ones of the text), by name
(others that mention what it mentions). What is found is read as a part of a snapshot, and the
pipeline's own stages choose pairs among it.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.judge.reading import word_set
from consolidate.names import name_key
from consolidate.stages.pairs import nearest
from consolidate.store import Store
from consolidate.types import Fact, Mention

__all__ = ["Shelf", "by_words", "names_of"]

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


class Shelf:
    """The vectors of one agent's facts, read once and kept up to date by what was added since.

    Safe to use from several threads. A fact that has gone since is still found here; who reads it
    finds that it is gone.
    """

    def __init__(self, store: Store, agent: str) -> None:
        self._store = store
        self._agent = agent
        self._lock = threading.Lock()
        self._clear("")

    def _clear(self, model: str) -> None:
        self._model = model
        self._ids: list[str] = []
        self._blocks: list[Vectors] = []
        self._upto = 0
        self._lacking: dict[str, str] = {}

    def closest(self, vectors: Vectors, model: str, *, count: int, floor: float) -> list[list[str]]:
        """For each row the ids of the nearest facts above the floor, best first."""
        with self._lock:
            self._refresh(model)
            base, ids = self._all(), list(self._ids)
        if not ids or not len(vectors):
            return [[] for _ in vectors]
        found, products = nearest(vectors, base, count)
        return [
            [ids[column] for column, product in zip(columns, row, strict=True) if product >= floor]
            for columns, row in zip(found, products, strict=True)
        ]

    def _refresh(self, model: str) -> None:
        if model != self._model:
            self._clear(model)
        if self._lacking:  # added without a vector and perhaps embedded by a run since
            known = self._store.vectors(set(self._lacking.values()), model)
            here = [fact for fact, text in self._lacking.items() if text in known]
            self._put(here, [known[self._lacking.pop(fact)] for fact in here])
        ids, matrix, upto, lacking = self._store.vectors_since(self._agent, self._upto, model)
        self._put(ids, list(matrix))
        self._upto = upto
        self._lacking |= lacking

    def _put(self, ids: Sequence[str], rows: Sequence[Vectors]) -> None:
        if ids:
            self._ids += ids
            self._blocks.append(np.stack(rows))

    def _all(self) -> Vectors:
        if len(self._blocks) > 1:
            self._blocks = [np.concatenate(self._blocks)]
        return self._blocks[0] if self._blocks else np.zeros((0, 0), dtype=np.float32)


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
