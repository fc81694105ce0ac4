"""Scores models and runs on the labelled sets: `python -m eval.run SUITE`, or `make eval`.

One suite or several, or all without a name. Each prints its tables and writes a result.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, get_args

from consolidate.errors import ConsolidateError, InputError
from consolidate.settings import Profile, Settings
from eval.ablation import run_ablation
from eval.blocking import run_blocking
from eval.conflicts import run_conflicts
from eval.conversations import conversations_lines, run_conversations
from eval.dedup import run_dedup
from eval.edits import SAMPLE
from eval.endtoend import run_endtoend
from eval.entities import lines as entities_lines
from eval.entities import run_entities
from eval.extraction import extraction_lines, run_extraction
from eval.pairs import run_pairs
from eval.record import RESULTS, write_result
from eval.streams import run_streams
from eval.suite_tables import (
    ablation_lines,
    blocking_lines,
    conflicts_lines,
    dedup_lines,
    endtoend_lines,
)
from eval.tables import pairs_lines, streams_lines

__all__ = ["SUITES", "main"]


@dataclass(frozen=True)
class Suite:
    """What measures, and what shows it."""

    measure: Callable[[argparse.Namespace, Settings], dict[str, Any]]
    lines: Callable[[Mapping[str, Any]], list[str]]
    by_split: bool = True


def _conflicts(chosen: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    return run_conflicts(settings, path=chosen.edits, facts=chosen.facts, say=_say)


def _conversations(chosen: argparse.Namespace, settings: Settings) -> dict[str, Any]:
    if chosen.conversations is None:
        raise InputError(
            "conversations: name a file of LoCoMo or LongMemEval, --conversations FILE"
        )
    return run_conversations(settings, chosen.conversations, most=chosen.most, say=_say)


SUITES: Final[Mapping[str, Suite]] = {
    "pairs": Suite(
        lambda chosen, settings: run_pairs(
            chosen.split, settings, public=chosen.public, public_limit=chosen.public_limit
        ),
        pairs_lines,
    ),
    "streams": Suite(
        lambda chosen, settings: run_streams(chosen.split, settings, say=_say), streams_lines
    ),
    "conflicts": Suite(_conflicts, conflicts_lines, by_split=False),
    "blocking": Suite(
        lambda chosen, settings: run_blocking(chosen.split, settings), blocking_lines
    ),
    "entities": Suite(
        lambda chosen, settings: run_entities(chosen.split, settings), entities_lines
    ),
    "extraction": Suite(
        lambda chosen, settings: run_extraction(chosen.split, settings), extraction_lines
    ),
    "dedup": Suite(
        lambda chosen, settings: run_dedup(chosen.split, settings, say=_say), dedup_lines
    ),
    "endtoend": Suite(
        lambda chosen, settings: run_endtoend(chosen.split, settings, say=_say), endtoend_lines
    ),
    "ablation": Suite(
        lambda chosen, settings: run_ablation(chosen.split, settings, say=_say), ablation_lines
    ),
    "conversations": Suite(_conversations, conversations_lines, by_split=False),
}
ON_REQUEST: Final = ("conversations",)
"""Suites that need a file of the user's own."""


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
        for name in chosen.suite or [name for name in SUITES if name not in ON_REQUEST]:
            suite = SUITES[name]
            began = time.perf_counter()
            result = suite.measure(chosen, settings)
            file = f"{name}_{chosen.split}.json" if suite.by_split else f"{name}.json"
            path = write_result(chosen.out, file, result)
            took = time.perf_counter() - began
            _say("")
            print("\n".join([*suite.lines(result), "", f"{took:.0f} s; written to {path}", ""]))
    except (ConsolidateError, OSError, ValueError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m eval.run", description="Score the labelled sets."
    )
    parser.add_argument(
        "suite",
        nargs="*",
        metavar="SUITE",
        help=f"of {', '.join(SUITES)}; default: all but {', '.join(ON_REQUEST)}",
    )
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
        "--public", type=Path, action="append", default=[], metavar="FILE",
        help="pairs: a file of SNLI, MultiNLI, ANLI or SICK to score as well; may be repeated",
    )  # fmt: skip
    parser.add_argument(
        "--public-limit", type=int, default=1000, metavar="N",
        help="pairs: at most so many rows of each public source",
    )  # fmt: skip
    parser.add_argument(
        "--edits", type=Path, default=SAMPLE, metavar="FILE",
        help="conflicts: triples of one's own; default: the sample of this project",
    )  # fmt: skip
    parser.add_argument(
        "--facts", type=int, default=1000, metavar="N", help="conflicts: at most so many facts"
    )
    parser.add_argument(
        "--conversations", type=Path, metavar="FILE", help="conversations: LoCoMo or LongMemEval"
    )
    parser.add_argument(
        "--most", type=int, default=20, metavar="N",
        help="conversations: at most so many, from the first on",
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
