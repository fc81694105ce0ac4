"""Blocks: named texts with a limit, a version and a past."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from builders import day
from pipelines import FAKE_SETTINGS

from consolidate.errors import BlockChangedError, InputError, NotFoundError
from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.memory import open_memory
from consolidate.memory.memory import Memory
from consolidate.store import Store


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    with open_memory(tmp_path / "memory.db", settings=FAKE_SETTINGS) as opened:
        yield opened


def test_a_block_is_made_read_and_changed(memory: Memory) -> None:
    assert memory.recall_memory_block("profile") is None
    made = memory.replace_memory_block("profile", "Likes tea.")
    assert (made.version, made.size, made.limit) == (1, 10, 100_000)
    assert memory.recall_memory_block("profile") == made
    changed = memory.append_memory_block("profile", "Has a dog.")
    assert (changed.content, changed.version) == ("Likes tea.\nHas a dog.", 2)
    assert [block.name for block in memory.memory_blocks()] == ["profile"]


def test_the_same_content_again_writes_nothing(memory: Memory) -> None:
    made = memory.replace_memory_block("profile", "Likes tea.")
    written = memory.store.rows_written()
    assert memory.replace_memory_block("profile", "Likes tea.") == made
    assert memory.store.rows_written() == written


def test_a_version_that_is_no_longer_there_is_refused_naming_both(memory: Memory) -> None:
    memory.replace_memory_block("profile", "one", version=0)
    memory.replace_memory_block("profile", "two", version=1)
    with pytest.raises(BlockChangedError, match=r"has version 2 by now.*made from version 1"):
        memory.replace_memory_block("profile", "three", version=1)
    with pytest.raises(BlockChangedError, match=r"has version 2 by now.*no such block"):
        memory.append_memory_block("profile", "three", version=0)
    with pytest.raises(BlockChangedError, match=r"does not exist.*made from version 5"):
        memory.replace_memory_block("tasks", "x", version=5)
    assert [each.content for each in memory.block_history("profile")] == ["two", "one"]


def test_of_many_writers_who_read_the_same_version_one_wins(memory: Memory) -> None:
    memory.replace_memory_block("count", "0")
    lost = []

    def write(number: int) -> None:
        try:
            memory.replace_memory_block("count", str(number), version=1)
        except BlockChangedError:
            lost.append(number)

    threads = [threading.Thread(target=write, args=(n,)) for n in range(1, 9)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(lost) == 7
    block = memory.recall_memory_block("count")
    assert block is not None and block.version == 2


def test_appends_of_many_threads_all_arrive(memory: Memory) -> None:
    threads = [
        threading.Thread(target=memory.append_memory_block, args=("log", f"line {n}"))
        for n in range(12)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    block = memory.recall_memory_block("log")
    assert block is not None
    assert sorted(block.content.split("\n")) == sorted(f"line {n}" for n in range(12))


def test_a_limit_is_kept_and_can_be_set(memory: Memory) -> None:
    memory.replace_memory_block("note", "12345", limit=8)
    with pytest.raises(InputError, match="may have 8 characters, and this has 11"):
        memory.append_memory_block("note", "67890")
    assert memory.replace_memory_block("note", "12345", limit=20).version == 1
    assert memory.append_memory_block("note", "67890").size == 11
    for bad in (0, -1, 10**9, True):
        with pytest.raises(InputError, match="limit"):
            memory.replace_memory_block("note", "x", limit=bad)


def test_text_within_a_block_is_replaced_wherever_it_stands(memory: Memory) -> None:
    memory.replace_memory_block("profile", "tea, tea and milk")
    block, count = memory.edit_memory_block("profile", "tea", "rooibos")
    assert (block.content, count) == ("rooibos, rooibos and milk", 2)
    with pytest.raises(InputError, match="empty"):
        memory.edit_memory_block("profile", "", "x")
    with pytest.raises(InputError, match="'wine' does not stand"):
        memory.edit_memory_block("profile", "wine", "x")
    with pytest.raises(NotFoundError):
        memory.edit_memory_block("none", "a", "b")


def test_history_keeps_the_last_hundred_versions(memory: Memory) -> None:
    for number in range(130):
        memory.replace_memory_block("count", str(number))
    past = memory.block_history("count")
    assert [each.content for each in past[:2]] == ["129", "128"]
    assert len(past) == 101 and past[-1].version == 30


def test_hostile_content_is_kept_as_it_is_or_refused(memory: Memory) -> None:
    text = "'; DROP TABLE blocks; --\x1b[31m \u202etxet 🎈"
    assert memory.replace_memory_block("odd", text).content == text
    for bad in ("a\0b", "\ud800"):
        with pytest.raises(InputError):
            memory.replace_memory_block("odd", bad)
    with pytest.raises(InputError):
        memory.replace_memory_block(" ", "x")
    with pytest.raises(InputError, match="blank"):
        memory.append_memory_block("odd", " \n")


def test_agents_do_not_see_each_others_blocks(memory: Memory, tmp_path: Path) -> None:
    memory.replace_memory_block("profile", "mine")
    with open_memory(tmp_path / "memory.db", "bo", settings=FAKE_SETTINGS) as other:
        assert other.recall_memory_block("profile") is None
        other.replace_memory_block("profile", "theirs")
    assert memory.block_history("profile")[0].content == "mine"


def test_a_deleted_block_is_gone_with_its_past(memory: Memory) -> None:
    memory.replace_memory_block("profile", "one")
    memory.replace_memory_block("profile", "two")
    assert memory.delete_memory_block("profile")
    assert not memory.delete_memory_block("profile")
    with pytest.raises(NotFoundError):
        memory.block_history("profile")


def test_blocks_come_back_with_an_export_and_do_not_replace_what_is_here(
    memory: Memory, tmp_path: Path
) -> None:
    memory.replace_memory_block("profile", "one")
    memory.replace_memory_block("profile", "two")
    memory.replace_memory_block("tasks", "paint", limit=50)
    lines = list(export_lines(memory.store, agent=None, now=day(300)))
    data = "\n".join(lines).encode()
    with Store.open(tmp_path / "copy.db") as copy:
        report = import_bytes(copy, data, Options(), now=day(301))
        assert report.broken == ()
        assert list(copy.dump()) == list(memory.store.dump())
        assert list(export_lines(copy, agent=None, now=day(300))) == lines
        copy.write_block("default", "profile", "three", now=day(302))
        import_bytes(copy, data, Options(), now=day(303))
        block = copy.block("default", "profile")
        assert block is not None and (block.content, block.version) == ("three", 3)
