"""Scores which names in a memory are taken for one entity, against labelled memories.

    python -m eval.grouping --split dev

The sets (`eval/sets/entities`) mark names in the text: `[Bob|rob]` is a name with the entity that
it means. Scored are pairs of names within a memory: of all pairs that are put together, how many
belong together, and of those that belong together, how many are. A name in doubt, and one that
the extractor misses, is together with nothing. A trap is a pair of the same name for two things.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import combinations
from pathlib import Path
from typing import Any, Final

from consolidate.backends import Backends
from consolidate.graph.resolve import resolve
from consolidate.names import name_key
from consolidate.protocols import EntityExtractor
from consolidate.settings import resolve as settings_of
from consolidate.stages.group import Names, group
from consolidate.store import fact_hash
from consolidate.types import Fact, Mention, Snapshot
from eval.record import SETS, files_digest, read_jsonl

__all__ = ["Memory", "Score", "load", "score"]

_MARK: Final = re.compile(r"\[([^\]|]+)\|([^\]]+)\]")
_BEGIN: Final = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Gold:
    """A name in a text and what it means."""

    fact: str
    start: int
    end: int
    text: str
    entity: str


@dataclass(frozen=True)
class Memory:
    """A labelled memory."""

    name: str
    facts: tuple[Fact, ...]
    gold: tuple[Gold, ...]


@dataclass(frozen=True)
class Score:
    """Pairs counted over memories."""

    right: int
    found: int
    there: int
    traps: int
    sprung: int
    """Traps put together."""

    @property
    def precision(self) -> float:
        """Share of pairs put together that belong together."""
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        """Share of pairs that belong together that were put together."""
        return self.right / self.there if self.there else 1.0

    @property
    def f1(self) -> float:
        """Harmonic mean of both."""
        whole = self.precision + self.recall
        return 2 * self.precision * self.recall / whole if whole else 0.0


def load(path: Path) -> list[Memory]:
    """Read labelled memories."""
    rows: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for row in read_jsonl(path):
        rows[row["memory"]].append(row)
    return [_memory(name, own) for name, own in rows.items()]


def _memory(name: str, rows: Sequence[Mapping[str, Any]]) -> Memory:
    facts, gold = [], []
    for place, row in enumerate(rows):
        text, at = "", 0
        for mark in _MARK.finditer(row["text"]):
            text += row["text"][at : mark.start()]
            at = mark.end()
            start = len(text)
            text += mark[1]
            gold.append(Gold(row["id"], start, len(text), mark[1], mark[2]))
        text += row["text"][at:]
        moment = _BEGIN + timedelta(days=place)
        facts.append(
            Fact(
                id=row["id"],
                agent="default",
                kind="fact",
                text=text,
                stated_at=moment,
                recorded_at=moment,
                source="user",
                content_hash=fact_hash(text),
            )
        )
    return Memory(name, tuple(facts), tuple(gold))


def marked(memory: Memory) -> dict[str, list[Mention]]:
    """The labelled names as an extractor that misses nothing would give them."""
    found: dict[str, list[Mention]] = {fact.id: [] for fact in memory.facts}
    for each in memory.gold:
        mention = Mention(start=each.start, end=each.end, text=each.text, label="name")
        found[each.fact].append(mention)
    return found


def score(
    memories: Sequence[Memory],
    extractor: EntityExtractor | None,
    *,
    embed: Any = None,
    alone: bool = False,
    show: bool = False,
) -> Score:
    """Put the names of each memory together and count pairs.

    Args:
        memories: The labelled memories.
        extractor: Finds the names; None takes the labelled ones.
        embed: Gives vectors of texts; None does without.
        alone: Only by equal keys and the user's own name: what there was before.
        show: Print what is wrong.
    """
    counts = [0] * 5
    for memory in memories:
        texts = [fact.text for fact in memory.facts]
        mentions: Mapping[str, Sequence[Mention]] = marked(memory)
        if extractor is not None:
            found = extractor.extract(texts)
            mentions = dict(zip((fact.id for fact in memory.facts), found, strict=True))
        names = (
            Names.of([], memory.facts)
            if alone
            else resolve(
                Snapshot(agent="default", facts=memory.facts),
                memory.facts,
                mentions,
                None if embed is None else embed(texts),
            )
        )
        means = group(memory.facts, mentions, names, hub_size=24).means
        given = [_given(each, mentions, means) for each in memory.gold]
        for (a, one), (b, other) in combinations(zip(memory.gold, given, strict=True), 2):
            together = one is not None and one == other
            belong = a.entity == b.entity
            trap = not belong and name_key(a.text) == name_key(b.text)
            for place, true in enumerate(
                (together and belong, together, belong, trap, trap and together)
            ):
                counts[place] += true
            if show and together != belong:
                what = "TOGETHER" if together else "apart"
                print(f"{what:9} {a.fact} {a.text!r} ({one}) | {b.fact} {b.text!r} ({other})")
    return Score(*counts)


def _given(
    gold: Gold, mentions: Mapping[str, Sequence[Mention]], means: Mapping[str, Mapping[str, str]]
) -> str | None:
    """The entity of the found name that covers most of a labelled one; None if there is none."""
    best, shared = None, 0
    for mention in mentions.get(gold.fact, ()):
        common = min(mention.end, gold.end) - max(mention.start, gold.start)
        if common > shared:
            best, shared = mention, common
    if best is None or 2 * shared < gold.end - gold.start:
        return None
    return means.get(gold.fact, {}).get(name_key(best.text)) or None


def _runs(settings: Any) -> Iterator[tuple[str, dict[str, Any]]]:
    backends = Backends.load(settings)
    embed = backends.embedder.embed
    yield "equal names alone, labelled names", {"extractor": None, "alone": True}
    yield "resolved, labelled names", {"extractor": None, "embed": embed}
    yield "resolved, labelled names, no vectors", {"extractor": None}
    yield (
        f"resolved, {backends.extractor.identity}",
        {
            "extractor": backends.extractor,
            "embed": embed,
        },
    )


def main(arguments: Sequence[str] | None = None) -> int:
    """Score one split and write the result."""
    parser = argparse.ArgumentParser(prog="python -m eval.grouping", description=__doc__)
    parser.add_argument("--split", default="dev", choices=["dev", "test"])
    parser.add_argument("--show", default="", help="print what this run does wrong (dev)")
    asked = parser.parse_args(arguments)
    path = SETS / "entities" / f"{asked.split}.jsonl"
    memories = load(path)
    result: dict[str, Any] = {"split": asked.split, "data": files_digest([path]), "runs": {}}
    for name, how in _runs(settings_of().settings):
        show = asked.show == name and asked.split == "dev"
        found = score(memories, show=show, **how)
        result["runs"][name] = {
            "precision": round(found.precision, 4),
            "recall": round(found.recall, 4),
            "f1": round(found.f1, 4),
            "pairs": found.there,
            "traps": found.traps,
            "traps_put_together": found.sprung,
        }
        print(f"{name}: {json.dumps(result['runs'][name])}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
