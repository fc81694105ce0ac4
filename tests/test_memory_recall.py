"""Recall: by meaning and by words, what holds now or held then, without the write lock."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from builders import NOW, day, said
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pipelines import Classifier, Extractor

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.backends.fake import FakeEmbedder
from consolidate.errors import BackendError, InputError, ModelMismatchError
from consolidate.memory.index import MemoryIndex
from consolidate.memory.memory import Memory
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import (
    Decision,
    DecisionKind,
    FactStatus,
    Group,
    Groups,
    NewFact,
    Plan,
    Relation,
)

FAKES = Settings(embedder="fake", extractor="fake", classifier="fake")


def backends(embedder: Any = None, verdicts: Any = None) -> Backends:
    return Backends(
        embedder=embedder or FakeEmbedder(),
        extractor=Extractor(),
        classifier=Classifier(verdicts),
    )


class Still(Memory):
    """A memory whose clock stands."""

    moment = NOW

    def now(self) -> datetime:  # type: ignore[override]  # a clock of the instance
        return self.moment


OpenMemory = Callable[..., Still]


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[OpenMemory]:
    opened: list[Still] = []

    def open_(agent: str = "default", **options: Any) -> Still:
        options = {"settings": FAKES, "backends": backends(), **options}
        opened.append(Still.open(tmp_path / "memory.db", agent, **options))
        return opened[-1]

    yield open_
    for memory in opened:
        memory.close()


@pytest.fixture
def memory(open_memory: OpenMemory) -> Still:
    return open_memory()


def add(memory: Memory, *facts: NewFact | str) -> list[str]:
    new = [said(fact) if isinstance(fact, str) else fact for fact in facts]
    return [a.id for a in memory.store.add([replace(f, agent=memory.agent) for f in new], now=NOW)]


def texts(found: Sequence[Any]) -> list[str]:
    return [each.fact.text for each in found]


class Placed(FakeEmbedder):
    """Puts texts where a test wants them; the others go far away, each to a place of its own."""

    def __init__(self, places: Mapping[str, Sequence[float]]) -> None:
        super().__init__(dimensions=8)
        self.places = places

    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        self.items += len(texts)
        rows = np.zeros((len(texts), 8), dtype=np.float32)
        for row, text in zip(rows, texts, strict=True):
            place = self.places.get(text, [0.0] * 7 + [1.0])
            row[: len(place)] = place
            row /= np.linalg.norm(row)
        return rows


# ---- finding


def test_a_fact_is_found_by_meaning_by_words_and_by_both(open_memory: OpenMemory) -> None:
    places = {"q harbour": [1.0], "A ferry leaves.": [0.8, 0.6], "The harbour.": [0.7, 0.0, 0.7]}
    memory = open_memory(backends=backends(Placed(places)))
    add(memory, "A ferry leaves.", "The harbour.", "A harbour far from it.", "Nothing of it.")
    found = memory.recall_memories("q harbour")
    assert {each.fact.text: each.found_by for each in found} == {
        "A ferry leaves.": ("meaning",),
        "The harbour.": ("meaning", "words"),
        "A harbour far from it.": ("words",),
    }
    assert texts(found)[0] == "The harbour."
    assert (found.used, found.notes) == (("meaning", "words"), ())


def test_the_score_is_the_weighted_sum_of_its_parts(open_memory: OpenMemory) -> None:
    weighed = replace(FAKES, relevance_weight=0.5, strength_weight=0.2, recency_weight=0.05)
    memory = open_memory(settings=weighed)
    add(memory, said("The harbour is closed.", 100, intensity=0.8))
    (found,) = memory.recall_memories("harbour")
    assert found.strength == pytest.approx(0.8)
    assert found.recency == pytest.approx(np.exp(-0.01 * (NOW - day(100)).total_seconds() / 86400))
    assert found.score == pytest.approx(
        0.5 * found.relevance + 0.2 * found.strength + 0.05 * found.recency
    )


def test_hippos_weights_are_the_default() -> None:
    default = Settings()
    assert (default.relevance_weight, default.strength_weight, default.recency_weight) == (
        0.6,
        0.3,
        0.1,
    )


def test_a_strong_fact_beside_the_point_does_not_beat_a_faint_one_to_it(
    open_memory: OpenMemory,
) -> None:
    places = {"q": [1.0], "To the point.": [0.8, 0.6], "Beside it.": [0.15, 0.99]}
    memory = open_memory(backends=backends(Placed(places)))
    add(memory, said("Beside it.", intensity=0.9), said("To the point.", intensity=0.4))
    assert texts(memory.recall_memories("q")) == ["To the point.", "Beside it."]


def test_many_finds_by_words_do_not_drive_out_the_one_by_meaning(open_memory: OpenMemory) -> None:
    places = {"harbour": [1.0], "A ferry leaves.": [0.3, 0.95]}
    all_embedded = replace(FAKES, recall_embeds=100)
    memory = open_memory(backends=backends(Placed(places)), settings=all_embedded)
    add(memory, said("A ferry leaves.", intensity=0.1))
    add(memory, *(f"Harbour number {n}." for n in range(80)))
    found = memory.recall_memories("harbour", limit=10)
    assert len(found) == 10
    assert "A ferry leaves." in texts(found)


def test_many_finds_by_meaning_do_not_drive_out_the_one_by_words(open_memory: OpenMemory) -> None:
    places: dict[str, Sequence[float]] = {f"Ferry {n}.": [0.9, 0.4] for n in range(80)}
    all_embedded = replace(FAKES, recall_embeds=100)
    memory = open_memory(
        backends=backends(Placed({"ERR-4711": [1.0], **places})), settings=all_embedded
    )
    add(memory, said("Seen: ERR-4711.", intensity=0.05), *places)
    assert "Seen: ERR-4711." in texts(memory.recall_memories("ERR-4711", limit=10))


def test_facts_below_the_least_similarity_are_not_found(open_memory: OpenMemory) -> None:
    places = {"q": [1.0], "Near.": [0.2, 0.98], "Far.": [0.05, 0.99]}
    memory = open_memory(backends=backends(Placed(places)))
    add(memory, "Near.", "Far.")
    assert texts(memory.recall_memories("q")) == ["Near."]


def test_kind_limit_and_agent_are_kept_to(open_memory: OpenMemory) -> None:
    memory, other = open_memory("ada"), open_memory("bo")
    add(memory, said("The harbour is deep.", kind="plan"), *(f"Harbour {n}." for n in range(5)))
    add(other, "A harbour of his own.")
    assert texts(memory.recall_memories("harbour", kind="plan")) == ["The harbour is deep."]
    assert memory.recall_memories("harbour", kind="nothing") == []
    assert len(memory.recall_memories("harbour", limit=3)) == 3
    assert texts(other.recall_memories("harbour")) == ["A harbour of his own."]


def test_entities_that_a_run_found_come_along(memory: Still) -> None:
    (fact,) = add(memory, "Ada lives in Porto.")
    group = Group(key="ada", name="Ada", facts=(fact,))
    memory.store.save_entities("default", Groups(groups=(group,), by_fact={fact: ("ada",)}), {})
    assert memory.recall_memories("porto")[0].entities == ("Ada",)


def test_a_long_memory_is_found_by_a_passage_and_returned_whole(memory: Still) -> None:
    filler = [f"Paragraph {n} is about ledgers and invoices of the year." for n in range(60)]
    text = "\n".join([*filler[:40], "A zeppelin landed behind the barn.", *filler[40:]])
    add(memory, NewFact(text=text, kind="memory"), "The barn is red.", "Invoices are paid late.")
    found = memory.recall_memories("zeppelin landed", limit=1)
    assert found[0].fact.text == text
    assert "zeppelin" in found[0].passage
    assert len(found[0].passage) < len(text) / 2
    assert found[0].found_by[-1] == "words"
    assert memory.recall_memories("barn red", limit=1)[0].passage == ""


def test_a_long_memory_is_found_by_the_meaning_of_one_passage(open_memory: OpenMemory) -> None:
    text = "\n".join(f"Paragraph {n} is about ledgers and invoices." for n in range(80))
    with Store.open(":memory:") as scratch:
        (added,) = scratch.add([NewFact(text=text)], now=NOW)
        passages = scratch.passages(added.id)
    assert len(passages) > 3
    memory = open_memory(backends=backends(Placed({"qqq": [1.0], passages[2].text: [0.9, 0.4]})))
    add(memory, NewFact(text=text, kind="memory"))
    (found,) = memory.recall_memories("qqq")
    assert (found.fact.text, found.passage) == (text, passages[2].text)
    assert found.found_by == ("meaning",)


@pytest.mark.parametrize("query", ["🧠", "寒い", "don't", "CAFÉ"])
def test_queries_without_plain_words_find_what_they_mean(memory: Still, query: str) -> None:
    wanted = {
        "🧠": "🧠 hurts",
        "寒い": "今日は寒いです",
        "don't": "I don't ski",
        "CAFÉ": "The cafe",
    }
    add(memory, *wanted.values())
    found = memory.recall_memories(query)
    assert next(each.fact.text for each in found if "words" in each.found_by) == wanted[query]


HOSTILE = [
    '"',
    "NEAR(",
    "a OR b",
    "text:",
    "*",
    "a\0b",
    "'; DROP TABLE facts; --",
    "\x1b[2J",
    "x" * 10**6,
]


@pytest.mark.parametrize("query", HOSTILE)
def test_the_language_of_the_index_has_no_power(memory: Still, query: str) -> None:
    add(memory, "A plain fact.")
    memory.recall_memories(query)
    assert memory.store.check() == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40)
@given(st.text(min_size=1, max_size=40).filter(lambda t: t.strip()))
def test_any_text_is_a_query(memory: Still, query: str) -> None:
    memory.recall_memories(query)


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"query": " "}, "query"),
        ({"query": "\ud800"}, "surrogate"),
        ({"query": "x", "limit": 0}, "limit"),
        ({"query": "x", "limit": 1001}, "limit"),
        ({"query": "x", "kind": ""}, "kind"),
        ({"query": "x", "as_of": "soon"}, "not a time"),
        ({"query": "x", "as_of": "2026-01-01"}, "offset"),
        ({"query": "x", "as_of": datetime(2026, 1, 1)}, "offset"),  # noqa: DTZ001  # refused
    ],
)
def test_values_that_can_not_be_used_are_named(
    memory: Still, options: dict[str, Any], why: str
) -> None:
    with pytest.raises(InputError, match=why):
        memory.recall_memories(**options)


# ---- the present and the past


def retire(
    memory: Memory, subject: str, successor: str, *, at: float, valid_to: float | None = None,
    kind: DecisionKind = DecisionKind.SUPERSEDE,
) -> str:  # fmt: skip
    """Let a run retire a fact `at` days after the start of 2026."""
    facts = {fact.id: fact for fact in memory.store.facts(statuses=None)}
    from consolidate.store import fact_digest

    decision = Decision(
        id=f"d-{subject}-{at}",
        kind=kind,
        subject=subject,
        object=successor,
        reason="test",
        sentence="It was so.",
        valid_to=None if valid_to is None else day(valid_to),
    )
    plan = Plan(
        id=f"p-{subject}-{at}",
        agent=memory.agent,
        now=day(at),
        snapshot_digest="",
        settings_digest="",
        facts={each: fact_digest(facts[each]) for each in (subject, successor)},
        decisions=(decision,),
    )
    return pipeline.apply(memory.store, plan, now=day(at)).run


def test_superseded_facts_are_out_unless_history_is_asked_for(memory: Still) -> None:
    old, new = add(memory, said("Ada lives in Porto.", 10), said("Ada lives in Ghent.", 50))
    retire(memory, old, new, at=60, valid_to=50)
    assert texts(memory.recall_memories("Ada lives")) == ["Ada lives in Ghent."]
    both = memory.recall_memories("Ada lives", include_history=True)
    assert set(texts(both)) == {"Ada lives in Porto.", "Ada lives in Ghent."}
    assert {each.fact.status for each in both} == {FactStatus.ACTIVE, FactStatus.SUPERSEDED}


@pytest.mark.parametrize(
    ("at", "held"), [(5, []), (10, ["Porto"]), (49.9, ["Porto"]), (50, ["Ghent"]), (200, ["Ghent"])]
)
def test_a_day_answers_with_what_held_then(memory: Still, at: float, held: list[str]) -> None:
    old, new = add(memory, said("Ada lives in Porto.", 10), said("Ada lives in Ghent.", 50))
    retire(memory, old, new, at=60, valid_to=50)
    found = memory.recall_memories("Ada lives", as_of=day(at))
    assert texts(found) == [f"Ada lives in {city}." for city in held]


def test_without_a_date_in_the_world_the_run_says_until_when_it_held(memory: Still) -> None:
    old, new = add(memory, said("Ada lives in Porto.", 10), said("Ada lives in Ghent.", 50))
    run = retire(memory, old, new, at=60)
    assert set(texts(memory.recall_memories("Ada lives", as_of=day(55)))) == {
        "Ada lives in Porto.",
        "Ada lives in Ghent.",
    }
    assert texts(memory.recall_memories("Ada lives", as_of=day(61))) == ["Ada lives in Ghent."]
    pipeline.undo(memory.store, run, now=day(62))
    assert len(memory.recall_memories("Ada lives", as_of=day(61))) == 2
    assert len(memory.recall_memories("Ada lives")) == 2


def test_what_never_held_held_at_no_time(memory: Still) -> None:
    old, new = add(memory, said("Ada lives in Porto.", 10), said("Ada lives in Ghent.", 50))
    retire(memory, old, new, at=60, valid_to=10)  # a correction: it was wrong from the start
    assert texts(memory.recall_memories("Ada lives", as_of=day(30))) == []
    assert len(memory.recall_memories("Ada lives", as_of=day(30), include_history=True)) == 1


def test_of_merged_facts_the_survivor_answers_unless_it_came_later(memory: Still) -> None:
    early, late = add(memory, said("Ada lives in Porto.", 10), said("Ada's home is Porto.", 50))
    retire(memory, early, late, at=60, kind=DecisionKind.MERGE)
    for at, text in (
        (30, "Ada lives in Porto."),
        (55, "Ada's home is Porto."),
        (90, "Ada's home is Porto."),
    ):
        assert texts(memory.recall_memories("Ada Porto", as_of=day(at))) == [text]
    assert texts(memory.recall_memories("Ada Porto")) == ["Ada's home is Porto."]


def test_validity_says_more_than_the_time_of_saying(memory: Still) -> None:
    add(memory, said("The gate is open.", 100, valid_from=day(20), valid_to=day(40)))
    assert len(memory.recall_memories("gate", as_of=day(30))) == 1
    for at in (10, 40, 120):
        assert memory.recall_memories("gate", as_of=day(at)) == []
    assert memory.recall_memories("gate") == []
    assert len(memory.recall_memories("gate", include_history=True)) == 1


def test_what_will_hold_is_known_and_an_event_that_is_over_has_still_happened(
    memory: Still,
) -> None:
    soon = NOW + timedelta(days=30)
    add(
        memory,
        said("The gate opens in January.", 300, valid_from=soon),
        said("The gate was painted.", 100, kind="event", valid_to=day(101)),
    )
    assert len(memory.recall_memories("gate")) == 2


def test_as_of_reads_text_in_the_zone_of_the_settings(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=replace(FAKES, timezone="Europe/Athens"))
    add(memory, said("The gate is open.", 31 - 2 / 24))  # midnight in Athens
    assert len(memory.recall_memories("gate", as_of="2026-02-01")) == 1
    assert memory.recall_memories("gate", as_of="2026-01-31T23:59:59") == []


# ---- keeping up


def test_what_another_process_writes_is_seen(open_memory: OpenMemory) -> None:
    reader, writer = open_memory(), open_memory()
    assert reader.recall_memories("harbour") == []
    old, new = add(writer, said("The harbour is open.", 1), said("The harbour is shut.", 2))
    assert len(reader.recall_memories("harbour")) == 2
    run = retire(writer, old, new, at=3)
    assert texts(reader.recall_memories("harbour")) == ["The harbour is shut."]
    pipeline.undo(writer.store, run, now=day(4))
    assert len(reader.recall_memories("harbour")) == 2
    with writer.store.atomic():
        writer.store._db.write("DELETE FROM facts WHERE id = ?", (new,))
    assert texts(reader.recall_memories("harbour")) == ["The harbour is open."]


def test_nothing_of_a_deleted_fact_stays_in_memory(open_memory: OpenMemory) -> None:
    memory = open_memory(
        backends=backends(Placed({"Gone.": [1.0], "q": [1.0], "Stays.": [0, 1.0]}))
    )
    add(memory, "Gone.", "Stays.")
    assert "Gone." in texts(memory.recall_memories("q"))
    with memory.store.atomic():
        memory.store._db.write("DELETE FROM facts WHERE text = 'Gone.'")
    assert memory.recall_memories("q") == []
    assert not (memory.index._matrix[:, 0] > 0.5).any()
    (left,) = add(memory, "New.")  # takes the free place
    assert memory.recall_memories("new")[0].fact.id == left


def changes() -> st.SearchStrategy[list[tuple[str, int]]]:
    verbs = st.sampled_from(["add", "delete", "retire", "embed", "pin", "use", "refresh"])
    return st.lists(st.tuples(verbs, st.integers(0, 5)), max_size=25)


@settings(
    suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=40, deadline=None
)
@given(changes())
def test_an_index_that_keeps_up_is_the_one_that_reads_everything(
    steps: list[tuple[str, int]],
) -> None:
    embedder = FakeEmbedder()
    with Store.open(":memory:") as store:
        kept = MemoryIndex(store, "default")
        for number, (verb, which) in enumerate(steps):
            facts = store.facts(statuses=None)
            one = facts[which % len(facts)] if facts else None
            if verb == "add":
                agent = "other" if which == 5 else "default"
                text = (
                    f"Fact {which}."
                    if which < 3
                    else f"Fact {number}. " * (1 if which < 4 else 200)
                )
                store.add([said(text, number, agent=agent)], now=NOW)
            elif verb == "refresh":
                kept.refresh(embedder.identity, embedder.dimensions)
            elif one is None:
                continue
            elif verb == "delete":
                with store.atomic():
                    store._db.write("DELETE FROM facts WHERE id = ?", (one.id,))
            elif verb == "retire":
                with store.atomic():
                    store._db.write(
                        "UPDATE facts SET status = 'superseded' WHERE id = ?", (one.id,)
                    )
            elif verb == "embed":
                hashes = [p.content_hash for p in store.passages(one.id)] or [one.content_hash]
                vectors = dict(zip(hashes, embedder.embed(hashes), strict=True))
                store.save_vectors(vectors, embedder.identity, embedder.dimensions)
            elif verb == "pin" and not store.pin(one.id, now=NOW):
                store.unpin(one.id)
            elif verb == "use":
                store.add_uses({one.id: (which + 1, NOW)})
        fresh = MemoryIndex(store, "default")
        for index in (kept, fresh):
            index.refresh(embedder.identity, embedder.dimensions)
        assert contents(kept) == contents(fresh)
        assert set(kept.lacking(999)) == set(fresh.lacking(999))


def contents(index: MemoryIndex) -> dict[int, tuple[Any, ...]]:
    query = FakeEmbedder().embed(["Fact 1."])[0]
    similar = index.similarities(query).tolist()
    kinds = {code: kind for kind, code in index._kinds.items()}
    return {
        number: (
            *index._names[slot],
            kinds[int(index.kind[slot])],
            *(getattr(index, name)[slot].item() for name in ("status", "starts", "said", "ends")),
            *(getattr(index, name)[slot].item() for name in ("intensity", "uses", "touched")),
            bool(index.pinned[slot]),
            round(similar[slot], 5),
            index.nearest_passage(slot, query) if similar[slot] > -1 else None,
        )
        for number, slot in index._slot.items()
    }


def test_search_is_exact() -> None:
    chance = np.random.default_rng(3)
    embedder = FakeEmbedder(dimensions=32)
    with Store.open(":memory:") as store:
        added = store.add([said(f"Fact {n}.") for n in range(500)], now=NOW)
        facts = {fact.id: fact for fact in store.facts()}
        vectors = chance.normal(size=(500, 32)).astype(np.float32)
        vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
        hashes = [facts[each.id].content_hash for each in added]
        store.save_vectors(dict(zip(hashes, vectors, strict=True)), embedder.identity, 32)
        index = MemoryIndex(store, "default")
        index.refresh(embedder.identity, 32)
        for query in vectors[:50]:
            best = index.best(index.similarities(query), 10, least=-1.0)
            exact = np.argsort(-(vectors.astype(np.float64) @ query))[:10]
            assert index.ids(best) == [added[n].id for n in exact]


# ---- the models


class Broken(FakeEmbedder):
    def embed(self, texts: Sequence[str]) -> npt.NDArray[np.float32]:
        raise BackendError("the model is out")


def test_without_a_model_words_do_and_the_answer_says_so(open_memory: OpenMemory) -> None:
    memory = open_memory(backends=backends(Broken()))
    add(memory, "The harbour is closed.", "A ferry leaves.")
    found = memory.recall_memories("the harbour")
    assert texts(found)[0] == "The harbour is closed."
    assert found.used == ("words",)
    assert "the model is out" in found.notes[0]
    assert found[0].relevance == pytest.approx(1.0)


def test_an_embedder_that_can_not_be_had_does_not_stop_recall(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=replace(FAKES, embedder="onnx:/nowhere"), backends=None)
    add(memory, "The harbour is closed.")
    found = memory.recall_memories("harbour")
    assert (texts(found), found.used) == (["The harbour is closed."], ("words",))


def test_another_model_is_refused_with_the_way_out(open_memory: OpenMemory) -> None:
    first = open_memory()
    add(first, "The harbour is closed.")
    first.recall_memories("harbour")
    other = open_memory(backends=backends(FakeEmbedder(revision="2")))
    with pytest.raises(ModelMismatchError, match="consolidate models use"):
        other.recall_memories("harbour")


def test_missing_vectors_are_made_a_few_at_a_time_the_newest_first(
    open_memory: OpenMemory,
) -> None:
    embedder = FakeEmbedder()
    memory = open_memory(backends=backends(embedder), settings=replace(FAKES, recall_embeds=3))
    ids = add(memory, *(f"Harbour {n}." for n in range(8)))
    found = memory.recall_memories("harbour", limit=50)
    assert len(found) == 8
    assert {each.fact.id for each in found if "meaning" in each.found_by} == set(ids[-3:])
    assert "5 texts have no vector yet" in found.notes[0]
    assert embedder.items == 1 + 3
    memory.recall_memories("harbour")
    last = memory.recall_memories("harbour", limit=50)
    assert all("meaning" in each.found_by for each in last)
    assert last.notes == ()
    assert memory.store.stats()["vectors"] == 8
    assert embedder.items == 3 + 8


def test_vectors_that_a_run_makes_are_taken_in(open_memory: OpenMemory) -> None:
    memory = open_memory(settings=replace(FAKES, recall_embeds=0))
    add(memory, "The harbour is closed.")
    assert memory.recall_memories("harbour")[0].found_by == ("words",)
    pipeline.run(memory.store, memory.backends, FAKES, now=NOW)
    assert memory.recall_memories("harbour")[0].found_by == ("meaning", "words")


# ---- without the write lock


@pytest.fixture
def locked(memory: Still) -> Iterator[Store]:
    """Another writer in the middle of a transaction."""
    add(memory, "The harbour is closed.")
    assert memory.store.path is not None
    with Store.open(memory.store.path) as other, other.atomic():
        yield other


def test_recall_does_not_wait_for_a_writer(memory: Still, locked: Store) -> None:
    found = memory.recall_memories("harbour")
    assert found[0].found_by == ("meaning", "words")
    assert not memory.write_uses()


def test_uses_that_could_not_be_written_are_kept_for_later(open_memory: OpenMemory) -> None:
    memory = open_memory()
    (fact,) = add(memory, "The harbour is closed.")
    assert memory.store.path is not None
    with Store.open(memory.store.path) as other, other.atomic():
        memory.recall_memories("harbour")
        assert not memory.write_uses()
        memory.recall_memories("harbour")
    assert memory.write_uses()
    assert memory.store._db.query("SELECT fact, count FROM uses") == [(fact, 2)]
    assert memory.store.stats()["vectors"] == 0  # made under the lock, kept in memory
    assert memory.recall_memories("harbour")[0].found_by == ("meaning", "words")


def test_uses_are_written_when_a_memory_is_closed(open_memory: OpenMemory) -> None:
    memory = open_memory()
    add(memory, "The harbour is closed.")
    memory.recall_memories("harbour")
    memory.close()
    assert open_memory().store._db.value("SELECT count FROM uses") == 1
    memory.close()


def test_what_only_fills_up_the_answer_is_no_use(open_memory: OpenMemory) -> None:
    memory = open_memory(settings={"recall_similarity": -1.0})
    hit, *_ = add(memory, "The harbour is closed.", "Ada likes tea.", "Bo runs at night.")
    found = memory.recall_memories("harbour closed")
    assert len(found) == 3
    weak = [each.relevance for each in found if each.fact.id != hit]
    assert found[0].fact.id == hit
    assert found[0].relevance >= memory.settings.recall_use > max(weak)
    assert memory.write_uses()
    assert memory.store._db.query("SELECT fact FROM uses") == [(hit,)]


def test_how_relevant_a_used_fact_is_can_be_set(open_memory: OpenMemory) -> None:
    memory = open_memory(settings={"recall_similarity": -1.0, "recall_use": 0.0})
    add(memory, "The harbour is closed.", "Ada likes tea.")
    memory.recall_memories("harbour closed")
    assert memory.write_uses()
    assert memory.store._db.value("SELECT count(*) FROM uses") == 2


def test_looking_into_the_past_is_no_use(memory: Still) -> None:
    add(memory, "The harbour is closed.")
    memory.recall_memories("harbour", as_of=NOW)
    memory.recall_memories("harbour", include_history=True)
    assert memory.write_uses()
    assert memory.store._db.value("SELECT count(*) FROM uses") == 0


def test_a_store_that_may_only_be_read_is_recalled_from(open_memory: OpenMemory) -> None:
    add(open_memory(), "The harbour is closed.")
    reader = open_memory(read_only=True)
    before = reader.store.path.read_bytes() if reader.store.path else b""
    found = reader.recall_memories("harbour")
    assert found[0].found_by == ("meaning", "words")
    assert reader.decay_preview(days=1000)
    reader.close()
    assert reader.store.path is not None
    assert reader.store.path.read_bytes() == before


def test_recalling_makes_no_plan_stale_and_no_run_do_anything_again(
    open_memory: OpenMemory,
) -> None:
    verdicts = {("Ada lives in Porto.", "Ada lives in Ghent."): Relation.CONTRADICTS}
    memory = open_memory(backends=backends(verdicts=verdicts))
    add(memory, said("Ada lives in Porto.", 10), said("Ada lives in Ghent.", 50))
    plan = pipeline.plan(memory.store, memory.backends, FAKES, agent="default", now=NOW)
    memory.recall_memories("Ada")
    assert memory.write_uses()
    pipeline.apply(memory.store, plan, now=NOW)
    pipeline.run(memory.store, memory.backends, FAKES, now=NOW)
    memory.recall_memories("Ada")
    assert memory.write_uses()
    again = pipeline.run(memory.store, memory.backends, FAKES, now=NOW)
    assert again.receipt is None or again.receipt.rows == 0


def test_uses_of_what_was_merged_count_for_the_survivor(memory: Still) -> None:
    one, other = add(memory, "Ada lives in Porto.", "Ada's home is Porto.")
    memory.store.add_uses({one: (50, NOW), other: (10, NOW)})
    before = strength_of(memory, other)
    retire(memory, one, other, at=300, kind=DecisionKind.MERGE)
    assert strength_of(memory, other) > before


def strength_of(memory: Still, fact: str) -> float:
    memory.moment = NOW + timedelta(days=60)
    found = memory.recall_memories("Porto", as_of=memory.moment)
    return next(each.strength for each in found if each.fact.id == fact)


def test_threads_recall_from_one_memory_while_facts_come_in(memory: Still) -> None:
    add(memory, *(f"Harbour {n}." for n in range(20)))
    failures: list[BaseException] = []

    def recall() -> None:
        try:
            for _ in range(15):
                assert len(memory.recall_memories("harbour", limit=5)) == 5
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=recall) for _ in range(4)]
    for thread in threads:
        thread.start()
    for n in range(15):
        add(memory, f"Harbour new {n}.")
    for thread in threads:
        thread.join()
    assert failures == []
    assert memory.write_uses()
    assert memory.store._db.value("SELECT sum(count) FROM uses") == 4 * 15 * 5
