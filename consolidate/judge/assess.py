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

from consolidate.judge.layers import ALL_LAYERS, Layers, dim
from consolidate.judge.reading import USER, Reading, fold, looks_english
from consolidate.judge.recency import order
from consolidate.judge.slots import FIRM, IMMUTABLE, cardinality
from consolidate.judge.values import Value
from consolidate.types import Assessment, Relation, Scores, Verdict

__all__ = ["Layers", "assess", "foregone", "relation_of"]

FRAME_CONFIDENCE: Final = 0.97
"""Confidence in a relation that the words themselves show: one frame, values equal or different."""

SUPPORTED: Final = 0.9
"""Confidence in a conflict that both the classifier and the words speak for."""

SUPPORTED_FROM: Final = 0.7
"""Probability of contradiction that the classifier must give for that."""

RAISE_FROM: Final = 0.2
"""Probability of contradiction that the classifier must give before words raise it."""

Same = Callable[[str, str], bool]
"""Whether two name keys are one entity (aliases resolved)."""

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
    ("fast|faster|fastest", "slow|slower|slowest"),
    ("first", "last|second"),
    ("older|elder|oldest|eldest", "younger|youngest"),
    ("best|better", "worst|worse"),
    ("higher|highest|high", "lower|lowest|low"),
    ("big|large|larger|largest", "small|smaller|smallest"),
    ("dry", "wet|water"),
    ("full", "empty"),
    ("with", "without"),
    ("true", "false"),
    ("north", "south"),
    ("east", "west"),
    ("morning|mornings", "evening|evenings|afternoon"),
    ("summer", "winter"),
    ("day", "night"),
    ("bought|buys|buy", "sold|sells|sell"),
    ("all|both", "none|neither"),
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


def foregone(
    left: Reading,
    right: Reading,
    *,
    same_name: Same = lambda a, b: a == b,
    layers: Layers = ALL_LAYERS,
) -> str:
    """Why a pair comes out compatible whatever a classifier says of it; empty if it may not.

    Such pairs need not be asked about: `assess` gives the same for any verdict.
    """
    left, right = dim(left, layers), dim(right, layers)
    if not (left.latin and right.latin):
        return "language"
    linkable = left.frame == right.frame or _is_planned(left) != _is_planned(right)
    if not linkable and _Pair(left, right, same_name, {}, layers).other_subject():
        return "other-subject"
    return ""


def assess(
    left: Reading,
    right: Reading,
    verdict: Verdict | None,
    *,
    same_name: Same = lambda a, b: a == b,
    ambiguous: bool = False,
    slots: Mapping[str, str] | None = None,
    layers: Layers = ALL_LAYERS,
) -> Assessment:
    """Judge a pair.

    Args:
        left: The fact with the smaller id.
        right: The other.
        verdict: What the classifier said; None or a failure means it could not tell.
        same_name: Whether two name keys are one entity.
        ambiguous: A name both need in order to be about one thing fits several entities.
        slots: Cardinalities of the user's own attributes.
        layers: Those that are at work; fewer than all only where their worth is measured.
    """
    if layers != ALL_LAYERS:
        left, right = dim(left, layers), dim(right, layers)
        verdict = _neutral(verdict) if not layers.classifier else verdict
        ambiguous = ambiguous and layers.names
    found = _assess(_Pair(left, right, same_name, slots or {}, layers), verdict, ambiguous)
    return found if layers.policy else replace(found, review_only=False)


def _neutral(verdict: Verdict | None) -> Verdict | None:
    """A verdict that says nothing; a failure stays one."""
    if verdict is None or verdict.forward is None or verdict.backward is None:
        return verdict
    nothing = Scores(entailment=0.0, neutral=1.0, contradiction=0.0)
    return replace(verdict, forward=nothing, backward=nothing)


