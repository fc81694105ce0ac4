"""The tools about entities: who and what the memory knows, what joins them, where it comes from.

Those that change who is who take two calls: the first shows what would change and gives a token,
the second carries the token and does exactly that, or refuses.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from consolidate.errors import StalePlanError
from consolidate.graph.lineage import Lineage
from consolidate.memory import answers
from consolidate.memory.entities import EXTRACTION_MODES
from consolidate.memory.schemas import (
    Schema,
    chosen,
    count,
    flag,
    gives,
    number,
    takes,
    text,
    texts,
)
from consolidate.memory.tools import Tool
from consolidate.serialise import digest

if TYPE_CHECKING:
    from consolidate.memory.memory import Memory

__all__ = ["entity_tools"]

_NAME: Final = text("Any name of it, or #12 for its number.")
_FACTS: Final = texts("Ids of facts.")
_OFFSET: Final = {"type": "integer", "description": "How many to pass over.", "default": 0}
_TWO_CALLS: Final = " First call: shows what would change. Second, with its `confirm`: does it."


def entity_tools(memory: Memory) -> list[Tool]:
    """Make the tools about the entities of one memory."""
    return [*_looking_up(memory), *_declaring(memory), *_walking(memory), *_reading(memory)]


def _looking_up(memory: Memory) -> list[Tool]:
    return [
        Tool(
            name="entity_get",
            description=(
                "What is known of somebody or something: other names, facts (ids and texts). "
                "Ask this before answering about a name. `entity` is null if it is unknown, or "
                "ambiguous (see `candidates`): say so, guess nothing."
            ),
            parameters=takes(["name"], name=_NAME, history=flag("Also what no longer holds.")),
            run=memory.entity_get,
            returns=gives(answers.EntityAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="entity_list",
            description="Who and what the memory is about, most facts first; names in doubt.",
            parameters=takes(
                kind=text("Only of this type: person, place, ..."),
                limit=count("At most so many.", 0, 1000, 50),
                offset=_OFFSET,
            ),
            run=memory.entity_list,
            returns=gives(answers.EntitiesAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="extract_entities",
            description=(
                "What a text names, and which known entity each name leads to; with mode "
                "ner+triple also what it states. Stores nothing."
            ),
            parameters=takes(
                ["text"],
                text=text("Any text."),
                mode=chosen("How much.", *EXTRACTION_MODES, default=EXTRACTION_MODES[0]),
            ),
            run=memory.extract_entities,
            returns=gives(answers.ExtractAnswer),
            read_only=True,
            idempotent=True,
        ),
    ]


def _declaring(memory: Memory) -> list[Tool]:
    def two_calls(
        name: str,
        description: str,
        required: Sequence[str],
        destructive: bool,
        /,
        **taken: Schema,
    ) -> Tool:
        return Tool(
            name=name,
            description=description + _TWO_CALLS,
            parameters=takes(required, **taken, confirm=text("From the first call.")),
            run=_confirmed(memory, name),
            returns=gives(answers.ActAnswer),
            destructive=destructive,
        )

    return [
        Tool(
            name="entity_link",
            description=(
                "Declare that one entity stands in a relation to another. Stored as a fact, which "
                "can be forgotten, by a run, which can be undone; again sets its weight."
            ),
            parameters=takes(
                ["src", "dst", "predicate"],
                src=_NAME,
                dst=_NAME,
                predicate=text("What the first is or does to the second, e.g. 'works with'."),
                weight={"type": "number", "description": "How much it counts; over 0."},
                preview=flag("Only tell what would be stored."),
            ),
            run=memory.entity_link,
            returns=gives(answers.LinkAnswer),
            idempotent=True,
        ),
        two_calls(
            "entity_link_facts",
            "Declare that facts are about an entity that they do not name.",
            ["name", "facts"],
            False,
            name=_NAME,
            facts=_FACTS,
        ),
        two_calls(
            "entity_alias",
            "Declare another name of an entity; or that it is never this one; or take it back.",
            ["name", "alias"],
            True,
            name=_NAME,
            alias=text("The other name."),
            never=flag("The name is never this one."),
            remove=flag("Take a declared name back."),
        ),
        two_calls(
            "entity_merge",
            "Declare that two entities are one.",
            ["name", "into"],
            True,
            name=_NAME,
            into=text("The one that keeps its name."),
        ),
        two_calls(
            "entity_split",
            "Declare that some facts of an entity are about another of that name, or a new one.",
            ["name", "facts"],
            True,
            name=_NAME,
            facts=_FACTS,
            new=text("Name of the other one, if it has another."),
            kind=text("What the other one is: person, place, ..."),
            note=text("What tells it from the first."),
        ),
        two_calls(
            "entity_rename",
            "Show an entity under another name; the old one still leads to it.",
            ["name", "new"],
            True,
            name=_NAME,
            new=text("The name to show."),
        ),
    ]


def _confirmed(memory: Memory, verb: str) -> Callable[..., Any]:
    """Make the two calls of a declaration out of its verb."""
    declare = getattr(memory, verb)

    def call(confirm: str | None = None, **arguments: Any) -> Any:
        if confirm is None:
            told = declare(**arguments, preview=True)
            return {**told, "confirm": digest([verb, arguments, told])[:16]}
        # Nobody writes between the look and the deed
        with memory.store.atomic():
            told = declare(**arguments, preview=True)
            if confirm != digest([verb, arguments, told])[:16]:
                raise StalePlanError(
                    f"{verb}: {confirm!r} is not of what this would change now; look again "
                    "without `confirm`, nothing was changed"
                )
            return declare(**arguments)

    return call


def _walking(memory: Memory) -> list[Tool]:
    return [
        Tool(
            name="entity_neighbors",
            description=(
                "What an entity is joined to by facts, nearest first, with those facts and what "
                "they state."
            ),
            parameters=takes(
                ["entity"],
                entity=_NAME,
                hops=count("How many joints may lie between.", 1, 6, 1),
                k=count("At most so many.", 1, 1000, 10),
                direction=chosen(
                    "Of what facts state: from it, to it, or any.",
                    "out",
                    "in",
                    "both",
                    default="both",
                ),
                as_of=text("A date or time; by the facts that held then."),
                predicate=text("Only what is stated with this one, e.g. 'employer'."),
            ),
            run=memory.entity_neighbors,
            returns=gives(answers.NeighborsAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="ppr_retrieve",
            description=(
                "Facts near to some entities, also over several steps, by Personalised PageRank. "
                "For questions that join facts: who leads the team that owns X?"
            ),
            parameters=takes(
                ["query_entities"],
                query_entities=texts("Names of what the question is about."),
                damping=number("Chance to walk on, over 0 and under 1.", 0.5),
                k=count("At most so many.", 1, 1000, 20),
                as_of=text("A date or time; by the facts that held then."),
            ),
            run=memory.ppr_retrieve,
            returns=gives(answers.PprAnswer),
            read_only=True,
            idempotent=True,
        ),
    ]


def _reading(memory: Memory) -> list[Tool]:
    return [
        Tool(
            name="facts_list",
            description="Facts by id, as `entity_get` names them; or by filter, newest first.",
            parameters=takes(
                fact_ids=_FACTS,
                entity=text("Only facts of this entity."),
                kind=text("Only of this kind."),
                history=flag("Also what no longer holds."),
                limit=count("At most so many.", 0, 1000, 50),
                offset=_OFFSET,
            ),
            run=memory.facts_list,
            returns=gives(answers.FactsAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="facts_search",
            description="Current facts with the words of a query; no model is asked.",
            parameters=takes(
                ["query"],
                query=text("Words."),
                limit=count("At most so many.", 0, 1000, 10),
            ),
            run=memory.facts_search,
            returns=gives(answers.SearchAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="lineage_trace",
            description=(
                "What a fact, entity or episode comes from and what became of it: supersessions, "
                "merges, links, names, episodes."
            ),
            parameters=takes(
                ["start"],
                start=text("Id of a fact or episode, or name of an entity."),
                kind=chosen("Which.", "fact", "entity", "episode", default="fact"),
                direction=chosen(
                    "To what came before, after, or both.",
                    "backward",
                    "forward",
                    "both",
                    default="both",
                ),
                depth=count("Steps.", 1, 10, 3),
                most=count("At most so many nodes.", 1, 1000, 200),
            ),
            run=memory.lineage_trace,
            returns=gives(Lineage),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="validate_claim",
            description=(
                "Whether the memory supports or contradicts a claim, or does not know, with the "
                "facts that say so."
            ),
            parameters=takes(
                ["claim"],
                claim=text("One sentence."),
                limit=count("Facts that are compared with it.", 1, 50, 12),
            ),
            run=memory.validate_claim,
            returns=gives(answers.ClaimAnswer),
            read_only=True,
            idempotent=True,
        ),
    ]
