"""Adding and reading facts: ids, copies, refusals, views, hostile text, search."""

from __future__ import annotations

import math
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consolidate.errors import InputError, NaiveTimeError, NotFoundError
from consolidate.judge.trust import DEFAULT_TRUST, default_trust
from consolidate.store import LIVE, Store, fact_digest, fact_hash
from consolidate.store.rows import fact_from_row, fact_to_row
from consolidate.types import Decision, DecisionKind, Fact, FactStatus, NewFact, Plan

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)

HOSTILE = [
    "Emoji 🧠👩‍👩‍👧 and flags 🇬🇷",
    "שלום עולם and العربية \N{RIGHT-TO-LEFT OVERRIDE}abc",
    "日本語のテキスト",
    "'; DROP TABLE facts; --",
    '" OR 1=1 --',
    'NEAR("a" "b", 3) AND NOT text : ^x* OR (',
    "%_\\ LIKE * ? GLOB [a]",
    "{{ jinja }} ${shell} `x` <script>",
    "a\r\n\tb\x0b\x1b[31m",
    "e\N{COMBINING ACUTE ACCENT} is not normalised to é",
    "\N{ZERO WIDTH JOINER}\N{BOM} x",
    "\uffff\U0010ffff",
    '{"json": null}',
]


def add(store: Store, *texts: str, **fields: Any) -> list[str]:
    new = [NewFact(text=text, **fields) for text in texts]
    return [added.id for added in store.add(new, now=NOW)]


def retire(store: Store, fact: str, status: FactStatus, by: str | None = None) -> str:
    """Give a fact another status, in a run of its own."""
    decision = Decision(
        id=f"d-{fact}",
        kind=DecisionKind.SUPERSEDE,
        subject=fact,
        object=by or fact,
        reason="test",
        sentence="Because the test says so.",
    )
    plan = Plan(
        id=f"plan-{fact}-{status}",
        agent="default",
        now=NOW,
        snapshot_digest="",
        settings_digest="",
        facts={},
        decisions=(decision,),
    )
    with store.atomic():
        run = store.begin_run(plan, now=NOW)
        merged = status is FactStatus.MERGED
        stored = replace(
            store.get(fact),
            status=status,
            changed_by=run,
            merged_into=by if merged else None,
            superseded_by=None if merged else by,
        )
        store.write_fact(stored, run=run)
    return run


# Adding


def test_a_fact_comes_back_with_everything(store: Store) -> None:
    new = NewFact(
        text="  The user moved to Athens.\n",
        agent="home",
        kind="event",
        id="my-id-1",
        metadata={"tags": ["a", "ü"], "deep": {"n": 1.5, "none": None}},
        stated_at=datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC),
        valid_from=datetime(2026, 1, 1, tzinfo=UTC),
        valid_to=datetime(2027, 1, 1, tzinfo=UTC),
        source="tool:calendar",
        trust=0.25,
        intensity=1,
    )
    (added,) = store.add([new], now=NOW)
    assert (added.id, added.new, added.reason) == ("my-id-1", True, "added")
    assert store.get("my-id-1") == Fact(
        id="my-id-1",
        agent="home",
        kind="event",
        text="  The user moved to Athens.\n",
        metadata={"tags": ["a", "ü"], "deep": {"n": 1.5, "none": None}},
        stated_at=new.stated_at,
        valid_from=new.valid_from,
        valid_to=new.valid_to,
        recorded_at=NOW,
        source="tool:calendar",
        trust=0.25,
        intensity=1.0,
        content_hash=fact_hash(new.text),
    )


def test_what_is_not_known_stays_unknown(store: Store) -> None:
    (fact_id,) = add(store, "x")
    fact = store.get(fact_id)
    assert (fact.stated_at, fact.confirmed_at, fact.valid_from, fact.valid_to) == (None,) * 4
    assert (fact.source, fact.trust) == ("unknown", 0.6)


def test_made_ids_are_26_characters_that_sort_by_time_and_then_by_place(store: Store) -> None:
    first = add(store, *(f"early {n}" for n in range(50)))
    (later,) = [a.id for a in store.add([NewFact(text="late")], now=NOW + timedelta(seconds=1))]
    assert {len(fact_id) for fact_id in first} == {26}
    assert first == sorted(first) and first[-1] < later
    assert [fact.text for fact in store.facts()][:2] == ["early 0", "early 1"]


