"""A whole run written at once: prepared without the lock, then checked and written under it.

Other writers wait while a transaction is open. Most of what applying a plan costs is making
rows and JSON, so that happens before; what is left inside is comparing the facts with those the
rows were made from, and a few statements with many rows each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.serialise import canonical, decision_to_json, to_data
from consolidate.store.journal import JournalPart, row_key
from consolidate.store.records import State
from consolidate.store.rows import (
    FACT_COLUMNS,
    FACT_SQL,
    LINK_COLUMNS,
    REVIEW_COLUMNS,
    fact_hash,
    fact_to_row,
    link_to_row,
    placeholders,
    review_to_row,
)
from consolidate.store.runs import RunPart, plan_body
from consolidate.store.validation import check_name
from consolidate.times import format_time
from consolidate.types import Fact, Link, Plan, Receipt, Review

__all__ = ["PreparedRun", "WholeRunPart", "prepare_run"]

_Values = dict[str, Any]


@dataclass(frozen=True, kw_only=True)
class PreparedRun:
    """Every row of a run, and the facts as they were when the rows were made."""

    run: str
    plan: str
    agent: str
    seen: Mapping[str, Sequence[Any]]
    """Fact id to the stored row that the plan was made from."""
    named: frozenset[str]
    """Ids of all facts that the rows refer to."""
    plan_body: str
    decisions: Sequence[Sequence[Any]]
    run_row: Sequence[Any]
    updates: Mapping[tuple[str, ...], Sequence[Sequence[Any]]]
    """Columns of facts that change together, to their values and the fact's id."""
    journal: Sequence[Sequence[Any]]
    links: Sequence[tuple[_Values, Sequence[Any]]]
    """Row and its journal entry."""
    reviews: Sequence[tuple[_Values, Sequence[Any]]]
    state: State
    receipt: Receipt


def prepare_run(
    plan: Plan,
    *,
    run: str,
    now: datetime,
    before: Mapping[str, Fact],
    after: Iterable[Fact],
    links: Sequence[Link],
    reviews: Sequence[Review],
    applied: Mapping[str, int],
) -> PreparedRun:
    """Make the rows of a run. Pure: reads no store.

    Args:
        plan: What is applied.
        run: Id of the run, from `Store.new_run_id`.
        now: The present moment, timezone-aware.
        before: The facts that the plan touches as the store holds them, by id.
        after: Those of them that change, as they will be.
        links: Links to make.
        reviews: Reviews to open.
        applied: Decisions by kind, for the receipt.

    Raises:
        InputError: A fact's content hash is not that of its text.
    """
    for link in links:
        check_name("relation", link.relation)
    for review in reviews:
        check_name("review id", review.id)
    seen = {fact_id: fact_to_row(fact) for fact_id, fact in before.items()}
    updates: dict[tuple[str, ...], list[Sequence[Any]]] = defaultdict(list)
    journal = []
    named = {end for link in links for end in (link.left, link.right)}
    named |= {f for r in reviews for f in (r.decision.subject, r.decision.object)}
    for fact in after:
        if fact.content_hash != fact_hash(fact.text):
            raise InputError(f"fact {fact.id}: content_hash is not the hash of its text")
        old, new = seen[fact.id], fact_to_row(fact)
        differing = [at for at, value in enumerate(new) if value != old[at]]
        named |= {each for each in (fact.id, fact.superseded_by, fact.merged_into) if each}
        if not differing:
            continue
        columns = tuple(FACT_COLUMNS[at] for at in differing)
        updates[columns].append([*(new[at] for at in differing), fact.id])
        was, will_be = (dict(zip(FACT_COLUMNS, row, strict=True)) for row in (old, new))
        journal.append(
            (run, "facts", canonical([fact.id]), canonical(was), canonical(will_be)),
        )
    rows = len(journal) + len(links) + len(reviews)
    receipt = Receipt(
        run=run, plan=plan.id, agent=plan.agent, applied_at=now, rows=rows, applied=applied
    )
    body, summary = plan_body(plan)
    moment = format_time(now)
    return PreparedRun(
        run=run,
        plan=plan.id,
        agent=plan.agent,
        seen=seen,
        named=frozenset(named),
        plan_body=body,
        decisions=[
            (plan.id, position, each.subject, each.object, decision_to_json(each))
            for position, each in enumerate(plan.decisions)
        ],
        run_row=(run, plan.agent, plan.id, moment, summary, moment, canonical(to_data(receipt))),
        updates=updates,
        journal=journal,
        links=[
            _with_journal("links", LINK_COLUMNS, link_to_row(plan.agent, link, run), run)
            for link in links
        ],
        reviews=[
            _with_journal("reviews", REVIEW_COLUMNS, review_to_row(review), run)
            for review in reviews
        ],
        state=State(
            digest="",
            settings_digest=plan.settings_digest,
            models=plan.models,
            due=plan.due,
            cut=plan.cut,
        ),
        receipt=receipt,
    )


