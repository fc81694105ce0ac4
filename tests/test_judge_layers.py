"""Layers of the judge, switched off one at a time: each takes its own work with it, no more."""

from __future__ import annotations

from dataclasses import fields

import pytest
from builders import fact, verdict
from pipelines import Memory, messy

from consolidate.backends.rules import RulesExtractor
from consolidate.judge.assess import assess, foregone
from consolidate.judge.layers import ALL_LAYERS, Layers
from consolidate.judge.reading import Reading, read
from consolidate.store import Store
from consolidate.types import Assessment, Relation

NAMES = [item.name for item in fields(Layers)]


def reading(fact_id: str, text: str, stated: float = 0) -> Reading:
    (mentions,) = RulesExtractor().extract([text])
    return read(fact(fact_id, text, stated), mentions)


def judged(
    a: str, b: str, layers: Layers, says: Relation = Relation.CONTRADICTS, confidence: float = 0.95
) -> Assessment:
    return assess(
        reading("a", a, 1), reading("b", b, 2), verdict(says, confidence), layers=layers
    )  # fmt: skip


@pytest.mark.parametrize(
    ("layer", "a", "b", "says", "with_it", "without_it"),
    [
        ("values", "The cellar holds 40 crates.", "The cellar holds forty crates", "compatible",
         "equivalent", "compatible"),
        ("values", "Ticket KX-2203 is open.", "Ticket KX-2205 is closed.", "contradicts",
         "compatible", "contradicts"),
        ("slots", "User speaks Welsh.", "User speaks Czech.", "contradicts",
         "compatible", "contradicts"),
        ("modality", "The team uses Rust.", "The team is considering Go.", "contradicts",
         "compatible", "contradicts"),
        ("modality", "On 2026-04-06 the queue held 5 jobs", "On 2026-04-13 the queue held 9 jobs",
         "contradicts", "compatible", "contradicts"),
        ("names", "Nora Lund lives in Bari.", "Ivo Brandt lives in Ghent.", "contradicts",
         "compatible", "contradicts"),
        ("names", "The staging queue is paused.", "The production queue is running.",
         "contradicts", "compatible", "contradicts"),
        ("classifier", "Nora Lund moved to Bari.", "Nora Lund moved to Ghent.", "contradicts",
         "contradicts", "compatible"),
    ],
)  # fmt: skip
def test_a_layer_that_is_off_does_not_do_its_work(
    layer: str, a: str, b: str, says: str, with_it: str, without_it: str
) -> None:
    said = Relation(says)
    assert judged(a, b, ALL_LAYERS, said).relation == with_it
    assert judged(a, b, ALL_LAYERS.without(layer), said).relation == without_it
    others = [name for name in NAMES if name not in (layer, "classifier")]
    for other in others:
        assert judged(a, b, ALL_LAYERS.without(other), said).relation == with_it, other


def test_without_policy_what_may_only_be_asked_about_is_acted_on() -> None:
    texts = "User was born in Bari.", "User was born in Ghent."
    assert judged(*texts, ALL_LAYERS).review_only
    assert not judged(*texts, ALL_LAYERS.without("policy")).review_only
    strange = "田中さんは東京に住んでいる", "田中さんは大阪に住んでいる"
    assert judged(*strange, ALL_LAYERS).reason == "language"
    assert judged(*strange, ALL_LAYERS.without("policy")).reason == "classifier"


def test_without_any_layer_the_verdict_is_taken_as_it_is() -> None:
    texts = "Nora Lund plans to leave Bari?", "Ivo Brandt never left KX-22 on 2026-04-06"
    for relation in Relation:
        found = judged(*texts, Layers.none(), relation)
        assert (found.relation, found.reason) == (relation, "classifier")
        assert not found.review_only


def test_what_is_foregone_depends_on_the_layers() -> None:
    mia, ivo = reading("a", "Nora Lund lives in Bari."), reading("b", "Ivo Brandt lives in Ghent.")
    assert foregone(mia, ivo) == "other-subject"
    assert foregone(mia, ivo, layers=ALL_LAYERS.without("names")) == ""


def test_layers_name_what_is_off() -> None:
    assert ALL_LAYERS.off == ()
    assert ALL_LAYERS.without("slots").off == ("slots",)
    assert Layers.none().off == ("values", "slots", "modality", "names", "policy")


def test_a_plan_is_made_with_the_layers_it_is_given() -> None:
    with Store.open(":memory:") as store:
        memory = Memory(store)
        memory.add(*messy(60))
        assert memory.plan(layers=ALL_LAYERS).id == memory.plan().id
        blind = memory.plan(layers=ALL_LAYERS.without("classifier"))
        assert len(blind.decisions) < len(memory.plan().decisions)
        assert all(each.status.is_live for each in memory.all().values())
