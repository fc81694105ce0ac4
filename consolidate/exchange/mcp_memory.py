"""Reads `memory.jsonl` of the MCP reference memory server: entities, relations, observations.

Each observation becomes a fact about its entity, each relation a fact about two, each entity's
name a declared name. The file holds no times, so none are given.
"""

from __future__ import annotations

from typing import Any

from consolidate.errors import InputError
from consolidate.exchange.lines import json_lines
from consolidate.exchange.records import Broken, Options, Parsed
from consolidate.exchange.text import unwrap
from consolidate.types import Alias, NewFact

__all__ = ["about", "looks_like_mcp_memory", "read_mcp_memory"]

_SOURCE = "import:mcp-memory"

# Observations that start with one of these read on from the name: "Speaks Greek" -> "Ada speaks
# Greek". For others, a guess at the grammar could change the meaning; they get "Ada: ...".
_VERBS = frozenset(
    """
    is was has had works worked lives lived likes liked loves hates prefers preferred uses used
    wants wanted needs needed knows owns owned speaks spoke plays played runs ran moved joined left
    started stopped began finished graduated studied studies plans planned enjoys dislikes avoids
    drinks eats reads writes wrote built builds maintains manages leads reports depends supports
    requires provides contains listens stores belongs married teaches became can cannot can't
    does doesn't did didn't isn't wasn't hasn't won't will should must
    """.split()
)


def looks_like_mcp_memory(value: Any) -> bool:
    """Say whether a parsed line is an entity or a relation of that server."""
    if not isinstance(value, dict):
        return False
    if value.get("type") == "entity":
        return "name" in value and "observations" in value
    return value.get("type") == "relation" and "from" in value and "to" in value


def read_mcp_memory(data: bytes, options: Options) -> Parsed:
    """Read a memory file."""
    facts: list[tuple[int, NewFact]] = []
    names: dict[str, None] = {}  # a dict keeps the order
    broken: list[Broken] = []
    for number, item in json_lines(data):
        try:
            found = _entity(item, options, names)
            if found is None:
                found = _relation(item, options)
        except InputError as error:
            broken.append(Broken(line=number, reason=str(error)))
            continue
        facts += [(number, fact) for fact in found if isinstance(fact, NewFact)]
        broken += [Broken(line=number, reason=why) for why in found if isinstance(why, str)]
    return Parsed(
        format="mcp-memory",
        facts=tuple(facts),
        aliases=tuple(alias for name in names for alias in _aliases(name, options.agent)),
        broken=tuple(broken),
        notes=("the file holds no times: when these facts were stated stays unknown",),
    )


def _entity(item: Any, options: Options, names: dict[str, None]) -> list[NewFact | str] | None:
    if isinstance(item, InputError):
        raise item
    if not isinstance(item, dict) or item.get("type") != "entity":
        return None
    name = _name(item, "name")
    observations = item.get("observations")
    if not isinstance(observations, list):
        raise InputError(f"observations of {name!r} are no list")
    names[name] = None
    found: list[NewFact | str] = []
    for observation in observations:
        content = unwrap(observation)
        if content is None or not content[0].strip():
            found.append(f"an observation of {name!r} holds no text: {observation!r}")
            continue
        metadata: dict[str, Any] = {"entity": name}
        if isinstance(item.get("entityType"), str) and item["entityType"]:
            metadata["entity_type"] = item["entityType"]
        found.append(_fact(about(name, content[0]), metadata | content[1], options))
    return found


def _relation(item: Any, options: Options) -> list[NewFact | str]:
    if not isinstance(item, dict) or item.get("type") != "relation":
        raise InputError("neither an entity nor a relation")
    left, right = _name(item, "from"), _name(item, "to")
    relation = _name(item, "relationType")
    metadata = {"entity": left, "relation": relation, "to": right}
    return [_fact(f"{left} {relation.replace('_', ' ')} {right}", metadata, options)]


def about(name: str, observation: str) -> str:
    """A sentence of an observation about something that it need not name."""
    text = observation.strip()
    if name.casefold() in text.casefold():
        return text  # the sentence names its subject itself
    first, _, rest = text.partition(" ")
    if rest and first.lower() in _VERBS:
        return f"{name} {first.lower()} {rest}"
    return f"{name}: {text}"


def _aliases(name: str, agent: str) -> list[Alias]:
    found = [Alias(agent=agent, canonical=name, alias=name)]
    if "_" in name.strip("_"):  # names must be one word there: "Ada_Lovelace"
        spaced = " ".join(name.replace("_", " ").split())
        found.append(Alias(agent=agent, canonical=name, alias=spaced))
    return found


def _fact(text: str, metadata: dict[str, Any], options: Options) -> NewFact:
    return NewFact(
        text=text,
        agent=options.agent,
        kind=options.kind or "fact",
        metadata=metadata,
        source=options.source or _SOURCE,
    )


def _name(item: dict[str, Any], key: str) -> str:
    value = item.get(key)
    if isinstance(value, str) and value.strip():
        return value.strip()
    raise InputError(f"{key} is missing" if key not in item else f"{key} {value!r} is no name")
