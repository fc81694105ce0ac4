"""What the tools about episodes answer, as types.

Annotations are evaluated here: only so does a `TypedDict` know which of its keys may be missing.
"""

from typing import NotRequired, TypedDict

from consolidate.memory.answers import FactShown

__all__ = [
    "EpisodeAnswer",
    "EpisodeFound",
    "EpisodesAnswer",
    "EpisodesFoundAnswer",
    "RecapAnswer",
]


class EpisodeShown(TypedDict):
    """An episode; in lists `text` is its start, and `characters` how long it is."""

    id: str
    title: str
    text: str
    characters: int
    outcome: str
    session: str
    started_at: NotRequired[str]
    ended_at: NotRequired[str]
    recorded_at: NotRequired[str]
    facts: list[str]


class RememberedShown(TypedDict):
    """What became of a fact of an episode."""

    id: str
    text: str
    action: str


class EpisodeAnswer(TypedDict):
    """An episode as it is stored now."""

    episode: EpisodeShown
    new: bool
    remembered: list[RememberedShown]


class EpisodesAnswer(TypedDict):
    """Episodes, how many there are in all, and ids that lead to none."""

    episodes: list[EpisodeShown]
    total: int
    missing: list[str]


class EpisodeFound(EpisodeShown):
    """An episode with the part of it that fits a query."""

    snippet: str


class EpisodesFoundAnswer(TypedDict):
    """Episodes that were found, best first."""

    episodes: list[EpisodeFound]


class NotedFact(FactShown):
    """A fact of a recap."""

    pinned: bool


class RetiredFact(FactShown):
    """A fact that no longer holds, and why."""

    why: str


class RunDecision(TypedDict):
    """A decision of a run; `fact` and `other` are empty where it is about an entity."""

    run: str
    kind: str
    fact: str
    other: str
    sentence: str


class OpenReview(TypedDict):
    """A question that is open."""

    id: str
    sentence: str


class DuePlan(FactShown):
    """A plan, and when it is due; null if it has no date."""

    due: str | None


class RecapAnswer(TypedDict):
    """What a span of time came to."""

    since: str
    until: str
    episodes: list[EpisodeShown]
    facts: list[NotedFact]
    retired: list[RetiredFact]
    decisions: list[RunDecision]
    reviews: list[OpenReview]
    plans: list[DuePlan]
