"""Looking an entity up by what somebody calls it.

An answer is one entity only if the name leads to one. A name that leads to several gives all of
them with the reason for each and no entity; a name that leads to none may give suggestions. What
leads to an entity: the name itself, a declared or written other name, the same without title or
company form, initials, part of a person's name, a nickname. Other spellings of letters and slips
in typing only suggest. No model is asked.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from consolidate.graph.naming import Likeness, exact_only, likeness, parts_of, sound, typo
from consolidate.graph.nicknames import full_forms, is_first_name, short_forms
from consolidate.judge.reading import USER
from consolidate.names import entity_key, name_key, name_of_key
from consolidate.store import NamedEntity, Store

__all__ = ["Candidate", "Lookup", "label", "lookup"]

_SELF: Final = frozenset({*"i me my myself user self ich mich yo je moi io".split(), USER})
_CONFIDENCE: Final = {
    "same": 1.0,
    "title": 0.95,
    "form": 0.95,
    "initials": 0.85,
    "part": 0.75,
    "nickname": 0.7,
    "letters": 0.6,
    "typing": 0.4,
}
"""How likely the name means the entity, if it is the only one; set by hand, for ranking only."""

_WHY: Final = {
    "title": "the same without title",
    "form": "the same without company form",
    "initials": "the initials fit",
    "part": "part of the name",
    "nickname": "a short form of the first name",
    "letters": "the same with letters written differently",
    "typing": "nearly the same letters",
}
_ORIGIN: Final = {
    "name": "the name",
    "declared": "declared as another name",
    "written": "written so in facts",
}
_MOST: Final = 8


@dataclass(frozen=True, kw_only=True)
class Candidate:
    """An entity that a name may mean, and why."""

    entity: NamedEntity
    why: str
    confidence: float
    """0 to 1; for ranking."""


@dataclass(frozen=True, kw_only=True)
class Lookup:
    """What a name leads to."""

    name: str
    entity: NamedEntity | None
    """Set if there is one and no other."""
    candidates: tuple[Candidate, ...] = ()
    """All that the name leads to, likeliest first; several if it is ambiguous."""
    suggestions: tuple[Candidate, ...] = ()
    """What may have been meant, if it leads to nothing."""

    @property
    def ambiguous(self) -> bool:
        """Whether the name leads to several entities."""
        return len(self.candidates) > 1


def lookup(store: Store, name: str, *, agent: str = "default") -> Lookup:
    """Find what a name means.

    Args:
        store: The memory.
        name: A name in any spelling, `#12` for an entity's number, or a name with a circled
            number (`Anna ②`), which is how entities of one name are told apart.
        agent: Whose memory.
    """
    text = name.strip() if isinstance(name, str) else ""
    if text.startswith("#") and text[1:].isdecimal():
        return _direct(name, store.entity_of(agent, int(text[1:])), "its number")
    key, reference = name_key(text), entity_key(text)
    if not key:
        return Lookup(name=name, entity=None)
    if key in _SELF:
        return _direct(name, store.entity_of(agent, USER), "the user")
    if reference != key or text.endswith("①"):
        return _direct(name, store.entity_of(agent, reference), "its name and number")
    exact = _exact(store.entities_named(agent, "key", [key]))
    if exact:
        return _answer(name, exact)
    doubtful = _doubtful(store, agent, key)
    if len(doubtful) > 1:
        return _answer(name, doubtful)
    return _like(store, agent, name, key)


def label(entity: NamedEntity) -> str:
    """An entity's name with what tells it from others of that name."""
    number = entity.key[len(name_of_key(entity.key)) :]
    note = entity.note or (entity.type if number else "")
    return f"{entity.name}{number} ({note})" if note else f"{entity.name}{number}"


def _direct(name: str, entity: NamedEntity | None, why: str) -> Lookup:
    found = () if entity is None else (Candidate(entity=entity, why=why, confidence=1.0),)
    return Lookup(name=name, entity=entity, candidates=found)


