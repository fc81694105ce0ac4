"""Plays a case that is told as facts: stores them, consolidates, and compares what came of each.

Every case is played twice, the second time with facts arriving in the opposite order and ids that
sort the other way round: what comes out must be as expected in both. Afterwards whatever the case
expects, another run finds nothing new, the store is sound, and undoing all runs restores it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from typing import Any, Final

from cases.book import Harm, Miss, Test
from consolidate import pipeline
from consolidate.backends import Backends
from consolidate.exchange.importing import import_bytes
from consolidate.exchange.records import Options
from consolidate.names import name_key
from consolidate.serialise import canonical
from consolidate.settings import Settings
from consolidate.store import Store
from consolidate.times import format_time, parse_time
from consolidate.types import Alias, Fact, FactStatus, NewFact

__all__ = ["play"]

_STATUSES: Final = {"superseded": FactStatus.SUPERSEDED, "merged": FactStatus.MERGED}


def play(test: Test, backends: Backends, settings: Settings) -> None:
    """Play a case both ways and compare.

    Raises:
        Harm: Something was retired or merged that should not be.
        Miss: Something was not done, or asked about without need.
        AssertionError: The store is not sound, a further run does something, or undo does not
            restore what was there.
    """
    for turned in (False, True):
        with Store.open(":memory:") as store:
            told = _Told(test.body, store, backends, settings, turned)
            told.consolidate()
            told.compare()
            told.leave()


@dataclass
class _Told:
    """One playing of a case."""

    body: Mapping[str, Any]
    store: Store
    backends: Backends
    settings: Settings
    turned: bool
    ids: dict[str, str] = field(default_factory=dict)
    harms: list[str] = field(default_factory=list)
    misses: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        names = [fact["id"] for fact in self.body["facts"]]
        ranked = sorted(names, reverse=self.turned)
        self.ids = {name: f"{ranked.index(name)}-fact-{name}" for name in names}
        self.names = {fact_id: name for name, fact_id in self.ids.items()}
        self.settings = replace(self.settings, **self.body.get("settings", {}))
        told = {fact["id"]: _new(fact, self.ids[fact["id"]]) for fact in self.body["facts"]}
        self.facts: dict[str, NewFact] = told
        self.agents = sorted({fact.agent for fact in told.values()})
        said = [fact.stated_at for fact in told.values() if fact.stated_at]
        late = self.body.get("now")
        self.now = parse_time(late, zone="UTC") if late else max(said) + timedelta(days=30)

    # -- what happens ------------------------------------------------------------------------

    def consolidate(self) -> None:
        for agent in self.agents:
            for entry in self.body.get("aliases", ()):
                self.store.add_alias(Alias(agent=agent, **entry))
        batches = self.body.get("batches") or [list(self.facts)]
        for number, batch in enumerate(batches):
            arrived = [self.facts[name] for name in batch][:: -1 if self.turned else 1]
            moment = self.now - timedelta(minutes=len(batches) - number)
            self.store.add(arrived, now=moment)
            self.before = list(self.store.dump())
            self._run(moment)
        if "again" in self.body:
            self._tell_again()
            self._run(self.now)
        for _ in range(self.body.get("runs", 1) - 1):
            self._run(self.now)

    def _run(self, now: datetime) -> None:
        for agent in self.agents:
            pipeline.run(self.store, self.backends, self.settings, agent=agent, now=now)

    def _tell_again(self) -> None:
        """The same statements once more: told alike, told by an importer, and as a file."""
        old = [replace(self.facts[name], id=None) for name in self.body["again"]]
        imported = [replace(fact, source="import:replay", trust=None) for fact in old]
        self.store.add([*old, *imported], now=self.now)
        lines = [
            canonical({"text": fact.text, "created_at": fact.stated_at and _iso(fact.stated_at)})
            for fact in old
        ]
        report = import_bytes(self.store, "\n".join(lines).encode(), Options(), now=self.now)
        assert not report.broken

    # -- what came of it ---------------------------------------------------------------------

    def compare(self) -> None:
        """Compare all facts, reviews, links and answers with what the case expects."""
        for name in self._standing():
            self._stands(name)
        for kind, status in _STATUSES.items():
            for name, by in self.body.get(kind, {}).items():
                self._gave_way(name, status, by if isinstance(by, list) else [by])
        for name, by in self.body.get("either", {}).items():
            if not self._fact(name).status.is_live:
                self._gave_way(name, FactStatus.SUPERSEDED, [by])
        for group in self.body.get("one_of", ()):
            self._one_stays(group)
        for name in self.body.get("again", ()):
            self._stays_away(name)
        self._reviews()
        self._links()
        self._details()
        self._answers()
        self._entities()
        wrong = "; ".join([*self.harms, *self.misses])
        order = " (told in the opposite order)" if self.turned else ""
        if self.harms:
            raise Harm(f"{wrong}{order}")
        if self.misses:
            raise Miss(f"{wrong}{order}")

    def leave(self) -> None:
        """What must hold after any case."""
        written = self.store.rows_written()
        for agent in self.agents:
            outcome = pipeline.run(
                self.store, self.backends, self.settings, agent=agent, now=self.now
            )
            assert outcome.nothing_new, outcome.report.decisions
            assert outcome.report.model_calls == 0
        assert self.store.rows_written() == written
        assert self.store.check() == []
        for fact_id, name in self.names.items():
            assert self.store.get(fact_id).text == self.facts[name].text
        if "again" not in self.body and "batches" not in self.body:
            for run in self.store.runs():  # the newest first
                self.store.undo(run.id, now=self.now)
            assert list(self.store.dump()) == self.before

    def _standing(self) -> list[str]:
        """Facts that must stand: those said to, and successors of which nothing is said."""
        spoken: list[str] = [*self.body.get("live", ()), *self.body.get("free", ())]
        heirs: set[str] = set()
        for key in ("superseded", "merged", "either"):
            for name, by in self.body.get(key, {}).items():
                spoken.append(name)
                heirs |= set(by if isinstance(by, list) else [by])
        spoken += [name for group in self.body.get("one_of", ()) for name in group]
        assert len(spoken) == len(set(spoken)), "a fact has two expectations"
        assert heirs | set(spoken) == set(self.facts), "a fact has no expectation"
        return [*self.body.get("live", ()), *sorted(heirs - set(spoken))]

    def _fact(self, name: str) -> Fact:
        return self.store.get(self.ids[name])

    def _named(self, fact_id: str | None) -> str:
        return self.names.get(fact_id or "", fact_id or "nothing")

    def _stands(self, name: str) -> None:
        fact = self._fact(name)
        if fact.status.is_live:
            return
        heir = self._named(fact.superseded_by or fact.merged_into)
        said = f"{name} should stand but was {fact.status} by {heir}"
        if fact.status is FactStatus.MERGED and self._still_said(fact):
            self.misses.append(f"{said}, which says the same word for word")
        else:
            self.harms.append(said)

    def _still_said(self, fact: Fact) -> bool:
        """Whether another fact that stands says exactly the same."""
        return any(other.text == fact.text for other in self.store.facts(agent=fact.agent))

    def _gave_way(self, name: str, status: FactStatus, heirs: Sequence[str]) -> None:
        fact = self._fact(name)
        heir = self._named(fact.superseded_by or fact.merged_into)
        if fact.status.is_live:
            if not any(_pair(name, by) in self._pairs("may_ask") for by in heirs):
                asked = any(_pair(name, by) in self._asked() for by in heirs)
                self.misses.append(
                    f"{name} should be {status} by {' or '.join(heirs)} but stands"
                    + (", a person is asked" if asked else "")
                )
        elif fact.status is not status:
            self.harms.append(f"{name} should be {status} but was {fact.status} by {heir}")
        elif heir not in heirs:
            self.misses.append(f"{name} was {status} by {heir}, not by {' or '.join(heirs)}")

    def _one_stays(self, group: Sequence[str]) -> None:
        live = [name for name in group if self._fact(name).status.is_live]
        retired = [n for n in group if self._fact(n).status is FactStatus.SUPERSEDED]
        if retired:
            self.harms.append(f"{', '.join(retired)} should be merged but was superseded")
        if not live:
            self.harms.append(f"none of {', '.join(group)} stands")
        elif len(live) > 1:
            self.misses.append(f"{', '.join(live)} stand beside each other")
        for name in set(group) - set(live) - set(retired):
            heir = name
            while heir in group and (into := self._fact(heir).merged_into):
                heir = self._named(into)
            if heir not in live:
                self.harms.append(f"{name} was merged into {heir}")

    def _stays_away(self, name: str) -> None:
        for fact in self.store.facts(agent=self.facts[name].agent):
            if fact.text == self.facts[name].text and fact.id != self.ids[name]:
                self.harms.append(f"{name} came back as {fact.id} from {fact.source}")

    def _pairs(self, key: str) -> set[frozenset[str]]:
        return {_pair(*entry[:2]) for entry in self.body.get(key, ())}

    def _asked(self) -> set[frozenset[str]]:
        return {
            _pair(self._named(review.decision.subject), self._named(review.decision.object))
            for review in self.store.reviews()
        }

    def _reviews(self) -> None:
        asked, wanted = self._asked(), self._pairs("reviews")
        for pair in sorted(map(sorted, wanted - asked)):
            self.misses.append(f"nobody is asked about {' and '.join(pair)}")
        instead = {_pair(a, b) for a, b in self._pairs_to_act_on()}
        for pair in sorted(map(sorted, asked - wanted - self._pairs("may_ask") - instead)):
            if not set(pair) & set(self.body.get("free", ())):
                self.misses.append(f"a person is asked about {' and '.join(pair)} without need")

    def _pairs_to_act_on(self) -> Iterator[tuple[str, str]]:
        """Pairs where asking was noted as a miss already."""
        for kind in _STATUSES:
            for name, by in self.body.get(kind, {}).items():
                yield from ((name, heir) for heir in (by if isinstance(by, list) else [by]))
        for group in self.body.get("one_of", ()):
            yield from ((a, b) for a in group for b in group if a < b)

    def _links(self) -> None:
        links = {(_pair(self._named(k.left), self._named(k.right)), k.relation)
                 for k in self.store.links()}  # fmt: skip
        for left, right, *relation in self.body.get("linked", ()):
            found = {kind for pair, kind in links if pair == _pair(left, right)}
            if not found or (relation and relation[0] not in found):
                self.misses.append(f"{left} and {right} are not linked as {relation or 'any'}")

    def _details(self) -> None:
        for name, end in self.body.get("ends", {}).items():
            found = self._fact(name).valid_to
            if found != parse_time(end, zone="UTC"):
                self.misses.append(f"{name} should hold until {end}, not until {found}")
        for name, reason in self.body.get("reasons", {}).items():
            steps = self.store.history(self.ids[name]).after
            if steps and steps[0].reason != reason:
                self.misses.append(f"{name} went as {steps[0].reason}, not as {reason}")
        for name, values in self.body.get("keeps", {}).items():
            for attribute, value in values.items():
                found = getattr(self._fact(name), attribute)
                if found != value:
                    self.harms.append(f"{name}.{attribute} is {found!r}, no longer {value!r}")

    def _answers(self) -> None:
        for question in self.body.get("asked", ()):
            found = self.store.search(
                question["query"], include_history=question.get("history", False)
            )
            names = {self._named(fact.id) for fact in found}
            for name in question.get("finds", ()):
                if name not in names:
                    self.misses.append(f"{question['query']!r} does not find {name}")
            for name in question.get("hides", ()):
                if name in names:
                    self.misses.append(f"{question['query']!r} still finds {name}")
            if len(names) != question.get("count", len(names)):
                self.misses.append(f"{question['query']!r} finds {', '.join(sorted(names))}")

    def _entities(self) -> None:
        if not {"entities", "strangers"} & self.body.keys():
            return
        found = {
            entity.key: {self._named(fact) for fact in entity.facts}
            for agent in self.agents
            for entity in self.store.entities(agent)
        }
        for name, facts in self.body.get("entities", {}).items():
            got = found.get(name_key(name), set())
            if got != set(facts):
                self.misses.append(f"{name} is named in {_listed(got)}, not in {_listed(facts)}")
        for name in self.body.get("strangers", ()):
            if name_key(name) in found:
                self.misses.append(f"{name!r} became an entity")


def _new(fact: Mapping[str, Any], fact_id: str) -> NewFact:
    times = {
        ours: parse_time(fact[theirs], zone="UTC")
        for theirs, ours in (("said", "stated_at"), ("from", "valid_from"), ("until", "valid_to"))
        if theirs in fact
    }
    given = {key: fact[key] for key in ("kind", "agent", "trust", "source") if key in fact}
    fields: dict[str, Any] = {"source": "user", **given, **times}
    return NewFact(id=fact_id, text=fact["text"], **fields)


def _iso(moment: datetime) -> str:
    return format_time(moment)


def _pair(a: str, b: str) -> frozenset[str]:
    return frozenset((a, b))


def _listed(names: Iterable[str]) -> str:
    return ", ".join(sorted(names)) or "none"
