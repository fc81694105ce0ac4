"""Turns assessments into decisions. Pure: no database, model, clock or chance; `now` is given.

The order of work, each step over sorted input so that the plan never depends on input order:

1. Each text class (verbatim repeats) is laid out in time and cut into *spells*: a contradicting
   fact in between ends a spell, so in "main, trunk, main" the two "main" never merge.
2. Within a spell, repeats merge into one survivor. Survivors of different classes merge when they
   were judged equivalent (or one says all of the other) *against each other*: no chains over a
   third fact, so a weak bridge cannot join two clusters.
3. Of two facts that contradict each other, the earlier is superseded by the nearest later one.
   Ties, unknown order, lower trust and anything between act and ignore become reviews.
4. Compatible pairs that belong together are linked.

A fact is merged or superseded at most once. A claim retired before stays retired when it is only
said again about that time; said anew later, it stands.
"""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime

from consolidate.judge.recency import moment, order, stated
from consolidate.stages.ordering import (
    between,
    by_statement,
    is_dated,
    is_live,
    overlaps_not,
    pair_of,
    preference,
    said_first,
    takers_first,
)
from consolidate.stages.outcome import RETIRED_REPEAT, absorb
from consolidate.stages.policy import Policy
from consolidate.stages.views import View, ends
from consolidate.stages.wording import Wording
from consolidate.types import (
    Assessment,
    Decision,
    DecisionKind,
    Evidence,
    Fact,
    Pair,
    Relation,
    Unique,
    Verdict,
)

__all__ = ["Policy", "decide", "decision_id"]

_SAME = (Relation.EQUIVALENT, Relation.LEFT_ENTAILS_RIGHT, Relation.RIGHT_ENTAILS_LEFT)


def decision_id(kind: DecisionKind, subject: Fact, object_: Fact, relation: str = "") -> str:
    """An id that is the same for the same decision in every plan."""
    parts = (kind, subject.id, subject.content_hash, object_.id, object_.content_hash, relation)
    return hashlib.sha256("\x1f".join(parts).encode()).hexdigest()[:16]


def decide(
    facts: Mapping[str, Fact],
    uniques: Sequence[Unique],
    pairs: Sequence[Pair],
    verdicts: Mapping[tuple[str, str], Verdict],
    assessments: Mapping[tuple[str, str], Assessment],
    *,
    settled: frozenset[tuple[str, str]] = frozenset(),
    linked: frozenset[tuple[str, str]] = frozenset(),
    heirs: Mapping[str, str] | None = None,
    policy: Policy,
    now: datetime,
) -> tuple[tuple[Decision, ...], datetime | None]:
    """Decide what to do.

    Args:
        facts: Live and superseded facts by id.
        uniques: Verbatim repeats; pairs and assessments speak of their representatives.
        pairs: What was judged, with the rule that made each pair.
        verdicts: Raw verdicts, kept as evidence.
        assessments: What the judge made of them.
        settled: Pairs about which a person has decided, or is being asked.
        linked: Pairs that are linked already.
        heirs: What merged successors of retired facts were merged into.
        policy: Thresholds.
        now: Facts that begin to hold after this moment retire nothing yet.

    Returns:
        Decisions sorted by id, and the earliest moment after `now` at which they would differ.
    """
    everything = dict(facts)
    made: dict[str, Decision] = {}
    view = View(everything, uniques, assessments, settled, linked, heirs or {})
    rules = {(p.left, p.right): p.rule for p in pairs}
    while True:
        found, due = _Decider(view, rules, verdicts, policy, now).decide()
        new = [decision for key, decision in found.items() if key not in made]
        if not new:
            break
        # A merge or supersession can clear the way for another. Deciding goes on until nothing
        # is left, so that a plan made after this one finds nothing.
        made.update((decision.id, decision) for decision in new)
        view = view.after(new)
    return tuple(made[key] for key in sorted(made) if _still_asked(made[key], view)), due


