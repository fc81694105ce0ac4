"""Deleting for good, after a look at what would go.

`forget_preview` shows what fits a description, with scores, and gives a token. `forget_memory`
deletes exactly what was shown, as it was shown; or facts by id. `purge` clears away history. What
is deleted is gone from the file (see `consolidate.store.erasing`); a hash stays, so that the text
does not come in again by an import or by reading an old conversation.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Final

import numpy as np

from consolidate.errors import BackendError, InputError, NotFoundError
from consolidate.memory.fusion import coverage, rarities, tokens
from consolidate.memory.recall import RecallPart
from consolidate.memory.records import ForgetMatch, ForgetPreview, Forgotten, Purged
from consolidate.store import LIVE, Erased, fact_digest
from consolidate.store.tokens import TOKEN_LASTS
from consolidate.store.tombstones import grave_keys
from consolidate.times import parse_time
from consolidate.types import Fact, FactStatus

__all__ = ["FORGET_FROM", "FORGET_UNSEEN_FROM", "ForgettingPart"]

FORGET_FROM: Final = 0.25
"""Facts of at least this score are shown. Of twelve short descriptions ("my health problems") the
facts meant reached it in eleven with the bundled embedder, and facts not meant in four: it is low,
since what is shown can be left alone, and what is not shown stays."""

FORGET_UNSEEN_FROM: Final = 0.6
"""For callers who delete what fits without showing it first. Of the same facts two reached it, and
none that was not meant."""

_MOST: Final = 200
_PURGED_AT_ONCE: Final = 250


class ForgettingPart(RecallPart):
    """A memory's verbs for forgetting."""

    def forget_preview(
        self,
        description: str | None = None,
        *,
        ids: Sequence[str] | None = None,
        threshold: float = FORGET_FROM,
        limit: int = 50,
    ) -> ForgetPreview:
        """Show what would be forgotten, history included. Deletes nothing.

        Facts with the very same text as a match, and facts that were merged into one, go along
        and are shown too.

        Args:
            description: What is to be forgotten, in any words.
            ids: Or the ids of facts, or unique beginnings of them.
            threshold: Score from which a fact is a match: the cosine of its vector with that of
                the description, or the share of the description's words in it, whichever is more.
            limit: At most so many matches of a description.

        Returns:
            The matches, best first, and a token for `forget_memory`; no token if none matches.

        Raises:
            InputError: Neither a description nor ids were given, or both, or a value can't be
                used.
            NotFoundError: An id is not this agent's.
        """
        if (description is None) == (ids is None):
            raise InputError("say what is to be forgotten by a description or by ids, not by both")
        notes: list[str] = []
        if ids is not None:
            found = [(fact, 1.0, "named") for fact in self._named(ids)]
        else:
            found = self._described(description or "", threshold, limit, notes)
        matches = self._with_copies(found)
        facts = [match.fact for match in matches]
        holding = self._holding_again(facts)
        going, texts = {fact.id for fact in facts}, {fact.text for fact in facts}
        notes += [
            f"{fact.merged_into} says the same as {fact.id} and stays"
            for fact in facts
            if fact.merged_into and fact.merged_into not in going
        ]
        token, expires = "", None
        if matches:
            now = self.now()
            digests = {fact.id: fact_digest(fact) for fact in facts}
            token = self.store.issue_token(self.agent, digests, now=now)
            expires = now + TOKEN_LASTS
        return ForgetPreview(
            token=token,
            expires_at=expires,
            matches=tuple(matches),
            messages=len(self.store.messages_with(self.agent, texts)),
            episodes=len(self.store.episodes_with(self.agent, going, texts)),
            superseded=tuple(holding),
            notes=tuple(notes),
        )

    def forget_memory(
        self,
        token: str | None = None,
        *,
        ids: Sequence[str] | None = None,
        revive: bool = False,
        messages: bool = False,
        episodes: bool = False,
        scrub: bool = True,
    ) -> Forgotten:
        """Delete facts for good: those of a preview, by its token, or those named.

        Args:
            token: From `forget_preview`. If anything it showed changed since, nothing is deleted.
            ids: Or the ids of facts, or unique beginnings of them. Facts with the very same text
                and facts merged into them go along.
            revive: What a deleted fact had superseded holds again; otherwise it stays retired.
            messages: Also delete messages of conversations in which one of the texts stands.
            episodes: Also delete episodes that one of the facts is linked to or in which one of
                the texts stands.
            scrub: Also rebuild the file, so that no bytes of the facts are left in it.

        Raises:
            InputError: Neither a token nor ids were given, or both.
            NotFoundError: The token is unknown, used or expired, or an id is not this agent's.
            StalePlanError: What the preview showed has changed.
        """
        if (token is None) == (ids is None):
            raise InputError("forgetting takes the token of a preview, or ids")
        with self.store.atomic():
            if token is not None:
                digests: dict[str, str] | None = self.store.redeem_token(
                    self.agent, token, now=self.now()
                )
                named: Collection[str] = digests or ()
            else:
                digests, named = None, [fact.id for fact in self._named(ids or ())]
            erased = self.store.erase(
                self.agent,
                named,
                now=self.now(),
                revive=revive,
                messages=messages,
                episodes=episodes,
                digests=digests,
            )
        return self._forgotten(erased, scrub=scrub)

    def allow_again(self, text: str) -> bool:
        """Let a forgotten text be added again; False if it was not kept out."""
        return self.store.unearth(self.agent, grave_keys(text)) > 0

    def purge(
        self,
        agent: str | None = None,
        before: datetime | str | None = None,
        preview: bool = True,
        *,
        keep_out: bool = True,
        scrub: bool = True,
    ) -> Purged:
        """Delete history for good: superseded, merged and forgotten facts. Live ones stay.

        Runs that retired them can be undone for other facts only.

        Args:
            agent: Whose history; None is this memory's agent.
            before: Only what was said, or if that is unknown stored, before this time.
            preview: Change nothing, say the same.
            keep_out: Keep the texts from being imported again, unless they still stand.
            scrub: Also rebuild the file.
        """
        whose = self.agent if agent is None else agent
        until = None if before is None else parse_time(before, zone=self.settings.timezone)
        retired = [status for status in FactStatus if status not in LIVE]
        facts = [
            fact
            for fact in self.store.facts(agent=whose, statuses=retired)
            if until is None or (fact.stated_at or fact.recorded_at) < until
        ]
        if not preview:
            # In parts, so that no other writer waits for all of them.
            for start in range(0, len(facts), _PURGED_AT_ONCE):
                ids = [fact.id for fact in facts[start : start + _PURGED_AT_ONCE]]
                with self.store.atomic():
                    still = self.store.facts(agent=whose, statuses=retired, ids=ids)
                    part = [fact.id for fact in still]
                    self.store.erase(whose, part, now=self.now(), along=False, bury=keep_out)
        note = self.store.scrub() if scrub and facts and not preview else ""
        return Purged(
            agent=whose,
            preview=preview,
            facts=tuple(fact.id for fact in facts),
            scrubbed=not preview and not self.store.scrub_due,
            notes=(note,) if note else (),
        )

    # Steps

    def _named(self, ids: Collection[str]) -> list[Fact]:
        if isinstance(ids, str) or not ids:
            raise InputError("ids must be a list of at least one id")
        facts = {}
        for each in ids:
            fact = self.store.get(each)
            if fact.agent != self.agent:
                raise NotFoundError(f"no fact {each!r} in the memory of {self.agent!r}")
            facts[fact.id] = fact
        return list(facts.values())

    def _described(
        self, description: str, threshold: float, limit: int, notes: list[str]
    ) -> list[tuple[Fact, float, str]]:
        if not 0 <= threshold <= 1 or not 1 <= limit <= _MOST:
            raise InputError(
                f"threshold {threshold!r} must be from 0 to 1, and limit {limit!r} a whole number "
                f"from 1 to {_MOST}"
            )
        recalled = self.recall_memories(description, limit=limit, include_history=True)
        facts = [each.fact for each in recalled]
        notes += recalled.notes
        scores = self._scores(description, facts)
        found = [(fact, scores[fact.id], "found") for fact in facts if scores[fact.id] >= threshold]
        return sorted(found, key=lambda each: (-each[1], each[0].id))

    def _scores(self, description: str, facts: Sequence[Fact]) -> dict[str, float]:
        """How well facts fit a description, 0 to 1, whatever else there is.

        Recall's own score is no measure for this: half of it is rank, and something is always
        first.
        """
        counts = self.store.word_counts(set(tokens(description)))
        total = max(1, sum(self.store.agents().values()))
        weights = rarities(counts, facts=total)
        scores = {f.id: coverage(weights, f.text) for f in facts}
        pieces = {
            (fact.id, passage.content_hash): passage.text
            for fact in facts
            for passage in self.store.passages(fact.id)
        } | {(fact.id, fact.content_hash): fact.text for fact in facts}
        try:
            embedder = self.embedder
            query = embedder.embed([description])[0]
            known = self.store.vectors({text for _, text in pieces}, embedder.identity)
            lacking = {key: text for key, text in pieces.items() if key[1] not in known}
            vectors = {key: known[key[1]] for key in pieces if key[1] in known}
            if lacking:
                vectors |= dict(zip(lacking, embedder.embed([*lacking.values()]), strict=True))
        except BackendError:
            return scores
        for (fact, _), vector in vectors.items():
            near = float(np.clip(vector @ query, 0.0, 1.0))
            scores[fact] = max(scores[fact], near)
        return scores

    def _with_copies(self, found: Sequence[tuple[Fact, float, str]]) -> list[ForgetMatch]:
        chosen = {fact.id: (score, why) for fact, score, why in found}
        along = self.store.copies(self.agent, list(chosen))
        more = {fact.id: fact for fact in self.store.facts(statuses=None, ids=list(along))}
        matches = [ForgetMatch(fact=fact, score=score, why=why) for fact, score, why in found]
        matches += [ForgetMatch(fact=more[fact], score=0.0, why=why) for fact, why in along.items()]
        return matches

    def _holding_again(self, facts: Sequence[Fact]) -> list[Fact]:
        """Facts that would hold again with `revive`."""
        going = {fact.id for fact in facts}
        return [
            event.fact
            for fact in facts
            if not ({fact.superseded_by, fact.merged_into} - going - {None})
            for event in self.store.history(fact.id).before
            if event.to == fact.id
            and event.change is FactStatus.SUPERSEDED
            and event.fact.id not in going
        ]

    def _forgotten(self, erased: Erased, *, scrub: bool) -> Forgotten:
        note = self.store.scrub() if scrub else ""
        return Forgotten(
            facts=erased.facts,
            revived=erased.revived,
            retired=erased.retired,
            kept_out=erased.buried,
            messages=erased.messages,
            episodes=erased.episodes,
            scrubbed=not self.store.scrub_due,
            notes=(note,) if note else (),
        )
