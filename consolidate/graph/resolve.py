"""Which entity each name in each fact means.

Pure: facts, what was found in them and what people declared go in, `Names` come out, which the
pipeline groups by and the registry keeps.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace

from consolidate.stages.group import Names
from consolidate.types import Fact, Mention, Snapshot

__all__ = ["resolve"]


def resolve(
    snapshot: Snapshot, facts: Sequence[Fact], mentions: Mapping[str, Sequence[Mention]]
) -> Names:
    """Find out what the names in some facts mean.

    Args:
        snapshot: Whose declarations count.
        facts: One fact for each distinct text.
        mentions: Fact id to what was found in its text.
    """
    names = Names.of(snapshot.aliases, facts)
    told: dict[str, dict[str, str]] = defaultdict(dict)
    about: dict[str, tuple[str, ...]] = {}
    for pin in snapshot.pins:
        entity = names.resolve(pin.entity)
        if pin.name:
            told[pin.fact][pin.name] = entity
        else:
            about[pin.fact] = (*about.get(pin.fact, ()), entity)
    kinds = {entity.key: (entity.type, entity.note) for entity in snapshot.declared}
    return replace(names, told=told, about=about, kinds=kinds)
