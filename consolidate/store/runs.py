"""Runs, their plans, reviews, links, and the state in which a run left an agent."""

from __future__ import annotations

import json
import secrets
from dataclasses import replace
from datetime import datetime
from typing import Any

from consolidate.errors import InputError, NotFoundError, StoreError
from consolidate.serialise import canonical, decision_to_json, from_data, from_json, to_data
from consolidate.store.base import Part
from consolidate.store.records import State
from consolidate.store.rows import (
    LINK_COLUMNS,
    REVIEW_COLUMNS,
    link_from_row,
    review_from_row,
)
from consolidate.times import format_time, read_time
from consolidate.types import Link, Plan, Receipt, Review, ReviewState, Run

__all__ = ["RunPart", "plan_body"]

_RUN_SQL = "SELECT id, agent, plan, state, started_at, finished_at, receipt, summary FROM runs"


class RunPart(Part):
    """The store's methods for what runs leave behind."""

    def find_run(self, plan_id: str) -> Run | None:
        """Return the run that applied a plan, unless there is none or it was undone."""
        row = self._db.one(f"{_RUN_SQL} WHERE plan = ? AND state = 'applied'", (plan_id,))
        return None if row is None else _run(row)

    def begin_run(self, plan: Plan, *, now: datetime) -> str:
        """Record that a plan is being applied, and the plan itself; returns the run's id.

        Raises:
            StoreError: The plan is applied already.
        """
        body, summary = plan_body(plan)
        with self._db.atomic():
            self.refuse_if_applied(plan.id)
            run = self.new_run_id(now)
            if not self._db.one("SELECT 1 FROM plans WHERE id = ?", (plan.id,)):
                self._db.write(
                    "INSERT INTO plans (id, agent, body) VALUES (?, ?, ?)",
                    (plan.id, plan.agent, body),
                )
                self._db.write_many(
                    "INSERT INTO decisions (plan, position, subject, object, body) "
                    "VALUES (?, ?, ?, ?, ?)",
                    [
                        (plan.id, position, each.subject, each.object, decision_to_json(each))
                        for position, each in enumerate(plan.decisions)
                    ],
                )
            self._db.write(
                "INSERT INTO runs (id, agent, plan, state, started_at, summary) "
                "VALUES (?, ?, ?, 'applied', ?, ?)",
                (run, plan.agent, plan.id, format_time(now), summary),
            )
        return run

    def new_run_id(self, now: datetime) -> str:
        """Make an id that no run has: the day and six hex digits."""
        day = format_time(now)[:10].replace("-", "")
        while True:
            run = f"run-{day}-{secrets.token_hex(3)}"
            if not self._db.one("SELECT 1 FROM runs WHERE id = ?", (run,)):
                return run

    def refuse_if_applied(self, plan_id: str) -> None:
        """Refuse a plan that a run has applied already.

        Raises:
            StoreError: It is; names the run.
        """
        applied = self.find_run(plan_id)
        if applied is not None:
            raise StoreError(f"this plan is applied already, by {applied.id}; undo that first")

    def finish_run(self, run: str, receipt: Receipt, *, now: datetime, state_digest: str) -> None:
        """Record what a run did and the state it left: the digest of the snapshot after it."""
        with self._db.atomic():
            changed = self._db.write(
                "UPDATE runs SET finished_at = ?, receipt = ? WHERE id = ?",
                (format_time(now), canonical(to_data(receipt)), run),
            )
            if not changed:
                raise NotFoundError(f"no run {run!r} in {self._db.where}")
            body = self._db.value(
                "SELECT plans.body FROM plans JOIN runs ON runs.plan = plans.id WHERE runs.id = ?",
                (run,),
            )
            plan = from_data(Plan, {**json.loads(body), "decisions": []})
            state = State(
                digest=state_digest,
                settings_digest=plan.settings_digest,
                models=plan.models,
                due=plan.due,
                cut=plan.cut,
            )
            self.record_state(plan.agent, state)

    def runs(
        self,
        agent: str | None = None,
        limit: int | None = None,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
    ) -> list[Run]:
        """Return runs, newest first, undone ones too.

        Args:
            agent: Only this agent's; None is all.
            limit: At most so many.
            since: Only those that began at this time or later.
            until: Only those that began at this time or before.
        """
        if limit is not None and limit < 0:
            raise InputError(f"limit {limit!r} must not be negative")
        rows = self._db.query(
            f"{_RUN_SQL} WHERE (?1 IS NULL OR agent = ?1) AND (?3 IS NULL OR started_at >= ?3) "
            "AND (?4 IS NULL OR started_at <= ?4) ORDER BY number DESC LIMIT ?2",
            (
                agent,
                -1 if limit is None else limit,
                since and format_time(since),
                until and format_time(until),
            ),
        )
        return [_run(row) for row in rows]

    def run(self, run_id: str) -> Run:
        """Return a run by id, a unique beginning of it, its last six characters, or `last`.

        Raises:
            NotFoundError: There is none.
        """
        with self._db.reading():
            full = self._run_id(run_id)
            return _run(self._db.query(f"{_RUN_SQL} WHERE id = ?", (full,))[0])

    def plan(self, run_id: str) -> Plan:
        """Return the plan that a run applied, as it was."""
        with self._db.reading():
            full = self._run_id(run_id)
            plan, body = self._db.query(
                "SELECT plans.id, plans.body FROM plans JOIN runs ON runs.plan = plans.id "
                "WHERE runs.id = ?",
                (full,),
            )[0]
            decisions = self._db.query(
                "SELECT body FROM decisions WHERE plan = ? ORDER BY position", (plan,)
            )
        data = json.loads(body)
        data["decisions"] = [json.loads(row[0]) for row in decisions]
        return from_data(Plan, data)

    def last_state(self, agent: str) -> State | None:
        """Return the state that the last run, or the last `record_state`, left for an agent."""
        body = self._db.value("SELECT body FROM states WHERE agent = ?", (agent,))
        return None if body is None else from_json(State, body)

    def record_state(self, agent: str, state: State) -> None:
        """Remember a state; an equal one is not written."""
        with self._db.atomic():
            self._db.write(
                "INSERT INTO states (agent, body) VALUES (?1, ?2) "
                "ON CONFLICT (agent) DO UPDATE SET body = ?2 WHERE body <> ?2",
                (agent, canonical(to_data(state))),
            )

    def reviews(
        self, *, agent: str | None = None, state: ReviewState | None = ReviewState.OPEN
    ) -> list[Review]:
        """Return reviews, sorted by id; open ones only unless asked for others (None is all)."""
        rows = self._db.query(
            f"SELECT {', '.join(REVIEW_COLUMNS)} FROM reviews "  # noqa: S608
            "WHERE (?1 IS NULL OR agent = ?1) AND (?2 IS NULL OR state = ?2) ORDER BY id",
            (agent, None if state is None else ReviewState(state).value),
        )
        return [review_from_row(row) for row in rows]

    def review(self, review_id: str) -> Review:
        """Return a review by id or a unique beginning of it.

        Raises:
            NotFoundError: There is none.
        """
        with self._db.reading():
            full = self._resolve("reviews", "review", review_id)
            rows = self._db.query(
                f"SELECT {', '.join(REVIEW_COLUMNS)} FROM reviews WHERE id = ?",  # noqa: S608
                (full,),
            )
        return review_from_row(rows[0])

    def links(self, *, agent: str | None = None, fact: str | None = None) -> list[Link]:
        """Return links, sorted; `fact` (a whole id) keeps those on either side of it."""
        rows = self._db.query(
            f"SELECT {', '.join(LINK_COLUMNS)} FROM links "  # noqa: S608
            "WHERE (?1 IS NULL OR agent = ?1) "
            "AND (?2 IS NULL OR left_fact = ?2 OR right_fact = ?2) "
            "ORDER BY left_fact, right_fact, relation",
            (agent, fact),
        )
        return [link_from_row(row) for row in rows]


def plan_body(plan: Plan) -> tuple[str, str]:
    """Write a plan without its decisions, and what lists of runs show of it."""
    body = to_data(replace(plan, decisions=()))
    del body["decisions"]  # they lie in a table of their own
    summary = {name: body[name] for name in ("stages", "models", "settings")}
    return canonical(body), canonical(summary)


def _run(row: tuple[Any, ...]) -> Run:
    run, agent, plan, state, started, finished, receipt, summary = row
    return Run(
        id=run,
        agent=agent,
        plan=plan,
        state=state,
        started_at=read_time(started),
        finished_at=finished and read_time(finished),
        receipt=from_json(Receipt, receipt) if receipt else None,
        summary=json.loads(summary),
    )
