"""Vectors from a server's embedding model."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.backends.llm.limits import CeilingReached, Usage
from consolidate.backends.llm.prompts import sound
from consolidate.backends.llm.served import CallFailed, Reply, ServedModel
from consolidate.errors import ModelOutputError

__all__ = ["LlmEmbedder"]

# Part of the identity: raise it when the same answers would give other vectors.
_VERSION: Final = 1
_BATCH: Final = 32
# Texts shorter than this that are "too long" are refused for another reason.
_SHORTEST: Final = 64

Vector = npt.NDArray[np.float32]


class LlmEmbedder:
    """See `consolidate.protocols.Embedder`.

    A text that the server calls too long is cut in halves, until they fit, and gets the mean of
    their vectors; nothing is dropped. A server may give slightly different numbers for a text from
    call to call; the store keeps the first vector of a text under `identity`.

    Args:
        model: Who is asked.

    Attributes:
        usage: What was asked so far.
    """

    def __init__(self, model: ServedModel) -> None:
        self.model = model
        self._lock = threading.Lock()
        self._dimensions: int | None = None

    @property
    def usage(self) -> Usage:
        """What was asked so far."""
        return self.model.usage

    @property
    def identity(self) -> str:
        """Model and version."""
        return f"{self.model.identity}/vectors-{_VERSION}"

    @property
    def dimensions(self) -> int:
        """Length of each vector; the server is asked for one to find out.

        Raises:
            ModelOutputError: It gave none.
            BackendError: It can't be asked.
        """
        with self._lock:
            if self._dimensions is None:
                self._dimensions = len(self._vectors(["dimensions"])[0])
            return self._dimensions

    @property
    def chunk(self) -> int:
        """Texts that are sent at a time; what is answered should be saved after each."""
        return _BATCH * self.model.concurrency

    def begin_run(self) -> None:
        """A run begins: what it may cost is counted anew."""
        self.model.begin_run()

    def close(self) -> None:
        """Close all connections."""
        self.model.close()

    def embed(self, texts: Sequence[str]) -> Vector:
        """See `consolidate.protocols.Embedder`.

        Raises:
            ModelOutputError: Also if the server fails or the run may cost no more.
            BackendError: Nothing can be asked: no server, a refused key, an unknown model.
        """
        size = self.dimensions if texts else self._dimensions or 0
        wanted = list(dict.fromkeys(sound(text) if text.strip() else "(empty)" for text in texts))
        parts = [wanted[start : start + _BATCH] for start in range(0, len(wanted), _BATCH)]
        rows = [row for part in self.model.each(self._vectors, parts) for row in part]
        known = dict(zip(wanted, rows, strict=True))
        vectors = np.zeros((len(texts), size), dtype=np.float32)
        for index, text in enumerate(texts):
            row = known[sound(text) if text.strip() else "(empty)"]
            if len(row) != size:
                raise ModelOutputError(
                    f"{self.identity} gave a vector of {len(row)} numbers after ones of {size}"
                )
            vectors[index] = row
        return vectors

    def _vectors(self, texts: Sequence[str]) -> list[Vector]:
        try:
            reply = self._ask(texts)
        except CallFailed as failure:
            if not failure.too_long:
                self.model.usage.add(failures=len(texts))
                raise self._none(failure.reason) from failure
        else:
            return [self._unit(row, text) for row, text in zip(reply.vectors, texts, strict=True)]
        if len(texts) > 1:
            return [self._vectors([text])[0] for text in texts]
        text = texts[0]
        if len(text) < _SHORTEST:
            raise self._none(f"the server calls {text!r} too long")
        middle = len(text) // 2
        space = text.rfind(" ", middle // 2, middle + 1)
        middle = space + 1 if space > 0 else middle
        halves = self._vectors([text[:middle]]) + self._vectors([text[middle:]])
        weights = (middle, len(text) - middle)
        return [self._unit(halves[0] * weights[0] + halves[1] * weights[1], text)]

    def _ask(self, texts: Sequence[str]) -> Reply:
        try:
            reply = self.model.embed(texts)
        except CeilingReached as reached:
            raise self._none(str(reached)) from reached
        if len(reply.vectors) != len(texts):
            raise self._none(f"{len(reply.vectors)} vectors for {len(texts)} texts")
        return reply

    def _unit(self, row: Sequence[float] | Vector, text: str) -> Vector:
        shown = repr(text if len(text) <= 60 else text[:57] + "...")
        try:
            wide = np.asarray(row, dtype=np.float64)
        except (TypeError, ValueError):
            raise self._none(f"no list of numbers for {shown}") from None
        with np.errstate(over="ignore"):  # an infinite length is refused just below
            length = float(np.sqrt(np.square(wide).sum()))
        if wide.ndim != 1 or not np.isfinite(length) or length == 0.0:
            raise self._none(f"an unusable vector for {shown}: length {length}")
        unit: Vector = (wide / length).astype(np.float32)
        return unit

    def _none(self, reason: str) -> ModelOutputError:
        return ModelOutputError(f"{self.identity} gave no vectors: {reason}")
