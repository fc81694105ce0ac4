"""Moving in from other memories: real-shaped samples, times kept, a second import adds nothing."""

from __future__ import annotations

import json
import sqlite3
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from consolidate.errors import InputError
from consolidate.exchange.chatgpt import plain_statements
from consolidate.exchange.formats import detect, parse_files
from consolidate.exchange.importing import import_bytes, import_parsed
from consolidate.exchange.records import ImportReport, Options
from consolidate.store import Store
from consolidate.store.foreign import whole_file
from consolidate.types import Fact, FactStatus

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def taken_in(
    store: Store, data: bytes, form: str, *, name: str = "", **options: Any
) -> ImportReport:
    """Import twice; the second time adds nothing."""
    assert detect(data, name) == form
    chosen = Options(**options)
    report = import_bytes(store, data, chosen, now=NOW, name=name)
    before = list(store.dump())
    again = import_bytes(store, data, chosen, now=NOW, name=name)
    assert again.new == 0 and not again.extra and list(store.dump()) == before
    assert store.check() == []
    return report


def by_text(store: Store) -> dict[str, Fact]:
    return {fact.text: fact for fact in store.facts(statuses=None)}


def at(text: str) -> datetime:
    return datetime.fromisoformat(text)


# ---- AIngram

ENTRIES = [
    {"entry_id": "e" * 63 + "1", "content_hash": "x", "entry_type": "observation",
     "content": '{"text":"The dye vat holds 40 litres"}', "session_id": "s1", "sequence_num": 1,
     "prev_entry_id": None, "signature": "00", "created_at": "2026-02-01T10:00:00+02:00",
     "reasoning_chain_id": None, "parent_entry_id": None, "tags": '["vat"]',
     "metadata": '{"room": "cellar"}', "confidence": None, "importance": 0.043,
     "accessed_at": None, "access_count": 3, "surprise": None, "consolidated": 0},
    {"entry_id": "e" * 63 + "2", "content_hash": "y", "entry_type": "decision",
     "content": '{"text":"The dye vat holds 55 litres since it was rebuilt"}', "session_id": "s1",
     "sequence_num": 2, "prev_entry_id": "e" * 63 + "1", "signature": "00",
     "created_at": "2026-05-01T08:00:00+00:00", "reasoning_chain_id": "c1",
     "parent_entry_id": None, "tags": None, "metadata": None, "confidence": 0.9,
     "importance": 0.8, "accessed_at": "2026-06-01T08:00:00+00:00", "access_count": 1,
     "surprise": None, "consolidated": 0},
    {"entry_id": "e" * 63 + "3", "content_hash": "z", "entry_type": "observation",
     "content": "", "session_id": "s2", "sequence_num": 1, "prev_entry_id": None,
     "signature": "00", "created_at": "2026-05-01T08:00:00+00:00", "reasoning_chain_id": None,
     "parent_entry_id": None, "tags": None, "metadata": None, "confidence": None,
     "importance": 0.5, "accessed_at": None, "access_count": 0, "surprise": None,
     "consolidated": 0},
]  # fmt: skip
EXPORT: dict[str, Any] = {
    "aingram_lite_export_version": 1,
    "embedding_dim": 768,
    "agent_sessions": [
        {"session_id": "s1", "agent_name": "dyer", "public_key": "k", "parent_session_id": None,
         "created_at": "2026-02-01T09:00:00+00:00", "metadata": None},
    ],
    "reasoning_chains": [],
    "memory_entries": ENTRIES,
    "entities": [
        {"entity_id": "n1", "name": "Ottoline", "entity_type": "person"},
        {"entity_id": "n2", "name": "Madder Lane", "entity_type": "location"},
    ],
    "relationships": [
        {"id": "r1", "source_id": "n1", "target_id": "n2", "relation_type": "lived_in",
         "fact": None, "weight": 1.0, "t_valid": "2024-01-01T00:00:00+00:00",
         "t_invalid": "2025-06-01T00:00:00+00:00", "source_memory": None},
    ],
    "entity_mentions": [],
    "vec_entries": [{"entry_id": "e" * 63 + "1", "embedding_b64": "AAAA"}],
}  # fmt: skip


