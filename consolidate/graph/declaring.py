"""What people say about entities: one of two, two of one, another name.

Each declaration is made in two steps: `merge`, `split`, `alias`, `apart`, `rename` and `retype`
work out an `Act`, which tells what would change and why one may not want it; `carry_out` does it
in a run of its own, so that `undo` takes it back and the journal has its date. Declarations are
read by every later run; what an extractor finds anew does not undo them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from consolidate.errors import InputError, NotFoundError
from consolidate.graph.refresh import refresh
from consolidate.graph.registry import label, lookup
from consolidate.judge.reading import USER
from consolidate.names import bearer_key, entity_key, name_key, name_of_key
from consolidate.serialise import digest
from consolidate.store import Declarations, NamedEntity, Store
from consolidate.store.validation import check_name
from consolidate.times import format_time
from consolidate.types import Alias, DeclaredEntity, EntityPin, Plan, Receipt

__all__ = [
    "Act",
    "alias",
    "apart",
    "carry_out",
    "find",
    "link",
    "merge",
    "rename",
    "retype",
    "split",
    "unalias",
]


@dataclass(frozen=True, kw_only=True)
class Act:
    """A declaration that is worked out and not made yet."""

    agent: str
    kind: str
    """`merge`, `split`, `alias`, `unalias`, `apart`, `rename`, `retype` or `link`."""
    sentence: str
    """What it does."""
    entity: str
    """Key of the entity that it leaves or makes."""
    facts: tuple[str, ...] = ()
    """Ids of the facts that will be of another entity."""
    warnings: tuple[str, ...] = ()
    """What speaks against it."""
    declarations: Declarations = field(default_factory=Declarations)


def find(store: Store, agent: str, name: str) -> NamedEntity:
    """The one entity that a name leads to.

    Raises:
        NotFoundError: It leads to none; names what may be meant.
        InputError: It leads to several; names them all.
    """
    found = lookup(store, name, agent=agent)
    if found.entity is not None:
        return found.entity
    if found.candidates:
        each = ", ".join(f"{label(c.entity)} (#{c.entity.id}: {c.why})" for c in found.candidates)
        raise InputError(f"{name!r} may mean {each}; say which one, by its number")
    hint = ""
    if found.suggestions:
        hint = "; did you mean " + " or ".join(label(c.entity) for c in found.suggestions[:3])
    raise NotFoundError(f"agent {agent!r} knows no entity {name!r}{hint}")


def merge(store: Store, agent: str, one: str, into: str, *, now: datetime) -> Act:
    """Two entities are one: `into` keeps its name, `one` becomes another name of it.

    Raises:
        InputError: They are one already, or a name leads to several entities.
        NotFoundError: A name leads to none.
    """
    gone, kept = find(store, agent, one), find(store, agent, into)
    if gone.id == kept.id:
        raise InputError(f"{one!r} and {into!r} are one entity already: {label(kept)}")
    if gone.key == USER:
        gone, kept = kept, gone
    facts = store.fact_ids_of_entity(gone.id)
    warnings = []
    if gone.type and kept.type and gone.type != kept.type:
        warnings.append(f"one is a {gone.type}, the other a {kept.type}")
    declared = store.aliases(agent)
    against = [a for a in declared if a.never and {*_ends(a)} == {gone.key, kept.key}]
    if against:
        warnings.append("somebody declared that they are not one")
    shared = set(facts) & set(store.fact_ids_of_entity(kept.id))
    if shared:
        warnings.append(f"{len(shared)} facts speak of both")
    homonyms = name_of_key(gone.key) == name_of_key(kept.key)
    both = [*facts, *store.fact_ids_of_entity(kept.id)] if homonyms else []
    alias = Alias(agent=agent, canonical=reference(kept), alias=reference(gone), declared_at=now)
    return Act(
        agent=agent,
        kind="merge",
        sentence=f"{label(gone)} is {label(kept)}: {_count(facts)} come over",
        entity=kept.key,
        facts=tuple(facts),
        warnings=tuple(warnings),
        declarations=Declarations(
            aliases=(alias,),
            # Which of two of one name a fact means is not told by the name: each is pinned.
            pins=_pins(store, agent, both, (gone, kept), kept.key, now),
            no_aliases=tuple(against),
            no_entities=tuple(
                each for each in store.declared_entities(agent) if each.key == gone.key
            ),
        ),
    )


def split(
    store: Store,
    agent: str,
    name: str,
    facts: Collection[str],
    *,
    new: str | None = None,
    kind: str = "",
    note: str = "",
    now: datetime,
) -> Act:
    """One entity is two: some of its facts speak of another.

    Args:
        store: The memory.
        agent: Whose.
        name: The entity.
        facts: Ids (or beginnings) of the facts that are about the other one.
        new: The other one's name; None: they bear the same.
        kind: What the other one is: person, place, ...
        note: What tells the other one from the first.
        now: The present moment.

    Raises:
        InputError: No fact is given, or one that does not speak of the entity.
    """
    entity = find(store, agent, name)
    own = set(store.fact_ids_of_entity(entity.id))
    moved = list(dict.fromkeys(_own(store, agent, fact) for fact in facts))
    strange = [fact for fact in moved if fact not in own]
    if not moved or strange:
        which = strange[0] if strange else "none given"
        raise InputError(f"say which facts of {label(entity)} are about another ({which} is not)")
    if entity.key == USER:
        raise InputError("the user can't be split; give the other person's facts a name")
    wanted = name_of_key(entity.key) if new is None else entity_key(_named(new))
    key = wanted
    if new is None or store.entity_of(agent, wanted) is not None:
        key = _free(store, agent, name_of_key(wanted))
    stay = sorted(own - set(moved))
    warnings = () if stay else ("all of its facts would go; rename it instead",)
    declared = DeclaredEntity(
        agent=agent,
        key=key,
        name=(new or entity.name).strip(),
        type=kind.strip().casefold(),
        note=note.strip(),
        declared_at=now,
    )
    # The first one must outlast the split even if all that it has is pinned away.
    first = _declared(store, agent, entity, now)
    pins = _pins(store, agent, moved, (entity,), key, now)
    never = Alias(
        agent=agent,
        canonical=reference(entity),
        alias=_reference(declared.name, key),
        never=True,
        declared_at=now,
    )
    shown = label(NamedEntity(id=0, key=key, name=declared.name, type=kind, note=note))
    return Act(
        agent=agent,
        kind="split",
        sentence=f"{_count(moved)} of {label(entity)} are about {shown}, {_count(stay)} stay",
        entity=key,
        facts=tuple(moved),
        warnings=warnings,
        declarations=Declarations(
            aliases=(never,),
            entities=(first, declared),
            pins=(*pins, *_pins(store, agent, stay, (entity,), entity.key, now)),
            no_pins=tuple(
                pin for pin in store.pins(agent) if pin.fact in moved and pin.entity == entity.key
            ),
        ),
    )


def alias(store: Store, agent: str, name: str, other: str, *, now: datetime) -> Act:
    """An entity has another name."""
    entity = find(store, agent, name)
    other = _named(other)
    key = name_key(other)
    bearers = [e for e in store.entities_named(agent, "key", [key]) if e.id != entity.id]
    warnings = sorted(
        {
            f"{other!r} is a name of {label(each)} too; alone it will mean neither"
            for each in bearers
        }
    )
    declared = Alias(agent=agent, canonical=reference(entity), alias=other, declared_at=now)
    return Act(
        agent=agent,
        kind="alias",
        sentence=f"{other!r} means {label(entity)}",
        entity=entity.key,
        warnings=tuple(warnings),
        declarations=Declarations(
            aliases=(declared,),
            entities=(_declared(store, agent, entity, now),),
        ),
    )


def unalias(store: Store, agent: str, name: str, other: str, *, now: datetime) -> Act:
    """A declared name is taken back."""
    entity = find(store, agent, name)
    key = entity_key(_named(other))
    rows = tuple(
        each
        for each in store.aliases(agent)
        if entity_key(each.alias) == key and entity_key(each.canonical) == entity.key
    )
    if not rows:
        raise NotFoundError(f"nobody declared {other!r} as a name of {label(entity)}")
    return Act(
        agent=agent,
        kind="unalias",
        sentence=f"{other!r} is not declared as a name of {label(entity)} any more",
        entity=entity.key,
        declarations=Declarations(no_aliases=rows),
    )


def apart(store: Store, agent: str, one: str, other: str, *, now: datetime) -> Act:
    """Two entities, or an entity and a name, are never one."""
    first = find(store, agent, one)
    second = lookup(store, other, agent=agent).entity
    if second is not None and second.id == first.id and name_key(other) == name_of_key(first.key):
        raise InputError(f"{other!r} is {label(first)}; use split to make two of one")
    same = second is None or second.id == first.id
    text = _named(other) if second is None or same else reference(second)
    gone = tuple(
        each
        for each in store.aliases(agent)
        if not each.never and {*_ends(each)} == {first.key, entity_key(text)}
    )
    never = Alias(agent=agent, canonical=reference(first), alias=text, never=True, declared_at=now)
    return Act(
        agent=agent,
        kind="apart",
        sentence=f"{text!r} is never {label(first)}",
        entity=first.key,
        declarations=Declarations(aliases=(never,), no_aliases=gone),
    )


def rename(store: Store, agent: str, name: str, new: str, *, now: datetime) -> Act:
    """An entity is shown under another name; the old one still leads to it.

    Raises:
        InputError: The new name belongs to another entity.
    """
    entity = find(store, agent, name)
    new = _named(new)
    others = [e for e in store.entities_named(agent, "key", [name_key(new)]) if e.id != entity.id]
    if others:
        raise InputError(
            f"{new!r} is a name of {label(others[0])} (#{others[0].id}); merge the two if they "
            "are one"
        )
    declared = replace(_declared(store, agent, entity, now), name=new)
    names: tuple[Alias, ...] = ()
    if name_key(new) != name_of_key(entity.key):
        names = (Alias(agent=agent, canonical=reference(entity), alias=new, declared_at=now),)
    return Act(
        agent=agent,
        kind="rename",
        sentence=f"{label(entity)} is called {new!r}",
        entity=entity.key,
        declarations=Declarations(entities=(declared,), aliases=names),
    )


def retype(
    store: Store, agent: str, name: str, *, kind: str = "", note: str = "", now: datetime
) -> Act:
    """Say what an entity is, or what tells it from others of its name."""
    entity = find(store, agent, name)
    declared = _declared(store, agent, entity, now)
    declared = replace(
        declared,
        type=kind.strip().casefold() or declared.type,
        note=note.strip() or declared.note,
    )
    return Act(
        agent=agent,
        kind="retype",
        sentence=f"{label(entity)} is {declared.type or 'something'} ({declared.note or '-'})",
        entity=entity.key,
        declarations=Declarations(entities=(declared,)),
    )


def link(store: Store, agent: str, name: str, facts: Sequence[str], *, now: datetime) -> Act:
    """Facts are about an entity although they do not name it."""
    entity = find(store, agent, name)
    ids = list(dict.fromkeys(_own(store, agent, fact) for fact in facts))
    return Act(
        agent=agent,
        kind="link",
        sentence=f"{_count(ids)} are about {label(entity)}",
        entity=entity.key,
        facts=tuple(ids),
        declarations=Declarations(
            entities=(_declared(store, agent, entity, now),),
            pins=tuple(
                EntityPin(agent=agent, fact=fact, name="", entity=entity.key, declared_at=now)
                for fact in ids
            ),
        ),
    )


def carry_out(store: Store, act: Act, *, now: datetime) -> Receipt:
    """Make a declaration in a run of its own, and bring the registry in step with it."""
    plan = Plan(
        id=digest(["entity", act.kind, act.agent, act.sentence, format_time(now)]),
        agent=act.agent,
        now=now,
        snapshot_digest="",
        settings_digest="",
        facts={},
        decisions=(),
        settings={"entity": {"act": act.kind, "sentence": act.sentence, "key": act.entity}},
    )
    with store.atomic():
        run = store.begin_run(plan, now=now)
        rows = store.declare(act.declarations, run=run)
        receipt = Receipt(
            run=run,
            plan=plan.id,
            agent=act.agent,
            applied_at=now,
            applied={f"entity-{act.kind}": 1},
            rows=rows,
        )
        store.finish_run(run, receipt, now=now, state_digest="")
    refresh(store, act.agent)
    return receipt


def reference(entity: NamedEntity) -> str:
    """A text that means this entity and no other, in declared names."""
    return _reference(entity.name, entity.key)


def _reference(name: str, key: str) -> str:
    plain = name_of_key(key)
    shown = name if name_key(name) == plain else plain
    return f"{shown}{key[len(plain) :]}"


def _own(store: Store, agent: str, fact: str) -> str:
    """Id of a fact of this agent; another agent's is as good as not there."""
    found = store.get(fact)
    if found.agent != agent:
        raise NotFoundError(f"no fact {fact!r} in the memory of {agent!r}")
    return found.id


