"""Times whole runs on generated memories, each in a process of its own.

A process for each size, since the peak of memory is a process's. What it measures goes to
standard output as one line of JSON. While it runs, another process adds a fact every few
hundredths of a second to the same store, for another agent, and notes how long each add took.
"""

from __future__ import annotations

import argparse
import json
import logging
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import numpy as np

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import NewFact, StageStats
from eval.generate import generate

__all__ = ["bench_run", "bench_runs", "growth", "peak_megabytes"]

NEW_FACTS: Final = 50
PAUSE: Final = 0.02
"""Seconds between two adds of the writer."""
NOW: Final = datetime(2026, 11, 30, 12, tzinfo=UTC)

_MODELS: Final = ("embedder", "classifier", "threads")
_ROOT: Final = Path(__file__).parents[1]

log = logging.getLogger("eval.bench")


def bench_runs(settings: Settings, sizes: Sequence[int]) -> dict[str, Any]:
    """Measure each size; the largest also takes in a few new facts at the end."""
    found = []
    for size in sorted(sizes):
        log.info("%d facts ...", size)
        found.append(_in_a_process(settings, size, more=size == max(sizes)))
        log.info("%d facts: %.0f s", size, found[-1]["seconds"])
    return {"sizes": found, "growth": growth(found)}


def growth(found: Sequence[Mapping[str, Any]]) -> dict[str, float] | None:
    """Exponents of seconds and pairs over facts, fitted on logarithms; None of one size."""
    if len({entry["facts"] for entry in found}) < 2:
        return None
    facts = np.log([entry["facts"] for entry in found])

    def exponent(values: Sequence[float]) -> float:
        return float(np.polyfit(facts, np.log(np.maximum(values, 1e-9)), 1)[0])

    names = [stage for stage, entry in found[0]["stages"].items() if entry["seconds"] > 0]
    return {
        "seconds": exponent([entry["seconds"] for entry in found]),
        "pairs": exponent([entry["pairs"] for entry in found]),
        "without_models": exponent([entry["seconds_without_models"] for entry in found]),
        **{
            f"stage {name}": exponent([entry["stages"][name]["seconds"] for entry in found])
            for name in names
        },
    }


def bench_run(settings: Settings, size: int, *, more: bool) -> dict[str, Any]:
    """Measure one size in this process."""
    facts, later = generate(size, more=NEW_FACTS)
    backends = Backends.load(settings)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "memory.db"
        with Store.open(path) as store:
            began = time.perf_counter()
            store.add(facts, now=NOW)
            found: dict[str, Any] = {"facts": size, "add_seconds": time.perf_counter() - began}
            with _writer(path) as waits:
                first = _timed(store, backends, settings)
            found |= first | {"writer": waits, "peak_megabytes": peak_megabytes()}
            found["again"] = _again(store, backends, settings)
            if more:
                store.add(later, now=NOW)
                found["new_facts"] = {"added": len(later)} | _timed(store, backends, settings)
            found["store_megabytes"] = path.stat().st_size / 1e6
    return found


def _timed(store: Store, backends: Backends, settings: Settings) -> dict[str, Any]:
    began = time.perf_counter()
    outcome = pipeline.run(store, backends, settings, now=NOW)
    seconds = time.perf_counter() - began
    assert outcome.plan is not None
    stages = {stage.stage: _brief(stage) for stage in outcome.plan.stages}
    staged = sum(entry["seconds"] for entry in stages.values())
    # Apply, the lease and the state that is remembered come after the stages of the plan
    stages["apply and rest"] = {"seconds": max(seconds - staged, 0.0)}
    pairs = stages["pairs"]["out"]
    with_models = stages["embed"]["seconds"] + stages["classify"]["seconds"]
    return {
        "seconds": seconds,
        "seconds_without_models": seconds - with_models,
        "pairs": pairs,
        "pairs_per_fact": pairs / max(stages["snapshot"]["out"], 1),
        "model_calls": outcome.report.model_calls,
        "decisions": len(outcome.plan.decisions),
        "stages": stages,
    }


