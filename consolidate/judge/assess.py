"""Judges one pair: reads a relation from the classifier's verdict and lets the layers overrule it.

Order of the layers: typed values, slots, modality and time, then what the classifier said. A
layer may raise a relation (two facts of one frame whose values differ), forbid it (another
subject), or only forbid acting on it without a person. Each leaves a sentence in `because`.

Pure: no database, model or clock. Thresholds are not applied here but in `stages.decide`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Final

from consolidate.judge.reading import USER, Reading, fold, looks_english
from consolidate.judge.recency import order
from consolidate.judge.slots import IMMUTABLE, cardinality
from consolidate.judge.values import Value
from consolidate.types import Assessment, Relation, Verdict

__all__ = ["assess", "relation_of"]

FRAME_CONFIDENCE: Final = 0.97
"""Confidence in a relation that the words themselves show: one frame, values equal or different."""

RAISE_FROM: Final = 0.2
"""Probability of contradiction that the classifier must give before words raise it."""

Same = Callable[[str, str], bool]
"""Whether two name keys are one entity (aliases resolved)."""

_MEASURED: Final = ("number", "quantity", "money", "percent")

_Opposites = tuple[tuple[frozenset[str], frozenset[str]], ...]


def _opposites(*pairs: tuple[str, str]) -> _Opposites:
    return tuple((frozenset(a.split("|")), frozenset(b.split("|"))) for a, b in pairs)


_OPPOSITE_STATES: Final = _opposites(
    ("on", "off"),
    ("enabled|enable|enables", "disabled|disable|disables"),
    ("open|opened", "closed|shut"),
    ("allowed|permitted", "forbidden|prohibited|banned"),
    ("always", "never"),
    ("loves|likes|adores|love|like|adore", "hates|dislikes|hate|dislike"),
    ("required|mandatory", "optional"),
    ("accepted|approved", "rejected|declined"),
)
"""Opposites that one thing cannot be both of at a time."""

_ANTONYMS: Final = _OPPOSITE_STATES + _opposites(
    ("before", "after"),
    ("more", "less|fewer"),
    ("passed|passes|green", "failed|fails|red"),
    ("public", "private"),
    ("indoors", "outdoors"),
    ("minimum|min|least", "maximum|max|most"),
    ("hot", "cold"),
    ("left", "right"),
    ("up", "down"),
    ("single", "married"),
    ("increased|rose|raised", "decreased|fell|lowered"),
    ("won", "lost"),
    ("present", "absent"),
    ("early", "late"),
    ("internal", "external"),
)
"""Opposites at large: ground to doubt that two texts say the same."""


def relation_of(verdict: Verdict) -> tuple[Relation, float]:
    """Read the likeliest relation and its probability from a verdict in both directions.

    Contradiction is symmetric, so the two directions are averaged; equivalence needs entailment
    both ways, so the weaker one counts.
    """
    forward, backward = verdict.forward, verdict.backward
    if forward is None or backward is None:
        return Relation.COMPATIBLE, 0.0
    contradiction = (forward.contradiction + backward.contradiction) / 2
    equivalent = min(forward.entailment, backward.entailment)
    if contradiction >= max(0.5, equivalent):
        return Relation.CONTRADICTS, contradiction
    if equivalent >= 0.5:
        return Relation.EQUIVALENT, equivalent
    if forward.entailment >= 0.5:
        return Relation.LEFT_ENTAILS_RIGHT, min(forward.entailment, 1 - backward.contradiction)
    if backward.entailment >= 0.5:
        return Relation.RIGHT_ENTAILS_LEFT, min(backward.entailment, 1 - forward.contradiction)
    return Relation.COMPATIBLE, 1 - max(contradiction, equivalent)


def assess(
    left: Reading,
    right: Reading,
    verdict: Verdict | None,
    *,
    same_name: Same = lambda a, b: a == b,
    ambiguous: bool = False,
    slots: Mapping[str, str] | None = None,
) -> Assessment:
    """Judge a pair.

    Args:
        left: The fact with the smaller id.
        right: The other.
        verdict: What the classifier said; None or a failure means it could not tell.
        same_name: Whether two name keys are one entity.
        ambiguous: A name both need in order to be about one thing fits several entities.
        slots: Cardinalities of the user's own attributes.
    """
    pair = _Pair(left, right, same_name, slots or {})
    if verdict is None or verdict.forward is None or verdict.backward is None:
        why = verdict.failure if verdict and verdict.failure else "no verdict"
        return pair.result(Relation.COMPATIBLE, 0.0, "not-judged", f"not judged: {why}")
    if not (left.latin and right.latin):
        return pair.result(
            Relation.COMPATIBLE, 0.0, "language", "the judge does not read this script; left alone"
        )
    relation, confidence = relation_of(verdict)
    says = f"the classifier says {relation.replace('_', ' ')} ({confidence:.2f})"
    found = pair.result(relation, confidence, "classifier", says)
    if verdict.truncated:
        found = replace(found, review_only=True, because=(*found.because, "the texts were cut"))
    against = (verdict.forward.contradiction + verdict.backward.contradiction) / 2
    found = pair.by_words(found, against)
    if found.relation is Relation.CONTRADICTS:
        return pair.check_contradiction(found, ambiguous)
    if found.relation is not Relation.COMPATIBLE:
        return pair.check_entailment(found)
    return pair.offer_link(found)


class _Pair:
    """The layers, over one pair of readings."""

    def __init__(
        self, left: Reading, right: Reading, same_name: Same, slots: Mapping[str, str]
    ) -> None:
        self.left, self.right = left, right
        self.same_name = same_name
        self.slots = slots
        self.only_left = _missing(left.values, right.values)
        self.only_right = _missing(right.values, left.values)

    def result(
        self, relation: Relation, confidence: float, reason: str, because: str
    ) -> Assessment:
        return Assessment(
            left=self.left.fact.id,
            right=self.right.fact.id,
            relation=relation,
            confidence=confidence,
            reason=reason,
            because=(because,),
        )

    # -- what the words alone show ---------------------------------------------------------

    def by_words(self, found: Assessment, contradiction: float) -> Assessment:
        """Typed values and antonyms in otherwise equal texts.

        A conflict is raised only where the classifier gives it some probability: "sold 30
        tickets" and "sold 45 tickets" may be two days.
        """
        supported = contradiction >= RAISE_FROM
        if self.left.frame == self.right.frame:
            return self._same_frame(found, supported)
        if (
            supported
            and not (self.only_left or self.only_right)
            and _antonym(self.left.words, self.right.words, _OPPOSITE_STATES)
            and _differ_by_one(self.left.frame, self.right.frame)
        ):
            return _raise(
                found,
                Relation.CONTRADICTS,
                "antonym",
                "the two differ in one word, and that is its opposite",
            )
        return found

    def _same_frame(self, found: Assessment, supported: bool) -> Assessment:
        aligned = zip(self.left.values, self.right.values, strict=True)
        different = [(a, b) for a, b in aligned if not _matches(a, b)]
        if not different:
            return _raise(
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
        return _raise(
            found,
            Relation.CONTRADICTS,
            "values-differ",
            f"the same words with another value: {a.amount} and {b.amount}",
        )

    def _in_subject(self, value: Value) -> bool:
        """A number among the first two words names the thing ("Ticket 260 was closed")."""
        before = self.left.fact.text[: value.start].split()
        after = self.left.fact.text[value.end :].split()
        return len(before) <= 1 and len(after) >= 2 and not before[-1:] == ["is"]

    # -- contradiction -----------------------------------------------------------------------

    def check_contradiction(self, found: Assessment, ambiguous: bool) -> Assessment:
        """What forbids a contradiction, or acting on it."""
        left, right = self.left, self.right
        if not (left.behaviour.conflicts and right.behaviour.conflicts):
            return _drop(found, "kind", "one of them is of a kind that cannot conflict")
        if self._other_subject():
            return _drop(
                found,
                "other-subject",
                f"they open with different subjects: {left.subject} and {right.subject}",
            )
        if ambiguous:
            return _drop(found, "ambiguous-name", "the name they share fits several entities")
        if self._series():
            return replace(_drop(found, "series", "readings of different dates"), subtype="series")
        if self._other_identifier():
            return _drop(
                found,
                "other-identifier",
                "they name different identifiers: "
                f"{self._ids(self.only_left)} and {self._ids(self.only_right)}",
            )
        if self._other_measure():
            return _drop(found, "other-measure", "they count different things")
        mood = self._modality_veto()
        if mood:
            return self.offer_link(_drop(found, "modality", mood))
        if self._many_valued():
            return _drop(
                found,
                "many-valued",
                "the attribute holds many values at a time: "
                f"{', '.join(sorted(set(left.attributes) & set(right.attributes)))}",
            )
        if found.reason == "classifier" and self._unanchored():
            found = replace(
                found,
                review_only=True,
                because=(
                    *found.because,
                    "nothing but the classifier says that they are about one thing",
                ),
            )
        if self._immutable():
            found = replace(
                found,
                review_only=True,
                reason="immutable",
                because=(*found.because, "the attribute cannot change, so one of them is wrong"),
            )
        if left.modality.correction or right.modality.correction:
            found = replace(found, subtype="correction")
        return found

    def _other_subject(self) -> bool:
        a, b = self.left.subject, self.right.subject
        if a is None or b is None or self.same_name(a, b):
            return False
        # "Berlin is where the user lives" opens with the value: the other's subject is in it too
        return not (self._mentions(self.right, a) or self._mentions(self.left, b))

    def _mentions(self, reading: Reading, key: str) -> bool:
        if key == USER:
            return reading.mentions_user
        return any(self.same_name(key, name) for name in reading.names)

    def _series(self) -> bool:
        a, b = self.left.modality.dated, self.right.modality.dated
        return bool(a and b) and a != b and not self._has_correction()

    def _has_correction(self) -> bool:
        return self.left.modality.correction or self.right.modality.correction

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

    def _other_measure(self) -> bool:
        a = {v.unit for v in self.only_left if v.kind in _MEASURED}
        b = {v.unit for v in self.only_right if v.kind in _MEASURED}
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

    def _unanchored(self) -> bool:
        shared = self.left.stems & self.right.stems
        smaller = min(len(self.left.stems), len(self.right.stems)) or 1
        if len(shared) / smaller >= 0.33:
            return False
        return not any(self._mentions(self.right, n) for n in self.left.names)

    def _immutable(self) -> bool:
        return (
            bool(IMMUTABLE.search(self.left.fact.text) and IMMUTABLE.search(self.right.fact.text))
            and not self._has_correction()
        )

    # -- entailment and equivalence ----------------------------------------------------------

    def check_entailment(self, found: Assessment) -> Assessment:
        """What forbids taking one fact for the other, or narrows it to one direction."""
        left, right = self.left, self.right
        if left.behaviour.planned != right.behaviour.planned or self._modality_differs():
            return self.offer_link(
                _drop(found, "modality", "one is a plan, a question, hearsay or hypothetical")
            )
        if self._series():
            return replace(_drop(found, "series", "readings of different dates"), subtype="series")
        if self._other_subject():
            return _drop(found, "other-subject", "they open with different subjects")
        if self.only_left and self.only_right:
            return _drop(
                found,
                "values-differ",
                "each has a value that the other lacks: "
                f"{self._ids(self.only_left)} and {self._ids(self.only_right)}",
            )
        names_left = self._names_missing(left, right)
        names_right = self._names_missing(right, left)
        if names_left and names_right:
            return _drop(
                found,
                "names-differ",
                "each has a name that the other lacks: "
                f"{', '.join(names_left)} and {', '.join(names_right)}",
            )
        found = self._narrow(
            found, bool(self.only_left or names_left), bool(self.only_right or names_right)
        )
        return self._doubt_entailment(found)

    def _narrow(self, found: Assessment, left_has_more: bool, right_has_more: bool) -> Assessment:
        """The one with more must not be absorbed."""
        if left_has_more and right_has_more:
            return _drop(found, "each-has-more", "each says something that the other lacks")
        if left_has_more and found.relation is not Relation.LEFT_ENTAILS_RIGHT:
            if found.relation is Relation.RIGHT_ENTAILS_LEFT:
                return _drop(found, "each-has-more", "each says something that the other lacks")
            return replace(
                found,
                relation=Relation.LEFT_ENTAILS_RIGHT,
                because=(*found.because, "the left one carries a name or value more"),
            )
        if right_has_more and found.relation is not Relation.RIGHT_ENTAILS_LEFT:
            if found.relation is Relation.LEFT_ENTAILS_RIGHT:
                return _drop(found, "each-has-more", "each says something that the other lacks")
            return replace(
                found,
                relation=Relation.RIGHT_ENTAILS_LEFT,
                because=(*found.because, "the right one carries a name or value more"),
            )
        return found

    def _doubt_entailment(self, found: Assessment) -> Assessment:
        a, b = self.left.modality, self.right.modality
        doubts = []
        if (a.negations > 0) != (b.negations > 0):
            doubts.append("one of them is negated")
        if a.ended != b.ended:
            doubts.append("one of them says that something ended")
        if a.past != b.past:
            doubts.append("one of them speaks of an earlier time")
        if _antonym(self.left.words, self.right.words, _ANTONYMS):
            doubts.append("they hold opposite words")
        if self.left.words == self.right.words and self.left.frame != self.right.frame:
            doubts.append("the same words in another order")
        if not doubts or found.reason == "same-words":
            return found
        return replace(found, review_only=True, because=(*found.because, *doubts))

    def _modality_differs(self) -> bool:
        a, b = self.left.modality, self.right.modality
        return (a.question, a.reported, a.hypothetical, a.plan or a.future) != (
            b.question,
            b.reported,
            b.hypothetical,
            b.plan or b.future,
        )

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

    # -- links -------------------------------------------------------------------------------

    def offer_link(self, found: Assessment) -> Assessment:
        """A plan and what fulfils it, or two readings of a series."""
        if found.subtype:
            return found
        shared = len(self.left.words & self.right.words)
        overlap = shared / (min(len(self.left.words), len(self.right.words)) or 1)
        if self._series() and self.left.frame == self.right.frame:
            return replace(found, subtype="series")
        a, b = self.left, self.right
        plan_a, plan_b = _is_planned(a), _is_planned(b)
        if plan_a == plan_b or overlap < 0.5:
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


def _is_planned(reading: Reading) -> bool:
    return reading.modality.plan or reading.modality.future or reading.behaviour.planned


def _drop(found: Assessment, reason: str, because: str) -> Assessment:
    return replace(
        found, relation=Relation.COMPATIBLE, reason=reason, because=(*found.because, because)
    )


def _raise(found: Assessment, relation: Relation, reason: str, because: str) -> Assessment:
    confidence = FRAME_CONFIDENCE
    if found.relation is relation:
        confidence = max(confidence, found.confidence)
    return replace(
        found,
        relation=relation,
        confidence=confidence,
        reason=reason,
        because=(*found.because, because),
    )


def _missing(of: tuple[Value, ...], other: tuple[Value, ...]) -> tuple[Value, ...]:
    """Values of one text that the other does not hold in any form."""
    return tuple(v for v in of if not any(_matches(v, w) for w in other))


def _matches(a: Value, b: Value) -> bool:
    if a.kind == "date" and b.kind == "date":
        # A date without year, or a year without day, fits a fuller one
        return all(
            x == y or "?" in x + y
            for x, y in zip(a.amount.split("-"), b.amount.split("-"), strict=False)
        )
    if a.kind == "quantity" and b.kind == "quantity":
        # Customary rounding: 70 kg is 154 lb
        x, y = float(a.amount), float(b.amount)
        return a.unit == b.unit and abs(x - y) <= 0.006 * max(abs(x), abs(y))
    if {a.kind, b.kind} <= {"number", "version"}:
        return a.amount == b.amount  # the counted noun may be worded otherwise
    return a.key == b.key


def _antonym(
    a: frozenset[str],
    b: frozenset[str],
    opposites: Sequence[tuple[frozenset[str], frozenset[str]]],
) -> bool:
    only_a, only_b = a - b, b - a
    return any((only_a & x and only_b & y) or (only_a & y and only_b & x) for x, y in opposites)


def _differ_by_one(a: tuple[str, ...], b: tuple[str, ...]) -> bool:
    return len(a) == len(b) and sum(x != y for x, y in zip(a, b, strict=True)) == 1
