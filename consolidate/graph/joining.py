"""Edges that somebody declares: stored as a fact of kind `relation`, which states just that.

So a declared edge has all that facts have: a source, a date, history, forgetting to the bytes. It
is compared with nothing and retires nothing.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import datetime

from consolidate.errors import InputError
from consolidate.graph.declaring import find
from consolidate.graph.refresh import refresh
from consolidate.graph.registry import label
from consolidate.protocols import EntityExtractor
from consolidate.serialise import digest
from consolidate.store import NamedEntity, Store
from consolidate.store.validation import check_name
from consolidate.times import format_time
from consolidate.types import Fact, NewFact, Plan, Receipt

__all__ = ["RELATION", "Joined", "join"]

RELATION = "relation"
"""Kind of the facts that are declared edges."""


@dataclass(frozen=True, kw_only=True)
class Joined:
    """A declared edge, worked out or stored."""

    source: NamedEntity
    predicate: str
    target: NamedEntity
    weight: float
    sentence: str
    fact: str
    """Id of the fact that states it; empty if it is only a preview."""
    new: bool
    """Whether it was not declared before."""


def join(
    store: Store,
    agent: str,
    src: str,
    dst: str,
    predicate: str,
    *,
    extractor: EntityExtractor,
    weight: float = 1.0,
    now: datetime,
    preview: bool = False,
) -> Joined:
    """Declare that one entity stands in a relation to another.

    Declaring the same again sets its weight anew.

    Args:
        store: The memory.
        agent: Whose.
        src: Name of the first, in any spelling.
        dst: Name of the second.
        predicate: What the first is or does to the second, e.g. `employer` or `works with`.
        extractor: Finds both names in the fact that is stored.
        weight: How much it counts in a walk, over 0.
        now: When it is declared.
        preview: Only tell what would be stored.

    Raises:
        NotFoundError: A name leads to no entity; names what may be meant.
        InputError: A name leads to several, both to one, or a value can't be used.
    """
    words = " ".join(predicate.split()) if isinstance(predicate, str) else ""
    check_name("predicate", words)
    fits = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not fits or not 0 < weight < math.inf:
        raise InputError(f"weight {weight!r} must be a number over 0")
    source, target = find(store, agent, src), find(store, agent, dst)
    if source.id == target.id:
        raise InputError(f"{src!r} and {dst!r} are one entity: {label(source)}")
    text = f"{source.name} {words} {target.name}"
    edge = {"predicate": words, "weight": float(weight)}
    known = [
        fact
        for fact, _, _ in store.facts_of_entity(source.id)
        if fact.kind == RELATION and fact.text == text
    ]
    told = Joined(
        source=source,
        predicate=words,
        target=target,
        weight=float(weight),
        sentence=f"{label(source)}, {words}, {label(target)}",
        fact=known[0].id if known else "",
        new=not known,
    )
    if preview:
        return told
    if known:
        number = known[0].id
        if known[0].metadata.get("edge") != edge:
            _weigh(store, known[0], edge, told.sentence, now)
    else:
        fact = NewFact(
            text=text, agent=agent, kind=RELATION, metadata={"edge": edge}, stated_at=now
        )
        number = store.add([fact], now=now)[0].id
    refresh(store, agent, extractor=extractor)
    return replace(told, fact=number)


def _weigh(
    store: Store, fact: Fact, edge: Mapping[str, object], sentence: str, now: datetime
) -> None:
    """Set what a declared edge weighs, in a run of its own, so that `undo` takes it back."""
    plan = Plan(
        id=digest(["entity", "join", fact.agent, sentence, format_time(now)]),
        agent=fact.agent,
        now=now,
        snapshot_digest="",
        settings_digest="",
        facts={},
        decisions=(),
        settings={"entity": {"act": "join", "sentence": sentence, "key": ""}},
    )
    with store.atomic():
        run = store.begin_run(plan, now=now)
        changed = replace(fact, metadata={**fact.metadata, "edge": dict(edge)})
        rows = store.write_facts([changed], run=run)
        receipt = Receipt(
            run=run,
            plan=plan.id,
            agent=fact.agent,
            applied_at=now,
            applied={"entity-join": 1},
            rows=rows,
        )
        store.finish_run(run, receipt, now=now, state_digest="")
