"""Edges that somebody declares: stored as a fact of kind `relation`, which states just that.

So a declared edge has all that facts have: a source, a date, history, forgetting to the bytes. It
is compared with nothing and retires nothing. It is stored in a run of its own, so that `undo` takes
it back.
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
from consolidate.judge.declared import RELATION, Declared, declaration, declared_in
from consolidate.names import name_key
from consolidate.serialise import digest
from consolidate.store import Declarations, NamedEntity, Store
from consolidate.store.validation import check_name
from consolidate.times import format_time
from consolidate.types import EntityPin, Fact, NewFact, Plan, Receipt

__all__ = ["Joined", "join"]


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
    run: str = ""
    """Id of the run that stored it, which `undo` takes back; empty if nothing was stored."""


def join(
    store: Store,
    agent: str,
    src: str,
    dst: str,
    predicate: str,
    *,
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
        weight: How much it counts in a walk, over 0.
        now: When it is declared.
        preview: Only tell what would be stored.

    Raises:
        NotFoundError: A name leads to no entity; names what may be meant.
        InputError: A name leads to several, both to one, a value can't be used, or just this was
            forgotten for good.
    """
    words = " ".join(predicate.split()) if isinstance(predicate, str) else ""
    check_name("predicate", words)
    fits = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not fits or not 0 < weight < math.inf:
        raise InputError(f"weight {weight!r} must be a number over 0")
    source, target = find(store, agent, src), find(store, agent, dst)
    if source.id == target.id:
        raise InputError(f"{src!r} and {dst!r} are one entity: {label(source)}")
    known = _known(store, agent, source, words, target)
    if known is None and name_key(source.name) == name_key(target.name):
        raise InputError(
            f"{label(source)} and {label(target)} bear one name, so no sentence tells which is "
            "which; rename one of them first (`consolidate entity rename`)"
        )
    told = Joined(
        source=source,
        predicate=words,
        target=target,
        weight=float(weight),
        sentence=f"{label(source)}, {words}, {label(target)}",
        fact="" if known is None else known.id,
        new=known is None,
    )
    if preview:
        return told
    metadata = declaration(source.name, words, weight)
    if known is not None:
        metadata = declaration(known.text[slice(*_edge(known).subject)], words, weight)
        if known.metadata.get("edge") == metadata["edge"]:
            return told
    with store.atomic():
        run = store.begin_run(_plan(agent, told.sentence, now), now=now)
        if known is None:
            number = _add(store, told, metadata, run, now)
        else:
            number = known.id
            store.write_facts([replace(known, metadata={**known.metadata, **metadata})], run=run)
        receipt = Receipt(
            run=run,
            plan=store.run(run).plan,
            agent=agent,
            applied_at=now,
            applied={"entity-join": 1},
            rows=1 if known else 3,
        )
        store.finish_run(run, receipt, now=now, state_digest="")
    refresh(store, agent)
    return replace(told, fact=number, run=run)


def _known(
    store: Store, agent: str, source: NamedEntity, predicate: str, target: NamedEntity
) -> Fact | None:
    """The fact by which the same edge was declared before, if it holds."""
    ids = [
        edge.fact
        for edge in store.edges(agent, entity=source.id)
        if (edge.source, edge.predicate, edge.target) == (source.id, predicate, target.id)
    ]
    declared = [fact for fact in store.facts(agent=agent, ids=ids) if declared_in(fact)]
    return declared[0] if declared else None


def _edge(fact: Fact) -> Declared:
    edge = declared_in(fact)
    assert edge is not None  # noqa: S101  # `_known` gives no others
    return edge


def _add(
    store: Store, told: Joined, metadata: Mapping[str, object], run: str, now: datetime
) -> str:
    """Store the fact that states an edge, and whom its two names mean, as part of a run."""
    agent, ends = store.run(run).agent, (told.source, told.target)
    fact = NewFact(
        text=f"{told.source.name} {told.predicate} {told.target.name}",
        agent=agent,
        kind=RELATION,
        metadata=dict(metadata),
        stated_at=now,
    )
    (added,) = store.add([fact], now=now)
    if not added.new:
        raise InputError(f"{told.sentence}: this can't be stored: {added.reason}")
    store.count_as_new([added.id], run=run)
    # Names may be shared, now or later, and no extractor has to know them.
    pins = tuple(
        EntityPin(
            agent=agent,
            fact=added.id,
            name=name_key(end.name),
            entity=end.key,
            declared_at=now,
        )
        for end in ends
    )
    store.declare(Declarations(pins=pins), run=run)
    return added.id


def _plan(agent: str, sentence: str, now: datetime) -> Plan:
    return Plan(
        id=digest(["entity", "join", agent, sentence, format_time(now)]),
        agent=agent,
        now=now,
        snapshot_digest="",
        settings_digest="",
        facts={},
        decisions=(),
        settings={"entity": {"act": "join", "sentence": sentence, "key": ""}},
    )
