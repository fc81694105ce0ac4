"""Scores the models and the whole run on the labelled sets: `python -m eval [pairs|streams]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import get_args

from consolidate.errors import ConsolidateError
from consolidate.settings import Profile, Settings
from eval.pairs import run_pairs
from eval.record import RESULTS, write_result
from eval.streams import run_streams
from eval.tables import pairs_lines, streams_lines

__all__ = ["main"]

SUITES = ("pairs", "streams")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the suites, print their tables, write their results."""
    parser = argparse.ArgumentParser(prog="python -m eval", description="Score the labelled sets.")
    parser.add_argument("suite", nargs="?", choices=SUITES, help="default: both")
    parser.add_argument(
        "--split", choices=("dev", "test"), default="dev",
        help="pairs: which split; test is for numbers to report, nothing is chosen by it",
    )  # fmt: skip
    parser.add_argument("--classifier", default="onnx:judge", metavar="BACKEND:MODEL")
    parser.add_argument("--embedder", default="onnx:minilm", metavar="BACKEND:MODEL")
    parser.add_argument("--profile", choices=get_args(Profile), default="balanced")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument(
        "--public-limit", type=int, default=1000, metavar="N",
        help="pairs: at most so many rows of each public source",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="where the JSON files go"
    )
    chosen = parser.parse_args(arguments)
    try:
        # Neither settings files nor the environment: a result depends on what it says it does.
        settings = Settings(
            classifier=chosen.classifier,
            embedder=chosen.embedder,
            profile=chosen.profile,
            threads=chosen.threads,
        )
        if chosen.suite in (None, "pairs"):
            result = run_pairs(chosen.split, settings, public_limit=chosen.public_limit)
            path = write_result(chosen.out, f"pairs_{chosen.split}.json", result)
            print("\n".join([*pairs_lines(result), "", f"written to {path}", ""]))
        if chosen.suite in (None, "streams"):
            result = run_streams(settings)
            path = write_result(chosen.out, "streams_demo.json", result)
            print("\n".join([*streams_lines(result), "", f"written to {path}"]))
    except (ConsolidateError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
