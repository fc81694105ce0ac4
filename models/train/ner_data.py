"""Reads notes and sentences with named spans and turns them into examples for GLiNER.

Two kinds of sources: public sets (JSON lines `{text, entities: [[start, end, label]], split}`;
where each comes from, and under which licence, stands in the model card) and this project's own
notes (`eval/sets/memory_ner`). GLiNER reads its labels as words, so an example carries those that
it asks about: those that occur, and some that do not, drawn from what the source annotates.
"""

from __future__ import annotations

import json
import random
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from eval.entities import held_out
from models.train.ner_templates import made_note

__all__ = [
    "LABELS",
    "Example",
    "Names",
    "lower_cased",
    "made_examples",
    "memory_examples",
    "public_examples",
    "renamed",
    "split_words",
    "words_of",
]

LABELS: Final = ("person", "organisation", "place", "product", "project", "technology", "date")
"""The labels of this project's notes, in the order in which the bundled model is asked."""

_WORD: Final = re.compile(r"\w+(?:[-_]\w+)*|\S")  # GLiNER's own rule for words
_MOST_WORDS: Final = 60

Span = tuple[int, int, str]

# Fine labels of the public sets and the coarse one that covers them. In half of the examples the
# coarse one is asked: a note's "person" is a writer, too.
_COARSE: Final[Mapping[str, Mapping[str, str]]] = {
    "crossner": {
        **dict.fromkeys(
            ("person", "politician", "writer", "musicalartist", "scientist", "researcher"), "person"
        ),
        **dict.fromkeys(("organisation", "university", "politicalparty", "band"), "organisation"),
        **dict.fromkeys(("location", "country"), "place"),
        "programlang": "technology",
    },
    "wnut17": {
        "person": "person",
        "location": "place",
        "corporation": "organisation",
        "group": "organisation",
    },
    "wikigold": {"PER": "person", "LOC": "place", "ORG": "organisation"},
}
_LEFT_OUT: Final = {"misc", "MISC"}  # what is left over has no name of its own
_OTHER_WORDS: Final[Mapping[str, Sequence[str]]] = {
    "person": ("person", "name", "human"),
    "organisation": ("organisation", "organization", "company"),
    "place": ("place", "location"),
    "product": ("product",),
    "project": ("project", "code name"),
    "technology": ("technology", "software"),
    "date": ("date", "date or time"),
}


@dataclass(frozen=True, kw_only=True)
class Example:
    """Words, the spans among them, and the labels that are asked about."""

    words: tuple[str, ...]
    spans: tuple[Span, ...]
    """First word, last word (inclusive), label."""
    labels: tuple[str, ...]
    source: str


def split_words(text: str) -> list[tuple[int, int]]:
    """Start and end of each word of `text`, by GLiNER's own rule."""
    return [match.span() for match in _WORD.finditer(text)]


def words_of(text: str, entities: Iterable[Sequence[Any]]) -> tuple[tuple[str, ...], list[Span]]:
    """The words of `text`, and entities as word spans; those that cut a word are left out."""
    places = split_words(text)[:_MOST_WORDS]
    first = {start: index for index, (start, _) in enumerate(places)}
    last = {end: index for index, (_, end) in enumerate(places)}
    spans = [
        (first[start], last[end], label)
        for start, end, label in entities
        if start in first and end in last
    ]
    return tuple(text[a:b] for a, b in places), spans


def memory_examples(paths: Iterable[Path]) -> list[Example]:
    """The project's own notes, asked about all seven labels."""
    examples = []
    for path in paths:
        for row in _rows(path):
            words, spans = words_of(row["text"], row["entities"])
            examples.append(
                Example(words=words, spans=tuple(spans), labels=LABELS, source="memory")
            )
    return examples


def made_examples(count: int, rng: random.Random) -> list[Example]:
    """Notes made from frames and common names, for one epoch."""
    examples = []
    for _ in range(count):
        words, spans = words_of(*made_note(rng))
        examples.append(Example(words=words, spans=tuple(spans), labels=LABELS, source="made"))
    return examples


