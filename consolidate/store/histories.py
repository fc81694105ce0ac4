"""The whole story of a fact: what it took the place of, and what took its place."""

from __future__ import annotations

from collections.abc import Callable

from consolidate.serialise import decision_from_json
from consolidate.store.base import Part
from consolidate.store.derived import NOTE_KIND
from consolidate.store.records import Event, History
from consolidate.store.rows import FACT_SQL, fact_from_row
from consolidate.times import read_time
from consolidate.types import Decision, Fact

__all__ = ["HistoryPart"]


class HistoryPart(Part):
    """The store's method for the story of a fact."""

    def history(self, fact_id: str) -> History:
        """Return a fact with its chain in both directions, each step with run and reason.

        Raises:
            NotFoundError: No fact has this id.
        """
        with self._db.reading():
            full = self._resolve("facts", "fact", fact_id)
            fact = self._fact(full)
            earlier = self._walk(full, self._predecessors)
            later = [fact, *self._walk(full, self._successors)]
            before = [self._event(each) for each in earlier]
            after = [self._event(each) for each in later if not each.status.is_live]
        before.sort(
            key=lambda event: (event.fact.stated_at or event.fact.recorded_at, event.fact.id)
        )
        return History(fact=fact, before=tuple(before), after=tuple(after))

    def _walk(self, start: str, step: Callable[[str], list[Fact]]) -> list[Fact]:
        """Follow steps breadth first; a circle, which should not be, does not go on for ever."""
        seen, found, front = {start}, [], [start]
        while front:
            fresh = [fact for each in front for fact in step(each)]
            front = []
            for fact in fresh:
                if fact.id not in seen:
                    seen.add(fact.id)
                    found.append(fact)
                    front.append(fact.id)
        return found

    def _predecessors(self, fact_id: str) -> list[Fact]:
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts WHERE superseded_by = ?1 "  # noqa: S608
            f"UNION SELECT {FACT_SQL} FROM facts WHERE merged_into = ?1",
            (fact_id,),
        )
        return [fact_from_row(row) for row in rows]

    def _successors(self, fact_id: str) -> list[Fact]:
        rows = self._db.query(
            f"SELECT {FACT_SQL} FROM facts WHERE id IN ("  # noqa: S608
            "SELECT superseded_by FROM facts WHERE id = ?1 "
            "UNION SELECT merged_into FROM facts WHERE id = ?1)",
            (fact_id,),
        )
        return [fact_from_row(row) for row in rows]

    def _fact(self, fact_id: str) -> Fact:
        sql = f"SELECT {FACT_SQL} FROM facts WHERE id = ?"  # noqa: S608
        return fact_from_row(self._db.query(sql, (fact_id,))[0])

    def _event(self, fact: Fact) -> Event:
        to = fact.merged_into or fact.superseded_by
        decision = self._decision(fact, to)
        started = self._db.value("SELECT started_at FROM runs WHERE id = ?", (fact.changed_by,))
        return Event(
            fact=fact,
            to=to,
            change=fact.status,
            run=fact.changed_by,
            at=started and read_time(started),
            reason=decision.reason if decision else "",
            sentence=decision.sentence if decision else _of_note(fact),
            evidence=decision.evidence if decision else (),
        )

    def _decision(self, fact: Fact, to: str | None) -> Decision | None:
        """The decision of the fact's run about it; the one naming its successor first."""
        body = self._db.value(
            "SELECT decisions.body FROM decisions JOIN runs ON runs.plan = decisions.plan "
            "WHERE runs.id = ? AND decisions.subject = ? "
            "ORDER BY decisions.object IS ? DESC, decisions.position LIMIT 1",
            (fact.changed_by, fact.id, to),
        )
        return None if body is None else decision_from_json(body)


def _of_note(fact: Fact) -> str:
    """Why a note was retired; no decision says it."""
    if fact.kind != NOTE_KIND or fact.status.is_live:
        return ""
    return "A newer note took its place." if fact.superseded_by else "A source no longer holds."