def test_an_aingram_export_keeps_times_accesses_and_what_has_ended(store: Store) -> None:
    report = taken_in(store, json.dumps(EXPORT, indent=2).encode(), "aingram")
    assert (report.new, [b.line for b in report.broken]) == (3, [3])
    found = by_text(store)
    vat = found["The dye vat holds 40 litres"]
    assert (vat.agent, vat.kind, vat.stated_at) == ("dyer", "fact", at("2026-02-01T08:00:00+00:00"))
    assert (vat.intensity, vat.access_count) == (0.5, 3)
    assert vat.metadata == {"tags": ["vat"], "room": "cellar"}
    rebuilt = found["The dye vat holds 55 litres since it was rebuilt"]
    assert (rebuilt.kind, rebuilt.intensity) == ("decision", 0.8)
    lived = found["Ottoline lived in Madder Lane"]
    assert lived.status is FactStatus.SUPERSEDED
    assert (lived.valid_from, lived.valid_to) == (
        at("2024-01-01T00:00:00+00:00"),
        at("2025-06-01T00:00:00+00:00"),
    )
    assert lived.stated_at is None


def aingram_database(path: Path) -> None:
    with sqlite3.connect(path) as database:
        database.execute("PRAGMA journal_mode = WAL")
        columns = list(ENTRIES[0])
        database.execute(f"CREATE TABLE memory_entries ({', '.join(columns)})")
        database.executemany(
            f"INSERT INTO memory_entries VALUES ({', '.join('?' * len(columns))})",  # noqa: S608
            [list(entry.values()) for entry in ENTRIES],
        )
        database.execute("CREATE TABLE agent_sessions (session_id, agent_name)")
        database.execute("INSERT INTO agent_sessions VALUES ('s1', 'dyer')")
        database.execute(
            "CREATE TABLE cross_references (id INTEGER PRIMARY KEY, source_entry_id, "
            "target_entry_id, reference_type)"
        )
        database.executemany(
            "INSERT INTO cross_references VALUES (NULL, ?, ?, ?)",
            [("e" * 63 + "2", "e" * 63 + "1", "supersedes"), ("e" * 63 + "2", "x", "supports")],
        )


