"""The graph as a page: what it holds, that it loads nothing, and what a real browser shows."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from command_line import Cli

from consolidate.backends.rules import RulesExtractor
from consolidate.graph.page import graph_data, graph_page
from consolidate.graph.refresh import refresh
from consolidate.store import Store
from consolidate.types import FactStatus, NewFact, Plan

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
EVIL = "Bruno Sala wrote </script><script>document.title='owned'</script><!-- <img src=x>."
TEXTS = (
    "Alice Meyer lives in Ghent.",
    "Alice Meyer lives in Lund.",
    "Alice Meyer has moved to Porto.",
    "Alice Meyer plays chess with Bruno Sala.",
    EVIL,
)
CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")
in_a_browser = pytest.mark.skipif(CHROMIUM is None, reason="there is no chromium to look with")


@pytest.fixture
def told(tmp_path: Path) -> Iterator[tuple[Store, list[str]]]:
    """Ghent gave way to Lund, Lund to Porto, a day after each other."""
    with Store.open(tmp_path / "m.db") as store:
        new = [NewFact(text=text, stated_at=NOW + i * DAY) for i, text in enumerate(TEXTS)]
        ids = [each.id for each in store.add(new, now=NOW)]
        refresh(store, "default", extractor=RulesExtractor())
        plan = Plan(
            id="p" * 64,
            agent="default",
            now=NOW,
            snapshot_digest="",
            settings_digest="",
            facts={},
            decisions=(),
        )
        with store.atomic():
            run = store.begin_run(plan, now=NOW)
            for old, later in ((0, 1), (1, 2)):
                gone = replace(
                    store.get(ids[old]), status=FactStatus.SUPERSEDED, superseded_by=ids[later]
                )
                store.write_fact(gone, run=run)
        yield store, ids


def seen(page: str, folder: Path, address: str = "") -> str:
    """The document as the browser has it after the page's own program ran."""
    assert CHROMIUM is not None
    file = folder / "page.html"
    file.write_text(page, encoding="utf-8")
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--disable-dev-shm-usage",
            f"--user-data-dir={folder / 'browser'}",
            "--window-size=1200,800",
            "--virtual-time-budget=20000",
            "--dump-dom",
            f"{file.as_uri()}{address}",
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


def side(document: str) -> str:
    found = re.search(r"<aside.*?</aside>", document, re.DOTALL)
    assert found is not None
    return found.group()


def number(store: Store, name: str) -> int:
    return next(n for n, (_, label, _) in store.entity_labels("default").items() if label == name)


def test_the_data_ties_facts_to_entities_and_to_what_became_of_them(
    told: tuple[Store, list[str]],
) -> None:
    store, ids = told
    data = graph_data(store)
    rows: dict[str, list[Any]] = {row[0]: row for row in data["facts"]}
    assert rows.keys() == set(ids)
    ghent, lund, porto = (rows[each] for each in ids[:3])
    assert (ghent[3], ghent[5], ghent[6]) == ("superseded", lund[4], ids[1])
    assert (porto[3], porto[5], porto[6]) == ("active", None, None)
    names = {data["entities"][place][1] for place in rows[ids[3]][9]}
    assert names >= {"Alice Meyer", "Bruno Sala"}
    assert "Alice Meyer" in {data["entities"][place][1] for place in ghent[9]}


def test_the_page_loads_nothing_and_no_fact_can_break_out_of_it(
    told: tuple[Store, list[str]],
) -> None:
    store, _ = told
    page = graph_page(store)
    assert "default-src 'none'" in page
    assert page.count("</script>") == 2
    held = re.search(r'<script id="data"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert held is not None
    program = page.replace(held.group(1), "")
    assert not re.search(r"(?:src|href)\s*=|https?://|@import|url\(|fetch\(|XMLHttp", program)
    assert not set(held.group(1)) & set("<>&")
    assert EVIL in {row[1] for row in json.loads(held.group(1))["facts"]}


def test_forgotten_facts_are_not_on_the_page(told: tuple[Store, list[str]]) -> None:
    store, ids = told
    with store.atomic():
        gone = replace(store.get(ids[3]), status=FactStatus.FORGOTTEN)
        store.write_fact(gone, run=store.runs("default")[0].id)
    assert ids[3] not in {row[0] for row in graph_data(store)["facts"]}
    assert TEXTS[3] not in graph_page(store)


@in_a_browser
def test_a_browser_draws_it_and_shows_text_as_text(
    told: tuple[Store, list[str]], tmp_path: Path
) -> None:
    store, _ = told
    document = seen(graph_page(store), tmp_path, f"#entity={number(store, 'Bruno Sala')}")
    assert 'data-settled="yes"' in document
    assert "<title>Memory of default</title>" in document
    shown = side(document)
    assert "Bruno Sala" in shown and "plays chess" in shown
    assert "&lt;/script&gt;" in shown and "<img" not in shown


@in_a_browser
def test_a_browser_shows_the_history_of_a_fact_in_order(
    told: tuple[Store, list[str]], tmp_path: Path
) -> None:
    store, ids = told
    shown = side(seen(graph_page(store), tmp_path, f"#fact={ids[0]}"))
    assert "History (3 facts)" in shown
    chain = shown[shown.index("History (3") :]
    assert chain.index("Ghent") < chain.index("Lund") < chain.index("Porto")
    assert "superseded on 2026-03-02" in chain


@in_a_browser
def test_a_browser_filters_by_type_by_time_and_by_words(
    told: tuple[Store, list[str]], tmp_path: Path
) -> None:
    store, _ = told
    page = graph_page(store)

    def facts_at(address: str) -> str:
        found = re.search(r'data-facts="(\d+)"', seen(page, tmp_path, address))
        assert found is not None
        return found.group(1)

    assert facts_at("") == "3"
    assert facts_at("#retired") == "5"
    assert facts_at("#asof=2026-03-02T18:00:00Z") == "1"
    every = re.search(r'data-nodes="(\d+)"', seen(page, tmp_path))
    people = re.search(r'data-nodes="(\d+)"', seen(page, tmp_path, "#off=person"))
    assert every is not None and people is not None
    assert int(people.group(1)) < int(every.group(1))
    found = side(seen(page, tmp_path, "#find=meyer%20PORTO"))
    assert "moved to Porto" in found and "Ghent" not in found


def test_the_command_writes_the_page_and_spares_the_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    cli = Cli(home=tmp_path, db=tmp_path / "memory.db")
    cli.env["CONSOLIDATE_EXTRACTOR"] = "rules"
    cli("remember", "Alice Meyer lives in Ghent.")
    told = cli("graph", "--html", "page.html")
    assert "Wrote 0 entities" in told.out and "consolidate run" in told.out
    cli("run")
    found = cli("graph", "--html", "page.html", "--json").json
    assert found["file"] == "page.html" and found["entities"] >= 1
    assert "Alice Meyer" in (tmp_path / "page.html").read_text(encoding="utf-8")
    before = cli.db.read_bytes()
    assert "database itself" in cli("graph", "--html", "memory.db", code=1).err
    assert cli.db.read_bytes() == before
    assert "no folder" in cli("graph", "--html", "none/page.html", code=1).err