def test_an_offset_is_turned_into_utc(store: Store) -> None:
    from datetime import timezone

    tokyo = timezone(timedelta(hours=9))
    (fact_id,) = add(store, "x", stated_at=datetime(2026, 1, 1, 19, tzinfo=tokyo))
    stated = store.get(fact_id).stated_at
    assert stated == datetime(2026, 1, 1, 10, tzinfo=UTC)
    assert stated is not None and stated.tzinfo is UTC


def test_the_same_fact_is_never_stored_twice(store: Store) -> None:
    new = NewFact(text="The user likes tea.", source="user", stated_at=NOW)
    first = store.add([new, new, replace(new, metadata={"other": 1})], now=NOW)
    again = store.add([new], now=NOW + timedelta(days=1))
    assert [added.new for added in first + again] == [True, False, False, False]
    assert len({added.id for added in first + again}) == 1
    assert again[0].reason == "the same is stored already (active)"
    assert len(store.facts()) == 1


@pytest.mark.parametrize(
    "change",
    [
        {"text": "The user likes tea"},
        {"agent": "other"},
        {"kind": "preference"},
        {"source": "user:chat"},
        {"stated_at": NOW + timedelta(microseconds=1)},
        {"stated_at": None},
    ],
)
def test_what_differs_in_any_part_of_its_key_is_another_fact(
    store: Store, change: dict[str, Any]
) -> None:
    new = NewFact(text="The user likes tea.", source="user", stated_at=NOW)
    added = store.add([new, replace(new, **change)], now=NOW)
    assert [each.new for each in added] == [True, True]


@pytest.mark.parametrize("status", [FactStatus.SUPERSEDED, FactStatus.MERGED, FactStatus.FORGOTTEN])
def test_a_retired_fact_does_not_come_back_by_adding_it_again(
    store: Store, status: FactStatus
) -> None:
    old, new = add(store, "The user lives in Berlin.", "The user lives in Athens.")
    retire(store, old, status, new)
    (again,) = store.add([NewFact(text="The user lives in Berlin.")], now=NOW)
    assert (again.id, again.new) == (old, False)
    assert again.reason == f"the same is stored already ({status})"
    assert [fact.id for fact in store.facts()] == [new]


def test_a_given_id_with_the_same_content_is_not_new(store: Store) -> None:
    new = NewFact(text="x", id="given")
    assert [a.new for a in store.add([new, new], now=NOW)] == [True, False]
    assert [a.new for a in store.add([new], now=NOW)] == [False]


@pytest.mark.parametrize(
    "change", [{"text": "y"}, {"agent": "other"}, {"kind": "event"}, {"source": "web"}]
)
def test_a_given_id_with_other_content_is_refused_and_nothing_goes_in(
    store: Store, change: dict[str, Any]
) -> None:
    new = NewFact(text="x", id="given")
    store.add([new], now=NOW)
    with pytest.raises(InputError, match=r"fact 2 of 2: id 'given' is taken"):
        store.add([NewFact(text="before it"), replace(new, **change)], now=NOW)
    assert len(store.facts(statuses=None)) == 1


def test_given_ids_may_hold_equal_facts_which_consolidation_then_merges(store: Store) -> None:
    added = store.add([NewFact(text="x", id="a"), NewFact(text="x", id="b")], now=NOW)
    assert [each.new for each in added] == [True, True]
    assert store.add([NewFact(text="x")], now=NOW)[0].id == "a"


def test_adding_nothing_writes_nothing(store: Store) -> None:
    assert store.add([], now=NOW) == []
    assert store.rows_written() == 0


@pytest.mark.parametrize("source", [*DEFAULT_TRUST, "tool:pytest", " Web :x", "martian", ":"])
def test_trust_comes_from_the_source_unless_given(store: Store, source: str) -> None:
    (fact_id,) = add(store, "x", source=source.strip())
    assert store.get(fact_id).trust == default_trust(source)
    assert 0 <= default_trust(source) <= 1


