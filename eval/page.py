"""One page of results: `python -m eval.page RESULTS... -o report.html`.

Self-contained: no script, no font, no picture from elsewhere. Every text of a data set is escaped.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any, Final

from consolidate.errors import ConsolidateError
from eval.compare import read_result
from eval.conversations import conversations_lines
from eval.entities import lines as entities_lines
from eval.extraction import extraction_lines
from eval.suite_tables import ablation_lines, blocking_lines, dedup_lines, endtoend_lines
from eval.svg import bars, line_chart
from eval.tables import share

__all__ = ["main", "page"]

STYLE: Final = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 75rem; margin: 2rem auto; padding: 0 1rem;
       color: #1a202c; background: #fff; }
table { border-collapse: collapse; margin: .8rem 0; font-size: 13px; }
th, td { border-bottom: 1px solid #e2e8f0; padding: .25rem .6rem; text-align: right;
         vertical-align: top; }
th:first-child, td:first-child, td.text { text-align: left; }
td.harm { color: #9b2c2c; font-weight: 600; }
.charts { display: flex; flex-wrap: wrap; gap: 1rem; }
figure { margin: 0; } figcaption { font-size: 13px; color: #4a5568; }
pre { background: #f7fafc; padding: .8rem; overflow-x: auto; font-size: 12px; }
details { margin: .6rem 0; } .head { color: #4a5568; font-size: 13px; }
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page."""
    parser = argparse.ArgumentParser(prog="python -m eval.page", description="Render results.")
    parser.add_argument("results", nargs="+", type=Path, help="JSON files of eval.run")
    parser.add_argument("-o", "--out", type=Path, default=Path("report.html"), metavar="FILE")
    chosen = parser.parse_args(arguments)
    try:
        text = page([read_result(path) for path in chosen.results])
        chosen.out.write_text(text, encoding="utf-8")
    except (ConsolidateError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    print(f"written to {chosen.out}")
    return 0


def page(results: Sequence[Mapping[str, Any]]) -> str:
    """The page as text, one section a result."""
    sections = "".join(
        f"<section><h2>{escape(result['suite'])}</h2>{_head(result)}{_body(result)}</section>"
        for result in results
    )
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8"><title>Results</title>'
        f"<style>{STYLE}</style></head><body><h1>Results</h1>"
        "<p>Harm (wrong merges, false supersessions) is told apart from misses: the first hides "
        f"what is true, the second leaves work undone.</p>{sections}</body></html>\n"
    )


def _head(result: Mapping[str, Any]) -> str:
    machine, seconds = result.get("machine", {}), result.get("seconds", {})
    stamps = {
        "date": result.get("date"),
        "models": ", ".join(f"{k} {v}" for k, v in result.get("models", {}).items()),
        "settings": str(result.get("settings", ""))[:12],
        "code": str(result.get("code", ""))[:12],
        "data": ", ".join(f"{k} {str(v)[:12]}" for k, v in result.get("data", {}).items()),
        "machine": ", ".join(f"{k} {v}" for k, v in machine.items()),
        "seconds": ", ".join(f"{k} {v:.1f}" for k, v in seconds.items()),
    }
    told = "<br>".join(f"{name}: {escape(str(value))}" for name, value in stamps.items())
    return f'<details class="head"><summary>what this rests on</summary>{told}</details>'


def _body(result: Mapping[str, Any]) -> str:
    show = _SUITES.get(result["suite"].split()[0])
    return show(result) if show else "<p>No table for this suite.</p>"


def _table(head: Sequence[str], rows: Sequence[Sequence[object]], text: Sequence[int] = ()) -> str:
    """A table; `text` are columns of running text, to the left."""

    def cell(place: int, value: object) -> str:
        kind = ' class="text"' if place in text else ""
        return f"<td{kind}>{escape(str(value))}</td>"

    top = "".join(f"<th>{escape(name)}</th>" for name in head)
    body = "".join(
        "<tr>" + "".join(cell(place, value) for place, value in enumerate(row)) + "</tr>"
        for row in rows
    )
    return f"<table><thead><tr>{top}</tr></thead><tbody>{body}</tbody></table>"