def public_examples(folder: Path, rng: random.Random) -> list[Example]:
    """Public sentences for one epoch, each with the labels drawn for it."""
    names = json.loads((folder / "ner_label_names.json").read_text(encoding="utf-8"))
    examples = []
    for source, coarse in _COARSE.items():
        rows = [
            row
            for row in _rows(folder / f"{source}.jsonl")
            if row["split"] == "train" or (source == "crossner" and not held_out(row))
        ]
        kinds: dict[str, set[str]] = defaultdict(set)
        for row in rows:
            kinds[row.get("domain", "")] |= {label for *_, label in row["entities"]}
        for row in rows:
            if not row["entities"] and rng.random() < 0.5:
                continue  # most of wnut17 names nothing
            known = kinds[row.get("domain", "")] - _LEFT_OUT
            coarsely = rng.random() < 0.5
            word = {
                label: coarse.get(label, names[label]) if coarsely else names[label]
                for label in known
            }
            entities = [(a, b, word[label]) for a, b, label in row["entities"] if label in word]
            words, spans = words_of(row["text"], entities)
            if len(words) < 2:
                continue
            asked = {label for *_, label in spans}
            others = sorted(set(word.values()) - asked)
            asked |= set(rng.sample(others, min(len(others), rng.randint(1, 5))))
            labels = sorted(asked)
            rng.shuffle(labels)
            examples.append(
                Example(words=words, spans=tuple(spans), labels=tuple(labels), source=source)
            )
    return examples


def renamed(example: Example, rng: random.Random) -> Example:
    """The same notes under other words for labels, in another order, some left unasked."""
    word = {label: rng.choice(_OTHER_WORDS[label]) for label in LABELS}
    if rng.random() < 0.2:
        word = {label: text.capitalize() for label, text in word.items()}
    labels = [label for label in LABELS if rng.random() < 0.8] or ["person"]
    rng.shuffle(labels)
    spans = tuple((a, b, word[label]) for a, b, label in example.spans if label in labels)
    return replace(example, spans=spans, labels=tuple(word[label] for label in labels))


def lower_cased(example: Example) -> Example:
    """The note as a hasty writer types it."""
    return replace(example, words=tuple(word.lower() for word in example.words))


class Names:
    """Names to put in the place of others, so that the model learns the places they stand in."""

    def __init__(self, examples: Iterable[Example], aliases: Path | None, words: Sequence[str]):
        """Collect names by label.

        Args:
            examples: Where names are taken from, with coarse labels.
            aliases: A file `{name, nicknames}` of given names, or None.
            words: Plain words from which code names are made.
        """
        pool: dict[str, set[tuple[str, ...]]] = defaultdict(set)
        for example in examples:
            for first, last, label in example.spans:
                if label in LABELS and last - first < 5:
                    pool[label].add(example.words[first : last + 1])
        if aliases is not None:
            pool["person"] |= {(row["name"].title(),) for row in _rows(aliases)}
        self._pool = {label: sorted(names) for label, names in pool.items()}
        self._words = words

    def _name(self, label: str, rng: random.Random) -> tuple[str, ...] | None:
        if label == "project" and self._words and rng.random() < 0.6:
            one, two = rng.choice(self._words), rng.choice(self._words)
            kind = rng.randrange(6)
            name = (one, one.title(), f"{one}-{two}", f"{one}{two}", f"{one}_{two}", one.title())
            return (name[kind],)
        names = self._pool.get(label)
        return rng.choice(names) if names else None

    def swapped(self, example: Example, rng: random.Random, share: float) -> Example:
        """The example with about `share` of its names replaced by others of their label."""
        words: list[str] = []
        spans: list[Span] = []
        at = 0
        for first, last, label in sorted(example.spans):
            if first < at:
                return example  # nested: leave it alone
            words += example.words[at:first]
            name = self._name(label, rng) if rng.random() < share else None
            start = len(words)
            words += name or example.words[first : last + 1]
            spans.append((start, len(words) - 1, label))
            at = last + 1
        words += example.words[at:]
        return replace(example, words=tuple(words), spans=tuple(spans))


def _rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8") as lines:
        for line in lines:
            if line.strip():
                yield json.loads(line)
