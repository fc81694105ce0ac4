"""Checks on names: keys, declared aliases, offsets."""

from __future__ import annotations

from cases.bench import NOW, Bench, check, said
from consolidate import pipeline
from consolidate.names import name_key
from consolidate.stages.group import Names
from consolidate.store import fact_hash
from consolidate.types import Alias


@check
def keys_depend_on_every_letter(bench: Bench) -> None:
    texts = ["Το αρχείο βρίσκεται στη Λάρισα", "Το αρχείο βρίσκεται στη Λαμία", "архив", "архив 2",
             "保管庫", "保管室", "مخزن", "مخزون"]  # fmt: skip
    assert len({fact_hash(text) for text in texts}) == len(texts)
    assert len({name_key(text) for text in texts}) == len(texts)
    assert all(name_key(text) for text in texts)


@check
def facts_of_an_alias_are_compared(bench: Bench) -> None:
    store = bench.store()
    store.add_alias(Alias(agent="default", canonical="Ilse Norden", alias="ILN"))
    store.add(
        [
            said("a", "ILN owns the payroll service", 1),
            said("b", "Ilse Norden left payroll in April", 100),
        ],
        now=NOW,
    )
    # Without neighbours only a common entity or slot can bring the two together.
    settings = bench.settings
    plan = pipeline.plan(store, bench.real, settings, now=NOW)
    pairs = next(stage for stage in plan.stages if stage.stage == "pairs")
    assert pairs.detail.get("same-entity", 0) + pairs.detail.get("same-slot", 0) == 1


@check
def strangers_by_declaration_stay_strangers(bench: Bench) -> None:
    store = bench.store()
    graz = "Ilse Norden (Graz office)"
    store.add_alias(Alias(agent="default", canonical="Ilse Norden", alias="ILN"))
    store.add_alias(Alias(agent="default", canonical="Ilse Norden", alias=graz, never=True))
    names = Names.of(store.aliases("default"))
    norden = name_key("Ilse Norden")
    assert names.same(name_key("ILN"), norden)
    assert not names.same(norden, name_key(graz))
    assert not names.same(name_key(graz), norden)
    assert names.resolve(name_key(graz)) != norden


@check
def offsets_are_those_of_the_text(bench: Bench) -> None:
    texts = [
        "In İstanbul and İzmir the office of Leyla Aydın opens at nine",
        "İİİİ Ltd is run by Kemal İnan",
        "Straße and ﬁnance: Jäger met Ja\u0308ger in Zu\u0308rich 🌊 with Ana Lima",
    ]
    for text, mentions in zip(texts, bench.real.extractor.extract(texts), strict=True):
        assert mentions, text
        for mention in mentions:
            assert text[mention.start : mention.end] == mention.text
