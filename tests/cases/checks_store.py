"""Checks on the store: what it shows, what locks do, whether it stays sound."""

from __future__ import annotations

import sqlite3
import threading
import time

import pytest
from command_line import Cli

from cases.bench import NOW, Bench, check, judged, live, said
from consolidate import pipeline
from consolidate.errors import NaiveTimeError, StoreError
from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.serialise import canonical
from consolidate.store import Store
from consolidate.times import format_time, parse_time
from consolidate.types import Alias, FactStatus, Relation

LIMITS = [
    said("old", "The lift limit is 300 kg", 1),
    said("new", "The lift limit is 400 kg", 20),
    said("twin", "The lift limit is 400 kg", 25),
]


@check
def what_is_retired_is_shown_as_past(bench: Bench) -> None:
    store = bench.filled(LIMITS)
    bench.run(store)
    shown = {fact.id: fact for fact in store.search("lift limit", include_history=True)}
    old = shown["old"]
    assert old.status is FactStatus.SUPERSEDED
    assert old.superseded_by == "new"
    assert old.valid_to == shown["new"].stated_at
    # Raw material is no fact and cannot be retired; it says so by its kind.
    store.add([said("raw", "1 January: the lift limit is 300 kg", 1, kind="memory")], now=NOW)
    bench.run(store)
    assert store.get("raw").kind == "memory"
    assert store.get("old").status is FactStatus.SUPERSEDED


@check
def no_way_of_reading_shows_what_is_retired(bench: Bench) -> None:
    store = bench.filled(LIMITS, bench.path)
    bench.run(store)
    gone = {fact.id for fact in store.facts(statuses=None)} - set(live(store))
    assert len(gone) == 2
    assert not gone & {fact.id for fact in store.facts(agent="default")}
    assert not gone & {fact.id for fact in store.facts(ids=("old", "new", "twin"))}
    assert not gone & {fact.id for fact in store.facts(kind="fact", limit=10)}
    for query in ("lift", "lift limit 300 kg", "The lift limit is 300 kg", "limit* OR kg"):
        assert not gone & {fact.id for fact in store.search(query)}
        assert not gone & {fact.id for fact in store.search(query, agent="default", limit=50)}
    # Where the past is part of what is asked for, it is marked.
    for line in export_lines(store, agent=None, now=NOW):
        for fact_id in gone:
            if line.startswith("{") and f'"id":"{fact_id}"' in line and '"type":"fact"' in line:
                assert f'"status":"{store.get(fact_id).status}"' in line
    cli = Cli(home=bench.folder, db=bench.path)
    told = cli("history", "old", "--json").json
    assert told["fact"]["status"] == "superseded"
    assert told["after"][0]["to"] == "new"


@check
def readers_never_stop_a_writer(bench: Bench) -> None:
    with Store.open(bench.path) as store:
        store.add([said("first", "The well is deep", 0)], now=NOW)
    over = threading.Event()
    trouble: list[Exception] = []
    reads = [0] * 4

    def read(number: int) -> None:
        try:
            with Store.open(bench.path) as store:
                while not over.is_set():
                    assert store.search("well")
                    assert store.facts()
                    reads[number] += 1
        except Exception as error:
            trouble.append(error)

    readers = [threading.Thread(target=read, args=(number,)) for number in range(4)]
    for reader in readers:
        reader.start()
    try:
        with Store.open(bench.path) as store:
            number = 0
            # Not before every reader has read beside the writer.
            while number < 40 or (min(reads) < 5 and not trouble and number < 5000):
                store.add([said(f"w{number}", f"Bucket {number} hangs by the well", 1)], now=NOW)
                number += 1
    finally:
        over.set()
        for reader in readers:
            reader.join()
    assert trouble == []
    assert min(reads) >= 5
    with Store.open(bench.path) as store:
        assert len(store.facts()) == number + 1


@check
def a_locked_store_says_so(bench: Bench) -> None:
    store = bench.filled([said("first", "The well is deep", 0)], bench.path)
    impatient = bench.store(bench.path, busy_timeout=0.05)
    holder = sqlite3.connect(bench.path, isolation_level=None)
    try:
        holder.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreError, match="busy") as caught:
            impatient.add([said("late", "The rope is new", 1)], now=NOW)
        assert str(bench.path) in str(caught.value)
        with pytest.raises(StoreError, match="busy"):
            bench.run(impatient)
        assert [fact.id for fact in impatient.search("well")] == ["first"]
        holder.execute("ROLLBACK")
    finally:
        holder.close()
    assert impatient.add([said("late", "The rope is new", 1)], now=NOW)[0].new
    assert set(live(store)) == {"first", "late"}


@check
def a_store_with_a_past_is_sound(bench: Bench) -> None:
    store = bench.filled([*LIMITS, said("side", "Otto greases the Tiller lift", 3)])
    store.add_alias(Alias(agent="default", canonical="Tiller", alias="TIL"))
    bench.run(store)
    assert store.check() == []
    store.add([said("later", "The lift limit is 500 kg", 40)], now=NOW)
    bench.run(store)
    assert store.check() == []
    for run in store.runs():
        store.undo(run.id, now=NOW)
        assert store.check() == []


FIRST, SECOND = "The desk is by the door", "The desk is by the wall"


@check
def a_local_time_is_read_in_its_zone(bench: Bench) -> None:
    rows = [
        {"text": FIRST, "created_at": "2026-08-18T09:00:00"},
        {"text": SECOND, "created_at": "2026-08-18T02:30:00Z"},
    ]
    data = "\n".join(map(canonical, rows)).encode()
    refused = import_bytes(bench.store(), data, Options(), now=NOW)
    assert [(item.line, refused.new) for item in refused.broken] == [(1, 1)]
    for zone in ("UTC", "Asia/Shanghai", "America/Lima"):
        with bench.monkeypatch.context() as machine:
            machine.setenv("TZ", zone)
            _set_clock()
            store = bench.store()
            import_bytes(store, data, Options(timezone="Asia/Shanghai"), now=NOW)
            bench.run(store, judged((FIRST, SECOND, Relation.CONTRADICTS)))
            assert [fact.text for fact in store.facts()] == [SECOND]
            (gone,) = store.facts(statuses=[FactStatus.SUPERSEDED])
            assert gone.stated_at is not None
            assert gone.stated_at.isoformat() == "2026-08-18T01:00:00+00:00"
    _set_clock()


def _set_clock() -> None:
    if hasattr(time, "tzset"):  # not on Windows
        time.tzset()


@check
def times_in_any_form_have_one_order(bench: Bench) -> None:
    forms: list[str | int] = [
        "2026-02-01T07:00:00",
        "2026-02-01T08:00:00Z",
        "2026-02-01T18:00:00+09:00",
        1769940000,
        "2026-02-02",
    ]
    for value in (forms[0], forms[4]):
        with pytest.raises(NaiveTimeError):
            parse_time(value)
    moments = [parse_time(value, zone="UTC") for value in forms]
    assert moments == sorted(moments)
    assert len(set(moments)) == 5
    written = [format_time(moment) for moment in moments]
    assert written == sorted(written)
    facts = [
        said(f"t{number}", f"Gauge {number} was read by Anton", stated=None, valid_from=moment)
        for number, moment in enumerate(moments)
    ]
    store = bench.filled(facts)
    pipeline.run(store, bench.real, bench.settings, now=NOW)
    assert len(store.facts()) == 5
