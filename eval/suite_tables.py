"""Tables of the smaller suites for the terminal. Formats, measures nothing."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from eval.tables import share, table

__all__ = ["ablation_lines", "blocking_lines", "conflicts_lines", "dedup_lines", "endtoend_lines"]


def conflicts_lines(result: Mapping[str, Any]) -> list[str]:
    """What became of outdated and current facts, and of the questions."""
    head = ("%", "outdated superseded", "asked", "current kept", "lost", "new value on top")
    ways = {"judge": result["judge"], **result["controls"]}
    kinds = result["judge"]["by_kind"]

    def rows(parts: Mapping[str, Mapping[str, Any]]) -> list[tuple[object, ...]]:
        return [
            (
                name,
                share(entry["superseded_share"]),
                entry["asked"],
                share(entry["kept_share"]),
                entry["lost"],
                share(entry["answered_share"]),
            )
            for name, entry in parts.items()
        ]

    return [
        f"conflicts: {result['facts']} facts, {result['judge']['outdated']} outdated, "
        f"{result['questions']} questions, {result['pairs']} pairs, "
        f"{result['models']['classifier']}",
        "",
        *table(head, rows(ways)),
        "",
        *table(("judge, by kind", *head[1:]), rows(kinds)),
        *_two_hop_lines(result.get("two_hop", {})),
    ]


def _two_hop_lines(halves: Mapping[str, Mapping[str, Any]]) -> list[str]:
    return [
        f"questions over two facts, {half}: {entry['questions']}; right fact in the first five "
        f"{share(entry['graph_share'])} %, without the graph {share(entry['no_graph_share'])} %"
        for half, entry in halves.items()
        if entry["questions"]
    ]


def blocking_lines(result: Mapping[str, Any]) -> list[str]:
    """Recall of pairs, and what it costs."""
    lines = [f"{result['suite']}: {result['models']['embedder']}, {result['models']['extractor']}"]
    for title in ("streams", "pairs"):
        part = result[title]
        lines += ["", *table(
            (f"{title}, {part['ways']['asked']['facts']} facts", "recall %", "of all pairs %",
             "pairs", "pairs/fact"),
            [
                (
                    name,
                    share(entry["recall"]),
                    share(entry["pair_recall"]),
                    entry["pairs"],
                    f"{entry['pairs_per_fact']:.2f}",
                )
                for name, entry in part["ways"].items()
            ],
        )]  # fmt: skip
        rules = ", ".join(f"{name} {count}" for name, count in part["by_rule"].items())
        lines.append(f"  by rule: {rules}")
    return lines


def dedup_lines(result: Mapping[str, Any]) -> list[str]:
    """Merges, right and wrong."""
    lines = [f"{result['suite']}: {result['models']['classifier']}"]
    for title in ("streams", "pairs"):
        lines += ["", *table(
            (title, "right", "wrong", "missed", "asked", "precision %", "recall %"),
            [
                (
                    name,
                    entry["right"],
                    entry["wrong"],
                    entry["missed"],
                    entry["asked"] if title == "pairs" else "-",
                    share(entry["precision"]),
                    share(entry["recall"]),
                )
                for name, entry in result[title].items()
            ],
        )]  # fmt: skip
    return lines


def endtoend_lines(result: Mapping[str, Any]) -> list[str]:
    """What became of the memories, then the funnel."""
    lines = [f"{result['suite']}: {result['models']['classifier']}"]
    for title in ("demo", "streams"):
        part = result[title]
        ways = {name: part[name] for name in part if name.startswith(("at_once", "in_"))}
        lines += ["", *table(
            (title, "facts", "live", "right %", "wrong merges", "false supers.", "traps sprung",
             "missed", "asked", "model calls", "seconds", "facts/s", "again s"),
            [
                (
                    name.replace("_", " "),
                    entry["facts"],
                    entry["live"],
                    share(entry["right_share"]),
                    entry["wrong_merge"],
                    entry["false_supersession"],
                    f"{entry['traps_sprung']}/{entry['traps']}",
                    entry["missed_update"] + entry["missed_merge"],
                    entry["asked"],
                    entry.get("model_calls", "-"),
                    *(
                        f"{entry[key]:.2f}" if key in entry else "-"
                        for key in ("seconds", "facts_per_second", "again_seconds")
                    ),
                )
                for name, entry in (ways | part["controls"]).items()
            ],
        )]  # fmt: skip
        lines += ["", *table(
            (f"{title}: stage", "in", "out", "asked", "failures", "seconds"),
            [
                (
                    name,
                    stage["in"],
                    stage["out"],
                    stage["asked"],
                    stage["failures"],
                    f"{stage['seconds']:.2f}",
                )
                for name, stage in part["funnel"]["stages"].items()
            ],
        )]  # fmt: skip
        kinds = part["funnel"]["decisions"]
        told = ", ".join(f"{count} {kind}" for kind, count in kinds.items()) or "none"
        lines.append(f"  decisions: {told}")
        unsettled = sum(entry["not_settled"] for entry in ways.values())
        if unsettled:
            lines.append(f"  NOT settled: a further run found something new {unsettled} times")
    return lines


def ablation_lines(result: Mapping[str, Any]) -> list[str]:
    """The judge whole and without each layer."""
    streams = table(
        ("streams", "right %", "wrong merges", "false supers.", "traps sprung", "missed", "asked",
         "needless reviews"),
        [
            (
                name,
                share(entry["right_share"]),
                entry["wrong_merge"],
                entry["false_supersession"],
                f"{entry['traps_sprung']}/{entry['traps']}",
                entry["missed_update"] + entry["missed_merge"],
                entry["asked"],
                entry["reviews_needless"],
            )
            for name, entry in result["streams"].items()
        ],
    )  # fmt: skip
    pairs = table(
        ("pairs", "macro-F1 %", "caught", "to review", "false supers.", "merged", "false merges"),
        [
            (
                name,
                share(entry["macro_f1"]),
                entry["caught"],
                entry["to_review"],
                entry["false_supersession"],
                entry["merged"],
                entry["false_merge"],
            )
            for name, entry in result["pairs"].items()
        ],
    )
    return [f"{result['suite']}: {result['models']['classifier']}", "", *streams, "", *pairs]
