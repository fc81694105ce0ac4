"""The verbs about entities as tools, for agents: one for each of a memory's, of the same name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from consolidate.memory.tools import Schema, Tool
from consolidate.serialise import to_data

if TYPE_CHECKING:
    from consolidate.memory.memory import Memory

__all__ = ["entity_tools"]


def _object(required: tuple[str, ...] = (), /, **properties: Mapping[str, Any]) -> Schema:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def _answer(**properties: str) -> Schema:
    """Schema of an answer that has all of these."""
    return {
        "type": "object",
        "properties": {
            name: {"type": ["object", "null"] if kind == "object?" else kind}
            for name, kind in properties.items()
        },
        "required": list(properties),
    }


def _text(description: str) -> Mapping[str, Any]:
    return {"type": "string", "description": description}


def _one_of(description: str, *options: str) -> Mapping[str, Any]:
    return {"type": "string", "enum": list(options), "description": description}


def _count(description: str, low: int, high: int) -> Mapping[str, Any]:
    return {"type": "integer", "minimum": low, "maximum": high, "description": description}


def _many(description: str) -> Mapping[str, Any]:
    return {"type": "array", "items": {"type": "string"}, "description": description}


_NAME: Final = _text("A name in any spelling, or '#12' for the entity of that number.")
_HISTORY: Final = {
    "type": "boolean",
    "description": "Also what no longer holds.",
    "default": False,
}
_PREVIEW: Final = {
    "type": "boolean",
    "description": "Only tell what would change.",
    "default": False,
}
_DECLARED: Final = _answer(act="string", sentence="string", facts="array", warnings="array")


def entity_tools(memory: Memory) -> list[Tool]:
    """Make the tools."""
    return [*_looking(memory), *_walking(memory), *_declaring(memory)]


def _looking(memory: Memory) -> list[Tool]:
    def look(name: str, description: str, parameters: Schema, returns: Schema, run: Any) -> Tool:
        return Tool(
            name=name,
            description=description,
            parameters=parameters,
            run=run,
            returns=returns,
            read_only=True,
            idempotent=True,
        )

    def validate(claim: str, limit: int = 12) -> Any:
        from consolidate.graph.claims import validate_claim

        return to_data(validate_claim(memory, claim, limit=limit))

    return [
        look(
            "entity_get",
            "Look a person, company, project or thing up: its names, and the facts about it, "
            "current first. An unknown name gives entity null and suggestions; an ambiguous one "
            "gives all candidates, and nothing is guessed.",
            _object(("name",), name=_NAME, history=_HISTORY),
            _answer(entity="object?", aliases="array", facts="array", texts="array",
                    candidates="array", suggestions="array"),
            memory.entity_get,
        ),
        look(
            "entity_list",
            "List what the memory is about, most facts first, and names that are in doubt.",
            _object(
                (), kind=_text("Only of this type, e.g. person."),
                limit=_count("At most so many.", 1, 1000),
                offset=_count("How many to leave out.", 0, 10**9),
            ),
            _answer(entities="array", doubts="array"),
            memory.entity_list,
        ),
        look(
            "extract_entities",
            "Find the names in a text, and which known entity each leads to. Stores nothing.",
            _object(("text",), text=_text("The text.")),
            _answer(entities="array", model="string"),
            memory.extract_entities,
        ),
        look(
            "facts_list",
            "Read facts by id, in that order, or by entity or kind, newest first.",
            _object(
                (), fact_ids=_many("Ids, e.g. from entity_get."), entity=_NAME,
                kind=_text("Only of this kind."), history=_HISTORY,
                limit=_count("At most so many.", 1, 1000),
                offset=_count("How many to leave out.", 0, 10**9),
            ),
            _answer(facts="array", missing="array"),
            memory.facts_list,
        ),
        look(
            "facts_search",
            "Find current facts by their words, best first.",
            _object(("query",), query=_text("Words."), limit=_count("At most so many.", 1, 100)),
            _answer(facts="array"),
            memory.facts_search,
        ),
        look(
            "lineage_trace",
            "Trace where a fact comes from and what became of it: what it replaced, merged with "
            "and names, as nodes and edges.",
            _object(
                ("start",), start=_text("Id of a fact, or the name of an entity."),
                kind=_one_of("What start is.", "fact", "entity"),
                direction=_one_of("Which way.", "backward", "forward", "both"),
                depth=_count("Steps.", 1, 10),
            ),
            _answer(nodes="array", edges="array", depth_reached="integer", truncated="boolean"),
            memory.lineage_trace,
        ),
        look(
            "validate_claim",
            "Check a sentence against what holds now: supported, contradicted or unknown, with the "
            "facts that say so.",
            _object(
                ("claim",), claim=_text("One sentence."),
                limit=_count("Facts that are compared with it.", 1, 50),
            ),
            _answer(claim="string", verdict="string", supporting="array", contradicting="array",
                    unsure="array", considered="integer", why="string"),
            validate,
        ),
    ]  # fmt: skip


def _walking(memory: Memory) -> list[Tool]:
    return [
        Tool(
            name="entity_neighbors",
            description="What an entity is joined to by facts, nearest first, with the facts.",
            parameters=_object(
                ("entity",),
                entity=_NAME,
                hops=_count("Joints between the two.", 1, 6),
                k=_count("At most so many.", 1, 1000),
                direction=_one_of("Of what facts state: from it, to it, or any.", "both", "in",
                                  "out"),
                as_of=_text("A date or time; by the facts that held then."),
            ),
            run=memory.entity_neighbors,
            returns=_answer(neighbors="array"),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="ppr_retrieve",
            description=(
                "Facts and entities near to some names by Personalised PageRank over the graph of "
                "both. Unknown names give nothing and are listed."
            ),
            parameters=_object(
                ("query_entities",),
                query_entities=_many("Names to start from."),
                damping={"type": "number", "description": "Over 0, under 1: how far it goes.",
                         "default": 0.5},
                k=_count("At most so many of each.", 1, 1000),
            ),
            run=memory.ppr_retrieve,
            returns=_answer(facts="array", entities="array", unknown="array", left_out="array"),
            read_only=True,
            idempotent=True,
        ),
    ]  # fmt: skip


def _declaring(memory: Memory) -> list[Tool]:
    """Each is journalled as a run of its own, which `undo` takes back."""
    return [
        Tool(
            name="entity_alias",
            description=(
                "Say that a name is another name of an entity, or (never) that it is not. Can be "
                "undone."
            ),
            parameters=_object(
                ("name", "alias"),
                name=_NAME,
                alias=_text("The other name."),
                never={"type": "boolean", "description": "It is never this one.",
                       "default": False},
                preview=_PREVIEW,
            ),
            run=memory.entity_alias,
            returns=_DECLARED,
            idempotent=True,
        ),
        Tool(
            name="entity_merge",
            description="Say that two entities are one; preview first. Can be undone.",
            parameters=_object(
                ("name", "into"), name=_NAME, into=_text("The one whose name stays."),
                preview=_PREVIEW,
            ),
            run=memory.entity_merge,
            returns=_DECLARED,
        ),
        Tool(
            name="entity_split",
            description=(
                "Say that some facts of an entity are about another one, of the same name or a new "
                "one; preview first. Can be undone."
            ),
            parameters=_object(
                ("name", "facts"), name=_NAME, facts=_many("Ids of the facts that go over."),
                new=_text("Name of the other; the same if left out."),
                kind=_text("Its type."), note=_text("What tells it from the first."),
                preview=_PREVIEW,
            ),
            run=memory.entity_split,
            returns=_DECLARED,
        ),
        Tool(
            name="entity_rename",
            description="Choose the name an entity is shown by; the old one still leads to it.",
            parameters=_object(
                ("name", "new"), name=_NAME, new=_text("The name."), preview=_PREVIEW
            ),
            run=memory.entity_rename,
            returns=_DECLARED,
        ),
    ]  # fmt: skip
