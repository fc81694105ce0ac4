"""Conversations: any text is a safe query, and a stranger's table is only read."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from consolidate.errors import InputError
from consolidate.memory import open_memory
from consolidate.memory.memory import Memory
from consolidate.store import Store

TALK = (
    ("user", "Shall we meet on Friday?"),
    ("assistant", "Yes, at the café by the harbour."),
    ("user", "Bring the blue folder."),
    ("assistant", "I will."),
)


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "memory.db", "ada") as memory:
        for role, content in TALK:
            memory.add_message(role, content, conversation="one")
        memory.add_message("user", "The harbour is closed.", conversation="two")
        yield memory


def own_table(path: Path, *statements: str, messages: str = "chat") -> Memory:
    with Store.open(path) as store:
        for statement in statements:
            store._db.query(statement)
    return open_memory(path, "ada", messages=messages)


def test_a_message_is_found_with_what_was_said_around_it(memory: Memory) -> None:
    (hit,) = memory.recall_conversation("cafe")
    assert hit.message.content == TALK[1][1]
    assert [m.content for m in hit.before] == [TALK[0][1]]
    assert [m.content for m in hit.after] == [TALK[2][1]]
    (wide,) = memory.recall_conversation("cafe", neighbours=9)
    assert (len(wide.before), len(wide.after)) == (1, 2)
    (alone,) = memory.recall_conversation("cafe", neighbours=0)
    assert (alone.before, alone.after) == ((), ())


def test_neighbours_are_of_the_same_conversation(memory: Memory) -> None:
    (hit,) = memory.recall_conversation("closed", neighbours=5)
    assert (hit.before, hit.after) == ((), ())


def test_more_of_the_words_come_first_and_the_limit_holds(memory: Memory) -> None:
    hits = memory.recall_conversation("harbour café")
    assert [hit.message.content for hit in hits] == [TALK[1][1], "The harbour is closed."]
    assert memory.recall_conversation("harbour café", limit=1) == hits[:1]


def test_nothing_is_found_in_another_agents_conversations(memory: Memory, tmp_path: Path) -> None:
    with open_memory(tmp_path / "memory.db", "bo") as bo:
        assert bo.recall_conversation("harbour") == []


def test_a_long_message_gives_a_snippet(memory: Memory) -> None:
    memory.add_message("user", "filler word " * 200 + "zeppelin " + "more of it " * 200)
    (hit,) = memory.recall_conversation("zeppelin")
    assert "zeppelin" in hit.snippet
    assert len(hit.snippet) < 300 < len(hit.message.content)


def test_what_the_index_has_no_words_for_is_found_literally(memory: Memory) -> None:
    memory.add_message("user", "今日は寒いですね 🧠")
    assert [h.message.content for h in memory.recall_conversation("寒い")] == [
        "今日は寒いですね 🧠"
    ]
    assert len(memory.recall_conversation("🧠")) == 1


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(st.text(min_size=1, max_size=60).filter(lambda t: t.strip()))
def test_any_text_is_a_safe_query(memory: Memory, query: str) -> None:
    memory.recall_conversation(query)
    assert memory.store._db.value("SELECT count(*) FROM messages") == 5


@pytest.mark.parametrize(
    "query",
    ['"', "NEAR(", "a OR", "content:", "*", "^x", "a\0b", "'; DROP TABLE messages; --", "%_!"],
)
def test_the_language_of_the_index_has_no_power(memory: Memory, query: str) -> None:
    memory.recall_conversation(query)
    assert memory.store.check() == []


def test_what_can_not_be_a_message_is_refused(memory: Memory) -> None:
    for role, content in (("user", " "), ("", "x"), ("user", "a\0b"), ("user", "\ud800")):
        with pytest.raises(InputError):
            memory.add_message(role, content)
    with pytest.raises(InputError, match="bytes"):
        memory.add_message("user", "x" * 1_000_001)
    with pytest.raises(InputError):
        memory.recall_conversation("  ")
    with pytest.raises(InputError, match="limit"):
        memory.recall_conversation("x", limit=0)


def test_times_are_kept_and_a_naive_one_needs_a_zone(memory: Memory) -> None:
    said = memory.add_message("user", "Zebra.", at="2026-01-01T10:00:00+02:00")
    assert said.at == datetime(2026, 1, 1, 8, tzinfo=UTC)
    (hit,) = memory.recall_conversation("zebra")
    assert hit.message == said
    with pytest.raises(InputError, match="offset"):
        memory.add_message("user", "x", at="2026-01-01T10:00:00")


# ---- a table of the application's own

OWN = (
    "CREATE TABLE chat (id TEXT, session_id TEXT, role TEXT, content TEXT, created_at TEXT)",
    "INSERT INTO chat VALUES ('m1', 's', 'user', 'Where is the harbour?', '2026-01-01 10:00:00'), "
    "('m2', 's', 'assistant', 'Behind 100% of the houses.', 'some day'), "
    "('m3', 't', 'user', NULL, 5)",
)
INDEXED = (
    "CREATE VIRTUAL TABLE chat_fts USING fts5 (content, content = 'chat', content_rowid = 'rowid')",
    "INSERT INTO chat_fts (chat_fts) VALUES ('rebuild')",
)


@pytest.mark.parametrize("more", [(), INDEXED])
def test_an_own_table_is_searched_with_and_without_an_index(
    tmp_path: Path, more: tuple[str, ...]
) -> None:
    with own_table(tmp_path / "own.db", *OWN, *more) as memory:
        (hit,) = memory.recall_conversation("HARBOUR zeppelin")
        assert (hit.message.id, hit.message.role, hit.message.conversation) == ("m1", "user", "s")
        assert hit.message.at == datetime(2026, 1, 1, 10, tzinfo=UTC)
        assert [(m.id, m.at) for m in hit.after] == [("m2", None)]
        assert [h.message.id for h in memory.recall_conversation("100%")] == ["m2"]
        assert memory.recall_conversation("zeppelin") == []
        with pytest.raises(InputError, match="add them there"):
            memory.add_message("user", "x")


def test_rows_of_other_agents_in_an_own_table_are_not_shown(tmp_path: Path) -> None:
    with own_table(
        tmp_path / "own.db",
        "CREATE TABLE chat (agent_id TEXT, body TEXT)",
        "INSERT INTO chat VALUES ('ada', 'mine here'), ('bo', 'his here')",
    ) as memory:
        (hit,) = memory.recall_conversation("here", neighbours=5)
        assert hit.message.content == "mine here"
        assert (hit.before, hit.after) == ((), ())


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ('chat"; DROP TABLE facts; --', "plain name"),
        ("chat x", "plain name"),
        ("", "plain name"),
        ("1chat", "plain name"),
        ("ch\u0430t", "plain name"),
        ("x" * 64, "plain name"),
        ("nowhere", "no table"),
        ("facts", "belongs to the store"),
        ("MESSAGES_FTS", "belongs to the store"),
        ("sqlite_master", "no table|belongs"),
        ("numbers", "none of the columns"),
        ("flat", "row numbers"),
        ("seen", "no table"),
    ],
)
def test_a_name_that_is_no_table_with_messages_is_refused(
    tmp_path: Path, name: str, why: str
) -> None:
    path = tmp_path / "own.db"
    with pytest.raises(InputError, match=why):
        own_table(
            path,
            *OWN,
            "CREATE TABLE numbers (n INTEGER)",
            "CREATE TABLE flat (id TEXT PRIMARY KEY, content TEXT) WITHOUT ROWID",
            "CREATE VIEW seen AS SELECT content FROM chat",
            messages=name,
        )
    with Store.open(path) as store:  # it was closed, and nothing was lost
        assert store.check() == []
        assert store._db.value("SELECT count(*) FROM chat") == 3
