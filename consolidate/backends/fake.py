"""Deterministic stand-ins for the three models: no files, no learning, the same on any machine.

They are public so that other packages can test against them. Each counts what it was asked, and
each one's identity changes with what it was given, so caches behave as with real models.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final

import numpy as np
import numpy.typing as npt

from consolidate.settings import Thresholds
from consolidate.types import Mention, Relation, Scores, Verdict

if TYPE_CHECKING:
    from consolidate.backends import Backends, Options

__all__ = [
    "FakeClassifier",
    "FakeEmbedder",
    "FakeExtractor",
    "classifier",
    "embedder",
    "extractor",
    "fake_backends",
]

_WORD: Final = re.compile(r"\w+")
_CAPITALISED: Final = re.compile(r"\b[A-Z]\w+")
_NEGATIONS: Final = frozenset({"no", "not", "never", "longer", "stopped", "isn", "doesn", "don"})

_SURE: Final = 0.96
_REST: Final = 0.02
_ENTAILS: Final = Scores(entailment=_SURE, neutral=_REST, contradiction=_REST)
_NEUTRAL: Final = Scores(entailment=_REST, neutral=_SURE, contradiction=_REST)
_CONTRADICTS: Final = Scores(entailment=_REST, neutral=_REST, contradiction=_SURE)
_OF_RELATION: Final[Mapping[Relation, tuple[Scores, Scores]]] = {
    Relation.EQUIVALENT: (_ENTAILS, _ENTAILS),
    Relation.LEFT_ENTAILS_RIGHT: (_ENTAILS, _NEUTRAL),
    Relation.RIGHT_ENTAILS_LEFT: (_NEUTRAL, _ENTAILS),
    Relation.CONTRADICTS: (_CONTRADICTS, _CONTRADICTS),
    Relation.COMPATIBLE: (_NEUTRAL, _NEUTRAL),
}


def embedder(model: str, options: Options) -> FakeEmbedder:
    """For the resolver: `fake`, or `fake:128` for another number of dimensions."""
    return FakeEmbedder(dimensions=int(model or "64"))


def extractor(model: str, options: Options) -> FakeExtractor:
    """For the resolver: `fake`."""
    return FakeExtractor(known=options.known)


def classifier(model: str, options: Options) -> FakeClassifier:
    """For the resolver: `fake`."""
    return FakeClassifier()


def fake_backends(
    *,
    verdicts: Mapping[tuple[str, str], Relation | tuple[Scores, Scores] | None] | None = None,
    mentions: Mapping[str, Sequence[str]] | None = None,
) -> Backends:
    """The three fakes together, with tables for the classifier and the extractor."""
    from consolidate.backends import Backends

    return Backends(
        embedder=FakeEmbedder(),
        extractor=FakeExtractor(mentions),
        classifier=FakeClassifier(verdicts),
    )


class FakeEmbedder:
    """Bag of words, each word hashed to a direction; texts that share words are near.

    Attributes:
        calls: How often `embed` was called with at least one text.
        items: How many texts it was given in all.
    """

    def __init__(self, *, dimensions: int = 64, revision: str = "1") -> None:
        self.calls = 0
        self.items = 0
        self._dimensions = dimensions
        self._revision = revision

    @property
    def identity(self) -> str:
        """Changes with dimensions and revision."""
        return f"fake:bag-of-words-{self._dimensions}@{self._revision}"

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._dimensions

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """See `consolidate.protocols.Embedder`."""
        self.calls += bool(texts)
        self.items += len(texts)
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        for row, text in zip(vectors, texts, strict=True):
            for word, count in sorted(Counter(_words(text)).items()):
                digest = hashlib.blake2b(word.encode("utf-8", "replace"), digest_size=8).digest()
                number = int.from_bytes(digest, "big")
                row[number % self._dimensions] += count if number >> 63 else -count
            if not row.any():  # no words, or words that cancel out
                row[0] = 1.0
            row /= np.float32(np.sqrt(np.square(row, dtype=np.float64).sum()))
        return vectors


class FakeExtractor:
    """Names from a table, or every capitalised word.

    Attributes:
        calls: How often `extract` was called with at least one text.
        items: How many texts it was given in all.
    """

    def __init__(
        self, table: Mapping[str, Sequence[str]] | None = None, *, known: Iterable[str] = ()
    ) -> None:
        self.calls = 0
        self.items = 0
        self._table = dict(table or {})
        self._known = tuple(sorted(set(known)))

    @property
    def identity(self) -> str:
        """Changes with the table and the known names."""
        return "fake:capitals@" + _digest([sorted(self._table.items()), self._known])

    def knowing(self, names: Iterable[str]) -> FakeExtractor:
        """An extractor with the same table that also knows `names`."""
        return FakeExtractor(self._table, known=names)

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        """See `consolidate.protocols.EntityExtractor`."""
        self.calls += bool(texts)
        self.items += len(texts)
        return [self._mentions(text) for text in texts]

    def _mentions(self, text: str) -> list[Mention]:
        names = self._table.get(text)
        if names is None:
            spans = [match.span() for match in _CAPITALISED.finditer(text)]
            spans += [(text.find(name), text.find(name) + len(name)) for name in self._known]
        else:
            spans = [(text.find(name), text.find(name) + len(name)) for name in names]
        found: list[Mention] = []
        for start, end in sorted(set(spans), key=lambda span: (span[0], -span[1])):
            if start >= 0 and end > start and (not found or start >= found[-1].end):
                found.append(Mention(start=start, end=end, text=text[start:end], label="name"))
        return found


class FakeClassifier:
    """Verdicts from a table; for other pairs a simple comparison of words.

    By default equal words entail each other, a text whose words are all in the other is entailed
    by it, and two texts that share most words but differ in a negation or a number, or in one
    word each, contradict each other. All else is neutral.

    Args:
        table: (left, right) to a relation, to scores of both directions, or to None for a pair
            that the model fails on. It holds for (right, left) too, turned round.
        revision: Part of the identity.

    Attributes:
        calls: How often `classify` was called with at least one pair.
        items: How many pairs it was given in all.
    """

    def __init__(
        self,
        table: Mapping[tuple[str, str], Relation | tuple[Scores, Scores] | None] | None = None,
        *,
        revision: str = "1",
    ) -> None:
        self.calls = 0
        self.items = 0
        self._table = dict(table or {})
        listed = sorted((left, right, repr(entry)) for (left, right), entry in self._table.items())
        self._identity = f"fake:lexical-{revision}@" + _digest(listed)

    @property
    def thresholds(self) -> Thresholds:
        """From where on it is acted on: it says what it was told to, so nothing is measured."""
        return Thresholds(merge=0.9, supersede=0.9, review=0.6)

    @property
    def identity(self) -> str:
        """Changes with the table and the revision."""
        return self._identity

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """See `consolidate.protocols.ContradictionClassifier`."""
        self.calls += bool(pairs)
        self.items += len(pairs)
        return [self._verdict(left, right) for left, right in pairs]

    def _verdict(self, left: str, right: str) -> Verdict:
        turned = (left, right) not in self._table and (right, left) in self._table
        if turned:
            entry = self._table[right, left]
        elif (left, right) in self._table:
            entry = self._table[left, right]
        else:
            entry = _compare(left, right)
        if entry is None:
            return Verdict(forward=None, backward=None, model=self.identity, failure="told to fail")
        forward, backward = _OF_RELATION[entry] if isinstance(entry, Relation) else entry
        if turned:
            forward, backward = backward, forward
        return Verdict(forward=forward, backward=backward, model=self.identity)


def _compare(left: str, right: str) -> Relation:
    a, b = set(_words(left)), set(_words(right))
    if a == b:
        return Relation.EQUIVALENT
    only_a, only_b = a - b, b - a
    if (only_a | only_b) & _NEGATIONS and 2 * len(a & b) >= min(len(a), len(b)):
        return Relation.CONTRADICTS
    if not only_b:
        return Relation.LEFT_ENTAILS_RIGHT
    if not only_a:
        return Relation.RIGHT_ENTAILS_LEFT
    if len(only_a) == len(only_b) == 1 and len(a & b) >= 2:
        return Relation.CONTRADICTS
    return Relation.COMPATIBLE


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, default=str).encode()).hexdigest()[:8]
