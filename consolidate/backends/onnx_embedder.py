"""Sentence vectors from an ONNX encoder: tokenise, run, pool, normalise.

Pooling and norm are made here, a text at a time and in a fixed order, and not in the graph, where
the order of a sum may change with the number of texts. A text longer than the model reads is cut
into windows of about equal length, and its vector is the mean of theirs: nothing is dropped.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.backends.files import ModelFiles, read_json
from consolidate.backends.onnx import OnnxModel, Output
from consolidate.backends.tokens import Tokens
from consolidate.errors import ModelFilesError, ModelOutputError

if TYPE_CHECKING:
    from consolidate.backends import Options

__all__ = ["OnnxEmbedder", "embedder"]

# Part of the identity: raise it when the same files would give other vectors.
_REVISION: Final = 1
_POOLED: Final = "sentence_embedding"

Vector = npt.NDArray[np.float32]


def embedder(model: str, options: Options) -> OnnxEmbedder:
    """For the resolver: `onnx:minilm`, or `onnx:/path/to/folder`."""
    return OnnxEmbedder.load(model, threads=options.threads)


class OnnxEmbedder:
    """An encoder in ONNX; make one with `load`."""

    def __init__(
        self, files: ModelFiles, *, threads: int = 0, session: Any = None, share_runs: bool = True
    ) -> None:
        self._files = files
        self._pooling = _pooling(files)
        self._most = _max_tokens(files)
        width = files.setting("dimensions") or files.config.get("hidden_size")
        if not isinstance(width, int) or width < 1:
            raise ModelFilesError(
                f"config.json in {str(files.folder)!r}: expected hidden_size, the length of a "
                f"vector, found {width!r}"
            )
        self._dimensions = width
        self._model = OnnxModel(
            files,
            rows=1,
            threads=threads,
            choose=self._choose,
            session=session,
            share_runs=share_runs,
        )
        self._tokens: Tokens | None = None
        self._lock = threading.Lock()

    @classmethod
    def load(cls, model: str, *, threads: int = 0) -> OnnxEmbedder:
        """Check the files of a bundled model or a folder; the session is made at first use.

        Raises:
            ModelFilesError: The files are missing, cut or not an encoder's.
            MissingExtraError: The package with the bundled weights is not installed.
        """
        return cls(ModelFiles.find(model, task="feature-extraction"), threads=threads)

    @property
    def identity(self) -> str:
        """Model name and digest of its files: equal files have equal identities anywhere."""
        return f"onnx:{self._files.name}@{self._files.digest[:12]}.{_REVISION}"

    @property
    def dimensions(self) -> int:
        """Length of each vector."""
        return self._dimensions

    @property
    def files(self) -> ModelFiles:
        """The files it was made from."""
        return self._files

    @property
    def shares_runs(self) -> bool:
        """Whether texts of equal length share runs of the graph; makes the session."""
        return self._model.shares_runs

    def embed(self, texts: Sequence[str]) -> Vector:
        """See `consolidate.protocols.Embedder`."""
        vectors = np.zeros((len(texts), self._dimensions), dtype=np.float32)
        if not texts:
            return vectors
        tokens = self._tokenizer()
        windows = [tokens.windows(text) for text in texts]
        answers = iter(self._model.run([item for items in windows for item in items], self._pool))
        for index, (text, items) in enumerate(zip(texts, windows, strict=True)):
            parts = [self._unit(next(answers), text) for _ in items]
            vectors[index] = parts[0] if len(parts) == 1 else self._unit(sum(parts), text)
        return vectors

    def _pool(self, answer: npt.NDArray[Any]) -> npt.NDArray[Any]:
        hidden = answer[0]
        if hidden.ndim == 1:
            return np.copy(hidden)
        # A sum and not a mean: only the direction is kept.
        return np.copy(hidden[0]) if self._pooling == "cls" else hidden.sum(axis=0)

    def _unit(self, vector: Any, text: str) -> Vector:
        if isinstance(vector, Exception):
            raise ModelOutputError(
                f"{self.identity} gave no vector for {_shortened(text)}: {vector}"
            ) from vector
        wide = np.asarray(vector, dtype=np.float64)
        length = float(np.sqrt(np.square(wide).sum()))
        if wide.shape != (self._dimensions,) or not np.isfinite(length) or length == 0.0:
            raise ModelOutputError(
                f"{self.identity} gave an unusable vector for {_shortened(text)}: shape "
                f"{wide.shape}, length {length}"
            )
        unit: Vector = (wide / length).astype(np.float32)
        return unit

    def _tokenizer(self) -> Tokens:
        with self._lock:
            if self._tokens is None:
                self._tokens = Tokens(self._files, most=self._most)
            return self._tokens

    def _choose(self, outputs: Sequence[Output]) -> Output:
        for output in outputs:
            if output.name == _POOLED or (len(output.shape) == 3 and output.name != "logits"):
                if output.shape[-1] not in (None, self._dimensions):
                    raise ModelFilesError(
                        f"the graph in {str(self._files.folder)!r} is not that of its config.json: "
                        f"expected vectors of {self._dimensions}, found {output.shape[-1]}"
                    )
                return output
        found = ", ".join(f"{output.name} {output.shape}" for output in outputs)
        raise ModelFilesError(
            f"the graph in {str(self._files.folder)!r} is no encoder: expected an output "
            f"{_POOLED} (texts, size) or hidden states (texts, tokens, size), found {found}"
        )


def _max_tokens(files: ModelFiles) -> int:
    beside = files.folder / "sentence_bert_config.json"
    stated = read_json(beside).get("max_seq_length") if beside.is_file() else None
    for value in (files.setting("max_tokens"), stated, files.config.get("max_position_embeddings")):
        if isinstance(value, int) and value > 0:
            return min(value, 512)
    return 256


def _pooling(files: ModelFiles) -> str:
    beside = files.folder / "1_Pooling" / "config.json"
    value = files.setting("pooling")
    if value is None and beside.is_file():
        modes = {
            k for k, v in read_json(beside).items() if k.startswith("pooling_mode") and v is True
        }
        names = {"pooling_mode_mean_tokens": "mean", "pooling_mode_cls_token": "cls"}
        value = names.get(modes.pop(), "another") if len(modes) == 1 else f"{len(modes)} modes"
    if value not in (None, "mean", "cls"):
        raise ModelFilesError(
            f"{str(files.folder)!r} pools in a way not supported here: expected mean or cls, found "
            f"{value!r}"
        )
    return value or "mean"


def _shortened(text: str) -> str:
    return repr(text if len(text) <= 60 else text[:57] + "...")
