"""The tools that keep facts from fading, and let them fade again."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from consolidate.memory import answers
from consolidate.memory.schemas import gives, takes, texts
from consolidate.memory.tools import Tool

if TYPE_CHECKING:
    from consolidate.memory.memory import Memory

__all__ = ["pin_tools"]


def pin_tools(memory: Memory) -> list[Tool]:
    """Make the tools `pin` and `unpin` of one memory."""

    def each(verb: Callable[[str], bool]) -> Callable[..., Any]:
        def call(facts: Sequence[str]) -> Any:
            with memory.store.atomic():  # all or none, if one is not there
                ids = list(dict.fromkeys(memory.own(fact).id for fact in facts))
                return {"facts": ids, "changed": [fact for fact in ids if verb(fact)]}

        return call

    return [
        Tool(
            name=name,
            description=description,
            parameters=takes(["facts"], facts=texts("Their ids.")),
            run=each(verb),
            returns=gives(answers.PinAnswer),
            idempotent=True,
        )
        for name, description, verb in (
            ("pin", "Keep facts from fading, whatever happens.", memory.pin),
            ("unpin", "Let pinned facts fade again.", memory.unpin),
        )
    ]
