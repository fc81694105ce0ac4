"""What a run writes down about itself.

The plan as a record, and the state it leaves behind, so that the next run knows when there is
nothing to do.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from consolidate.backends import Backends
from consolidate.graph.edges import triples_of
from consolidate.serialise import digest, to_data
from consolidate.settings import Settings, values_digest
from consolidate.stages.policy import Policy
from consolidate.stages.work import Book, Progress
from consolidate.store import State, Store, fact_digest
from consolidate.types import Decision, Fact, Groups, Mention, Plan, Snapshot, Unique

__all__ = ["deciding", "plan_of", "remember_state", "renewing", "save_entities", "unchanged"]


def deciding(settings: Settings, policy: Policy) -> dict[str, Any]:
    """All values that decisions depend on: the settings, and what is in force for the model."""
    return settings.deciding() | policy.values()


def plan_of(
    snapshot: Snapshot,
    decisions: tuple[Decision, ...],
    due: datetime | None,
    book: Book,
    backends: Backends,
    settings: Settings,
    policy: Policy,
    now: datetime,
) -> Plan:
    """Make the plan: decisions with digests of the facts they touch, and how they came about."""
    facts: Mapping[str, Fact] = {fact.id: fact for fact in snapshot.facts}
    touched = {fact_id for d in decisions for fact_id in (d.subject, d.object)}
    in_force = deciding(settings, policy)
    made = Plan(
        id="",
        agent=snapshot.agent,
        now=now,
        snapshot_digest=snapshot.digest,
        settings_digest=values_digest(in_force),
        decisions=decisions,
        stages=book.stages,
        facts={fact_id: fact_digest(facts[fact_id]) for fact_id in sorted(touched)},
        models=backends.identities,
        settings=in_force,
        due=due,
        cut=book.left_over,
    )
    content = [made.agent, made.snapshot_digest, made.settings_digest, to_data(made.decisions)]
    return replace(made, id=digest(content))


def unchanged(
    state: State | None,
    snapshot: Snapshot,
    backends: Backends,
    settings: Settings,
    policy: Policy,
    now: datetime,
) -> bool:
    """Whether a plan made now would be the one that the last run has carried out."""
    return (
        state is not None
        and state.digest == snapshot.digest
        and state.settings_digest == values_digest(deciding(settings, policy))
        and dict(state.models) == backends.identities
        and not state.cut
        and (state.due is None or now < state.due)
    )


def remember_state(store: Store, planned: Snapshot, made: Plan) -> None:
    """Record what the run left behind, unless somebody else wrote meanwhile.

    The snapshot is read after the transaction, so that a large one does not keep writers
    waiting; a fact that the plan did not know must not count as seen.
    """
    after = store.snapshot(planned.agent)
    before = {fact.id: fact for fact in planned.facts}
    foreign = any(fact.id not in made.facts and before.get(fact.id) != fact for fact in after.facts)
    same = (after.aliases, after.declared, after.pins)
    if not foreign and same == (planned.aliases, planned.declared, planned.pins):
        store.record_state(
            planned.agent,
            State(
                digest=after.digest,
                settings_digest=made.settings_digest,
                models=made.models,
                due=made.due,
                cut=made.cut,
            ),
        )


def renewing(renew: Callable[[], None], seconds: float, progress: Progress) -> Progress:
    """Wrap a progress so that it renews the lease now and then."""
    last = time.monotonic()

    def told(stage: str, done: int, total: int) -> None:
        nonlocal last
        if time.monotonic() - last > seconds / 4:
            renew()
            last = time.monotonic()
        progress(stage, done, total)

    return told


def save_entities(
    store: Store,
    groups: Groups,
    uniques: Sequence[Unique],
    snapshot: Snapshot,
    mentions: Mapping[str, Sequence[Mention]],
) -> int:
    """Keep what each fact names; repeats of a text name what the one that stands for it names."""
    texts = {fact.id: fact.text for fact in snapshot.facts}
    stands = {
        member: unique.representative
        for unique in uniques
        for member in unique.members
        if member != unique.representative
    }
    found = dict(mentions)
    for member, first in stands.items():
        # Equal but for white space or case, perhaps: then the places are not the same.
        found[member] = mentions.get(first, ()) if texts[member] == texts[first] else ()
    repeats: dict[str, list[str]] = {}
    for member, first in stands.items():
        repeats.setdefault(first, []).append(member)

    def spread(known: Mapping[str, Any]) -> dict[str, Any]:
        others = {m: known[first] for m, first in stands.items() if first in known}
        return {**known, **others}

    everywhere = replace(
        groups,
        groups=tuple(
            replace(
                each,
                facts=tuple(
                    sorted(m for fact in each.facts for m in (fact, *repeats.get(fact, ())))
                ),
            )
            for each in groups.groups
        ),
        by_fact=spread(groups.by_fact),
        means=spread(groups.means),
        subjects=spread(groups.subjects),
        confidence={
            (member, key): sure
            for (fact, key), sure in groups.confidence.items()
            for member in (fact, *repeats.get(fact, ()))
        },
        doubts=tuple(
            replace(doubt, fact=member)
            for doubt in groups.doubts
            for member in (doubt.fact, *repeats.get(doubt.fact, ()))
        ),
    )
    return store.save_entities(snapshot.agent, everywhere, found, triples_of(snapshot.facts))