def _still_asked(decision: Decision, view: View) -> bool:
    """Whether a decision has not been overtaken by a later one of the same plan."""
    if decision.kind in (DecisionKind.MERGE, DecisionKind.SUPERSEDE):
        return True
    asked = [view.facts.get(fact_id) for fact_id in ends(decision)]
    return all(fact is not None and fact.status.is_live for fact in asked)


class _Decider:
    """One pass over a view."""

    def __init__(
        self,
        view: View,
        rules: Mapping[tuple[str, str], str],
        verdicts: Mapping[tuple[str, str], Verdict],
        policy: Policy,
        now: datetime,
    ) -> None:
        self.facts = dict(view.facts)
        """Facts by id, survivors with what they have absorbed in this pass."""
        self.members = {u.representative: u.members for u in view.uniques}
        self.class_of = {m: u.representative for u in view.uniques for m in u.members}
        self.settled = view.settled
        self.linked = view.linked
        self.heirs = view.heirs
        self.rules = rules
        self.verdicts = verdicts
        self.policy = policy
        self.now = now
        self.merged: dict[str, str] = {}
        self.decisions: dict[str, Decision] = {}
        self.due: datetime | None = None
        self.rivals: dict[str, set[str]] = defaultdict(set)
        """Class to the classes that surely contradict it."""
        self.by_relation: dict[Relation, list[tuple[tuple[str, str], Assessment]]]
        self.by_relation = {relation: [] for relation in Relation}
        for item in view.assessments.items():
            if item[1].relation is not Relation.COMPATIBLE or item[1].subtype:
                self.by_relation[item[1].relation].append(item)  # of others nothing comes
        for (left, right), found in self.by_relation[Relation.CONTRADICTS]:
            if self._is_sure(found, Relation.CONTRADICTS):
                self.rivals[left].add(right)
                self.rivals[right].add(left)
        for fact in view.facts.values():
            successor = self._successor(fact)
            if successor is not None:
                retired, later = self.class_of[fact.id], self.class_of[successor.id]
                self.rivals[retired].add(later)
                self.rivals[later].add(retired)

    def decide(self) -> tuple[dict[str, Decision], datetime | None]:
        repeated = sorted(text for text, members in self.members.items() if len(members) > 1)
        for text in repeated:
            self._rejoin_retired(text)
        for text in repeated:
            self._merge_repeats(text)
        self._merge_judged()
        self._ask_about_duplicates()
        self._supersede()
        self._link()
        return self.decisions, self.due

    def _related(self, *relations: Relation) -> list[tuple[tuple[str, str], Assessment]]:
        """Assessments of some relations, sorted by pair."""
        found = [item for each in relations for item in self.by_relation[each]]
        return sorted(found, key=lambda item: item[0])

    # -- merging -----------------------------------------------------------------------------

    def _rejoin_retired(self, representative: str) -> None:
        """Merge what only says a retired claim again into that claim."""
        live, retired = self._by_time(representative)
        # Dated ones first: one of unknown time joins a retired claim only if no dated one stands
        for with_date in (True, False):
            for fact in (f for f in live if is_dated(f) is with_date):
                home = next((r for r in reversed(retired) if self._only_restates(fact, r)), None)
                if home is not None:
                    self._merge(fact, home, None, RETIRED_REPEAT)
            if any(is_dated(f) for f in self._by_time(representative)[0]):
                return

    def _merge_repeats(self, representative: str) -> None:
        """Within each spell of one text, merge all into one survivor."""
        live, _ = self._by_time(representative)
        dated = [f for f in live if is_dated(f)]
        spells: list[list[Fact]] = []
        for fact in dated or live:
            if spells and not self._rival_between(spells[-1][-1], fact):
                spells[-1].append(fact)
            else:
                spells.append([fact])
        if dated:
            # A repeat of unknown time is no news: it joins what was said last
            spells[-1] += [f for f in live if not is_dated(f)]
        for spell in spells:
            survivor = min(spell, key=lambda f: (-f.trust, moment(f), f.id))
            for fact in spell:
                if fact.id != survivor.id:
                    self._merge(fact, survivor, None, "repeat")

    def _by_time(self, representative: str) -> tuple[list[Fact], list[Fact]]:
        """Live and retired facts of one text that are not merged yet, in order of time."""
        members = sorted(
            (self.facts[m] for m in self.members[representative] if m not in self.merged),
            key=lambda f: (moment(f), f.id),
        )
        return [f for f in members if is_live(f)], [f for f in members if not is_live(f)]

    def _merge_judged(self) -> None:
        """Merge facts judged equivalent, or one contained in the other.

        Each fact that stays takes in those it was judged against, and before a fact takes others
        in, whatever could take it in itself has its turn. So every absorbed fact was compared
        with its survivor, and planning again after this plan finds nothing left to merge.
        """
        takers: dict[str, list[tuple[str, Assessment]]] = defaultdict(list)
        for (left, right), found in self._related(*_SAME):
            if not self._is_sure(found, *_SAME):
                continue
            for a, b in self._each_with_each(left, right):
                choice = self._goes_and_stays(a, b, found)
                if choice is not None:
                    goes, stays = choice
                    takers[goes].append((stays, found))
        for goes in takers:
            takers[goes].sort(
                key=lambda o: (
                    o[1].relation is not Relation.EQUIVALENT,
                    preference(self.facts[o[0]]),
                    -o[1].confidence,
                )
            )
        for goes in takers_first({g: [stays for stays, _ in o] for g, o in takers.items()}):
            for stays, found in takers[goes]:
                if stays not in self.merged and goes not in self.merged:
                    same = found.relation is Relation.EQUIVALENT
                    reason = "restates" if same else "contained"
                    if not is_live(self.facts[stays]):
                        reason = RETIRED_REPEAT
                    self._merge(self.facts[goes], self.facts[stays], found, reason)

    def _goes_and_stays(self, a: Fact, b: Fact, found: Assessment) -> tuple[str, str] | None:
        """Which of two facts would be absorbed by the other; None where neither may be."""
        if pair_of(a, b) in self.settled or self._rival_between(a, b):
            return None  # said again after something else held: not the same spell
        if self.class_of[b.id] in self.rivals[self.class_of[a.id]]:
            return None  # one of them once superseded the other
        if found.keep:
            richer = self.class_of[a.id] == self.class_of[found.keep]
            stays, goes = (a, b) if richer else (b, a)
        elif found.relation is Relation.EQUIVALENT:
            stays, goes = sorted((a, b), key=preference)
        elif (found.relation is Relation.LEFT_ENTAILS_RIGHT) == (self.class_of[a.id] == found.left):
            stays, goes = a, b
        else:
            stays, goes = b, a
        if not is_live(goes) or goes.trust > stays.trust:
            return None  # what stays must not be worth less than what goes
        if not is_live(stays) and not self._only_restates(goes, stays):
            return None
        return goes.id, stays.id

    def _rival_between(self, a: Fact, b: Fact) -> bool:
        """Whether something that contradicts one of the two held between them."""
        rivals = self.rivals[self.class_of[a.id]] | self.rivals[self.class_of[b.id]]
        return any(
            between(a, self.facts[m], b)
            for rival in rivals
            for m in self.members[rival]
            if m not in self.merged
        )

    def _only_restates(self, fact: Fact, retired: Fact) -> bool:
        """Whether a fact says a retired claim again without being newer than its end."""
        successor = self._successor(retired)
        if successor is not None and is_dated(successor) == is_dated(fact):
            return moment(fact)[:2] < said_first(successor)  # at one time: nobody knows
        said = fact.valid_from or stated(fact)
        return said is None or retired.valid_to is None or said < retired.valid_to

    def _successor(self, retired: Fact) -> Fact | None:
        """What superseded a fact, or what that was merged into; None where it is not known."""
        successor = retired.superseded_by or ""
        return self.facts.get(self.heirs.get(successor, successor))

    def _each_with_each(self, left: str, right: str) -> Iterable[tuple[Fact, Fact]]:
        """What two classes have come to: members, or what absorbed them in this plan."""
        for a in self._standing(left):
            for b in self._standing(right):
                if a.id != b.id:
                    yield a, b

    def _standing(self, representative: str) -> list[Fact]:
        members = self.members[representative]
        if len(members) == 1 and members[0] not in self.merged:
            return [self.facts[members[0]]]  # as nearly all are
        heirs = set()
        for member in members:
            while member in self.merged:
                member = self.merged[member]
            heirs.add(member)
        return [self.facts[m] for m in sorted(heirs)]

    def _merge(self, absorbed: Fact, survivor: Fact, found: Assessment | None, reason: str) -> None:
        if pair_of(absorbed, survivor) in self.settled:
            return
        if why := self._held_back(DecisionKind.MERGE, found):
            self._review(absorbed, survivor, found, DecisionKind.MERGE, why)
            return
        self.merged[absorbed.id] = survivor.id
        self.facts[survivor.id] = absorb(self.facts[survivor.id], absorbed, reason)
        self._add(DecisionKind.MERGE, absorbed, survivor, reason, found)

    def _ask_about_duplicates(self) -> None:
        """What may be a duplicate but is not surely one; equals of unequal trust are linked."""
        for (left, right), found in self._related(Relation.EQUIVALENT):
            for a, b in self._each_with_each(left, right):
                if not (is_live(a) and is_live(b)) or self._rival_between(a, b):
                    continue
                stays, goes = sorted((a, b), key=preference)
                if self._is_sure(found, *_SAME):
                    if goes.trust > stays.trust:
                        self._relate(goes, stays, found, "equivalent")
                elif self._worth_asking(found):
                    self._review(goes, stays, found, DecisionKind.MERGE, "unsure-duplicate")

    # -- superseding -------------------------------------------------------------------------

    def _supersede(self) -> None:
        """Give each contradicted fact its nearest later successor, or ask."""
        successors: dict[str, list[tuple[Fact, Assessment, str]]] = defaultdict(list)
        for (left, right), found in self._related(Relation.CONTRADICTS):
            if not self._worth_asking(found):
                continue
            for a, b in self._each_with_each(left, right):
                if pair_of(a, b) in self.settled or not (is_live(a) or is_live(b)):
                    continue
                self._confront(a, b, found, successors)
        for loser_id in sorted(successors):
            loser = self.facts[loser_id]
            options = successors[loser_id]
            options.sort(key=lambda option: (moment(option[0]), option[0].id))
            winner, found, clock = options[0]
            self._retire(loser, winner, found, clock)

    def _confront(
        self,
        a: Fact,
        b: Fact,
        found: Assessment,
        successors: dict[str, list[tuple[Fact, Assessment, str]]],
    ) -> None:
        before, clock = order(a, b)
        if found.subtype == "correction":
            before, clock = by_statement(a, b, before, clock)
        earlier, later = (a, b) if before < 0 else (b, a)
        if not is_live(earlier):
            return  # retired already: its history stands
        if overlaps_not(earlier, later):
            return  # the earlier one was only ever meant for its own time
        if before == 0:
            first, second = sorted((a, b), key=lambda f: f.id)
            self._review(first, second, found, None, "order-unknown")
            return
        if later.valid_from is not None and later.valid_from > self.now:
            if self._is_sure(found, Relation.CONTRADICTS):
                self._wait_for(later.valid_from)
            return
        if not self._is_sure(found, Relation.CONTRADICTS):
            reason = found.reason if found.review_only else "unsure-contradiction"
            self._review(earlier, later, found, DecisionKind.SUPERSEDE, reason)
        elif earlier.trust > later.trust:
            self._review(earlier, later, found, DecisionKind.SUPERSEDE, "lower-trust")
        else:
            successors[earlier.id].append((later, found, clock))

    def _retire(self, loser: Fact, winner: Fact, found: Assessment, clock: str) -> None:
        if why := self._held_back(DecisionKind.SUPERSEDE, found):
            self._review(loser, winner, found, DecisionKind.SUPERSEDE, why)
            return
        correction = found.subtype == "correction"
        ends = loser.valid_from if correction else None
        if ends is None:
            ends = winner.valid_from or winner.stated_at
        reason = "corrected" if correction else ("newer-" + clock)
        self._add(DecisionKind.SUPERSEDE, loser, winner, reason, found, valid_to=ends)

    def _wait_for(self, moment_: datetime) -> None:
        if self.due is None or moment_ < self.due:
            self.due = moment_

    # -- links and reviews -------------------------------------------------------------------

    def _link(self) -> None:
        for (left, right), found in self._related(Relation.COMPATIBLE):
            for a, b in self._each_with_each(left, right):
                if is_live(a) and is_live(b):
                    earlier, later = sorted((a, b), key=lambda f: (moment(f), f.id))
                    self._relate(earlier, later, found, found.subtype)

    def _relate(self, a: Fact, b: Fact, found: Assessment, relation: str) -> None:
        pair = pair_of(a, b)
        if pair not in self.settled and pair not in self.linked:
            self._add(DecisionKind.LINK, a, b, relation, found, relation=relation)

    def _review(
        self,
        subject: Fact,
        other: Fact,
        found: Assessment | None,
        proposal: DecisionKind | None,
        reason: str,
    ) -> None:
        if pair_of(subject, other) not in self.settled and is_live(subject):
            self._add(DecisionKind.REVIEW, subject, other, reason, found, proposal=proposal)

    # -- records -----------------------------------------------------------------------------

    def _worth_asking(self, found: Assessment) -> bool:
        """Whether a person is asked where the judge may not act.

        What the judge itself doubts must be as sure as what it acts on, else every look-alike
        would become a question.
        """
        contradicts = found.relation is Relation.CONTRADICTS
        surely = self.policy.supersede if contradicts else self.policy.merge
        return found.confidence >= (surely if found.review_only else self.policy.review)

    def _held_back(self, kind: DecisionKind, found: Assessment | None) -> str:
        texts = (self.facts[found.left].text, self.facts[found.right].text) if found else ("", "")
        return self.policy.held_back(kind, found, texts)

    def _is_sure(self, found: Assessment, *relations: Relation) -> bool:
        contradicts = found.relation is Relation.CONTRADICTS
        needed = self.policy.supersede if contradicts else self.policy.merge
        return found.relation in relations and found.confidence >= needed and not found.review_only

    def _add(
        self,
        kind: DecisionKind,
        subject: Fact,
        other: Fact,
        reason: str,
        found: Assessment | None,
        *,
        valid_to: datetime | None = None,
        relation: str = "",
        proposal: DecisionKind | None = None,
    ) -> None:
        key = decision_id(kind, subject, other, relation)
        decision = Decision(
            id=key,
            kind=kind,
            subject=subject.id,
            object=other.id,
            reason=reason,
            sentence="",
            evidence=(self._evidence(found),) if found else (),
            valid_to=valid_to,
            relation=relation,
            proposal=proposal,
        )
        sentence = Wording(subject, other, found).sentence(decision)
        self.decisions[key] = replace(decision, sentence=sentence)

    def _evidence(self, found: Assessment) -> Evidence:
        pair = (found.left, found.right)
        verdict = self.verdicts.get(pair)
        return Evidence(
            left=found.left,
            right=found.right,
            rule=self.rules.get(pair, "same-text"),
            relation=found.relation,
            confidence=self.policy.likelihood(found),
            forward=verdict.forward if verdict else None,
            backward=verdict.backward if verdict else None,
            because=found.because,
        )
