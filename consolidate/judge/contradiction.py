"""What speaks against taking one fact for the successor of another."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import replace
from typing import Final

from consolidate.judge.opposites import ANTONYMS, antonym
from consolidate.judge.pair import PairBase
from consolidate.judge.reading import Reading
from consolidate.judge.recency import order
from consolidate.judge.slots import FIRM, IMMUTABLE, cardinality
from consolidate.judge.statements import statements_of
from consolidate.judge.steps import FRAME_CONFIDENCE, MEASURED, ask, drop
from consolidate.judge.values import Value
from consolidate.names import name_key
from consolidate.types import Assessment

__all__ = ["ContradictionCheck"]

SUPPORTED: Final = 0.9
"""Confidence in a conflict that both the classifier and the words speak for."""

SUPPORTED_FROM: Final = 0.85
"""Probability of contradiction that the classifier must give for that."""
SURE_FROM: Final = 0.7
"""Probability from which on what speaks against a conflict only makes it a question."""

_LIVES: Final = re.compile(r"\b(?:lives?|living|resides?|moved) (?:in|at|to)\b", re.IGNORECASE)
_MOVES: Final = re.compile(r"\b(?:has |have )?(?:moved|relocated) (?:in)?to\b", re.IGNORECASE)

_ALSO_OTHERWISE_WORDED: Final = frozenset({"other-measure", "other-identifier"})
"""Two counted nouns or codes may be one thing in other words ("eight people", "13 persons")."""

_SCOPES: Final = {
    "staging": "staging",
    "stage": "staging",
    "production": "production",
    "prod": "production",
    "dev": "development",
    "development": "development",
    "preview": "preview",
    "sandbox": "sandbox",
    "qa": "qa",
}
"""Environments, each with a life of its own."""


class ContradictionCheck(PairBase):
    """The layers over a pair that the classifier or the words hold for a conflict."""

    def check_contradiction(self, found: Assessment, doubtful: Collection[str]) -> Assessment:
        """What forbids a contradiction, or acting on it."""
        in_slot = found.reason == "same-slot" and self.clash is not None
        if in_slot and self.clash is not None:
            # Who is meant by a value does not matter; whose value it is does
            subjects = {name_key(each.subject) for each in self.clash}
            doubtful = [name for name in doubtful if name in subjects]
        reason, because = self._veto(bool(doubtful))
        if in_slot and reason == "many-valued":
            reason = ""  # a native language is one, whatever is true of languages
        if not reason:
            return self._doubt_contradiction(found)
        if reason in _ALSO_OTHERWISE_WORDED and self._worded_otherwise(found):
            return ask(self._doubt_contradiction(found), f"but {because}")
        found = drop(found, reason, because)
        if reason == "series":
            return replace(found, subtype="series")
        return self.offer_link(found) if reason == "modality" else found

    def _worded_otherwise(self, found: Assessment) -> bool:
        """Whether a classifier that is sure had more to go by than two codes or counted nouns."""
        a, b = self.left.frame, self.right.frame
        alike = len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) <= 1
        return found.reason == "classifier" and found.confidence >= SURE_FROM and not alike

    def _veto(self, ambiguous: bool) -> tuple[str, str]:
        """Reason code and sentence of what makes a conflict impossible; empty if nothing does."""
        left, right = self.left, self.right
        if not (left.behaviour.conflicts and right.behaviour.conflicts):
            return "kind", "one of them is of a kind that cannot conflict"
        if self.other_subject():
            return (
                "other-subject",
                f"they open with different subjects: {left.subject} and {right.subject}",
            )
        owners = self.other_owner()
        if owners and owners[0].spoken_of and owners[1].spoken_of:
            a, b = owners
            return (
                "other-subject",
                f"one gives the {a.predicate} of {a.subject}, the other that of {b.subject}",
            )
        if ambiguous:
            return "ambiguous-name", "the name they share fits several entities"
        if self._series():
            return "series", "readings of different dates"
        if self._other_identifier():
            ids = f"{self._ids(self.only_left)} and {self._ids(self.only_right)}"
            return "other-identifier", f"they name different identifiers: {ids}"
        if self._other_thing():
            return "other-thing", "one word names another thing, and the values differ with it"
        if self._other_scope():
            return "other-scope", "they speak of different environments"
        if self._other_measure():
            return "other-measure", "they count different things"
        if mood := self._modality_veto():
            return "modality", mood
        if self._many_valued():
            shared = ", ".join(sorted(set(left.attributes) & set(right.attributes)))
            return "many-valued", f"the attribute holds many values at a time: {shared}"
        return "", ""

    def _doubt_contradiction(self, found: Assessment) -> Assessment:
        """What leaves a conflict possible but to a person."""
        same_event = self.left.frame == self.right.frame and self.left.modality.event
        if same_event and self._other_day() and not self._immutable():
            return drop(found, "other-event", "they tell of two events, on two days")
        doubts = [self._doubt_of_classifier()] if found.reason == "classifier" else []
        if owners := self.other_owner():
            # One does not say whose it is: the user's, or that of what was spoken of before
            doubts.append(f"it may be the {owners[0].predicate} of two")
        if self.subjects_in_doubt():
            doubts.append(f"{self.left.subject} and {self.right.subject} may be two")
        if same_event:
            doubts.append("they may tell of two events")
        for doubt in filter(None, doubts):
            found = ask(found, doubt)
        if self._immutable():
            found = replace(
                ask(found, "the attribute cannot change, so one of them is wrong"),
                reason="immutable",
            )
            if self.left.frame == self.right.frame and found.confidence >= SURE_FROM:
                # One frame, two values, and no time in which both could be true
                found = replace(found, confidence=max(found.confidence, FRAME_CONFIDENCE))
        if self._has_correction():
            found = replace(found, subtype="correction")
        support = "" if found.review_only else self._support()
        if support and SUPPORTED_FROM <= found.confidence < SUPPORTED:
            found = replace(found, confidence=SUPPORTED, because=(*found.because, f"and {support}"))
        return found

    def _doubt_of_classifier(self) -> str:
        """Why a conflict that only the classifier finds may be none; empty if nothing says so."""
        a, b = set(self.left.attributes), set(self.right.attributes)
        if a and b and not a & b:
            return "the words point to different attributes"
        if self._unanchored():
            return "nothing but the classifier says that they are about one thing"
        if self._same_amounts():
            return "but they give the same amounts"
        return "one of them tells one thing of many" if self._beside_many() else ""

    def _tells_of_change(self) -> bool:
        a, b = self.left.modality, self.right.modality
        return a.ended or b.ended or a.correction or b.correction

    def _same_amounts(self) -> bool:
        """Both give amounts, the same ones, and nothing denies anything."""
        a, b = self.left.modality, self.right.modality
        measured = any(v.kind in MEASURED for v in self.left.values)
        return (
            measured
            and not (self.only_left or self.only_right or self._tells_of_change())
            and (a.negations > 0) == (b.negations > 0)
            and not antonym(self.left.words, self.right.words, ANTONYMS)
        )

    def _support(self) -> str:
        """What the words themselves say for an update, where they are about one matter."""
        earlier_first = order(self.left.fact, self.right.fact)[0] <= 0
        earlier, later = (self.left, self.right) if earlier_first else (self.right, self.left)
        if _LIVES.search(earlier.fact.text) and _MOVES.search(later.fact.text):
            return "the later one tells of a move, the other of a home"
        if not (self.left.matter & self.right.matter):
            return ""
        if FIRM.intersection(self.left.attributes, self.right.attributes):
            return "both give a value to an attribute that holds one"
        if later.modality.ended or later.modality.correction:
            return "the later one says that something ended or was wrong"
        return ""

    @staticmethod
    def _ids(values: tuple[Value, ...]) -> str:
        return ", ".join(v.amount for v in values)

    def _other_identifier(self) -> bool:
        kinds = ("identifier",)
        a = [v for v in self.only_left if v.kind in kinds]
        b = [v for v in self.only_right if v.kind in kinds]
        if a and b:
            return True
        a_subject = [v for v in self.only_left if v.kind == "number" and self._in_subject(v)]
        return bool(a_subject) and self.left.frame[:2] == self.right.frame[:2]

    def _other_scope(self) -> bool:
        if not self.layers.names:
            return False
        a, b = self._scopes(self.left), self._scopes(self.right)
        return bool(a and b) and not a & b

    @staticmethod
    def _scopes(reading: Reading) -> set[str]:
        return {_SCOPES[word] for word in reading.words if word in _SCOPES}

    def _other_thing(self) -> bool:
        """Tell "the rent is 900 euros" from "the deposit is 1800": one word and one value."""
        a, b = self.left.frame, self.right.frame
        if len(a) != len(b) or not (self.only_left and self.only_right):
            return False
        changed = [(x, y) for x, y in zip(a, b, strict=True) if x != y]
        return len(changed) == 1 and all(
            len(word) > 3 and not word.startswith("<") for word in changed[0]
        )

    def _other_measure(self) -> bool:
        a = {v.unit for v in self.only_left if v.kind in MEASURED}
        b = {v.unit for v in self.only_right if v.kind in MEASURED}
        return bool(a and b) and "" not in a | b and not a & b

    def _modality_veto(self) -> str:
        a, b = self.left.modality, self.right.modality
        if a.question or b.question:
            return "one of them is a question"
        if a.reported != b.reported:
            return "one of them is somebody else's words"
        plan_a = a.plan or self.left.behaviour.planned
        plan_b = b.plan or self.right.behaviour.planned
        if plan_a != plan_b and not (a.ended or b.ended):
            return "one of them is a plan, the other is not"
        if a.hypothetical != b.hypothetical:
            return "one of them is hypothetical"
        if a.past != b.past and not (a.ended or b.ended):
            past, present = (self.left, self.right) if a.past else (self.right, self.left)
            if order(past.fact, present.fact)[0] <= 0:
                return "one of them speaks of an earlier time"
        return ""

    def _many_valued(self) -> bool:
        if cardinality(self.left.attributes, self.right.attributes, self.slots) != "many":
            return False
        a, b = self.left.modality, self.right.modality
        speaks_of_end = a.ended or b.ended or a.correction or b.correction
        return not speaks_of_end and (a.negations > 0) == (b.negations > 0)

    def _other_day(self) -> bool:
        """Whether the two were said on different days, and none corrects the other."""
        a, b = self.left.fact.stated_at, self.right.fact.stated_at
        known = a is not None and b is not None and a.date() != b.date()
        return known and not self._has_correction()

    def _beside_many(self) -> bool:
        """Whether one states a value of an attribute of many, and the other nothing against it.

        "Likes onions" is not contradicted by whatever else is told of onions.
        """
        for one, other in ((self.left, self.right), (self.right, self.left)):
            mood = other.modality
            if mood.negations or mood.ended or mood.correction or one.modality.negations:
                continue
            said = statements_of(one.fact.text)
            told = {each.predicate for each in statements_of(other.fact.text)}
            if any(s.named and s.cardinality == "many" for s in said) and not told:
                return True
        return False

    def _immutable(self) -> bool:
        return (
            self.layers.slots
            and bool(
                IMMUTABLE.search(self.left.fact.text) and IMMUTABLE.search(self.right.fact.text)
            )
            and not self._has_correction()
        )
