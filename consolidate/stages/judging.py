"""The judge at work on the pairs of one run: reads each fact once, then judges pair by pair.

Pure. What two facts are to each other is decided in `consolidate.judge`; here it is only carried
over a set of pairs.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from functools import partial

from consolidate.judge.assess import assess, foregone
from consolidate.judge.layers import ALL_LAYERS, Layers
from consolidate.judge.reading import Reading, read
from consolidate.stages.group import Names
from consolidate.stages.work import Tally
from consolidate.types import Assessment, Candidates, Fact, Groups, Mention, Pair, Verdict

__all__ = ["Bench"]


class Bench:
    """The facts of one run, read, and the names that tell which of them speak of one thing."""

    def __init__(
        self,
        facts: Sequence[Fact],
        mentions: Mapping[str, Sequence[Mention]],
        groups: Groups,
        names: Names,
        slots: Mapping[str, str],
        layers: Layers = ALL_LAYERS,
    ) -> None:
        self._readings: dict[str, Reading] = {
            f.id: read(f, mentions[f.id], partial(names.known_as, f.id)) for f in facts
        }
        self._foregone: dict[tuple[str, str], str] = {}
        """Pairs looked at so far, with why no verdict can change what comes of them, or nothing."""
        self._ambiguous = groups.ambiguous
        self._names = names
        self._slots = slots
        self._layers = layers

    def worth_asking(
        self, found: Candidates, *, known: Mapping[tuple[str, str], Pair], tally: Tally
    ) -> list[Pair]:
        """Of candidates, those that are new and whose outcome a verdict can change."""
        fresh, counts = [], Counter[str]()
        for pair in found.pairs:
            key = (pair.left, pair.right)
            if key in known:
                continue
            reason = self._foregone.get(key)
            if reason is None:
                reason = self._foregone[key] = foregone(
                    self._readings[pair.left],
                    self._readings[pair.right],
                    same_name=self._names.same,
                    layers=self._layers,
                )
            if reason:
                counts[f"skipped {reason}"] += 1
            else:
                counts[pair.rule] += 1
                fresh.append(pair)
        if not known:  # what the rules left out is the same in every later round
            counts.update({f"skipped {reason}": n for reason, n in found.skipped.items()})
        tally.items_out = len(known) + len(fresh)
        tally.detail = dict(sorted(counts.items(), key=lambda item: ("skipped" in item[0], item)))
        return fresh

    def assess(
        self, pairs: Sequence[Pair], verdicts: Mapping[tuple[str, str], Verdict]
    ) -> dict[tuple[str, str], Assessment]:
        """Judge every pair that has a verdict."""
        return {
            (pair.left, pair.right): assess(
                self._readings[pair.left],
                self._readings[pair.right],
                verdicts[pair.left, pair.right],
                same_name=self._names.same,
                doubtful={
                    *self._ambiguous.get(pair.left, ()),
                    *self._ambiguous.get(pair.right, ()),
                },
                slots=self._slots,
                layers=self._layers,
            )
            for pair in pairs
            if (pair.left, pair.right) in verdicts
        }