def test_an_aingram_database_comes_with_who_superseded_whom(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "agent_memory.db"
    aingram_database(path)
    report = taken_in(store, whole_file(path), "aingram")
    assert report.new == 2
    found = by_text(store)
    old, new = (
        found["The dye vat holds 40 litres"],
        found["The dye vat holds 55 litres since it was rebuilt"],
    )
    assert (old.status, old.superseded_by) == (FactStatus.SUPERSEDED, new.id)
    assert [event.to for event in store.history(old.id).after] == [new.id]


def test_rows_that_still_lie_in_the_log_of_a_database_come_too(
    store: Store, tmp_path: Path
) -> None:
    path = tmp_path / "agent_memory.db"
    aingram_database(path)
    writer = sqlite3.connect(path)
    writer.execute(
        "INSERT INTO memory_entries (entry_id, content, entry_type, session_id) "
        "VALUES ('late', '{\"text\":\"Written a moment ago\"}', 'observation', 's1')"
    )
    writer.commit()
    try:
        import_bytes(store, whole_file(path), Options(), now=NOW)
    finally:
        writer.close()
    assert "Written a moment ago" in by_text(store)


def test_another_sqlite_database_is_refused(store: Store, tmp_path: Path) -> None:
    sqlite3.connect(tmp_path / "x.db").execute("CREATE TABLE t (x)").connection.close()
    with pytest.raises(InputError, match="not one of AIngram"):
        import_bytes(store, whole_file(tmp_path / "x.db"), Options(), now=NOW)
    with pytest.raises(InputError, match="can't be read"):
        import_bytes(store, b"SQLite format 3\0" + b"x" * 600, Options(), now=NOW)


# ---- mem0

MEM0: dict[str, Any] = {
    "results": [
        {"id": "0b7cf1f2-13c1-4ad9-9d6c-0d4c5d0b9a11", "memory": "Allergic to shellfish",
         "hash": "9f", "metadata": {"category": "health"}, "created_at":
         "2026-01-04T07:15:00-08:00", "updated_at": None, "user_id": "marisol",
         "categories": ["health"]},
        {"id": "1b7cf1f2-13c1-4ad9-9d6c-0d4c5d0b9a12", "memory": "Rents a studio in Alfama",
         "hash": "a0", "metadata": None, "created_at": "2026-01-04T07:15:00-08:00",
         "updated_at": "2026-03-09T10:00:00-08:00", "user_id": "marisol"},
        {"id": "2b7cf1f2-13c1-4ad9-9d6c-0d4c5d0b9a13", "memory": "", "hash": "b1",
         "user_id": "marisol"},
    ],
    "relations": [{"source": "marisol", "relationship": "works_with", "target": "teo"}],
}  # fmt: skip


def test_mem0_memories_keep_their_times_and_users(store: Store) -> None:
    report = taken_in(store, json.dumps(MEM0).encode(), "mem0")
    assert (report.new, [b.line for b in report.broken]) == (3, [3])
    found = by_text(store)
    allergy = found["Allergic to shellfish"]
    assert (allergy.agent, allergy.source) == ("marisol", "import:mem0")
    assert allergy.stated_at == at("2026-01-04T15:15:00+00:00")
    assert allergy.metadata["category"] == "health"
    assert found["Rents a studio in Alfama"].stated_at == at("2026-03-09T18:00:00+00:00")
    assert found["marisol works with teo"].stated_at is None


def test_a_memory_that_was_changed_in_mem0_comes_as_a_fact_of_its_own(store: Store) -> None:
    import_bytes(store, json.dumps(MEM0).encode(), Options(), now=NOW)
    changed = json.loads(json.dumps(MEM0["results"]))
    changed[1] |= {"memory": "Rents a flat in Graça", "updated_at": "2026-08-01T10:00:00-08:00"}
    assert detect(json.dumps(changed).encode()) == "mem0"
    report = import_bytes(store, json.dumps(changed).encode(), Options(), now=NOW)
    assert report.new == 1
    assert {"Rents a studio in Alfama", "Rents a flat in Graça"} <= by_text(store).keys()


# ---- Zep, Graphiti

EDGES: dict[str, Any] = {
    "nodes": [{"uuid": "n1", "name": "Ingrid"}, {"uuid": "n2", "name": "Harbour Trust"}],
    "edges": [
        {"uuid": "e1", "group_id": "team", "source_node_uuid": "n1", "target_node_uuid": "n2",
         "name": "CHAIRS", "fact": "Ingrid chairs the Harbour Trust", "episodes": ["p1"],
         "created_at": "2025-02-02T10:00:00Z", "valid_at": "2025-01-01T00:00:00Z",
         "invalid_at": "2026-04-01T00:00:00Z", "expired_at": "2026-04-03T09:00:00Z",
         "fact_embedding": [0.1, 0.2]},
        {"uuid": "e2", "group_id": "team", "source_node_uuid": "n1", "target_node_uuid": "n2",
         "name": "ADVISES", "fact": "Ingrid advises the Harbour Trust",
         "created_at": "2026-04-03T09:00:00Z", "valid_at": "2026-04-01T00:00:00Z",
         "invalid_at": None, "expired_at": None},
        {"uuid": "e3", "group_id": "team", "source_node_uuid": "n1", "target_node_uuid": "n2",
         "name": "LEFT", "fact": "Ingrid leaves the Harbour Trust in 2027",
         "created_at": "2026-04-03T09:00:00Z", "valid_at": "2026-05-01T00:00:00Z",
         "invalid_at": "2026-04-20T00:00:00Z", "expired_at": None},
        {"uuid": "e4", "source_node_uuid": "n1", "target_node_uuid": "n2"},
    ],
}  # fmt: skip


def test_edges_become_facts_with_the_time_they_held(store: Store) -> None:
    report = taken_in(store, json.dumps(EDGES, indent=1).encode(), "graphiti")
    assert (report.new, report.names, [b.line for b in report.broken]) == (3, 2, [4])
    found = by_text(store)
    chairs = found["Ingrid chairs the Harbour Trust"]
    assert (chairs.status, chairs.agent) == (FactStatus.SUPERSEDED, "team")
    assert chairs.valid_from == at("2025-01-01T00:00:00+00:00")
    assert chairs.valid_to == at("2026-04-01T00:00:00+00:00")
    assert chairs.stated_at == at("2025-02-02T10:00:00+00:00")
    assert chairs.metadata == {"relation": "CHAIRS", "entity": "Ingrid", "to": "Harbour Trust"}
    advises = found["Ingrid advises the Harbour Trust"]
    assert (advises.status, advises.valid_to) == (FactStatus.ACTIVE, None)
    backwards = found["Ingrid leaves the Harbour Trust in 2027"]
    assert backwards.valid_from == backwards.valid_to
    assert backwards.metadata["invalid_at"] == "2026-04-20T00:00:00Z"


def test_edges_one_a_line_are_read_too(store: Store) -> None:
    data = "\n".join(map(json.dumps, EDGES["edges"][:2])).encode()
    assert taken_in(store, data, "graphiti", agent="mine", every_agent=True).new == 2
    assert store.agents() == {"mine": 1}


# ---- Letta

OLDER = {
    "agent_type": "memgpt_agent",
    "name": "clerk",
    "core_memory": [
        {"label": "human", "value": "Name: Priya. Keeps bees.", "limit": 5000},
        {"label": "persona", "value": "You are a calm clerk.", "limit": 5},
        {"label": "empty", "value": "", "limit": 5000},
        {"value": "no label"},
    ],
    "messages": [
        {"role": "system", "content": [{"type": "text", "text": "You are ..."}]},
        {"role": "user", "content": [{"type": "text", "text": "The hive on the roof swarmed."}],
         "created_at": "2026-05-02T09:00:00+00:00"},
        {"role": "assistant", "content": None, "tool_calls": [{"id": "x"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "Noted."}],
         "created_at": "2026-05-02T09:00:05+00:00"},
    ],
    "system": "You are ...",
    "tools": [],
}  # fmt: skip


def test_blocks_of_a_letta_file_stay_blocks_with_their_limits(store: Store) -> None:
    report = taken_in(store, json.dumps(OLDER, indent=2).encode(), "letta")
    assert (report.new, report.extra) == (0, {"block": 2, "message": 2})
    assert [b.line for b in report.broken] == [4]
    human, persona = store.blocks("default")
    assert (human.name, human.content, human.limit) == ("human", "Name: Priya. Keeps bees.", 5000)
    assert persona.limit == len("You are a calm clerk.")
    hits = store.search_messages("swarmed", agent="default")
    assert [hit.message.at for hit in hits] == [at("2026-05-02T09:00:00+00:00")]


def test_the_newer_shape_of_a_letta_file_is_read(store: Store) -> None:
    newer = {
        "agents": [{"id": "agent-0", "name": "clerk", "block_ids": ["block-0"], "messages": []}],
        "blocks": [{"id": "block-0", "label": "human", "value": "Keeps bees.", "limit": 20000}],
        "tools": [],
    }
    assert taken_in(store, json.dumps(newer).encode(), "letta").extra == {"block": 1}


def test_a_block_that_is_here_already_keeps_what_it_holds(store: Store) -> None:
    store.write_block("default", "human", "Keeps goats.", now=NOW)
    report = import_bytes(store, json.dumps(OLDER).encode(), Options(), now=NOW)
    assert "block 'human' holds something else here, and keeps it" in report.notes
    block = store.block("default", "human")
    assert block is not None and block.content == "Keeps goats."


# ---- ChatGPT


def node(key: str, parent: str | None, role: str, text: str, when: float) -> dict[str, Any]:
    return {
        "id": key,
        "parent": parent,
        "children": [],
        "message": {
            "id": key,
            "author": {"role": role},
            "create_time": when,
            "content": {"content_type": "text", "parts": [text]},
            "metadata": {},
        },
    }


TALKS = [
    {
        "title": "Bread",
        "conversation_id": "talk-1",
        "create_time": 1767225600.0,
        "current_node": "m3",
        "mapping": {
            "root": {"id": "root", "parent": None, "children": ["m1", "old"], "message": None},
            "old": node("old", "root", "user", "I live in Atlantis.", 1767225601.0),
            "m1": node("m1", "root", "user",
                       "I live in Ghent. I'm looking for flour. Could you help? "
                       "My oven is a Bertazzoni.", 1767225600.5),
            "m2": node("m2", "m1", "assistant", "Try the mill on the quay.", 1767225605.0),
            "m3": node("m3", "m2", "user", "Rewrite this: \"I live in Oslo.\"", 1767225610.0),
        },
    },
    {"title": "broken"},
]  # fmt: skip


def test_conversations_become_messages_and_plain_statements_facts(store: Store) -> None:
    report = taken_in(store, json.dumps(TALKS).encode(), "chatgpt")
    assert report.extra == {"message": 3}
    assert [b.line for b in report.broken] == [2]
    found = by_text(store)
    assert found.keys() == {"I live in Ghent.", "My oven is a Bertazzoni."}
    lives = found["I live in Ghent."]
    assert (lives.source, lives.stated_at) == ("user", at("2026-01-01T00:00:00.500000+00:00"))
    assert lives.metadata["conversation"] == "Bread"
    assert [h.message.role for h in store.search_messages("mill", agent="default")] == ["assistant"]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("I don't eat meat.", ["I don't eat meat."]),
        ("Our office is in Lund!", ["Our office is in Lund!"]),
        ("I have a question about goats", []),
        ("I'm not sure I like it.", []),
        ("If I live in Rome, which tram do I take?", []),
        ("Do I have to register?", []),
        ("Write a poem in which I am a fish.", []),
        ("```\nI am code\n```", []),
        ("I am happy with this. " * 60, []),
    ],
)
def test_only_plain_statements_are_taken(text: str, found: list[str]) -> None:
    assert plain_statements(text) == found


