"""Notes of what is known of an entity: made from current facts, and gone with them."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import pytest
from builders import NOW, day, said
from command_line import Cli
from pipelines import FAKE_SETTINGS, Memory

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.errors import InputError, LeaseHeldError, UndoConflictError
from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.graph.claims import validate_claim
from consolidate.graph.lineage import lineage_trace
from consolidate.memory import open_memory
from consolidate.store import Store
from consolidate.synthesis import Synthesis, synthesise
from consolidate.types import Fact, Relation

ACME = "Mia works at Acme."
GLOBEX = "Mia works at Globex."
BEES = "Mia keeps bees in Ghent."
ALLERGY = "Mia is allergic to walnuts."
CAR = "Mia drives an old car."
CHESS = "Otto plays chess."


@pytest.fixture
def memory(store: Store) -> Memory:
    made = Memory(store, {(ACME, GLOBEX): Relation.CONTRADICTS})
    made.add(said(ACME, 1), said(BEES, 40), said(ALLERGY, 20), said(CHESS, 3))
    made.run()
    return made


def write(memory: Memory, backends: Backends | None = None, **options: object) -> Synthesis:
    return synthesise(
        memory.store,
        backends or memory.backends,
        memory.settings,
        now=memory.now,
        **options,  # type: ignore[arg-type]
    )


def note(memory: Memory) -> Fact:
    (found,) = memory.store.notes("default")
    return found


def test_a_note_says_the_current_facts_of_an_entity_in_the_order_of_their_days(
    memory: Memory,
) -> None:
    (made,) = write(memory).notes
    assert made == note(memory)
    assert made.text == f"Mia:\n2026-01-02: {ACME}\n2026-01-21: {ALLERGY}\n2026-02-10: {BEES}"
    assert made.kind == "synthesis"
    assert made.stated_at == day(40)
    assert not memory.store.notes("default", entity="otto")


def test_the_same_facts_are_written_once_at_no_cost(memory: Memory) -> None:
    write(memory)
    calls, rows, before = memory.calls, memory.store.rows_written(), memory.dump()
    again = write(memory)
    assert (again.receipt, again.notes, again.unchanged) == (None, (), 1)
    assert (memory.calls, memory.store.rows_written(), memory.dump()) == (calls, rows, before)


def test_a_note_is_nothing_new_to_a_run_and_takes_part_in_no_pair(memory: Memory) -> None:
    calls = memory.calls
    write(memory)
    assert memory.run().nothing_new
    assert memory.calls == calls
    memory.add(said(CAR, 50))
    outcome = memory.run()
    assert outcome.plan
    made = note(memory).id
    assert all(made not in (d.subject, d.object) for d in outcome.plan.decisions)
    assert made not in {f.id for f in memory.store.snapshot("default").facts}


def test_a_fact_that_comes_in_makes_the_note_anew_and_the_old_one_is_history(
    memory: Memory,
) -> None:
    write(memory)
    old = note(memory)
    memory.add(said(CAR, 50))
    memory.run()
    done = write(memory)
    assert note(memory).text.endswith(f"2026-02-20: {CAR}")
    assert done.retired == (old.id,)
    (event,) = memory.store.history(note(memory).id).before
    assert (event.fact.id, event.sentence) == (old.id, "A newer note took its place.")


def test_a_note_goes_in_the_run_that_retires_a_source_and_comes_back_with_its_undo(
    memory: Memory,
) -> None:
    write(memory)
    made = note(memory)
    memory.add(said(GLOBEX, 60))
    before = memory.dump()
    outcome = memory.run()
    assert outcome.receipt
    assert outcome.receipt.applied["supersede"] == 1
    assert not any(ACME in text for text in memory.live())
    (event,) = memory.store.history(made.id).after
    assert (event.run, event.sentence) == (outcome.receipt.run, "A source no longer holds.")
    # Undoing it brings the very rows back, and the receipt counts the note's.
    undone = memory.undo()
    assert undone.rows == outcome.receipt.rows
    assert note(memory) == made
    assert {line for line in before if made.id in line} <= set(memory.dump())


def test_the_next_note_says_what_holds_now(memory: Memory) -> None:
    write(memory)
    memory.add(said(GLOBEX, 60))
    memory.run()
    write(memory)
    assert GLOBEX in note(memory).text
    assert ACME not in note(memory).text


def test_a_synthesis_is_undone_to_the_byte(memory: Memory) -> None:
    before = memory.dump()
    done = write(memory)
    assert done.receipt
    memory.undo(done.receipt.run)
    assert memory.dump() == before
    assert memory.run().nothing_new


def test_no_undo_brings_a_note_back_whose_source_is_retired(memory: Memory) -> None:
    write(memory)
    first = note(memory)
    memory.add(said(CAR, 50))
    memory.run()
    refreshed = write(memory)
    assert refreshed.receipt
    memory.add(said(GLOBEX, 60))
    retiring = memory.run()
    assert retiring.receipt
    with pytest.raises(UndoConflictError, match=retiring.receipt.run):
        memory.undo(refreshed.receipt.run)
    memory.undo(retiring.receipt.run)
    memory.undo(refreshed.receipt.run)
    assert note(memory) == first


def test_too_few_facts_left_retire_the_note(memory: Memory) -> None:
    write(memory)
    old = note(memory)
    done = write(memory, least=4)
    assert done.retired == (old.id,)
    assert not memory.store.notes("default")


def test_what_is_over_or_waits_for_a_review_is_in_no_note(memory: Memory) -> None:
    over = said("Mia rents a flat in Bonn.", 5, valid_to=day(30))
    ends = said("Mia has a library card of Ghent.", 6, valid_to=day(900))
    memory.add(over, ends)
    memory.run()
    write(memory)
    assert over.text not in note(memory).text
    assert ends.text in note(memory).text
    assert note(memory).valid_to == day(900)  # and so it is not shown once that is over


def test_lineage_leads_from_a_note_to_its_sources_and_back(memory: Memory) -> None:
    write(memory)
    made = note(memory)
    found = lineage_trace(memory.store, made.id, direction="backward", depth=1)
    texts = {node.text for node in found.nodes if node.depth == 1}
    assert texts == {ACME, BEES, ALLERGY}
    assert {edge.how for edge in found.edges} == {"source_of"}
    source = next(node.id for node in found.nodes if node.text == BEES)
    onward = lineage_trace(memory.store, source, direction="forward", depth=1)
    assert made.id in {node.id for node in onward.nodes}


def test_forgetting_a_fact_takes_all_notes_made_from_it_along(memory: Memory) -> None:
    write(memory)
    memory.add(said(CAR, 50))
    memory.run()
    write(memory)
    bees = next(fact.id for fact in memory.store.facts() if fact.text == BEES)
    path = memory.store.path
    assert path
    with open_memory(path, settings=FAKE_SETTINGS) as opened:
        shown = opened.forget_preview(ids=[bees])
        assert {m.why for m in shown.matches} == {"named", f"made from {bees}"}
        opened.forget_memory(shown.token)
    assert not [f for f in memory.store.facts(statuses=None) if "bees" in f.text]
    assert b"bees" not in path.read_bytes().lower()
    assert memory.store.check() == []


def test_purging_history_takes_old_notes_along(memory: Memory) -> None:
    write(memory)
    memory.add(said(GLOBEX, 60))
    memory.run()
    path = memory.store.path
    assert path
    with open_memory(path, settings=FAKE_SETTINGS) as opened:
        opened.purge(preview=False)
    assert not [f for f in memory.store.facts(statuses=None) if ACME in f.text]


def exported(store: Store) -> bytes:
    return "".join(f"{line}\n" for line in export_lines(store, agent=None, now=NOW)).encode()


def test_notes_are_exported_and_revive_nothing_where_a_source_is_retired(
    memory: Memory, tmp_path: Path, open_store: Callable[..., Store]
) -> None:
    elsewhere = open_store(tmp_path / "elsewhere.db")
    import_bytes(elsewhere, exported(memory.store), Options(), now=NOW)
    other = Memory(elsewhere, {(ACME, GLOBEX): Relation.CONTRADICTS})
    other.add(said(GLOBEX, 60))
    other.run()
    write(memory)
    data = exported(memory.store)
    import_bytes(elsewhere, data, Options(), now=NOW)
    assert not any(ACME in text for text in other.live())
    empty = open_store(tmp_path / "empty.db")
    import_bytes(empty, data, Options(), now=NOW)
    assert empty.notes("default") == memory.store.notes("default")


def test_what_is_remembered_anew_takes_the_note_along_too(memory: Memory) -> None:
    write(memory)
    path = memory.store.path
    assert path
    with open_memory(path, settings=FAKE_SETTINGS, backends=memory.backends) as opened:
        opened.remember_facts(GLOBEX, stated_at=day(60))
        assert not any(ACME in text for text in memory.live())
        assert not opened.store.notes("default")


def test_accepting_a_review_takes_the_note_along(memory: Memory) -> None:
    write(memory)
    memory.add(said(GLOBEX, 1))  # on one day: which came later nobody knows
    memory.run()
    assert ACME in note(memory).text
    (review,) = memory.store.reviews()
    globex = next(fact.id for fact in memory.store.facts() if fact.text == GLOBEX)
    receipt = pipeline.accept(memory.store, review.id, keep=globex, now=NOW)
    assert not any(ACME in text for text in memory.live())
    memory.undo(receipt.run)
    assert ACME in note(memory).text


def test_a_note_is_recalled_and_is_no_witness(memory: Memory) -> None:
    write(memory)
    path = memory.store.path
    assert path
    with open_memory(path, settings=FAKE_SETTINGS, backends=memory.backends) as opened:
        found = opened.recall_memories("What of Mia, bees and walnuts?")
        assert note(memory).id in {each.fact.id for each in found}
        check = validate_claim(opened, BEES)
        assert [each.fact.text for each in check.supporting] == [BEES]


def test_a_synthesis_of_somebody_else_is_a_fact_like_others(memory: Memory) -> None:
    memory.add(said("Mia is a busy person.", 70, kind="synthesis"))
    memory.run()
    done = write(memory)
    assert "busy" not in note(memory).text
    assert done.retired == ()
    assert "Mia is a busy person." in memory.live()


def test_nothing_is_written_while_a_run_is_at_work(memory: Memory) -> None:
    with memory.store.lease(now=lambda: datetime.now(UTC)), pytest.raises(LeaseHeldError):
        write(memory)
    with pytest.raises(InputError, match="least 0"):
        write(memory, least=0)


def test_notes_are_found_without_going_through_all_facts(store: Store) -> None:
    # Every run asks whether a note lost a source, while other writers wait. A plan of SQLite's that
    # can't use the index is an error there.
    seen: list[str] = []
    store._db._connection.set_trace_callback(seen.append)
    store.notes("default")
    store.notes_from("default", ["x"])
    store.drop_unfounded("default")
    store._db._connection.set_trace_callback(None)
    asked = [sql for sql in seen if "synthesis" in sql]
    assert len(asked) == 3
    for sql in asked:
        plan = store._db.query(f"EXPLAIN QUERY PLAN {sql}")
        assert any("INDEX facts_synthesised" in row[-1] for row in plan)


# On the command line


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    return Cli(tmp_path, tmp_path / "cli.db")


def test_the_command_writes_shows_and_takes_back(cli: Cli) -> None:
    for text in (ACME, BEES, ALLERGY):
        cli("remember", "--stated-at", "2026-01-02T09:00:00+00:00", text)
    assert "consolidate run" in cli("synthesise").out
    cli("run")
    shown = cli("synthesise").out
    assert "2026-01-02: Mia keeps bees" in shown
    assert "Notes: 1 written, 0 retired, 1 stand." in shown
    assert "Nothing new" in cli("synthesise").out
    assert "Notes were written about Mia." in cli("report", "last").out
    tree = cli("entity", "show", "Mia").out
    assert (
        tree.index("note · ") < tree.index("2026-01-02: Mia keeps bees") < tree.index("facts (3)")
    )
    (found,) = cli("synthesise", "--json").json["notes"]
    assert found["kind"] == "synthesis"
    cli("undo", "last")
    assert cli("synthesise", "--json").json["done"]["receipt"]["applied"]["synthesise"] == 1