def _answer(name: str, found: Sequence[Candidate]) -> Lookup:
    only = found[0].entity if len(found) == 1 else None
    return Lookup(name=name, entity=only, candidates=tuple(found))


def _exact(found: Iterable[NamedEntity]) -> list[Candidate]:
    """One candidate an entity, by the strongest of its names with this key."""
    rank = {"name": 0, "declared": 1, "written": 2}
    best: dict[int, NamedEntity] = {}
    for each in found:
        known = best.get(each.id)
        if known is None or rank[each.origin] < rank[known.origin]:
            best[each.id] = each
    ordered = sorted(best.values(), key=lambda each: (rank[each.origin], each.key))
    return [Candidate(entity=e, why=_ORIGIN[e.origin], confidence=1.0) for e in ordered]


def _doubtful(store: Store, agent: str, key: str) -> list[Candidate]:
    """What a name may mean that facts use without saying whom they mean."""
    found = []
    for candidate in store.doubted(agent, key):
        entity = store.entity_of(agent, candidate)
        if entity is not None:
            found.append(Candidate(entity=entity, why="facts say the name alone", confidence=0.5))
    return found


def _like(store: Store, agent: str, name: str, key: str) -> Lookup:
    """Names that are not the same and may still be meant."""
    if exact_only(key):
        return Lookup(name=name, entity=None)
    asked = parts_of(key)
    ranked = _ranked(key, _near(store, agent, asked.words, key))
    leading = [(how, entity) for how, entity in ranked if _leads(how, entity, bool(asked.title))]
    if leading:
        best = leading[0][0]
        return _answer(name, [_candidate(h, e) for h, e in leading if h == best])
    others = [_candidate(how, entity) for how, entity in ranked]
    others = others or _mistyped(store, agent, key)
    return Lookup(name=name, entity=None, suggestions=tuple(others[:_MOST]))


def _near(store: Store, agent: str, words: Sequence[str], key: str) -> list[NamedEntity]:
    first, last = words[0], words[-1]
    firsts = {first} | full_forms(first) | short_forms(first)
    found = store.entities_named(agent, "last", [last])
    found += store.entities_named(agent, "first", sorted(firsts))
    return found + store.entities_named(agent, "sound", [sound(" ".join(words))])


def _ranked(key: str, found: Iterable[NamedEntity]) -> list[tuple[Likeness, NamedEntity]]:
    best: dict[int, tuple[Likeness, NamedEntity]] = {}
    for each in found:
        how = likeness(key, each.by)
        if how is not None and (each.id not in best or how < best[each.id][0]):
            best[each.id] = (how, each)
    return sorted(best.values(), key=lambda pair: (pair[0], pair[1].key))


def _leads(how: Likeness, entity: NamedEntity, titled: bool) -> bool:
    """Whether a likeness is an answer and no mere suggestion."""
    if entity.type not in ("", "person"):
        return how.why in ("form", "title")
    if how.why in ("part", "nickname"):
        person = entity.type == "person" or is_first_name(parts_of(entity.by).words[0])
        return person or titled
    return how.why in ("title", "form", "initials")


def _mistyped(store: Store, agent: str, key: str) -> list[Candidate]:
    near = sorted(
        (other, entity) for other, entity in store.names_like(agent, key) if typo(key, other)
    )
    found: dict[int, Candidate] = {}
    for _, number in near[: 4 * _MOST]:
        entity = store.entity_of(agent, number)
        if entity is not None and number not in found:
            confidence = _CONFIDENCE["typing"]
            found[number] = Candidate(entity=entity, why=_WHY["typing"], confidence=confidence)
    return list(found.values())


def _candidate(how: Likeness, entity: NamedEntity) -> Candidate:
    return Candidate(entity=entity, why=_WHY[how.why], confidence=_CONFIDENCE[how.why])
