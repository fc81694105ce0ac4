"""The eight tools of a memory, for agents: plain callables with a JSON schema each.

    tools = create_tools(open_memory("memory.db", "ada"))
    answer = tools[2].call(query="Where does Ada live?")

`call` takes the arguments a model gave and returns plain JSON data. Adapters turn the tools into
the form that a model's API or a framework wants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final

from consolidate.errors import ConsolidateError, InputError
from consolidate.memory import answers
from consolidate.memory.records import Remembered, StoredMemory
from consolidate.memory.schemas import Schema, count, flag, gives, takes, text, texts
from consolidate.serialise import to_data
from consolidate.times import format_time, parse_time
from consolidate.types import Fact

if TYPE_CHECKING:
    from consolidate.memory.memory import Memory
    from consolidate.memory.records import ForgetPreview, Recalled

__all__ = ["Tool", "as_anthropic", "as_langchain", "as_openai", "create_tools", "fact_data"]


@dataclass(frozen=True, kw_only=True)
class Tool:
    """One thing that an agent can ask of its memory."""

    name: str
    description: str
    parameters: Schema
    """JSON Schema of the arguments, an object."""
    run: Callable[..., Any]
    """Takes checked arguments, returns plain JSON data."""
    returns: Schema = field(default_factory=lambda: {"type": "object"})
    """JSON Schema of what it answers."""
    read_only: bool = False
    destructive: bool = False
    idempotent: bool = False

    def call(self, **arguments: Any) -> Any:
        """Check the arguments against the schema and do it.

        Raises:
            InputError: An argument is missing, unknown or of another type; names it.
            ConsolidateError: What the memory itself refuses.
        """
        check_arguments(self.name, self.parameters, arguments)
        return self.run(**arguments)


_TYPES: Final[Mapping[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "number": (int, float),
    "boolean": (bool,),
    "array": (list, tuple),
    "object": (dict,),
}


def check_arguments(name: str, schema: Schema, arguments: Mapping[str, Any]) -> None:
    """Check arguments against the part of JSON Schema that the tools use.

    Raises:
        InputError: Says which argument is wrong and what is wanted.
    """
    known = schema["properties"]
    unknown = sorted(set(arguments) - set(known))
    if unknown:
        raise InputError(f"{name}: unknown argument {unknown[0]!r}; it has {', '.join(known)}")
    missing = [each for each in schema.get("required", ()) if each not in arguments]
    if missing:
        raise InputError(f"{name}: argument {missing[0]!r} is missing")
    for key, value in arguments.items():
        wanted = known[key]["type"]
        fits = isinstance(value, _TYPES[wanted])
        if fits and isinstance(value, bool):
            fits = wanted == "boolean"  # True is an int to Python, to nobody else
        if fits and wanted == "array":
            inner = _TYPES[known[key]["items"]["type"]]
            fits = all(isinstance(each, inner) for each in value)
        if not fits:
            shown = repr(value)
            shown = shown if len(shown) <= 60 else shown[:57] + "..."
            raise InputError(f"{name}: {key} must be of type {wanted}, not {shown}")
        if _has_half_a_character(value):
            raise InputError(f"{name}: {key} holds a lone surrogate (half a character)")
        options = known[key].get("enum")
        if options is not None and value not in options:
            raise InputError(f"{name}: {key} {value!r} must be one of {', '.join(options)}")


def _has_half_a_character(value: Any) -> bool:
    """Whether a text within holds what UTF-8 has no form for: no answer could repeat it."""
    if isinstance(value, str):
        try:
            value.encode()
        except UnicodeEncodeError:
            return True
        return False
    if isinstance(value, Mapping):
        return any(map(_has_half_a_character, (*value.keys(), *value.values())))
    return isinstance(value, list | tuple) and any(map(_has_half_a_character, value))


_BLOCK: Final = text("Name of the block, e.g. 'persona' or 'project'.")
_STATED: Final = text(
    "When it was said: ISO 8601 with an offset, e.g. 2026-03-01T09:00:00+01:00; now if left out."
)
_SOURCE: Final = text("Who said it: user, assistant, tool, web, ...", default="user")


def create_tools(memory: Memory) -> list[Tool]:
    """Make the eight tools of a memory."""
    return [*_taking_in(memory), _recalling(memory), *_blocks(memory), *_leaving(memory)]


def _taking_in(memory: Memory) -> list[Tool]:
    def remember_facts(text: str, stated_at: str | None = None, source: str = "user") -> Any:
        moment = None if stated_at is None else parse_time(stated_at, zone=_zone(memory))
        return to_data(memory.remember_facts(text, stated_at=moment, source=source))

    def store_memory(
        content: str,
        metadata: Mapping[str, Any] | None = None,
        stated_at: str | None = None,
        source: str = "user",
    ) -> Any:
        moment = None if stated_at is None else parse_time(stated_at, zone=_zone(memory))
        stored = memory.store_memory(content, metadata, stated_at=moment, source=source)
        return to_data(stored)

    return [
        Tool(
            name="remember_facts",
            description=(
                "Remember what was said. The text is taken apart into single facts; each is "
                "compared with what is known: said again it is strengthened, a newer value takes "
                "the place of the older one, and what is unclear is left for a review. Returns "
                "what was done to each fact and why."
            ),
            parameters=takes(
                ["text"],
                text=text("What was said, as it was said."),
                stated_at=_STATED,
                source=_SOURCE,
            ),
            run=remember_facts,
            returns=gives(Remembered),
        ),
        Tool(
            name="store_memory",
            description=(
                "Keep a document, note or experience whole. The same content again makes no "
                "second copy. For single claims that can change, use remember_facts."
            ),
            parameters=takes(
                ["content"],
                content=text("The content."),
                metadata={"type": "object", "description": "Anything to keep with it."},
                stated_at=_STATED,
                source=_SOURCE,
            ),
            run=store_memory,
            returns=gives(StoredMemory),
            idempotent=True,
        ),
    ]


def _recalling(memory: Memory) -> Tool:
    def recall_memories(
        query: str,
        kind: str | None = None,
        limit: int = 10,
        as_of: str | None = None,
        include_history: bool = False,
    ) -> Any:
        found = memory.recall_memories(
            query, kind=kind, limit=limit, as_of=as_of, include_history=include_history
        )
        return {"found": [_recalled(each) for each in found]}

    return Tool(
        name="recall_memories",
        description=(
            "Find what is known about something, by meaning and by words, best first. Gives what "
            "holds now; with as_of what held then, with include_history also what was replaced."
        ),
        parameters=takes(
            ["query"],
            query=text("A question or some words."),
            kind=text("Only facts of this kind, e.g. preference or instruction."),
            limit=count("At most so many.", 1, 100, 10),
            as_of=text("A date or time; gives what held then."),
            include_history=flag("Also what was superseded or merged."),
        ),
        run=recall_memories,
        returns=gives(answers.RecallAnswer),
        read_only=True,
        idempotent=True,
    )


def _blocks(memory: Memory) -> list[Tool]:
    def recall_memory_block(name: str) -> Any:
        block = memory.recall_memory_block(name)
        names = [each.name for each in memory.memory_blocks()] if block is None else []
        return {"block": to_data(block), **({"blocks": names} if names else {})}

    def replace_memory_block(name: str, content: str, version: int | None = None) -> Any:
        return {"block": to_data(memory.replace_memory_block(name, content, version=version))}

    def append_memory_block(name: str, content: str) -> Any:
        return {"block": to_data(memory.append_memory_block(name, content))}

    return [
        Tool(
            name="recall_memory_block",
            description="Read a named block of text, e.g. what is known about the user.",
            parameters=takes(["name"], name=_BLOCK),
            run=recall_memory_block,
            returns=gives(answers.BlockAnswer),
            read_only=True,
            idempotent=True,
        ),
        Tool(
            name="replace_memory_block",
            description=(
                "Write a named block anew. Give the version you read, so that a change made by "
                "someone else meanwhile is not lost. Earlier versions are kept."
            ),
            parameters=takes(
                ["name", "content"],
                name=_BLOCK,
                content=text("All that the block is to hold."),
                version={"type": "integer", "description": "The version you read; 0 for none."},
            ),
            run=replace_memory_block,
            returns=gives(answers.BlockAnswer),
            idempotent=True,
        ),
        Tool(
            name="append_memory_block",
            description="Add text to the end of a named block; it is made if it is missing.",
            parameters=takes(["name", "content"], name=_BLOCK, content=text("What to add.")),
            run=append_memory_block,
            returns=gives(answers.BlockAnswer),
        ),
    ]


def _leaving(memory: Memory) -> list[Tool]:
    def forget_memory(
        description: str | None = None,
        ids: Sequence[str] | None = None,
        token: str | None = None,
        revive: bool = False,
        messages: bool = False,
        episodes: bool = False,
    ) -> Any:
        if token is not None:
            if description is not None or ids is not None:
                raise InputError("forget_memory: give the token alone, or what to forget")
            forgotten = memory.forget_memory(
                token, revive=revive, messages=messages, episodes=episodes
            )
            return {"forgotten": to_data(forgotten)}
        if (description is None) == (ids is None):
            raise InputError("forget_memory: say what to forget, by description or by ids")
        preview = memory.forget_preview(description, ids=ids)
        return {"preview": _preview(preview)}

    def recall_conversation(query: str, limit: int = 10, neighbours: int = 1) -> Any:
        hits = memory.recall_conversation(query, limit=limit, neighbours=neighbours)
        return {"found": [to_data(hit) for hit in hits]}

    return [
        Tool(
            name="forget_memory",
            description=(
                "Delete facts for good, in two steps. First say what, by description or ids: you "
                "get a preview and a token, and nothing is deleted. Show it to the user. Then "
                "call again with the token alone to delete exactly what was shown."
            ),
            parameters=takes(
                description=text("What the facts are about."),
                ids=texts("Their ids."),
                token=text("From the preview, to confirm."),
                revive=flag("Let what they had superseded hold again."),
                messages=flag("Also messages in which the texts stand."),
                episodes=flag("Also episodes that tell of them."),
            ),
            run=forget_memory,
            returns=gives(answers.ForgetAnswer),
            destructive=True,
        ),
        Tool(
            name="recall_conversation",
            description="Search earlier messages by words, with the messages around each.",
            parameters=takes(
                ["query"],
                query=text("Words to look for."),
                limit=count("At most so many.", 1, 100, 10),
                neighbours=count("Messages before and after each.", 0, 10, 1),
            ),
            run=recall_conversation,
            returns=gives(answers.ConversationAnswer),
            read_only=True,
            idempotent=True,
        ),
    ]


def _zone(memory: Memory) -> str | None:
    return memory.settings.timezone


def fact_data(fact: Fact) -> dict[str, Any]:
    """What an agent needs to see of a fact; times as ISO text, left out where unknown."""
    times = {
        name: format_time(moment)
        for name in ("stated_at", "valid_from", "valid_to")
        if (moment := getattr(fact, name)) is not None
    }
    later = {
        name: other
        for name in ("superseded_by", "merged_into")
        if (other := getattr(fact, name)) is not None
    }
    return {
        "id": fact.id,
        "text": fact.text,
        "kind": fact.kind,
        "status": fact.status.value,
        "source": fact.source,
        **times,
        **later,
    }


def _recalled(found: Recalled) -> dict[str, Any]:
    return {
        **fact_data(found.fact),
        "score": round(found.score, 4),
        "relevance": round(found.relevance, 4),
        "strength": round(found.strength, 4),
        "recency": round(found.recency, 4),
        "found_by": list(found.found_by),
        "entities": list(found.entities),
        **({"path": list(found.path)} if found.path else {}),
    }


def _preview(preview: ForgetPreview) -> dict[str, Any]:
    return {
        "token": preview.token,
        "expires_at": preview.expires_at and format_time(preview.expires_at),
        "matches": [
            {**fact_data(match.fact), "score": round(match.score, 4), "why": match.why}
            for match in preview.matches
        ],
        "superseded": [fact_data(fact) for fact in preview.superseded],
        "messages": preview.messages,
        "episodes": preview.episodes,
        "notes": list(preview.notes),
    }


def as_openai(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools as the `tools` of OpenAI's chat completions and of endpoints that speak like it."""
    return [
        {
            "type": "function",
            "function": {
                "name": tool.name,
                "description": tool.description,
                "parameters": dict(tool.parameters),
            },
        }
        for tool in tools
    ]


def as_anthropic(tools: Sequence[Tool]) -> list[dict[str, Any]]:
    """The tools as the `tools` of Anthropic's messages."""
    return [
        {
            "name": tool.name,
            "description": tool.description,
            "input_schema": dict(tool.parameters),
        }
        for tool in tools
    ]


def as_langchain(tools: Sequence[Tool]) -> list[Any]:
    """The tools as LangChain `StructuredTool`s. A refusal comes back as text that starts `Error:`.

    Raises:
        InputError: LangChain is not installed.
    """
    try:
        from langchain_core.tools import StructuredTool
    except ImportError as error:
        raise InputError(
            "LangChain is not installed; install it with `pip install langchain-core`"
        ) from error

    def told(tool: Tool) -> Callable[..., Any]:
        def call(**arguments: Any) -> Any:
            try:
                return tool.call(**arguments)
            except ConsolidateError as error:
                return f"Error: {error}"

        return call

    return [
        StructuredTool.from_function(
            func=told(tool),
            name=tool.name,
            description=tool.description,
            args_schema=dict(tool.parameters),
        )
        for tool in tools
    ]
