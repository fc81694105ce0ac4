"""The store: one SQLite file. All SQL of the package lives in this folder."""

from __future__ import annotations

from consolidate.store.attempts import MOST_ATTEMPTS
from consolidate.store.derived import NOTE_KIND
from consolidate.store.leases import Lease
from consolidate.store.records import (
    Added,
    Block,
    BlockVersion,
    Entity,
    Episode,
    Erased,
    Event,
    FoundEpisode,
    History,
    Message,
    RecallRow,
    State,
)
from consolidate.store.registry import Declarations, NamedEntity
from consolidate.store.rows import LIVE, fact_digest, fact_hash
from consolidate.store.store import Store
from consolidate.store.whole_runs import PreparedRun, prepare_run

__all__ = [
    "LIVE",
    "MOST_ATTEMPTS",
    "NOTE_KIND",
    "Added",
    "Block",
    "BlockVersion",
    "Declarations",
    "Entity",
    "Episode",
    "Erased",
    "Event",
    "FoundEpisode",
    "History",
    "Lease",
    "Message",
    "NamedEntity",
    "PreparedRun",
    "RecallRow",
    "State",
    "Store",
    "fact_digest",
    "fact_hash",
    "prepare_run",
]
