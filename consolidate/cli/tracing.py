"""The commands `lineage` and `claim`: where a fact comes from, whether a sentence is borne out."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from consolidate.cli.common import Agent, Assign, Db, Json, context
from consolidate.cli.errors import UsageError
from consolidate.cli.render import draw, heading, say, table, write_json
from consolidate.cli.text import visible

if TYPE_CHECKING:
    from rich.tree import Tree

    from consolidate.graph.lineage import Kind

__all__ = ["claim", "lineage"]

_HOW = {
    "superseded_by": ("it replaced", "replaced by"),
    "merged_into": ("it took in", "merged into"),
    "names": ("named in", "names"),
    "source_of": ("made from", "is in the note"),
    "told": ("told in", "told of"),
}
"""What a node is to the one before it: where the tie leads backward, and forward."""


def lineage(
    start: Annotated[
        str, typer.Argument(metavar="FACT", help="Its id, or the start of it; or a name.")
    ],
    entity: Annotated[bool, typer.Option("--entity", help="It is the name of an entity.")] = False,
    episode: Annotated[bool, typer.Option("--episode", help="It is the id of an episode.")] = False,
    direction: Annotated[
        str,
        typer.Option(metavar="backward|forward|both", help="To what came before, after, or both."),
    ] = "both",
    depth: Annotated[int, typer.Option(min=1, max=10, help="Steps.")] = 3,
    limit: Annotated[int, typer.Option("--limit", min=1, max=1000, help="At most so many.")] = 200,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Trace where a fact comes from and what became of it: merges, links, names, episodes."""
    if direction not in ("backward", "forward", "both"):
        raise UsageError(f"--direction {direction!r} must be backward, forward or both")
    way: Any = direction
    if entity and episode:
        raise UsageError("--entity and --episode don't go together")
    kind: Kind = "entity" if entity else "episode" if episode else "fact"
    ctx = context(db, agent, as_json)
    with ctx.memory() as memory:
        found = memory.lineage_trace(start, kind, direction=way, depth=depth, most=limit)
    if as_json:
        write_json(found)
        return
    draw(_tree(found))
    if found["truncated"]:
        say(f"There is more: --limit over {limit} shows it.", style="yellow")


def claim(
    sentence: Annotated[list[str], typer.Argument(metavar="SENTENCE", help="One sentence.")],
    limit: Annotated[
        int, typer.Option("--limit", min=1, max=50, help="Facts that it is compared with.")
    ] = 12,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Check a sentence against what holds now: supported, contradicted or unknown."""
    ctx = context(db, agent, as_json, assign=assign)
    with ctx.memory() as memory:
        found = memory.validate_claim(" ".join(sentence), limit=limit)
    if as_json:
        write_json(found)
        return
    colours = {"supported": "green", "contradicted": "red"}
    say(f"{found['verdict']}: {found['why']}", style=colours.get(found["verdict"], ""))
    for title, which in (
        ("For it", "supporting"), ("Against it", "contradicting"), ("Not sure", "unsure")
    ):  # fmt: skip
        rows = [
            (f"{each['confidence']:.2f}", each["text"], "; ".join(each["because"]), each["id"])
            for each in found[which]
        ]
        if rows:
            heading(title)
            draw(table(["sure", "fact", "because", "id"], rows, right=["sure"], grow="fact"))


def _tree(found: dict[str, Any]) -> Tree:
    """The nodes as a tree, each under the one it was reached from."""
    from rich.text import Text
    from rich.tree import Tree

    nodes = {node["id"]: node for node in found["nodes"]}
    ties: dict[str, list[tuple[str, str]]] = {}
    for edge in found["edges"]:
        back, on = _HOW.get(edge["how"], (edge["how"], edge["how"]))
        ties.setdefault(edge["start"], []).append((edge["end"], on))
        ties.setdefault(edge["end"], []).append((edge["start"], back))

    def line(node: dict[str, Any], how: str) -> Text:
        told = Text(visible(f"{how}: " if how else ""), style="dim")
        told.append(visible(node["text"]), style="bold" if not how else "")
        status = f" · {node['status']}" if node["status"] not in ("", "active") else ""
        told.append(visible(f"  {node['id']}{status}"), style="dim")
        return told

    first = found["nodes"][0]
    drawn = {first["id"]: Tree(line(first, ""))}
    waiting = [first["id"]]
    while waiting:
        at = waiting.pop(0)
        for other, how in sorted(ties.get(at, ()), key=lambda tie: (tie[1], tie[0])):
            if other in nodes and other not in drawn:
                drawn[other] = drawn[at].add(line(nodes[other], how))
                waiting.append(other)
    return drawn[first["id"]]
