"""Which entity each name in each fact means.

Pure: facts, what was found in them and what people declared go in, `Names` come out, which the
pipeline groups by and the registry keeps. In steps:

1. Each name is parted into senses where its uses speak of different things (`senses`).
2. Senses that are surely one are joined: the text says so ("X, also known as Y"), or the names
   differ in title, company form, initials, a nickname before the same family name, or spelling.
3. Short names join the one fuller name that they fit: a first or last name alone. If they fit
   several, each use goes where its company points, or stays in doubt.

What is joined is checked as a whole: two full names of different people, two kinds of things, and
pairs that were declared not to be one never end up together, whatever lies between them; a weak
link joins a single name to others, never two groups of names.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Final

import numpy as np
import numpy.typing as npt

from consolidate.graph.clusters import Cluster, Keys
from consolidate.graph.cues import conflict, cue_of, is_relative, looks_like_no_person
from consolidate.graph.naming import (
    acronym_of,
    acronyms_of,
    exact_only,
    likeness,
    parts_of,
    sound,
)
from consolidate.graph.nicknames import full_forms, is_first_name, short_forms
from consolidate.graph.senses import Sense, Use, by_name, closest, introduced, senses_of
from consolidate.judge.reading import USER, word_set
from consolidate.names import name_key, name_of_key
from consolidate.stages.group import Names
from consolidate.types import Doubt, Fact, Mention, Snapshot

__all__ = ["resolve"]

_STRONG: Final = 0.8
"""Links below this join one name at most, never two groups."""

_SURE: Final = {"title": 0.95, "form": 0.9, "initials": 0.9, "letters": 0.85}
"""How sure a link by likeness of names is; set by hand and checked on labelled memories."""
_PART: Final = 0.85
_UNKNOWN_PART: Final = 0.75
"""Part of a name that nothing shows to be a person's."""
_NICK: Final = 0.7
_ACRONYM: Final = 0.75
_INTRODUCED: Final = 0.65
"""Of several that bear the name, the one that had been told of."""

_SAID: Final = re.compile(
    r"^[,\s]*(?:\(|(?:is |are )?(?:also |better |otherwise )?(?:known as|called|aka|a\.k\.a\.)|"
    r"goes by|or|short for|is short for|stands for|is the nickname of|'s nickname is|"
    r"’s nickname is|was renamed(?: to)?|is now called|alias)\s*[\"'“‘]?\s*$",
    re.IGNORECASE,
)
_BRACKET: Final = re.compile(r"^\s*\(\s*[\"'“]?\s*$")
_SMALL: Final = frozenset(
    "user user's the and that with from this have has had was were is are his her their its for "
    "not but they will would which who whom after before into over under about when where than "
    "then also only just very says said wants has been".split()
)


def resolve(
    snapshot: Snapshot,
    facts: Sequence[Fact],
    mentions: Mapping[str, Sequence[Mention]],
    vectors: npt.NDArray[np.float32] | None = None,
) -> Names:
    """Find out what the names in some facts mean.

    Args:
        snapshot: Whose declarations count.
        facts: One fact for each distinct text.
        mentions: Fact id to what was found in its text.
        vectors: Their vectors, shape (len(facts), dimensions); without them, likeness of texts
            does not help where several entities fit a name.
    """
    return _Resolver(snapshot, facts, mentions, vectors).names()


