"""Deleting facts for good: no table, index, cache, journal or page of the file holds them after.

Everything else of the package retires and keeps; this is the one way out. What other rows say of a
deleted fact is put right: successors are followed past it, the journal of other facts stays fit for
undo, and decisions about it keep their place without the words.

A deleted row's bytes stay in a database file until something is written over them, and in the log
beside it; `scrubbing` sees to these.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from consolidate.errors import InputError, NotFoundError, StalePlanError
from consolidate.serialise import canonical, decision_from_json, decision_to_json
from consolidate.store.derived import NOTE_KIND, DerivedPart
from consolidate.store.entities import EntityPart
from consolidate.store.episodes import EpisodePart
from consolidate.store.records import Erased
from consolidate.store.rows import FACT_SQL, fact_digest, fact_from_row
from consolidate.store.tombstones import grave_keys
from consolidate.types import Decision, DecisionKind, Fact, FactStatus

__all__ = ["COPY", "MADE_FROM", "ErasePart"]

COPY: Final = "the same text"
MADE_FROM: Final = "made from"
_INDEXES: Final = ("facts_fts", "passages_fts", "messages_fts", "episodes_fts")

_ANSWERS: Final = {
    "vectors": ("text",),
    "staged_vectors": ("text",),
    "mention_cache": ("text",),
    "verdicts": ("left_text", "right_text"),
    "failures": ("text", "other"),
}
"""Tables of models' answers, with the columns that name a text."""

_NAMING: Final = frozenset({"facts", "links", "entity_pins"})
"""Tables whose keys name facts in the journal."""

_GONE: Final = {
    DecisionKind.SUPERSEDE: "What took its place has been forgotten.",
    DecisionKind.MERGE: "What it was merged into has been forgotten.",
}
_GONE_OTHERWISE: Final = "The other fact has been forgotten."
_GONE_BETWEEN: Final = "A fact that spoke for this has been forgotten."

_FEW: Final = 40
"""So many ids are looked for by SQLite; for more, reading every row once is quicker."""


