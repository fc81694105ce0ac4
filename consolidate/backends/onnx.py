"""Runs token rows through an ONNX graph on the CPU; an answer never depends on its neighbours.

What it rests on: every run is computed by one thread (`intra_op_num_threads=1`), and Python
threads share the one session, each with a run of its own. That is faster than one run on all
cores, and sums are made in the same order whatever the number of threads.

Rows are never padded. Rows of exactly equal length may share a run, which is up to half as fast
again, but only where it changes no bit of any answer: that holds for float graphs and does not
for graphs that scale activations over a whole run (dynamic int8), and it could cease to hold on
another processor. So it is tried when the session is made, and where an answer differs in one bit
every item gets a run of its own.

This module knows no tokenizer and no meaning of outputs.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import numpy as np
import numpy.typing as npt

from consolidate.backends.files import ModelFiles
from consolidate.backends.providers import CPU, providers_of
from consolidate.errors import (
    BackendError,
    ConsolidateError,
    MissingExtraError,
    ModelFilesError,
)

__all__ = [
    "Item",
    "OnnxModel",
    "Output",
    "in_threads",
    "load_runtime",
    "loading",
    "open_session",
    "thread_count",
]

log = logging.getLogger(__name__)

IDS: Final = "input_ids"
MASK: Final = "attention_mask"
TYPES: Final = "token_type_ids"
PLACES: Final = "position_ids"
_KNOWN_INPUTS: Final = (IDS, MASK, TYPES, PLACES)

# Enough tokens to make good use of the processor; more only costs memory.
_TOKENS_PER_RUN: Final = 512
_ITEMS_PER_RUN: Final = 32
# Lengths and counts at which shared runs are tried: short and long rows, counts that leave every
# kind of remainder when a matrix product is cut into blocks of rows.
_TRIALS: Final = ((2, 9), (3, 7), (7, 5), (13, 4), (24, 2))

# Fewer items than this are not worth the trial.
_WORTH_A_TRIAL: Final = 64

Array = npt.NDArray[Any]
_Job = TypeVar("_Job")


@dataclass(frozen=True, kw_only=True)
class Item:
    """What is asked in one go: one row, or several rows of one length (the two directions)."""

    ids: npt.NDArray[np.int64]
    """Shape (rows, tokens)."""
    types: npt.NDArray[np.int64]
    """Shape (rows, tokens): 0 for the first text, 1 for the second."""


@dataclass(frozen=True, kw_only=True)
class Output:
    """An output of the graph; the dimensions that vary are None."""

    name: str
    shape: tuple[int | None, ...]


def thread_count(threads: int) -> int:
    """Threads to use: as asked, or the number of cores this process may use, at most 4."""
    if threads > 0:
        return threads
    usable = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    return min(usable or 1, 4)


def in_threads(work: Callable[[_Job], None], jobs: Sequence[_Job], *, threads: int) -> None:
    """Do all jobs, some at a time; the first error ends it."""
    workers = min(threads, len(jobs))
    if workers <= 1:
        for job in jobs:
            work(job)
        return
    with ThreadPoolExecutor(workers, thread_name_prefix="onnx") as pool:
        try:
            for _ in pool.map(work, jobs):
                pass
        except BaseException:  # an interrupt must not wait for thousands of runs
            pool.shutdown(cancel_futures=True)
            raise


class OnnxModel:
    """A graph with its session, made at first use.

    Args:
        files: The folder.
        rows: Rows of every item: 1 for texts, 2 for pairs in both directions.
        threads: See `thread_count`.
        choose: Picks the output to read from those the graph has, or raises ModelFilesError.
        session: A ready session, for tests; otherwise one is made from the files.
        share_runs: Whether items of equal length may share a run where that is exact.
        providers: Names of what may compute, the first that can; see `providers_of`.
    """

    def __init__(
        self,
        files: ModelFiles,
        *,
        rows: int,
        threads: int,
        choose: Callable[[Sequence[Output]], Output],
        session: Any = None,
        share_runs: bool = True,
        providers: str = CPU,
    ) -> None:
        self.files = files
        self._providers = providers
        self._rows = rows
        self._threads = thread_count(threads)
        self._choose = choose
        self._session = session
        self._share_runs = share_runs
        self._lock = threading.Lock()
        self._ready = False
        self._inputs: frozenset[str] = frozenset()
        self._output = Output(name="", shape=())
        self._exact: bool | None = None

    @property
    def output(self) -> Output:
        """The output that is read; makes the session."""
        self._open()
        return self._output

    @property
    def shares_runs(self) -> bool:
        """Whether items of equal length share runs here; makes the session."""
        self._open()
        if self._exact is None:
            with self._lock:
                if self._exact is None:
                    self._exact = self._share_runs and self._shared_runs_are_exact()
        return self._exact

    def run(
        self, items: Sequence[Item], reduce: Callable[[Array], Array] = np.copy
    ) -> list[Array | Exception]:
        """Answer items, in order.

        Args:
            items: Each with the number of rows the model was made for.
            reduce: Makes what is kept of an item's part of the output (first axis its rows), at
                once, so that hidden states of thousands of texts never lie in memory together.

        Returns:
            For each item what `reduce` made; or the error that its own run ended in.
        """
        if not items:
            return []
        self._open()
        jobs = self._jobs(items)
        answers: list[Array | Exception | None] = [None] * len(items)

        def work(job: Sequence[int]) -> None:
            for index, answer in zip(
                job, self._answer([items[i] for i in job], reduce), strict=True
            ):
                answers[index] = answer

        in_threads(work, jobs, threads=self._threads)
        return [answer for answer in answers if answer is not None]

    def _jobs(self, items: Sequence[Item]) -> list[list[int]]:
        # Longest first, so that the threads end at about the same time.
        order = sorted(range(len(items)), key=lambda i: (-items[i].ids.shape[1], i))
        groups: list[list[int]] = []
        for index in order:
            length = items[index].ids.shape[1]
            most = max(1, min(_ITEMS_PER_RUN, _TOKENS_PER_RUN // (length * self._rows)))
            if (
                groups
                and len(groups[-1]) < most
                and items[groups[-1][0]].ids.shape[1] == length
            ):  # fmt: skip
                groups[-1].append(index)
            else:
                groups.append([index])
        if self._exact is None and len(items) < _WORTH_A_TRIAL:
            return [[index] for index in order]
        if len(groups) == len(items) or self.shares_runs:
            return groups
        return [[index] for index in order]

    def _answer(
        self, items: Sequence[Item], reduce: Callable[[Array], Array]
    ) -> list[Array | Exception]:
        try:
            whole = self._compute(items)
            return [reduce(whole[i * self._rows : (i + 1) * self._rows]) for i in range(len(items))]
        except ConsolidateError:
            raise
        except Exception as error:
            if len(items) == 1:
                return [error]
            # Find out which item it was.
            return [answer for item in items for answer in self._answer([item], reduce)]

    def _compute(self, items: Sequence[Item]) -> Array:
        ids = items[0].ids if len(items) == 1 else np.concatenate([item.ids for item in items])
        feed: dict[str, Array] = {IDS: ids}
        if MASK in self._inputs:
            feed[MASK] = np.ones_like(ids)
        if TYPES in self._inputs:
            parts = [item.types for item in items]
            feed[TYPES] = parts[0] if len(items) == 1 else np.concatenate(parts)
        if PLACES in self._inputs:
            feed[PLACES] = np.broadcast_to(np.arange(ids.shape[1], dtype=np.int64), ids.shape)
        result: Array = self._session.run([self._output.name], feed)[0]
        if result.shape[0] != ids.shape[0]:
            raise ModelFilesError(
                f"{str(self.files.folder)!r}: expected {ids.shape[0]} rows from the graph, found "
                f"shape {result.shape}"
            )
        return result

    def _shared_runs_are_exact(self) -> bool:
        size = int(self.files.config.get("vocab_size", 1000))
        generator = np.random.default_rng(20)
        for length, count in _TRIALS:
            shape = (self._rows, length)
            items = [
                Item(
                    ids=generator.integers(0, size, shape, dtype=np.int64),
                    types=np.zeros(shape, dtype=np.int64),
                )
                for _ in range(count)
            ]
            shared = self._answer(items, np.copy)
            for item, answer in zip(items, shared, strict=True):
                alone = self._answer([item], np.copy)[0]
                if (
                    isinstance(alone, Exception)
                    or isinstance(answer, Exception)
                    or alone.tobytes() != answer.tobytes()
                ):
                    log.debug("%s: shared runs change answers here; one each", self.files.name)
                    return False
        return True

    def _open(self) -> None:
        if not self._ready:
            with self._lock:
                self._open_once()

    def _open_once(self) -> None:
        if self._ready:  # by another thread, in the meantime
            return
        with loading(self.files):
            if self._session is None:
                self._session = open_session(self.files, providers=self._providers)
            inputs = [entry.name for entry in self._session.get_inputs()]
            outputs = [
                Output(name=entry.name, shape=_shape(entry.shape))
                for entry in self._session.get_outputs()
            ]
        strange = [name for name in inputs if name not in _KNOWN_INPUTS]
        if strange or IDS not in inputs:
            raise ModelFilesError(
                f"the graph in {str(self.files.folder)!r} can't be fed: expected the inputs "
                f"{IDS} and perhaps {MASK}, {TYPES}, {PLACES}, found {', '.join(inputs) or 'none'}"
            )
        self._inputs = frozenset(inputs)
        self._output = self._choose(outputs)
        self._ready = True


def _shape(shape: Sequence[Any]) -> tuple[int | None, ...]:
    return tuple(size if isinstance(size, int) else None for size in shape)


def load_runtime() -> Any:
    """Import onnxruntime so that it reports nothing to anybody.

    Builds since 1.32 report to their maker, and keep a device id in the user's cache folder,
    unless told not to before the library is loaded.

    Raises:
        MissingExtraError: It is not installed.
    """
    os.environ["ORT_DISABLE_TELEMETRY"] = "1"
    try:
        import onnxruntime
    except ImportError as error:
        raise MissingExtraError(
            "the bundled models need onnxruntime: pip install onnxruntime"
        ) from error
    onnxruntime.set_default_logger_severity(3)
    onnxruntime.disable_telemetry_events()
    return onnxruntime


def open_session(files: ModelFiles, *, providers: str = CPU) -> Any:
    """A session for a graph, each run of which is computed by one thread.

    Args:
        files: The folder.
        providers: See `providers_of`.

    Raises:
        BackendError: A provider is not known, or this onnxruntime does not have it.
    """
    onnxruntime = load_runtime()
    wanted = providers_of(providers, onnxruntime.get_available_providers())
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    options.inter_op_num_threads = 1
    options.log_severity_level = 3
    beside = any(name in files.digests for name in (f"{files.graph}.data", f"{files.graph}_data"))
    # From bytes, so that what runs is what the identity was taken of. Weights in a file of their
    # own can only be found by path.
    source: Mapping[str, Any] = {
        "path_or_bytes": str(files.folder / files.graph) if beside else files.read(files.graph)
    }
    session = onnxruntime.InferenceSession(**source, sess_options=options, providers=list(wanted))
    # A provider that can't start (no driver) is passed over without a word.
    if wanted[0] not in session.get_providers():
        raise BackendError(
            f"the execution provider {wanted[0]} could not start on this machine (a driver or a "
            f"library is missing?); set providers = {CPU!r} to compute on the processor"
        )
    return session


@contextmanager
def loading(files: ModelFiles) -> Iterator[None]:
    """Turn what onnxruntime raises while loading into ModelFilesError."""
    try:
        yield
    except ConsolidateError:
        raise
    except Exception as error:
        path = files.folder / files.graph
        size = path.stat().st_size if path.is_file() else 0
        raise ModelFilesError(
            f"expected a whole ONNX graph in {str(path)!r}, found {size} bytes that onnxruntime "
            f"refuses: {error}"
        ) from error
