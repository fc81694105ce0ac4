"""Judges new facts against a part of a memory, by the stages and the policy of the pipeline.

What the pipeline would decide about the same facts is decided here, with one difference: where
the judge is unsure and a language model is configured, it is asked. Nothing is written but caches.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Final

from consolidate.backends import Backends
from consolidate.calibration.policy import policy_for
from consolidate.protocols import ContradictionClassifier
from consolidate.settings import Settings
from consolidate.stages.classify import classify
from consolidate.stages.collapse import collapse
from consolidate.stages.decide import Policy, decide
from consolidate.stages.embed import embed
from consolidate.stages.entities import entities
from consolidate.stages.group import Names, group
from consolidate.stages.judging import Bench
from consolidate.stages.outcome import still_standing
from consolidate.stages.pairs import find_pairs
from consolidate.stages.work import Book, silent
from consolidate.store import Store
from consolidate.types import (
    Assessment,
    Decision,
    DecisionKind,
    Fact,
    Pair,
    Relation,
    Snapshot,
    Verdict,
)

__all__ = ["Judgement", "judge"]

_ROUNDS: Final = 6
_UNSURE: Final = frozenset({"unsure-duplicate", "unsure-contradiction"})
"""Reasons of reviews in which the judge itself could not tell."""

_Key = tuple[str, str]


@dataclass(frozen=True, kw_only=True)
class Judgement:
    """What is to be done about some new facts."""

    decisions: tuple[Decision, ...]
    due: datetime | None
    book: Book
    dismissed: frozenset[str] = frozenset()
    """Ids of reviews among the decisions that a language model has answered: both facts hold."""


def judge(
    store: Store,
    snapshot: Snapshot,
    fresh: frozenset[str],
    *,
    backends: Backends,
    settings: Settings,
    adviser: ContradictionClassifier | None,
    now: datetime,
) -> Judgement:
    """Decide about new facts.

    Args:
        store: Its caches are read and filled.
        snapshot: The new facts and those they are to be judged against.
        fresh: Ids of the new ones; nothing is decided that does not concern one of them.
        backends: The models.
        settings: Thresholds and pair rules.
        adviser: Asked about what the judge is unsure of; None asks nobody.
        now: The present moment.
    """
    book = Book()
    names = [name for alias in snapshot.aliases for name in (alias.canonical, alias.alias)]
    extractor = backends.knowing(names).extractor
    with book.stage("remember", fresh) as tally:
        facts = tally.gives({fact.id: fact for fact in snapshot.facts})
    uniques = collapse(tuple(facts.values()))
    texts = [facts[unique.representative] for unique in uniques]
    concerned = {u.representative for u in uniques if not fresh.isdisjoint(u.members)}
    with book.stage("embed", texts, backends.embedder) as tally:
        vectors = tally.gives(embed(store, backends.embedder, texts, tally=tally, progress=silent))
    with book.stage("entities", texts, extractor) as tally:
        mentions = entities(store, extractor, texts, tally=tally, progress=silent)
        tally.items_out = sum(map(len, mentions.values()))
    same = Names.of(snapshot.aliases, texts)
    groups = group(texts, mentions, same, hub_size=settings.hub_size)
    bench = Bench(texts, mentions, groups, same, settings.slots)

    pairs: dict[_Key, Pair] = {}
    verdicts: dict[_Key, Verdict] = {}
    judged: dict[_Key, Assessment] = {}

    def decided() -> tuple[tuple[Decision, ...], datetime | None]:
        return decide(
            facts, uniques, [pairs[key] for key in sorted(pairs)], verdicts, judged,
            settled=snapshot.settled, linked=snapshot.linked, heirs=snapshot.heirs,
            policy=policy_for(settings, backends.classifier), now=now,
        )  # fmt: skip

    decisions, due = decided()  # repeats word for word need no model
    for _ in range(_ROUNDS):
        standing, live = still_standing(facts, uniques, decisions)
        rows = [i for i, text in enumerate(texts) if text.id in standing]
        here = [standing[texts[i].id] for i in rows]
        with book.stage("pairs", texts) as tally:
            nearby = find_pairs(
                here,
                vectors[rows],
                group(here, mentions, same, hub_size=settings.hub_size),
                live=live,
                neighbours=settings.neighbours,
                floor=settings.similarity_floor,
                per_fact=settings.pairs_per_fact,
            )
            mine = tuple(p for p in nearby.pairs if not concerned.isdisjoint((p.left, p.right)))
            new = bench.worth_asking(replace(nearby, pairs=mine), known=pairs, tally=tally)
        if not new:
            break
        pairs |= {(pair.left, pair.right): pair for pair in new}
        with book.stage("classify", new, backends.classifier) as tally:
            verdicts |= classify(
                store, backends.classifier, new, facts, budget=0, tally=tally, progress=silent
            )
            tally.gives(verdicts)
        judged |= bench.assess(new, verdicts)
        decisions, due = decided()

    dismissed: frozenset[str] = frozenset()
    if adviser is not None:
        asked = [
            pairs[key]
            for d in decisions
            if d.kind is DecisionKind.REVIEW and d.reason in _UNSURE
            for key in _keys_of(d)
            if key in pairs and not judged[key].review_only
        ]
        if asked:
            advice = _advice(store, adviser, asked, facts, book)
            judged |= _agreed(judged, advice, policy_for(settings, backends.classifier))
            decisions, due = decided()
            dismissed = frozenset(
                d.id
                for d in decisions
                if d.kind is DecisionKind.REVIEW
                and any(_says_both_hold(advice.get(key)) for key in _keys_of(d))
            )
    return Judgement(
        decisions=_concerning(decisions, fresh),
        due=due,
        book=book,
        dismissed=dismissed,
    )


def _keys_of(decision: Decision) -> list[_Key]:
    return [(item.left, item.right) for item in decision.evidence]


def _advice(
    store: Store,
    adviser: ContradictionClassifier,
    asked: list[Pair],
    facts: Mapping[str, Fact],
    book: Book,
) -> dict[_Key, Verdict]:
    with book.stage("advice", asked, adviser) as tally:
        given = classify(store, adviser, asked, facts, budget=0, tally=tally, progress=silent)
        return dict(tally.gives(given))


def _agreed(
    judged: Mapping[_Key, Assessment], advice: Mapping[_Key, Verdict], policy: Policy
) -> dict[_Key, Assessment]:
    """Assessments that a language model shares, now sure enough to act on.

    Its word alone never suffices; two judges that agree do. Where it disagrees the assessment
    stays as it was.
    """
    raised = {}
    for key, verdict in advice.items():
        found = judged[key]
        if _relation_in(verdict) is not found.relation:
            continue
        contradicts = found.relation is Relation.CONTRADICTS
        needed = policy.supersede if contradicts else policy.merge
        raised[key] = replace(
            found,
            confidence=max(found.confidence, needed),
            because=(*found.because, f"and {verdict.model} agrees"),
        )
    return raised


def _relation_in(verdict: Verdict) -> Relation | None:
    """The relation that both directions of a verdict name; None where they name none."""
    if verdict.forward is None or verdict.backward is None:
        return None
    likeliest = [
        max(("entailment", "neutral", "contradiction"), key=lambda name: getattr(scores, name))
        for scores in (verdict.forward, verdict.backward)
    ]
    return {
        ("contradiction", "contradiction"): Relation.CONTRADICTS,
        ("entailment", "entailment"): Relation.EQUIVALENT,
        ("neutral", "neutral"): Relation.COMPATIBLE,
    }.get((likeliest[0], likeliest[1]))


def _says_both_hold(verdict: Verdict | None) -> bool:
    return verdict is not None and _relation_in(verdict) is Relation.COMPATIBLE


def _concerning(decisions: tuple[Decision, ...], fresh: frozenset[str]) -> tuple[Decision, ...]:
    """Those about a new fact, and those that hang together with one of these."""
    reached, kept = set(fresh), set()
    while True:
        more = {
            d.id
            for d in decisions
            if d.id not in kept and not reached.isdisjoint((d.subject, d.object))
        }
        if not more:
            return tuple(d for d in decisions if d.id in kept)
        kept |= more
        reached |= {end for d in decisions if d.id in more for end in (d.subject, d.object)}
