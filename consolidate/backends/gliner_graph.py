"""Runs GLiNER graphs, each text by itself: an answer never depends on what else is asked.

Inputs are fed by name, and a graph with others is refused. There are two heads: a span-level one,
which is told the spans to score, and a token-level one. This module knows no text and no label.
"""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Final, Literal

import numpy as np
import numpy.typing as npt

from consolidate.backends.files import ModelFiles
from consolidate.backends.gliner_rows import Window
from consolidate.backends.onnx import in_threads, loading, open_session, thread_count
from consolidate.backends.providers import CPU
from consolidate.errors import ConsolidateError, ModelFilesError, ModelOutputError

__all__ = ["GlinerGraph", "Head"]

Head = Literal["span", "token"]
Scores = npt.NDArray[Any]

_TEXT: Final = ("input_ids", "attention_mask", "words_mask", "text_lengths")
_SPANS: Final = ("span_idx", "span_mask")
_OUTPUT: Final = "logits"
_USUAL_WIDTH: Final = 12  # GLiNER's own default for `max_width`


class GlinerGraph:
    """A graph with its session, made at first use.

    Args:
        files: The folder.
        threads: See `consolidate.backends.onnx.thread_count`.
        session: A ready session, for tests; otherwise one is made from the files.
    """

    def __init__(
        self, files: ModelFiles, *, threads: int = 0, providers: str = CPU, session: Any = None
    ) -> None:
        self._files = files
        self._providers = providers
        self._threads = thread_count(threads)
        self._session = session
        self._lock = threading.Lock()
        self._head: Head | None = None
        width = files.config.get("max_width")
        self.width = width if isinstance(width, int) and width > 0 else _USUAL_WIDTH
        """Words of the widest span that a span-level head scores."""

    @property
    def head(self) -> Head:
        """What the graph scores; makes the session.

        Raises:
            ModelFilesError: The graph is no GLiNER's, or of a kind that is not known here.
        """
        with self._lock:
            if self._head is None:
                self._head = self._open()
            return self._head

    def run(self, windows: Sequence[Window], *, labels: int) -> list[Scores | Exception]:
        """Scores of each window, in order, or the error its run ended in.

        Returns:
            Span-level: shape (words, width, labels). Token-level: (words, labels, 3).
        """
        head = self.head
        answers: list[Scores | Exception] = [ModelOutputError("not run")] * len(windows)

        def work(index: int) -> None:
            try:
                answers[index] = self._scores(windows[index], head, labels)
            except ConsolidateError as error:
                answers[index] = error
            except Exception as error:
                answers[index] = ModelOutputError(f"the model failed: {error}")

        longest = sorted(range(len(windows)), key=lambda i: -windows[i].ids.shape[1])
        in_threads(work, longest, threads=self._threads)
        return answers

    def _scores(self, window: Window, head: Head, labels: int) -> Scores:
        words = len(window.places)
        feed: dict[str, npt.NDArray[Any]] = {
            "input_ids": window.ids,
            "attention_mask": np.ones_like(window.ids),
            "words_mask": window.words_mask,
            "text_lengths": np.array([[words]], dtype=np.int64),
        }
        if head == "span":
            feed["span_idx"], feed["span_mask"] = _spans(words, self.width)
        whole = np.asarray(self._session.run([_OUTPUT], feed)[0])
        if head == "span":
            expected: tuple[int, ...] = (words, self.width, labels)
        else:
            expected = (words, labels, 3)
            if whole.shape == (3, 1, words, labels):  # as older exports have it
                whole = np.moveaxis(whole, 0, -1)
        if whole.shape != (1, *expected):
            raise ModelOutputError(
                f"{str(self._files.folder)!r}: expected scores of shape {(1, *expected)} from a "
                f"{head}-level graph, found {whole.shape}"
            )
        if not np.isfinite(whole).all():
            raise ModelOutputError(f"{str(self._files.folder)!r}: the scores are not finite")
        return np.asarray(whole[0])

    def _open(self) -> Head:
        with loading(self._files):
            if self._session is None:
                self._session = open_session(self._files, providers=self._providers)
            inputs = {entry.name for entry in self._session.get_inputs()}
            outputs = {entry.name for entry in self._session.get_outputs()}
        if inputs == {*_TEXT, *_SPANS}:
            head: Head = "span"
        elif inputs == set(_TEXT):
            head = "token"
        else:
            missing = sorted({*_TEXT} - inputs)
            strange = sorted(inputs - {*_TEXT, *_SPANS})
            more = " (two encoders)" if any("labels" in name for name in strange) else ""
            raise ModelFilesError(
                f"the graph in {str(self._files.folder)!r} is no GLiNER that can be fed{more}: "
                f"expected the inputs {', '.join(_TEXT)} and, for a span-level head, "
                f"{', '.join(_SPANS)}; missing {', '.join(missing) or 'none'}, unknown "
                f"{', '.join(strange) or 'none'}"
            )
        if _OUTPUT not in outputs:
            raise ModelFilesError(
                f"the graph in {str(self._files.folder)!r} is no GLiNER: expected the output "
                f"{_OUTPUT}, found {', '.join(sorted(outputs)) or 'none'}"
            )
        return head


def _spans(words: int, width: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.bool_]]:
    """All spans of at most `width` words, and which of them end within the text."""
    first = np.repeat(np.arange(words, dtype=np.int64), width)
    last = first + np.tile(np.arange(width, dtype=np.int64), words)
    inside = last < words
    spans = np.stack([first, last], axis=1) * inside[:, None]
    return spans[None], inside[None]
