"""Comparing two results, and the page that shows them."""

from __future__ import annotations

import json
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from test_eval_pairs import write_sets
from test_eval_streams import FAKES, MOVED

from consolidate.errors import InputError
from eval.compare import compare
from eval.compare import main as compare_main
from eval.page import main as page_main
from eval.page import page
from eval.pairs import run_pairs
from eval.record import write_result
from eval.streams import run_streams


def result(**items: str) -> dict[str, Any]:
    return {"suite": "x", "samples": {"right": {"kind": "share", "items": items}}}


def test_the_difference_of_two_results_has_an_interval() -> None:
    a = result(**{f"i{n}": "0/1" if n % 2 else "1/1" for n in range(200)})
    b = result(**{f"i{n}": "1/1" for n in range(200)})
    found = compare(a, b)["right"]
    assert (found["a"], found["b"], found["difference"], found["items"]) == (0.5, 1.0, 0.5, 200)
    assert 0.4 < found["low"] < 0.5 < found["high"] < 0.6


def test_a_result_does_not_differ_from_itself() -> None:
    a = result(p="1/2", q="3/4", r="0/9")
    found = compare(a, a)["right"]
    assert found["a"] == pytest.approx(4 / 15)
    assert found["difference"] == found["low"] == found["high"] == 0.0


def test_items_are_resampled_as_pairs_and_only_shared_ones_count() -> None:
    a, b = result(p="1/1", q="0/1", r="1/1"), result(p="1/1", q="0/1", s="0/1")
    found = compare(a, b)["right"]
    assert found["items"] == 2
    assert found["low"] == found["high"] == 0.0  # both say the same of p and q


def test_macro_f1_is_compared_over_resampled_pairs() -> None:
    def said(**items: str) -> dict[str, Any]:
        return {"suite": "x", "samples": {"macro-F1": {"kind": "macro-F1", "items": items}}}

    right = {
        "p": "duplicate duplicate", "q": "contradiction contradiction", "r": "distinct distinct",
    }  # fmt: skip
    found = compare(said(**right), said(**right | {"q": "contradiction distinct"}))["macro-F1"]
    assert found["a"] == 1.0
    assert found["b"] == pytest.approx((1 + 0 + 2 / 3) / 3)


@pytest.mark.parametrize(
    ("other", "says"),
    [
        ({"suite": "y", "samples": {}}, "other suites"),
        (result(z="1/1"), "no items in common"),
        ({"suite": "x"}, "no items in common"),
    ],
)
def test_results_that_can_not_be_compared_say_why(other: dict[str, Any], says: str) -> None:
    with pytest.raises(InputError, match=says):
        compare(result(p="1/1"), other)


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("results")
    for split in ("dev", "test"):
        (folder / "streams" / split).mkdir(parents=True)
        line = json.dumps({**MOVED, "id": "<s>"})
        (folder / "streams" / split / "a.jsonl").write_text(line, encoding="utf-8")
    sets = write_sets(folder / "pairs")
    found = {}
    for split in ("dev", "test"):
        made = {
            "pairs": run_pairs(split, FAKES, sets=sets),
            "streams": run_streams(split, FAKES, folder=folder / "streams", with_demo=False),
        }
        for name, each in made.items():
            found[f"{name} {split}"] = write_result(folder, f"{name}_{split}.json", each)
    return found


def test_the_command_compares_two_files(
    results: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = str(results["pairs dev"])
    assert compare_main([path, path]) == 0
    out = capsys.readouterr().out
    assert "macro-F1" in out
    assert "differs" not in out
    (tmp_path / "x.json").write_text("[]", encoding="utf-8")
    assert compare_main([path, str(tmp_path / "x.json")]) == 1
    assert "is no result of eval.run" in capsys.readouterr().err


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.seen: list[tuple[str, dict[str, str | None]]] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))
        if tag not in ("meta", "br"):
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


def test_the_page_is_whole_escaped_and_loads_nothing(
    results: dict[str, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "report.html"
    assert page_main([*map(str, results.values()), "-o", str(out)]) == 0
    text = out.read_text(encoding="utf-8")
    tags = Tags()
    tags.feed(text)
    assert tags.open == []
    assert {tag for tag, _ in tags.seen} & {"script", "link", "img", "iframe", "object"} == set()
    assert not [a for _, a in tags.seen if "src" in a or "href" in a]
    assert "http" not in text
    assert "&lt;s&gt;" in text
    assert "<s>" not in text
    assert sum(tag == "svg" for tag, _ in tags.seen) == 8


def test_the_page_shows_what_a_reader_needs(results: dict[str, Path]) -> None:
    text = page([json.loads(results["pairs dev"].read_text(encoding="utf-8"))])
    for wanted in ("macro-F1", "false supersessions", "Confusion", "calibration error",
                   "By category", "Worst mistakes", "do nothing", "classifier alone",
                   "what this rests on"):  # fmt: skip
        assert wanted in text


def test_nothing_of_the_test_split_is_shown_one_by_one(results: dict[str, Path]) -> None:
    dev, test = (
        page([json.loads(results[f"{suite} {split}"].read_text(encoding="utf-8"))])
        for suite, split in (("pairs", "dev"), ("pairs", "test"))
    )
    assert "Ivo sold the boat" in dev
    assert "Ivo sold the boat" not in test
    raw = results["pairs test"].read_text(encoding="utf-8")
    assert "Ivo" not in raw


def test_a_file_that_is_no_result_is_an_error_without_a_traceback(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "x.json").write_text("{}", encoding="utf-8")
    assert page_main([str(tmp_path / "x.json"), "-o", str(tmp_path / "r.html")]) == 1
    assert "it names no suite" in capsys.readouterr().err
    assert page_main([str(tmp_path / "none.json")]) == 1