# ---- Markdown

NOTE = """---
title: Sourdough Starter
type: note
permalink: kitchen/sourdough-starter
tags: [bread, "slow food"]
created: 2026-02-03T08:00:00+01:00
---

# Sourdough Starter

It came from the neighbour.

## Observations
- [habit] is fed every Friday #routine (since the move)
- [place] Sourdough Starter lives in the larder
- [ ] buy rye
- plain bullet

## Relations
- needs [[Rye Flour]]
- [[Larder]]
"""


def test_a_note_of_basic_memory_is_about_its_title(store: Store) -> None:
    report = taken_in(store, NOTE.encode(), "basic-memory", name="notes/sourdough.md")
    found = by_text(store)
    fed = found["Sourdough Starter is fed every Friday"]
    assert fed.stated_at == at("2026-02-03T07:00:00+00:00")
    assert fed.metadata["tags"] == ["routine"]
    assert (fed.metadata["category"], fed.metadata["context"]) == ("habit", "since the move")
    assert "Sourdough Starter lives in the larder" in found
    assert "Sourdough Starter needs Rye Flour" in found
    assert "Sourdough Starter relates to Larder" in found
    (body,) = (fact for fact in found.values() if fact.kind == "memory")
    assert body.text == "It came from the neighbour.\n- [ ] buy rye\n- plain bullet"
    assert report.names == 1


