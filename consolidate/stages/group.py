"""Groups facts by the entity they mention.

Pure. Names are one entity when their keys are equal (`consolidate.names.name_key`) or an alias
says so; nothing fuzzy joins two names here. A fact that names nobody is about the user.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from consolidate.judge.reading import USER, subject_of
from consolidate.names import name_key
from consolidate.types import Alias, Fact, Group, Groups, Mention

__all__ = ["Names", "group"]

_OWN_NAME: Final = re.compile(
    r"^(?:(?:the )?user(?:['’]s (?:first )?name is| is called| is named|['’]s called)|"
    r"my name is|i am called|i['’]m called|name of the user:) ([^\W\d_][\w'’-]*)",
    re.IGNORECASE,
)
"""Facts that give the user's own name; facts about that name are then about the user."""


@dataclass(frozen=True)
class Names:
    """Which name keys are one entity, by the declared aliases."""

    canonical: Mapping[str, str]
    """Alias key to canonical key."""
    never: frozenset[frozenset[str]]
    """Pairs of keys that must not be taken for one entity."""

    @classmethod
    def of(cls, aliases: Sequence[Alias], facts: Sequence[Fact] = ()) -> Names:
        """Read declared aliases, and the user's own name where the facts agree on one.

        A later canonical of the same alias does not override.
        """
        canonical: dict[str, str] = {}
        own = {name_key(match[1]) for fact in facts if (match := _OWN_NAME.search(fact.text))}
        if len(own) == 1:
            canonical[own.pop()] = USER
        never = set()
        for entry in sorted(aliases, key=lambda a: (a.canonical, a.alias)):
            name, alias = name_key(entry.canonical), name_key(entry.alias)
            if entry.never:
                never.add(frozenset((name, alias)))
            elif name != alias:
                canonical.setdefault(alias, name)
        return cls(canonical, frozenset(never))

    def resolve(self, key: str) -> str:
        """Canonical key of a name key; follows chains of aliases."""
        seen = {key}
        while (following := self.canonical.get(key)) is not None and following not in seen:
            seen.add(following)
            key = following
        return key

    def same(self, a: str, b: str) -> bool:
        """Whether two name keys are one entity."""
        return frozenset((a, b)) not in self.never and self.resolve(a) == self.resolve(b)


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
        names: Declared aliases.
        hub_size: An entity of more facts than this is marked as a hub.

    Returns:
        Groups sorted by key. A first name that is part of several full names is listed as
        ambiguous for the facts that use it alone, and joins none of them.
    """
    spelled: dict[str, Counter[str]] = defaultdict(Counter)
    by_fact: dict[str, tuple[str, ...]] = {}
    for fact in facts:
        keys = set()
        for mention in mentions.get(fact.id, ()):
            if mention.label == "version":
                continue
            key = names.resolve(name_key(mention.text))
            if key:
                keys.add(key)
                spelled[key][mention.text] += 1
        subject = subject_of(fact.text, mentions.get(fact.id, ()))
        if subject in (USER, None) or not keys:
            keys.add(USER)
            spelled[USER][USER] += 1
        by_fact[fact.id] = tuple(sorted(keys))
    members: dict[str, list[str]] = defaultdict(list)
    for fact_id, found in by_fact.items():
        for key in found:
            members[key].append(fact_id)
    groups = tuple(
        Group(
            key=key,
            name=min(spelled[key].items(), key=lambda item: (-item[1], item[0]))[0],
            facts=tuple(sorted(ids)),
            hub=len(ids) > hub_size or key == USER,
        )
        for key, ids in sorted(members.items())
    )
    return Groups(groups=groups, by_fact=by_fact, ambiguous=_ambiguous(by_fact, members))


def _ambiguous(
    by_fact: Mapping[str, tuple[str, ...]], keys: Iterable[str]
) -> Mapping[str, tuple[str, ...]]:
    """Facts that use a single-word name which begins several longer names."""
    longer: dict[str, set[str]] = defaultdict(set)
    for key in keys:
        first, _, rest = key.partition(" ")
        if rest:
            longer[first].add(key)
    shared = {first for first, full in longer.items() if len(full) > 1}
    found = {
        fact_id: tuple(key for key in own if key in shared) for fact_id, own in by_fact.items()
    }
    return {fact_id: keys_ for fact_id, keys_ in found.items() if keys_}
