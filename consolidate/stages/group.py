"""Groups facts by the entity they mention.

Pure. Names are one entity when their keys are equal (`consolidate.names.name_key`) or an alias
says so; what more can be told from the whole memory comes in with `Names`, see
`consolidate.graph.resolve`. A fact that names nobody is about the user.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from consolidate.judge.reading import USER, subject_of
from consolidate.names import entity_key, name_key, name_of_key
from consolidate.types import Alias, Doubt, Fact, Group, Groups, Mention

__all__ = ["Names", "group"]

_OWN_NAME: Final = re.compile(
    r"^(?:(?:the )?user(?:['’]s (?:first |full )?name is| is called| is named|['’]s called)|"
    r"my (?:full )?name is|i am called|i['’]m called|name of the user:) "
    r"([^\W\d_][\w'’-]*)((?: [A-Z]\w[\w'’-]*)*)",
    re.IGNORECASE,
)
"""Facts that give the user's own name; facts about that name are then about the user."""


@dataclass(frozen=True)
class Names:
    """Which names are one entity: what was declared, and what was found out fact by fact."""

    canonical: Mapping[str, str]
    """Alias key to canonical key, where there is one."""
    never: frozenset[frozenset[str]]
    """Pairs of keys that must not be taken for one entity."""
    several: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Alias key to canonical keys, where there are several: the name alone decides nothing."""
    told: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Fact id to what a name key means there: an entity key, empty where that is in doubt."""
    about: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Fact id to entities that it is about without naming them."""
    sure: Mapping[tuple[str, str], float] = field(default_factory=dict)
    """Fact id and entity key to how sure that is, where it is not quite."""
    kinds: Mapping[str, tuple[str, str]] = field(default_factory=dict)
    """Entity key to type and note."""
    doubts: tuple[Doubt, ...] = ()

    @classmethod
    def of(cls, aliases: Sequence[Alias], facts: Sequence[Fact] = ()) -> Names:
        """Read declared aliases, and the user's own name where the facts agree on one.

        An alias of two canonical names means neither: it is in doubt.
        """
        found: dict[str, set[str]] = defaultdict(set)
        never = set()
        for entry in aliases:
            name, alias = entity_key(entry.canonical), entity_key(entry.alias)
            if entry.never:
                never.add(frozenset((name, alias)))
            elif name != alias:
                found[alias].add(name)
        canonical = {alias: names.pop() for alias, names in found.items() if len(names) == 1}
        several = {alias: tuple(sorted(names)) for alias, names in found.items() if names}
        for own in _own_names(facts):
            canonical.setdefault(own, USER)
        return cls(
            canonical, frozenset(never), {k: v for k, v in several.items() if k not in canonical}
        )

    def resolve(self, key: str) -> str:
        """Canonical key of a name key; follows chains of aliases."""
        seen = {key}
        while (following := self.canonical.get(key)) is not None and following not in seen:
            seen.add(following)
            key = following
        return key

    def same(self, a: str, b: str) -> bool:
        """Whether two keys, of names or entities, are one entity."""
        return frozenset((a, b)) not in self.never and self.resolve(a) == self.resolve(b)

    def known_as(self, fact: str, key: str) -> str:
        """What a name key means in a fact: the entity's key, or the name's own if in doubt."""
        return self.told.get(fact, {}).get(key) or self.resolve(key)

    def in_doubt(self, fact: str, key: str) -> bool:
        """Whether a name fits several entities in this fact, or none surely enough."""
        told = self.told.get(fact, {}).get(key)
        return told == "" or (told is None and self.resolve(key) in self.several)


def _own_names(facts: Sequence[Fact]) -> list[str]:
    """Keys of the user's own name, first and full; none if the facts disagree."""
    firsts, full = set(), set()
    for fact in facts:
        if match := _OWN_NAME.search(fact.text):
            firsts.add(name_key(match[1]))
            if match[2] and match[2].istitle():
                full.add(name_key(match[1] + match[2]))
    if len(firsts) != 1:
        return []
    return [*firsts, *sorted(full if len(full) == 1 else ())]


def group(
    facts: Sequence[Fact],
    mentions: Mapping[str, Sequence[Mention]],
    names: Names,
    *,
    hub_size: int,
) -> Groups:
    """Group facts by entity.

    Args:
        facts: The facts to group.
        mentions: Fact id to mentions.
        names: What is known of names.
        hub_size: An entity of more facts than this is marked as a hub.

    Returns:
        Groups sorted by key. A first name that is part of several full names is listed as
        ambiguous for the facts that use it alone, and joins none of them.
    """
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    by_fact: dict[str, tuple[str, ...]] = {}
    means: dict[str, dict[str, str]] = {}
    subjects: dict[str, str] = {}
    doubtful: dict[str, set[str]] = defaultdict(set)
    for fact in facts:
        keys = set(names.about.get(fact.id, ()))
        own: dict[str, str] = {}
        for mention in mentions.get(fact.id, ()):
            name = name_key(mention.text)
            if mention.label == "version" or not name:
                continue
            key = names.known_as(fact.id, name)
            own[name] = key
            if names.in_doubt(fact.id, name):
                own[name] = ""
                doubtful[fact.id].add(key)
            keys.add(key)
            spelled[key][mention.text] += 1
        means[fact.id] = own
        subject = subject_of(fact.text, mentions.get(fact.id, ()))
        if subject in (USER, None) or not keys:
            keys.add(USER)
        if subject is not None:
            subjects[fact.id] = USER if subject == USER else names.known_as(fact.id, subject)
        elif keys == {USER}:
            subjects[fact.id] = USER
        by_fact[fact.id] = tuple(sorted(keys))
    members: dict[str, list[str]] = defaultdict(list)
    for fact_id, found in by_fact.items():
        for key in found:
            members[key].append(fact_id)
    groups = tuple(
        Group(
            key=key,
            name=_shown(key, spelled[key]),
            facts=tuple(sorted(ids)),
            hub=len(ids) > hub_size or key == USER,
            type="person" if key == USER else names.kinds.get(key, ("", ""))[0],
            note=names.kinds.get(key, ("", ""))[1],
        )
        for key, ids in sorted(members.items())
    )
    for fact_id, shared in _ambiguous(by_fact, members).items():
        doubtful[fact_id].update(shared)
    return Groups(
        groups=groups,
        by_fact=by_fact,
        ambiguous={fact_id: tuple(sorted(found)) for fact_id, found in sorted(doubtful.items())},
        means=means,
        subjects=subjects,
        confidence=names.sure,
        doubts=names.doubts,
    )


def _shown(key: str, spelled: Counter[str]) -> str:
    """The name of an entity: as most often written, of the spellings that are its whole name."""
    if key == USER or not spelled:
        return key
    name = name_of_key(key)
    whole = {text: n for text, n in spelled.items() if name_key(text) == name} or spelled
    return min(whole.items(), key=lambda item: (-item[1], item[0]))[0]


def _ambiguous(
    by_fact: Mapping[str, tuple[str, ...]], keys: Iterable[str]
) -> Mapping[str, tuple[str, ...]]:
    """Facts that use a single-word name which begins several longer names."""
    longer: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        first, _, rest = name_of_key(key).partition(" ")
        if rest:
            longer[first].add(key)
    shared = {first for first, full in longer.items() if len(full) > 1}
    found = {
        fact_id: tuple(key for key in own if key in shared) for fact_id, own in by_fact.items()
    }
    return {fact_id: keys_ for fact_id, keys_ in found.items() if keys_}
