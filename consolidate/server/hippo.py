"""The tools under the names and with the payloads of HippoAgent, for agents that know these.

Each stands for one of ours; what it is asked goes through a memory's verbs. Where the original
passed over an argument in silence, it is either used here (`fact_ids` of `hippo_facts_list`) or
named in `not_used`.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from consolidate.memory.memory import Memory
from consolidate.memory.schemas import takes
from consolidate.memory.tools import Tool
from consolidate.server.hippo_common import tool
from consolidate.server.hippo_graph import graph_tools
from consolidate.server.hippo_memory import memory_tools

__all__ = ["STANDS_FOR", "hippo_tools"]

STANDS_FOR: Final[Mapping[str, str]] = {
    "hippo_remember": "remember_facts",
    "hippo_facts_recall": "recall_memories",
    "hippo_recall_as_of": "recall_memories",
    "hippo_recall_history": "recall_memories",
    "hippo_recall": "recall_conversation",
    "hippo_search": "episode_search",
    "hippo_record_episode": "record_episode",
    "hippo_episode_list": "episode_list",
    "hippo_session_recap": "session_recap",
    "hippo_entity_get": "entity_get",
    "hippo_entity_link": "entity_link",
    "hippo_entity_neighbors": "entity_neighbors",
    "hippo_ppr_retrieve": "ppr_retrieve",
    "hippo_extract_entities": "extract_entities",
    "hippo_facts_list": "facts_list",
    "hippo_facts_search": "facts_search",
    "hippo_lineage_trace": "lineage_trace",
    "hippo_validate_claim": "validate_claim",
    "hippo_consolidate": "run",
}
"""Which of our tools each one stands for."""


def hippo_tools(memory: Memory, ours: Mapping[str, Tool]) -> list[Tool]:
    """Make those that stand for tools there are.

    Args:
        memory: Whose.
        ours: Our tools by name; what is not among them is not stood for.
    """
    made = [*memory_tools(memory), *graph_tools(memory)]
    if "run" in ours:
        run = ours["run"]
        made.append(tool("hippo_consolidate", run.description, takes(), run.run, run.returns))
    return [each for each in made if STANDS_FOR[each.name] in ours]