def _assess(pair: _Pair, verdict: Verdict | None, ambiguous: bool) -> Assessment:
    if verdict is None or verdict.forward is None or verdict.backward is None:
        why = verdict.failure if verdict and verdict.failure else "no verdict"
        return pair.result(Relation.COMPATIBLE, 0.0, "not-judged", f"not judged: {why}")
    if not (pair.left.latin and pair.right.latin):
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
        if not self.layers.values:
            return found
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
        if self.left.modality.event:
            return found  # two runs, two payments, two sales
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
        reason, because = self._veto(ambiguous)
        if not reason:
            return self._doubt_contradiction(found)
        found = _drop(found, reason, because)
        if reason == "series":
            return replace(found, subtype="series")
        return self.offer_link(found) if reason == "modality" else found

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
        a, b = set(self.left.attributes), set(self.right.attributes)
        if found.reason == "classifier" and a and b and not a & b:
            found = _ask(found, "the words point to different attributes")
        elif found.reason == "classifier" and self._unanchored():
            found = _ask(found, "nothing but the classifier says that they are about one thing")
        elif found.reason == "classifier" and self._same_amounts():
            found = _ask(found, "but they give the same amounts")
        if self.left.frame == self.right.frame and self.left.modality.event:
            found = _ask(found, "they may tell of two events")
        if self._immutable():
            found = replace(
                _ask(found, "the attribute cannot change, so one of them is wrong"),
                reason="immutable",
            )
        if self._has_correction():
            found = replace(found, subtype="correction")
        support = "" if found.review_only else self._support()
        if support and SUPPORTED_FROM <= found.confidence < SUPPORTED:
            found = replace(found, confidence=SUPPORTED, because=(*found.because, f"and {support}"))
        return found

    def _tells_of_change(self) -> bool:
        a, b = self.left.modality, self.right.modality
        return a.ended or b.ended or a.correction or b.correction

    def _same_amounts(self) -> bool:
        """Both give amounts, the same ones, and nothing denies anything."""
        a, b = self.left.modality, self.right.modality
        measured = any(v.kind in _MEASURED for v in self.left.values)
        return (
            measured
            and not (self.only_left or self.only_right or self._tells_of_change())
            and (a.negations > 0) == (b.negations > 0)
            and not _antonym(self.left.words, self.right.words, _ANTONYMS)
        )

    def _support(self) -> str:
        """What the words themselves say for an update, where they are about one matter."""
        if not (self.left.matter & self.right.matter):
            return ""
        if FIRM.intersection(self.left.attributes, self.right.attributes):
            return "both give a value to an attribute that holds one"
        earlier_first = order(self.left.fact, self.right.fact)[0] <= 0
        later = self.right if earlier_first else self.left
        if later.modality.ended or later.modality.correction:
            return "the later one says that something ended or was wrong"
        return ""

    def other_subject(self) -> bool:
        """Whether the two open with different entities, neither of which the other mentions."""
        a, b = self.left.subject, self.right.subject
        if a is None or b is None or self.same_name(a, b):
            return False
        if set(a.split()) <= set(b.split()) or set(b.split()) <= set(a.split()):
            return False  # "little Amadou" and "Amadou"
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
        """Whether nothing but a common name says that the two are about one matter.

        "Harbourlight is the booking platform" and "the Harbourlight runbooks have moved" share a
        name; a classifier that reads "moved" takes the one for the successor of the other.
        """
        if not self.layers.names:
            return False
        if cardinality(self.left.attributes, self.right.attributes, self.slots) == "one":
            return False
        return not (self.left.matter & self.right.matter)

    def _immutable(self) -> bool:
        return (
            self.layers.slots
            and bool(
                IMMUTABLE.search(self.left.fact.text) and IMMUTABLE.search(self.right.fact.text)
            )
            and not self._has_correction()
        )

    # -- entailment and equivalence ----------------------------------------------------------

    def check_entailment(self, found: Assessment) -> Assessment:
        """What forbids taking one fact for the other, or says which of the two must stay."""
        if _is_planned(self.left) != _is_planned(self.right) and self._is_short():
            return self.offer_link(_drop(found, "modality", "one of them is a plan"))
        if self._series():
            return replace(_drop(found, "series", "readings of different dates"), subtype="series")
        if self.other_subject():
            return _drop(found, "other-subject", "they open with different subjects")
        if self._conflicting_values():
            a, b = self.only_left[0], self.only_right[0]
            return self.check_contradiction(
                replace(
                    found,
                    relation=Relation.CONTRADICTS,
                    reason="values-differ",
                    because=(*found.because, f"but one says {a.amount}, the other {b.amount}"),
                ),
                ambiguous=False,
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
        if found.relation is Relation.EQUIVALENT and self._unanchored():
            doubts.append("they have no word in common but names")
        if not self._covered(found.relation):
            doubts.append("the richer one does not speak of what the other says")
        if _is_planned(self.left) != _is_planned(self.right):
            doubts.append("one of them speaks of a plan")
        if self._mood_differs():
            doubts.append("one of them is a question, hearsay or hypothetical")
        if (a.negations > 0) != (b.negations > 0):
            doubts.append("one of them is negated")
        if a.ended != b.ended:
            doubts.append("one of them says that something ended")
        if a.past != b.past:
            doubts.append("one of them speaks of an earlier time")
        if self.layers.values and _antonym(self.left.words, self.right.words, _ANTONYMS):
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


def _is_planned(reading: Reading) -> bool:
    return reading.modality.plan or reading.modality.future or reading.behaviour.planned


def _ask(found: Assessment, because: str) -> Assessment:
    return replace(found, review_only=True, because=(*found.because, because))


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
