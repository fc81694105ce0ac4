"""From settings and a classifier to what `decide` is told, and where each number came from.

Thresholds in the settings win. Else they follow from the calibration of the very model file and
the false rates that the settings accept. A model without calibration only proposes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from consolidate.calibration.band import Chosen, choose, review_from
from consolidate.calibration.curve import Act
from consolidate.calibration.record import ACTS
from consolidate.calibration.shelf import Found, find
from consolidate.protocols import ContradictionClassifier
from consolidate.settings import Settings, Thresholds
from consolidate.stages.policy import Policy

__all__ = ["UNPROVEN", "InForce", "in_force", "policy_for"]

UNPROVEN: Final = Thresholds(merge=0.9, supersede=0.9, review=0.5)
"""Of a model that nobody measured. They only tell which questions a person is asked."""


@dataclass(frozen=True, kw_only=True)
class InForce:
    """A policy and how it came about."""

    policy: Policy
    origins: Mapping[str, str]
    """`merge`, `supersede` and `review` to where the threshold came from, in words."""
    chosen: Mapping[Act, Chosen]
    """What was chosen from a calibration."""
    found: Found


def policy_for(settings: Settings, classifier: ContradictionClassifier) -> Policy:
    """The policy that decisions of this classifier are made with."""
    return in_force(settings, classifier).policy


def in_force(
    settings: Settings,
    classifier: ContradictionClassifier,
    *,
    environ: Mapping[str, str] | None = None,
) -> InForce:
    """Find what is in force for a classifier.

    A classifier may bring `folder`, where its files and perhaps their calibration lie, or
    `thresholds` of its own, as the fakes do, which say what they were told to.
    """
    own: Thresholds | None = getattr(classifier, "thresholds", None)
    folder: Path | None = getattr(classifier, "folder", None)
    found = Found() if own else find(classifier.identity, folder, environ=environ)
    chosen: dict[Act, Chosen] = {}
    if found.calibration is not None:
        rates = {"merge": settings.false_merge_rate, "supersede": settings.false_supersede_rate}
        chosen = {act: choose(found.calibration, act, rates[act]) for act in ACTS}

    base, why = own or UNPROVEN, "the model itself" if own else "no calibration: it only proposes"
    numbers: dict[str, Any] = {}
    origins: dict[str, str] = {}
    for act in ACTS:
        given = getattr(settings, f"{act}_threshold")
        if given is not None:
            numbers[act], origins[act] = given, "the settings"
        elif act in chosen:
            numbers[act], origins[act] = chosen[act].threshold, chosen[act].sentence
            numbers[f"{act}_languages"] = chosen[act].languages
        else:
            numbers[act], origins[act] = getattr(base, act), why
            numbers[f"proven_{act}"] = own is not None
    numbers["review"], origins["review"] = base.review, why
    if settings.review_threshold is not None:
        numbers["review"], origins["review"] = settings.review_threshold, "the settings"
    elif found.calibration is not None:
        numbers["review"] = review_from(found.calibration, chosen)
        origins["review"] = "from there on questions are worth asking"
    policy = Policy(
        may_merge=settings.merge,
        may_supersede=settings.supersede,
        reliability=found.calibration.reliability if found.calibration else {},
        **numbers,
    )
    return InForce(policy=policy, origins=origins, chosen=chosen, found=found)
