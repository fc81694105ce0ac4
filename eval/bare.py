"""The fastest way to push rows through an ONNX graph, nothing around it: the bench's yardstick.

Only the runs of the graph are timed. Rows are tokenised and padded before, outputs are thrown
away, nothing is pooled, checked or stored. Some of these configurations break what the package
promises (an answer that never depends on its neighbours); they count all the same, and say so.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.backends.files import MODEL, ModelFiles
from consolidate.backends.onnx import IDS, MASK, TYPES, Item, load_runtime

__all__ = ["Bare", "Configuration", "configurations"]

BATCHES: Final = (1, 8, 32)

Feed = dict[str, npt.NDArray[np.int64]]


@dataclass(frozen=True, kw_only=True)
class Configuration:
    """How many sessions, threads each, and rows a run."""

    sessions: int
    threads: int
    batch: int

    @property
    def name(self) -> str:
        """Such as `2 sessions x 1 thread, 8 rows a run`."""
        plural = "" if self.sessions == 1 else "s"
        threads = "thread" if self.threads == 1 else "threads"
        rows = "row" if self.batch == 1 else "rows"
        return (
            f"{self.sessions} session{plural} x {self.threads} {threads}, {self.batch} {rows} a run"
        )


def configurations(cores: int) -> list[Configuration]:
    """One session on all cores, and a session for each core; rows a run as in `BATCHES`."""
    kinds = {(1, cores), (cores, 1)}
    return [
        Configuration(sessions=sessions, threads=threads, batch=batch)
        for sessions, threads in sorted(kinds)
        for batch in BATCHES
    ]


class Bare:
    """A graph and its rows, ready to be timed."""

    def __init__(self, files: ModelFiles, items: Sequence[Item]) -> None:
        self._files = files
        rows = [
            (ids, types) for item in items for ids, types in zip(item.ids, item.types, strict=True)
        ]
        # By length, so that little is padded: the best a batch can get
        self._rows = sorted(rows, key=lambda row: len(row[0]))
        self._sessions: dict[int, list[Any]] = {}

    def seconds(self, how: Configuration) -> float:
        """Seconds for all rows."""
        sessions = self._open(how)
        wanted = [entry.name for entry in sessions[0].get_inputs()]
        feeds = [self._feed(part, wanted) for part in self._batches(how.batch)]
        for session in sessions:
            session.run(None, feeds[-1])
        began = time.perf_counter()
        if len(sessions) == 1:
            for feed in feeds:
                sessions[0].run(None, feed)
        else:
            # Longest first and dealt out one by one, so that the sessions end together
            shares = [feeds[::-1][k :: len(sessions)] for k in range(len(sessions))]
            with ThreadPoolExecutor(len(sessions)) as pool:
                for _ in pool.map(_run_all, sessions, shares):
                    pass
        return time.perf_counter() - began

    def independent(self, how: Configuration) -> bool:
        """Whether, on a sample, answers in this configuration are those of rows run alone."""
        session = self._open(how)[0]
        wanted = [entry.name for entry in session.get_inputs()]
        parts = self._batches(how.batch)
        for part in parts[:: max(1, len(parts) // 4)]:
            together = session.run(None, self._feed(part, wanted))[0]
            for row, answer in zip(part, together, strict=True):
                alone = session.run(None, self._feed([row], wanted))[0][0]
                if answer.ndim > 1:
                    answer = answer[: len(row[0])]
                if not np.array_equal(answer, alone):
                    return False
        return True

    def _batches(self, size: int) -> list[list[tuple[npt.NDArray[np.int64], Any]]]:
        return [self._rows[k : k + size] for k in range(0, len(self._rows), size)]

    def _feed(self, rows: Sequence[tuple[npt.NDArray[np.int64], Any]], wanted: list[str]) -> Feed:
        shape = (len(rows), max(len(ids) for ids, _ in rows))
        feed = {name: np.zeros(shape, dtype=np.int64) for name in (IDS, MASK, TYPES)}
        for k, (ids, types) in enumerate(rows):
            feed[IDS][k, : len(ids)] = ids
            feed[MASK][k, : len(ids)] = 1
            feed[TYPES][k, : len(ids)] = types
        return {name: feed[name] for name in wanted}

    def _open(self, how: Configuration) -> list[Any]:
        onnxruntime = load_runtime()

        made = self._sessions.setdefault(how.threads, [])
        while len(made) < how.sessions:
            options = onnxruntime.SessionOptions()
            options.intra_op_num_threads = how.threads
            options.inter_op_num_threads = 1
            options.log_severity_level = 3
            made.append(
                onnxruntime.InferenceSession(
                    str(self._files.folder / MODEL),
                    sess_options=options,
                    providers=["CPUExecutionProvider"],
                )
            )
        return made[: how.sessions]


def _run_all(session: Any, feeds: Sequence[Feed]) -> None:
    for feed in feeds:
        session.run(None, feed)
