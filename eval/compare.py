"""Compares two results of one suite: `python -m eval.compare A.json B.json`.

Both are resampled together (paired bootstrap), item by item: pairs for `pairs`, whole memories for
`streams`, chains for `conflicts`. A difference whose interval holds 0 may be chance.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.errors import ConsolidateError, InputError
from eval.metrics import CLASSES
from eval.tables import table

__all__ = ["compare", "main", "read_result"]

RESAMPLES: Final = 2000
SEED: Final = 11

FloatArray = npt.NDArray[np.float64]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the comparison."""
    parser = argparse.ArgumentParser(prog="python -m eval.compare", description="Compare results.")
    parser.add_argument("a", type=Path, help="a result of eval.run")
    parser.add_argument("b", type=Path, help="another one of the same suite")
    chosen = parser.parse_args(arguments)
    try:
        a, b = read_result(chosen.a), read_result(chosen.b)
        print("\n".join(_lines(chosen, a, b)))
    except (ConsolidateError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


def read_result(path: Path) -> dict[str, Any]:
    """Read a result of `eval.run`.

    Raises:
        InputError: The file is no result.
    """
    try:
        result: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
        if not isinstance(result, dict) or "suite" not in result:
            raise ValueError("it names no suite")
    except ValueError as error:
        raise InputError(f"{path} is no result of eval.run: {error}") from error
    return result


def compare(a: Mapping[str, Any], b: Mapping[str, Any]) -> dict[str, dict[str, float | int]]:
    """Compare the metrics that both results have, on the items that both have.

    Returns:
        For each metric `a`, `b`, `difference` (b - a), `low` and `high` (95 % of resampled
        differences) and `items`.

    Raises:
        InputError: They are of different suites, or have no item in common.
    """
    if a["suite"] != b["suite"]:
        raise InputError(f"{a['suite']!r} and {b['suite']!r} can't be compared: other suites")
    found: dict[str, dict[str, float | int]] = {}
    for name, entry in a.get("samples", {}).items():
        other = b.get("samples", {}).get(name)
        shared = sorted(entry["items"].keys() & other["items"].keys()) if other else []
        if other is None or not shared:
            continue
        kind = _KINDS[entry["kind"]]
        left, right = (
            kind([side["items"][item] for item in shared], _chosen(len(shared)))
            for side in (entry, other)
        )
        difference = right - left
        low, high = np.quantile(difference[1:], [0.025, 0.975])
        found[name] = {
            "items": len(shared),
            "a": float(left[0]),
            "b": float(right[0]),
            "difference": float(difference[0]),
            "low": float(low),
            "high": float(high),
        }
    if not found:
        raise InputError("the two results have no items in common; are they of the same data?")
    return found


def _chosen(size: int) -> npt.NDArray[np.intp]:
    """Which items each resample takes; the first row takes every item once."""
    drawn = np.random.default_rng(SEED).integers(0, size, (RESAMPLES, size))
    return np.vstack([np.arange(size)[None, :], drawn]).astype(np.intp)


def _share(items: Sequence[str], chosen: npt.NDArray[np.intp]) -> FloatArray:
    """Sum of parts over sum of wholes, of items `part/whole`."""
    both = np.array([[float(n) for n in item.split("/")] for item in items])
    parts, wholes = both[:, 0][chosen].sum(axis=1), both[:, 1][chosen].sum(axis=1)
    shares: FloatArray = parts / np.maximum(wholes, 1)
    return shares


def _macro_f1(items: Sequence[str], chosen: npt.NDArray[np.intp]) -> FloatArray:
    """Mean F1 of the classes, of items `gold predicted`."""
    both = np.array([[CLASSES.index(word) for word in item.split()] for item in items])
    means = np.zeros(len(chosen))
    for k in range(len(CLASSES)):
        gold, predicted = (both[:, 0] == k)[chosen], (both[:, 1] == k)[chosen]
        size = gold.sum(axis=1) + predicted.sum(axis=1)
        means += 2 * (gold & predicted).sum(axis=1) / np.maximum(size, 1) / len(CLASSES)
    return means


_KINDS: Final = {"share": _share, "macro-F1": _macro_f1}


def _lines(chosen: argparse.Namespace, a: Mapping[str, Any], b: Mapping[str, Any]) -> list[str]:
    compared = compare(a, b)
    lines = [f"{a['suite']}: A = {chosen.a}, B = {chosen.b}", ""]
    lines += table(
        ("%", "A", "B", "B - A", "95 % from", "to", "items", ""),
        [
            (
                name,
                *(f"{100 * entry[key]:.2f}" for key in ("a", "b")),
                *(f"{100 * entry[key]:+.2f}" for key in ("difference", "low", "high")),
                entry["items"],
                "" if entry["low"] <= 0 <= entry["high"] else "differs",
            )
            for name, entry in compared.items()
        ],
    )
    lines += [f"{key}: {_told(a[key])} -> {_told(b[key])}" for key in _CONTEXT if a[key] != b[key]]
    return lines


_CONTEXT: Final = ("data", "models", "settings", "code", "machine")


def _told(value: Any) -> str:
    """A short form of what differs beside the numbers."""
    if isinstance(value, Mapping):
        return ", ".join(f"{name} {str(each)[:40]}" for name, each in value.items())
    return str(value)[:12]


if __name__ == "__main__":
    sys.exit(main())
