"""The `hippo_*` tools about entities and the graph of facts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from consolidate.errors import InputError, NotFoundError
from consolidate.memory.memory import Memory
from consolidate.memory.schemas import chosen, count, gives, number, takes, text, texts
from consolidate.memory.tools import Tool
from consolidate.server import hippo_answers as shapes
from consolidate.server.hippo_common import QUERY, STRAY, K, entity_node, fact_row, tool

__all__ = ["graph_tools"]


def graph_tools(memory: Memory) -> list[Tool]:
    """Make them for one memory."""
    return [*_entities(memory), *_graph(memory)]


def _entities(memory: Memory) -> list[Tool]:
    def get(name: str) -> Any:
        found = memory.entity_get(name)
        more = {"candidates": found["candidates"]} if found["candidates"] else {}
        entity = None if found["entity"] is None else entity_node(found["entity"])
        return {"entity": entity, "aliases": found["aliases"], "facts": found["facts"], **more}

    def link(
        src: str, dst: str, predicate: str, weight: float = 1.0, source_fact_id: str | None = None
    ) -> Any:
        if source_fact_id is not None:
            memory.own(source_fact_id)  # an edge that rests on nothing is not made
        made = memory.entity_link(src, dst, predicate, weight=weight)
        return {
            "src": made["source"],
            "dst": made["target"],
            "predicate": made["predicate"],
            "weight": made["weight"],
            "fact_id": made["fact"],
            "created": made["new"],
        }

    def neighbors(
        name: str | None = None, entity_id: str | None = None, k: int = 10, hops: int = 1
    ) -> Any:
        wanted = name if entity_id is None else entity_id
        if wanted is None or (name is not None and entity_id is not None):
            raise InputError("hippo_entity_neighbors: give name or entity_id")
        try:
            found = memory.entity_neighbors(wanted, hops=hops, k=k)
        except NotFoundError:
            return {"entity": None, "neighbors": []}
        rows = [
            {**entity_node(each), **{key: each[key] for key in ("hops", "predicates", "facts")}}
            for each in found["neighbors"]
        ]
        return {"entity": entity_node(found["entity"]), "neighbors": rows}

    def extract(
        text: str, mode: str = "ner_only", existing_entities: Sequence[str] | None = None
    ) -> Any:
        # Names that the caller knows count too, if the text holds them
        found = memory.extract_entities(text, mode="ner" if mode == "ner_only" else "ner+triple")
        names = {each["text"]: each["type"] for each in found["entities"]}
        for each in existing_entities or ():
            if each and each.casefold() in text.casefold():
                names.setdefault(each, "")
        rows = [{"name": name, "type": kind} for name, kind in names.items()]
        return {"entities": rows, "triples": found["triples"]}

    name = text("Name or other name of it.")
    return [
        tool(
            "hippo_entity_get",
            "What is known of somebody or something: entity (null if unknown), aliases, ids of "
            "its facts. Read these with hippo_facts_list(fact_ids).",
            takes(["name"], name=name), get, gives(shapes.HippoEntity), read_only=True,
        ),
        tool(
            "hippo_entity_link", "Declare that one entity stands in a relation to another.",
            takes(["src", "dst", "predicate"], src=name, dst=name, predicate=text("Relation."),
                  weight=number("Over 0.", 1.0),
                  source_fact_id=text("A fact that must be there.")),
            link, gives(shapes.HippoLink),
        ),
        tool(
            "hippo_entity_neighbors", "What an entity is joined to, either way, nearest first.",
            takes(name=name, entity_id=text("Or its id."), k=K,
                  hops=count("Joints.", 1, 6, 1)),
            neighbors, gives(shapes.HippoNeighbors), read_only=True,
        ),
        tool(
            "hippo_extract_entities", "What a text names, and states. Stores nothing.",
            takes(["text"], text=text("Any text."),
                  mode=chosen("How much.", "ner_only", "ner+triple", default="ner_only"),
                  existing_entities=texts("Names to look for too.")),
            extract, gives(shapes.HippoExtracted), read_only=True,
        ),
    ]  # fmt: skip


def _graph(memory: Memory) -> list[Tool]:
    def ppr(
        query_entities: Sequence[str], damping: float = 0.5, k: int = 20, k_facts: int = 20
    ) -> Any:
        found = memory.ppr_retrieve(query_entities, damping=damping, k=max(k, k_facts))
        graph = memory.graphs.of(memory.agent)
        facts = found["facts"][:k_facts]
        return {
            "ranked": [
                {"entity_id": f"#{e['id']}", "canonical_name": e["name"], "score": e["score"]}
                for e in found["entities"][:k]
            ],
            "facts": [each["id"] for each in facts],
            "facts_ranked": [{"fact_id": f["id"], "score": f["score"]} for f in facts],
            "graph_size": len(graph.row),
            "unknown": found["unknown"],
        }

    def listed(fact_ids: Sequence[str] | None = None, limit: int = 50, offset: int = 0) -> Any:
        found = memory.facts_list(fact_ids, limit=limit, offset=offset)
        return {"facts": [fact_row(each) for each in found["facts"]], "missing": found["missing"]}

    def search(query: str, k: int = 10) -> Any:
        return {"facts": [fact_row(each) for each in memory.facts_search(query, limit=k)["facts"]]}

    def lineage(
        start_id: str, kind: str, direction: str = "both", max_depth: int = 3, max_nodes: int = 200
    ) -> Any:
        way: Any = direction
        what: Any = kind
        try:
            if kind == "skill":
                raise NotFoundError("there are no skills")
            found = memory.lineage_trace(
                start_id, what, direction=way, depth=max_depth, most=max_nodes
            )
        except NotFoundError:
            found = {"nodes": [], "edges": [], "depth_reached": 0, "truncated": False}
        return {
            "nodes": [
                {
                    "id": node["id"],
                    "kind": node["kind"],
                    "label": node["text"],
                    "status": node["status"],
                    "depth": node["depth"],
                }
                for node in found["nodes"]
            ],
            "edges": [
                {"src": edge["start"], "dst": edge["end"], "relation": edge["how"]}
                for edge in found["edges"]
            ],
            "depth_reached": found["depth_reached"],
            "truncated": found["truncated"],
            "not_found": not found["nodes"],
        }

    def validate(claim: str, topic_hint: str = "", threshold: float = 0.6) -> Any:
        del topic_hint  # recall finds what the claim is about by itself
        found = memory.validate_claim(claim)
        sure = {
            which: [each["id"] for each in found[which] if each["confidence"] >= threshold]
            for which in ("supporting", "contradicting")
        }
        return {"claim": claim, "verdict": found["verdict"], "reason": found["why"], **sure}

    return [
        tool(
            "hippo_ppr_retrieve", "Facts near to some entities, by Personalised PageRank.",
            takes(["query_entities"], query_entities=texts("Their names."),
                  damping=number("Over 0, under 1.", 0.5), k=count("Entities.", 1, 1000, 20),
                  k_facts=count("Facts.", 1, 1000, 20)),
            ppr, gives(shapes.HippoPpr), read_only=True,
        ),
        tool(
            "hippo_facts_list", "Facts by their ids, in that order; or the newest.",
            takes(fact_ids=texts("Ids, e.g. of hippo_entity_get."),
                  limit=count("At most so many.", 0, 1000, 50),
                  offset=count("How many to pass over.", 0, 10**9, 0)),
            listed, gives(shapes.HippoFacts), read_only=True,
        ),
        tool(
            "hippo_facts_search", "Facts with the words of a query.",
            takes(["query"], query=QUERY, k=K), search, gives(shapes.HippoFacts),
            read_only=True,
        ),
        tool(
            "hippo_lineage_trace", "What a fact comes from and what became of it.",
            takes(["start_id", "kind"], start_id=text("Id, or name of an entity."),
                  kind=chosen("Which.", "episode", "fact", "entity", "skill"),
                  direction=chosen("Which way.", "backward", "forward", "both", default="both"),
                  max_depth=count("Steps.", 1, 10, 3), max_nodes=count("Nodes.", 1, 1000, 200)),
            lineage, gives(shapes.HippoLineage), read_only=True,
        ),
        tool(
            "hippo_validate_claim", "Whether the memory bears a claim out.",
            takes(["claim"], claim=text("One sentence."), topic_hint=STRAY,
                  threshold=number("Facts less sure than this are left out.", 0.6)),
            validate, gives(shapes.HippoClaim), read_only=True,
        ),
    ]  # fmt: skip
