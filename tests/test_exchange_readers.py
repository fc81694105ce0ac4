"""Foreign files are read for what they mean, line by line."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from consolidate.errors import InputError
from consolidate.exchange.columns import parse_map
from consolidate.exchange.importing import detect, import_bytes, parse
from consolidate.exchange.records import Options, Parsed
from consolidate.exchange.text import unwrap
from consolidate.store import Store
from consolidate.types import Fact, FactStatus, NewFact

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def lines(*rows: Any) -> bytes:
    return "\n".join(r if isinstance(r, str) else json.dumps(r) for r in rows).encode()


def read(data: bytes, form: str = "jsonl", **options: Any) -> Parsed:
    return parse(data, Options(**options), now=NOW, form=form)


def facts(parsed: Parsed) -> list[NewFact]:
    return [fact for _, fact in parsed.facts]


def reasons(parsed: Parsed) -> dict[int, str]:
    return {item.line: item.reason for item in parsed.broken}


# ---- JSON lines


def test_common_column_names_are_understood_and_said() -> None:
    parsed = read(lines({"content": "I like tea", "createdAt": "2026-01-02T03:04:05Z"}))
    (fact,) = facts(parsed)
    assert fact.text == "I like tea"
    assert fact.stated_at == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
    assert "text=content, stated_at=createdAt" in parsed.notes[0]


def test_a_map_overrides_the_guess() -> None:
    data = lines({"text": "wrong", "claim": "right", "when": "2026-01-01T00:00:00Z"})
    (fact,) = facts(read(data, columns=parse_map(["text=claim,stated_at=when"])))
    assert fact.text == "right"
    assert fact.stated_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert fact.metadata == {"text": "wrong"}


def test_nothing_else_is_taken_for_a_mapped_column_that_is_missing() -> None:
    data = lines({"claim": "good"}, {"text": "other"})
    parsed = read(data, columns={"text": "claim"})
    assert [fact.text for fact in facts(parsed)] == ["good"]
    assert reasons(parsed) == {2: "no text in 'claim'"}


def test_a_mapped_column_that_no_line_has_is_told() -> None:
    parsed = read(lines({"text": "good"}), columns={"stated_at": "when"})
    assert any("no line has the column 'when'" in note for note in parsed.notes)


def test_a_table_without_a_known_time_column_says_which_might_be_it() -> None:
    parsed = read(b"text,zeit,colour\nI like tea,2026-01-02,red\n", "csv")
    (note,) = parsed.notes
    assert note.startswith("the facts have no times; one may be in zeit (")
    assert "--map stated_at=COLUMN" in note
    assert read(b"text\nI like tea\n", "csv").notes == ()


@pytest.mark.parametrize(
    ("data", "part"),
    [
        (b"SQLite format 3\0\x10\0\n" + bytes(range(256)), "SQLite database can't be read"),
        (b"\x89PNG\r\n\x1a\n\0\0", "binary or not UTF-8"),
        ("text,a\nI like tea,b\n".encode("utf-16"), "this is UTF-16"),
        ("text,a\nI like tea,b\n".encode("utf-16-be"), "this is UTF-16"),
    ],
)
def test_what_is_no_utf8_text_is_told_in_short(data: bytes, part: str) -> None:
    with Store.open(":memory:") as store, pytest.raises(InputError, match=part) as caught:
        import_bytes(store, data, Options(), now=NOW)
    assert len(str(caught.value)) < 80


def test_a_missing_time_stays_unknown() -> None:
    (fact,) = facts(read(lines({"text": "I like tea", "created_at": None})))
    assert fact.stated_at is None


def test_a_time_without_offset_is_refused_unless_a_zone_is_named() -> None:
    data = lines({"text": "a", "stated_at": "2026-01-01T09:00:00"}, {"text": "b"})
    parsed = read(data)
    assert [fact.text for fact in facts(parsed)] == ["b"]
    assert "--timezone" in reasons(parsed)[1]
    (fact, _) = facts(read(data, timezone="Asia/Shanghai"))
    assert fact.stated_at == datetime(2026, 1, 1, 1, tzinfo=UTC)


def test_broken_lines_are_numbered_and_the_others_are_read() -> None:
    data = lines(
        {"text": "first"},
        "{not json",
        "",
        {"text": "  "},
        {"other": "x"},
        [1, 2],
        {"text": "a", "trust": 7},
        {"text": "b", "metadata": "[]"},
        {"text": "c", "created_at": "soon"},
        {"text": "last"},
    )
    parsed = read(data)
    assert [fact.text for fact in facts(parsed)] == ["first", "last"]
    found = reasons(parsed)
    assert list(found) == [2, 4, 5, 6, 7, 8, 9]
    assert "no valid JSON" in found[2]
    assert "no text in 'text'" in found[4]
    assert "--map text=COLUMN" in found[5]
    assert found[6] == "not an object but list"
    assert "trust: 7 is not between 0 and 1" in found[7]
    assert "metadata" in found[8]
    assert "stated_at" in found[9]


def test_bytes_that_are_no_utf8_break_only_their_line() -> None:
    parsed = read(b'{"text": "one"}\n{"text": "\xff"}\n{"text": "two"}')
    assert [fact.text for fact in facts(parsed)] == ["one", "two"]
    assert reasons(parsed)[2].startswith("not UTF-8")


def test_a_line_separator_inside_a_string_does_not_end_the_line() -> None:
    (fact,) = facts(read(('{"text": "one' + "\u2028" + 'two"}').encode()))
    assert fact.text == "one\u2028two"


def test_a_byte_order_mark_and_windows_line_ends_are_fine() -> None:
    parsed = read(b'\xef\xbb\xbf{"text": "one"}\r\n{"text": "two"}\r\n')
    assert [fact.text for fact in facts(parsed)] == ["one", "two"]


def test_deep_nesting_is_a_broken_line_not_a_crash() -> None:
    parsed = read(lines("[" * 100_000, {"text": "fine"}))
    assert list(reasons(parsed)) == [1]


def test_what_has_no_field_is_kept_in_the_metadata() -> None:
    data = lines({"text": "x", "id": 7, "score": 0.5, "metadata": {"a": 1}, "empty": None})
    parsed = read(data)
    (fact,) = facts(parsed)
    assert fact.id is None
    assert fact.metadata == {"a": 1, "id": 7, "score": 0.5}
    assert any("--map id=id" in note for note in parsed.notes)


def test_ids_are_kept_when_mapped() -> None:
    (fact,) = facts(read(lines({"text": "x", "id": 7}), columns={"id": "id"}))
    assert fact.id == "7"


def test_agents_of_the_file_hold_unless_one_is_forced() -> None:
    data = lines({"text": "x", "user_id": "ada"})
    assert facts(read(data, agent="me"))[0].agent == "ada"
    forced = facts(read(data, agent="me", every_agent=True))[0]
    assert forced.agent == "me"
    assert forced.metadata == {"user_id": "ada"}


def test_a_role_is_taken_as_the_source() -> None:
    parsed = read(lines({"text": "x", "role": "assistant"}, {"text": "y"}), source="tool")
    assert [fact.source for fact in facts(parsed)] == ["assistant", "tool"]


def test_a_json_array_is_read_like_lines() -> None:
    data = json.dumps([{"text": "one"}, 3, "two"]).encode()
    assert detect(data) == "json"
    parsed = read(data, "json")
    assert [fact.text for fact in facts(parsed)] == ["one", "two"]
    assert list(reasons(parsed)) == [2]


# ---- content in wrappings


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ('{"text": "inner"}', "inner"),
        ({"text": "inner"}, "inner"),
        ('{"content": {"text": "inner"}}', "inner"),
        ('"{\\"text\\": \\"inner\\"}"', "inner"),
        ([{"type": "text", "text": "one"}, {"type": "text", "text": "two"}], "one\ntwo"),
        ('{"port": 8080}', '{"port": 8080}'),
        ('{"value": 3}', '{"value": 3}'),
        ('"To be or not to be"', '"To be or not to be"'),
        ("{not json", "{not json"),
        ("[1, 2, 3]", "[1, 2, 3]"),
    ],
)
def test_content_is_unwrapped_to_plain_text(content: Any, text: str) -> None:
    found = unwrap(content)
    assert found is not None
    assert found[0] == text


def test_what_a_wrapping_holds_beside_the_text_is_kept() -> None:
    (fact,) = facts(read(lines({"memory": '{"text": "inner", "score": 2}'})))
    assert (fact.text, fact.metadata) == ("inner", {"score": 2})


@pytest.mark.parametrize("content", [None, 3, {"other": "x"}, [], [{"type": "image"}]])
def test_content_without_text_is_none(content: Any) -> None:
    assert unwrap(content) is None


# ---- maps


@pytest.mark.parametrize(
    ("spec", "part"),
    [
        ("text", "is not FIELD=COLUMN"),
        ("text=", "is not FIELD=COLUMN"),
        ("txt=content", "there is no field 'txt'"),
        ("text=a,text=b", "mapped twice"),
    ],
)
def test_a_bad_map_is_refused(spec: str, part: str) -> None:
    with pytest.raises(InputError, match=part):
        parse_map([spec])


# ---- CSV


def test_csv_is_read_under_its_header() -> None:
    data = b'Memory,Created At,score\n"Likes tea, and coffee",2026-01-01T00:00:00Z,3\n'
    assert detect(data) == "csv"
    (fact,) = facts(read(data, "csv"))
    assert fact.text == "Likes tea, and coffee"
    assert fact.stated_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert fact.metadata == {"score": "3"}


@pytest.mark.parametrize("separator", [";", "\t", "|"])
def test_other_separators_are_found(separator: str) -> None:
    data = f"id{separator}text\n1{separator}one, two\n".encode()
    (fact,) = facts(read(data, "csv"))
    assert fact.text == "one, two"


def test_csv_rows_over_several_lines_are_numbered_by_their_first() -> None:
    data = b'text,trust\n"one\ntwo",0.5\nthree,nine\nfour,1,extra\n'
    parsed = read(data, "csv")
    assert facts(parsed)[0].text == "one\ntwo"
    assert reasons(parsed) == {
        4: "trust: 'nine' is no number",
        5: "3 cells under 2 columns",
    }


def test_csv_knows_seconds_since_1970() -> None:
    (fact,) = facts(read(b"text,ts\nx,1767225600\n", "csv"))
    assert fact.stated_at == datetime(2026, 1, 1, tzinfo=UTC)


def test_csv_rows_that_are_no_utf8_break_alone() -> None:
    parsed = read(b"text\none\n\xff\ntwo\n", "csv")
    assert [fact.text for fact in facts(parsed)] == ["one", "two"]
    assert reasons(parsed) == {3: "not UTF-8"}


def test_a_column_of_the_map_must_be_in_the_header() -> None:
    with pytest.raises(InputError, match="there is no column 'content'; the columns are text"):
        read(b"text\nx\n", "csv", columns={"text": "content"})


def test_a_csv_without_a_text_column_is_refused() -> None:
    with pytest.raises(InputError, match="--map text=COLUMN"):
        read(b"a,b\n1,2\n", "csv")


def test_an_empty_file_is_refused() -> None:
    with pytest.raises(InputError, match="empty"):
        read(b" \n", "csv")


# ---- hippo


def hippo(*chunks: dict[str, Any], blocks: Any = ()) -> bytes:
    export = {"agentId": "ada", "blocks": list(blocks), "chunks": list(chunks), "version": 1,
              "exportedAt": "2026-01-01T00:00:00.000Z"}  # fmt: skip
    return json.dumps(export, indent=2).encode()


def chunk(chunk_id: str, content: str, **fields: Any) -> dict[str, Any]:
    return {
        "id": chunk_id,
        "content": content,
        "kind": "fact",
        "metadata": None,
        "running_intensity": 0.5,
        "encounter_count": 1,
        "access_count": 0,
        "created_at": "2026-01-01T00:00:00.000Z",
        "last_accessed_at": "2026-02-01T00:00:00.000Z",
        "superseded_by": None,
        "content_hash": None,
        "embedding_base64": "AAAA",
    } | fields


def archived(parsed: Parsed) -> list[Fact]:
    return [fact for _, fact in parsed.archive.facts]


def test_a_hippo_export_comes_with_its_past() -> None:
    data = hippo(
        chunk("01A", "Lives in Bonn", superseded_by="01B"),
        chunk("01B", "Lives in Ghent", running_intensity=1.4, encounter_count=3, access_count=2,
              metadata='{"k": 1}'),
    )  # fmt: skip
    assert detect(data) == "hippo"
    old, new = archived(read(data, "hippo"))
    assert (old.status, old.superseded_by) == (FactStatus.SUPERSEDED, "01B")
    assert (new.agent, new.source) == ("ada", "import:hippo")
    assert (new.intensity, new.encounters, new.access_count) == (1.0, 3, 2)
    assert new.metadata == {"k": 1}
    assert new.stated_at == datetime(2026, 1, 1, tzinfo=UTC)
    assert new.recorded_at == NOW


def test_a_chunk_whose_successor_was_purged_stays_retired() -> None:
    (fact,) = archived(read(hippo(chunk("01A", "x", superseded_by="gone")), "hippo"))
    assert (fact.status, fact.superseded_by) == (FactStatus.SUPERSEDED, None)
    assert fact.metadata == {"superseded_by": "gone"}


def test_broken_chunks_and_blocks_are_numbered() -> None:
    data = hippo(
        chunk("01A", "fine"),
        chunk("01B", ""),
        chunk("01C", "x", encounter_count=-1),
        blocks=[{"key": "persona", "value": "kind", "updatedAt": "2026-01-01T00:00:00Z"}, {}],
    )
    parsed = read(data, "hippo")
    assert len(archived(parsed)) == 1
    assert [(block.name, block.content) for _, block in parsed.blocks] == [("persona", "kind")]
    assert sorted(reasons(parsed)) == [2, 3, 5]


# ---- MCP reference memory


MEMORY = lines(
    {"type": "entity", "name": "Ada_Lovelace", "entityType": "person",
     "observations": ["Speaks French", "born in London", "Ada_Lovelace met Babbage", ""]},
    {"type": "relation", "from": "Ada_Lovelace", "to": "Engine", "relationType": "works_on"},
    {"type": "relation", "from": "Ada_Lovelace", "relationType": "knows"},
    {"type": "entity", "name": "Engine", "entityType": "machine", "observations": []},
)  # fmt: skip


def test_observations_and_relations_become_facts() -> None:
    assert detect(MEMORY) == "mcp-memory"
    parsed = read(MEMORY, "mcp-memory")
    assert [fact.text for fact in facts(parsed)] == [
        "Ada_Lovelace speaks French",
        "Ada_Lovelace: born in London",
        "Ada_Lovelace met Babbage",
        "Ada_Lovelace works on Engine",
    ]
    assert all(fact.stated_at is None for fact in facts(parsed))
    assert facts(parsed)[0].metadata == {"entity": "Ada_Lovelace", "entity_type": "person"}
    assert sorted(reasons(parsed)) == [1, 3]


def test_entity_names_are_declared() -> None:
    declared = [(a.canonical, a.alias) for a in read(MEMORY, "mcp-memory").aliases]
    assert declared == [
        ("Ada_Lovelace", "Ada_Lovelace"),
        ("Ada_Lovelace", "Ada Lovelace"),
        ("Engine", "Engine"),
    ]


# ---- which format


@pytest.mark.parametrize(
    ("data", "name", "form"),
    [
        (b'{"text": "x"}\n', "", "jsonl"),
        (b'{"broken\n{"type": "entity", "name": "A", "observations": []}', "", "mcp-memory"),
        (b'{"format": "consolidate.export", "version": 1}\n', "", "consolidate"),
        (b'"just a sentence"\n', "", "jsonl"),
        (b'"text","source"\n"x","user"\n', "", "csv"),
        (b'{"text": "x"}\n', "facts.csv", "csv"),
        (b"text\nx\n", "", "csv"),
    ],
)
def test_the_format_is_found_by_content(data: bytes, name: str, form: str) -> None:
    assert detect(data, name) == form
