"""The one read of a run: everything planning needs to know, at one moment."""

from __future__ import annotations

import hashlib
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any

from consolidate.serialise import canonical
from consolidate.store.base import Part
from consolidate.store.derived import NOTE_SQL
from consolidate.store.rows import (
    ALIAS_COLUMNS,
    DECLARED_COLUMNS,
    FACT_COLUMNS,
    FACT_SQL,
    LIVE,
    PIN_COLUMNS,
    alias_from_row,
    declared_from_row,
    fact_from_row,
    ordered,
    pin_from_row,
    placeholders,
)
from consolidate.store.validation import check_name
from consolidate.types import DecisionKind, EntityPin, FactStatus, Snapshot

__all__ = ["SnapshotPart"]

_SUCCESSOR = FACT_COLUMNS.index("superseded_by")
_TAKE_PART = sorted(LIVE | {FactStatus.SUPERSEDED})
_CLOSED_UP_TO = 64
"""In larger sets of facts that were undone together only the decided pairs count as settled: all
pairs would be too many, and such sets are the repeats of one text."""


class SnapshotPart(Part):
    """The store's method that begins a run."""

    def snapshot(self, agent: str, *, include_undone: bool = False) -> Snapshot:
        """Read an agent's live and superseded facts, aliases, settled and linked pairs.

        Notes made from facts are left out: they say nothing of their own.
        All in one read transaction; other processes may write meanwhile. Settled are pairs with
        a review of any state and pairs that an undone run decided about, directly or over others;
        `include_undone` opens the latter again.
        """
        check_name("agent", agent)
        with self._db.reading():
            rows = self._db.query(
                f"SELECT {FACT_SQL} FROM facts WHERE agent = ? "  # noqa: S608
                f"AND status IN ({placeholders(_TAKE_PART)}) AND NOT {NOTE_SQL} ORDER BY id",
                (agent, *(status.value for status in _TAKE_PART)),
            )
            aliases = self._db.query(
                f"SELECT {', '.join(ALIAS_COLUMNS)} FROM aliases WHERE agent = ? "  # noqa: S608
                "ORDER BY canonical, alias",
                (agent,),
            )
            declared = self._db.query(
                f"SELECT {', '.join(DECLARED_COLUMNS)} FROM entity_declarations "  # noqa: S608
                "WHERE agent = ? ORDER BY key",
                (agent,),
            )
            pins = self._db.query(
                f"SELECT {', '.join(PIN_COLUMNS)} FROM entity_pins "  # noqa: S608
                "WHERE agent = ? ORDER BY fact, name, entity",
                (agent,),
            )
            reviewed = self._db.query(
                "SELECT left_fact, right_fact FROM reviews WHERE agent = ?", (agent,)
            )
            undone = [] if include_undone else self._undone(agent)
            linked = self._db.query(
                "SELECT DISTINCT left_fact, right_fact FROM links WHERE agent = ?", (agent,)
            )
            merged: dict[str, str] = dict(
                self._db.query(
                    "SELECT id, merged_into FROM facts "
                    "WHERE agent = ? AND status = ? AND merged_into IS NOT NULL",
                    (agent, FactStatus.MERGED.value),
                )
            )
        successors = {row[_SUCCESSOR] for row in rows}
        decided = {ordered(left, right) for left, right in [*reviewed, *undone]}
        # What was decided about a fact holds for the one that it was merged into
        followed = {ordered(_heir(a, merged), _heir(b, merged)) for a, b in decided}
        settled_pairs = sorted(decided | {pair for pair in followed if pair[0] != pair[1]})
        linked_pairs = sorted({ordered(left, right) for left, right in linked})
        inherited = _inherited([pin_from_row(row) for row in pins], merged)
        heirs = {fact: _heir(fact, merged) for fact in sorted(successors & merged.keys())}
        return Snapshot(
            agent=agent,
            facts=tuple(map(fact_from_row, rows)),
            aliases=tuple(map(alias_from_row, aliases)),
            declared=tuple(map(declared_from_row, declared)),
            pins=inherited,
            settled=frozenset(settled_pairs),
            linked=frozenset(linked_pairs),
            heirs=heirs,
            digest=_digest(
                agent,
                rows,
                [row[1:4] for row in aliases],
                settled_pairs,
                linked_pairs,
                [*heirs.items()],
                [row[1:5] for row in declared],
                [(pin.fact, pin.name, pin.entity) for pin in inherited],
            ),
        )

    def _undone(self, agent: str) -> list[tuple[str, str]]:
        """Pairs that a person has taken back.

        A pair that a later run decided about again (`include_undone`) is not among them. Facts that
        one undone plan merged or retired into each other, directly or over others, belong together:
        what was undone for A, B and C must not come back as A and C.
        """
        rows = self._db.query(
            "SELECT runs.plan, decisions.subject, decisions.object, "
            "json_extract(decisions.body, '$.kind') "
            "FROM decisions JOIN runs ON runs.plan = decisions.plan "
            "WHERE runs.agent = ? AND runs.state = 'undone' "
            # What a later run was told to decide anew, and did, is open again
            "AND NOT EXISTS (SELECT 1 FROM decisions AS again "
            "JOIN runs AS later ON later.plan = again.plan "
            "WHERE later.state = 'applied' AND later.number > runs.number "
            "AND (again.subject, again.object) IN ((decisions.subject, decisions.object), "
            "(decisions.object, decisions.subject)))",
            (agent,),
        )
        joined: dict[str, list[tuple[str, str]]] = defaultdict(list)
        for plan, subject, other, kind in rows:
            if kind != DecisionKind.LINK.value:
                joined[plan].append((subject, other))
        pairs = [(subject, other) for _, subject, other, _ in rows]
        for edges in joined.values():
            for members in _connected(edges):
                if len(members) <= _CLOSED_UP_TO:
                    pairs += combinations(members, 2)
        return pairs


