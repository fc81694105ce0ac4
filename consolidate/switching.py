"""Changes the model a store works with, without ever mixing two.

Vectors of two embedders can't be compared, so all texts are embedded anew, beside the vectors in
use, and the two change places in one transaction when the last one is there. Until then every run
works with the old model as before; what is done stays done if it is interrupted. Verdicts and
mentions are kept under the identity of the model that gave them, so for a classifier or extractor
there is nothing to do at once: the next run asks the new one what it needs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime

from consolidate.errors import BackendError, ModelOutputError
from consolidate.protocols import Embedder
from consolidate.stages.work import Progress, in_chunks, silent
from consolidate.store import Store

__all__ = ["Outlook", "Switched", "outlook", "switch_embedder"]

_CHUNK = 256
_PROBE = ("The office is in Bonn.", "Their office is located in Bonn.", "I like green tea.")


@dataclass(frozen=True, kw_only=True)
class Outlook:
    """What changing to a model would mean for a store."""

    identity: str
    before: tuple[str, ...]
    """Models whose answers the store keeps for this role."""
    kept: int
    """Answers of this very model that are there already."""
    to_do: int
    """Vectors that have to be made before it can take over; 0 for the other roles."""
    later: int
    """Mentions or verdicts that coming runs will have to ask for, at most as far as is known."""


@dataclass(frozen=True, kw_only=True)
class Switched:
    """What changing the embedder did."""

    identity: str
    before: str | None
    embedded: int
    dropped: int
    already: bool


def outlook(store: Store, role: str, identity: str) -> Outlook:
    """Say what changing to a model means; changes nothing."""
    if role == "embedder":
        bound = store.embedding_model()
        current = bound is not None and bound[0] == identity
        texts = len(store.lacking_vectors(""))
        staged = store.staged_vectors().get(identity, 0)
        to_do = 0 if current else len(store.lacking_vectors(identity))
        return Outlook(
            identity=identity,
            before=() if bound is None else (bound[0],),
            kept=texts if current else staged,
            to_do=to_do,
            later=0,
        )
    answers = store.answers_by_model()["verdicts" if role == "classifier" else "mentions"]
    others = {name: count for name, count in answers.items() if name != identity}
    kept = answers.get(identity, 0)
    return Outlook(
        identity=identity,
        before=tuple(others),
        kept=kept,
        to_do=0,
        later=max(0, max(others.values(), default=0) - kept),
    )


def switch_embedder(
    store: Store,
    embedder: Embedder,
    *,
    now: Callable[[], datetime],
    lease_seconds: float = 60.0,
    progress: Progress = silent,
) -> Switched:
    """Embed everything with another model, then let it take over.

    It may be interrupted anywhere: the old model stays in use, and the next call goes on.

    Args:
        store: The memory.
        embedder: The model that is to take over.
        now: The clock, for the lease.
        lease_seconds: For the moment of the change, in which no run may be at work.
        progress: Told how many texts are done.

    Raises:
        LeaseHeldError: A run is at work at the moment of the change; all vectors are made, and
            another call after that run only has to exchange them.
        BackendError: The model can't be used.
    """
    bound = store.embedding_model()
    before = bound[0] if bound else None
    if bound == (embedder.identity, embedder.dimensions):
        if store.staged_vectors():
            store.drop_staged_vectors()
        return Switched(
            identity=embedder.identity, before=before, embedded=0, dropped=0, already=True
        )
    _try_out(embedder)
    embedded = 0
    while True:
        # Facts may come in meanwhile; each round takes care of those.
        embedded += _stage(store, embedder, progress)
        with store.lease(holder="consolidate models use", seconds=lease_seconds, now=now):
            dropped = store.adopt_vectors(embedder.identity, embedder.dimensions)
        if dropped is not None:
            return Switched(
                identity=embedder.identity,
                before=before,
                embedded=embedded,
                dropped=dropped,
                already=False,
            )


def _stage(store: Store, embedder: Embedder, progress: Progress) -> int:
    texts = store.lacking_vectors(embedder.identity)
    for part in in_chunks(sorted(texts), _CHUNK, "embed", progress):
        vectors = embedder.embed([texts[key] for key in part])
        fresh = dict(zip(part, vectors, strict=True))
        store.stage_vectors(fresh, embedder.identity, embedder.dimensions)
    return len(texts)


def _try_out(embedder: Embedder) -> None:
    """Refuse a model that can't tell texts apart before hours are spent on it."""
    near, same, far = embedder.embed(list(_PROBE))
    if near.shape != (embedder.dimensions,):
        raise ModelOutputError(
            f"{embedder.identity} gives vectors of shape {near.shape}, not ({embedder.dimensions},)"
        )
    if not float(near @ same) > float(near @ far):
        raise BackendError(
            f"{embedder.identity} does not put texts of one meaning nearer than others; it is not "
            "taken over"
        )
