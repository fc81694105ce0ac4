"""Finds verbatim repeats before any model runs.

Pure: facts in, groups of ids out. What is "the same text" is deliberately narrow (Unicode form,
white space, a final full stop, the case of the first letter); everything looser is a judgement
and belongs to the models.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence

from consolidate.judge.recency import moment
from consolidate.types import Fact, Unique

__all__ = ["collapse", "plain_text", "representative"]


def plain_text(text: str) -> str:
    """The text in the form in which repeats are compared."""
    joined = " ".join(unicodedata.normalize("NFC", text).split()).rstrip(".! ")
    return joined[:1].casefold() + joined[1:]


def collapse(facts: Sequence[Fact]) -> tuple[Unique, ...]:
    """Group facts of one kind whose plain text is the same.

    Returns:
        One record for each distinct text, sorted by representative; all ids are kept. The
        representative is the member that outlives the others when they merge, so that the text
        the models are asked about is the same in the next run.
    """
    members: dict[tuple[str, str], list[Fact]] = defaultdict(list)
    for fact in facts:
        members[(fact.kind, plain_text(fact.text))].append(fact)
    groups = (
        Unique(representative=representative(same), members=tuple(sorted(f.id for f in same)))
        for same in members.values()
    )
    return tuple(sorted(groups, key=lambda u: u.representative))


def representative(facts: Sequence[Fact]) -> str:
    """The id that stands for repeats: retired before live, trusted before not, said first."""
    first = min(facts, key=lambda f: (f.status.is_live, -f.trust, moment(f), f.id))
    return first.id
