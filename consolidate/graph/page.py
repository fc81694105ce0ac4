"""The graph of a memory as one HTML page that needs no network and no other file.

The page holds the data as JSON and a program that draws it (`data/graph.html`). Whatever facts
say is shown as text; the page forbids itself to load or send anything.
"""

from __future__ import annotations

import json
from importlib.resources import files
from typing import Any, Final

from consolidate.store import Store
from consolidate.types import Fact

__all__ = ["graph_data", "graph_page"]

_PLACE: Final = "{{data}}"


def graph_page(store: Store, *, agent: str = "default") -> str:
    """The page of an agent's memory: entities, the facts that join them, history of each fact."""
    template = files("consolidate").joinpath("data", "graph.html").read_text(encoding="utf-8")
    text = json.dumps(graph_data(store, agent=agent), ensure_ascii=True, separators=(",", ":"))
    # No text can end the element that holds it, nor begin a comment in it
    safe = text.replace("&", "\\u0026").replace("<", "\\u003c").replace(">", "\\u003e")
    before, after = template.split(_PLACE)
    return before + safe + after


def graph_data(store: Store, *, agent: str = "default") -> dict[str, Any]:
    """What the page is made of.

    Returns:
        `agent`; `entities`, rows of number, name, type, other names; `facts`, rows of id, text,
        kind, status, when it was said and when it ended (seconds since 1970; None: it has not),
        id of the fact in its place or None, source, why it ended, places of its entities.
        Forgotten facts are left out.
    """
    facts = [
        fact for fact in store.facts(agent=agent, statuses=None) if fact.status.value != "forgotten"
    ]
    by_id = {fact.id: fact for fact in facts}
    labels = store.entity_labels(agent)
    aliases = {entity.id: entity.aliases for entity in store.entities(agent)}
    place = {number: i for i, number in enumerate(labels)}
    named: dict[str, list[int]] = {}
    for number, fact_id in store.entity_fact_links(agent, history=True):
        named.setdefault(fact_id, []).append(place[number])
    return {
        "agent": agent,
        "entities": [
            [number, name, kind, [each for each in aliases.get(number, ()) if each != name]]
            for number, (_, name, kind) in labels.items()
        ],
        "facts": [_row(store, fact, by_id, named.get(fact.id, [])) for fact in facts],
    }


def _row(store: Store, fact: Fact, by_id: dict[str, Fact], entities: list[int]) -> list[Any]:
    ended, why = None, ""
    following = fact.superseded_by or fact.merged_into
    if not fact.status.is_live:
        event = next((e for e in store.history(fact.id).after if e.fact.id == fact.id), None)
        why = "" if event is None else event.sentence or event.reason
        later = by_id.get(following or "")
        ended = _said(later) if later else event.at.timestamp() if event and event.at else None
    return [
        fact.id,
        fact.text,
        fact.kind,
        fact.status.value,
        _said(fact),
        ended,
        following,
        fact.source,
        why,
        entities,
    ]


def _said(fact: Fact) -> float:
    return (fact.stated_at or fact.recorded_at).timestamp()