MEMORY = """# Notes about me <!-- do not sync
this either -->

Prefers to be called Bo.

## Work
- Uses two monitors
- (2026-03-04) Moved to the
  Leiden office
  * takes the 7:10 train

1. Never deploy on Fridays

```
- not a bullet
```
"""


def test_bullets_of_a_memory_file_become_facts(store: Store) -> None:
    report = taken_in(
        store, MEMORY.encode(), "markdown", name="memory.md", timezone="Europe/Amsterdam"
    )
    assert report.broken == ()
    found = by_text(store)
    assert found.keys() == {
        "Prefers to be called Bo.",
        "Uses two monitors",
        "Moved to the Leiden office",
        "takes the 7:10 train",
        "Never deploy on Fridays",
        "```\n- not a bullet\n```",
    }
    moved = found["Moved to the Leiden office"]
    assert moved.stated_at == at("2026-03-03T23:00:00+00:00")
    assert moved.metadata == {"section": "Notes about me / Work"}
    assert found["Prefers to be called Bo."].kind == "memory"
    assert found["Uses two monitors"].stated_at is None


def test_a_day_without_a_zone_stays_in_the_text(store: Store) -> None:
    report = import_bytes(store, MEMORY.encode(), Options(), now=NOW, name="memory.md")
    assert "(2026-03-04) Moved to the Leiden office" in by_text(store)
    assert any("--timezone" in note for note in report.notes)


