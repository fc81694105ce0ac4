"""Sentence vectors from an ONNX encoder: tokenise, run, pool, cut to size, normalise.

How is the model's own matter, see `consolidate.backends.recipe`. Pooling and norm are made here, a
text at a time and in a fixed order, and not in the graph, where the order of a sum may change with
the number of texts. A text longer than the model reads is cut into windows of about equal length,
and its vector is the mean of theirs, weighted by their tokens: nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.backends.files import ModelFiles
from consolidate.backends.onnx import Output
from consolidate.backends.onnx_head import OnnxHead, Running
from consolidate.backends.providers import CPU
from consolidate.backends.recipe import Recipe, recipe_of, split_size
from consolidate.backends.tokens import Tokens, Window
from consolidate.errors import ModelFilesError, ModelOutputError

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["OnnxEmbedder", "embedder"]

# Part of the identity: raise it when the same files would give other vectors.
_REVISION: Final = 2
_POOLED: Final = "sentence_embedding"

Vector = npt.NDArray[np.float32]


def embedder(model: str, options: Options) -> OnnxEmbedder:
    """For the resolver: `onnx:minilm`, `onnx:/path/to/folder`, `onnx:NAME@256`."""
    return OnnxEmbedder.load(model, threads=options.threads, providers=options.providers)


class OnnxEmbedder:
    """An encoder in ONNX; make one with `load`.

    Args:
        files: The folder.
        dimensions: How many numbers of each vector to keep; None keeps all.
        threads: See `consolidate.backends.onnx_head.Running`, as the rest.
        providers: What computes.
        session: For tests.
        share_runs: Whether texts of equal length may share a run.
    """

    def __init__(
        self,
        files: ModelFiles,
        *,
        dimensions: int | None = None,
        threads: int = 0,
        providers: str = CPU,
        session: Any = None,
        share_runs: bool = True,
    ) -> None:
        self.recipe = recipe_of(files, dimensions=dimensions)
        self._head = OnnxHead(
            files,
            rows=1,
            most=self.recipe.most,
            choose=self._choose,
            running=Running(threads, providers, share_runs, session),
            mark=f".{_REVISION}{_shown(self.recipe)}",
        )

    @classmethod
    def load(cls, model: str, *, threads: int = 0, providers: str = CPU) -> OnnxEmbedder:
        """Check the files of a bundled model or a folder; the session is made at first use.

        Args:
            model: A name, a folder, or a graph in a folder; `@N` behind it keeps the first N
                numbers of each vector, for models that were trained for that (Matryoshka).
            threads: See `consolidate.backends.onnx_head.Running`.
            providers: What computes.

        Raises:
            ModelFilesError: The files are missing, cut or not an encoder's.
            MissingExtraError: The package with the bundled weights is not installed.
        """
        name, dimensions = split_size(model)
        files = ModelFiles.find(name, task="feature-extraction")
        return cls(files, dimensions=dimensions, threads=threads, providers=providers)

    @property
    def identity(self) -> str:
        """Model, digest of its files, and whatever else changes a vector.

        Equal files have equal identities anywhere.
        """
        return self._head.identity

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self.recipe.dimensions

    @property
    def files(self) -> ModelFiles:
        """The files it was made from."""
        return self._head.files

    @property
    def shares_runs(self) -> bool:
        """Whether texts of equal length share runs of the graph; makes the session."""
        return self._head.model.shares_runs

    def embed(self, texts: Sequence[str]) -> Vector:
        """See `consolidate.protocols.Embedder`."""
        return self._embed(texts, self.recipe.document)

    def embed_queries(self, texts: Sequence[str]) -> Vector:
        """Embed questions, with what the model wants before one; see `embed_queries` there."""
        return self._embed(texts, self.recipe.query)

    def windows(self, text: str) -> list[Window]:
        """What the model reads of a text that is stored, prefix included."""
        return self._windows(self._head.tokens(), text, self.recipe.document)

    def _embed(self, texts: Sequence[str], prefix: str) -> Vector:
        vectors = np.zeros((len(texts), self.dimensions), dtype=np.float32)
        if not texts:
            return vectors
        tokens = self._head.tokens()
        made = [self._windows(tokens, text, prefix) for text in texts]
        skipped = 0
        if prefix and not self.recipe.pool_prefix:
            skipped = made[0][0].skipped  # the same for all: special tokens and the prefix
        answers = iter(
            self._head.model.run(
                [window.item for windows in made for window in windows],
                lambda answer: self._pool(answer, skipped),
            )
        )
        for index, (text, windows) in enumerate(zip(texts, made, strict=True)):
            parts = [self._unit(next(answers), text) for _ in windows]
            whole = parts[0]
            if len(parts) > 1:
                weighted = zip(parts, windows, strict=True)
                whole = self._unit(sum(part * window.tokens for part, window in weighted), text)
            vectors[index] = self._cut(whole, text)
        return vectors

    def _windows(self, tokens: Tokens, text: str, prefix: str) -> list[Window]:
        return tokens.windows(text.lower() if self.recipe.lower else text, prefix=prefix)

    def _pool(self, answer: npt.NDArray[Any], skipped: int) -> npt.NDArray[Any]:
        hidden = answer[0]
        if hidden.ndim == 1:
            return np.copy(hidden)
        if self.recipe.pooling == "cls":
            return np.copy(hidden[0])
        if self.recipe.pooling == "last":
            return np.copy(hidden[-1])
        # A sum and not a mean: only the direction is kept.
        total: npt.NDArray[Any] = hidden[skipped:].sum(axis=0)
        return total

    def _cut(self, vector: Vector, text: str) -> Vector:
        if self.dimensions == self.recipe.width:
            return vector
        wide = vector - vector.mean() if self.recipe.centred else vector
        return self._unit(wide[: self.dimensions], text, size=self.dimensions)

    def _unit(self, vector: Any, text: str, *, size: int | None = None) -> Vector:
        if isinstance(vector, Exception):
            raise ModelOutputError(
                f"{self.identity} gave no vector for {_shortened(text)}: {vector}"
            ) from vector
        wide = np.asarray(vector, dtype=np.float64)
        length = float(np.sqrt(np.square(wide).sum()))
        if wide.shape != (size or self.recipe.width,) or not np.isfinite(length) or length == 0.0:
            raise ModelOutputError(
                f"{self.identity} gave an unusable vector for {_shortened(text)}: shape "
                f"{wide.shape}, length {length}"
            )
        unit: Vector = (wide / length).astype(np.float32)
        return unit

    def _choose(self, outputs: Sequence[Output]) -> Output:
        # Hidden states first: what a graph pooled itself may depend on its company.
        for output in sorted(outputs, key=lambda output: output.name == _POOLED):
            if output.name == _POOLED or (len(output.shape) == 3 and output.name != "logits"):
                if output.shape[-1] not in (None, self.recipe.width):
                    raise ModelFilesError(
                        f"the graph in {str(self.files.folder)!r} is not that of its config.json: "
                        f"expected vectors of {self.recipe.width}, found {output.shape[-1]}"
                    )
                return output
        found = ", ".join(f"{output.name} {output.shape}" for output in outputs)
        raise ModelFilesError(
            f"the graph in {str(self.files.folder)!r} is no encoder: expected an output "
            f"{_POOLED} (texts, size) or hidden states (texts, tokens, size), found {found}"
        )


def _shown(recipe: Recipe) -> str:
    """What of a recipe goes into the identity: the files' digest says all but size and prefixes."""
    size = f"/{recipe.dimensions}" if recipe.dimensions < recipe.width else ""
    prefixes = f"/{recipe.mark()}" if recipe.query or recipe.document else ""
    return size + prefixes


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