def _figure(chart: str, caption: str) -> str:
    return f"<figure>{chart}<figcaption>{escape(caption)}</figcaption></figure>"


# -- pairs -------------------------------------------------------------------------------------


def _pairs(result: Mapping[str, Any]) -> str:
    ways = {"judge": result["judge"], **result["controls"]}
    profile = result["profiles"][result["profile"]]
    matrix, curves = result["confusion"], result["curves"]
    reliable = curves["reliability"]
    acts = ("caught", "to_review", "missed", "wrong_way", "false_supersession", "false_merge",
            "merged", "merged_contained", "merge_to_review", "missed_merge")  # fmt: skip
    categories = sorted(result["by_category"].items(), key=lambda item: item[1]["accuracy"])
    parts = [
        "<h3>Judge and controls</h3>",
        _table(
            ("way", "macro-F1 %", "95 %", "accuracy %", "caught at 1 %", "false merges",
             "false supersessions", "misses"),
            [
                (
                    name,
                    share(entry["macro_f1"]),
                    " to ".join(share(bound) for bound in entry["macro_f1_95"]),
                    share(entry["accuracy"]),
                    share(entry.get("caught_at_1pct")),
                    entry["false_merges"],
                    entry["false_supersessions"],
                    entry["misses"],
                )
                for name, entry in ways.items()
            ],
        ),
        f"<h3>What a run does ({escape(result['profile'])})</h3>",
        _table(
            ("outcome", "pairs", "% of its class"),
            [
                (name.replace("_", " "), profile[name], share(profile.get(f"{name}_rate")))
                for name in acts
            ],
        ),
        "<h3>Confusion</h3>",
        _table(
            ("labelled \\ said", *matrix["classes"]),
            [
                (name, *counts)
                for name, counts in zip(matrix["classes"], matrix["counts"], strict=True)
            ],
        ),
        '<div class="charts">',
        _figure(
            line_chart(curves["precision_recall"], across="recall", up="precision"),
            "Contradictions found as the threshold falls",
        ),
        _figure(
            line_chart(
                curves["risk_coverage"], across="coverage", up="risk",
                top=_ceiling(curves["risk_coverage"]),
            ),
            "Share of mistakes among the surest pairs",
        ),
        _figure(
            bars(reliable["classifier"]["bins"], across="confidence", up="share right"),
            "Classifier, both directions: calibration error "
            f"{share(reliable['classifier']['ece'])} %",
        ),
        _figure(
            bars(reliable["acting"]["bins"], across="confidence", up="share right"),
            f"Contradictions it may act on: calibration error {share(reliable['acting']['ece'])} %",
        ),
        "</div>",
    ]  # fmt: skip
    for title, fields in (
        ("By category", categories),
        ("By language", result["by_language"].items()),
    ):
        parts += [f"<h3>{title}</h3>", _table(
            ("", "pairs", "accuracy %", "classifier alone %", "false merges",
             "false supersessions", "missed", "asked"),
            [
                (name, e["pairs"], share(e["accuracy"]), share(e["classifier_alone"]),
                 e["false_merge"], e["false_supersession"], e["missed"], e["asked"])
                for name, e in fields
            ],
        )]  # fmt: skip
    return "".join(parts) + _worst(result.get("mistakes"))


def _ceiling(lines: Mapping[str, Sequence[Sequence[float]]]) -> float:
    highest = max((point[1] for points in lines.values() for point in points), default=1.0)
    return max(0.05, min(1.0, highest * 1.1))


def _worst(mistakes: Sequence[Mapping[str, Any]] | None) -> str:
    if mistakes is None:
        return "<p>Single pairs of this split are not shown.</p>"
    return "<h3>Worst mistakes</h3>" + _table(
        ("mistake", "a", "b", "label", "said", "sure", "because"),
        [
            (
                entry["mistake"].replace("_", " "),
                f"{entry['a']} ({entry['a_time'] or '?'})",
                f"{entry['b']} ({entry['b_time'] or '?'})",
                entry["label"],
                entry["said"],
                f"{entry['confidence']:.2f}",
                "; ".join(entry["because"]),
            )
            for entry in mistakes
        ],
        text=(1, 2, 3, 4, 6),
    )


