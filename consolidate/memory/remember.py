"""Taking in what is said: facts out of a text, judged against what is known; and raw content.

    read (rules or a language model) -> near -> judge | one transaction: add, apply

Everything with a model happens before the transaction. Inside it is checked whether something was
written meanwhile that the judging should have seen; then it is judged again. After
`ATTEMPTS` times the facts go in with nothing but verbatim repeats decided, and the next run
compares them; so nothing is lost and nothing is in twice, however many write at once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final
from zoneinfo import ZoneInfo

import numpy as np
import numpy.typing as npt

from consolidate.bookkeeping import plan_of
from consolidate.calibration.policy import policy_for
from consolidate.errors import InputError, StalePlanError
from consolidate.judge.reading import scheduled
from consolidate.memory.base import MemoryPart
from consolidate.memory.batch import Batch, Case, Meanwhile, fact_of, natural, refused, with_words
from consolidate.memory.extraction import Claim, extract_claims
from consolidate.memory.judging import Judgement, judge
from consolidate.memory.near import by_meaning, by_words, names_of
from consolidate.memory.outcomes import outcome_of
from consolidate.memory.records import LeftOut, Remembered, RememberedFact, StoredMemory
from consolidate.serialise import digest
from consolidate.stages.apply import apply_plan, review_id
from consolidate.stages.collapse import collapse
from consolidate.stages.decide import Policy, decide
from consolidate.stages.embed import embed
from consolidate.stages.entities import entities
from consolidate.stages.reviewing import reject_review
from consolidate.stages.work import Book, Tally, silent
from consolidate.store import fact_digest
from consolidate.store.passages import passage_rows
from consolidate.store.rows import fact_hash
from consolidate.store.tombstones import FORGOTTEN
from consolidate.store.validation import check_fact
from consolidate.types import Fact, NewFact

__all__ = ["ATTEMPTS", "LONGEST_SAID", "RememberPart"]

LONGEST_SAID: Final = 100_000
"""Characters that facts are read from at a time; longer content is for `store_memory`."""

ATTEMPTS: Final = 6
"""Times that facts are judged because others wrote meanwhile."""

_MEMORY_INTENSITY: Final = 0.5
_NEAREST: Final = 4
"""Facts found by vector are this many times the neighbours that the settings compare."""

_BUSY: Final = (
    "stored; others wrote at the same time, so the next run compares it with what they wrote"
)

Vectors = npt.NDArray[np.float32]


class RememberPart(MemoryPart):
    """A memory's verbs for remembering."""

    def remember_facts(
        self,
        text: str,
        *,
        stated_at: datetime | None = None,
        source: str = "user",
        metadata: Mapping[str, Any] | None = None,
    ) -> Remembered:
        """Read the facts of a text and bring them into the memory.

        Order of work: the text is read into facts, by the language model of the settings or else
        by rules; each is compared with what is stored, and with what came before it in the same
        text, by the judge that runs use; then everything is written in one transaction. Facts
        that others give way to stay in history; `run` in the answer can be undone.

        Args:
            text: What was said, in any language, at most `LONGEST_SAID` characters.
            stated_at: When it was said; None is now. "Yesterday" is the day before it, in the
                zone of the settings or, without one, that of this time.
            source: Who said it: user, tool, assistant, web, ... "I" is the principal, or the
                assistant where the assistant says it.
            metadata: Kept with every fact.

        Raises:
            InputError: The text, the time, the source or the metadata can't be used.
            BackendError: A model can't be used; nothing was stored.
            StoreError: The store can't be written; nothing was stored.
        """
        now = self.now()
        said_at = now if stated_at is None else stated_at
        whole = NewFact(
            text=text, agent=self.agent, source=source, stated_at=said_at, metadata=metadata or {}
        )
        check_fact(whole)
        if len(text) > LONGEST_SAID:
            raise InputError(
                f"text has {len(text)} characters; facts are read from at most {LONGEST_SAID} at a "
                "time. Pass it in parts, or keep it whole with store_memory"
            )
        claims, left_out, note = self._read(text, said_at, source)
        told = [
            replace(
                whole,
                text=claim.text,
                kind=claim.kind,
                intensity=claim.intensity,
                metadata=with_words(whole.metadata, claim),
            )
            for claim in claims
        ]
        facts, run = self._take_in(told, now) if told else ((), "")
        return Remembered(facts=facts, left_out=tuple(left_out), run=run, note=note)

    def store_memory(
        self,
        content: str,
        metadata: Mapping[str, Any] | None = None,
        *,
        stated_at: datetime | None = None,
        source: str = "user",
    ) -> StoredMemory:
        """Keep raw content (a document, an experience) as it is.

        The very same content again makes no second copy: it strengthens the first, which keeps its
        metadata. Long content is also kept in passages, so that a part of it can be found.

        Args:
            content: At most a megabyte.
            metadata: Kept with it.
            stated_at: When it was said or written; None is now.
            source: Who gave it.

        Raises:
            InputError: The content or another value can't be used.
            BackendError: The embedder can't be used; nothing was stored.
        """
        now = self.now()
        new = NewFact(
            text=content,
            agent=self.agent,
            kind="memory",
            source=source,
            stated_at=now if stated_at is None else stated_at,
            metadata=metadata or {},
            intensity=_MEMORY_INTENSITY,
        )
        check_fact(new)
        key = fact_hash(content)
        if self.store.buried(self.agent, [key]):
            return StoredMemory(id="", new=False, encounters=0, reason=FORGOTTEN)
        if self._stored_memory(key) is None:
            texts = [content, *(row[4] for row in passage_rows("", content))]
            self._embed([fact_of(replace(new, text=t), "", now) for t in texts])
        with self.store.atomic():
            known = self._stored_memory(key)
            if known is not None:
                stronger = self.store.strengthen(
                    known.id, intensity=new.intensity, said_at=new.stated_at
                )
                return StoredMemory(id=known.id, new=False, encounters=stronger.encounters)
            (added,) = self.store.add([new], now=now)
        if not added.id:
            return StoredMemory(id="", new=False, encounters=0, reason=added.reason)
        return StoredMemory(id=added.id, new=True, encounters=1)

    def _stored_memory(self, key: str) -> Fact | None:
        found = self.store.same_text(self.agent, [key])
        return next((f for f in found if f.kind == "memory" and f.status.is_live), None)

    # -- reading -----------------------------------------------------------------------------

    def _read(
        self, text: str, said_at: datetime, source: str
    ) -> tuple[list[Claim], list[LeftOut], str]:
        zone = self.settings.timezone
        local = said_at.astimezone(ZoneInfo(zone)) if zone else said_at
        by_assistant = source.partition(":")[0].strip().casefold() == "assistant"
        speaker = "assistant" if by_assistant else self.principal
        note = ""
        if self.settings.llm or (self._backends is not None and self._backends.llm is not None):
            from consolidate.memory.reading import read_with_model

            read = read_with_model(self.backends.llm, text, said_at=local, speaker=speaker)
            if isinstance(read, list):
                return read, [], ""
            note = f"the language model gave no usable answer ({read}); read by rules instead"
        claims, left_out = extract_claims(text, said_on=local.date(), speaker=speaker)
        return claims, left_out, note

    # -- judging and writing -----------------------------------------------------------------

    def _take_in(
        self, told: Sequence[NewFact], now: datetime
    ) -> tuple[tuple[RememberedFact, ...], str]:
        batch = Batch.of(told, now)
        self.backends.begin_run()
        for attempt in range(ATTEMPTS):
            open_ = self._still_new(batch)
            case = self._case(open_, now)
            try:
                return self._write(batch, case, now)
            except (Meanwhile, StalePlanError):
                if attempt == ATTEMPTS - 1:
                    break
        return self._write(batch, None, now)

    def _still_new(self, batch: Batch) -> list[Fact]:
        """Settle what needs no judging: the very same statement, and what was forgotten."""
        batch.settled.clear()
        hashes = {fact.content_hash for fact in batch.facts}
        buried = self.store.buried(self.agent, hashes)
        known = {natural(fact): fact for fact in reversed(self.store.same_text(self.agent, hashes))}
        fresh: dict[Any, Fact] = {}
        for index, fact in enumerate(batch.facts):
            same = known.get(natural(fact)) or fresh.get(natural(fact))
            if fact.content_hash in buried:
                batch.settled[index] = refused(fact, FORGOTTEN)
            elif same is not None:
                batch.settled[index] = RememberedFact(
                    id=same.id,
                    text=fact.text,
                    action="strengthened",
                    reason="the very same statement is stored already; nothing was added",
                    intensity=same.intensity,
                    kind=fact.kind,
                )
            else:
                fresh[natural(fact)] = fact
        return list(fresh.values())

    def _case(self, fresh: Sequence[Fact], now: datetime) -> Case:
        """Find what the new facts are near to and judge them; writes caches alone."""
        mark = self.store.newest(self.agent)
        ids = frozenset(fact.id for fact in fresh)
        if not fresh:
            return Case(mark=mark)
        vectors = self._embed(fresh)
        model = self.backends.embedder.identity
        count = _NEAREST * max(self.settings.neighbours, 1)
        near = by_meaning(
            self.index, vectors, model, count=count, floor=self.settings.similarity_floor
        )
        mentioned = names_of(self._mentions(fresh))
        near |= {f.id for f in self.store.same_text(self.agent, {f.content_hash for f in fresh})}
        for fact in fresh:
            near |= by_words(self.store, self.agent, fact, mentioned[fact.id])
        around = self.store.neighbourhood(self.agent, near)
        known = [scheduled(fact) for fact in around.facts]
        everything = sorted([*known, *map(scheduled, fresh)], key=lambda fact: fact.id)
        judgement = judge(
            self.store,
            replace(around, facts=tuple(everything)),
            ids,
            backends=self.backends,
            settings=self.settings,
            adviser=self._adviser(),
            now=now,
        )
        named = Counter(
            name for found in names_of(self._mentions(known)).values() for name in found
        )
        telling = {name for found in mentioned.values() for name in found}
        telling -= {name for name, count in named.items() if count >= self.settings.hub_size}
        return Case(
            mark=mark,
            fresh=tuple(fresh),
            around=around,
            judgement=judgement,
            vectors=vectors,
            bars=self._bars(vectors, known),
            names=frozenset(telling),
        )

    def _write(
        self, batch: Batch, case: Case | None, now: datetime
    ) -> tuple[tuple[RememberedFact, ...], str]:
        """Add the facts and carry out what was decided, all or nothing.

        Raises:
            Meanwhile: Something was written that the judging should have seen.
            StalePlanError: A fact that the decisions touch changed.
        """
        with self.store.atomic():
            # Settled again under the write lock: another process may have said the same.
            fresh = self._still_new(batch)
            if case is None:
                case = self._only_repeats(fresh, now)
            elif {f.id for f in fresh} != {f.id for f in case.fresh} or self._was_passed(case):
                raise Meanwhile
            self.store.add([batch.new(fact) for fact in fresh], now=now, one_by_one=True)
            if not fresh:
                return batch.in_order({}), ""
            stored = self.store.facts(ids=[f.id for f in fresh], statuses=None)
            decisions = case.judgement.decisions
            receipt = apply_plan(self.store, self._plan(case, stored, now), now=now)
            for decision in decisions:
                if decision.id in case.judgement.dismissed:
                    reject_review(self.store, review_id(decision), now=now)
            named = {end for d in decisions for end in (d.subject, d.object)}
            after = {
                fact.id: fact
                for fact in self.store.facts(ids=[*named, *(f.id for f in fresh)], statuses=None)
            }
        outcomes = {
            fact.id: outcome_of(
                fact, decisions, after, dismissed=case.judgement.dismissed, otherwise=case.note
            )
            for fact in fresh
        }
        return batch.in_order(outcomes), receipt.run

    def _plan(self, case: Case, stored: Sequence[Fact], now: datetime) -> Any:
        around = case.around
        facts = tuple(sorted([*around.facts, *stored], key=lambda fact: fact.id))
        seen = digest([around.digest, [fact_digest(fact) for fact in stored]])
        return plan_of(
            replace(around, facts=facts, digest=seen),
            case.judgement.decisions,
            case.judgement.due,
            case.judgement.book,
            self.backends,
            self.settings,
            self._policy(),
            now,
        )

    def _policy(self) -> Policy:
        return policy_for(self.settings, self.backends.classifier)

    def _only_repeats(self, fresh: Sequence[Fact], now: datetime) -> Case:
        """Decide about verbatim repeats alone: no model, so it may be done under the write lock."""
        same = self.store.same_text(self.agent, {fact.content_hash for fact in fresh})
        around = self.store.neighbourhood(self.agent, [fact.id for fact in same])
        facts = {fact.id: scheduled(fact) for fact in [*around.facts, *fresh]}
        decisions, due = decide(
            facts, collapse(tuple(facts.values())), (), {}, {},
            settled=around.settled, linked=around.linked, heirs=around.heirs,
            policy=self._policy(), now=now,
        )  # fmt: skip
        mine = {fact.id for fact in fresh}
        decisions = tuple(d for d in decisions if not mine.isdisjoint((d.subject, d.object)))
        return Case(
            mark=0,
            fresh=tuple(fresh),
            around=around,
            judgement=Judgement(decisions=decisions, due=due, book=Book()),
            note=_BUSY,
        )

    def _was_passed(self, case: Case) -> bool:
        """Whether a fact was added since the case was read that it should be judged against."""
        newer = self.store.facts_since(self.agent, case.mark)
        if not newer:
            return False
        hashes = {fact.content_hash for fact in newer}
        known = self.store.vectors(hashes, self.backends.embedder.identity)
        if hashes - known.keys():
            return True  # not known what it is near to
        matrix = np.stack([known[fact.content_hash] for fact in newer])
        if bool((matrix @ case.vectors.T > case.bars[None, :]).any()):
            return True
        if not case.names:
            return False
        extractor = self._extractor()
        read = self.store.mentions(hashes, extractor.identity)
        named = names_of({key: read.get(key, ()) for key in hashes})
        return any(not case.names.isdisjoint(names) for names in named.values())

    def _bars(self, vectors: Vectors, known: Sequence[Fact]) -> Vectors:
        """For each new fact how near another must be to be among those it is compared with."""
        floor = self.settings.similarity_floor
        count = self.settings.neighbours
        bars = np.full(len(vectors), floor, dtype=np.float32)
        cached = self.store.vectors(
            {fact.content_hash for fact in known}, self.backends.embedder.identity
        )
        if len(cached) >= count > 0:
            products = vectors @ np.stack(list(cached.values())).T
            least = np.partition(products, -count, axis=1)[:, -count]
            bars = np.maximum(bars, least)
        return bars

    # -- models ------------------------------------------------------------------------------

    def _embed(self, facts: Sequence[Fact]) -> Vectors:
        return embed(
            self.store, self.backends.embedder, facts, tally=Tally("embed"), progress=silent
        )

    def _extractor(self) -> Any:
        aliases = self.store.aliases(self.agent)
        names = [name for alias in aliases for name in (alias.canonical, alias.alias)]
        return self.backends.knowing(names).extractor

    def _mentions(self, facts: Sequence[Fact]) -> Mapping[str, Any]:
        return entities(
            self.store, self._extractor(), facts, tally=Tally("entities"), progress=silent
        )

    def _adviser(self) -> Any:
        if self.backends.llm is None:
            return None
        from consolidate.backends.llm.classifier import LlmClassifier

        return LlmClassifier(self.backends.llm)
