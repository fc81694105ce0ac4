"""Who and what a memory is about: entities, what joins them, where facts come from, claims.

Plain JSON data comes out, under the same names as the tools and commands have. No model is asked,
but by `extract_entities` (the extractor) and `validate_claim` (embedder and judge).
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, Literal

from consolidate.errors import InputError
from consolidate.graph import declaring, joining, tools, walking
from consolidate.graph.edges import statements_that_hold
from consolidate.graph.lineage import Direction, Kind, lineage_trace
from consolidate.graph.registry import label
from consolidate.memory.recall import RecallPart
from consolidate.memory.tools import fact_data
from consolidate.serialise import to_data

__all__ = ["EXTRACTION_MODES", "EntitiesPart"]

_Data = dict[str, Any]

EXTRACTION_MODES = ("ner", "ner+triple")
"""Names alone, or also what the text states of them."""


class EntitiesPart(RecallPart):
    """A memory's verbs for entities.

    A name may be written in any way the registry knows; `#12` is an entity's number. Verbs that
    change who is who take `preview=True` to only tell what would change, and give the run that
    `undo` takes back.
    """

    def entity_get(self, name: str, *, history: bool = False) -> _Data:
        """What is known of an entity; see `graph.tools.entity_get`.

        Returns:
            `entity` or None, `aliases`, `facts` (ids), `texts`; `candidates` if the name is
            ambiguous, `suggestions` if it is unknown.
        """
        return tools.entity_get(self.store, name, agent=self.agent, history=history)

    def entity_list(self, *, kind: str | None = None, limit: int = 50, offset: int = 0) -> _Data:
        """`entities` with how many current facts speak of each, most first, and `doubts`."""
        return tools.entity_list(
            self.store, agent=self.agent, kind=kind, limit=limit, offset=offset
        )

    def entity_neighbors(
        self,
        entity: str,
        *,
        hops: int = 1,
        k: int = 10,
        direction: walking.Direction = "both",
        as_of: datetime | str | None = None,
        predicate: str | None = None,
    ) -> _Data:
        """Entities that facts join to one, nearest first.

        Args:
            entity: Its name or number.
            hops: How many joints may lie between, 1 to 6.
            k: At most so many.
            direction: `out` follows what facts state of an entity, `in` what they state of
                others about it, `both` also joins what one fact names.
            as_of: By the facts that held then.
            predicate: Only what facts state with this predicate, such as `employer`.

        Returns:
            `entity` and its `neighbors`: id, name, type, hops, and of the last step the
            `predicates` and the `facts` (ids).

        Raises:
            NotFoundError: The name leads to none; names what may be meant.
            InputError: It leads to several, or a value can't be used.
        """
        found = declaring.find(self.store, self.agent, entity)
        near = walking.entity_neighbors(
            self.store,
            f"#{found.id}",
            agent=self.agent,
            hops=hops,
            k=k,
            direction=direction,
            as_of=self._moment(as_of),
            predicate=predicate,
            now=self.now(),
        )
        return {
            "entity": tools.entity_data(found),
            "neighbors": [
                {
                    "id": each.entity,
                    "name": each.name,
                    "type": each.type,
                    "hops": each.hops,
                    "predicates": list(each.predicates),
                    "facts": list(each.through),
                }
                for each in near
            ],
        }

    def entity_link_facts(self, name: str, facts: Sequence[str], *, preview: bool = False) -> _Data:
        """Declare that facts are about an entity that they do not name."""
        return tools.entity_link_facts(
            self.store, name, self._owned(facts), agent=self.agent, preview=preview, now=self.now()
        )

    def entity_link(
        self,
        src: str,
        dst: str,
        predicate: str,
        *,
        weight: float = 1.0,
        preview: bool = False,
    ) -> _Data:
        """Declare that one entity stands in a relation to another; see `graph.joining.join`.

        Returns:
            `source`, `predicate`, `target`, `weight`, `sentence`, `new`; `fact`, the id of the
            fact that states it, and `run`, which `undo` takes back, None if nothing was stored.

        Raises:
            NotFoundError: A name leads to none; names what may be meant.
            InputError: A name leads to several, both to one, or a value can't be used.
        """
        joined = joining.join(
            self.store,
            self.agent,
            src,
            dst,
            predicate,
            weight=weight,
            now=self.now(),
            preview=preview,
        )
        return {
            "source": label(joined.source),
            "predicate": joined.predicate,
            "target": label(joined.target),
            "weight": joined.weight,
            "sentence": joined.sentence,
            "fact": joined.fact,
            "new": joined.new,
            "run": joined.run or None,
        }

    def entity_alias(
        self,
        name: str,
        alias: str,
        *,
        never: bool = False,
        remove: bool = False,
        preview: bool = False,
    ) -> _Data:
        """Declare another name of an entity, take it back, or say that it is never this one."""
        if never and remove:
            raise InputError("entity_alias: never and remove exclude each other")
        return tools.entity_alias(
            self.store,
            name,
            alias,
            agent=self.agent,
            never=never,
            remove=remove,
            preview=preview,
            now=self.now(),
        )

    def entity_merge(self, name: str, into: str, *, preview: bool = False) -> _Data:
        """Declare that two entities are one; `into` keeps its name."""
        return tools.entity_merge(
            self.store, name, into, agent=self.agent, preview=preview, now=self.now()
        )

    def entity_split(
        self,
        name: str,
        facts: Collection[str],
        *,
        new: str | None = None,
        kind: str = "",
        note: str = "",
        preview: bool = False,
    ) -> _Data:
        """Declare that some facts of an entity are about another, of the same or a new name."""
        return tools.entity_split(
            self.store,
            name,
            self._owned(facts),
            agent=self.agent,
            new=new,
            kind=kind,
            note=note,
            preview=preview,
            now=self.now(),
        )

    def entity_rename(self, name: str, new: str, *, preview: bool = False) -> _Data:
        """Declare by which name an entity is shown; the old one still leads to it."""
        return tools.entity_rename(
            self.store, name, new, agent=self.agent, preview=preview, now=self.now()
        )

    def ppr_retrieve(
        self,
        query_entities: Sequence[str],
        *,
        damping: float = 0.5,
        k: int = 20,
        as_of: datetime | str | None = None,
    ) -> _Data:
        """Facts and entities near to some entities, by Personalised PageRank.

        Args:
            query_entities: Their names.
            damping: Chance to walk on instead of starting over, over 0 and under 1.
            k: At most so many facts, and so many entities.
            as_of: By the facts that held then.

        Returns:
            `seeds`, `facts` and `entities` with their `score`, most first; `unknown` are names
            that lead nowhere or to several, `left_out` those in too many facts to say anything.
            Without a seed nothing is ranked.

        Raises:
            InputError: A value can't be used, or scipy is not installed.
        """
        if isinstance(query_entities, str):
            raise InputError(f"query_entities {query_entities!r} must be a list of names")
        found = walking.ppr_retrieve(
            self.graphs,
            self.store,
            query_entities,
            agent=self.agent,
            damping=damping,
            k=k,
            as_of=self._moment(as_of),
        )
        known = self.store.facts(
            ids=[fact for fact, _ in found.facts], agent=self.agent, statuses=None
        )
        texts = {fact.id: fact.text for fact in known}
        labels = self.store.entity_labels(self.agent)
        return {
            "seeds": [{"id": each, "name": labels[each][1]} for each in found.seeds],
            "facts": [
                {"id": fact, "text": texts[fact], "score": round(mass, 6)}
                for fact, mass in found.facts
                if fact in texts
            ],
            "entities": [
                {"id": e, "name": labels[e][1], "type": labels[e][2], "score": round(mass, 6)}
                for e, mass in found.entities
            ],
            "unknown": list(found.unknown),
            "left_out": list(found.left_out),
        }

    def extract_entities(self, text: str, *, mode: Literal["ner", "ner+triple"] = "ner") -> _Data:
        """What a text names, and which known entity each name leads to. Nothing is stored.

        Args:
            text: Any text.
            mode: `ner+triple` also gives what the text states, as subject, predicate, object;
                what it only plans, asks, denies or reports is left out.
        """
        if mode not in EXTRACTION_MODES:
            raise InputError(f"mode {mode!r} must be one of {', '.join(EXTRACTION_MODES)}")
        if not text.strip():
            raise InputError("text must not be blank")
        found = tools.extract_entities(
            text, extractor=self.backends.extractor, store=self.store, agent=self.agent
        )
        stated = statements_that_hold(text) if mode == "ner+triple" else ()
        triples = [
            {"subject": each.subject, "predicate": each.predicate, "object": each.object}
            for each in stated
        ]
        return {"entities": found["entities"], "triples": triples, "model": found["model"]}

    def facts_list(
        self,
        fact_ids: Sequence[str] | None = None,
        *,
        entity: str | None = None,
        kind: str | None = None,
        history: bool = False,
        limit: int = 50,
        offset: int = 0,
    ) -> _Data:
        """`facts` by id, in the order asked for, or by filter, newest first; and `missing` ids.

        Facts named by id come whatever their status; by filter, current ones unless `history`.
        """
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

    def facts_search(self, query: str, *, limit: int = 10) -> _Data:
        """Current `facts` with the words of a query, best first; no model is asked."""
        return tools.facts_search(self.store, query, agent=self.agent, limit=limit)

    def lineage_trace(
        self,
        start: str,
        kind: Kind = "fact",
        *,
        direction: Direction = "both",
        depth: int = 3,
        most: int = 200,
    ) -> _Data:
        """Where a fact, entity or episode comes from, what became of it: `nodes`, `edges`."""
        found = lineage_trace(
            self.store,
            start,
            kind,
            agent=self.agent,
            direction=direction,
            depth=depth,
            most=most,
        )
        data: _Data = to_data(found)
        return data

    def validate_claim(self, claim: str, *, limit: int = 12) -> _Data:
        """Whether the facts that hold now bear a claim out.

        Returns:
            `verdict` (supported, contradicted or unknown), `why`, and the facts that say so.
        """
        from consolidate.graph import claims  # which is made of memories

        found = claims.validate_claim(self, claim, limit=limit)

        def shown(witnesses: Sequence[claims.Witness]) -> list[_Data]:
            return [
                {
                    **fact_data(each.fact),
                    "confidence": round(each.confidence, 4),
                    "because": list(each.because),
                }
                for each in witnesses
            ]

        return {
            "claim": found.claim,
            "verdict": found.verdict,
            "why": found.why,
            "considered": found.considered,
            "supporting": shown(found.supporting),
            "contradicting": shown(found.contradicting),
            "unsure": shown(found.unsure),
        }

    def _owned(self, facts: Collection[str]) -> list[str]:
        """Ids of facts of this agent; another's are refused as not there."""
        if isinstance(facts, str):
            raise InputError(f"facts {facts!r} must be a list of ids")
        return [self.own(each).id for each in facts]
