"""A memory's verbs about who and what it is about: entities, their graph, where facts come from.

Plain data in and out, ready for JSON; the work is in `consolidate.graph`. No language model is
asked by any of them, and only `validate_claim` and `extract_entities` use a local one.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal

from consolidate.errors import InputError
from consolidate.graph import tools
from consolidate.graph.walking import Direction
from consolidate.memory.base import MemoryPart
from consolidate.serialise import to_data
from consolidate.times import parse_time

__all__ = ["EntitiesPart"]


class EntitiesPart(MemoryPart):
    """A memory's verbs for entities."""

    def entity_get(self, name: str, *, history: bool = False) -> dict[str, Any]:
        """What is known of an entity; see `consolidate.graph.tools.entity_get`."""
        return tools.entity_get(self.store, name, agent=self.agent, history=history)

    def entity_list(
        self, *, kind: str | None = None, limit: int = 50, offset: int = 0
    ) -> dict[str, Any]:
        """Entities, those of most facts first; see `consolidate.graph.tools.entity_list`."""
        return tools.entity_list(
            self.store, agent=self.agent, kind=kind, limit=limit, offset=offset
        )

    def entity_neighbors(
        self,
        entity: str,
        *,
        hops: int = 1,
        k: int = 10,
        direction: Direction = "both",
        as_of: datetime | str | None = None,
    ) -> dict[str, Any]:
        """What an entity is joined to; see `consolidate.graph.walking.entity_neighbors`."""
        from consolidate.graph.walking import entity_neighbors

        moment = None if as_of is None else parse_time(as_of, zone=self.settings.timezone)
        found = entity_neighbors(
            self.store,
            entity,
            agent=self.agent,
            hops=hops,
            k=k,
            direction=direction,
            as_of=moment,
        )
        return {
            "neighbors": [
                {
                    "id": each.entity,
                    "name": each.name,
                    "type": each.type,
                    "hops": each.hops,
                    "predicates": list(each.predicates),
                    "facts": list(each.through),
                }
                for each in found
            ]
        }

    def entity_alias(
        self, name: str, alias: str, *, never: bool = False, preview: bool = False
    ) -> dict[str, Any]:
        """Declare another name of an entity, or (`never`) that it is none."""
        return tools.entity_alias(
            self.store, name, alias, agent=self.agent, never=never, preview=preview
        )

    def entity_merge(self, name: str, into: str, *, preview: bool = False) -> dict[str, Any]:
        """Declare that two entities are one; `undo` of the run takes it back."""
        return tools.entity_merge(self.store, name, into, agent=self.agent, preview=preview)

    def entity_split(
        self,
        name: str,
        facts: Collection[str],
        *,
        new: str | None = None,
        kind: str = "",
        note: str = "",
        preview: bool = False,
    ) -> dict[str, Any]:
        """Declare that some facts of an entity are about another."""
        return tools.entity_split(
            self.store,
            name,
            facts,
            agent=self.agent,
            new=new,
            kind=kind,
            note=note,
            preview=preview,
        )

    def entity_rename(self, name: str, new: str, *, preview: bool = False) -> dict[str, Any]:
        """Declare by which name an entity is shown."""
        return tools.entity_rename(self.store, name, new, agent=self.agent, preview=preview)

    def ppr_retrieve(
        self, query_entities: Sequence[str], *, damping: float = 0.5, k: int = 20
    ) -> dict[str, Any]:
        """Facts and entities near to some, by Personalised PageRank.

        Raises:
            InputError: A value can't be used, or scipy is not installed.
        """
        from consolidate.graph.walking import ppr_retrieve

        found = ppr_retrieve(
            self.graphs, self.store, query_entities, agent=self.agent, damping=damping, k=k
        )
        ids = [fact for fact, _ in found.facts]
        texts = {fact.id: fact.text for fact in self.store.facts(agent=self.agent, ids=ids)}
        labels = self.store.entity_labels(self.agent)
        return {
            "facts": [
                {"id": fact, "text": texts.get(fact, ""), "score": score}
                for fact, score in found.facts
            ],
            "entities": [
                {"id": number, "name": labels[number][1], "score": score}
                for number, score in found.entities
            ],
            "unknown": list(found.unknown),
            "left_out": list(found.left_out),
        }

    def extract_entities(self, text: str) -> dict[str, Any]:
        """What a text names, and which known entity each name leads to."""
        if not text.strip():
            raise InputError("text must not be blank")
        extractor = self.backends.extractor
        return tools.extract_entities(text, extractor=extractor, store=self.store, agent=self.agent)

    def facts_list(
        self,
        fact_ids: Sequence[str] | None = None,
        *,
        entity: str | None = None,
        kind: str | None = None,
        history: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> dict[str, Any]:
        """Facts by id, in that order, or by filter; see `consolidate.graph.tools.facts_list`."""
        return tools.facts_list(
            self.store,
            fact_ids,
            agent=self.agent,
            entity=entity,
            kind=kind,
            history=history,
            limit=limit,
            offset=offset,
        )

    def facts_search(self, query: str, *, limit: int = 10) -> dict[str, Any]:
        """Current facts with the words of a query, best first."""
        return tools.facts_search(self.store, query, agent=self.agent, limit=limit)

    def lineage_trace(
        self,
        start: str,
        *,
        kind: Literal["fact", "entity"] = "fact",
        direction: Literal["backward", "forward", "both"] = "both",
        depth: int = 3,
    ) -> dict[str, Any]:
        """Where a fact comes from and what became of it, as nodes and edges."""
        from consolidate.graph.lineage import lineage_trace

        found: dict[str, Any] = to_data(
            lineage_trace(
                self.store, start, kind, agent=self.agent, direction=direction, depth=depth
            )
        )
        return found
