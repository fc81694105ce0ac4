"""Overwritten facts: how the memory is made, and how store and answers are scored."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from builders import day, fact

from consolidate.backends.fake import fake_backends
from consolidate.memory.memory import Memory
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import Decision, DecisionKind, Fact, FactStatus, NewFact
from eval.conflicts import run_conflicts, score_edits
from eval.edits import SAMPLE, edits_of, read_chains
from eval.recall import Onlooker, top_facts

FAKES = Settings(classifier="fake", embedder="fake", extractor="fake")


def triple(subject: str, old: str, new: str, **fields: Any) -> dict[str, Any]:
    row = {
        "subject": subject, "relation": "employer", "template": "{subject} works for {object}.",
        "old": old, "new": new, "kind": "mutable",
    }  # fmt: skip
    return row | fields


def written(folder: Path, *rows: dict[str, Any]) -> Path:
    path = folder / "edits.jsonl"
    path.write_text("\n".join(json.dumps(row) for row in rows), encoding="utf-8")
    return path


ROWS = (
    triple("Ivo", "Acme", "Globex"),
    triple("Ada", "Bolt", "Cask"),
    triple("Ada", "Cask", "Dune"),
    triple("Mia", "Welsh", "Czech", relation="language", template="{subject} speaks {object}.",
           kind="multi"),
)  # fmt: skip


def test_triples_of_one_subject_and_relation_are_one_chain(tmp_path: Path) -> None:
    chains = {chain.subject: chain for chain in read_chains(written(tmp_path, *ROWS))}
    assert chains["Ada"].values == ("Bolt", "Cask", "Dune")
    assert chains["Ivo"].texts == ("Ivo works for Acme.", "Ivo works for Globex.")
    assert chains["Ivo"].question == "Ivo works for?"
    assert chains["Mia"].question == ""


def test_a_question_of_the_file_is_taken_as_it_is(tmp_path: Path) -> None:
    (chain,) = read_chains(written(tmp_path, triple("Ivo", "A", "B", question="Who pays Ivo?")))
    assert chain.question == "Who pays Ivo?"


def test_values_that_come_back_and_rows_that_disagree_are_left_out(tmp_path: Path) -> None:
    back = (triple("Ivo", "A", "B"), triple("Ivo", "B", "a"))
    apart = (triple("Ada", "A", "B"), triple("Ada", "C", "D"))
    assert read_chains(written(tmp_path, *back, *apart)) == []


@pytest.mark.parametrize(
    ("change", "says"), [({"kind": "odd"}, "unknown kind 'odd'"), ({"new": ""}, "'new' is missing")]
)
def test_a_row_that_can_not_be_read_is_named(
    change: dict[str, str], says: str, tmp_path: Path
) -> None:
    path = written(tmp_path, ROWS[0], {**ROWS[1], **change})
    with pytest.raises(ValueError, match=rf"edits\.jsonl, line 2: {says}"):
        read_chains(path)


def test_later_statements_have_later_times_and_overwrite(tmp_path: Path) -> None:
    edits = edits_of(read_chains(written(tmp_path, *ROWS)), facts=100)
    texts = {each.id: each.text for each in edits.facts}
    times = [each.stated_at for each in edits.facts if each.stated_at is not None]
    assert times == sorted(set(times))
    place = {text: number for number, text in enumerate(texts.values())}
    assert (
        place["Ada works for Bolt."] < place["Ada works for Cask."] < place["Ada works for Dune."]
    )
    told = {texts[old]: {texts[new] for new in heirs} for old, heirs in edits.outdated.items()}
    assert told == {
        "Ivo works for Acme.": {"Ivo works for Globex."},
        "Ada works for Bolt.": {"Ada works for Cask.", "Ada works for Dune."},
        "Ada works for Cask.": {"Ada works for Dune."},
    }
    assert {texts[each] for each in edits.current} == {
        "Ivo works for Globex.", "Ada works for Dune.", "Mia speaks Welsh.", "Mia speaks Czech.",
    }  # fmt: skip
    assert len(edits.newest) == 2


def test_a_smaller_memory_is_a_part_of_the_larger_one(tmp_path: Path) -> None:
    chains = read_chains(SAMPLE)
    small = {each.text for each in edits_of(chains, facts=100).facts}
    large = {each.text for each in edits_of(chains, facts=400).facts}
    assert small < large
    assert 98 <= len(small) <= 100


def test_the_sample_holds_changing_lasting_and_many_valued_relations() -> None:
    chains = read_chains(SAMPLE)
    assert {chain.kind for chain in chains} == {"mutable", "static", "multi"}
    assert sum(len(chain.texts) for chain in chains) > 1800
    assert len({chain.relation for chain in chains}) > 30
    for chain in chains:
        assert bool(chain.question) == (chain.kind != "multi")
        assert all(chain.subject in text for text in chain.texts)


def test_what_became_of_each_fact_is_counted(tmp_path: Path) -> None:
    edits = edits_of(read_chains(written(tmp_path, *ROWS)), facts=100)
    ids = {each.text: str(each.id) for each in edits.facts}
    facts: dict[str, Fact] = {each: fact(each) for each in ids.values()}

    def retire(text: str, by: str) -> None:
        facts[ids[text]] = fact(
            ids[text], status=FactStatus.SUPERSEDED, superseded_by=ids[by]
        )  # fmt: skip

    retire("Ada works for Bolt.", "Ada works for Dune.")
    retire("Ada works for Cask.", "Ivo works for Globex.")
    retire("Mia speaks Welsh.", "Mia speaks Czech.")
    review = Decision(
        id="r", kind=DecisionKind.REVIEW, subject=ids["Ivo works for Acme."],
        object=ids["Ivo works for Globex."], reason="?", sentence="?",
    )  # fmt: skip
    by_chain = {edits.chains[name].subject: name for name in edits.newest}
    answers = {by_chain["Ada"]: ids["Ada works for Dune."], by_chain["Ivo"]: None}
    scored = score_edits(edits, facts, answers, [review])
    assert (scored["outdated"], scored["superseded"], scored["asked"]) == (3, 1, 1)
    assert scored["retired_for_another_reason"] == 1
    assert (scored["current"], scored["kept"], scored["lost"]) == (4, 3, 1)
    assert (scored["questions"], scored["answered"]) == (2, 1)
    assert scored["by_kind"]["multi"]["kept_share"] == 0.5
    assert scored["by_kind"]["multi"]["answered_share"] is None
    assert scored["samples"]["superseded"]["items"][by_chain["Ada"]] == "1/2"


def test_what_is_recalled_first_is_live_and_asking_leaves_no_trace() -> None:
    backends = fake_backends()
    with Store.open(":memory:") as store:
        assert top_facts(store, backends, FAKES, ["Who?"], now=day(9)) == [None]
        store.add(
            [
                NewFact(id="a", text="Ivo works for Acme", stated_at=day(1)),
                NewFact(id="b", text="Ivo works for Bolt", stated_at=day(2)),
                NewFact(id="c", text="The lamp is green", stated_at=day(3)),
            ],
            now=day(9),
        )
        found = top_facts(
            store, backends, FAKES, ["Ivo works for?", "Is the lamp green?"], now=day(9)
        )
        assert found[1] == "c"
        assert found[0] in ("a", "b")
        for kind, stronger in ((Onlooker, False), (Watched, True)):
            strengths = []
            for _ in range(2):
                memory = kind(store, FAKES, backends, day(20))
                strengths.append(memory.recall_memories("Ivo works for?", limit=1)[0].strength)
                memory.write_uses()
            assert (strengths[1] > strengths[0]) == stronger


class Watched(Onlooker):
    """One that does write down what was recalled."""

    def write_uses(self) -> bool:
        return Memory.write_uses(self)


def test_the_suite_scores_store_and_answers_beside_controls(tmp_path: Path) -> None:
    result = run_conflicts(FAKES, path=written(tmp_path, *ROWS), facts=50)
    assert (result["facts"], result["questions"]) == (7, 2)
    idle = result["controls"]["do nothing"]
    assert (idle["superseded"], idle["kept_share"]) == (0, 1.0)
    judge = result["judge"]
    assert judge["outdated"] == 3
    assert judge["superseded"] > 0
    assert judge["answered"] >= idle["answered"]
    assert result["samples"].keys() == {"superseded", "kept", "answered"}
    again = run_conflicts(FAKES, path=tmp_path / "edits.jsonl", facts=50)
    for each in (result, again):
        del each["seconds"]
    assert result == again