def _with_journal(
    subject: str, columns: Sequence[str], row: Sequence[Any], run: str
) -> tuple[_Values, Sequence[Any]]:
    values = dict(zip(columns, row, strict=True))
    return values, (run, subject, canonical(row_key(subject, values)), None, canonical(values))


class WholeRunPart(JournalPart, RunPart):
    """The store's method that writes a prepared run."""

    def changed_since(self, prepared: PreparedRun) -> list[str]:
        """Ids of facts that are no longer as they were when the run was prepared, sorted."""
        current = {
            row[0]: row
            for row in self._db.query(
                f"SELECT {FACT_SQL} FROM facts "  # noqa: S608
                "WHERE id IN (SELECT value FROM json_each(?))",
                (self._db.among(prepared.seen),),
            )
        }
        return sorted(
            fact_id for fact_id, row in prepared.seen.items() if current.get(fact_id) != row
        )

    def write_run(self, prepared: PreparedRun) -> Receipt:
        """Write a prepared run. Call `changed_since` in the same transaction first.

        Raises:
            StoreError: The plan is applied already.
            NotFoundError: A row refers to a fact that is gone.
            InputError: A row refers to another agent's fact.
        """
        with self._db.atomic():
            self.refuse_if_applied(prepared.plan)
            self._require_facts(prepared.agent, *prepared.named)
            if not self._db.one("SELECT 1 FROM plans WHERE id = ?", (prepared.plan,)):
                self._db.write(
                    "INSERT INTO plans (id, agent, body) VALUES (?, ?, ?)",
                    (prepared.plan, prepared.agent, prepared.plan_body),
                )
                self._db.write_many(
                    "INSERT INTO decisions (plan, position, subject, object, body) "
                    "VALUES (?, ?, ?, ?, ?)",
                    prepared.decisions,
                )
            self._db.write(
                "INSERT INTO runs (id, agent, plan, state, started_at, summary, finished_at, "
                "receipt) VALUES (?, ?, ?, 'applied', ?, ?, ?, ?)",
                prepared.run_row,
            )
            for columns, rows in prepared.updates.items():
                assignments = ", ".join(f"{name} = ?" for name in columns)
                self._db.write_many(f"UPDATE facts SET {assignments} WHERE id = ?", rows)  # noqa: S608
            self._enter(prepared.journal)
            self._insert_fresh("links", prepared.links)
            for values in self._insert_fresh("reviews", prepared.reviews):
                self._put("reviews", values, prepared.run)
            self.record_state(prepared.agent, prepared.state)
            receipt = prepared.receipt
            if retired := self.retire_unfounded(prepared.agent, run=prepared.run):
                receipt = replace(receipt, rows=receipt.rows + retired)
                self._db.write(
                    "UPDATE runs SET receipt = ? WHERE id = ?",
                    (canonical(to_data(receipt)), prepared.run),
                )
        return receipt

    def _insert_fresh(
        self, subject: str, rows: Sequence[tuple[_Values, Sequence[Any]]]
    ) -> list[_Values]:
        """Insert rows that are not there yet; returns the others."""
        fresh = [pair for pair in rows if not self._is_there(subject, pair[0])]
        self._enter([entry for _, entry in fresh])
        if fresh:
            columns = [*fresh[0][0]]
            self._db.write_many(
                f"INSERT INTO {subject} ({', '.join(columns)}) "  # noqa: S608
                f"VALUES ({placeholders(columns)})",
                [[*values.values()] for values, _ in fresh],
            )
        new = {id(values) for values, _ in fresh}
        return [values for values, _ in rows if id(values) not in new]