def test_the_table_of_trust_is_ordered_as_it_says() -> None:
    assert default_trust("user") == 1.0
    assert default_trust("TOOL:x") == 0.8
    assert default_trust("assistant") == 0.7
    assert default_trust("no such thing") == default_trust("import") == 0.6
    assert default_trust("inferred") == 0.4
    assert default_trust("web:https://example.org") == 0.3


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"text": ""}, "text '' is blank"),
        ({"text": " \n\u3000"}, "is blank"),
        ({"text": "a\0b"}, r"text 'a\\x00b' holds a NUL"),
        ({"text": "half \ud83d"}, r"'half \\ud83d' holds a lone surrogate.* at 5"),
        ({"text": None}, "text must be text, not None"),
        ({"text": b"bytes"}, "text must be text"),
        ({"agent": ""}, "agent '' is blank"),
        ({"agent": "a\ud800"}, "agent .* lone surrogate"),
        ({"agent": " a"}, "begins or ends with white space"),
        ({"kind": "\0"}, "kind .* NUL"),
        ({"source": " "}, "source ' ' is blank"),
        ({"id": ""}, "id '' is blank"),
        ({"id": "x" * 257}, "longer than 256"),
        ({"trust": 1.01}, "trust 1.01 is not a number from 0 to 1"),
        ({"trust": -0.1}, "trust -0.1"),
        ({"trust": math.nan}, "trust nan"),
        ({"trust": True}, "trust True"),
        ({"intensity": math.inf}, "intensity inf"),
        ({"intensity": "1"}, "intensity '1'"),
        ({"intensity": 10**5000}, "intensity this int"),
        ({"metadata": {"x": math.nan}}, "metadata .*nan"),
        ({"metadata": {"x": object()}}, "metadata .*object"),
        ({"metadata": {"x": "\ud800"}}, "metadata .*surrogates"),
        ({"metadata": [1]}, r"metadata \[1\] is not a mapping"),
        ({"metadata": {"x": "y" * 1_000_000}}, "metadata .* more than 1000000 bytes"),
        ({"stated_at": "2026-01-01"}, "stated_at '2026-01-01' is not a datetime"),
        ({"valid_from": NOW, "valid_to": NOW - timedelta(1)}, "valid_to .* before valid_from"),
    ],
)
def test_what_can_not_be_stored_is_refused_by_name(
    store: Store, fields: dict[str, Any], message: str
) -> None:
    bad = NewFact(**{"text": "x", **fields})
    with pytest.raises(InputError, match=message) as caught:
        store.add([NewFact(text="good"), bad], now=NOW)
    assert str(caught.value).startswith("fact 2 of 2: ")
    assert len(str(caught.value)) < 400
    assert store.facts() == []
    assert store.rows_written() == 0


def test_metadata_nested_without_end_is_refused(store: Store) -> None:
    deep: dict[str, Any] = {}
    deep["self"] = deep
    with pytest.raises(InputError, match="metadata"):
        store.add([NewFact(text="x", metadata=deep)], now=NOW)


@pytest.mark.parametrize("field", ["stated_at", "valid_from", "valid_to"])
def test_a_time_without_offset_is_refused(store: Store, field: str) -> None:
    fields: dict[str, Any] = {field: datetime(2026, 1, 1)}  # noqa: DTZ001
    with pytest.raises(NaiveTimeError, match=rf"fact 1 of 1: {field}: .*no UTC offset"):
        store.add([NewFact(text="x", **fields)], now=NOW)
    with pytest.raises(NaiveTimeError):
        store.add([NewFact(text="x")], now=datetime(2026, 1, 1))  # noqa: DTZ001


def test_a_clock_before_1970_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match="check the clock"):
        store.add([NewFact(text="x")], now=datetime(1969, 1, 1, tzinfo=UTC))


def test_a_megabyte_of_text_goes_in_and_one_byte_more_does_not(store: Store) -> None:
    longest = "word " * 200_000
    (fact_id,) = add(store, longest)
    assert store.get(fact_id).text == longest
    for text in (longest + "x", "é" * 500_001):
        with pytest.raises(InputError, match=r"has 100000[12] bytes; at most 1000000"):
            add(store, text)


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_text_is_stored_as_given_and_found_by_itself(store: Store, text: str) -> None:
    other, fact_id = add(store, "Something else.", text, metadata={"same": text})
    assert store.get(fact_id).text == text
    assert store.get(fact_id).metadata == {"same": text}
    assert fact_id in [fact.id for fact in store.search(text)]
    assert store.get(other).text == "Something else."
    assert store.check() == []


