"""What the adapters of ONNX models share: files, session, tokenizer, identity.

Session and tokenizer are made at first use.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from consolidate.backends.files import ModelFiles
from consolidate.backends.onnx import OnnxModel, Output
from consolidate.backends.providers import CPU, mark_of
from consolidate.backends.tokens import Tokens

__all__ = ["OnnxHead", "Running"]


class Running(NamedTuple):
    """How a graph is run; none of it changes what a model is."""

    threads: int = 0
    """See `consolidate.backends.onnx.thread_count`."""
    providers: str = CPU
    """See `consolidate.backends.providers.providers_of`."""
    share_runs: bool = True
    """Whether items of equal length may share a run where that is exact."""
    session: Any = None
    """A ready session, for tests; otherwise one is made from the files."""


class OnnxHead:
    """A graph with its tokenizer.

    Args:
        files: The folder.
        rows: Rows of every item: 1 for texts, 2 for pairs in both directions.
        most: Tokens of a row, at most.
        choose: Picks the output to read; see `OnnxModel`.
        running: How the graph is run.
        mark: What to add to the identity, which else names the files alone.
    """

    def __init__(
        self,
        files: ModelFiles,
        *,
        rows: int,
        most: int,
        choose: Callable[[Sequence[Output]], Output],
        running: Running,
        mark: str,
    ) -> None:
        self.files = files
        self.identity = f"onnx:{files.name}@{files.digest[:12]}{mark}{mark_of(running.providers)}"
        self.model = OnnxModel(
            files,
            rows=rows,
            threads=running.threads,
            choose=choose,
            session=running.session,
            share_runs=running.share_runs,
            providers=running.providers,
        )
        self._most = most
        self._tokens: Tokens | None = None
        self._lock = threading.Lock()

    def tokens(self, check: Callable[[Tokens], None] | None = None) -> Tokens:
        """The tokenizer; `check` is asked once, before it is first given out, and may refuse."""
        with self._lock:
            if self._tokens is None:
                tokens = Tokens(self.files, most=self._most)
                if check is not None:
                    check(tokens)
                self._tokens = tokens
            return self._tokens