class ErasePart(EpisodePart, EntityPart, DerivedPart):
    """The store's methods that delete for good."""

    def copies(self, agent: str, ids: Collection[str]) -> dict[str, str]:
        """Other facts that must go along for these to be gone, each with the reason.

        Facts of the agent with the very same text, and facts that were merged into one of them,
        also over others: they say what it says. So do notes made from one of all these.
        """
        with self._db.reading():
            rows = self._db.query(
                "WITH RECURSIVE going (id, why) AS ("
                "SELECT id, '' FROM facts WHERE agent = ?1 "
                "AND id IN (SELECT value FROM json_each(?2)) "
                "UNION SELECT other.id, CASE WHEN other.merged_into = facts.id "
                "AND other.status = 'merged' THEN 'merged into ' || facts.id ELSE ?3 END "
                "FROM going JOIN facts ON facts.id = going.id "
                "JOIN facts AS other ON other.agent = ?1 AND "
                "(other.content_hash = facts.content_hash "
                "OR (other.merged_into = facts.id AND other.status = 'merged'))) "
                "SELECT id, min(why) FROM going GROUP BY id ORDER BY id",
                (agent, self._db.among(list(ids)), COPY),
            )
            found: dict[str, str] = dict(rows)
            made = self.notes_from(agent, {*ids, *found})
        asked = set(ids)
        found = {note: f"{MADE_FROM} {source}" for note, source in made.items()} | found
        return {fact: why for fact, why in found.items() if fact not in asked}

    def erase(
        self,
        agent: str,
        ids: Collection[str],
        *,
        now: datetime,
        revive: bool = False,
        along: bool = True,
        bury: bool = True,
        messages: bool = False,
        episodes: bool = False,
        digests: Mapping[str, str] | None = None,
    ) -> Erased:
        """Delete facts and what must go with them (`copies`), in one transaction.

        The bytes stay in the file until `scrub`.

        Args:
            agent: Whose; facts of others are refused.
            ids: Whole ids.
            now: The present moment.
            revive: Facts that a deleted one had superseded hold again, if nothing else does in
                its place; otherwise they stay retired.
            along: Also what `copies` names. Without, a copy that stands keeps its text.
            bury: Keep the texts from being added again, except those that still stand.
            messages: Also delete messages of conversations in which one of the texts stands.
            episodes: Also delete episodes that one of the facts is linked to or in which one of
                the texts stands.
            digests: Row digests of all facts that may go; any other, or a changed one, refuses
                everything.

        Raises:
            NotFoundError: A fact is not there.
            InputError: A fact is another agent's.
            StalePlanError: What would go is not what `digests` names.
        """
        with self._db.atomic():
            facts = self._to_erase(agent, ids, along=along)
            if digests is not None:
                _refuse_if_other(facts, digests)
            going = set(facts)
            heirs = self._heirs_of(facts)
            revived, retired = self._predecessors_of(agent, going, heirs, revive=revive)
            self._release_reviews(agent, going)
            self._clean_journal(agent, going, heirs)
            self._clean_decisions(agent, going)
            among = self._db.among(sorted(going))
            # Asked now: the links of a fact go with it
            told = self.episodes_with(agent, going, _texts(facts)) if episodes else []
            within = "SELECT value FROM json_each(?1)"
            for table in ("links", "reviews"):
                self._db.write(
                    f"DELETE FROM {table} WHERE left_fact IN ({within}) "  # noqa: S608
                    f"OR right_fact IN ({within})",
                    (among,),
                )
            named = [
                row[0]
                for row in self._db.query(
                    f"SELECT DISTINCT entity FROM entity_facts WHERE fact IN ({within}) "  # noqa: S608
                    f"UNION SELECT DISTINCT entity FROM fact_mentions WHERE fact IN ({within}) "
                    "AND entity IS NOT NULL",
                    (among,),
                )
            ]
            # Whatever hangs on a fact alone goes with it: passages, mentions, uses, pins.
            self._db.write(f"DELETE FROM facts WHERE id IN ({within})", (among,))  # noqa: S608
            self._drop_unnamed(agent)
            self._rename_entities(named)
            self.refresh_names(agent)
            self._drop_unused_answers()
            buried = self._bury(agent, facts, along=along, now=now) if bury else 0
            said = self.messages_with(agent, _texts(facts)) if messages else []
            if said:
                self._db.write(
                    f"DELETE FROM messages WHERE id IN ({within})",  # noqa: S608
                    (self._db.among(said),),
                )
            self._drop_episodes(agent, told, now=now)
            for index in _INDEXES:
                # Words of deleted rows stay in the parts of an index until these are joined.
                self._db.write(f"INSERT INTO {index} ({index}) VALUES ('optimize')")  # noqa: S608
            self._ask_for_scrub()
        return Erased(
            facts=tuple(sorted(going)),
            revived=tuple(revived),
            retired=tuple(retired),
            buried=buried,
            messages=len(said),
            episodes=len(told),
        )

    def messages_with(self, agent: str, texts: Collection[str]) -> list[str]:
        """Ids of an agent's messages in which one of these texts stands, sorted."""
        rows = self._db.query(
            "SELECT id FROM messages WHERE agent = ? AND EXISTS (SELECT 1 FROM json_each(?) "
            "AS piece WHERE instr(messages.content, piece.value)) ORDER BY id",
            (agent, self._db.among(list(texts))),
        )
        return [row[0] for row in rows]

    # Steps of `erase`

    def _to_erase(self, agent: str, ids: Collection[str], *, along: bool) -> dict[str, Fact]:
        wanted = set(ids)
        made = self.copies(agent, wanted) if along else self.notes_from(agent, wanted)
        everything = sorted(wanted | made.keys())
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts WHERE id IN (SELECT value FROM json_each(?))",  # noqa: S608
            (self._db.among(everything),),
        )
        facts = {row[0]: fact_from_row(row) for row in rows}
        for fact_id in sorted(wanted):
            if fact_id not in facts:
                raise NotFoundError(f"no fact {fact_id!r} in {self._db.where}; nothing was deleted")
            if facts[fact_id].agent != agent:
                raise InputError(
                    f"fact {fact_id!r} belongs to another agent than {agent!r}; nothing was deleted"
                )
        return facts

    def _bury(self, agent: str, facts: Mapping[str, Fact], *, along: bool, now: datetime) -> int:
        texts = {fact.text for fact in facts.values()}
        standing: set[str] = set()
        if not along:
            sql = "SELECT DISTINCT text FROM facts WHERE agent = ?"
            standing = {
                key for (text,) in self._db.query(sql, (agent,)) for key in grave_keys(text)
            }
        kept_out = {text: keys for text in texts if not (keys := grave_keys(text)) & standing}
        self.bury(agent, {key for keys in kept_out.values() for key in keys}, now=now)
        return len(kept_out)

    def _heirs_of(self, facts: Mapping[str, Fact]) -> dict[str, str | None]:
        """For each fact, what took its place and is not deleted itself; None if nothing did."""
        heirs: dict[str, str | None] = {}
        for start in facts:
            at: str | None = start
            seen: set[str] = set()
            while at is not None and at in facts and at not in seen:
                seen.add(at)
                at = facts[at].merged_into or facts[at].superseded_by
            heirs[start] = None if at in facts else at
        return heirs

    def _predecessors_of(
        self, agent: str, going: set[str], heirs: Mapping[str, str | None], *, revive: bool
    ) -> tuple[list[str], list[str]]:
        """Let what the deleted ones had superseded point past them, or hold again."""
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts WHERE agent = ?1 "  # noqa: S608
            "AND (superseded_by IN (SELECT value FROM json_each(?2)) "
            "OR merged_into IN (SELECT value FROM json_each(?2))) ORDER BY id",
            (agent, self._db.among(sorted(going))),
        )
        revived, retired = [], []
        for fact in (fact_from_row(row) for row in rows):
            if fact.id in going:
                continue
            heir = heirs.get(fact.superseded_by or "")
            if fact.superseded_by not in going or fact.status is not FactStatus.SUPERSEDED:
                self._patch(
                    fact.id,
                    {
                        "superseded_by": heirs.get(fact.superseded_by or "", fact.superseded_by),
                        "merged_into": heirs.get(fact.merged_into or "", fact.merged_into),
                    },
                )
            elif heir is not None:
                self._patch(fact.id, {"superseded_by": heir})
            elif revive and fact.kind != NOTE_KIND:
                until = self._validity_before(fact)
                self._patch(fact.id, {"status": "active", "superseded_by": None, "valid_to": until})
                revived.append(fact.id)
            else:
                self._patch(fact.id, {"superseded_by": None})
                retired.append(fact.id)
        return revived, retired

    def _validity_before(self, fact: Fact) -> str | None:
        """End of a fact's validity before it was superseded, as stored."""
        before = self._db.value(
            "SELECT before FROM journal WHERE subject = 'facts' AND key = ? "
            "AND json_extract(after, '$.superseded_by') = ? ORDER BY number DESC LIMIT 1",
            (canonical([fact.id]), fact.superseded_by),
        )
        found = json.loads(before).get("valid_to") if before else None
        return None if found is None else str(found)

    def _release_reviews(self, agent: str, going: set[str]) -> None:
        """Facts that only waited for a review with a deleted one are plainly active again."""
        rows = self._db.query(
            "SELECT left_fact, right_fact FROM reviews WHERE agent = ? AND state = 'open'", (agent,)
        )
        waiting = {fact for pair in rows for fact in pair if going & set(pair)} - going
        others = {fact for pair in rows for fact in pair if not going & set(pair)}
        for fact in sorted(waiting - others):
            if self._db.one("SELECT 1 FROM facts WHERE id = ? AND status = 'in_review'", (fact,)):
                self._patch(fact, {"status": "active"})

    def _patch(self, fact: str, values: Mapping[str, Any]) -> None:
        """Change columns of a fact, and of the last journal row about it, so that undo fits."""
        assignments = ", ".join(f"{name} = ?" for name in values)
        self._db.write(
            f"UPDATE facts SET {assignments} WHERE id = ?",  # noqa: S608
            (*values.values(), fact),
        )
        entry = self._db.one(
            "SELECT number, after FROM journal WHERE subject = 'facts' AND key = ? "
            "ORDER BY number DESC LIMIT 1",
            (canonical([fact]),),
        )
        if entry is not None and entry[1] is not None:
            after = json.loads(entry[1])
            after.update({name: value for name, value in values.items() if name in after})
            self._db.write(
                "UPDATE journal SET after = ? WHERE number = ?", (canonical(after), entry[0])
            )

    def _clean_journal(self, agent: str, going: set[str], heirs: Mapping[str, str | None]) -> None:
        rows = self._naming(
            going,
            "SELECT number, subject, key, before, after FROM journal "
            "WHERE run IN (SELECT id FROM runs WHERE agent = ?1)",
            ("key", "before", "after"),
            agent,
        )
        deleted, changed = [], []
        for number, subject, key, before, after in rows:
            values = [None if each is None else json.loads(each) for each in (before, after)]
            ends = set(json.loads(key)) if subject in _NAMING else set()
            for each in values:
                ends |= {each.get(end) for end in ("left_fact", "right_fact")} if each else set()
            if ends & going:
                deleted.append((number,))
                continue
            texts = [
                None if each is None else canonical(_without(each, going, heirs)) for each in values
            ]
            if texts != [before, after]:
                changed.append((*texts, number))
        self._db.write_many("DELETE FROM journal WHERE number = ?", deleted)
        self._db.write_many("UPDATE journal SET before = ?, after = ? WHERE number = ?", changed)
        reviews = self._naming(
            going, "SELECT id, decision FROM reviews WHERE agent = ?1", ("decision",), agent
        )
        self._db.write_many(
            "UPDATE reviews SET decision = ? WHERE id = ?",
            [(_reworded(body, going), review) for review, body in reviews],
        )

    def _clean_decisions(self, agent: str, going: set[str]) -> None:
        rows = self._naming(
            going,
            "SELECT plan, position, subject, body FROM decisions "
            "WHERE plan IN (SELECT id FROM plans WHERE agent = ?1)",
            ("body",),
            agent,
        )
        self._db.write_many(
            "DELETE FROM decisions WHERE plan = ? AND position = ?",
            [(plan, position) for plan, position, subject, _ in rows if subject in going],
        )
        self._db.write_many(
            "UPDATE decisions SET body = ? WHERE plan = ? AND position = ?",
            [
                (_reworded(body, going), plan, position)
                for plan, position, subject, body in rows
                if subject not in going
            ],
        )

    def _naming(
        self, going: set[str], sql: str, columns: Sequence[str], agent: str
    ) -> list[tuple[Any, ...]]:
        """Rows of an agent in which a deleted fact's id stands; `columns` are of this module."""
        if len(going) > _FEW:
            return self._db.query(sql, (agent,))
        holds = " OR ".join(f"instr(coalesce({name}, ''), piece.value)" for name in columns)
        # An id is quoted in JSON, in which some characters are written otherwise.
        pieces = [json.dumps(fact, ensure_ascii=False)[1:-1] for fact in sorted(going)]
        # A review's decision is JSON within JSON there.
        pieces += [json.dumps(piece, ensure_ascii=False)[1:-1] for piece in pieces]
        return self._db.query(
            f"{sql} AND EXISTS (SELECT 1 FROM json_each(?2) AS piece WHERE {holds})",  # noqa: S608
            (agent, self._db.among(sorted(set(pieces)))),
        )

    def _rename_entities(self, entities: Collection[int]) -> None:
        """Entities whose name only a deleted fact wrote so are called as others write them."""
        self._db.write(
            "UPDATE entities SET name = (SELECT text FROM fact_mentions "
            "WHERE entity = entities.id GROUP BY text ORDER BY count(*) DESC, text LIMIT 1) "
            "WHERE id IN (SELECT value FROM json_each(?)) "
            "AND EXISTS (SELECT 1 FROM fact_mentions WHERE entity = entities.id) "
            "AND NOT EXISTS (SELECT 1 FROM fact_mentions "
            "WHERE entity = entities.id AND text = entities.name)",
            (self._db.among(list(entities)),),
        )

    def _drop_unused_answers(self) -> None:
        """Forget what models said about texts that no fact and no passage has."""
        unused = (
            "SELECT id FROM texts WHERE hash NOT IN (SELECT content_hash FROM facts "
            "UNION ALL SELECT content_hash FROM passages)"
        )
        ids = self._db.among([row[0] for row in self._db.query(unused)])
        for table, columns in _ANSWERS.items():
            for column in columns:
                self._db.write(
                    f"DELETE FROM {table} WHERE {column} IN (SELECT value FROM json_each(?))",  # noqa: S608
                    (ids,),
                )
        self._db.write("DELETE FROM texts WHERE id IN (SELECT value FROM json_each(?))", (ids,))