@pytest.mark.parametrize("name", ["'; DROP TABLE facts; --", "ünï🧠", "a b", "%", "_", "*"])
def test_agents_kinds_and_ids_are_data(store: Store, name: str) -> None:
    add(store, "x", agent=name, kind=name, id=name, source=name)
    add(store, "x", agent="zz")
    assert [fact.id for fact in store.facts(agent=name, kind=name, ids=[name])] == [name]
    assert store.agents() == {name: 1, "zz": 1}
    assert len(store.snapshot(name).facts) == 1


# Reading


def test_get_takes_a_unique_beginning_of_six_characters(store: Store) -> None:
    for fact_id in ("abcdef-1", "abcdef-2", "abcdxx"):
        add(store, fact_id, id=fact_id)
    assert store.get("abcdef-2").id == "abcdef-2"
    with pytest.raises(InputError, match=r"fits several facts, e\.g\. abcdef-1 and abcdef-2"):
        store.get("abcdef")
    for missing in ("abcdx", "", "abcdef-3", "%_____", "abcde?", "\ud800" * 6, "a\0bcdefg"):
        with pytest.raises((NotFoundError, InputError)):
            store.get(missing)
    assert store.get("abcdxx").id == "abcdxx"


def test_a_whole_id_that_begins_another_is_found(store: Store) -> None:
    add(store, "one", id="abcdef")
    add(store, "two", id="abcdefg")
    assert store.get("abcdef").text == "one"


def test_no_read_path_shows_retired_facts_unless_asked(store: Store) -> None:
    ids = add(store, *(f"tea number {n}" for n in range(5)))
    for fact_id, status in zip(ids, FactStatus, strict=True):
        if status is not FactStatus.ACTIVE:
            retire(store, fact_id, status, ids[0])
    live = {ids[0], ids[4]}
    assert {fact.status for fact in store.facts()} == LIVE
    assert {fact.id for fact in store.facts()} == live
    assert {fact.id for fact in store.search("tea")} == live
    assert {fact.id for fact in store.search("number 4")} >= {ids[4]}
    assert {fact.id for fact in store.search("umbe")} == live
    assert store.agents() == {"default": 2}
    everything = {fact.id for fact in store.facts(statuses=None)}
    assert everything == set(ids)
    assert {fact.id for fact in store.search("tea", include_history=True)} == set(ids)
    assert [fact.id for fact in store.facts(statuses=[FactStatus.MERGED])] == [ids[2]]
    assert store.facts(statuses=[]) == []
    snapshot = store.snapshot("default")
    assert {fact.id for fact in snapshot.facts} == {ids[0], ids[1], ids[4]}


def test_facts_can_be_narrowed_and_paged(store: Store) -> None:
    ids = add(store, *(f"n{n}" for n in range(10)))
    add(store, "other", agent="other", kind="event")
    assert [fact.id for fact in store.facts(agent="default")] == ids
    assert [fact.id for fact in store.facts(agent="default", limit=3, offset=8)] == ids[8:]
    assert store.facts(limit=0) == []
    assert [fact.text for fact in store.facts(kind="event")] == ["other"]
    assert [fact.id for fact in store.facts(ids=[ids[3], "unknown", ids[1]])] == [ids[1], ids[3]]
    assert store.facts(ids=[]) == []
    many = [*ids, *(f"x{n}" for n in range(100_000))]
    assert len(store.facts(ids=many)) == 10
    bad: dict[str, Any]
    for bad in ({"limit": -1}, {"offset": -1}, {"limit": 2**70}, {"agent": "\ud800"}):
        with pytest.raises(InputError):
            store.facts(**bad)
    with pytest.raises(InputError, match="must be one of active"):
        store.facts(statuses=["lost"])  # type: ignore[list-item]  # that is the point


def test_search_ignores_case_and_accents_and_puts_the_better_match_first(store: Store) -> None:
    cafe, both, _ = add(
        store, "Das Café in Köln", "The cafe in Koln: koln, koln, cafe", "A bar in Paris"
    )
    assert [fact.id for fact in store.search("KOLN café")] == [both, cafe]
    assert [fact.id for fact in store.search("köln", limit=1)] == [both]
    assert store.search("x", agent="other") == []
    assert store.search("cafe", limit=0) == []


