"""Checks on what comes in and goes out: import, export, standard input, folders."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

from command_line import Cli

from cases.bench import NOW, Bench, check, day, live, said
from consolidate.backends import resolve_embedder
from consolidate.backends.files import bundled_folder
from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.store import Store
from consolidate.types import FactStatus

RATES = [
    said("a", "The mooring rate is 20 euros", 1),
    said("b", "The mooring rate is 25 euros", 40),
    said("c", "The mooring rate is 30 euros", 80),
    said("d", "Tessel paints the mooring posts", 81),
    said("e", "Tessel paints the mooring posts", 82),
]


@check
def an_import_makes_up_no_time(bench: Bench) -> None:
    rows = [
        {"text": "The grant is 55k", "timestamp": "2025-04-02T00:00:00Z"},
        {"text": "The grant runs for two years", "timestamp": "2025-04-03"},
        {"text": "The grant has no end date"},
        {"text": "The grant is held by the museum", "timestamp": None},
        {"text": "The grant is paid in June", "timestamp": ""},
    ]
    data = "\n".join(map(json.dumps, rows)).encode()
    store = bench.store()
    report = import_bytes(store, data, Options(timezone="UTC"), now=NOW)
    assert report.broken == ()
    stated = {fact.text[10:]: fact.stated_at for fact in store.facts()}
    assert stated == {
        "is 55k": day(-274),
        "runs for two years": day(-273),
        "has no end date": None,
        "is held by the museum": None,
        "is paid in June": None,
    }
    assert {fact.recorded_at for fact in store.facts()} == {NOW}


@check
def one_broken_line_stops_no_import(bench: Bench) -> None:
    good = [
        json.dumps({"type": "entity", "name": f"Buoy {n}", "entityType": "buoy",
                    "observations": [f"drifts {n} m off its mark"]})
        for n in range(1000)
    ]  # fmt: skip
    lines = [*good[:600], good[0][:40], *good[600:]]
    store = bench.store()
    report = import_bytes(store, "\n".join(lines).encode(), Options(), now=NOW)
    assert report.format == "mcp-memory"
    assert [item.line for item in report.broken] == [601]
    assert report.broken[0].reason
    assert report.new == len(store.facts()) == 1000
    plain = [json.dumps({"text": f"Buoy {n} is lit"}) for n in range(1000)]
    store = bench.store()
    data = "\n".join([*plain, plain[0][:9]]).encode()
    report = import_bytes(store, data, Options(), now=NOW)
    assert ([item.line for item in report.broken], report.new) == ([1001], 1000)


@check
def wrapped_text_is_unwrapped(bench: Bench) -> None:
    store = bench.store()
    wrapped = {"content": json.dumps({"text": "The proxy port is 7001"}), "id": 7}
    plain = {"content": "The proxy port is 7001"}
    for row in (wrapped, plain):
        report = import_bytes(store, json.dumps(row).encode(), Options(), now=NOW)
        assert report.broken == ()
    (fact,) = store.facts()
    assert fact.text == "The proxy port is 7001"


@check
def standard_input_survives_an_old_code_page(bench: Bench) -> None:
    sentence = "✦ Маяк горит, 灯台 is lit"
    cli = Cli(home=bench.folder, db=bench.path)
    environment = {**cli.process_environment(), "PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "consolidate", "remember", "-"],
        cwd=bench.folder, env=environment, input=(sentence + "\n").encode(), capture_output=True,
        timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert [fact.text for fact in bench.store(bench.path).facts()] == [sentence]


@check
def folders_of_any_script_work(bench: Bench) -> None:
    folder = bench.folder / "данные" / "ö 文書"
    folder.mkdir(parents=True)
    database, file = folder / "データ.db", folder / "выгрузка.jsonl"
    model = folder / "モデル"
    shutil.copytree(bundled_folder("minilm"), model)
    vectors = resolve_embedder(f"onnx:{model}").embed(["The well is deep"])
    assert vectors.shape == (1, 384)
    store = bench.filled(RATES, database)
    bench.run(store)
    lines = list(export_lines(store, agent=None, now=NOW))
    cli = Cli(home=folder, db=database)
    cli("export", str(file))
    assert file.read_text(encoding="utf-8").splitlines()[1:] == lines[1:]
    other = Cli(home=folder, db=folder / "второй.db")
    assert other("import", str(file), "--json").json["new"] == len(RATES)


def _past(bench: Bench, path: str | Path = ":memory:") -> Store:
    """A store with a chain of three, a merge, and a link between them and a run."""
    store = bench.filled(RATES, path)
    bench.run(store)
    assert store.get("a").superseded_by == "b"
    assert store.get("b").superseded_by == "c"
    assert set(live(store)) in ({"c", "d"}, {"c", "e"})
    return store


@check
def an_export_comes_back_the_same(bench: Bench) -> None:
    store = _past(bench)
    lines = list(export_lines(store, agent=None, now=NOW))
    copy = bench.store()
    report = import_bytes(copy, "\n".join(lines).encode(), Options(), now=day(400))
    assert report.broken == ()
    assert report.new == len(RATES)
    assert list(export_lines(copy, agent=None, now=day(401)))[1:] == lines[1:]
    assert copy.check() == []
    assert [event.to for event in copy.history("a").after] == ["b", "c"]
    copy.undo("last", now=day(402))
    assert set(live(copy)) == {"a", "b", "c", "d", "e"}


@check
def an_export_with_a_past_is_imported(bench: Bench) -> None:
    store = _past(bench)
    store.add([said("x", "Another agent's note", 1, agent="other")], now=NOW)
    lines = list(export_lines(store, agent="default", now=NOW))
    assert not any("Another agent" in line for line in lines)
    copy = bench.store()
    report = import_bytes(copy, "\n".join(lines).encode(), Options(), now=NOW)
    assert report.broken == ()
    assert copy.check() == []
    # A file from which somebody took out what is retired still gives the rest.
    shortened = [
        line for line in lines if json.loads(line).get("status") not in ("superseded", "merged")
    ]
    assert len(shortened) == len(lines) - 3
    rest = bench.store()
    import_bytes(rest, "\n".join(shortened).encode(), Options(), now=NOW)
    assert live(rest).keys() == {fact.id for fact in store.facts(agent="default")}
    assert rest.check() == []


@check
def importing_again_revives_nothing(bench: Bench) -> None:
    bundle = "\n".join(
        json.dumps({"text": text, "created_at": "2026-01-02T00:00:00Z"})
        for text in ("The mooring rate is 20 euros", "Tessel paints the posts")
    ).encode()
    store = bench.store()
    import_bytes(store, bundle, Options(), now=NOW)
    store.add([said("new", "The mooring rate is 25 euros", 40)], now=NOW)
    bench.run(store)
    standing = {fact.text for fact in store.facts()}
    assert standing == {"The mooring rate is 25 euros", "Tessel paints the posts"}
    for source in (None, "import:backup", "assistant"):
        import_bytes(store, bundle, Options(source=source), now=NOW)
        bench.run(store)
        assert {fact.text for fact in store.facts()} == standing
    assert len(store.facts(statuses=[FactStatus.SUPERSEDED])) == 1


@check
def a_forgotten_fact_leaves_no_trace(bench: Bench) -> None:
    store = _past(bench, bench.path)
    path = store.path
    assert path is not None and b"Tessel" in path.read_bytes() + _log(path)
    erased = store.erase("default", ["d"], now=NOW)
    assert set(erased.facts) == {"d", "e"}
    assert store.scrub() == ""
    assert store.check() == []
    assert store.search("Tessel", include_history=True) == []
    exported = "\n".join(export_lines(store, agent=None, now=NOW))
    for word in ("Tessel", "paints"):
        assert word not in exported
        assert word.lower().encode() not in (path.read_bytes() + _log(path)).lower()
    assert store.undo("last", now=day(402)).run


@check
def importing_again_brings_back_nothing_forgotten(bench: Bench) -> None:
    source = _past(bench)
    bundle = "\n".join(export_lines(source, agent=None, now=NOW)).encode()
    store = bench.store()
    import_bytes(store, bundle, Options(), now=NOW)
    store.erase("default", ["c"], now=NOW)
    before = list(store.dump())
    for again in (bundle, b'{"text": "The mooring rate is 30 euros."}'):
        import_bytes(store, again, Options(), now=NOW)
        bench.run(store)
    assert "c" not in {fact.id for fact in store.facts(statuses=None)}
    assert not any("30 euros" in fact.text for fact in store.facts(statuses=None))
    assert len(list(store.dump())) == len(before)


def _log(path: Path) -> bytes:
    log = Path(f"{path}-wal")
    return log.read_bytes() if log.exists() else b""
