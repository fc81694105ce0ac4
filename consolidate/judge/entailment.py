"""What speaks against taking one fact for the other, and which of two must stay."""

from __future__ import annotations

from dataclasses import replace

from consolidate.judge.contradiction import ContradictionCheck
from consolidate.judge.opposites import ANTONYMS, antonym
from consolidate.judge.reading import Reading, fold, looks_english
from consolidate.judge.steps import drop, is_planned
from consolidate.types import Assessment, Relation

__all__ = ["Pair"]


class Pair(ContradictionCheck):
    """The layers over a pair, all of them."""

    def check_entailment(self, found: Assessment) -> Assessment:
        """What forbids taking one fact for the other, or says which of the two must stay."""
        if is_planned(self.left) != is_planned(self.right) and self._is_short():
            return self.offer_link(drop(found, "modality", "one of them is a plan"))
        if self._series():
            return replace(drop(found, "series", "readings of different dates"), subtype="series")
        if self.other_subject():
            return drop(found, "other-subject", "they open with different subjects")
        if self._conflicting_values():
            a, b = self.only_left[0], self.only_right[0]
            return self.check_contradiction(
                replace(
                    found,
                    relation=Relation.CONTRADICTS,
                    reason="values-differ",
                    because=(*found.because, f"but one says {a.amount}, the other {b.amount}"),
                ),
                doubtful=(),
            )
        names_left = self._names_missing(self.left, self.right)
        names_right = self._names_missing(self.right, self.left)
        left_has_more = bool(self.only_left or names_left)
        right_has_more = bool(self.only_right or names_right)
        return self._doubt_entailment(self._narrow(found, left_has_more, right_has_more))

    def _is_short(self) -> bool:
        """Neither is a long note, in which one "will" says little about the whole."""
        return max(len(self.left.words), len(self.right.words)) <= 25

    def _conflicting_values(self) -> bool:
        """Each has one value of one measure that the other lacks: the same said of two amounts."""
        if len(self.only_left) != 1 or len(self.only_right) != 1:
            return False
        a, b = self.only_left[0], self.only_right[0]
        return (a.kind, a.unit) == (b.kind, b.unit) and a.kind in ("quantity", "money", "percent")

    def _narrow(self, found: Assessment, left_has_more: bool, right_has_more: bool) -> Assessment:
        """The one with a name or value more must not be absorbed."""
        absorbs_left = found.relation is Relation.RIGHT_ENTAILS_LEFT
        absorbs_right = found.relation is Relation.LEFT_ENTAILS_RIGHT
        more_than_it_may = (
            (left_has_more and right_has_more)
            or (left_has_more and absorbs_left)
            or (right_has_more and absorbs_right)
        )
        if more_than_it_may:
            return replace(
                found,
                review_only=True,
                because=(*found.because, "but a name or value of one is not found in the other"),
            )
        if found.relation is Relation.EQUIVALENT and (left_has_more or right_has_more):
            richer = self.left if left_has_more else self.right
            return replace(
                found,
                keep=richer.fact.id,
                because=(*found.because, "one of them carries a name or value more"),
            )
        return found

    def _doubt_entailment(self, found: Assessment) -> Assessment:
        a, b = self.left.modality, self.right.modality
        doubts = []
        if self.subjects_in_doubt():
            doubts.append(f"{self.left.subject} and {self.right.subject} may be two")
        if found.relation is Relation.EQUIVALENT and self._unanchored():
            doubts.append("they have no word in common but names")
        if not self._covered(found.relation):
            doubts.append("the richer one does not speak of what the other says")
        if is_planned(self.left) != is_planned(self.right):
            doubts.append("one of them speaks of a plan")
        if self._mood_differs():
            doubts.append("one of them is a question, hearsay or hypothetical")
        if (a.negations > 0) != (b.negations > 0):
            doubts.append("one of them is negated")
        if a.ended != b.ended:
            doubts.append("one of them says that something ended")
        if a.past != b.past:
            doubts.append("one of them speaks of an earlier time")
        if self.layers.values and antonym(self.left.words, self.right.words, ANTONYMS):
            doubts.append("they hold opposite words")
        if (
            self.layers.values
            and self.left.words == self.right.words
            and self.left.frame != self.right.frame
        ):
            doubts.append("the same words in another order")
        if not doubts or found.reason == "same-words":
            return found
        return replace(found, review_only=True, because=(*found.because, *doubts))

    def _covered(self, relation: Relation) -> bool:
        """Whether half of what the poorer one speaks of is in the richer one, in the same words.

        "Lives in Ghent" is not contained in "got married in Ghent", whatever a classifier makes
        of the name they share. Two ways of saying the same need no common word.
        """
        if relation is Relation.EQUIVALENT or not self.layers.names:
            return True
        poorer, richer = self.left.matter, self.right.matter
        if relation is Relation.LEFT_ENTAILS_RIGHT:
            poorer, richer = richer, poorer
        return not poorer or 2 * len(poorer & richer) >= len(poorer)

    def _mood_differs(self) -> bool:
        a, b = self.left.modality, self.right.modality
        return (a.question, a.reported, a.hypothetical) != (b.question, b.reported, b.hypothetical)

    def _names_missing(self, of: Reading, other: Reading) -> list[str]:
        return sorted(name for name in of.names if not self._is_named(name, of, other))

    def _is_named(self, name: str, of: Reading, other: Reading) -> bool:
        """Whether a name is in the other text, in any spelling or as an abbreviation."""
        words = [fold(word) for word in name.split()]
        if self._mentions(other, name) or set(words) <= other.folded:
            return True
        if " " not in name and not looks_english(of.fact.text):
            return True  # in German every noun looks like a name
        initials = "".join(word[0] for word in words)
        return (len(words) == 1 and len(name) in (2, 3, 4, 5) and name in other.initials) or (
            len(words) > 1 and initials in other.folded
        )
