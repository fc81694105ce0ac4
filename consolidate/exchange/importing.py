"""Takes a file into a store: finds out what it is, reads it, adds what is not there yet.

Everything happens in one transaction. A preview does the same and takes it back, so what it says
is what an import does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime

from consolidate.errors import InputError
from consolidate.exchange.findings import Audit
from consolidate.exchange.formats import detect, parse, parse_files
from consolidate.exchange.records import Broken, ImportReport, NewBlock, Options, Parsed, Said
from consolidate.graph.edges import triples_of
from consolidate.store import Store
from consolidate.store.restoring import restore
from consolidate.store.validation import check_message
from consolidate.types import Alias, NewFact

__all__ = ["detect", "import_bytes", "import_parsed", "parse"]

_BATCH = 500


def import_bytes(
    store: Store,
    data: bytes,
    options: Options,
    *,
    now: datetime,
    form: str | None = None,
    name: str = "",
    preview: bool = False,
    strict: bool = False,
) -> ImportReport:
    """Import the content of a file.

    Args:
        store: Where to.
        data: The content.
        options: How to read it.
        now: The time the facts are recorded.
        form: Its format; None finds out.
        name: Its name, a hint to the format.
        preview: Change nothing, report the same.
        strict: Take in nothing if a line is broken.

    Raises:
        InputError: The file as a whole can't be read.
    """
    parsed = parse_files([(name, data)], options, now=now, form=form)
    return import_parsed(store, parsed, options, now=now, preview=preview, strict=strict)


def import_parsed(
    store: Store,
    parsed: Parsed,
    options: Options,
    *,
    now: datetime,
    preview: bool = False,
    strict: bool = False,
    audit: Audit | None = None,
) -> ImportReport:
    """Import what a reader made of a file.

    Args:
        store: Where to.
        parsed: The file.
        options: How it was read.
        now: The time the facts are recorded.
        preview: Change nothing, report the same.
        strict: Take in nothing if a line is broken.
        audit: What was found in the file, for the report.
    """
    tally = _Tally(broken=list(parsed.broken), notes=list(parsed.notes))
    refused = False
    try:
        with store.atomic():
            _write(store, parsed, options, tally, now)
            refused = strict and bool(tally.broken)
            if preview or refused:
                raise _TakeBack
    except _TakeBack:
        pass
    return ImportReport(
        format=parsed.format,
        preview=preview,
        refused=refused,
        new=tally.new,
        known=tally.known,
        broken=tuple(sorted(tally.broken, key=lambda item: item.line)),
        names=tally.names,
        extra=tally.extra,
        notes=tuple(tally.notes),
        audit=audit,
    )


@dataclass(kw_only=True)
class _Tally:
    """Counts of one import, as they grow."""

    new: int = 0
    known: int = 0
    names: int = 0
    extra: dict[str, int] = field(default_factory=dict)
    broken: list[Broken] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


class _TakeBack(Exception):
    """Ends a transaction that must leave no trace."""


def _write(store: Store, parsed: Parsed, options: Options, tally: _Tally, now: datetime) -> None:
    archive = parsed.archive
    if archive.facts or archive.rows:
        # Only an export of our own tells agents apart; there --agent picks one.
        own = parsed.format == "consolidate" and options.every_agent
        restored = restore(store, archive.facts, archive.rows, agent=options.agent if own else None)
        tally.new += restored.new
        tally.known += restored.known
        tally.broken += [Broken(line=line, reason=why) for line, why in restored.broken]
        tally.extra = {kind: count for kind, count in restored.extra.items() if count}
        if tally.extra.get("entity") or tally.extra.get("mention"):
            for agent in store.agents():
                if not own or options.agent in (None, agent):
                    store.draw_edges(agent, triples_of(store.facts(agent=agent, statuses=None)))
        if restored.differ:
            tally.notes.append(
                f"{restored.differ} known facts have another state here, and keep it"
            )
    for start in range(0, len(parsed.facts), _BATCH):
        _add(store, parsed.facts[start : start + _BATCH], tally, now)
    _declare(store, parsed.aliases, tally)
    _keep_blocks(store, parsed.blocks, tally, now)
    if parsed.said:
        _keep_messages(store, parsed.said, tally, now)


def _add(store: Store, facts: Sequence[tuple[int, NewFact]], tally: _Tally, now: datetime) -> None:
    try:
        added = store.add([fact for _, fact in facts], now=now)
    except InputError as error:
        if len(facts) == 1:
            reason = str(error).removeprefix("fact 1 of 1: ")
            tally.broken.append(Broken(line=facts[0][0], reason=reason))
            return
        # Halving finds the few bad ones without adding thousands one by one.
        half = len(facts) // 2
        _add(store, facts[:half], tally, now)
        _add(store, facts[half:], tally, now)
        return
    tally.new += sum(item.new for item in added)
    tally.known += sum(not item.new for item in added)


def _declare(store: Store, aliases: Sequence[Alias], tally: _Tally) -> None:
    """Declare names; what a person said about two names here stays as it is."""
    agents = {alias.agent for alias in aliases}
    said = {(a.agent, a.canonical, a.alias) for agent in agents for a in store.aliases(agent)}
    for alias in aliases:
        if (alias.agent, alias.canonical, alias.alias) in said:
            continue
        try:
            store.add_alias(alias)
        except InputError as error:
            tally.notes.append(f"a name was left out: {error}")
        else:
            tally.names += 1


def _keep_blocks(
    store: Store, blocks: Sequence[tuple[int, NewBlock]], tally: _Tally, now: datetime
) -> None:
    """Make blocks; one that is there already keeps what it holds here."""
    for line, block in blocks:
        here = store.block(block.agent, block.name)
        if here is not None:
            tally.known += 1
            if here.content != block.content:
                tally.notes.append(f"block {block.name!r} holds something else here, and keeps it")
            continue
        try:
            store.write_block(block.agent, block.name, block.content, now=now, limit=block.limit)
        except InputError as error:
            tally.broken.append(Broken(line=line, reason=f"block: {error}"))
        else:
            tally.extra["block"] = tally.extra.get("block", 0) + 1


def _keep_messages(store: Store, said: Said, tally: _Tally, now: datetime) -> None:
    known = store.stored_messages([message.id for message in said.messages])
    fresh = []
    for message in said.messages:
        try:
            check_message(message)
        except InputError as error:
            tally.broken.append(Broken(line=0, reason=f"message {message.id}: {error}"))
        else:
            fresh += [message] if message.id not in known else []
    store.add_messages(said.agent, fresh, now=now)
    if fresh:
        tally.extra["message"] = tally.extra.get("message", 0) + len({m.id for m in fresh})
