"""Marks what has become of a memory against its key. Pure; knows no model and no store.

A fact that was retired though it should not have been is a wrong merge or a false supersession:
harm. One that was left standing though it should have gone is a miss. What a person is rightly
asked about is neither.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from consolidate.types import Decision, DecisionKind, Fact, FactStatus
from eval.memories import Key

__all__ = ["HARM", "MARKS", "MISSES", "Marked", "mark", "score", "totals"]

HARM: Final = ("wrong-merge", "false-supersession")
MISSES: Final = ("missed-update", "missed-merge")
MARKS: Final = ("right", *HARM, *MISSES, "asked")


@dataclass(frozen=True)
class Marked:
    """Each fact's mark, one of `MARKS`."""

    marks: Mapping[str, str]

    def having(self, *marks: str) -> list[str]:
        """The facts with one of these marks, sorted."""
        return sorted(fact_id for fact_id, each in self.marks.items() if each in marks)

    def share(self, among: Collection[str]) -> float | None:
        """Share of right ones; None of nothing."""
        right = sum(self.marks[fact_id] == "right" for fact_id in among)
        return right / len(among) if among else None


def mark(facts: Mapping[str, Fact], key: Key, reviews: Sequence[Decision] = ()) -> Marked:
    """Mark every fact of the key.

    Args:
        facts: All facts of the memory after the run, by id.
        key: What is right.
        reviews: What a person is asked.
    """
    asked = {frozenset((review.subject, review.object)) for review in reviews}
    return Marked({fact_id: _mark(fact_id, facts, key, asked) for fact_id in key.facts})


def _mark(
    fact_id: str, facts: Mapping[str, Fact], key: Key, asked: Collection[frozenset[str]]
) -> str:
    fact, accepted = facts[fact_id], key.accepted(fact_id)
    if fact.status is FactStatus.MERGED:
        good = bool(accepted & {"merged", "superseded"}) and fact.merged_into in key.group(fact_id)
        return "right" if good else "wrong-merge"
    if not fact.status.is_live:
        good = "superseded" in accepted and fact.superseded_by in key.successors(fact_id)
        return "right" if good else "false-supersession"
    if "current" in accepted:
        return "right"
    partners = key.successors(fact_id) | key.group(fact_id)
    waits = any(fact_id in pair and pair & partners for pair in asked)
    if "merged" in accepted:
        # Any member may be the one that stays; which of several is not told apart, so the
        # smallest id counts as that one
        live = [m for m in key.group(fact_id) if facts[m].status.is_live]
        survivors = [m for m in live if "merged" in key.accepted(m)]
        if not live or (len(live) == len(survivors) and fact_id < min(survivors)):
            return "right"
        return "asked" if waits else "missed-merge"
    return "asked" if waits else "missed-update"


def score(
    facts: Mapping[str, Fact], key: Key, decisions: Sequence[Decision] = ()
) -> dict[str, Any]:
    """Counts for a memory after a run, which `totals` turns into shares, and lists of mistakes."""
    reviews = [d for d in decisions if d.kind is DecisionKind.REVIEW]
    marked = mark(facts, key, reviews)
    count = Counter(marked.marks.values())
    must_go = [i for i in key.facts if key.accepted(i) == {"superseded"}]
    sentences = {
        d.subject: d.sentence
        for d in decisions
        if d.kind in (DecisionKind.MERGE, DecisionKind.SUPERSEDE)
    }
    needed = sum(
        r.object in key.successors(r.subject) | key.group(r.subject)
        or r.subject in key.successors(r.object) | key.group(r.object)
        for r in reviews
    )

    def listed(ids: Sequence[str]) -> list[dict[str, str]]:
        return [
            {"id": i, "mark": marked.marks[i], "text": facts[i].text, "why": sentences.get(i, "")}
            for i in ids
        ]

    sprung = [i for i in sorted(key.traps) if not facts[i].status.is_live]
    return {
        "facts": len(key.facts),
        **{name.replace("-", "_"): count[name] for name in MARKS},
        "must_go": len(must_go),
        "gone": sum(not facts[i].status.is_live for i in must_go),
        "gone_rightly": sum(marked.marks[i] == "right" for i in must_go),
        "groups": len(key.groups),
        "groups_right": sum(marked.share(ids) == 1.0 for ids in key.groups.values()),
        "traps": len(key.traps),
        "traps_sprung": len(sprung),
        "reviews": len(reviews),
        "reviews_needless": len(reviews) - needed,
        "harm": listed(marked.having(*HARM)),
        "sprung": sprung,
        "missed": listed(marked.having(*MISSES)),
    }


_LISTS: Final = ("harm", "sprung", "missed")


def totals(scored: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Sums over memories, and the shares that follow from them."""
    found: dict[str, Any] = {
        name: sum(each[name] for each in scored) for name in scored[0] if name not in _LISTS
    }
    right, facts = found["right"], found["facts"]
    return found | {
        "right_share": right / facts,
        "right_or_asked_share": (right + found["asked"]) / facts,
        "superseded_found_share": _share(found["gone"], found["must_go"]),
        "superseded_right_share": _share(found["gone_rightly"], found["must_go"]),
        "groups_right_share": _share(found["groups_right"], found["groups"]),
    }


def _share(part: int, whole: int) -> float | None:
    return part / whole if whole else None
