"""What a note about an entity is made of: which facts, in which order, in which words.

Pure: knows no store, no model and no clock. By itself a note is extractive: it says the facts as
they are, dated. Where a language model words it, what it wrote is checked here against the facts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

from consolidate.judge.kinds import behaviour_of
from consolidate.judge.values import find_values
from consolidate.names import USER, name_key
from consolidate.protocols import EntityExtractor
from consolidate.serialise import digest
from consolidate.store import NOTE_KIND, fact_hash
from consolidate.types import Fact, FactStatus

__all__ = [
    "EXTRACTIVE",
    "LEAST",
    "Draft",
    "Sentence",
    "day_of",
    "draft_of",
    "invented",
    "note_of",
    "replaced",
    "told_of",
]

EXTRACTIVE: Final = "extractive-1"
"""How a note is made that no model words. Another number when the same facts give other words."""

LEAST: Final = 3
"""Fewer current facts are read as quickly as a note of them."""

_MOST_FACTS: Final = 12
_LONGEST_FACT: Final = 500
_SURE_ENOUGH: Final = 0.5
"""Of a link between fact and entity, 0 to 1."""


@dataclass(frozen=True, kw_only=True)
class Draft:
    """An entity with the facts that its note is to be made of."""

    agent: str
    entity: str
    """Key of the entity."""
    name: str
    facts: tuple[Fact, ...]
    """In the order of their days, undated ones first."""

    def digest(self, recipe: str) -> str:
        """What a note made in some way from these facts is known by."""
        told = [[fact.id, fact.content_hash, day_of(fact)] for fact in self.facts]
        return digest([recipe, self.entity, self.name, told])


@dataclass(frozen=True, kw_only=True)
class Sentence:
    """A sentence of a note."""

    text: str
    rests_on: tuple[str, ...]
    """Ids of the facts that it is made from."""


def draft_of(
    agent: str,
    entity: str,
    name: str,
    linked: Sequence[tuple[Fact, str, float]],
    *,
    least: int = LEAST,
    now: datetime,
) -> Draft | None:
    """Choose the facts for a note; None if too few hold now.

    Left out are what is retired, over, not yet so or waits for a review; documents and notes; and
    facts that may speak of another. Of many, those come first that are about the entity, were
    said most often, mattered most, and are newest.

    Args:
        agent: Whose.
        entity: Key of the entity.
        name: Its name.
        linked: Facts that name it, each with its role (`subject` or `mention`) and how sure the
            link is, 0 to 1.
        least: So many facts are needed.
        now: The present moment.
    """
    good = [
        (fact, role)
        for fact, role, sure in linked
        if sure >= _SURE_ENOUGH
        # What names nobody is linked to the user for want of another.
        and (entity != USER or role == "subject")
        and fact.status is FactStatus.ACTIVE
        and behaviour_of(fact.kind).compared
        and len(fact.text) <= _LONGEST_FACT
        and (fact.valid_from is None or fact.valid_from <= now)
        and (fact.valid_to is None or now < fact.valid_to)
    ]
    if len(good) < least:
        return None
    good.sort(key=lambda each: each[0].id)
    good.sort(
        key=lambda each: (
            each[1] == "subject",
            each[0].encounters,
            each[0].intensity,
            day_of(each[0]),
        ),
        reverse=True,
    )
    chosen = sorted((fact for fact, _ in good[:_MOST_FACTS]), key=lambda f: (day_of(f), f.id))
    return Draft(agent=agent, entity=entity, name=name, facts=tuple(chosen))


def day_of(fact: Fact) -> str:
    """The day since which a fact holds or on which it was said, in UTC; empty if unknown."""
    when = fact.valid_from or fact.stated_at
    return "" if when is None else when.date().isoformat()


def told_of(draft: Draft) -> list[Sentence]:
    """The facts themselves, as the sentences of an extractive note."""
    return [
        Sentence(
            text=(f"{day_of(fact)}: " if day_of(fact) else "") + " ".join(fact.text.split()),
            rests_on=(fact.id,),
        )
        for fact in draft.facts
    ]


def invented(sentence: Sentence, draft: Draft, extractor: EntityExtractor) -> str:
    """A value or name of a sentence that no fact it cites holds; empty if there is none."""
    cited = [fact for fact in draft.facts if fact.id in sentence.rests_on]
    held = "\n".join([draft.name, *(f"{fact.text} ({day_of(fact)})" for fact in cited)])
    values = {value.amount for value in find_values(held)}
    for value in find_values(sentence.text):
        if value.amount not in values:
            return sentence.text[value.start : value.end]
    words = set(name_key(held).split())
    names = name_key(held)
    for mention in extractor.extract([sentence.text])[0]:
        key = name_key(mention.text)
        if key not in names and not set(key.split()) <= words:
            return mention.text
    return ""


def note_of(
    draft: Draft,
    sentences: Sequence[Sentence],
    *,
    fact_id: str,
    recipe: str,
    known_by: str,
    run: str | None = None,
    now: datetime,
) -> Fact:
    """Make the note of some sentences.

    It holds no longer than each of its sources, and is believed no more than the least of them.

    Args:
        draft: What it is about.
        sentences: At least one.
        fact_id: Its id.
        recipe: How it was worded: `EXTRACTIVE`, or the model's identity.
        known_by: The draft's digest.
        run: The run that makes it.
        now: The present moment.
    """
    cited = {each for sentence in sentences for each in sentence.rests_on}
    sources = [fact for fact in draft.facts if fact.id in cited]
    text = "\n".join([f"{draft.name}:", *(sentence.text for sentence in sentences)])
    ends = [fact.valid_to for fact in sources if fact.valid_to is not None]
    said = [fact.stated_at for fact in sources if fact.stated_at is not None]
    told: dict[str, Any] = {
        "entity": draft.entity,
        "name": draft.name,
        "sources": [fact.id for fact in sources],
        "by": recipe,
        "digest": known_by,
    }
    return Fact(
        id=fact_id,
        agent=draft.agent,
        kind=NOTE_KIND,
        text=text,
        metadata={"synthesis": told},
        stated_at=max(said, default=None),
        valid_to=min(ends, default=None),
        recorded_at=now,
        source="inferred:synthesis",
        trust=min(fact.trust for fact in sources),
        content_hash=fact_hash(text),
        changed_by=run,
    )


def replaced(note: Fact, *, by: str | None, run: str) -> Fact:
    """An old note as it is once another, or none, has taken its place."""
    return replace(note, status=FactStatus.SUPERSEDED, superseded_by=by, changed_by=run)
