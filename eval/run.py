"""Scores models and runs on the labelled sets: `python -m eval.run SUITE`, or `make eval`.

One suite or several, or all without a name. Each prints its tables and writes a result.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, get_args

from consolidate.errors import ConsolidateError
from consolidate.settings import Profile, Settings
from eval.entities import lines as entities_lines
from eval.entities import run_entities
from eval.pairs import run_pairs
from eval.record import RESULTS, write_result
from eval.streams import run_streams
from eval.tables import pairs_lines, streams_lines

__all__ = ["SUITES", "main"]

Lines = Callable[[Mapping[str, Any]], list[str]]


def _pairs(chosen: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    return run_pairs(chosen.split, settings, public_limit=chosen.public_limit)


def _streams(chosen: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    return run_streams(chosen.split, settings, say=_say)


def _entities(chosen: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    return run_entities(chosen.split, settings)


SUITES: Final[
    Mapping[str, tuple[Callable[[argparse.Namespace, Settings], dict[str, Any]], Lines]]
] = {
    "entities": (_entities, entities_lines),
    "pairs": (_pairs, pairs_lines),
    "streams": (_streams, streams_lines),
}


def main(arguments: Sequence[str] | None = None) -> int:
    """Run suites, print their tables, write their results."""
    parser = _parser()
    chosen = parser.parse_args(arguments)
    for name in chosen.suite:
        if name not in SUITES:
            parser.error(f"there is no suite {name!r}; there are {', '.join(SUITES)}")
    try:
        # Neither settings files nor the environment: a result depends on what it says it does.
        settings = Settings(
            classifier=chosen.classifier,
            embedder=chosen.embedder,
            extractor=chosen.extractor,
            profile=chosen.profile,
            threads=chosen.threads,
        )
        for name in chosen.suite or SUITES:
            measure, lines = SUITES[name]
            began = time.perf_counter()
            result = measure(chosen, settings)
            path = write_result(chosen.out, f"{name}_{chosen.split}.json", result)
            took = time.perf_counter() - began
            print("\n".join([*lines(result), "", f"{took:.0f} s; written to {path}", ""]))
    except (ConsolidateError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.run", description="Score the labelled sets."
    )
    parser.add_argument(
        "suite", nargs="*", metavar="SUITE", help=f"of {', '.join(SUITES)}; default: all"
    )  # fmt: skip
    parser.add_argument(
        "--split", choices=("dev", "test"), default="dev",
        help="test is for numbers to report, nothing is chosen by it",
    )  # fmt: skip
    defaults = Settings()
    parser.add_argument("--classifier", default=defaults.classifier, metavar="BACKEND:MODEL")
    parser.add_argument("--embedder", default=defaults.embedder, metavar="BACKEND:MODEL")
    parser.add_argument("--extractor", default=defaults.extractor, metavar="BACKEND:MODEL")
    parser.add_argument("--profile", choices=get_args(Profile), default=defaults.profile)
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument(
        "--public-limit", type=int, default=1000, metavar="N",
        help="pairs: at most so many rows of each public source",
    )  # fmt: skip
    parser.add_argument(
        "--out", type=Path, default=RESULTS, metavar="FOLDER", help="where the JSON files go"
    )
    return parser


def _say(line: str) -> None:
    """Progress, where somebody watches."""
    if sys.stderr.isatty():
        print(f"\r{line}\033[K", end="", file=sys.stderr, flush=True)


if __name__ == "__main__":
    sys.exit(main())
