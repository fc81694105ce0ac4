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
    "is_grammar",
    "keep",
    "likeness",
    "rarities",
    "tokens",
]

_Item = TypeVar("_Item", bound=Hashable)

_TOKEN: Final = re.compile(r"[^\W_]+")

_OF_GRAMMAR: Final = 1.0
"""Weight of a word of grammar, at most: in a small memory it may be as rare as a name."""

_GRAMMAR: Final = frozenset(
    """
a about after all also am an and any are as at be been before being both but by can could did do
does doing done for from get gets got had has have having he her hers him his how i if in into is
it its just let like long many may me mine more most much must my no nor not now of off on once one
only or other our ours out over own please say she should so some such tell than that the their
theirs them then there these they this those to too under until up upon us use user used very was
we were what when where which while who whom whose why will with would you your yours

aber als am an auch auf aus bei bin bis da das dass dein dem den der des die dies diese dieser du
ein eine einem einen einer er es euch für haben hat hatte ich ihm ihn ihr im in ist ja kann mein
mich mir mit nach nicht noch nur ob oder sein seine sich sie sind so über um und uns unser von vor
wann war warum was welche welcher welches wem wen wer wie wir wird wo wohin zu zum zur

au aux avec ce ces cette comment dans de des du elle en est et eux il ils je la le les leur lui ma
mais mes mon ne nous ou où par pas pour pourquoi quand que quel quelle qui sa se ses son sont sur ta
te tes toi ton tu un une vos votre vous

al como con cual cuál cuando cuándo de del dónde donde el ella ellos en es esta este está la las lo
los más mi mis no nos para pero por qué que quien quién se ser si sin son su sus tiene tu un una y
yo

alla che chi come con cosa dei del della di dove e gli ha hai ho il io la le lo loro ma mi mia mio
nel non per perché più quale quando quanto quello questa questo se si sono suo sua ti tra tu un una
""".split()
)
"""Words of asking and joining, in five languages. Leaving out one too many costs little: they are
left out only where a query has other words."""


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
    taken first, and common ones as long as they fit in; the rarest is always taken. Words of
    grammar are taken only where the query has no others: what it asks for may be nowhere.

    Args:
        words: Each with the number of facts it stands in; those in none are left out.
        work: How many matches may be ranked, about.

    Returns:
        The words, and how many matches they make.
    """
    chosen: list[str] = []
    spent = 0
    telling = {word: count for word, count in words.items() if not is_grammar(word)}
    there = ((word, count) for word, count in (telling or words).items() if count)
    for word, count in sorted(there, key=lambda item: item[1]):
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


def is_grammar(word: str) -> bool:
    """Whether a word is one of asking and joining, which says nothing of what is meant."""
    return word.casefold() in _GRAMMAR


def rarities(words: Mapping[str, int], *, facts: int) -> dict[str, float]:
    """What each word of a query says: the more, the fewer facts it stands in.

    A word that stands nowhere says as much as one that stands in one fact: what it asks for is not
    there, and a text with the other words only does not cover the query.

    Args:
        words: The query's words as `tokens` gives them, each with the number of facts it
            stands in.
        facts: How many facts there are.

    Returns:
        `ln(1 + facts / count)` for each word, for words of grammar at most 1.
    """
    return {
        word: min(math.log1p(facts / max(1, count)), _OF_GRAMMAR if is_grammar(word) else math.inf)
        for word, count in words.items()
    }


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
