"""Joining what was found by meaning and by words. Pure: knows no store, model or clock."""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Hashable, Iterable, Mapping, Sequence
from typing import Final, TypeVar

__all__ = [
    "affordable",
    "coverage",
    "fuse",
    "interleave",
    "keep",
    "likeness",
    "rarities",
    "tokens",
]

_Item = TypeVar("_Item", bound=Hashable)

_TOKEN: Final = re.compile(r"[^\W_]+")

_UNKNOWN: Final = 1.0
"""Weight of a word that stands in no fact, mostly a word of asking. Nothing can match it, so it
must not weigh like a rare name."""


def fuse(rankings: Sequence[Sequence[_Item]], *, k: int = 60) -> dict[_Item, float]:
    """Reciprocal rank fusion: each list gives its item of rank r the share 1 / (k + r).

    Cormack, Clarke and Büttcher, "Reciprocal rank fusion outperforms Condorcet and individual
    rank learning methods", SIGIR 2009, with their k of 60.

    Args:
        rankings: Lists of items, best first, each item once in a list.
        k: The larger, the less the first ranks stand out.

    Returns:
        Every item of every list with its share of the best possible sum, above 0 to 1: 1 is an
        item that is first in all lists.
    """
    best = len(rankings) / (k + 1)
    shares: dict[_Item, float] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking, start=1):
            shares[item] = shares.get(item, 0.0) + 1.0 / (k + rank)
    return {item: min(1.0, share / best) for item, share in shares.items()}


def interleave(rankings: Sequence[Sequence[_Item]]) -> list[_Item]:
    """Join lists of one kind into one: by the best rank that an item has in any of them."""
    best: dict[_Item, int] = {}
    for ranking in rankings:
        for rank, item in enumerate(ranking):
            best[item] = min(rank, best.get(item, rank))
    return sorted(best, key=lambda item: best[item])  # stable: the first list wins a tie


def affordable(words: Mapping[str, int], work: int) -> tuple[list[str], int]:
    """The words of a query that are worth looking for, rarest first.

    Ranking costs for each match, and a word of nearly every fact says little. So rare words are
    taken first, and common ones as long as they fit in; the rarest is always taken.

    Args:
        words: Each with the number of facts it stands in; those in none are left out.
        work: How many matches may be ranked, about.

    Returns:
        The words, and how many matches they make.
    """
    chosen: list[str] = []
    spent = 0
    for word, count in sorted(words.items(), key=lambda item: item[1]):
        if not count:
            continue
        if chosen and spent + count > work:
            break
        chosen.append(word)
        spent += count
    return chosen, spent


def tokens(text: str) -> list[str]:
    """The words of a text as the text index has them: letters and digits, case and accents off."""
    plain = text.casefold()
    if not plain.isascii():
        plain = "".join(
            c for c in unicodedata.normalize("NFKD", plain) if not unicodedata.combining(c)
        )
    return _TOKEN.findall(plain)


def rarities(words: Mapping[str, int], *, facts: int) -> dict[str, float]:
    """What each word of a query says: the more, the fewer facts it stands in.

    Args:
        words: The query's words as `tokens` gives them, each with the number of facts it
            stands in.
        facts: How many facts there are.

    Returns:
        `ln(1 + facts / count)` for each word.
    """
    return {word: math.log1p(facts / count) if count else _UNKNOWN for word, count in words.items()}


def coverage(weights: Mapping[str, float], text: str) -> float:
    """How much of what a query says by words stands in a text.

    Args:
        weights: The query's words with what each says, from `rarities`.
        text: The text.

    Returns:
        0 to 1: the share of the weights.
    """
    whole = sum(weights.values())
    if not whole:
        return 0.0
    there = set(tokens(text))
    return sum(weight for word, weight in weights.items() if word in there) / whole


def likeness(share: float, similarity: float, covered: float) -> float:
    """Relevance of a fact to a query: the mean of its rank and of what makes the rank.

    Ranks alone know no distance: the second best of two may be nearly as good, or beside the
    point. Similarity and coverage alone can't be compared between methods; so half is the rank,
    half the better of the two measures.

    Args:
        share: From `fuse`.
        similarity: Cosine; below 0 counts as 0.
        covered: From `coverage`.
    """
    return 0.5 * share + 0.5 * min(1.0, max(similarity, covered, 0.0))


def keep(order: Sequence[_Item], limit: int, firsts: Iterable[_Item]) -> list[_Item]:
    """The first `limit` items, with those of `firsts` that fit in the place of the last ones.

    What is best by one way of finding stays in, so that many middling finds of the other can't
    drive it out. The order stays.
    """
    chosen = list(order[:limit])
    protected = [item for item in dict.fromkeys(firsts) if item in order]
    missing = [item for item in protected if item not in chosen]
    room = [item for item in reversed(chosen) if item not in protected and item != order[0]]
    leaving = set(room[: len(missing)])
    joining = set(missing[: len(leaving)])
    return [item for item in order if (item in chosen and item not in leaving) or item in joining]