def _texts(facts: Mapping[str, Fact]) -> set[str]:
    return {fact.text for fact in facts.values()}


def _refuse_if_other(facts: Mapping[str, Fact], digests: Mapping[str, str]) -> None:
    changed = sorted(
        {fact for fact in digests if fact not in facts}
        | {fact for fact, row in facts.items() if digests.get(fact) != fact_digest(row)}
    )
    if changed:
        more = f" and {len(changed) - 3} more" if len(changed) > 3 else ""
        raise StalePlanError(
            f"what was looked at is not what would go: {', '.join(changed[:3])}{more} changed "
            "since; look again, nothing was deleted"
        )


def _without(
    values: dict[str, Any], going: set[str], heirs: Mapping[str, str | None]
) -> dict[str, Any]:
    """A journalled row that names a deleted fact no more."""
    values = dict(values)
    for name in ("superseded_by", "merged_into"):
        if values.get(name) in going:
            values[name] = heirs[values[name]]
    if "decision" in values:
        values["decision"] = _reworded(values["decision"], going)
    return values


def _reworded(body: str, going: set[str]) -> str:
    """A decision without evidence and words about deleted facts."""
    decision = decision_from_json(body)
    found: Decision = decision
    evidence = tuple(e for e in decision.evidence if not {e.left, e.right} & going)
    if decision.object in going or decision.subject in going:
        sentence = _GONE.get(decision.kind, _GONE_OTHERWISE)
        found = replace(decision, evidence=evidence, sentence=sentence)
    elif len(evidence) < len(decision.evidence):
        found = replace(decision, evidence=evidence, sentence=_GONE_BETWEEN)
    return body if found is decision else decision_to_json(found)
