"""Labelled pairs judged in several ways; each classifier is asked once, whatever the layers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.stages.decide import Policy
from eval.judged import Judged, Row, judge
from eval.ways import Way

__all__ = ["judged_in_ways"]


def judged_in_ways(
    rows: Sequence[Row], backends: Backends, settings: Settings, ways: Mapping[str, Way]
) -> dict[str, tuple[list[Judged], Policy | None]]:
    """The pairs and the thresholds to decide with, by way; None does nothing at all."""
    asked: dict[str, list[Judged]] = {}
    found: dict[str, tuple[list[Judged], Policy | None]] = {}
    for name, way in ways.items():
        classifier = way.classifier or backends.classifier
        if classifier.identity not in asked:
            asked[classifier.identity] = judge(
                rows, classifier, backends.extractor, slots=settings.slots
            )
        judged = [each.under(way.layers, settings.slots) for each in asked[classifier.identity]]
        policy = None if way.idle else way.policy(settings, backends.classifier)
        found[name] = (judged, policy)
    return found
