"""What deciding starts from, and what it becomes once decisions are carried out. Pure."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from consolidate.stages.collapse import representative
from consolidate.stages.ordering import ordered
from consolidate.stages.outcome import carry_out
from consolidate.types import Assessment, Decision, DecisionKind, Fact, FactStatus, Relation, Unique

__all__ = ["View", "ends"]


@dataclass(frozen=True)
class View:
    """What deciding starts from: the store, and what the judge found about its texts."""

    facts: Mapping[str, Fact]
    """Live and superseded facts by id."""
    uniques: Sequence[Unique]
    assessments: Mapping[tuple[str, str], Assessment]
    settled: frozenset[tuple[str, str]]
    linked: frozenset[tuple[str, str]]
    heirs: Mapping[str, str]

    def after(self, decisions: Sequence[Decision]) -> View:
        """The view once these decisions are carried out."""
        facts = {**self.facts, **carry_out(decisions, self.facts, "")}
        heirs = dict(self.heirs)
        for fact in facts.values():
            if fact.merged_into is not None:
                heirs[fact.id] = fact.merged_into
        for merged, heir in heirs.items():
            while heir in heirs:
                heir = heirs[heir]
            heirs[merged] = heir
        standing = {k: f for k, f in facts.items() if f.status is not FactStatus.MERGED}
        uniques, moved = [], {}
        for unique in self.uniques:
            members = tuple(m for m in unique.members if m in standing)
            if members:
                name = representative([standing[m] for m in members])
                moved[unique.representative] = name
                uniques.append(Unique(representative=name, members=members))
        asked = {ends(d) for d in decisions if d.kind is DecisionKind.REVIEW}
        followed = {ordered(heirs.get(a, a), heirs.get(b, b)) for a, b in self.settled | asked}
        joined = {ends(d) for d in decisions if d.kind is DecisionKind.LINK}
        return View(standing, uniques, _moved(self.assessments, moved, standing),
                     self.settled | asked | followed, self.linked | joined, heirs)  # fmt: skip


def _moved(
    assessments: Mapping[tuple[str, str], Assessment],
    moved: Mapping[str, str],
    facts: Mapping[str, Fact],
) -> dict[tuple[str, str], Assessment]:
    """Assessments under the representatives that are left."""
    turned = {
        Relation.LEFT_ENTAILS_RIGHT: Relation.RIGHT_ENTAILS_LEFT,
        Relation.RIGHT_ENTAILS_LEFT: Relation.LEFT_ENTAILS_RIGHT,
    }
    kept = {}
    for (old_left, old_right), found in assessments.items():
        left, right = moved.get(old_left), moved.get(old_right)
        if left is None or right is None:
            continue
        relation = found.relation
        if left > right:
            left, right, relation = right, left, turned.get(relation, relation)
        keep = moved.get(found.keep, "") if found.keep else ""
        if (left, right, keep) == (found.left, found.right, found.keep):
            kept[left, right] = found  # as nearly all are
            continue
        kept[left, right] = replace(found, left=left, right=right, relation=relation, keep=keep)
    return kept


def ends(decision: Decision) -> tuple[str, str]:
    """The two facts of a decision, the smaller id first."""
    return ordered(decision.subject, decision.object)