def _connected(edges: Sequence[tuple[str, str]]) -> list[list[str]]:
    """Sets of facts that pairs connect, each sorted."""
    group: dict[str, list[str]] = {}
    for left, right in edges:
        one, two = group.setdefault(left, [left]), group.setdefault(right, [right])
        if one is not two:
            small, large = sorted((one, two), key=len)
            large += small
            group.update(dict.fromkeys(small, large))
    return [sorted(members) for members in {id(each): each for each in group.values()}.values()]


def _inherited(pins: Sequence[EntityPin], merged: Mapping[str, str]) -> tuple[EntityPin, ...]:
    """Pins of merged facts under what those were merged into; what that has itself comes first."""
    own = {(pin.fact, pin.name) for pin in pins}
    found = {(pin.fact, pin.name, pin.entity): pin for pin in pins if pin.fact not in merged}
    for pin in pins:
        heir = _heir(pin.fact, merged)
        if heir != pin.fact and (heir, pin.name) not in own:
            moved = replace(pin, fact=heir)
            if pin.name:
                own.add((heir, pin.name))
            found[heir, pin.name, pin.entity] = moved
    return tuple(found[key] for key in sorted(found))


def _heir(fact: str, merged: Mapping[str, str]) -> str:
    """Follow merges to the fact that stands at their end."""
    seen = {fact}
    # A circle should not be; `Store.check` reports it, here it only must not last for ever.
    while fact in merged and merged[fact] not in seen:
        fact = merged[fact]
        seen.add(fact)
    return fact


def _digest(agent: str, facts: list[Any], *others: list[Any]) -> str:
    """Hash the rows as they are stored: they have one form for one value."""
    digest = hashlib.sha256(canonical([agent, *others]).encode())
    # Fact by fact, so that the text of a large store is never in memory as a whole.
    for row in facts:
        digest.update(canonical(row).encode())
    return digest.hexdigest()