# -- streams -----------------------------------------------------------------------------------


def _streams(result: Mapping[str, Any]) -> str:
    parts = ["<h3>Judge and controls</h3>", _states(result)]
    for title, key in (
        ("By tag", "by_tag"), ("By language", "by_language"), ("By stream", "by_stream"),
    ):  # fmt: skip
        rows = sorted(result[key].items(), key=lambda item: item[1]["right"] / item[1]["facts"])
        parts += [f"<details><summary>{title}</summary>", _table(
            ("", "facts", "right %", "wrong merges", "false supersessions", "traps sprung",
             "missed", "asked"),
            [
                (name, e["facts"], share(e["right"] / e["facts"]), e["wrong_merge"],
                 e["false_supersession"], f"{e['traps_sprung']}/{e['traps']}",
                 e["missed_update"] + e["missed_merge"], e["asked"])
                for name, e in rows
            ],
        ), "</details>"]  # fmt: skip
    parts.append(_facts(result.get("mistakes")))
    if "demo" in result:
        demo = result["demo"]
        parts += ["<h3>The demo</h3>", _states(demo), _facts(demo["mistakes"])]
    return "".join(parts)


def _states(result: Mapping[str, Any]) -> str:
    return _table(
        ("way", "right %", "superseded right %", "groups right %", "wrong merges",
         "false supersessions", "traps sprung", "missed updates", "missed merges", "asked"),
        [
            (
                name,
                share(e["right_share"]),
                share(e["superseded_right_share"]),
                share(e["groups_right_share"]),
                e["wrong_merge"],
                e["false_supersession"],
                f"{e['traps_sprung']}/{e['traps']}",
                e["missed_update"],
                e["missed_merge"],
                e["asked"],
            )
            for name, e in {"judge": result["judge"], **result["controls"]}.items()
        ],
    )  # fmt: skip


def _facts(mistakes: Sequence[Mapping[str, Any]] | None) -> str:
    if mistakes is None:
        return "<p>Single facts of this split are not shown.</p>"
    return "<details><summary>Facts in a wrong state, harm first</summary>" + _table(
        ("stream", "fact", "mark", "text", "why"),
        [
            (
                e["stream"],
                e["id"],
                e["mark"] + (" (trap)" if e["trap"] else ""),
                e["text"],
                e["why"],
            )
            for e in mistakes
        ],
        text=(2, 3, 4),
    ) + "</details>"  # fmt: skip


def _conflicts(result: Mapping[str, Any]) -> str:
    judge = result["judge"]
    ways = {"judge": judge, **result["controls"]} | {
        f"judge, {kind}": entry for kind, entry in judge["by_kind"].items()
    }
    return _table(
        ("way", "outdated superseded %", "asked", "current kept %", "lost", "new value on top %"),
        [
            (name, share(e["superseded_share"]), e["asked"], share(e["kept_share"]), e["lost"],
             share(e["answered_share"]))
            for name, e in ways.items()
        ],
    )  # fmt: skip


def _plain(lines: Callable[[Mapping[str, Any]], list[str]]) -> Callable[[Mapping[str, Any]], str]:
    return lambda result: f"<pre>{escape(chr(10).join(lines(result)))}</pre>"


_SUITES: Final[Mapping[str, Callable[[Mapping[str, Any]], str]]] = {
    "pairs": _pairs,
    "streams": _streams,
    "conflicts": _conflicts,
    "blocking": _plain(blocking_lines),
    "entities": _plain(entities_lines),
    "extraction": _plain(extraction_lines),
    "dedup": _plain(dedup_lines),
    "endtoend": _plain(endtoend_lines),
    "ablation": _plain(ablation_lines),
    "conversations": _plain(conversations_lines),
}


if __name__ == "__main__":
    sys.exit(main())
