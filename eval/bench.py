"""Measures speed, growth and memory: `python -m eval.bench`, or `make bench`.

Nothing is asserted: times belong to a machine and its mood. Read the shares and exponents first,
they carry over; seconds don't.
"""

from __future__ import annotations

import argparse
import logging
import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from consolidate.backends import Backends
from consolidate.errors import ConsolidateError
from consolidate.settings import Settings
from eval.bench_runs import bench_runs
from eval.bench_stages import bench_stages
from eval.bench_start import bench_help
from eval.record import RESULTS, SETS, files_digest, heading, write_result
from eval.tables import share, table

__all__ = ["main"]


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, print, write `bench.json`."""
    parser = argparse.ArgumentParser(prog="python -m eval.bench", description="Measure speed.")
    parser.add_argument(
        "--sizes", type=_sizes, default=[1000, 10000], metavar="N,N,...",
        help="facts of the generated memories; empty for none. A fact costs about six pairs, so "
        "at 150 pairs a second 1,000 facts take 40 s, 10,000 seven minutes, 50,000 half an hour",
    )  # fmt: skip
    parser.add_argument("--texts", type=int, default=2000, help="for the stage embed; 0 for none")
    parser.add_argument("--pairs", type=int, default=1000, help="for the stage classify")
    parser.add_argument("--rounds", type=int, default=3, help="of stages; the best counts")
    parser.add_argument("--embedder", default="onnx:minilm", metavar="BACKEND:MODEL")
    parser.add_argument("--classifier", default="onnx:judge", metavar="BACKEND:MODEL")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--out", type=Path, default=RESULTS, metavar="FOLDER")
    chosen = parser.parse_args(arguments)
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    try:
        settings = Settings(
            embedder=chosen.embedder, classifier=chosen.classifier, threads=chosen.threads
        )
        result = _measure(settings, chosen)
    except (ConsolidateError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    path = write_result(chosen.out, "bench.json", result)
    print("\n".join([*_lines(result), "", f"written to {path}"]))
    return 0


def _sizes(text: str) -> list[int]:
    return [int(part) for part in text.split(",") if part.strip()]


def _measure(settings: Settings, chosen: argparse.Namespace) -> dict[str, Any]:
    began = time.perf_counter()
    result = heading(
        "bench",
        settings=settings,
        models=Backends.load(settings).identities,
        data={
            "memory_pairs/train": files_digest((SETS / "memory_pairs" / "train").glob("*.jsonl")),
            "eval/generate.py": files_digest([Path(__file__).parent / "generate.py"]),
        },
    )
    # What else the machine was doing: above a few tenths, distrust the seconds
    result["load_before"] = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    result["help"] = bench_help(chosen.rounds)
    if chosen.sizes:
        result["runs"] = bench_runs(settings, chosen.sizes)
    if chosen.texts:
        result["stages"] = bench_stages(
            settings, texts=chosen.texts, pairs=chosen.pairs, rounds=chosen.rounds
        )
    result["seconds"] = {"all": time.perf_counter() - began}
    return result


def _lines(result: Mapping[str, Any]) -> list[str]:
    machine = result["machine"]
    lines = [f"bench on {machine['cores']} cores of {machine['cpu']}"]
    if result["load_before"] is not None and result["load_before"] > 0.5:
        lines.append(f"the machine was busy before (load {result['load_before']:.1f}): distrust it")
    asked = result["help"]
    user = asked["user_seconds"]
    shown = "not counted here" if user is None else f"{user:.2f} s, goal {asked['goal']}"
    lines += ["", f"consolidate --help: {asked['seconds']:.2f} s; user time {shown}"]
    for name, what in (("embed", "texts"), ("classify", "pairs")):
        if "stages" in result:
            lines += ["", *_stage_lines(name, what, result["stages"][name])]
    if "runs" in result:
        lines += ["", *_run_lines(result["runs"])]
    return lines


def _stage_lines(name: str, what: str, found: Mapping[str, Any]) -> list[str]:
    rate = f"stage {name}: {found['per_second']:.0f} {what}/s"
    if found["share"] is None:
        return [f"{rate}; no graph to compare with"]
    lines = [f"{rate} = {found['share']:.2f} of the best bare configuration"]
    for how, entry in sorted(found["bare"].items(), key=lambda item: -item[1]["per_second"]):
        note = "" if entry["batch_independent"] else "  (answers depend on the batch)"
        lines.append(f"  {entry['per_second']:8.0f}/s  {how}{note}")
    return lines


def _run_lines(runs: Mapping[str, Any]) -> list[str]:
    lines = table(
        ("facts", "seconds", "pairs", "pairs/fact", "peak MB", "store MB", "writer waits s",
         "again s", "again calls"),
        [
            (
                entry["facts"],
                f"{entry['seconds']:.1f}",
                entry["pairs"],
                f"{entry['pairs_per_fact']:.2f}",
                f"{entry['peak_megabytes']:.0f}",
                f"{entry['store_megabytes']:.0f}",
                f"{entry['writer'].get('longest_seconds', float('nan')):.3f}",
                f"{entry['again']['seconds']:.3f}",
                entry["again"]["model_calls"],
            )
            for entry in runs["sizes"]
        ],
    )  # fmt: skip
    stages = list(runs["sizes"][0]["stages"])
    growth = runs["growth"] or {}
    lines += ["", *table(
        ("seconds by stage", *(str(entry["facts"]) for entry in runs["sizes"]), "exponent"),
        [
            (
                stage,
                *(f"{entry['stages'][stage]['seconds']:.2f}" for entry in runs["sizes"]),
                f"{growth[f'stage {stage}']:.2f}" if f"stage {stage}" in growth else "-",
            )
            for stage in stages
        ],
    )]  # fmt: skip
    if growth:
        lines += ["", f"time grows with facts to the power of {growth['seconds']:.2f} "
                  f"(without models {growth['without_models']:.2f}, pairs "
                  f"{growth['pairs']:.2f})"]  # fmt: skip
    largest = runs["sizes"][-1]
    new, again = largest["new_facts"], largest["again"]
    share_of_first = share(new["seconds"] / largest["seconds"])
    lines += [
        f"{new['added']} new facts into {largest['facts']}: {new['seconds']:.1f} s, "
        f"{new['model_calls']} model calls; {share_of_first} % of the first run",
        f"again: {'nothing new' if again['nothing_new'] else 'NOT nothing new'}, "
        f"{again['rows_written']} rows written",
    ]
    return lines


if __name__ == "__main__":
    sys.exit(main())
