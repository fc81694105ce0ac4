"""Two readings side by side: what both checks of a pair look at."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import product
from typing import Final

from consolidate.judge.aliases import may_be_one
from consolidate.judge.layers import Layers
from consolidate.judge.opposites import OPPOSITE_STATES, antonym
from consolidate.judge.reading import USER, Reading, fold, word_set
from consolidate.judge.recency import order
from consolidate.judge.slots import cardinality
from consolidate.judge.statements import Statement, statements_of
from consolidate.judge.steps import differ_by_one, is_planned, matches, missing, raised
from consolidate.judge.values import Value
from consolidate.names import name_key
from consolidate.types import Assessment, Relation

__all__ = ["PairBase", "Same"]

RAISE_FROM: Final = 0.2
"""Probability of contradiction that the classifier must give before words raise it."""
NAMELESS_FROM: Final = 0.5
"""The same, where the values of a slot are no names: "a nurse" may be "a carer" too."""

Same = Callable[[str, str], bool]
"""Whether two name keys are one entity (aliases resolved)."""


class PairBase:
    """Two readings, what only one of them says, and the layers at work."""

    def __init__(
        self,
        left: Reading,
        right: Reading,
        same_name: Same,
        slots: Mapping[str, str],
        layers: Layers,
    ) -> None:
        self.left, self.right = left, right
        self.layers = layers
        self.same_name = same_name
        self.slots = slots
        self.clash: tuple[Statement, Statement] | None = None
        self.only_left = missing(left.values, right.values)
        self.only_right = missing(right.values, left.values)

    def result(
        self, relation: Relation, confidence: float, reason: str, because: str
    ) -> Assessment:
        """An assessment of this pair."""
        return Assessment(
            left=self.left.fact.id,
            right=self.right.fact.id,
            relation=relation,
            confidence=confidence,
            reason=reason,
            because=(because,),
        )

    def by_words(self, found: Assessment, contradiction: float) -> Assessment:
        """Typed values and antonyms in otherwise equal texts.

        A conflict is raised only where the classifier gives it some probability: "sold 30
        tickets" and "sold 45 tickets" may be two days.
        """
        if not self.layers.values:
            return found
        supported = contradiction >= RAISE_FROM
        if self.left.frame == self.right.frame:
            return self._same_frame(found, supported)
        if self.layers.slots and (clash := self._clash(found, contradiction)) is not None:
            self.clash = a, b = clash
            return raised(
                found,
                Relation.CONTRADICTS,
                "same-slot",
                f"both give the {a.predicate} of {a.subject}, which holds one value: "
                f"{a.object} and {b.object}",
            )
        if (
            supported
            and not (self.only_left or self.only_right)
            and antonym(self.left.words, self.right.words, OPPOSITE_STATES)
            and differ_by_one(self.left.frame, self.right.frame)
        ):
            return raised(
                found,
                Relation.CONTRADICTS,
                "antonym",
                "the two differ in one word, and that is its opposite",
            )
        return found

    def _same_frame(self, found: Assessment, supported: bool) -> Assessment:
        aligned = zip(self.left.values, self.right.values, strict=True)
        different = [(a, b) for a, b in aligned if not matches(a, b)]
        if not different:
            return raised(
                found,
                Relation.EQUIVALENT,
                "same-words",
                "the same words and the same values, written differently",
            )
        if len(different) != 1:
            return found
        a, b = different[0]
        if a.kind != b.kind or a.kind in ("date", "time", "path", "identifier"):
            return found  # other days, codes and paths are as often other things as other values
        if self._in_subject(a) or self.left.modality.dated or not supported:
            return found
        if self.left.modality.event:
            return found  # two runs, two payments, two sales
        return raised(
            found,
            Relation.CONTRADICTS,
            "values-differ",
            f"the same words with another value: {a.amount} and {b.amount}",
        )

    def _clash(self, found: Assessment, contradiction: float) -> tuple[Statement, Statement] | None:
        """Two statements that give another value each to one slot, if there are such.

        Where values are names that don't lie in each other, that is enough, unless the classifier
        finds that one text follows from the other (another language, another name).
        """
        if found.relation not in (Relation.COMPATIBLE, Relation.CONTRADICTS):
            return None
        for a, b in product(
            statements_of(self.left.fact.text), statements_of(self.right.fact.text)
        ):
            if (
                a.predicate == b.predicate
                and self.slots.get(a.predicate, a.cardinality) == "one"
                and self._one_thing(a.subject, b.subject)
                and contradiction >= self._needed(a, b)
                and self._other_value(a, b)
            ):
                return a, b
        return None

    @staticmethod
    def _needed(a: Statement, b: Statement) -> float:
        """Probability of contradiction that the classifier must give for a clash."""
        if a.values == "any":
            return 0.0
        if not (a.is_name and b.is_name):
            return NAMELESS_FROM
        return RAISE_FROM if a.values == "nested" or not a.named else 0.0

    def _one_thing(self, a: str, b: str) -> bool:
        x, y = name_key(a), name_key(b)
        return x == y or self.same_name(x, y)

    def _other_value(self, a: Statement, b: Statement) -> bool:
        """Whether the values are two, and not one said more or less exactly."""
        x, y = word_set(a.head), word_set(b.head)
        if x <= self.right.words or y <= self.left.words or self._one_thing(a.head, b.head):
            return False
        short, long = sorted((fold(a.head), fold(b.head)), key=len)
        return not (len(short) <= 4 and long.startswith(short[:1]) and set(short) <= set(long))

    def _in_subject(self, value: Value) -> bool:
        """A number among the first two words names the thing ("Ticket 260 was closed")."""
        before = self.left.fact.text[: value.start].split()
        after = self.left.fact.text[value.end :].split()
        return len(before) <= 1 and len(after) >= 2 and not before[-1:] == ["is"]

    def other_subject(self) -> bool:
        """Whether the two open with different entities, neither of which the other mentions."""
        a, b = self.left.subject, self.right.subject
        if a is None or b is None or self.same_name(a, b) or may_be_one(a, b):
            return False
        if set(a.split()) <= set(b.split()) or set(b.split()) <= set(a.split()):
            return False  # "little Amadou" and "Amadou"
        # "Berlin is where the user lives" opens with the value: the other's subject is in it too
        return not (self._mentions(self.right, a) or self._mentions(self.left, b))

    def other_owner(self) -> tuple[Statement, Statement] | None:
        """Two statements of one attribute of two things: Nerea's job and the user's."""
        if not (self.layers.slots and self.layers.names):
            return None
        mine, theirs = statements_of(self.left.fact.text), statements_of(self.right.fact.text)
        for a, b in product(mine, theirs):
            owners = name_key(a.subject), name_key(b.subject)
            if a.predicate == b.predicate and not self._one_thing(a.subject, b.subject):
                near = may_be_one(*owners) or set(owners[0].split()) & set(owners[1].split())
                return None if near else (a, b)
        return None

    def subjects_in_doubt(self) -> bool:
        """Whether the two open with names that may be one, and nobody said that they are."""
        a, b = self.left.subject, self.right.subject
        return not (a is None or b is None or self.same_name(a, b)) and may_be_one(a, b)

    def _mentions(self, reading: Reading, key: str) -> bool:
        if key == USER:
            return reading.mentions_user
        return any(self.same_name(key, name) for name in reading.names)

    def _series(self) -> bool:
        a, b = self.left.modality.dated, self.right.modality.dated
        return bool(a and b) and a != b and not self._has_correction()

    def _has_correction(self) -> bool:
        return self.left.modality.correction or self.right.modality.correction

    def _unanchored(self) -> bool:
        """Whether nothing but a common name says that the two are about one matter.

        "Harbourlight is the booking platform" and "the Harbourlight runbooks have moved" share a
        name; a classifier that reads "moved" takes the one for the successor of the other.
        """
        if not self.layers.names:
            return False
        if cardinality(self.left.attributes, self.right.attributes, self.slots) == "one":
            return False
        return not (self.left.matter & self.right.matter)

    def offer_link(self, found: Assessment) -> Assessment:
        """A plan and what fulfils it, or two readings of a series."""
        if found.subtype:
            return found
        shared = len(self.left.words & self.right.words)
        overlap = shared / (min(len(self.left.words), len(self.right.words)) or 1)
        if self._series() and self.left.frame == self.right.frame:
            return replace(found, subtype="series")
        a, b = self.left, self.right
        plan_a, plan_b = is_planned(a), is_planned(b)
        if plan_a == plan_b or overlap < 0.5 or self._others_deed():
            return found
        plan, done = (a, b) if plan_a else (b, a)
        carried_out = done.modality.is_plain and not done.modality.ended
        if carried_out and order(plan.fact, done.fact)[0] < 0:
            return replace(
                found,
                subtype="fulfils",
                because=(*found.because, "the later one tells that the plan was carried out"),
            )
        return found

    def _others_deed(self) -> bool:
        """Whether two named ones act; "we plan search" and "Search is out" may be one matter."""
        return self.other_subject() and USER not in (self.left.subject, self.right.subject)
