"""Whether a memory bears out a claim: the judge of the runs, over the facts nearest to it.

Nothing is stored, cached or counted as used by asking.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal

from consolidate.calibration.policy import policy_for
from consolidate.errors import InputError
from consolidate.memory.batch import fact_of
from consolidate.stages.collapse import plain_text
from consolidate.stages.group import Names, group
from consolidate.stages.judging import Bench
from consolidate.stages.work import Tally
from consolidate.store import NOTE_KIND
from consolidate.store.validation import check_fact
from consolidate.types import Assessment, Candidates, Fact, NewFact, Pair, Relation

if TYPE_CHECKING:
    from consolidate.memory.recall import RecallPart

__all__ = ["ClaimCheck", "Witness", "validate_claim"]

MOST_CANDIDATES: Final = 50
LONGEST: Final = 2000
"""Characters of a claim; a claim is a sentence."""

_WIDER: Final = 4
"""Times the limit that recall is asked for, since some of what it finds is history."""

_ENTAILED: Final = frozenset({Relation.LEFT_ENTAILS_RIGHT, Relation.RIGHT_ENTAILS_LEFT})


@dataclass(frozen=True, kw_only=True)
class Witness:
    """A fact that says something about a claim."""

    fact: Fact
    confidence: float
    """0 to 1, of the judge."""
    because: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class ClaimCheck:
    """What a memory says of a claim."""

    claim: str
    verdict: Literal["supported", "contradicted", "unknown"]
    supporting: tuple[Witness, ...]
    """Surest first, as below."""
    contradicting: tuple[Witness, ...]
    unsure: tuple[Witness, ...]
    """Facts that may speak for or against it, but not surely enough."""
    considered: int
    """Facts that were compared with it."""
    why: str


def validate_claim(memory: RecallPart, claim: str, *, limit: int = 12) -> ClaimCheck:
    """Judge a claim by the facts that hold now.

    A fact supports a claim that it says too or that follows from it; a claim that says more than
    any fact is unknown. So is one that some facts support and others contradict, and one that the
    judge is less sure of than a run must be to act.

    Args:
        memory: Whose facts.
        claim: One sentence.
        limit: Facts found by recall that are judged, 1 to 50.

    Raises:
        InputError: The claim or the limit can't be used.
        BackendError: The judge can't be used.
    """
    if not 1 <= limit <= MOST_CANDIDATES:
        raise InputError(f"limit {limit!r} must be from 1 to {MOST_CANDIDATES}")
    if len(claim) > LONGEST:
        raise InputError(f"the claim has {len(claim)} characters; {LONGEST} is the most")
    now = memory.now()
    said = NewFact(text=claim, agent=memory.agent, source="user", stated_at=now)
    check_fact(said)
    # Asked for history recall neither counts uses, as being doubted is not being needed, nor leaves
    # out what has faded, which is no less true
    found = memory.recall_memories(claim, limit=_WIDER * limit, include_history=True)
    near = [each.fact for each in found if _holds(each.fact, now)][:limit]
    stated = fact_of(said, "claim", now)
    while any(fact.id == stated.id for fact in near):
        stated = fact_of(said, stated.id + "~", now)
    for_it, against, unsure = _sorted(memory, stated, near)
    verdict: Literal["supported", "contradicted", "unknown"] = "unknown"
    if for_it and against:
        why = "facts that hold now support it and contradict it"
    elif for_it:
        verdict, why = "supported", f"a fact says so: {for_it[0].fact.text}"
    elif against:
        verdict, why = "contradicted", f"a fact says otherwise: {against[0].fact.text}"
    elif unsure:
        why = "facts may speak of it, but the judge is not sure"
    else:
        why = "no fact speaks of it" if near else "nothing like it is remembered"
    return ClaimCheck(
        claim=claim,
        verdict=verdict,
        supporting=tuple(for_it),
        contradicting=tuple(against),
        unsure=tuple(unsure),
        considered=len(near),
        why=why,
    )


def _holds(fact: Fact, now: datetime) -> bool:
    if fact.kind == NOTE_KIND and "synthesis" in fact.metadata:
        return False  # a note says what facts say; they are asked themselves
    begun = fact.valid_from is None or fact.valid_from <= now
    return fact.status.is_live and begun and (fact.valid_to is None or now < fact.valid_to)


def _sorted(
    memory: RecallPart, claim: Fact, near: list[Fact]
) -> tuple[list[Witness], list[Witness], list[Witness]]:
    """Facts for a claim, against it, and those that are unsure; surest first."""
    policy = policy_for(memory.settings, memory.backends.classifier)
    for_it: list[Witness] = []
    against: list[Witness] = []
    unsure: list[Witness] = []
    same = plain_text(claim.text)
    for fact in near:
        if plain_text(fact.text) == same:
            for_it.append(Witness(fact=fact, confidence=1.0, because=("it says the very same",)))
    known = {each.fact.id for each in for_it}
    rest = [fact for fact in near if fact.id not in known]
    for fact, found in _judged(memory, claim, rest):
        witness = Witness(fact=fact, confidence=found.confidence, because=found.because)
        if found.relation is Relation.CONTRADICTS:
            sure = found.confidence >= policy.supersede and not found.review_only
            (against if sure else unsure).append(witness)
        elif found.relation is Relation.EQUIVALENT or _follows(found, claim):
            # Who bears a claim out loses nothing by it, so what forbids a merge is no hindrance
            (for_it if found.confidence >= policy.merge else unsure).append(witness)
    for listed in (for_it, against, unsure):
        listed.sort(key=lambda each: (-each.confidence, each.fact.id))
    return for_it, against, unsure


def _follows(found: Assessment, claim: Fact) -> bool:
    """Whether the claim is the side that follows from the other."""
    if found.relation not in _ENTAILED:
        return False
    return (found.relation is Relation.LEFT_ENTAILS_RIGHT) == (found.right == claim.id)


def _judged(memory: RecallPart, claim: Fact, near: list[Fact]) -> list[tuple[Fact, Assessment]]:
    """What each fact is to the claim; those of another subject are left out."""
    if not near:
        return []
    aliases = memory.store.aliases(memory.agent)
    told = [name for alias in aliases for name in (alias.canonical, alias.alias)]
    backends = memory.backends.knowing(told)
    facts = [*near, claim]
    found = backends.extractor.extract([fact.text for fact in facts])
    mentions = {fact.id: spans for fact, spans in zip(facts, found, strict=True)}
    names = Names.of(aliases, facts)
    groups = group(facts, mentions, names, hub_size=memory.settings.hub_size)
    bench = Bench(facts, mentions, groups, names, memory.settings.slots)
    pairs = []
    for fact in near:
        left, right = sorted((fact.id, claim.id))
        pairs.append(Pair(left=left, right=right, rule="claim"))
    asked = bench.worth_asking(Candidates(pairs=tuple(pairs)), known={}, tally=Tally(stage="claim"))
    texts = {fact.id: fact.text for fact in facts}
    verdicts = backends.classifier.classify([(texts[p.left], texts[p.right]) for p in asked])
    judged = bench.assess(
        asked, {(p.left, p.right): v for p, v in zip(asked, verdicts, strict=True)}
    )
    by_id = {fact.id: fact for fact in near}
    return [
        (by_id[left if left != claim.id else right], each) for (left, right), each in judged.items()
    ]
