"""What agents call: entities and facts as plain data, ready for JSON. No model is asked here.

Every function takes the store first and `agent` by name. An unknown name gives `entity: None`,
an ambiguous one as well, with all `candidates`; nothing is guessed.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import UTC, datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.graph import declaring
from consolidate.graph.registry import Candidate, Lookup, label, lookup
from consolidate.protocols import EntityExtractor
from consolidate.serialise import to_data
from consolidate.store import NamedEntity, Store
from consolidate.types import Fact, FactStatus

__all__ = [
    "entity_alias",
    "entity_data",
    "entity_get",
    "entity_link_facts",
    "entity_list",
    "entity_merge",
    "entity_rename",
    "entity_split",
    "entity_store",
    "extract_entities",
    "facts_list",
    "facts_search",
]

_MOST = 1000


def entity_get(
    store: Store, name: str, *, agent: str = "default", history: bool = False
) -> dict[str, Any]:
    """What is known of an entity.

    Args:
        store: The memory.
        name: Its name, another name of it, `#12` for its number, or `Anna ②`.
        agent: Whose memory.
        history: Also facts that no longer hold.

    Returns:
        `entity` (id, name, type, note, key, label) or None; `aliases`; `facts`, ids, current ones
        first; `texts`, one object a fact with id, text, status, role, stated_at; `candidates`, if
        the name is ambiguous, and `suggestions`, if it is unknown, each with the reason.
    """
    return _payload(store, lookup(store, name, agent=agent), history=history)


def entity_list(
    store: Store,
    *,
    agent: str = "default",
    kind: str | None = None,
    limit: int = 50,
    offset: int = 0,
) -> dict[str, Any]:
    """Entities with how many current facts speak of them, most first; and names in doubt."""
    if limit < 0 or offset < 0:
        raise InputError(f"limit {limit} and offset {offset} must not be negative")
    found = store.entity_list(agent, kind=kind, limit=limit, offset=offset)
    return {
        "entities": [{**entity_data(entity), "facts": count} for entity, count in found],
        "doubts": [to_data(doubt) for doubt in store.doubts(agent)],
    }


def entity_store(
    store: Store,
    name: str,
    *,
    agent: str = "default",
    kind: str = "",
    note: str = "",
    now: datetime | None = None,
) -> dict[str, Any]:
    """Have an entity of this name, even without facts; the same name gives the same one."""
    number = store.declare_entity(agent, name, kind=kind, note=note, now=now or _now())
    found = store.entity_of(agent, number)
    return {"entity": None if found is None else entity_data(found)}


def entity_alias(
    store: Store,
    name: str,
    alias: str,
    *,
    agent: str = "default",
    never: bool = False,
    remove: bool = False,
    preview: bool = False,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Declare another name of an entity, take it back, or say that it is never this one."""
    moment = now or _now()
    work = declaring.apart if never else declaring.unalias if remove else declaring.alias
    return _declare(store, work(store, agent, name, alias, now=moment), preview, moment)


