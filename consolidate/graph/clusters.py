"""Senses of names that are one entity, and the key by which it is known."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from consolidate.graph.naming import parts_of
from consolidate.graph.nicknames import full_forms
from consolidate.graph.senses import Sense, Use
from consolidate.names import bearer_key, name_of_key
from consolidate.stages.group import Names
from consolidate.types import Snapshot

__all__ = ["Cluster", "Keys"]


@dataclass(eq=False)
class Cluster:
    """Senses that are one entity."""

    senses: list[Sense]

    @property
    def names(self) -> list[str]:
        """Its names, in the order in which they came."""
        return list(dict.fromkeys(sense.name for sense in self.senses))

    @property
    def uses(self) -> list[Use]:
        """Every place where one of its names stands."""
        return [use for sense in self.senses for use in sense.uses]

    @property
    def pinned(self) -> str:
        """The key that somebody pinned a use of it to; empty if nobody did."""
        return next((sense.pinned for sense in self.senses if sense.pinned), "")

    @property
    def kind(self) -> str:
        """What most of its senses are: person, place, ...; empty if that is not known."""
        kinds = Counter(kind for sense in self.senses if (kind := sense.kind))
        return min(kinds, key=lambda kind: (-kinds[kind], kind)) if kinds else ""


class Keys:
    """Chooses the keys of entities.

    Args:
        snapshot: Whose declarations count.
        said: Declared names.
        senses: Name to its senses, in the order in which they were told of.
    """

    def __init__(
        self, snapshot: Snapshot, said: Names, senses: Mapping[str, Sequence[Sense]]
    ) -> None:
        self._snapshot = snapshot
        self._said = said
        self._senses = senses
        self._declared = {entity.key for entity in snapshot.declared}

    def of(self, clusters: Sequence[Cluster]) -> list[str]:
        """A key for each entity: what was declared, else its fullest name."""
        taken = set(self._declared)
        taken |= {pin.entity for pin in self._snapshot.pins}
        taken |= set(self._said.canonical.values())
        keys: dict[Cluster, str] = {}
        free: list[tuple[str, int, Cluster]] = []
        for place, cluster in enumerate(clusters):
            root = self._root(cluster)
            if root:
                keys[cluster] = root
                taken.add(root)
            else:
                free.append((_fullest(cluster), place, cluster))
        for name, _, cluster in free:
            number = 1
            while (key := bearer_key(name, number)) in taken and number < 999:
                if name_of_key(key) != name:
                    break
                number += 1
            keys[cluster] = key
            taken.add(key)
        return [keys[cluster] for cluster in clusters]

    def _root(self, cluster: Cluster) -> str:
        """The key that somebody declared for one of its names; empty if nobody did."""
        if cluster.pinned:
            return self._said.resolve(cluster.pinned)
        for name in cluster.names:
            root = self._said.resolve(name)
            if (root != name or name in self._declared) and len(self._senses.get(name, ())) == 1:
                return root
        for name in cluster.names:
            # Of several of a declared name, the first to be told of is the declared one.
            if name in self._declared and self._senses[name][0] in cluster.senses:
                return name
        return ""


def _fullest(cluster: Cluster) -> str:
    """The name that says most: most words, no title, no initials, most used."""
    used = Counter(use.name for use in cluster.uses)

    def rank(name: str) -> tuple[int, bool, int, int, str]:
        parts = parts_of(name)
        whole = sum(len(word) > 1 for word in parts.words) - bool(parts.title)
        short = len(full_forms(parts.words[0])) > 1
        return (-whole, short, -used[name], len(name), name)

    return min(cluster.names, key=rank)