class _Resolver:
    def __init__(
        self,
        snapshot: Snapshot,
        facts: Sequence[Fact],
        mentions: Mapping[str, Sequence[Mention]],
        vectors: npt.NDArray[np.float32] | None,
    ) -> None:
        self._snapshot = snapshot
        self._said = Names.of(snapshot.aliases, facts)
        self._facts = sorted(facts, key=lambda f: (f.stated_at or f.recorded_at, f.id))
        self._order = {fact.id: place for place, fact in enumerate(self._facts)}
        self._mentions = mentions
        self._vectors = (
            {} if vectors is None else {f.id: v for f, v in zip(facts, vectors, strict=True)}
        )
        self._told: dict[str, dict[str, str]] = defaultdict(dict)
        self._sure: dict[tuple[str, str], float] = {}
        self._doubts: list[Doubt] = []
        self._doubtful: list[tuple[Use, tuple[Sense, ...], str]] = []

    def names(self) -> Names:
        about: dict[str, tuple[str, ...]] = {}
        for pin in self._snapshot.pins:
            if not pin.name:
                known = about.get(pin.fact, ())
                about[pin.fact] = (*known, self._said.resolve(pin.entity))
        clusters = self._join(self._part())
        keys = Keys(self._snapshot, self._said, self._senses).of(clusters)
        kinds = {}
        for cluster, key in zip(clusters, keys, strict=True):
            roles = Counter(role for sense in cluster.senses if (role := sense.role))
            shares = name_of_key(key) != key or self._homonyms[name_of_key(key)] > 1
            role = min(roles, key=lambda each: (-roles[each], each)) if roles and shares else ""
            kinds[key] = (cluster.kind, role)
            for sense in cluster.senses:
                for use in sense.uses:
                    self._told[use.fact][use.name] = key
                    sure = min(sense.weak.get(use.fact, 1.0), self._links.get(sense, 1.0))
                    if sure < 1.0:
                        self._sure[use.fact, key] = round(sure, 3)
        by_sense = {
            sense: key
            for cluster, key in zip(clusters, keys, strict=True)
            for sense in cluster.senses
        }
        for use, senses, reason in self._doubtful:
            found = tuple(dict.fromkeys(by_sense[s] for s in senses if s in by_sense))
            self._told[use.fact][use.name] = ""
            doubt = Doubt(fact=use.fact, name=use.name, candidates=found, reason=reason)
            self._doubts.append(doubt)
        for entity in self._snapshot.declared:
            kind, note = kinds.get(entity.key, ("", ""))
            kinds[entity.key] = (entity.type or kind, entity.note or note)
        return replace(
            self._said,
            told=self._told,
            about=about,
            sure=self._sure,
            kinds=kinds,
            doubts=tuple(sorted(self._doubts, key=lambda d: (d.fact, d.name))),
        )

    # -- one name, several things ---------------------------------------------------------

    def _part(self) -> list[Sense]:
        pins = {(pin.fact, pin.name): pin.entity for pin in self._snapshot.pins if pin.name}
        uses = [use for fact in self._facts for use in self._uses(fact, pins)]
        senses: list[Sense] = []
        for name, own in by_name(uses).items():
            several = self._several(name)
            if several:
                # Declared to be a name of several: only its company can tell.
                self._doubtful += [(use, (), "a name of several") for use in own if not use.pinned]
                own = [use for use in own if use.pinned]
                if not own:
                    continue
            parted, doubtful = senses_of(name, own, roles=" " not in name)
            senses += parted
            self._doubtful += [
                (use, tuple(parted), "the name means several things") for use in doubtful
            ]
        return senses

    def _several(self, name: str) -> tuple[str, ...]:
        """What a name was declared to mean, if that is more than one thing."""
        found = set(self._said.several.get(name, ()))
        lead = self._said.canonical.get(name)
        if lead is not None and any(each.key == name for each in self._snapshot.declared):
            found |= {lead, name}
        return tuple(sorted(found)) if len(found) > 1 else ()

    def _uses(self, fact: Fact, pins: Mapping[tuple[str, str], str]) -> Iterable[Use]:
        found = [m for m in self._mentions.get(fact.id, ()) if m.label not in ("version", "date")]
        keys = [name_key(mention.text) for mention in found]
        named = {word for key in keys for word in key.split(" ")}
        words = frozenset(word for word in word_set(fact.text) - named - _SMALL if len(word) > 2)
        seen = set()
        for mention, key in zip(found, keys, strict=True):
            if not key or key in seen:
                continue
            seen.add(key)
            yield Use(
                fact=fact.id,
                name=key,
                cue=cue_of(fact.text, mention),
                company=frozenset(
                    word for other in keys if other != key for word in other.split(" ")
                )
                - _SMALL,
                place=self._order[fact.id],
                words=words,
                vector=self._vectors.get(fact.id),
                pinned=pins.get((fact.id, key), ""),
            )

    # -- several names, one thing ---------------------------------------------------------

    def _join(self, senses: list[Sense]) -> list[Cluster]:
        self._links: dict[Sense, float] = {}
        self._homonyms = Counter(sense.name for sense in senses)
        self._of: dict[Sense, Cluster] = {sense: Cluster([sense]) for sense in senses}
        self._senses: dict[str, list[Sense]] = defaultdict(list)
        for sense in senses:
            self._senses[sense.name].append(sense)
        self._declared()
        self._stated()
        for one, other, sure in sorted(self._alike(senses), key=lambda link: -link[2]):
            self._link(one, other, sure)
        self._own_name()
        fuller = self._index(senses)
        for sense in senses:
            cluster = self._of[sense]
            if all(len(parts_of(name).words) == 1 for name in cluster.names):
                if not cluster.pinned and sense.uses:
                    self._complete(sense, fuller.get(sense.name, ()))
        return list(dict.fromkeys(self._of.values()))

    def _declared(self) -> None:
        """Names that were declared to be one, and pins to one entity."""
        roots: dict[str, Sense] = {}
        for name, own in self._senses.items():
            for sense in own:
                root = self._said.resolve(sense.pinned or name)
                if not sense.pinned and len(own) > 1:
                    continue  # a declared name does not say which of several things it is
                if root in roots:
                    self._merge(roots[root], sense)
                else:
                    roots[root] = sense

    def _stated(self) -> None:
        """Names that a fact says are one."""
        for fact in self._facts:
            found = [m for m in self._mentions.get(fact.id, ()) if m.label != "version"]
            for a, b in pairwise(found):
                between = fact.text[a.end : b.start]
                one, other = name_key(a.text), name_key(b.text)
                if not _SAID.match(between) or one == other:
                    continue
                if _BRACKET.match(between) or between.strip().casefold() in ("or", ",", ", or"):
                    # "Ghent (Belgium)", "tea or coffee": only if the names look like it
                    if not (likeness(one, other) or acronym_of(other, one)):
                        continue
                for left in self._senses.get(one, ())[:1]:
                    for right in self._senses.get(other, ())[:1]:
                        self._link(left, right, 0.97, said=True)

    def _alike(self, senses: Sequence[Sense]) -> Iterable[tuple[Sense, Sense, float]]:
        """Pairs of names that are likely one by their form alone."""
        near: dict[str, list[Sense]] = defaultdict(list)
        for sense in senses:
            if not exact_only(sense.name):
                words = parts_of(sense.name).words
                # What can be alike shares the family name, its sound, or the first word.
                for place in {words[-1], f"~{sound(words[-1])}"}:
                    near[place].append(sense)
        seen = set()
        for together in near.values():
            for i, one in enumerate(together):
                for other in together[i + 1 :]:
                    pair = (one, other)
                    if pair not in seen and one.name != other.name:
                        seen.add(pair)
                        sure = self._alike_by(one, other, together)
                        if sure:
                            yield one, other, sure

    def _alike_by(self, one: Sense, other: Sense, together: Sequence[Sense]) -> float:
        how = likeness(one.name, other.name)
        if how is None:
            return 0.0
        a, b = parts_of(one.name), parts_of(other.name)
        full = min(len(a.words), len(b.words)) > 1
        if how.why in ("title", "form"):
            return _SURE[how.why] if full or not (a.title and b.title) else 0.0
        if how.why == "letters":
            place = {"place", "within"} & {cue.kind for cue in (*one.cues, *other.cues)}
            return _SURE["letters"] if full or (place and len(one.name) > 4) else 0.0
        if how.why in ("initials", "nickname") and full:
            short, long = (one, other) if a.initials and not b.initials else (other, one)
            fits = [
                each
                for each in together
                if each is not short
                and (like := likeness(short.name, each.name)) is not None
                and like.why == how.why
                and not parts_of(each.name).initials
            ]
            first = {parts_of(each.name).words[0] for each in fits}
            if how.why == "nickname":
                return _PART
            return _SURE["initials"] if len(first) <= 1 and long in fits else 0.0
        return 0.0

    def _own_name(self) -> None:
        """Names that are part of the user's own."""
        own = [key for key, to in self._said.canonical.items() if to == USER]
        self._own = max(own, key=len, default="")

    @staticmethod
    def _index(senses: Sequence[Sense]) -> Mapping[str, Sequence[Sense]]:
        """Names of several words under each short name that may mean them."""
        by_word: dict[str, list[Sense]] = defaultdict(list)
        for sense in senses:
            words = parts_of(sense.name).words
            if len(words) > 1 and not exact_only(sense.name):
                for word in {words[0], words[-1], *full_forms(words[0]), *short_forms(words[0])}:
                    by_word[word].append(sense)
                for short in acronyms_of(sense.name):
                    by_word[short].append(sense)
        found: dict[str, Sequence[Sense]] = {}
        for name in {sense.name for sense in senses}:
            words = parts_of(name).words
            near = [*by_word.get(words[0], ()), *by_word.get(words[-1], ())]
            if near:
                found[name] = list(dict.fromkeys(near))
        return found

    def _complete(self, sense: Sense, fuller: Sequence[Sense]) -> None:
        """Join a short name to the fuller one that it fits, if there is one."""
        found: dict[Cluster, tuple[float, Cluster, Sense]] = {}
        me = self._of[sense]
        for other in fuller:
            cluster = self._of.get(other)
            if cluster is None or cluster is me:
                continue
            sure = self._completes(sense, other)
            if sure and not self._against(me, cluster):
                known = found.get(cluster)
                if known is None or known[0] < sure:
                    found[cluster] = (sure, cluster, other)
        fits = sorted(found.values(), key=lambda each: (-each[0], each[2].name))
        if not fits:
            return
        if len(fits) == 1:
            sure, cluster, other = fits[0]
            if sure >= _UNKNOWN_PART or self._meets(sense, cluster):
                self._link(other, sense, sure)
        else:
            self._place_each(sense, [(cluster, other) for _, cluster, other in fits])

    def _completes(self, short: Sense, full: Sense) -> float:
        """How sure a name is short for another; 0 if it is not."""
        if exact_only(short.name) or exact_only(full.name):
            return 0.0
        a, b = parts_of(short.name), parts_of(full.name)
        if len(b.words) == 1:
            return 0.0
        if acronym_of(short.name, full.name):
            return _ACRONYM if len(short.name) > 2 else 0.0
        how = likeness(short.name, full.name)
        if how is None or len(a.words) >= len(b.words):
            return 0.0
        if looks_like_no_person(b.words) or full.kind not in ("", "person"):
            return 0.0
        if short.kind not in ("", "person"):
            return 0.0
        if how.why == "part":
            if short.role and short.role != full.role and is_relative(short.role):
                return _NICK  # "my sister Anna" is seldom called by her full name
            person = "person" in (short.kind, full.kind) or is_first_name(b.words[0])
            return _PART if person or a.title else _UNKNOWN_PART
        if how.why != "nickname":
            return 0.0
        # Who is called Liz is not called Beth as well.
        called = {parts_of(name).words[0] for name in self._of[full].names}
        other = {word for word in called if len(full_forms(word)) > 1} - {a.words[0]}
        return _NICK if other else _UNKNOWN_PART

    def _meets(self, sense: Sense, cluster: Cluster) -> bool:
        """Whether a name stands with the same other names."""
        company = frozenset().union(*(use.company for use in cluster.uses))
        return any(use.company & company for use in sense.uses)

    def _place_each(self, sense: Sense, fits: Sequence[tuple[Cluster, Sense]]) -> None:
        """Of several that a name fits, each use goes where its company points."""
        own = self._of[sense]
        placed = []
        groups = [cluster.uses for cluster, _ in fits]
        for use in sense.uses:
            place, sure = closest(use, groups)
            if place is None:
                place, sure = introduced(use, groups), _INTRODUCED
            if place is None:
                reason = f"{len(fits)} bear the name"
                self._doubtful.append((use, tuple(other for _, other in fits), reason))
            else:
                placed.append((use, fits[place][0], sure))
        for use, cluster, sure in placed:
            part = Sense(sense.name, [use], weak={use.fact: sure})
            cluster.senses.append(part)
            self._of[part] = cluster
        sense.uses = []
        own.senses.remove(sense)
        del self._of[sense]

    def _link(self, one: Sense, other: Sense, sure: float, *, said: bool = False) -> None:
        a, b = self._of[one], self._of[other]
        if a is b or self._against(a, b, said=said):
            return
        if sure < _STRONG and len(a.names) > 1 and len(b.names) > 1:
            return
        for sense in b.senses if len(b.senses) <= len(a.senses) else a.senses:
            self._links[sense] = min(self._links.get(sense, 1.0), sure)
        self._merge(one, other)

    def _merge(self, one: Sense, other: Sense) -> None:
        a, b = self._of[one], self._of[other]
        if a is not b:
            a.senses += b.senses
            for sense in b.senses:
                self._of[sense] = a

    def _against(self, a: Cluster, b: Cluster, *, said: bool = False) -> bool:
        """Whether two groups of names can't be one entity."""
        if a.pinned and b.pinned and a.pinned != b.pinned:
            return True
        for one in a.senses:
            for other in b.senses:
                if self._apart(one, other, said):
                    return True
        return False

    def _apart(self, one: Sense, other: Sense, said: bool) -> bool:
        ends = (one.pinned or one.name, other.pinned or other.name)
        if frozenset(ends) in self._said.never:
            return True
        if one.name == other.name:
            return True  # they were parted before
        single = " " not in one.name or " " not in other.name
        if any(conflict(x, y, roles=single) for x in one.cues for y in other.cues):
            return True
        if said or self._said.resolve(one.name) == self._said.resolve(other.name):
            return False
        full = all(len(parts_of(sense.name).words) > 1 for sense in (one, other))
        return (
            full and likeness(one.name, other.name) is None and not acronym_of(one.name, other.name)
        )
