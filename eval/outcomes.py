"""What a run would have done to labelled pairs, each taken as a memory of two facts. Pure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any, Final

from consolidate.stages.collapse import collapse
from consolidate.stages.decide import Policy, decide
from consolidate.types import Decision, DecisionKind, Pair
from eval.judged import RECORDED, Judged

__all__ = ["CONTRADICTED", "deed", "outcomes", "undone"]

CONTRADICTED: Final = ("caught", "wrong_way", "to_review", "missed")
_COUNTED: Final = (
    "contradictions", *CONTRADICTED, "others",
    "false_supersession", "needless_question", "equivalents", "merged", "merge_to_review",
    "missed_merge", "not_equivalent", "merged_contained", "false_merge",
)  # fmt: skip
_SHARES: Final = {
    "caught": "contradictions",
    "wrong_way": "contradictions",
    "to_review": "contradictions",
    "missed": "contradictions",
    "false_supersession": "others",
    "merged": "equivalents",
    "missed_merge": "equivalents",
    "false_merge": "not_equivalent",
}


def deed(item: Judged, policy: Policy) -> str:
    """What is done about a pair, against its label.

    Of a contradiction: one of `CONTRADICTED`. Of another pair: `false_supersession`,
    `needless_question`, `false_merge`, `merged_contained` (the poorer absorbed by the richer),
    `merged`, `merge_to_review`, `missed_merge`, or `left alone`, as it should be.
    """
    decision = _decision(item, policy)
    kind = _acts(decision)
    relation = item.row.relation
    if kind == "merge" and relation != "equivalent":
        return "merged_contained" if _keeps_more(item, decision) else "false_merge"
    if relation == "contradicts":
        return _of_contradiction(item, decision, kind)
    if kind in ("supersede", "ask-supersede"):
        return "false_supersession" if kind == "supersede" else "needless_question"
    if relation == "equivalent":
        return {"merge": "merged", "ask-merge": "merge_to_review"}.get(kind, "missed_merge")
    return "left alone"


def undone(item: Judged) -> str:
    """What doing nothing at all comes to."""
    return {"contradicts": "missed", "equivalent": "missed_merge"}.get(
        item.row.relation, "left alone"
    )


def outcomes(judged: Sequence[Judged], policy: Policy | None) -> dict[str, Any]:
    """What a run with these thresholds would have done to each pair, against the labels.

    Args:
        judged: The pairs.
        policy: The thresholds; None does nothing at all.

    Returns:
        Counts, and shares named `..._rate`. Of the contradictions: superseded the right way or
        the wrong way, asked about, missed. Of the others: superseded, asked about superseding. Of
        the equivalent pairs: merged, asked, missed. `false_merge` is a merge that loses something:
        of pairs that are compatible or contradict each other, or of the fact that says more.
    """
    count: Counter[str] = Counter()
    for item in judged:
        done, relation = deed(item, policy) if policy else undone(item), item.row.relation
        count[done] += 1
        count["contradictions" if relation == "contradicts" else "others"] += 1
        count["equivalents" if relation == "equivalent" else "not_equivalent"] += 1
        # A contradiction that was merged is missed as well, and an equivalent that was
        # superseded or asked about superseding is not merged
        count["missed"] += relation == "contradicts" and done not in CONTRADICTED
        count["missed_merge"] += relation == "equivalent" and done in (
            "false_supersession", "needless_question",
        )  # fmt: skip
    found: dict[str, Any] = {name: count[name] for name in _COUNTED}
    for name, whole in _SHARES.items():
        found[f"{name}_rate"] = count[name] / count[whole] if count[whole] else None
    return found


def _decision(item: Judged, policy: Policy) -> Decision | None:
    """The one decision that `decide` makes about a memory of these two facts, links left out."""
    facts = {item.left.id: item.left, item.right.id: item.right}
    uniques = collapse(tuple(facts.values()))
    key = (item.left.id, item.right.id)
    # Verbatim repeats are one text: a run never makes a pair of them
    apart = len(uniques) == 2
    decisions, _ = decide(
        facts,
        uniques,
        [Pair(left=key[0], right=key[1], rule="labelled")] if apart else [],
        {key: item.verdict} if apart else {},
        {key: item.assessment} if apart else {},
        policy=policy,
        now=RECORDED,
    )
    return next((d for d in decisions if d.kind is not DecisionKind.LINK), None)


def _acts(decision: Decision | None) -> str:
    if decision is None:
        return ""
    if decision.kind is not DecisionKind.REVIEW:
        return str(decision.kind)
    # Without a proposal it asks which of two contradicting facts holds
    return f"ask-{decision.proposal or DecisionKind.SUPERSEDE}"


def _of_contradiction(item: Judged, decision: Decision | None, kind: str) -> str:
    if kind == "supersede" and decision is not None:
        stays = "a" if decision.object == item.left.id else "b"
        return "caught" if stays == item.row.winner else "wrong_way"
    return "to_review" if kind == "ask-supersede" else "missed"


def _keeps_more(item: Judged, decision: Decision | None) -> bool:
    """Whether what stays says all that was absorbed."""
    richer = {"a_entails_b": item.left.id, "b_entails_a": item.right.id}.get(item.row.relation)
    return decision is not None and decision.object == richer
