"""One name, several things: which uses of a name go together. Pure.

A name is split only where the words around it leave little doubt that two things are meant (a
planet and a metal, a sister and a landlady), or where somebody declared so. Uses that say nothing
themselves go where their company points: names and words that stand in the same facts, likeness
of the texts. Where that does not decide, the use stays in doubt.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.graph.cues import Cue, conflict

__all__ = ["Sense", "Use", "by_name", "closest", "introduced", "senses_of"]

Vector = npt.NDArray[np.float32]

_MARGIN: Final = 2.0
"""How much nearer one thing's company must be than the next one's, in shared names and words."""
_NAME: Final = 2.0
"""A shared name counts as much as this many shared words."""
_LIKENESS: Final = 3.0
"""Weight of the cosine of two texts."""


@dataclass(frozen=True)
class Use:
    """A name in a fact."""

    fact: str
    name: str
    """Key of the name."""
    cue: Cue
    company: frozenset[str]
    """Words of the other names in the fact."""
    words: frozenset[str]
    """Words of the fact that are not small ones and not part of a name."""
    vector: Vector | None = None
    pinned: str = ""
    """Key of the entity that somebody declared it to mean."""
    place: int = 0
    """Where its fact stands in the order in which they were said."""


@dataclass(eq=False)
class Sense:
    """Uses of a name that mean one thing."""

    name: str
    uses: list[Use] = field(default_factory=list)
    pinned: str = ""
    weak: dict[str, float] = field(default_factory=dict)
    """Facts whose use was placed by its company, with how sure that is."""

    @property
    def cues(self) -> list[Cue]:
        """The sure cues of its uses."""
        return [use.cue for use in self.uses if use.cue.sure and use.cue.kind]

    @property
    def kind(self) -> str:
        """What it is: as sure cues say, else as most labels do."""
        said = Counter(cue.told for cue in self.cues if cue.told) or Counter(
            use.cue.told for use in self.uses if use.cue.told
        )
        if not said and any(cue.kind in ("speaker", "animate") for cue in self.cues):
            return "person"
        return min(said, key=lambda kind: (-said[kind], kind)) if said else ""

    @property
    def role(self) -> str:
        """The class word most often used."""
        said = Counter(cue.role for cue in self.cues if cue.role)
        return min(said, key=lambda role: (-said[role], role)) if said else ""


def senses_of(name: str, uses: Sequence[Use], *, roles: bool) -> tuple[list[Sense], list[Use]]:
    """Part the uses of one name.

    Args:
        name: Key of the name.
        uses: All its uses, in the order of their facts.
        roles: Whether two roles part two people: for single names.

    Returns:
        Senses in the order of their first facts, and the uses that stay in doubt.
    """
    senses: list[Sense] = []
    for key in sorted({use.pinned for use in uses if use.pinned}):
        senses.append(Sense(name, [use for use in uses if use.pinned == key], key))
    loose = [use for use in uses if not use.pinned]
    telling = [use for use in loose if use.cue.sure and use.cue.kind]
    # Those with a role first: "Clara, my sister" parts; "Clara said" is either.
    for use in sorted(telling, key=lambda u: (not u.cue.role, not u.cue.told)):
        fitting = [s for s in senses if not _against(s, use, roles)]
        same = [s for s in fitting if use.cue.role and s.role == use.cue.role]
        fitting = same or fitting
        if len(fitting) == 1 and (not fitting[0].pinned or fitting[0].cues):
            fitting[0].uses.append(use)
        elif not fitting:
            senses.append(Sense(name, [use]))
        # One that fits several is placed by its company, below.
    placed = {id(use) for sense in senses for use in sense.uses}
    rest = [use for use in loose if id(use) not in placed]
    if len(senses) <= 1:
        only = senses[0] if senses else Sense(name)
        only.uses += rest
        return [only], []
    doubtful = []
    found = []
    for use in rest:
        fitting = [s for s in senses if not _against(s, use, roles)]
        chosen, sure = closest(use, [sense.uses for sense in fitting])
        if chosen is None:
            doubtful.append(use)
        else:
            found.append((fitting[chosen], use, sure))
    for sense, use, sure in found:
        sense.uses.append(use)
        sense.weak[use.fact] = sure
    order = {id(use): place for place, use in enumerate(uses)}
    for sense in senses:
        sense.uses.sort(key=lambda use: order[id(use)])
    senses.sort(key=lambda sense: order[id(sense.uses[0])])
    return senses, doubtful


def _against(sense: Sense, use: Use, roles: bool) -> bool:
    return any(conflict(cue, use.cue, roles=roles) for cue in sense.cues)


def introduced(use: Use, groups: Sequence[Sequence[Use]]) -> int | None:
    """Which group of uses is the only one that was known when a use was said."""
    known = [i for i, group in enumerate(groups) if any(other.place < use.place for other in group)]
    return known[0] if len(known) == 1 else None


def closest(
    use: Use, groups: Sequence[Sequence[Use]], *, least: float = _MARGIN
) -> tuple[int | None, float]:
    """Which group of uses keeps the same company as a use; None if none stands out.

    Returns:
        Its place and how sure that is, 0.6 to 0.8.
    """
    if not groups:
        return None, 0.0
    scores = [_score(use, group) for group in groups]
    best = max(range(len(groups)), key=lambda i: scores[i])
    others = [score for i, score in enumerate(scores) if i != best]
    gap = scores[best] - max(others, default=0.0)
    if gap < least:
        return None, 0.0
    return best, min(0.8, 0.6 + 0.05 * gap)


def _score(use: Use, group: Sequence[Use]) -> float:
    others = [other for other in group if other.fact != use.fact]
    if not others:
        return 0.0
    own = frozenset(use.name.split(" "))
    company = frozenset().union(*(other.company for other in others)) - own
    words = frozenset().union(*(other.words for other in others))
    score = _NAME * len(use.company & company) + len(use.words & words)
    near = [
        float(use.vector @ other.vector)
        for other in others
        if use.vector is not None and other.vector is not None
    ]
    return score + (_LIKENESS * max(near) if near else 0.0)


def by_name(uses: Sequence[Use]) -> Mapping[str, list[Use]]:
    """Uses under their name, in order."""
    found: dict[str, list[Use]] = {}
    for use in uses:
        found.setdefault(use.name, []).append(use)
    return found
