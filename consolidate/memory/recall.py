"""Finding what is remembered: by meaning, by words and by the graph, joined, then weighed.

A query is looked for among the vectors and in the text index, and where it names something, facts
a step or two away from that are looked at too (`by_graph`). The lists are joined by rank
(`fusion`), and each find is weighed by relevance, strength and recency. The weights are hippo's
(MIT, README, "Search scoring"): 0.6, 0.3, 0.1; recency is `e^(-0.01 * days since it was said)`.

Reading needs no write lock: what a recall wants to write (that facts were used, vectors that were
missing) is written when nobody else is writing, and otherwise kept for later.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from consolidate.errors import BackendError, InputError, ModelMismatchError, StoreError
from consolidate.memory.base import MemoryPart
from consolidate.memory.by_graph import GraphFinder, Walked
from consolidate.memory.fusion import (
    affordable,
    coverage,
    fuse,
    interleave,
    is_grammar,
    keep,
    likeness,
    rarities,
    tokens,
)
from consolidate.memory.records import Recalled
from consolidate.memory.strength import Decay
from consolidate.protocols import embed_queries
from consolidate.store.search import literal_pieces, query_words
from consolidate.store.validation import check_name
from consolidate.times import parse_time

__all__ = ["RecallPart", "Recollection"]

_Vector = npt.NDArray[np.float32]

MEANING: Final = "meaning"
WORDS: Final = "words"
GRAPH: Final = "graph"

GRAPH_SHARE: Final = 0.3
"""What a rank by the graph counts for beside one by meaning and words."""
ANSWERED: Final = 0.2
"""What a word of the query still weighs if facts about what it names hold it."""
LIKENESS: Final = 0.3
"""What a cosine counts for beside such words."""
GRAPH_KEPT: Final = 3
"""So many finds of the graph stay in the answer, however unlike the query they are."""

_DEEPEST: Final = 1000
"""The largest limit."""
_LEAST_DEPTH: Final = 50
"""Finds of each way that are joined, at least."""
_READ: Final = 20_000
"""Characters of a long text in which words are counted."""
_WORK: Final = 4000
"""Matches of words that one recall ranks, about; each costs two microseconds."""
_WORK_WITHOUT_VECTORS: Final = 20_000
_FLUSH_EVERY: Final = 5.0
"""Seconds that uses are kept in memory at most while recalls go on. One write for many recalls:
each costs the disk a few milliseconds."""
_FLUSH_AT: Final = 200
"""Facts with uses that are written even sooner."""


class Recollection(list[Recalled]):
    """What a recall found, best first, and how.

    Attributes:
        used: Of `meaning`, `words` and `graph`, the ways of finding that could be used.
        notes: Why one could not, or not for all facts, in plain sentences.
    """

    def __init__(
        self, found: Iterable[Recalled], *, used: Sequence[str], notes: Sequence[str]
    ) -> None:
        super().__init__(found)
        self.used = tuple(used)
        self.notes = tuple(notes)


@dataclass(frozen=True, kw_only=True)
class _Find:
    """A candidate with its marks."""

    slot: int
    number: int
    relevance: float
    strength: float
    recency: float
    score: float
    found_by: tuple[str, ...]
    pinned: bool
    passage: str
    steps: tuple[int | str, ...] = ()
    """Entities and facts on the way to it, where the graph led there."""


@dataclass(frozen=True, kw_only=True)
class _Question:
    """A recall, checked."""

    query: str
    vector: _Vector | None
    model: str | None
    kind: str | None
    limit: int
    at: datetime | None
    include_history: bool
    now: datetime


class RecallPart(MemoryPart):
    """A memory's verbs for recalling."""

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._uses: dict[str, tuple[int, datetime]] = {}
        self._uses_lock = threading.Lock()
        self._flushed = time.monotonic()
        self._graph = GraphFinder(self.store, self.agent, self.graphs)

    def recall_memories(
        self,
        query: str,
        *,
        kind: str | None = None,
        limit: int = 10,
        as_of: datetime | str | None = None,
        include_history: bool = False,
    ) -> Recollection:
        """Find facts and memories.

        By default, what holds now: no superseded or merged facts, none whose validity is over,
        none that faded below the floor. Each way of finding keeps its best in the answer. What
        is found counts as used, which keeps it from fading, if its relevance is at least the
        setting `recall_use`.

        Args:
            query: What to look for, in any words.
            kind: Only this kind.
            limit: At most so many, 1 to 1000.
            as_of: Answer with what held at this time (see `MemoryIndex.held_at`), strength and
                recency as they were then. Text without an offset is read in the zone of the
                settings.
            include_history: Also what no longer holds, and what has faded.

        Raises:
            InputError: A value can't be used.
            ModelMismatchError: The store holds vectors of another embedder.
        """
        moment = self._moment(as_of)
        _check(query, kind, limit)
        vector, model, notes = self._embed_query(query)
        asked = _Question(
            query=query,
            vector=vector,
            model=model,
            kind=kind,
            limit=limit,
            at=moment,
            include_history=include_history,
            now=self.now(),
        )
        with self.index.lock:
            if vector is not None and model is not None:
                self.index.refresh(model, len(vector))
                notes += self._fill(model, len(vector))
            else:
                self.index.refresh()
            finds, ways, left_out = self._find(asked)
        notes += left_out
        facts = self.store.facts_by_number([find.number for find in finds])
        finds = [find for find in finds if find.number in facts]
        names = self.store.names_in([facts[find.number].id for find in finds])
        paths = self._paths(finds)
        found = [
            Recalled(
                fact=(fact := facts[find.number]),
                score=find.score,
                relevance=find.relevance,
                strength=find.strength,
                recency=find.recency,
                found_by=find.found_by,
                entities=names.get(fact.id, ()),
                pinned=find.pinned,
                passage=find.passage,
                path=paths.get(find.number, ()),
            )
            for find in finds
        ]
        if moment is None and not include_history:
            least = self.settings.recall_use
            used = [each.fact.id for each in found if each.relevance >= least]
            self._note_uses(used, asked.now)
        return Recollection(found, used=ways, notes=notes)

    def _moment(self, as_of: datetime | str | None) -> datetime | None:
        return None if as_of is None else parse_time(as_of, zone=self.settings.timezone)

    # The models

    def _embed_query(self, query: str) -> tuple[_Vector | None, str | None, list[str]]:
        """The query's vector and model, or the reason why it has none."""
        try:
            embedder = self.embedder
            model, dimensions = embedder.identity, embedder.dimensions
            self.store.check_embedding_model(model, dimensions)
            return embed_queries(embedder, [query])[0], model, []
        except ModelMismatchError:
            raise
        except BackendError as error:
            return None, None, [f"found by words only, since the embedder fails: {error}"]

    def _fill(self, model: str, dimensions: int) -> list[str]:
        """Embed some of the facts that lack a vector, the newest first."""
        texts = self.store.texts_with(self.index.lacking(self.settings.recall_embeds))
        if texts:
            try:
                rows = self.embedder.embed(list(texts.values()))
            except BackendError as error:
                return [f"new facts are found by words only, since the embedder fails: {error}"]
            vectors = dict(zip(texts, rows, strict=True))
            self.index.add_vectors(vectors)
            self._keep_vectors(vectors, model, dimensions)
        left = self.index.unembedded
        if not self.index.lacking(1):
            return []
        return [
            f"{left} texts have no vector yet and are found by words only; each recall makes some, "
            "`consolidate run` makes those of facts at once"
        ]

    def _keep_vectors(self, vectors: dict[str, _Vector], model: str, dimensions: int) -> None:
        """Save vectors if that is possible without waiting; they are in the index anyway."""
        if self.store.read_only:
            return
        try:
            with self.store.atomic(wait=False):
                self.store.save_vectors(vectors, model, dimensions)
        except ModelMismatchError:
            raise
        except StoreError:
            return

    # Finding

    def _find(self, asked: _Question) -> tuple[list[_Find], tuple[str, ...], list[str]]:
        """The finds, the ways that were used, and why one was not."""
        index, settings = self.index, self.settings
        allowed = self._allowed(asked)
        depth = max(_LEAST_DEPTH, 5 * asked.limit)
        similarity = None
        by_meaning: list[int] = []
        if asked.vector is not None:
            similarity = index.similarities(asked.vector)
            by_meaning = index.best(
                np.where(allowed, similarity, -np.inf), depth, least=settings.recall_similarity
            )
        by_words, counts, passages = self._by_words(asked, allowed, depth)
        rankings = [by_meaning, by_words] if similarity is not None else [by_words]
        weights = rarities(counts, facts=max(1, len(index)))
        walked, notes = self._walk(asked, allowed, similarity, weights, depth)
        by_graph = list(walked.slots)
        shares = fuse(rankings, k=settings.fusion_k)
        for slot, share in fuse([by_graph], k=settings.fusion_k).items():
            # Being near to what is named says less than being like the query
            shares[slot] = max(shares.get(slot, 0.0), GRAPH_SHARE * share)
        if asked.vector is not None and index.has_passages:
            for slot in by_meaning:
                if slot not in passages:
                    passages[slot] = index.nearest_passage(slot, asked.vector)
        texts = self._texts(shares, passages)
        ways = {MEANING: set(by_meaning), WORDS: set(by_words), GRAPH: set(by_graph)}
        moment = (asked.at or asked.now).timestamp()
        slots = np.array(list(shares), dtype=np.int64)
        strengths = index.strengths(Decay.of(settings), moment, slots)
        days = np.maximum(moment - index.said[slots], 0.0) / 86400.0
        recencies = np.exp(-settings.recency_per_day * days)
        finds = []
        for slot, strength, recency in zip(shares, strengths, recencies, strict=True):
            covered = coverage(weights, texts.get(slot, ""))
            near = 0.0 if similarity is None else float(similarity[slot])
            relevance = likeness(shares[slot], near, covered)
            finds.append(
                _Find(
                    slot=slot,
                    number=int(index.numbers[slot]),
                    relevance=relevance,
                    strength=float(strength),
                    recency=float(recency),
                    score=settings.relevance_weight * relevance
                    + settings.strength_weight * float(strength)
                    + settings.recency_weight * float(recency),
                    found_by=tuple(name for name, found in ways.items() if slot in found),
                    pinned=bool(index.pinned[slot]),
                    passage=texts.get(slot, "") if passages.get(slot, -1) >= 0 else "",
                )
            )
        finds.sort(key=lambda find: (-find.score, -find.number))
        by_slot = {find.slot: find for find in finds}
        best = [ranking[0] for ranking in rankings if ranking] + by_graph[:GRAPH_KEPT]
        chosen = keep(list(by_slot), asked.limit, best)
        found = [by_slot[slot] for slot in chosen]
        if walked.graph is not None:
            found = [self._with_steps(find, walked) for find in found]
        used = [] if similarity is None else [MEANING]
        return found, (*used, WORDS, *([GRAPH] if walked.graph is not None else [])), notes

    def _walk(
        self,
        asked: _Question,
        allowed: npt.NDArray[np.bool_],
        similarity: npt.NDArray[np.floating[Any]] | None,
        weights: Mapping[str, float],
        depth: int,
    ) -> tuple[Walked, list[str]]:
        """Facts near to what the query names. Only what holds now is in the graph."""
        if self.settings.recall_graph == "off":
            return Walked(), []

        def fit(slots: Sequence[int], beside: Sequence[int]) -> npt.NDArray[np.floating[Any]]:
            # Of "the mayor of the town where Ines was born", Ines's facts answer "born": what is
            # left to look for near by is the mayor.
            told = {word for text in self._texts(beside, {}).values() for word in tokens(text)}
            left = {
                word: weight * (ANSWERED if word in told else 1.0)
                for word, weight in weights.items()
            }
            texts = self._texts(slots, {})
            covered = np.array([coverage(left, texts.get(slot, "")) for slot in slots])
            near = 0.0 if similarity is None else similarity[np.array(slots, dtype=np.int64)]
            return covered + LIKENESS * np.maximum(near, 0.0)

        try:
            return self._graph.find(asked.query, self.index, allowed, fit, depth), []
        except InputError as error:
            return Walked(), [str(error)] if self.settings.recall_graph == "on" else []

    def _with_steps(self, find: _Find, walked: Walked) -> _Find:
        if GRAPH not in find.found_by or walked.graph is None:
            return find
        (fact,) = self.index.ids([find.slot])
        return replace(find, steps=walked.graph.path_to(fact, walked.seeds))

    def _paths(self, finds: Sequence[_Find]) -> dict[int, tuple[str, ...]]:
        """The steps to each find in words, without the fact itself."""
        led = {find.number: find.steps[:-1] for find in finds if find.steps}
        steps = {step for path in led.values() for step in path}
        names = self.store.names_of_entities([s for s in steps if isinstance(s, int)])
        ids = [step for step in steps if isinstance(step, str)]
        known = self.store.facts(agent=self.agent, statuses=None, ids=ids) if ids else ()
        texts: dict[int | str, str] = {fact.id: fact.text for fact in known}
        texts.update(names.items())
        return {
            number: tuple(texts[step] for step in path if step in texts)
            for number, path in led.items()
        }

    def _allowed(self, asked: _Question) -> npt.NDArray[np.bool_]:
        index, decay = self.index, Decay.of(self.settings)
        if asked.at is not None:
            moment = round(asked.at.timestamp(), 3)
            allowed = (
                index.said_by(moment) if asked.include_history else index.held_at(decay, moment)
            )
        elif asked.include_history:
            allowed = index.ever()
        else:
            allowed = index.current(decay, asked.now.timestamp())
        return allowed if asked.kind is None else allowed & index.of_kind(asked.kind)

    def _by_words(
        self, asked: _Question, allowed: npt.NDArray[np.bool_], depth: int
    ) -> tuple[list[int], dict[str, int], dict[int, int]]:
        """Find facts that hold words of the query.

        Returns:
            Slots, best first; the words with the number of facts each stands in; and for long
            texts the position of the passage that fits best, by slot.
        """
        store, index = self.store, self.index
        words = {word: tokens(word) for word in query_words(asked.query)}
        counts = store.word_counts({part for parts in words.values() for part in parts})
        # A word such as "don't" is looked for as a phrase, which is as rare as its rarest part.
        rarity = {w: min(counts[part] for part in parts) for w, parts in words.items() if parts}
        work = _WORK if asked.vector is not None else _WORK_WITHOUT_VECTORS
        chosen, matches = affordable(rarity, work)
        if not chosen:
            numbers = store.match_pieces(_pieces(asked), agent=self.agent, limit=4 * depth)
            return self._permitted(numbers, allowed)[:depth], counts, {}
        # Where even the rarest word is in nearly every fact, the newest facts have to do.
        newest = store.newest_number()
        since = newest - newest * work // matches if matches > work else 0
        found = self._permitted(store.match_facts(chosen, since=since), allowed)
        passages: dict[int, int] = {}
        if index.has_passages:
            for number, position in store.match_passages(chosen, agent=self.agent, limit=4 * depth):
                for slot in self._permitted([number], allowed):
                    passages.setdefault(slot, position)
            found = interleave([found, list(passages)])
        return found[:depth], counts, passages

    def _permitted(self, numbers: Sequence[int], allowed: npt.NDArray[np.bool_]) -> list[int]:
        return [slot for slot in self.index.slots_of(numbers) if allowed[slot]]

    def _texts(self, slots: Iterable[int], passages: Mapping[int, int]) -> dict[int, str]:
        """The texts of facts, of long ones the passage chosen, by slot."""
        numbers = {slot: int(self.index.numbers[slot]) for slot in slots}
        places = {s: (n, passages[s]) for s, n in numbers.items() if passages.get(s, -1) >= 0}
        parts = self.store.passage_texts(places.values()) if places else {}
        whole = self.store.texts_of(
            [n for s, n in numbers.items() if s not in places], longest=_READ
        )
        texts = {slot: whole[n] for slot, n in numbers.items() if n in whole}
        return texts | {slot: parts[place] for slot, place in places.items() if place in parts}

    # Being used

    def _note_uses(self, ids: Sequence[str], now: datetime) -> None:
        with self._uses_lock:
            for fact in ids:
                count, _ = self._uses.get(fact, (0, now))
                self._uses[fact] = (count + 1, now)
            due = time.monotonic() - self._flushed >= _FLUSH_EVERY or len(self._uses) >= _FLUSH_AT
        if due:
            self.write_uses()

    def write_uses(self) -> bool:
        """Write down which facts were recalled, if nobody else is writing at this moment.

        It happens by itself every few seconds and at `close`.

        Returns:
            Whether all is written; what is not is kept for the next time.
        """
        with self._uses_lock:
            pending, self._uses = self._uses, {}
            self._flushed = time.monotonic()
        if not pending:
            return True
        if not self.store.read_only:
            try:
                self.store.add_uses(pending, wait=False)
            except StoreError:
                pass
            else:
                return True
        with self._uses_lock:
            for fact, (count, last) in pending.items():
                more, later = self._uses.get(fact, (0, last))
                self._uses[fact] = (count + more, max(last, later))
        return False


def _pieces(asked: _Question) -> list[str]:
    """What of a query is looked for letter by letter, where the index knows no word of it.

    With vectors only what is no word: a part of another word ("eat" in "heat") is worth a look
    only where there is nothing better.
    """
    return [
        piece
        for piece in literal_pieces(asked.query)
        if not piece.isascii()
        or not tokens(piece)
        or (asked.vector is None and not is_grammar(piece))
    ]


def _check(query: str, kind: str | None, limit: int) -> None:
    if not isinstance(query, str) or not query.strip():
        raise InputError(f"query {query!r} must be some text")
    try:
        query.encode()
    except UnicodeEncodeError as error:
        raise InputError(f"query holds a lone surrogate at {error.start}; decode it") from error
    if kind is not None:
        check_name("kind", kind)
    if isinstance(limit, bool) or not isinstance(limit, int) or not 1 <= limit <= _DEEPEST:
        raise InputError(f"limit {limit!r} must be a whole number from 1 to {_DEEPEST}")
