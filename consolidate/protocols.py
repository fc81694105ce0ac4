"""What a model must offer to be used here. Implement one of these and name it in an entry point.

All are batch-first: items in, results out, same length, same order. A result depends on its own
item alone, never on what else is in the batch, since results are cached under
(text hash, `identity`). `identity` names model and revision; two objects with equal identity give
equal results.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Protocol, runtime_checkable

import numpy as np
import numpy.typing as npt

from consolidate.types import Completion, Mention, Prompt, Verdict

__all__ = [
    "ContradictionClassifier",
    "Embedder",
    "EntityExtractor",
    "LanguageModel",
    "embed_queries",
]


@runtime_checkable
class Embedder(Protocol):
    """Turns texts into vectors."""

    @property
    def identity(self) -> str:
        """Model and revision, e.g. `onnx:all-MiniLM-L6-v2@3f9c2a71`."""

    @property
    def dimensions(self) -> int:
        """Length of each vector."""

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        """Embed texts that are stored.

        A model that wants questions put in another way has a method `embed_queries` of the same
        form; see the function of this name.

        Returns:
            Shape (len(texts), dimensions), float32, rows of unit length.

        Raises:
            ModelOutputError: A vector is not finite or has no length.
        """


@runtime_checkable
class EntityExtractor(Protocol):
    """Finds the spans of a text that name people, places, things, code."""

    @property
    def identity(self) -> str:
        """Model and revision, e.g. `rules@2`."""

    def extract(self, texts: Sequence[str]) -> list[list[Mention]]:
        """Find mentions.

        Returns:
            For each text its mentions, sorted by start, not overlapping; offsets in code points,
            `text[m.start:m.end] == m.text`.
        """


@runtime_checkable
class ContradictionClassifier(Protocol):
    """Says of two texts whether one entails, contradicts or is neutral to the other."""

    @property
    def identity(self) -> str:
        """Model and revision, e.g. `onnx:judge@91b0c4de`."""

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        """Judge pairs (left, right) in both directions.

        Returns:
            One verdict a pair, probabilities as the model gave them, no threshold. A pair that
            can't be judged has `failure` set and no scores; it never raises for a single item.
        """


@runtime_checkable
class LanguageModel(Protocol):
    """Answers prompts with JSON. `consolidate.backends.llm` makes the roles above out of one.

    The one exception to equal results for equal identities: asked twice, a language model may
    answer differently. Callers keep the first answer.
    """

    @property
    def identity(self) -> str:
        """Model, and endpoint if it is not the usual one, e.g. `ollama:qwen3:4b`. Never a key."""

    def complete(self, prompts: Sequence[Prompt], schema: Mapping[str, Any]) -> list[Completion]:
        """Answer prompts, each by itself.

        Returns:
            One completion a prompt: a value that fits the JSON schema, or `failure`. Text around
            JSON, cut JSON and near misses are failures; nothing is guessed.

        Raises:
            BackendError: No prompt can be answered (no server, refused key, unknown model).
        """


def embed_queries(embedder: Embedder, texts: Sequence[str]) -> npt.NDArray[np.float32]:
    """Embed questions, to be compared with vectors of stored texts.

    By the embedder's own `embed_queries` if it has one, else as any text.

    Returns:
        As `Embedder.embed`.
    """
    own = getattr(embedder, "embed_queries", None)
    vectors: npt.NDArray[np.float32] = embedder.embed(texts) if own is None else own(texts)
    return vectors