def _brief(stage: StageStats) -> dict[str, Any]:
    return {
        "seconds": stage.seconds,
        "out": stage.items_out,
        "calls": stage.model_calls,
        "cached": stage.cached,
    }


def _again(store: Store, backends: Backends, settings: Settings) -> dict[str, Any]:
    rows, began = store.rows_written(), time.perf_counter()
    outcome = pipeline.run(store, backends, settings, now=NOW)
    return {
        "seconds": time.perf_counter() - began,
        "nothing_new": outcome.nothing_new,
        "model_calls": outcome.report.model_calls,
        "rows_written": store.rows_written() - rows,
    }


def peak_megabytes() -> float:
    """The most memory this process has held so far."""
    status = Path("/proc/self/status")
    if status.is_file():
        # Not ru_maxrss: Linux hands a child the peak of the process that started it
        for line in status.read_text(encoding="ascii", errors="replace").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) / 1024
    import resource

    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1024 * 1024 if sys.platform == "darwin" else 1024)


# -- processes -----------------------------------------------------------------------------------


def _in_a_process(settings: Settings, size: int, *, more: bool) -> dict[str, Any]:
    values = [f"--{name}={getattr(settings, name)}" for name in _MODELS]
    command = [sys.executable, "-m", "eval.bench_runs", f"--size={size}", *values]
    done = subprocess.run(  # noqa: S603 - our own module
        [*command, "--more"] if more else command,
        stdout=subprocess.PIPE,
        check=True,
        encoding="utf-8",
        cwd=_ROOT,
    )
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@contextmanager
def _writer(path: Path) -> Iterator[dict[str, float]]:
    """Another process that adds facts meanwhile; what it measured is filled in at the end."""
    found: dict[str, float] = {}
    process = subprocess.Popen(  # noqa: S603 - our own module
        [sys.executable, "-m", "eval.bench_runs", "--writer", str(path)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        encoding="utf-8",
        cwd=_ROOT,
    )
    try:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()  # it has made its first add
        yield found
    finally:
        rest, _ = process.communicate("stop\n")
        if process.returncode == 0:
            found |= json.loads(rest)


def _write_until_told(path: Path) -> None:
    """Add facts until a line comes in; print how long the adds took."""
    told = threading.Event()

    def listen() -> None:
        sys.stdin.readline()
        told.set()

    threading.Thread(target=listen, daemon=True).start()
    waits: list[float] = []
    with Store.open(path, create=False, busy_timeout=60) as store:
        while not told.is_set():
            fact = NewFact(text=f"Note {len(waits)} of the writer", agent="writer")
            began = time.perf_counter()
            store.add([fact], now=NOW)
            waits.append(time.perf_counter() - began)
            if len(waits) == 1:
                print("ready", flush=True)
            told.wait(PAUSE)
    print(
        json.dumps(
            {
                "adds": len(waits),
                "longest_seconds": max(waits),
                "median_seconds": float(np.median(waits)),
            }
        )
    )


def _main() -> None:
    parser = argparse.ArgumentParser(description="One measurement, for eval.bench.")
    parser.add_argument("--size", type=int)
    parser.add_argument("--more", action="store_true")
    parser.add_argument("--writer", type=Path)
    parser.add_argument("--embedder", default="onnx:minilm")
    parser.add_argument("--classifier", default="onnx:judge")
    parser.add_argument("--threads", type=int, default=0)
    chosen = parser.parse_args()
    if chosen.writer is not None:
        _write_until_told(chosen.writer)
        return
    settings = Settings(**{name: getattr(chosen, name) for name in _MODELS})
    print(json.dumps(bench_run(settings, chosen.size, more=chosen.more)))


if __name__ == "__main__":
    _main()