def test_bullets_of_files_with_orders_are_instructions(store: Store) -> None:
    import_bytes(
        store, b"# Rules\n- Run the linter first\n", Options(), now=NOW, name="a/CLAUDE.md"
    )
    assert [fact.kind for fact in store.facts()] == ["instruction"]


def test_a_folder_of_notes_comes_in_as_one(store: Store) -> None:
    files = [
        ("a.md", NOTE.encode()),
        ("b.md", MEMORY.encode()),
        ("c.md", b"\xff\xfe\0"),
        ("d.md", b""),
    ]
    options = Options()
    parsed = parse_files(files, options, now=NOW)
    assert parsed.format == "basic-memory and markdown"
    assert {each.file for each in parsed.broken} == {"c.md", "d.md"}
    report = import_parsed(store, parsed, options, now=NOW)
    assert report.new == 11
    assert import_parsed(store, parsed, options, now=NOW).new == 0


# ---- all


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (json.dumps(MEM0).encode(), "Allergic to shellfish"),
        (json.dumps(EDGES).encode(), "Ingrid advises the Harbour Trust"),
        (json.dumps(EXPORT).encode(), "The dye vat holds 40 litres"),
        (json.dumps(TALKS).encode(), "I live in Ghent."),
    ],
)
def test_a_forgotten_or_retired_claim_is_not_revived(store: Store, data: bytes, text: str) -> None:
    import_bytes(store, data, Options(), now=NOW)
    fact = by_text(store)[text]
    with store.atomic():
        store._db.write("UPDATE facts SET status = 'superseded' WHERE id = ?", (fact.id,))
    import_bytes(store, data, Options(), now=NOW)
    assert by_text(store)[text].status is FactStatus.SUPERSEDED
    store.erase(fact.agent, [fact.id], now=NOW)
    import_bytes(store, data, Options(), now=NOW)
    assert text not in by_text(store)


@pytest.mark.parametrize("form", ["mem0", "graphiti", "aingram", "letta", "chatgpt"])
@pytest.mark.parametrize("data", [b"[]", b"{}", b"[1, 2]", b'{"results": 3}', b"nonsense", b"[{}]"])
def test_files_of_another_shape_are_refused_or_hold_nothing(
    store: Store, form: str, data: bytes
) -> None:
    try:
        report = import_bytes(store, data, Options(), now=NOW, form=form)
    except InputError:
        return
    assert report.new == 0
    assert store.facts() == []
