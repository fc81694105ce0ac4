"""Mines examples from labelled streams: the pairs a run would ask about, hard negatives included.

A pair written by hand is seldom as tempting as what a real memory holds: two notes on one
project, one of which corrects something else. Here the stages before the classifier choose the
pairs of each stream, and the stream's key says what they are.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from consolidate.backends import Backends
from consolidate.settings import Settings
from consolidate.stages.collapse import collapse
from consolidate.stages.group import Names, group
from consolidate.stages.pairs import find_pairs
from consolidate.times import parse_time
from consolidate.types import Fact, FactStatus
from models.train.data import CONTRADICTION, ENTAILMENT, NEUTRAL, Example, read_jsonl

__all__ = ["mined_examples", "mined_pairs", "relation_in"]

Entry = Mapping[str, Any]
"""A fact of a stream with its right end state, as in `eval/sets/streams`."""


def relation_in(stream: Entry, x: Entry, y: Entry) -> str:
    """What a stream's key says of two of its facts.

    Returns:
        `equivalent`, `x_entails_y`, `y_entails_x`, `contradicts`, `compatible`, or an empty text
        where the key leaves it open: two values further apart in one chain, or of one time.
    """
    if x.get("group") and x["group"] == y.get("group"):
        if x["state"] == "merged" and y["state"] == "current":
            return "y_entails_x"
        if y["state"] == "merged" and x["state"] == "current":
            return "x_entails_y"
        return "equivalent"
    facts = {fact["id"]: fact for fact in stream["facts"]}
    near_x, near_y = _same(facts, x), _same(facts, y)
    if any(near_y & set(facts[i].get("by", ())) for i in near_x):
        return "contradicts"
    if any(near_x & set(facts[i].get("by", ())) for i in near_y):
        return "contradicts"
    if near_y & _later(facts, near_x) or near_x & _later(facts, near_y):
        return ""
    if x["stated_at"] == y["stated_at"] and "tie" in stream.get("tags", ()):
        return ""
    return "compatible"


def _same(facts: Mapping[str, Entry], entry: Entry) -> set[str]:
    """The facts that say what this one says."""
    name = entry.get("group")
    return {entry["id"]} | {i for i, fact in facts.items() if name and fact.get("group") == name}


def _later(facts: Mapping[str, Entry], start: Iterable[str]) -> set[str]:
    """All that has come after these facts, over any number of steps."""
    seen: set[str] = set()
    waiting = list(start)
    while waiting:
        for following in facts[waiting.pop()].get("by", ()):
            for each in _same(facts, facts[following]) - seen:
                seen.add(each)
                waiting.append(each)
    return seen


def mined_pairs(
    stream: Entry, backends: Backends, settings: Settings
) -> Iterator[tuple[str, str, str]]:
    """The texts of each pair that a run would ask about, with their relation."""
    entries = {fact["id"]: fact for fact in stream["facts"]}
    facts = {number: _fact(fact) for number, fact in entries.items()}
    texts = [facts[unique.representative] for unique in collapse(tuple(facts.values()))]
    vectors = backends.embedder.embed([fact.text for fact in texts])
    found = backends.extractor.extract([fact.text for fact in texts])
    mentions = dict(zip([fact.id for fact in texts], map(tuple, found), strict=True))
    groups = group(texts, mentions, Names.of((), texts), hub_size=settings.hub_size)
    pairs = find_pairs(
        texts,
        vectors,
        groups,
        live={fact.id: True for fact in texts},
        neighbours=settings.neighbours,
        floor=settings.similarity_floor,
        per_fact=settings.pairs_per_fact,
    )
    for pair in pairs.pairs:
        x, y = entries[pair.left], entries[pair.right]
        relation = relation_in(stream, x, y)
        if relation:
            yield x["text"], y["text"], relation


def mined_examples(paths: Sequence[Path]) -> list[Example]:
    """Directed examples of all streams in some files."""
    settings = Settings()
    backends = Backends.load(settings)
    both = {"contradicts": CONTRADICTION, "compatible": NEUTRAL, "equivalent": ENTAILMENT}
    examples = []
    for path in paths:
        for stream in read_jsonl(path):
            for x, y, relation in mined_pairs(stream, backends, settings):
                if relation == "y_entails_x":
                    examples.append(Example(premise=y, hypothesis=x, label=ENTAILMENT))
                elif relation == "x_entails_y":
                    examples.append(Example(premise=x, hypothesis=y, label=ENTAILMENT))
                else:
                    turn = len(examples) // 2 % 2
                    for a, b, each in ((x, y, turn), (y, x, 1 - turn)):
                        examples.append(
                            Example(premise=a, hypothesis=b, label=both[relation], turn=each)
                        )
    return examples


def _fact(entry: Entry) -> Fact:
    stated = parse_time(entry["stated_at"])
    return Fact(
        id=entry["id"],
        agent="default",
        kind="fact",
        text=entry["text"],
        stated_at=stated,
        recorded_at=stated,
        source=entry.get("source", "user"),
        trust=1.0,
        content_hash="",
        status=FactStatus.ACTIVE,
    )


def main() -> None:
    """Print what the streams of a folder give."""
    import argparse
    from collections import Counter

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", type=Path, nargs="+")
    examples = mined_examples(parser.parse_args().files)
    print(json.dumps(Counter(example.label for example in examples)))


if __name__ == "__main__":
    main()
