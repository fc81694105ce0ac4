"""Short tables of results for the terminal. Formats, measures nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

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
         "caught at 1 %"),
        [
            (
                name,
                share(entry["macro_f1"]),
                *(share(bound) for bound in entry["macro_f1_95"]),
                *(share(entry["f1"][each]) for each in entry["f1"]),
                share(entry["accuracy"]),
                share(entry.get("caught_at_1pct")),
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
    lines += ["", *_weakest(result), "", *_public(result["public"])]
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
    """What has become of the demo, with the traps that were sprung."""
    scored = result["judge"]
    rows = {"judge": {**scored, "traps_sprung": len(scored["traps_sprung"])}, **result["controls"]}
    lines = [f"{result['suite']}: {scored['facts']} facts, {result['models']['classifier']}", ""]
    lines += table(
        ("", "right %", "superseded right %", "groups right %", "false retirements",
         "missed updates", "missed merges", "traps sprung"),
        [
            (
                name,
                share(entry["right"]),
                share(entry["superseded_right"]),
                share(entry["groups_right"]),
                entry["false_retirements"],
                entry["missed_updates"],
                entry["missed_merges"],
                entry["traps_sprung"],
            )
            for name, entry in rows.items()
        ],
    )  # fmt: skip
    reviews = scored["reviews"]
    lines += [
        "",
        f"{reviews['opened']} reviews opened, {reviews['needless']} of them needless; with what is "
        f"asked, {share(scored['right_or_asked'])} % right. Again: "
        + ("nothing new" if result["again"]["nothing_new"] else "NOT nothing new"),
    ]
    for title, entries in (
        ("Traps sprung", scored["traps_sprung"]),
        ("Other false retirements", scored["other_false_retirements"]),
    ):
        lines += ["", f"{title}: {len(entries) or 'none'}"]
        lines += [f"  {entry['id']}  {entry['text']}\n      {entry['why']}" for entry in entries]
    return lines
