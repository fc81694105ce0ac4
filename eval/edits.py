"""Memories in which facts are overwritten: numbered statements of which the later one counts.

Rebuilds the single-hop task of FactConsolidation (MemoryAgentBench) from edit triples: a subject, a
relation, a template, an old and a new value. Every statement gets a serial number, which is told
as a time, and the values of one subject and relation keep their order. Pure, but for reading.
"""

from __future__ import annotations

import hashlib
import random
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Final

from consolidate.types import NewFact
from eval.memories import AGENT
from eval.record import SETS, read_jsonl

__all__ = ["SAMPLE", "Chain", "Edits", "edits_of", "read_chains"]

SAMPLE: Final = SETS / "conflicts" / "sample.jsonl"
FIRST: Final = datetime(2026, 1, 1, tzinfo=UTC)
"""When statement number 0 was said; each later one a minute after the one before."""

_NEEDED: Final = ("subject", "relation", "template", "old", "new", "kind")
KINDS: Final = ("static", "mutable", "multi")


@dataclass(frozen=True, kw_only=True)
class Chain:
    """The values that one relation of one subject was said to have, in order."""

    subject: str
    relation: str
    kind: str
    """`mutable` (may change), `static` (cannot change, so the later one is a correction), or
    `multi` (holds many at a time: all of them are current)."""
    texts: tuple[str, ...]
    values: tuple[str, ...]
    question: str
    """Empty where several values hold."""

    @property
    def id(self) -> str:
        """Derived from subject and relation."""
        return hashlib.sha256(f"{self.subject}\x1f{self.relation}".encode()).hexdigest()[:12]


@dataclass(frozen=True, kw_only=True)
class Edits:
    """A memory of overwritten facts, and what is right about it."""

    chains: Mapping[str, Chain]
    """By id."""
    ids: Mapping[str, tuple[str, ...]]
    """The facts of each chain, in order."""
    facts: tuple[NewFact, ...]
    """In order of their serial numbers."""
    outdated: Mapping[str, frozenset[str]]
    """Fact to the facts that may have superseded it."""
    current: frozenset[str]
    newest: Mapping[str, str]
    """Id of a chain that is asked about, to the fact that answers."""


def read_chains(path: Path) -> list[Chain]:
    """Read triples and string those of one subject and relation together.

    A row: `subject`, `relation`, `template` (with `{subject}` and `{object}`), `old`, `new`,
    `kind`; `question` where there is one, else the template without its object is asked. What
    comes back to a value it had, or where two rows disagree, is left out.

    Raises:
        ValueError: A row lacks a field or is of unknown kind.
    """
    rows: dict[tuple[str, str], list[Mapping[str, Any]]] = defaultdict(list)
    for number, row in enumerate(read_jsonl(path), start=1):
        missing = [name for name in _NEEDED if not row.get(name)]
        if missing or row["kind"] not in KINDS:
            what = f"{missing[0]!r} is missing" if missing else f"unknown kind {row['kind']!r}"
            raise ValueError(f"{path.name}, line {number}: {what}")
        rows[row["subject"], row["relation"]].append(row)
    chains = [_chain(each) for each in rows.values()]
    return [chain for chain in chains if chain is not None]


def _chain(rows: Sequence[Mapping[str, Any]]) -> Chain | None:
    values = [rows[0]["old"]]
    for row in rows:
        if row["old"] != values[-1]:
            return None
        values.append(row["new"])
    if len({value.casefold() for value in values}) < len(values):
        return None
    subject, template, kind = (rows[0][name] for name in ("subject", "template", "kind"))
    return Chain(
        subject=subject,
        relation=rows[0]["relation"],
        kind=kind,
        values=tuple(values),
        texts=tuple(
            template.replace("{subject}", subject).replace("{object}", value) for value in values
        ),
        question="" if kind == "multi" else rows[0].get("question") or _asked(template, subject),
    )


def _asked(template: str, subject: str) -> str:
    words = template.replace("{object}", " ").replace("{subject}", subject)
    return " ".join(words.split()).rstrip(" .") + "?"


def edits_of(chains: Iterable[Chain], *, facts: int, seed: int = 1) -> Edits:
    """Make a memory of at most `facts` statements.

    Which chains are taken depends on their names alone; the order of all statements is drawn by
    `seed`, except that the values of a chain stay in theirs.
    """
    taken: list[Chain] = []
    size = 0
    for chain in sorted(chains, key=lambda each: each.id):
        if size + len(chain.texts) > facts:
            break
        taken.append(chain)
        size += len(chain.texts)
    order = [number for number, chain in enumerate(taken) for _ in chain.texts]
    random.Random(seed).shuffle(order)  # noqa: S311
    said: dict[int, list[str]] = defaultdict(list)
    made = []
    for serial, number in enumerate(order):
        chain = taken[number]
        fact_id = f"e{serial:06}"
        made.append(
            NewFact(
                id=fact_id,
                text=chain.texts[len(said[number])],
                stated_at=FIRST + timedelta(minutes=serial),
                source="user",
                agent=AGENT,
            )
        )
        said[number].append(fact_id)
    outdated, current, newest = {}, set(), {}
    for number, ids in said.items():
        if taken[number].kind == "multi":
            current.update(ids)
            continue
        for place, fact_id in enumerate(ids[:-1]):
            outdated[fact_id] = frozenset(ids[place + 1 :])
        current.add(ids[-1])
        newest[taken[number].id] = ids[-1]
    return Edits(
        chains={chain.id: chain for chain in taken},
        ids={taken[number].id: tuple(ids) for number, ids in said.items()},
        facts=tuple(made),
        outdated=outdated,
        current=frozenset(current),
        newest=newest,
    )