def entity_merge(
    store: Store,
    name: str,
    into: str,
    *,
    agent: str = "default",
    preview: bool = False,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Declare that two entities are one. `preview` only tells what would change."""
    moment = now or _now()
    act = declaring.merge(store, agent, name, into, now=moment)
    return _declare(store, act, preview, moment)


def entity_split(
    store: Store,
    name: str,
    facts: Collection[str],
    *,
    agent: str = "default",
    new: str | None = None,
    kind: str = "",
    note: str = "",
    preview: bool = False,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Declare that some facts of an entity are about another, of the same or a new name."""
    moment = now or _now()
    act = declaring.split(store, agent, name, facts, new=new, kind=kind, note=note, now=moment)
    return _declare(store, act, preview, moment)


def entity_rename(
    store: Store,
    name: str,
    new: str,
    *,
    agent: str = "default",
    preview: bool = False,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Declare by which name an entity is shown; the old one still leads to it."""
    moment = now or _now()
    return _declare(store, declaring.rename(store, agent, name, new, now=moment), preview, moment)


def entity_link_facts(
    store: Store,
    name: str,
    facts: Sequence[str],
    *,
    agent: str = "default",
    preview: bool = False,
    now: datetime | None = None,
) -> dict[str, Any]:
    """Declare that facts are about an entity that they do not name."""
    moment = now or _now()
    return _declare(store, declaring.link(store, agent, name, facts, now=moment), preview, moment)


def extract_entities(
    text: str, *, extractor: EntityExtractor, store: Store | None = None, agent: str = "default"
) -> dict[str, Any]:
    """What a text names, and, with a store, which known entity each name leads to."""
    (found,) = extractor.extract([text])
    entities = []
    for mention in found:
        entry: dict[str, Any] = {
            "text": mention.text,
            "type": mention.label,
            "start": mention.start,
            "end": mention.end,
            "score": mention.score,
        }
        if store is not None:
            known = lookup(store, mention.text, agent=agent)
            entry["entity"] = None if known.entity is None else entity_data(known.entity)
            entry["candidates"] = [_candidate(each) for each in known.candidates]
        entities.append(entry)
    return {"entities": entities, "model": extractor.identity}


def facts_list(
    store: Store,
    fact_ids: Sequence[str] | None = None,
    *,
    agent: str = "default",
    entity: str | None = None,
    kind: str | None = None,
    history: bool = False,
    limit: int = 50,
    offset: int = 0,
) -> dict[str, Any]:
    """Facts by id, in the order asked for, or by filter, newest first.

    Facts named by id come whatever their status; by filter, current ones unless `history`.

    Returns:
        `facts` and `missing`: ids that this agent has no fact for.
    """
    if not 0 <= limit <= _MOST or offset < 0:
        raise InputError(f"limit {limit} must be 0 to {_MOST}, offset {offset} not negative")
    if fact_ids is not None:
        wanted = list(dict.fromkeys(fact_ids))
        known = {fact.id: fact for fact in store.facts(agent=agent, statuses=None, ids=wanted)}
        return {
            "facts": [_fact(known[each]) for each in wanted if each in known],
            "missing": [each for each in wanted if each not in known],
        }
    if entity is not None:
        found = lookup(store, entity, agent=agent).entity
        rows = (
            []
            if found is None
            else [fact for fact, _, _ in store.facts_of_entity(found.id, history=history)]
        )
    else:
        statuses = (
            frozenset(FactStatus) if history else frozenset(s for s in FactStatus if s.is_live)
        )
        rows = list(store.facts(agent=agent, statuses=statuses))
    rows = [fact for fact in rows if kind is None or fact.kind == kind]
    rows.sort(key=lambda fact: fact.id)
    rows.sort(key=lambda fact: fact.stated_at or fact.recorded_at, reverse=True)
    return {"facts": [_fact(fact) for fact in rows[offset : offset + limit]], "missing": []}


def facts_search(
    store: Store, query: str, *, agent: str = "default", limit: int = 10
) -> dict[str, Any]:
    """Current facts with the words of a query, best first."""
    return {"facts": [_fact(fact) for fact in store.search(query, agent=agent, limit=limit)]}


def _payload(store: Store, found: Lookup, *, history: bool) -> dict[str, Any]:
    entity = found.entity
    ambiguous = [_candidate(each) for each in found.candidates] if found.ambiguous else []
    answer: dict[str, Any] = {
        "entity": None,
        "aliases": [],
        "facts": [],
        "texts": [],
        "candidates": ambiguous,
        "suggestions": [_candidate(each) for each in found.suggestions],
    }
    if entity is None:
        return answer
    facts = store.facts_of_entity(entity.id, history=history)
    names = [text for text, _ in store.names_of(entity.id) if text != entity.name]
    return answer | {
        "entity": {**entity_data(entity), "found_by": found.candidates[0].why},
        "aliases": names,
        "facts": [fact.id for fact, _, _ in facts],
        "texts": [
            {**_fact(fact), "role": role, "confidence": confidence}
            for fact, role, confidence in facts
        ],
    }


def _declare(store: Store, act: declaring.Act, preview: bool, now: datetime) -> dict[str, Any]:
    told = {
        "act": act.kind,
        "sentence": act.sentence,
        "facts": list(act.facts),
        "warnings": list(act.warnings),
        "run": None,
    }
    if preview:
        return told
    receipt = declaring.carry_out(store, act, now=now)
    return {**told, "run": receipt.run}


def entity_data(entity: NamedEntity) -> dict[str, Any]:
    """An entity as plain data."""
    return {
        "id": entity.id,
        "name": entity.name,
        "type": entity.type,
        "note": entity.note,
        "key": entity.key,
        "label": label(entity),
    }


def _candidate(candidate: Candidate) -> dict[str, Any]:
    return {
        **entity_data(candidate.entity),
        "why": candidate.why,
        "confidence": candidate.confidence,
    }


def _fact(fact: Fact) -> dict[str, Any]:
    return {
        "id": fact.id,
        "text": fact.text,
        "kind": fact.kind,
        "status": fact.status.value,
        "stated_at": None if fact.stated_at is None else fact.stated_at.isoformat(),
        "superseded_by": fact.superseded_by,
        "merged_into": fact.merged_into,
    }


def _now() -> datetime:
    return datetime.now(UTC)
