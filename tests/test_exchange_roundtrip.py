"""What an export holds comes back, once, and never revives what was retired."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from builders import said

from consolidate.errors import InputError, UndoConflictError
from consolidate.exchange.export import export_lines
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import ImportReport, Options
from consolidate.store import Episode, Message, Store
from consolidate.types import (
    Alias,
    Decision,
    DecisionKind,
    Evidence,
    FactStatus,
    Group,
    Groups,
    Link,
    Mention,
    NewFact,
    Plan,
    Receipt,
    Relation,
    Review,
    ReviewState,
)

NOW = datetime(2026, 11, 30, tzinfo=UTC)


def export(store: Store, agent: str | None = None, now: datetime = NOW) -> bytes:
    return "".join(f"{line}\n" for line in export_lines(store, agent=agent, now=now)).encode()


def body(data: bytes) -> list[bytes]:
    return data.split(b"\n")[1:]


def take(store: Store, data: bytes, **fields: Any) -> ImportReport:
    named = {key: fields.pop(key) for key in ("form", "name", "preview", "strict") if key in fields}
    return import_bytes(store, data, Options(**fields), now=NOW, **named)


def decision(kind: DecisionKind, subject: str, other: str, **fields: Any) -> Decision:
    return Decision(
        id=f"{kind}-{subject}-{other}",
        kind=kind,
        subject=subject,
        object=other,
        reason="test",
        sentence=f"{subject} and {other}",
        evidence=(
            Evidence(
                left=subject,
                right=other,
                rule="test",
                relation=Relation.CONTRADICTS,
                confidence=0.9,
            ),
        ),
        **fields,
    )


def carry_out(store: Store, *decisions: Decision, agent: str = "default") -> str:
    """Apply decisions as a run does, by hand."""
    plan = Plan(
        id=f"plan-{decisions[0].id}",
        agent=agent,
        now=NOW,
        snapshot_digest="s",
        settings_digest="t",
        facts={},
        decisions=decisions,
    )
    with store.atomic():
        run = store.begin_run(plan, now=NOW)
        for each in decisions:
            subject = store.get(each.subject)
            match each.kind:
                case DecisionKind.SUPERSEDE:
                    changed = replace(
                        subject,
                        status=FactStatus.SUPERSEDED,
                        superseded_by=each.object,
                        changed_by=run,
                    )
                    store.write_fact(changed, run=run)
                case DecisionKind.MERGE:
                    changed = replace(
                        subject, status=FactStatus.MERGED, merged_into=each.object, changed_by=run
                    )
                    store.write_fact(changed, run=run)
                case DecisionKind.LINK:
                    link = Link(left=each.subject, right=each.object, relation="refines", run=run)
                    store.write_link(agent, link, run=run)
                case DecisionKind.REVIEW:
                    waiting = replace(subject, status=FactStatus.IN_REVIEW, changed_by=run)
                    store.write_fact(waiting, run=run)
                    review = Review(
                        id=f"review-{each.subject}",
                        agent=agent,
                        state=ReviewState.OPEN,
                        decision=each,
                        run=run,
                    )
                    store.write_review(review, run=run)
        receipt = Receipt(run=run, plan=plan.id, agent=agent, applied_at=NOW)
        store.finish_run(run, receipt, now=NOW, state_digest="d")
    return run


@pytest.fixture
def rich(store: Store) -> Store:
    """A store with one of everything: chains, merges, links, reviews, names, two agents."""
    texts = ["Lives in Bonn", "Lives in Ghent", "Lives in Riga", "Residence: Riga", "Likes tea",
             "Likes green tea", "Drinks no tea"]  # fmt: skip
    facts = [said(text, day, id=f"fact-{name}", metadata={"n": day})
             for text, day, name in zip(texts, range(7), "abcdefg", strict=True)]  # fmt: skip
    store.add([*facts, said("Other's own", None, id="fact-x", agent="other")], now=NOW)
    carry_out(
        store,
        decision(DecisionKind.SUPERSEDE, "fact-a", "fact-b"),
        decision(DecisionKind.SUPERSEDE, "fact-b", "fact-c"),
        decision(DecisionKind.MERGE, "fact-d", "fact-c"),
        decision(DecisionKind.LINK, "fact-e", "fact-f"),
        decision(
            DecisionKind.REVIEW, "fact-f", "fact-g", proposal=DecisionKind.SUPERSEDE, valid_to=NOW
        ),
    )
    undone = carry_out(store, decision(DecisionKind.SUPERSEDE, "fact-e", "fact-g"))
    store.undo(undone, now=NOW)
    store.add_alias(Alias(agent="default", canonical="Riga", alias="Rīga"))
    store.add_alias(Alias(agent="default", canonical="Riga", alias="Rigan", never=True))
    groups = Groups(
        groups=(Group(key="riga", name="Riga", facts=("fact-c", "fact-d")),),
        by_fact={"fact-c": ("riga",), "fact-d": ("riga",)},
    )
    mention = Mention(start=9, end=13, text="Riga", label="name", score=0.5)
    store.save_entities("default", groups, {"fact-c": [mention]})
    store.pin("fact-e", now=NOW)
    store.add_uses({"fact-e": (3, NOW)})
    talk = [Message(id="", conversation="c", role="user", content=t, at=NOW) for t in ("Hi", "Yo")]
    store.add_messages("default", talk, now=NOW)
    store.add_episode(
        Episode(agent="default", title="Move", text="To Riga.", facts=("fact-c",)), now=NOW
    )
    return store


@pytest.fixture
def empty(open_store: Callable[..., Store], tmp_path: Path) -> Store:
    return open_store(tmp_path / "other.db")


def test_export_import_export_is_equal_byte_for_byte_but_for_the_header(
    rich: Store, empty: Store
) -> None:
    first = export(rich)
    report = take(empty, first)
    assert (report.new, report.known, report.broken) == (8, 0, ())
    second = export(empty, now=datetime(2027, 1, 1, tzinfo=UTC))
    assert body(second) == body(first)
    assert first.split(b"\n")[0] != second.split(b"\n")[0]
    assert [*empty.dump(derived=True)] == [*rich.dump(derived=True)]
    assert empty.check() == []


def test_every_type_of_row_is_in_the_export(rich: Store) -> None:
    header, *rows = [json.loads(line) for line in export(rich).splitlines()]
    types = {"plan", "decision", "run", "fact", "alias", "entity", "mention", "link", "review",
             "journal", "pin", "use", "message", "episode"}  # fmt: skip
    assert {row["type"] for row in rows} == types
    assert header["counts"]["fact"] == 8


def test_history_tells_its_reasons_after_the_move(rich: Store, empty: Store) -> None:
    take(empty, export(rich))
    assert empty.history("fact-a") == rich.history("fact-a")
    assert [event.sentence for event in empty.history("fact-a").after] == [
        "fact-a and fact-b",
        "fact-b and fact-c",
    ]


def test_a_run_can_be_undone_after_the_move(rich: Store, empty: Store) -> None:
    take(empty, export(rich))
    for store in (rich, empty):
        (run,) = [run.id for run in store.runs() if run.state == "applied"]
        store.undo(run, now=NOW)
    assert [*empty.dump(derived=True)] == [*rich.dump(derived=True)]
    assert empty.get("fact-a").status is FactStatus.ACTIVE


def test_what_was_undone_counts_as_settled_after_the_move(rich: Store, empty: Store) -> None:
    take(empty, export(rich))
    assert empty.snapshot("default").settled == rich.snapshot("default").settled
    assert ("fact-e", "fact-g") in empty.snapshot("default").settled


def test_a_second_import_adds_nothing(rich: Store, empty: Store) -> None:
    data = export(rich)
    take(empty, data)
    before = [*empty.dump(derived=True)]
    report = take(empty, data)
    assert (report.new, report.known, dict(report.extra)) == (0, 8, {})
    assert [*empty.dump(derived=True)] == before
    assert body(export(empty)) == body(data)


def test_importing_into_the_store_itself_adds_nothing(rich: Store) -> None:
    data = export(rich)
    assert take(rich, data).new == 0
    assert export(rich) == data


def test_a_preview_says_the_same_and_changes_nothing(rich: Store, empty: Store) -> None:
    data = export(rich)
    seen = take(empty, data, preview=True)
    assert empty.facts(statuses=None) == []
    assert [*empty.dump(derived=True)] == []
    done = take(empty, data)
    assert replace(seen, preview=False) == done


def test_one_agent_can_be_exported_and_imported_alone(rich: Store, empty: Store) -> None:
    other = export(rich, agent="other")
    assert [json.loads(line)["type"] for line in other.splitlines()[1:]] == ["fact"]
    take(empty, export(rich), agent="other", every_agent=True)
    assert empty.agents() == {"other": 1}
    assert empty.runs() == []


def test_an_old_export_does_not_revive_what_was_retired_since(store: Store) -> None:
    store.add([said("Lives in Bonn", 0, id="fact-a"), said("Lives in Ghent", 1, id="fact-b")],
              now=NOW)  # fmt: skip
    old = export(store)
    carry_out(store, decision(DecisionKind.SUPERSEDE, "fact-a", "fact-b"))
    report = take(store, old)
    assert (report.new, report.known) == (0, 2)
    assert store.get("fact-a").status is FactStatus.SUPERSEDED
    assert any("1 known facts have another state here" in note for note in report.notes)


def test_the_same_statement_under_another_id_is_known_and_stays_retired(
    rich: Store, empty: Store
) -> None:
    empty.add([said("Lives in Bonn", 0, id="mine-a"), said("Moved", 5, id="mine-b")], now=NOW)
    carry_out(empty, decision(DecisionKind.SUPERSEDE, "mine-a", "mine-b"))
    report = take(empty, export(rich))
    assert (report.new, report.known) == (7, 1)
    bonn = [fact for fact in empty.facts(statuses=None) if fact.text == "Lives in Bonn"]
    assert [(fact.id, fact.superseded_by) for fact in bonn] == [("mine-a", "mine-b")]
    assert empty.check() == []


def test_links_to_a_fact_known_under_another_id_are_turned_to_it(rich: Store, empty: Store) -> None:
    empty.add([said("Lives in Riga", 2, id="mine-c"), said("Likes green tea", 5, id="mine-f")],
              now=NOW)  # fmt: skip
    take(empty, export(rich))
    assert empty.get("fact-b").superseded_by == "mine-c"
    assert empty.get("fact-d").merged_into == "mine-c"
    assert [(link.left, link.right) for link in empty.links()] == [("fact-e", "mine-f")]
    (review,) = empty.reviews()
    assert review.decision.subject == "mine-f"
    assert review.decision.evidence[0].left == "mine-f"
    assert empty.check() == []


def test_an_open_review_about_what_was_retired_here_stays_out(rich: Store, empty: Store) -> None:
    empty.add([said("Drinks no tea", 6, id="mine-g"), said("Tea again", 9, id="mine-h")], now=NOW)
    carry_out(empty, decision(DecisionKind.SUPERSEDE, "mine-g", "mine-h"))
    take(empty, export(rich))
    assert empty.reviews() == []
    assert empty.get("fact-f").status is FactStatus.ACTIVE


def test_a_run_whose_facts_differ_here_can_not_be_undone_by_mistake(
    rich: Store, empty: Store
) -> None:
    empty.add([said("Lives in Bonn", 0, id="fact-a", metadata={"n": 0})], now=NOW)
    take(empty, export(rich))
    (run,) = [run.id for run in empty.runs() if run.state == "applied"]
    before = [*empty.dump()]
    with pytest.raises(UndoConflictError):
        empty.undo(run, now=NOW)
    assert [*empty.dump()] == before


def test_a_successor_that_the_file_lacks_leaves_the_fact_retired(rich: Store, empty: Store) -> None:
    kept = [line for line in export(rich).splitlines() if b'"id":"fact-c"' not in line]
    report = take(empty, b"\n".join(kept))
    assert report.new == 7
    assert empty.get("fact-b").status is FactStatus.SUPERSEDED
    assert empty.get("fact-b").superseded_by is None
    assert empty.check() == []


def test_broken_rows_are_numbered_and_the_rest_comes_in(rich: Store, empty: Store) -> None:
    rows = export(rich).splitlines()
    first = next(n for n, row in enumerate(rows) if b'"type":"fact"' in row)
    rows[first] = rows[first].replace(b"Lives in Bonn", b"Lives in Rome")  # the hash tells
    rows[first + 1] = rows[first + 1].replace(b'"trust":1.0', b'"trust":9.0')
    rows += [b'{"type":"riddle"}', b'{"type":"link","left":"fact-e"}', b"{", b"[]"]
    report = take(empty, b"\n".join(rows))
    found = {item.line: item.reason for item in report.broken}
    assert "content_hash" in found[first + 1]
    assert "trust" in found[first + 2]
    assert [found[n] for n in (len(rows) - 3,)] == ["unknown type 'riddle'"]
    assert len(found) == 6
    assert report.new == 6
    assert empty.check() == []


def test_strict_takes_in_nothing_if_a_line_is_broken(rich: Store, empty: Store) -> None:
    report = take(empty, export(rich) + b"{\n", strict=True)
    assert report.refused
    assert empty.facts(statuses=None) == []


def test_undo_entries_with_strange_columns_are_refused(rich: Store, empty: Store) -> None:
    rows = export(rich).splitlines()
    entry = json.loads(next(row for row in rows if b'"type":"journal"' in row))
    entry["before"] = {"id = id; DROP TABLE facts; --": 1}
    rows.append(json.dumps(entry).encode())
    (broken,) = take(empty, b"\n".join(rows)).broken
    assert "unknown column" in broken.reason


def test_nothing_crosses_agents_whatever_the_file_says(store: Store, empty: Store) -> None:
    store.add([said("mine", id="fact-a"), said("hers", id="fact-b", agent="her")], now=NOW)
    rows = [json.loads(row) for row in export(store).splitlines()]
    mine = next(row for row in rows if row.get("id") == "fact-a")
    mine |= {"status": "superseded", "superseded_by": "fact-b"}
    rows.append({"type": "link", "agent": "default", "left": "fact-a", "right": "fact-b",
                 "relation": "refines", "run": None})  # fmt: skip
    report = take(empty, "\n".join(map(json.dumps, rows)).encode())
    assert len(report.broken) == 1
    assert empty.get("fact-a").superseded_by is None
    assert empty.check() == []


def test_a_newer_format_is_refused(empty: Store) -> None:
    with pytest.raises(InputError, match="Upgrade consolidate"):
        take(empty, b'{"format": "consolidate.export", "version": 99}\n')


def test_a_cut_file_is_told(rich: Store, empty: Store) -> None:
    rows = export(rich).splitlines()
    cut = [row for row in rows if b'"id":"fact-x"' not in row]
    assert any("was cut" in note for note in take(empty, b"\n".join(cut)).notes)


def test_an_empty_store_round_trips(store: Store, empty: Store) -> None:
    data = export(store)
    assert take(empty, data).new == 0
    assert export(empty) == data


# ---- the other formats, into a real store


JSONL = b"""{"text": "Likes tea"}
{"text": "Likes tea"}
{"text": "Likes jam", "date": "2026-01-01T00:00:00Z"}
"""


def test_the_same_file_twice_makes_no_second_copy(store: Store) -> None:
    first, second = take(store, JSONL), take(store, JSONL, name="a copy.jsonl")
    assert (first.new, first.known) == (2, 1)
    assert (second.new, second.known) == (0, 3)
    assert [fact.source for fact in store.facts()] == ["import", "import"]
    assert {fact.trust for fact in store.facts()} == {0.6}


def test_a_retired_fact_is_not_revived_by_its_file(store: Store) -> None:
    take(store, JSONL)
    tea, jam = sorted(store.facts(), key=lambda fact: fact.text, reverse=True)
    carry_out(store, decision(DecisionKind.SUPERSEDE, tea.id, jam.id))
    assert take(store, JSONL).new == 0
    assert store.get(tea.id).status is FactStatus.SUPERSEDED


def test_facts_that_the_store_refuses_are_broken_lines(store: Store) -> None:
    rows = [{"text": f"fact {n}"} for n in range(700)]
    rows[3] = {"text": "nul \0 inside"}
    rows[650] = {"text": "x", "kind": "k" * 300}
    report = take(store, "\n".join(map(json.dumps, rows)).encode())
    assert report.new == 698
    assert [item.line for item in report.broken] == [4, 651]
    assert "NUL" in report.broken[0].reason
    assert not report.broken[0].reason.startswith("fact 1 of")


def test_a_hippo_export_is_taken_in_once_with_its_chains(store: Store) -> None:
    chunks = [
        {"id": "01A", "content": "a", "kind": "fact", "superseded_by": "01B",
         "created_at": "2026-01-01T00:00:00Z"},
        {"id": "01B", "content": "b", "kind": "fact", "superseded_by": "01C",
         "created_at": "2026-01-02T00:00:00Z"},
        {"id": "01C", "content": "c", "kind": "fact", "created_at": "2026-01-03T00:00:00Z"},
    ]  # fmt: skip
    data = json.dumps({"agentId": "ada", "chunks": chunks, "blocks": []}).encode()
    assert take(store, data).new == 3
    assert [fact.text for fact in store.facts(agent="ada")] == ["c"]
    assert len(store.history("01C").before) == 2
    again = take(store, data)
    assert (again.new, again.known) == (0, 3)
    assert store.check() == []


def test_an_mcp_memory_is_taken_in_once_with_its_names(store: Store) -> None:
    data = b'{"type":"entity","name":"Ada","entityType":"person","observations":["likes tea"]}\n'
    first = take(store, data)
    assert (first.new, first.names) == (1, 1)
    assert store.aliases("default") == (Alias(agent="default", canonical="Ada", alias="Ada"),)
    second = take(store, data)
    assert (second.new, second.known, second.names) == (0, 1, 0)


def test_a_declared_name_is_not_overridden_by_an_import(store: Store) -> None:
    store.add_alias(Alias(agent="default", canonical="Ada", alias="Ada", never=True))
    take(store, b'{"type":"entity","name":"Ada","observations":["x"]}\n')
    assert store.aliases("default")[0].never


def test_facts_of_any_text_come_back_as_they_are(store: Store, empty: Store) -> None:
    texts = ["naïve\n\tline", "\u2028", "\x1b[31mred", "[bold]x[/]", "\U0001f469\u200d\U0001f680"]
    store.add([NewFact(text=f"{text} end") for text in texts], now=NOW)
    take(empty, export(store))
    assert [f.text for f in empty.facts()] == [f"{text} end" for text in texts]
