"""Synthesis: for each entity with enough current facts one note of what is known of it.

    entities -> draft -> words (the facts themselves, or a language model's, checked) | write
     store      pure     model                                                       | one run

A note is derived. It names its sources, is made anew when they change, goes with the first of them
that is retired (`consolidate.store.derived`), and takes no part in runs.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime

from consolidate.backends import Backends
from consolidate.backends.llm.notes import NoteWriter
from consolidate.bookkeeping import renewing
from consolidate.errors import InputError
from consolidate.graph.registry import label
from consolidate.serialise import digest
from consolidate.settings import Settings
from consolidate.stages.notes import (
    EXTRACTIVE,
    LEAST,
    Draft,
    Sentence,
    draft_of,
    invented,
    note_of,
    replaced,
    told_of,
)
from consolidate.stages.work import Progress, in_chunks, silent
from consolidate.store import Store
from consolidate.store.ids import make_ids
from consolidate.times import format_time
from consolidate.types import Fact, Plan, Receipt

__all__ = ["Synthesis", "synthesise"]

_ENTAILED: float = 0.7
"""Probability from which the judge counts as saying that a sentence follows from its facts."""


@dataclass(frozen=True, kw_only=True)
class Synthesis:
    """What a synthesis did."""

    agent: str
    receipt: Receipt | None = None
    """None if nothing was new: then no model was asked and nothing was written."""
    notes: tuple[Fact, ...] = ()
    """The notes that were made."""
    retired: tuple[str, ...] = ()
    """Ids of the notes that gave way to another, or that too few facts are left for."""
    unchanged: int = 0
    """Notes whose facts are as they were."""
    dropped: int = 0
    """Sentences of a language model that the facts they cite do not bear out."""
    failures: int = 0
    """Notes that the language model gave no usable answer for; they are extractive, and asked
    about again next time."""
    meanwhile: int = 0
    """Notes not written, since a fact of theirs changed while they were worded."""


@dataclass(kw_only=True)
class _Work:
    """What there is to do."""

    drafts: list[Draft] = field(default_factory=list)
    """Those without a note that is up to date."""
    before: dict[str, Fact] = field(default_factory=dict)
    """Entity key to the note that stands."""
    obsolete: list[Fact] = field(default_factory=list)
    unchanged: int = 0


def synthesise(
    store: Store,
    backends: Backends,
    settings: Settings,
    *,
    agent: str = "default",
    least: int = LEAST,
    now: datetime | None = None,
    progress: Progress = silent,
) -> Synthesis:
    """Bring an agent's notes in step with its facts, as a run that can be undone.

    With a language model (setting `llm`) the notes are worded by it: a sentence stays if the judge
    finds that it follows from the facts it cites, and if these hold every name and value in it.
    Without one, or where nothing of its answer stays, a note is its facts, dated.

    Entities are those that runs have found; facts that no run has seen are in no note yet.

    Args:
        store: The memory.
        backends: The models; the judge is asked only about a language model's sentences.
        settings: For the length of the lease.
        agent: Whose memory.
        least: Current facts that an entity must have.
        now: The present moment, timezone-aware; None asks the clock.
        progress: Told how many notes are worded.

    Raises:
        LeaseHeldError: A run is at work on this store.
        BackendError: The language model can't be asked at all; nothing is written.
    """
    if least < 1:
        raise InputError(f"least {least!r} must be at least 1 fact")
    moment = now or datetime.now(UTC)
    writer = None if backends.llm is None else NoteWriter(backends.llm)
    recipe = f"{writer.identity}+{backends.classifier.identity}" if writer else EXTRACTIVE
    # Looked at before the lease is taken: nothing new costs nothing.
    work = _work(store, agent, recipe, least, moment)
    if not work.drafts and not work.obsolete:
        return Synthesis(agent=agent, unchanged=work.unchanged)
    with store.lease(seconds=settings.lease_seconds, now=lambda: datetime.now(UTC)) as lease:
        work = _work(store, agent, recipe, least, moment)
        watched = renewing(lease.renew, settings.lease_seconds, progress)
        made, dropped, failures = _worded(work, writer, recipe, backends, watched)
        lease.renew()
        return _write(store, agent, work, made, moment, dropped=dropped, failures=failures)


def _work(store: Store, agent: str, recipe: str, least: int, now: datetime) -> _Work:
    work = _Work()
    for note in store.notes(agent):
        key = _told(note, "entity")
        if key in work.before:
            work.obsolete.append(note)  # one is enough, wherever the other came from
        else:
            work.before[key] = note
    seen: set[str] = set()
    for entity, count in store.entity_list(agent):
        if count < least:
            continue
        linked = store.facts_of_entity(entity.id)
        draft = draft_of(agent, entity.key, label(entity), linked, least=least, now=now)
        if draft is None:
            continue
        seen.add(entity.key)
        if _is_of(work.before.get(entity.key), draft, recipe):
            work.unchanged += 1
        else:
            work.drafts.append(draft)
    work.obsolete += [note for key, note in work.before.items() if key not in seen]
    return work


@dataclass(frozen=True, kw_only=True)
class _Worded:
    draft: Draft
    sentences: Sequence[Sentence]
    recipe: str
    """Of the words."""
    known_by: str
    """Digest of what was asked for, so that the same is not asked again."""


def _worded(
    work: _Work,
    writer: NoteWriter | None,
    recipe: str,
    backends: Backends,
    progress: Progress,
) -> tuple[list[_Worded], int, int]:
    """Words for all drafts, how many sentences were dropped, and how many answers failed."""
    made: list[_Worded] = []
    dropped = failures = 0
    if writer is None:
        for draft in work.drafts:
            known_by = draft.digest(EXTRACTIVE)
            sentences = told_of(draft)
            made.append(
                _Worded(draft=draft, sentences=sentences, recipe=EXTRACTIVE, known_by=known_by)
            )
        return made, 0, 0
    backends.begin_run()
    for part in in_chunks(work.drafts, writer.chunk, "synthesise", progress):
        for draft, written in zip(part, writer.write(part), strict=True):
            if written.failure:
                failures += 1
                if _is_of(work.before.get(draft.entity), draft, EXTRACTIVE):
                    work.unchanged += 1
                    continue
            kept = _borne_out(written.sentences, draft, backends)
            dropped += written.dropped + len(written.sentences) - len(kept)
            made.append(
                _Worded(
                    draft=draft,
                    sentences=kept or told_of(draft),
                    recipe=recipe if kept else EXTRACTIVE,
                    known_by=draft.digest(EXTRACTIVE if written.failure else recipe),
                )
            )
    return made, dropped, failures


def _borne_out(sentences: Sequence[Sentence], draft: Draft, backends: Backends) -> list[Sentence]:
    """The sentences that follow from the facts they cite, and invent neither name nor value."""
    texts = {fact.id: fact.text for fact in draft.facts}
    names = backends.knowing([draft.name]).extractor
    sound = [each for each in sentences if not invented(each, draft, names)]
    pairs = [(" ".join(texts[fact] for fact in each.rests_on), each.text) for each in sound]
    verdicts = backends.classifier.classify(pairs) if pairs else []
    return [
        sentence
        for sentence, verdict in zip(sound, verdicts, strict=True)
        # What was cut was not judged as a whole.
        if verdict.forward is not None
        and not verdict.truncated
        and verdict.forward.entailment >= _ENTAILED
    ]


def _write(
    store: Store,
    agent: str,
    work: _Work,
    made: Sequence[_Worded],
    now: datetime,
    *,
    dropped: int,
    failures: int,
) -> Synthesis:
    used = {fact.id for each in made for fact in each.draft.facts}
    with store.atomic():
        still = {fact.id: fact.content_hash for fact in store.facts(agent=agent, ids=used)}
        ready = [
            each
            for each in made
            if all(still.get(fact.id) == fact.content_hash for fact in each.draft.facts)
        ]
        standing = {note.id for note in store.notes(agent)}
        obsolete = [note for note in work.obsolete if note.id in standing]
        meanwhile = len(made) - len(ready)
        if not ready and not obsolete:
            return Synthesis(
                agent=agent,
                unchanged=work.unchanged,
                dropped=dropped,
                failures=failures,
                meanwhile=meanwhile,
            )
        plan = _plan(agent, ready, obsolete, now)
        left = store.last_state(agent)
        run = store.begin_run(plan, now=now)
        notes, gone = [], [replaced(note, by=None, run=run) for note in obsolete]
        for each, fact_id in zip(ready, make_ids(now, len(ready)), strict=True):
            notes.append(
                note_of(
                    each.draft,
                    each.sentences,
                    fact_id=fact_id,
                    recipe=each.recipe,
                    known_by=each.known_by,
                    run=run,
                    now=now,
                )
            )
            before = work.before.get(each.draft.entity)
            if before is not None and before.id in standing:
                gone.append(replaced(before, by=fact_id, run=run))
        store.write_notes(notes, run=run)
        store.write_facts(gone, run=run)
        receipt = Receipt(
            run=run,
            plan=plan.id,
            agent=agent,
            applied_at=now,
            applied={"synthesise": len(notes), "synthesis-retired": len(gone)},
            rows=len(notes) + len(gone),
        )
        store.finish_run(run, receipt, now=now, state_digest="")
        if left is not None:
            store.record_state(agent, left)  # no run reads notes, so none has anything new
    return Synthesis(
        agent=agent,
        receipt=receipt,
        notes=tuple(notes),
        retired=tuple(note.id for note in gone),
        unchanged=work.unchanged,
        dropped=dropped,
        failures=failures,
        meanwhile=meanwhile,
    )


def _plan(agent: str, made: Sequence[_Worded], obsolete: Sequence[Fact], now: datetime) -> Plan:
    """A plan without decisions, for the run that writes notes."""
    about = [each.draft.name for each in made]
    content = [each.known_by for each in made] + [note.id for note in obsolete]
    return Plan(
        id=digest(["synthesise", agent, content, format_time(now)]),
        agent=agent,
        now=now,
        snapshot_digest="",
        settings_digest="",
        facts={},
        decisions=(),
        settings={"synthesis": {"about": about, "retired": [note.id for note in obsolete]}},
    )


def _told(note: Fact, what: str) -> str:
    return str(note.metadata["synthesis"].get(what, ""))


def _is_of(note: Fact | None, draft: Draft, recipe: str) -> bool:
    return note is not None and _told(note, "digest") == draft.digest(recipe)