def _ends(declared: Alias) -> tuple[str, str]:
    return entity_key(declared.canonical), entity_key(declared.alias)


def _named(name: str) -> str:
    text = name.strip()
    check_name("name", text)
    if not name_key(text):
        raise InputError(f"name {name!r} holds nothing that can be seen")
    return text


def _free(store: Store, agent: str, name: str) -> str:
    """The first key of a name that no entity has."""
    number = 1
    while True:
        number += 1
        key = bearer_key(name, number)
        if store.entity_of(agent, key) is None:
            return key


def _declared(store: Store, agent: str, entity: NamedEntity, now: datetime) -> DeclaredEntity:
    known = {each.key: each for each in store.declared_entities(agent)}
    fresh = DeclaredEntity(
        agent=agent,
        key=entity.key,
        name=entity.name,
        type=entity.type,
        note=entity.note,
        declared_at=now,
    )
    return known.get(entity.key, fresh)


def _pins(
    store: Store,
    agent: str,
    facts: Sequence[str],
    of: Sequence[NamedEntity],
    to: str,
    now: datetime,
) -> tuple[EntityPin, ...]:
    """Pins for every name in facts that means one of some entities; for none, the fact itself."""
    numbers = {entity.id for entity in of}
    named: dict[str, set[str]] = {fact: set() for fact in facts}
    for fact, text, number in store.names_in_facts(agent, facts):
        if number in numbers:
            named[fact].add(name_key(text))
    return tuple(
        EntityPin(agent=agent, fact=fact, name=name, entity=to, declared_at=now)
        for fact, names in sorted(named.items())
        for name in sorted(names or {""})
    )


def _count(facts: Collection[str]) -> str:
    return "1 fact" if len(facts) == 1 else f"{len(facts)} facts"
