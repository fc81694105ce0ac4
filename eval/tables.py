"""Short tables of results for the terminal. Formats, measures nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from eval.marks import HARM

_FEW = 3

__all__ = ["pairs_lines", "share", "streams_lines", "table"]


def share(value: float | None) -> str:
    """A share in per cent; a dash where there is none."""
    return "-" if value is None or value != value else f"{100 * value:.1f}"


def table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> list[str]:
    """Columns as wide as they need: the first to the left, the others to the right."""
    cells = [[str(cell) for cell in row] for row in (head, *rows)]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    return [
        "  ".join(
            cell.ljust(width) if k == 0 else cell.rjust(width)
            for k, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in cells
    ]


def pairs_lines(result: Mapping[str, Any]) -> list[str]:
    """Judge and controls, then what each profile does."""
    lines = [f"{result['suite']}: {result['pairs']} pairs, {result['models']['classifier']}", ""]
    judges = {"judge": result["judge"], **result["controls"]}
    lines += table(
        ("%", "macro-F1", "95 % from", "to", "duplicate", "contrad.", "distinct", "accuracy",
         "caught at 1 %", "false merges", "false supers.", "misses"),
        [
            (
                name,
                share(entry["macro_f1"]),
                *(share(bound) for bound in entry["macro_f1_95"]),
                *(share(entry["f1"][each]) for each in entry["f1"]),
                share(entry["accuracy"]),
                share(entry.get("caught_at_1pct")),
                entry["false_merges"],
                entry["false_supersessions"],
                entry["misses"],
            )
            for name, entry in judges.items()
        ],
    )  # fmt: skip
    names = ("caught", "wrong_way", "to_review", "missed", "false_supersession",
             "needless_question", "merged", "merge_to_review", "missed_merge", "merged_contained",
             "false_merge")  # fmt: skip
    profiles = result["profiles"]
    lines += ["", "Pairs out of "
              f"{profiles['balanced']['contradictions']} contradictions, "
              f"{profiles['balanced']['others']} others, "
              f"{profiles['balanced']['equivalents']} equivalents:"]  # fmt: skip
    lines += table(
        ("", *profiles),
        [(name.replace("_", " "), *(entry[name] for entry in profiles.values())) for name in names],
    )
    ece = result["curves"]["reliability"]
    lines += [
        "",
        f"calibration error: classifier {share(ece['classifier']['ece'])} %, "
        f"{ece['acting']['items']} contradictions {share(ece['acting']['ece'])} %",
        *_weakest(result),
        "",
        *_public(result["public"]),
    ]
    return lines


def _weakest(result: Mapping[str, Any]) -> list[str]:
    categories = sorted(
        result["by_category"].items(), key=lambda item: (item[1]["accuracy"], item[0])
    )
    told = ", ".join(f"{name} {share(entry['accuracy'])}" for name, entry in categories[:6])
    return [f"Weakest categories (accuracy, %): {told}"]


def _public(found: Mapping[str, Mapping[str, Any]] | str) -> list[str]:
    if isinstance(found, str):
        return [f"Public pairs {found}"]
    rows = [
        (
            name + (" (evaluation only)" if entry["evaluation_only"] else ""),
            entry["pairs"],
            share(entry.get("accuracy")),
            share(entry.get("macro_f1")),
            share(entry.get("contradiction_auc")),
        )
        for name, entry in found.items()
    ]
    head = ("Public dev pairs, classifier alone, %", "pairs", "accuracy", "macro-F1", "AUC")
    return table(head, rows)


def streams_lines(result: Mapping[str, Any]) -> list[str]:
    """What has become of the memories, by way, tag and stream; then of the demo."""
    lines = [
        f"{result['suite']}: {result['streams']} streams, {result['judge']['facts']} facts, "
        f"{result['models']['classifier']}",
        "",
        *_states(result),
        "",
        *_parts(
            f"by tag (of {_FEW} streams or more)",
            {name: part for name, part in result["by_tag"].items() if part["streams"] >= _FEW},
        ),
        "",
        *_parts("by language", result["by_language"]),
        "",
        *_parts("by stream", result["by_stream"]),
    ]
    lines += ["", *_harm(result)] if "mistakes" in result else []
    if "demo" in result:
        lines += ["", f"demo: {result['demo']['judge']['facts']} facts", ""]
        lines += [*_states(result["demo"]), "", *_harm(result["demo"])]
    return lines


def _states(result: Mapping[str, Any]) -> list[str]:
    judge, again = result["judge"], result["again"]
    lines = table(
        ("", "right %", "superseded right %", "groups right %", "wrong merges",
         "false supersessions", "traps sprung", "missed updates", "missed merges", "asked"),
        [
            (
                name,
                share(entry["right_share"]),
                share(entry["superseded_right_share"]),
                share(entry["groups_right_share"]),
                entry["wrong_merge"],
                entry["false_supersession"],
                f"{entry['traps_sprung']}/{entry['traps']}",
                entry["missed_update"],
                entry["missed_merge"],
                entry["asked"],
            )
            for name, entry in {"judge": judge, **result["controls"]}.items()
        ],
    )  # fmt: skip
    news = again["something_new"]
    return [
        *lines,
        "",
        f"{judge['reviews']} reviews opened, {judge['reviews_needless']} of them needless; with "
        f"what is asked, {share(judge['right_or_asked_share'])} % right. Again: "
        + (f"NOT nothing new in {news}" if news else "nothing new"),
    ]


def _parts(title: str, parts: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """Counts for each tag, language or stream, the least right first."""
    ranked = sorted(parts.items(), key=lambda item: (item[1]["right"] / item[1]["facts"], item[0]))
    return table(
        (title, "facts", "right %", "wrong merges", "false supersessions", "traps sprung",
         "missed", "asked"),
        [
            (
                name,
                entry["facts"],
                share(entry["right"] / entry["facts"]),
                entry["wrong_merge"],
                entry["false_supersession"],
                f"{entry['traps_sprung']}/{entry['traps']}",
                entry["missed_update"] + entry["missed_merge"],
                entry["asked"],
            )
            for name, entry in ranked
        ],
    )  # fmt: skip


def _harm(result: Mapping[str, Any]) -> list[str]:
    """Each fact that was retired wrongly, with the sentence of its decision."""
    harm = [entry for entry in result["mistakes"] if entry["mark"] in HARM]
    lines = [f"Retired wrongly: {len(harm) or 'none'}"]
    for entry in harm:
        kind = entry["mark"] + (", a trap" if entry["trap"] else "")
        lines.append(f"  {entry['stream']} {entry['id']} ({kind})  {entry['text']}")
        lines.append(f"      {entry['why']}")
    return lines
