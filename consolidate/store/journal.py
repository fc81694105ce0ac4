"""Writing rows inside a run, with the row before and after, and undoing a run from that.

Rows are compared and restored as stored, byte for byte. The journal keeps them as objects of
column and value, so an old entry can still be undone after a migration added a column.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from consolidate.errors import InputError, NotFoundError, UndoConflictError
from consolidate.serialise import canonical, from_json
from consolidate.store.derived import DerivedPart
from consolidate.store.passages import INSERT_PASSAGE, passage_rows
from consolidate.store.rows import (
    ALIAS_COLUMNS,
    DECLARED_COLUMNS,
    FACT_COLUMNS,
    LINK_COLUMNS,
    PIN_COLUMNS,
    REVIEW_COLUMNS,
    fact_hash,
    fact_to_row,
    link_to_row,
    placeholders,
    review_to_row,
)
from consolidate.store.validation import check_name
from consolidate.times import format_time
from consolidate.types import Fact, FactStatus, Link, Receipt, Review

__all__ = ["JournalPart", "row_key"]

_KEYS = {
    "facts": ("id",),
    "links": ("left_fact", "right_fact", "relation"),
    "reviews": ("id",),
    "aliases": ("agent", "canonical", "alias"),
    "entity_declarations": ("agent", "key"),
    "entity_pins": ("fact", "name", "entity"),
}
_COLUMNS = {
    "facts": FACT_COLUMNS,
    "links": LINK_COLUMNS,
    "reviews": REVIEW_COLUMNS,
    "aliases": ALIAS_COLUMNS,
    "entity_declarations": DECLARED_COLUMNS,
    "entity_pins": PIN_COLUMNS,
}

_Values = dict[str, Any]
_Change = tuple[str, Sequence[str], _Values | None, _Values]
"""Table, key, row before (None if there was none), row after."""


class JournalPart(DerivedPart):
    """The store's methods that change content in a run, and the one that takes it back."""

    def write_fact(self, fact: Fact, *, run: str) -> None:
        """Replace a stored fact's whole row; an equal row is not written.

        Raises:
            NotFoundError: No such fact, or no such fact to refer to.
            InputError: The content hash is not that of the text, or something would cross
                agents.
        """
        self.write_facts([fact], run=run)

    def write_facts(self, facts: Sequence[Fact], *, run: str) -> int:
        """Replace many facts' rows, each fact once; much quicker than one by one.

        Returns:
            How many rows differed and were written.

        Raises:
            NotFoundError: No such fact, or no such fact to refer to.
            InputError: As for `write_fact`, or a fact is given twice.
        """
        wanted: dict[str, _Values] = {}
        for fact in facts:
            if fact.content_hash != fact_hash(fact.text):
                raise InputError(f"fact {fact.id}: content_hash is not the hash of its text")
            if fact.id in wanted:
                raise InputError(f"fact {fact.id} is given twice; write its last form only")
            wanted[fact.id] = dict(zip(FACT_COLUMNS, fact_to_row(fact), strict=True))
        with self._db.atomic():
            for agent in {fact.agent for fact in facts}:
                named = [
                    each
                    for fact in facts
                    if fact.agent == agent
                    for each in (fact.id, fact.superseded_by, fact.merged_into)
                ]
                self._require_facts(agent, *named)
            known = {
                row[0]: dict(zip(FACT_COLUMNS, row, strict=True))
                for row in self._db.query(
                    f"SELECT {', '.join(FACT_COLUMNS)} FROM facts "  # noqa: S608
                    "WHERE id IN (SELECT value FROM json_each(?))",
                    (self._db.among(wanted),),
                )
            }
            changes = [
                ("facts", [fact_id], known[fact_id], values)
                for fact_id, values in wanted.items()
                if known[fact_id] != values
            ]
            self._journal(changes, run)
            self._update("facts", changes)
            if any(before and before["status"] != after["status"] for *_, before, after in changes):
                for agent in sorted({fact.agent for fact in facts}):
                    self.retire_unfounded(agent, run=run)
        return len(changes)

    def retire_unfounded(self, agent: str, *, run: str) -> int:
        """Retire notes with a source that is not live, as part of a run; returns how many."""
        unfounded = self._db.among(sorted(self._unfounded(agent)))
        changes: list[_Change] = []
        for row in self._db.query(
            f"SELECT {', '.join(FACT_COLUMNS)} FROM facts "  # noqa: S608
            "WHERE id IN (SELECT value FROM json_each(?)) ORDER BY id",
            (unfounded,),
        ):
            before = dict(zip(FACT_COLUMNS, row, strict=True))
            gone = {"status": FactStatus.SUPERSEDED.value, "changed_by": run}
            changes.append(("facts", [row[0]], before, before | gone))
        self._journal(changes, run)
        self._update("facts", changes)
        return len(changes)

    def write_notes(self, notes: Sequence[Fact], *, run: str) -> None:
        """Store notes as part of a run; undoing it takes them away again."""
        rows = [dict(zip(FACT_COLUMNS, fact_to_row(note), strict=True)) for note in notes]
        with self._db.atomic():
            self._insert("facts", rows, run)
            pieces = [piece for note in notes for piece in passage_rows(note.id, note.text)]
            self._db.write_many(INSERT_PASSAGE, pieces)

    def count_as_new(self, fact_ids: Sequence[str], *, run: str) -> None:
        """Make facts that were just added part of a run: undoing it takes them away again."""
        rows = [self._current("facts", [fact_id]) for fact_id in fact_ids]
        with self._db.atomic():
            self._journal([("facts", [row["id"]], None, row) for row in rows if row], run)

    def write_link(self, agent: str, link: Link, *, run: str) -> None:
        """Link two facts of an agent; a link that is there already stays as it is."""
        self.write_links(agent, [link], run=run)

    def write_links(self, agent: str, links: Sequence[Link], *, run: str) -> None:
        """Link many pairs of facts of an agent; much quicker than one by one."""
        for link in links:
            check_name("relation", link.relation)
        rows = [
            dict(zip(LINK_COLUMNS, link_to_row(agent, link, run), strict=True)) for link in links
        ]
        with self._db.atomic():
            self._require_facts(agent, *(end for link in links for end in (link.left, link.right)))
            fresh = {tuple(row_key("links", r)): r for r in rows if not self._is_there("links", r)}
            self._insert("links", [*fresh.values()], run)

    def write_review(self, review: Review, *, run: str) -> None:
        """Store a review, new or in another state."""
        self.write_reviews([review], run=run)

    def write_reviews(self, reviews: Sequence[Review], *, run: str) -> None:
        """Store many reviews of one agent; much quicker than one by one."""
        for review in reviews:
            check_name("review id", review.id)
        rows = [dict(zip(REVIEW_COLUMNS, review_to_row(r), strict=True)) for r in reviews]
        with self._db.atomic():
            for review in reviews[:1]:
                ends = [f for r in reviews for f in (r.decision.subject, r.decision.object)]
                self._require_facts(review.agent, *ends)
            fresh = {
                tuple(row_key("reviews", r)): r for r in rows if not self._is_there("reviews", r)
            }
            for row in rows:
                if tuple(row_key("reviews", row)) not in fresh:
                    self._put("reviews", row, run)
            self._insert("reviews", [*fresh.values()], run)

    def undo(self, run: str, *, now: datetime) -> Receipt:
        """Restore every row the run changed, newest change first, in one transaction.

        The pairs the run decided about count as settled from then on: the next run does not
        decide the same again. Undoing twice writes nothing.

        Returns:
            A receipt with the decisions taken back and the number of rows restored.

        Raises:
            UndoConflictError: A row was changed after the run; names it and the later run.
        """
        with self._db.atomic():
            full, agent, plan, state, body = self._run_row(run)
            applied = from_json(Receipt, body).applied if body else {}
            entries = self._db.query(
                "SELECT subject, key, before, after FROM journal WHERE run = ? "
                "ORDER BY number DESC",
                (full,),
            )
            undone = state == "undone"
            if not undone:
                self._refuse_if_changed_later(full)
                for subject, key, before, after in entries:
                    self._restore(full, subject, json.loads(key), before, after)
                self._refuse_if_unfounded(full, agent)
                self._db.write(
                    "UPDATE runs SET state = 'undone', undone_at = ? WHERE id = ?",
                    (format_time(now), full),
                )
        return Receipt(
            run=full,
            plan=plan,
            agent=agent,
            applied_at=now,
            applied=applied,
            already_applied=undone,
            rows=0 if undone else len(entries),
        )

    def _run_row(self, run: str) -> tuple[Any, ...]:
        full = self._run_id(run)
        return self._db.query(
            "SELECT id, agent, plan, state, receipt FROM runs WHERE id = ?", (full,)
        )[0]

    def _refuse_if_changed_later(self, run: str) -> None:
        later = self._db.one(
            "SELECT mine.subject, mine.key, theirs.run FROM journal AS mine "
            "JOIN journal AS theirs ON theirs.subject = mine.subject AND theirs.key = mine.key "
            "AND theirs.number > mine.number AND theirs.run <> mine.run "
            "JOIN runs ON runs.id = theirs.run AND runs.state = 'applied' "
            "WHERE mine.run = ? ORDER BY theirs.number DESC LIMIT 1",
            (run,),
        )
        if later is not None:
            subject, key, other = later
            raise UndoConflictError(
                f"{run} can't be undone: {_named(subject, json.loads(key))} was changed again by "
                f"the later run {other}; undo {other} first (`consolidate undo {other}`)"
            )

    def _refuse_if_unfounded(self, run: str, agent: str) -> None:
        """No undo brings a note back, or leaves one, whose source does not hold."""
        for note, source in sorted(self._unfounded(agent).items()):
            # Whichever came later: the run that made the note, or the one that retired the source.
            later = self._db.value(
                "SELECT runs.id FROM facts JOIN runs ON runs.id = facts.changed_by "
                "WHERE facts.id IN (?, ?) AND runs.id <> ? ORDER BY runs.number DESC LIMIT 1",
                (note, source, run),
            )
            remedy = f"undo {later} first (`consolidate undo {later}`)" if later else "keep it"
            raise UndoConflictError(
                f"{run} can't be undone: the note {note} would stand, and {source}, which it was "
                f"made from, does not hold; {remedy}"
            )

    def _restore(
        self, run: str, subject: str, key: list[str], before: str | None, after: str | None
    ) -> None:
        expected = json.loads(after) if after else None
        current = self._current(subject, key, columns=None if expected is None else [*expected])
        if current != expected:
            raise UndoConflictError(
                f"{run} can't be undone: {_named(subject, key)} was changed afterwards, outside "
                "of any run; nothing was changed. Its history shows what it was"
            )
        self._set(subject, key, json.loads(before) if before else None, expected)

    def _is_there(self, subject: str, values: _Values) -> bool:
        return self._current(subject, row_key(subject, values)) is not None

    def _insert(self, subject: str, rows: Sequence[_Values], run: str) -> None:
        """Insert rows that are not there yet, with their journal."""
        self._journal([(subject, row_key(subject, row), None, row) for row in rows], run)
        if rows:
            columns = [*rows[0]]
            self._db.write_many(
                f"INSERT INTO {subject} ({', '.join(columns)}) "  # noqa: S608
                f"VALUES ({placeholders(columns)})",
                [[row[name] for name in columns] for row in rows],
            )

    def _put(self, subject: str, values: _Values, run: str) -> None:
        key = row_key(subject, values)
        before = self._current(subject, key)
        if before != values:
            self._journal([(subject, key, before, values)], run)
            self._set(subject, key, values, before)

    def _journal(self, changes: Sequence[_Change], run: str) -> None:
        if not changes:
            return
        if not self._db.one("SELECT 1 FROM runs WHERE id = ? AND state = 'applied'", (run,)):
            raise NotFoundError(f"no run {run!r} in {self._db.where} that could write; begin one")
        self._enter(
            [
                (run, subject, canonical(key), before and canonical(before), canonical(after))
                for subject, key, before, after in changes
            ]
        )

    def _enter(self, entries: Sequence[Sequence[Any]]) -> None:
        self._db.write_many(
            "INSERT INTO journal (run, subject, key, before, after) VALUES (?, ?, ?, ?, ?)",
            entries,
        )

    def _current(
        self, subject: str, key: Sequence[str], *, columns: Sequence[str] | None = None
    ) -> _Values | None:
        columns = _COLUMNS[subject] if columns is None else columns
        row = self._db.one(
            f"SELECT {', '.join(columns)} FROM {subject} WHERE {_where(subject)}",  # noqa: S608
            key,
        )
        return None if row is None else dict(zip(columns, row, strict=True))

    def _set(
        self, subject: str, key: Sequence[str], wanted: _Values | None, current: _Values | None
    ) -> None:
        """Make one row what it should be; every name in the SQL is a column of the schema."""
        if wanted is None:
            self._db.write(f"DELETE FROM {subject} WHERE {_where(subject)}", key)  # noqa: S608
        elif current is None:
            self._db.write(
                f"INSERT INTO {subject} ({', '.join(wanted)}) "  # noqa: S608
                f"VALUES ({placeholders(wanted)})",
                [*wanted.values()],
            )
        else:
            self._update(subject, [(subject, key, current, wanted)])

    def _update(self, subject: str, changes: Sequence[_Change]) -> None:
        """Write the columns that differ; rows in which the same ones do share a statement."""
        by_columns: dict[tuple[str, ...], list[list[Any]]] = defaultdict(list)
        for _, key, before, after in changes:
            columns = tuple(name for name in after if before and after[name] != before[name])
            if columns:
                by_columns[columns].append([*(after[name] for name in columns), *key])
        for columns, rows in by_columns.items():
            assignments = ", ".join(f"{name} = ?" for name in columns)
            self._db.write_many(
                f"UPDATE {subject} SET {assignments} WHERE {_where(subject)}",  # noqa: S608
                rows,
            )

    def _require_facts(self, agent: str, *ids: str | None) -> None:
        named = {fact_id for fact_id in ids if fact_id is not None}
        owners: dict[str, str] = dict(
            self._db.query(
                "SELECT id, agent FROM facts WHERE id IN (SELECT value FROM json_each(?))",
                (self._db.among(named),),
            )
        )
        for fact_id in sorted(named):
            if fact_id not in owners:
                raise NotFoundError(f"no fact {fact_id!r} in {self._db.where}")
            if owners[fact_id] != agent:
                raise InputError(
                    f"fact {fact_id!r} belongs to agent {owners[fact_id]!r}, not {agent!r}; "
                    "nothing crosses agents"
                )


def row_key(subject: str, values: Mapping[str, Any]) -> list[str]:
    """What names a row of a table in the journal."""
    return [values[column] for column in _KEYS[subject]]


def _where(subject: str) -> str:
    return " AND ".join(f"{column} = ?" for column in _KEYS[subject])


def _named(subject: str, key: Sequence[str]) -> str:
    what = {"aliases": "declared name"}.get(subject, subject.removesuffix("s").replace("_", " "))
    return f"{what} {' / '.join(key)}"