@pytest.mark.parametrize(
    "query", ["", "  ", "\0", "zzz", '"""', "\0x\0", "(", "-tea", "a" * 100_000]
)
def test_a_query_that_matches_nothing_gives_nothing(store: Store, query: str) -> None:
    add(store, "coffee")
    assert store.search(query) == []


def test_search_finds_what_has_no_words(store: Store) -> None:
    brain, japan, _ = add(store, "I feel 🧠 today", "私は東京に住んでいます", "unrelated")
    assert [fact.id for fact in store.search("🧠")] == [brain]
    assert [fact.id for fact in store.search("東京")] == [japan]


def test_a_query_of_thousands_of_words_is_answered(store: Store) -> None:
    (fact_id,) = add(store, "w3 is here")
    assert store.search(" ".join(f"w{n}" for n in range(20_000)))[0].id == fact_id
    assert store.search('" AND ( NOT *' * 2000 + " w3")[0].id == fact_id


def test_search_follows_a_changed_text(store: Store) -> None:
    (fact_id,) = add(store, "apple")
    run = retire(store, fact_id, FactStatus.IN_REVIEW)
    stored = store.get(fact_id)
    store.write_fact(replace(stored, text="pear", content_hash=fact_hash("pear")), run=run)
    assert store.search("apple") == []
    assert store.search("pear")[0].id == fact_id
    store.undo(run, now=NOW)
    assert store.search("pear") == []
    assert store.search("apple")[0].id == fact_id
    assert store.check() == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=200)
@given(query=st.text(max_size=30), text=st.text(max_size=30))
def test_no_text_and_no_query_breaks_the_store(store: Store, query: str, text: str) -> None:
    try:
        (added,) = store.add([NewFact(text=text)], now=NOW)
        assert store.get(added.id).text == text
    except InputError:
        assert not text.strip() or "\0" in text or any("\ud800" <= c <= "\udfff" for c in text)
    try:
        store.search(query)
    except InputError:
        assert any("\ud800" <= c <= "\udfff" for c in query)


moments = st.datetimes(timezones=st.just(UTC))
safe = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\0"), min_size=1)


@given(
    st.builds(
        Fact,
        id=safe,
        agent=safe,
        kind=safe,
        text=safe,
        metadata=st.dictionaries(safe, st.none() | st.integers() | safe | st.floats(0, 1)),
        stated_at=st.none() | moments,
        confirmed_at=st.none() | moments,
        valid_from=st.none() | moments,
        valid_to=st.none() | moments,
        recorded_at=moments,
        source=safe,
        trust=st.floats(0, 1),
        intensity=st.sampled_from([0, 1, 0.5]),
        encounters=st.integers(0, 2**40),
        access_count=st.integers(0, 2**40),
        last_access=st.none() | moments,
        content_hash=safe,
        status=st.sampled_from(FactStatus),
        superseded_by=st.none() | safe,
        merged_into=st.none() | safe,
        changed_by=st.none() | safe,
    )
)
def test_a_row_and_a_fact_are_two_forms_of_one_thing(fact: Fact) -> None:
    row = fact_to_row(fact)
    assert fact_from_row(row) == fact
    assert fact_to_row(fact_from_row(row)) == row
    assert fact_digest(fact) == fact_digest(fact_from_row(row))


def test_the_digest_of_a_fact_changes_with_everything_in_it(store: Store) -> None:
    (fact_id,) = add(store, "x")
    fact = store.get(fact_id)
    changes: dict[str, Any] = {
        "text": "y",
        "metadata": {"a": 1},
        "stated_at": NOW,
        "confirmed_at": NOW,
        "valid_to": NOW,
        "trust": 0.1,
        "encounters": 2,
        "access_count": 1,
        "last_access": NOW,
        "status": FactStatus.MERGED,
        "superseded_by": "s",
        "merged_into": "m",
        "changed_by": "r",
    }
    digests = {fact_digest(replace(fact, **{name: value})) for name, value in changes.items()}
    assert len(digests | {fact_digest(fact)}) == len(changes) + 1
