"""Each type of row of an export, written back: checked, under the ids it has here, if it is new.

A writer takes a row and says how many rows came in. `restoring` calls them in order.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from consolidate.errors import InputError
from consolidate.serialise import canonical, from_data, to_data
from consolidate.store.blocks import BLOCK_COLUMNS, check_content, check_limit
from consolidate.store.episodes import EPISODE_COLUMNS, episode_to_row
from consolidate.store.exports import JOURNAL_COLUMNS, RUN_COLUMNS
from consolidate.store.messages import MESSAGE_COLUMNS
from consolidate.store.records import Episode, Message
from consolidate.store.rows import (
    ALIAS_COLUMNS,
    DECLARED_COLUMNS,
    FACT_COLUMNS,
    LINK_COLUMNS,
    LIVE_SQL,
    PIN_COLUMNS,
    REVIEW_COLUMNS,
    alias_to_row,
    declared_to_row,
    ordered,
    pin_to_row,
    placeholders,
    review_to_row,
)
from consolidate.store.store import Store
from consolidate.store.validation import (
    check_alias,
    check_episode,
    check_message,
    check_name,
)
from consolidate.times import format_time, parse_time
from consolidate.types import (
    Alias,
    Decision,
    DeclaredEntity,
    EntityPin,
    Plan,
    Receipt,
    Review,
    ReviewState,
)

__all__ = ["Numbered", "RowRestore"]

_Data = Mapping[str, Any]
Numbered = Sequence[tuple[int, _Data]]
"""Rows, each with the line it came from."""

_DECISION_COLUMNS = ("plan", "position", "subject", "object", "body")
_MENTION_COLUMNS = ("fact", "start", "stop", "text", "label", "score", "entity")
_JOURNALLED: Mapping[str, Sequence[str]] = {
    "aliases": ALIAS_COLUMNS,
    "entity_declarations": DECLARED_COLUMNS,
    "entity_pins": PIN_COLUMNS,
    "facts": FACT_COLUMNS,
    "links": LINK_COLUMNS,
    "reviews": REVIEW_COLUMNS,
}


class RowRestore:
    """What ids of the export are called here, what is new, and a writer for each type of row."""

    def __init__(self, store: Store, agent: str | None) -> None:
        self._store = store
        self._db = store._db
        self._agent = agent
        self._names: dict[str, str] = {}
        """Id in the export to id here."""
        self._runs: dict[str, str] = {}
        self._fresh_runs: set[str] = set()
        self._fresh: set[str] = set()
        self._fresh_blocks: set[tuple[str, str]] = set()
        self._broken: list[tuple[int, str]] = []
        self._extra: dict[str, int] = {}

    # Ids

    def _id(self, fact: str | None) -> str | None:
        if fact is None or fact in self._names:
            return self._names.get(fact or "")
        found = self._db.value("SELECT id FROM facts WHERE id = ?", (fact,))
        return None if found is None else str(found)

    def _run_id(self, run: str | None) -> str | None:
        if run is None or run in self._runs:
            return self._runs.get(run or "")
        found = self._db.value("SELECT id FROM runs WHERE id = ?", (run,))
        return None if found is None else str(found)

    # Rows

    def _each(self, kind: str, rows: Numbered) -> None:
        write = getattr(self, f"_{kind.replace('-', '_')}")
        for line, row in rows:
            if self._agent is not None and row.get("agent", self._agent) != self._agent:
                continue
            try:
                came = write(row)
            except KeyError as error:
                self._broken.append((line, f"{kind}: {error.args[0]!r} is missing"))
            except (InputError, TypeError, ValueError) as error:
                self._broken.append((line, f"{kind}: {error}"))
            else:
                self._extra[kind] = self._extra.get(kind, 0) + came

    def _plan(self, row: _Data) -> int:
        from_data(Plan, {**row["body"], "decisions": []})  # what can't be read later stays out
        values = (_text(row, "id"), _text(row, "agent"), canonical(row["body"]))
        return self._insert("plans", ("id", "agent", "body"), [values])

    def _decision(self, row: _Data) -> int:
        decision = from_data(Decision, row["body"])
        plan = _text(row, "plan")
        if not self._db.one("SELECT 1 FROM plans WHERE id = ?", (plan,)):
            return 0
        body = canonical(to_data(decision))
        values = (plan, int(row["position"]), decision.subject, decision.object, body)
        return self._insert("decisions", _DECISION_COLUMNS, [values])

    def _run(self, row: _Data) -> int:
        run, plan, state = _text(row, "id"), _text(row, "plan"), _text(row, "state")
        if not self._db.one("SELECT 1 FROM plans WHERE id = ?", (plan,)):
            raise InputError(f"the plan of {run!r} is missing")
        if state not in ("applied", "undone"):
            raise InputError(f"state {state!r} must be applied or undone")
        same = self._db.value(
            "SELECT id FROM runs WHERE id = ?1 OR (plan = ?2 AND state = 'applied' "
            "AND ?3 = 'applied')",
            (run, plan, state),
        )
        self._runs[run] = run if same is None else str(same)
        if same is not None:
            return 0
        receipt = row["receipt"]
        values = (
            run,
            _text(row, "agent"),
            plan,
            state,
            _time(row["started_at"]),
            _time(row["finished_at"]),
            _time(row["undone_at"]),
            None if receipt is None else canonical(to_data(from_data(Receipt, receipt))),
            canonical(row["summary"]),
        )
        self._fresh_runs.add(run)
        return self._insert("runs", RUN_COLUMNS, [values])

    def _alias(self, row: _Data) -> int:
        data = {key: value for key, value in row.items() if key != "type"}
        alias = from_data(Alias, data)
        check_alias(alias)
        return self._insert("aliases", ALIAS_COLUMNS, [[*alias_to_row(alias).values()]])

    def _entity_declaration(self, row: _Data) -> int:
        data = {key: value for key, value in row.items() if key not in ("type", "kind")}
        declared = from_data(DeclaredEntity, {**data, "type": row["kind"]})
        for what in (declared.agent, declared.key, declared.name):
            check_name("declared entity", what)
        values = [*declared_to_row(declared).values()]
        return self._insert("entity_declarations", DECLARED_COLUMNS, [values])

    def _entity_pin(self, row: _Data) -> int:
        data = {key: value for key, value in row.items() if key != "type"}
        pin = from_data(EntityPin, data)
        check_name("entity", pin.entity)
        fact = self._id(pin.fact)
        owner = self._db.value("SELECT agent FROM facts WHERE id = ?", (fact,))
        if fact is None or owner != pin.agent:
            return 0
        values = [*pin_to_row(replace(pin, fact=fact)).values()]
        return self._insert("entity_pins", PIN_COLUMNS, [values])

    def _entity(self, row: _Data) -> int:
        values = (
            _text(row, "agent"),
            _text(row, "key"),
            _text(row, "name"),
            str(row.get("kind", "")),
            str(row.get("note", "")),
        )
        known_as = row.get("links") or [["mention", 1.0]] * len(row["facts"])
        facts = [
            (fact, str(role), float(confidence))
            for fact, (role, confidence) in zip(row["facts"], known_as, strict=True)
            if fact in self._fresh
        ]
        known = self._entity_number(values[0], values[1])
        if known is None and (facts or not row["facts"]):
            self._insert("entities", ("agent", "key", "name", "type", "note"), [values])
            known = self._entity_number(values[0], values[1])
        if known is None:
            return 0
        columns = ("entity", "fact", "role", "confidence")
        return self._insert("entity_facts", columns, [(known, *fact) for fact in facts])

    def _mention(self, row: _Data) -> int:
        fact = _text(row, "fact")
        if fact not in self._fresh:
            return 0
        key = row["entity"]
        entity = None if key is None else self._entity_number(_text(row, "agent"), key)
        values = (
            fact,
            int(row["start"]),
            int(row["stop"]),
            _text(row, "text"),
            _text(row, "label"),
            float(row["score"]),
            entity,
        )
        return self._insert("fact_mentions", _MENTION_COLUMNS, [values])

    def _link(self, row: _Data) -> int:
        ends = self._id(_text(row, "left")), self._id(_text(row, "right"))
        if ends[0] is None or ends[1] is None or ends[0] == ends[1]:
            return 0
        pair = ordered(ends[0], ends[1])
        agent = _text(row, "agent")
        if not self._both(pair, agent):
            raise InputError(f"its facts are not both of agent {agent!r}")
        values = (agent, *pair, _text(row, "relation"), self._run_id(row.get("run")))
        return self._insert("links", LINK_COLUMNS, [values])

    def _review(self, row: _Data) -> int:
        data = {key: value for key, value in row.items() if key != "type"}
        review = from_data(Review, data)
        run = self._run_id(review.run)
        decision = review.decision
        subject, other = self._id(decision.subject), self._id(decision.object)
        if run is None or subject is None or other is None or subject == other:
            return 0
        pair = ordered(subject, other)
        taken = "SELECT 1 FROM reviews WHERE id = ? OR (left_fact = ? AND right_fact = ?)"
        if self._db.one(taken, (review.id, *pair)):
            return 0
        if not self._both(pair, review.agent):
            raise InputError(f"its facts are not both of agent {review.agent!r}")
        if review.state is ReviewState.OPEN and not self._both(pair, review.agent, live=True):
            return 0  # what it asks about has been decided here
        here = replace(review, run=run, decision=self._here(decision))
        return self._insert("reviews", REVIEW_COLUMNS, [review_to_row(here)])

    def _here(self, decision: Decision) -> Decision:
        """Rename facts wherever a decision or its evidence names them."""
        return replace(
            decision,
            subject=self._id(decision.subject) or decision.subject,
            object=self._id(decision.object) or decision.object,
            evidence=tuple(
                replace(
                    item,
                    left=self._id(item.left) or item.left,
                    right=self._id(item.right) or item.right,
                )
                for item in decision.evidence
            ),
        )

    def _journal(self, row: _Data) -> int:
        run, subject = _text(row, "run"), _text(row, "subject")
        if run not in self._fresh_runs:
            return 0
        columns = _JOURNALLED.get(subject)
        if columns is None:
            raise InputError(f"unknown subject {subject!r}")
        for values in (row["before"], row["after"]):
            # Undo builds statements from these names, so no others may come in.
            if values is not None and not set(values) <= set(columns):
                raise InputError(f"unknown column in {sorted(set(values) - set(columns))!r}")
        before, after = (
            None if row[key] is None else canonical(row[key]) for key in ("before", "after")
        )
        entry = (run, subject, canonical(row["key"]), before, after)
        return self._insert("journal", JOURNAL_COLUMNS, [entry])

    def _tombstone(self, row: _Data) -> int:
        content_hash = _text(row, "content_hash")
        if not re.fullmatch("[0-9a-f]{64}", content_hash):
            raise InputError(f"content_hash {content_hash!r} is no SHA-256 in hex")
        values = (_text(row, "agent"), content_hash, _time(row["at"]))
        return self._insert("tombstones", ("agent", "content_hash", "at"), [values])

    def _pin(self, row: _Data) -> int:
        fact = self._mine(row)
        return (
            0 if fact is None else self._insert("pins", ("fact", "at"), [(fact, _time(row["at"]))])
        )

    def _use(self, row: _Data) -> int:
        fact, count = self._mine(row), int(row["count"])
        if count < 1:
            raise InputError(f"count {count} must be at least 1")
        values = (fact, count, _time(row["last"]))
        return 0 if fact is None else self._insert("uses", ("fact", "count", "last"), [values])

    def _mine(self, row: _Data) -> str | None:
        """The fact that a row hangs on, if it came with this import."""
        fact = self._id(_text(row, "fact"))
        return fact if fact in self._fresh else None

    def _message(self, row: _Data) -> int:
        message = Message(
            id=_text(row, "id"),
            conversation=str(row["conversation"]),
            role=str(row["role"]),
            content=row["content"],
            at=parse_time(row["at"]),
        )
        check_message(message)
        values = (
            message.id,
            _text(row, "agent"),
            message.conversation,
            message.role,
            message.content,
            _time(row["at"]),
        )
        return self._insert("messages", MESSAGE_COLUMNS, [values])

    def _episode(self, row: _Data) -> int:
        episode = Episode(
            id=_text(row, "id"),
            agent=_text(row, "agent"),
            title=row["title"],
            text=row["text"],
            outcome=row["outcome"],
            session=row["session"],
            started_at=row["started_at"] and parse_time(row["started_at"]),
            ended_at=row["ended_at"] and parse_time(row["ended_at"]),
        )
        check_episode(episode)
        if self._store.kept_out(episode.agent, {episode.text}):
            return 0
        recorded = format_time(parse_time(row["recorded_at"]))
        values = episode_to_row(episode, recorded_at=recorded)
        if not self._insert("episodes", EPISODE_COLUMNS, [values]):
            return 0
        own = "SELECT 1 FROM facts WHERE id = ? AND agent = ?"
        facts = [fact for each in row["facts"] if (fact := self._id(each)) is not None]
        links = [(episode.id, fact) for fact in facts if self._db.one(own, (fact, episode.agent))]
        self._insert("episode_facts", ("episode", "fact"), links)
        return 1

    def _block(self, row: _Data) -> int:
        agent, name = _text(row, "agent"), _text(row, "name")
        check_content(row["content"])
        check_limit(row["limit"])
        if not isinstance(row["version"], int) or row["version"] < 1:
            raise InputError(f"version {row['version']!r} is no version of a block")
        if self._store.block(agent, name) is not None:
            return 0  # what it holds here stays
        at = _time(row["updated_at"])
        values = (agent, name, row["content"], row["version"], row["limit"], at)
        self._fresh_blocks.add((agent, name))
        return self._insert("blocks", BLOCK_COLUMNS, [values])

    def _block_version(self, row: _Data) -> int:
        agent, name = _text(row, "agent"), _text(row, "name")
        if (agent, name) not in self._fresh_blocks:
            return 0
        check_content(row["content"])
        values = (agent, name, int(row["version"]), row["content"], _time(row["at"]))
        return self._insert(
            "block_versions", ("agent", "name", "version", "content", "at"), [values]
        )

    # What they share

    def _both(self, pair: tuple[str, str], agent: str, *, live: bool = False) -> bool:
        """Whether both facts are the agent's, and live if that is asked."""
        condition = LIVE_SQL if live else "1"
        count = self._db.value(
            f"SELECT count(*) FROM facts WHERE id IN (?, ?) AND agent = ? AND {condition}",  # noqa: S608
            (*pair, agent),
        )
        return bool(count == 2)

    def _entity_number(self, agent: str, key: str) -> int | None:
        found = self._db.value("SELECT id FROM entities WHERE agent = ? AND key = ?", (agent, key))
        return None if found is None else int(found)

    def _insert(self, table: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> int:
        """Insert what is not there; table and columns are words of this module."""
        return self._db.write_many(
            f"INSERT OR IGNORE INTO {table} ({', '.join(columns)}) "  # noqa: S608
            f"VALUES ({placeholders(columns)})",
            rows,
        )


def _text(row: _Data, key: str) -> str:
    check_name(key, row[key])
    return str(row[key])


def _time(value: Any) -> str | None:
    return None if value is None else format_time(parse_time(value))
