"""Whether a memory bears out a claim."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest
from pipelines import FAKE_SETTINGS

from consolidate.backends import Backends
from consolidate.backends.fake import FakeClassifier, FakeEmbedder, FakeExtractor
from consolidate.errors import InputError
from consolidate.graph.claims import validate_claim
from consolidate.memory import open_memory
from consolidate.memory.memory import Memory
from consolidate.types import NewFact, Relation, Scores

DAY = datetime(2026, 3, 4, 12, tzinfo=UTC)
LUND = "Ada lives in Lund."
TABLE: dict[tuple[str, str], Relation | tuple[Scores, Scores] | None] = {
    (LUND, "Ada lives in Sweden."): Relation.LEFT_ENTAILS_RIGHT,
    (LUND, "Ada lives in Lund with nine cats."): Relation.RIGHT_ENTAILS_LEFT,
    (LUND, "Ada lives in Porto."): Relation.CONTRADICTS,
    (LUND, "Ada lives far from Lund."): (
        Scores(entailment=0.1, neutral=0.25, contradiction=0.65),
        Scores(entailment=0.1, neutral=0.25, contradiction=0.65),
    ),
    ("Ada lives in Faro.", "Ada lives in Porto."): Relation.CONTRADICTS,
    ("Ada moved to Porto.", "Ada lives in Porto."): Relation.LEFT_ENTAILS_RIGHT,
}


@pytest.fixture
def memory(tmp_path: Path) -> Iterator[Memory]:
    """Knows where Ada lives."""
    backends = Backends(
        embedder=FakeEmbedder(), extractor=FakeExtractor({}), classifier=FakeClassifier(TABLE)
    )
    with open_memory(tmp_path / "m.db", settings=FAKE_SETTINGS, backends=backends) as opened:
        tell(opened, LUND)
        tell(opened, "Bees sleep in winter.")
        yield opened


def tell(memory: Memory, text: str) -> str:
    (added,) = memory.store.add([NewFact(text=text, stated_at=DAY)], now=DAY)
    return added.id


def test_a_fact_supports_what_it_says_and_what_follows_from_it(memory: Memory) -> None:
    for claim in (LUND, "ADA lives in Lund.", "Ada lives in Sweden."):
        found = validate_claim(memory, claim)
        assert found.verdict == "supported", claim
        assert [witness.fact.text for witness in found.supporting] == [LUND]
        assert found.contradicting == ()


def test_a_fact_contradicts_what_it_rules_out(memory: Memory) -> None:
    found = validate_claim(memory, "Ada lives in Porto.")
    assert found.verdict == "contradicted"
    assert [witness.fact.text for witness in found.contradicting] == [LUND]
    assert found.contradicting[0].because and LUND in found.why


def test_a_claim_that_says_more_than_the_facts_is_unknown(memory: Memory) -> None:
    assert validate_claim(memory, "Ada lives in Lund with nine cats.").verdict == "unknown"
    assert validate_claim(memory, "The moon is hollow.").verdict == "unknown"


def test_an_unsure_judge_decides_nothing_but_names_the_fact(memory: Memory) -> None:
    found = validate_claim(memory, "Ada lives far from Lund.")
    assert found.verdict == "unknown"
    assert [witness.fact.text for witness in found.unsure] == [LUND]


def test_facts_that_disagree_leave_a_claim_unknown_and_both_are_named(memory: Memory) -> None:
    tell(memory, "Ada moved to Porto.")
    found = validate_claim(memory, "Ada lives in Porto.")
    assert found.verdict == "unknown"
    assert found.supporting and found.contradicting


def test_what_no_longer_holds_is_no_witness(memory: Memory) -> None:
    done = memory.remember_facts("Ada lives in Porto.", stated_at=DAY.replace(day=9))
    assert [fact.action for fact in done.facts] == ["superseded"]
    found = validate_claim(memory, "Ada lives in Porto.")
    assert found.verdict == "supported"
    assert validate_claim(memory, LUND).verdict == "contradicted"


def test_asking_changes_nothing_not_even_how_often_a_fact_was_used(memory: Memory) -> None:
    memory.recall_memories("Ada")
    memory.write_uses()
    before = list(memory.store.dump())
    validate_claim(memory, "Ada lives in Porto.")
    memory.write_uses()
    assert list(memory.store.dump()) == before


def test_the_facts_that_are_judged_are_bounded(memory: Memory) -> None:
    for number in range(30):
        tell(memory, f"Ada has book number {number}.")
    judge = memory.backends.classifier
    assert isinstance(judge, FakeClassifier)
    asked = judge.items
    found = validate_claim(memory, "Ada lives in Porto.", limit=5)
    assert found.considered <= 5 and judge.items - asked <= 5


def test_an_empty_memory_knows_nothing_and_odd_input_is_refused(memory: Memory) -> None:
    with open_memory(
        memory.store.path, "other", settings=FAKE_SETTINGS, backends=memory.backends
    ) as other:
        found = validate_claim(other, LUND)
    assert (found.verdict, found.considered) == ("unknown", 0)
    for claim, limit in (("", 5), ("x" * 2001, 5), (LUND, 0), (LUND, 51)):
        with pytest.raises(InputError):
            validate_claim(memory, claim, limit=limit)
