"""What `decide` may do, and how sure it must be. Pure."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from consolidate.judge.language import language_of_pair
from consolidate.types import Assessment, DecisionKind, Relation

__all__ = ["Policy", "Steps", "kind_of", "scaled"]

Steps = Sequence[tuple[float, float]]
"""Confidences in ascending order, each with the share that was right there; it never falls."""


def kind_of(relation: Relation) -> str:
    """What acting on a relation would be: `supersede`, `merge`, or nothing."""
    if relation is Relation.CONTRADICTS:
        return str(DecisionKind.SUPERSEDE)
    return "" if relation is Relation.COMPATIBLE else str(DecisionKind.MERGE)


@dataclass(frozen=True, kw_only=True)
class Policy:
    """How sure the judge must be, each 0 to 1, and what it may do at all."""

    merge: float
    supersede: float
    review: float
    may_merge: bool = True
    may_supersede: bool = True
    proven_merge: bool = True
    """False: nothing is known about how often this judge merges wrongly, so it only proposes."""
    proven_supersede: bool = True
    merge_languages: frozenset[str] | None = None
    """Classes of `consolidate.judge.language` in which it may merge; elsewhere it proposes. None
    is all."""
    supersede_languages: frozenset[str] | None = None
    reliability: Mapping[str, Steps] = field(default_factory=dict)
    """For `merge`, `supersede` and the empty text (compatible): how often what was found with a
    confidence was right."""

    def held_back(
        self, kind: DecisionKind, found: Assessment | None, texts: tuple[str, str]
    ) -> str:
        """Why a person must be asked before something is done; empty if nothing forbids it.

        Args:
            kind: Merge or supersede.
            found: What the judge found; None for repeats word for word, which need no judge.
            texts: The two texts it was found of.
        """
        merging = kind is DecisionKind.MERGE
        if not (self.may_merge if merging else self.may_supersede):
            return "merging-is-off" if merging else "superseding-is-off"
        if found is None:
            return ""
        if not (self.proven_merge if merging else self.proven_supersede):
            return "not-calibrated"
        read = self.merge_languages if merging else self.supersede_languages
        if read is not None and language_of_pair(*texts) not in read:
            return "language-not-proven"
        return ""

    def likelihood(self, found: Assessment) -> float:
        """How likely what was found is right; the judge's own word where nobody measured."""
        return scaled(found.confidence, self.reliability.get(kind_of(found.relation)))

    def values(self) -> dict[str, Any]:
        """What decisions depend on, as plain JSON values."""

        def listed(languages: frozenset[str] | None) -> list[str] | None:
            return None if languages is None else sorted(languages)

        return {
            "merge_threshold": self.merge,
            "supersede_threshold": self.supersede,
            "review_threshold": self.review,
            "merge": self.may_merge,
            "supersede": self.may_supersede,
            "merge_proven": self.proven_merge,
            "supersede_proven": self.proven_supersede,
            "merge_languages": listed(self.merge_languages),
            "supersede_languages": listed(self.supersede_languages),
            "reliability": {
                name: [list(step) for step in steps]
                for name, steps in sorted(self.reliability.items())
            },
        }


def scaled(confidence: float, steps: Steps | None) -> float:
    """What a confidence was worth: on the line from one step to the next; None leaves it."""
    if not steps:
        return confidence
    place = bisect_right(steps, confidence, key=lambda step: step[0])
    if place == 0:
        return steps[0][1]
    if place == len(steps):
        return steps[-1][1]
    (x, low), (y, high) = steps[place - 1], steps[place]
    return low + (high - low) * (confidence - x) / (y - x)
