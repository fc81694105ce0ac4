"""Finds verbatim repeats before any model runs.

Pure: facts in, groups of ids out. What is "the same text" is deliberately narrow (Unicode form,
white space, a final full stop, the case of the first letter); everything looser is a judgement
and belongs to the models.
"""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Sequence

from consolidate.types import Fact, Unique

__all__ = ["collapse", "plain_text"]


def plain_text(text: str) -> str:
    """The text in the form in which repeats are compared."""
    joined = " ".join(unicodedata.normalize("NFC", text).split()).rstrip(".! ")
    return joined[:1].casefold() + joined[1:]


def collapse(facts: Sequence[Fact]) -> tuple[Unique, ...]:
    """Group facts of one kind whose plain text is the same.

    Returns:
        One record for each distinct text, sorted by representative. The representative is the
        member with the smallest id; all ids are kept.
    """
    members: dict[tuple[str, str], list[str]] = defaultdict(list)
    for fact in facts:
        members[(fact.kind, plain_text(fact.text))].append(fact.id)
    groups = (
        Unique(representative=min(ids), members=tuple(sorted(ids))) for ids in members.values()
    )
    return tuple(sorted(groups, key=lambda u: u.representative))
