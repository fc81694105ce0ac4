"""A memory with fake models, and a messy one of any size."""

from __future__ import annotations

import random
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from builders import NOW, day

from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.backends.fake import FakeClassifier, FakeEmbedder, FakeExtractor
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.types import Decision, Fact, NewFact, Plan, Receipt, Relation, Verdict

FAKE_SETTINGS = Settings(embedder="fake", extractor="fake", classifier="fake")


class Classifier(FakeClassifier):
    """The fake one; fails on the pairs of texts in `failing` for as long as they are there."""

    def __init__(self, table: Mapping[tuple[str, str], Relation] | None = None) -> None:
        super().__init__(table)
        self.failing: set[frozenset[str]] = set()

    def classify(self, pairs: Sequence[tuple[str, str]]) -> list[Verdict]:
        return [
            Verdict(forward=None, backward=None, model=self.identity, failure="out of order")
            if frozenset(pair) in self.failing
            else verdict
            for pair, verdict in zip(pairs, super().classify(pairs), strict=True)
        ]


class Extractor(FakeExtractor):
    """The fake one; what it is told of names does not change that it counts."""

    def knowing(self, names: Iterable[str]) -> Extractor:
        self._known = tuple(sorted(set(names)))
        return self


@dataclass
class Memory:
    """A store, fake models and settings, with the pipeline's verbs."""

    store: Store
    verdicts: Mapping[tuple[str, str], Relation] | None = None
    settings: Settings = FAKE_SETTINGS
    now: datetime = NOW
    classifier: Classifier = field(init=False)
    embedder: FakeEmbedder = field(init=False)
    extractor: Extractor = field(init=False)

    def __post_init__(self) -> None:
        self.classifier = Classifier(self.verdicts)
        self.embedder = FakeEmbedder()
        self.extractor = Extractor()

    @property
    def backends(self) -> Backends:
        return Backends(
            embedder=self.embedder, extractor=self.extractor, classifier=self.classifier
        )

    @property
    def calls(self) -> int:
        """Texts and pairs that the fakes were asked about so far."""
        return self.embedder.items + self.extractor.items + self.classifier.items

    def add(self, *facts: NewFact) -> list[str]:
        return [each.id for each in self.store.add(facts, now=day(300))]

    def plan(self, **options: Any) -> Plan:
        options = {"now": self.now, **options}
        return pipeline.plan(self.store, self.backends, self.settings, **options)

    def apply(self, plan: Plan) -> Receipt:
        return pipeline.apply(self.store, plan, now=self.now)

    def run(self, **options: Any) -> pipeline.Outcome:
        options = {"now": self.now, **options}
        return pipeline.run(self.store, self.backends, self.settings, **options)

    def undo(self, run: str = "last") -> Receipt:
        return pipeline.undo(self.store, run, now=self.now)

    def dump(self) -> list[str]:
        return list(self.store.dump())

    def live(self, agent: str = "default") -> set[str]:
        return {fact.text for fact in self.store.facts(agent=agent)}

    def all(self) -> dict[str, Fact]:
        return {fact.id: fact for fact in self.store.facts(statuses=None)}


def brief(plan: Plan | None) -> set[tuple[str, str, str]]:
    """What a plan does: kind, subject, object."""
    return {in_short(d) for d in plan.decisions} if plan else set()


def in_short(decision: Decision) -> tuple[str, str, str]:
    return (str(decision.kind), decision.subject, decision.object)


_SUBJECTS = ("Mia", "Jonas", "Ada", "Otto", "Lena", "Omar", "Vera", "Paul", "Nina", "Hugo")
_SAID = (
    "{who} {mark} works at {thing}.",
    "{who} {mark} lives in {thing}.",
    "{who} {mark} drives a {thing} car.",
    "The {mark} budget of {who} is {number} euros.",
    "{who} {mark} does not eat {thing}.",
    "{who} {mark} plans to visit {thing}.",
    "{who} {mark} keeps {thing} in the cellar.",
)
_THINGS = ("Acme", "Globex", "Ghent", "Bonn", "red", "blue", "cheese", "walnuts")


def messy(count: int, *, seed: int = 7, kinds: Collection[str] = ("fact",)) -> Iterator[NewFact]:
    """Facts with repeats, rewordings, updates and unrelated ones, about count / 12 subjects."""
    chance = random.Random(seed)
    marks = [f"m{n}x" for n in range(max(1, count // 12))]
    for number in range(count):
        mark = chance.choice(marks)
        text = chance.choice(_SAID).format(
            who=_SUBJECTS[hash_of(mark) % len(_SUBJECTS)],
            mark=mark,
            thing=chance.choice(_THINGS),
            number=chance.randint(1, 4) * 100,
        )
        yield NewFact(
            id=f"f{number:06}",
            text=text,
            kind=chance.choice(sorted(kinds)),
            stated_at=None if chance.random() < 0.1 else day(chance.randint(0, 299)),
            source=chance.choice(["user", "user", "tool:log", "web"]),
        )


def hash_of(mark: str) -> int:
    return sum(map(ord, mark))
