"""What was forgotten for good: hashes that keep a deleted text from coming back.

A tombstone holds no word of the text. Whoever has the text can tell that it was here once; nobody
can get the text from it other than by guessing it.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Collection
from datetime import datetime

from consolidate.store.base import Part
from consolidate.store.rows import fact_hash
from consolidate.store.validation import check_name
from consolidate.times import format_time

__all__ = ["FORGOTTEN", "TombstonePart", "grave_keys"]

FORGOTTEN = "forgotten"
"""Reason in `Added` of a text that has a tombstone."""

_CLOSING = " .!?;,…\"'”’»"


def grave_keys(text: str) -> frozenset[str]:
    """Hashes under which a text is kept out.

    The text as it is, and the text without case, without white space at the ends or doubled
    within, and without what closes it: "My PIN is 4711." and "my pin is  4711" are one text.
    """
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(_CLOSING)
    return frozenset({fact_hash(text), fact_hash(plain)})


class TombstonePart(Part):
    """The store's methods for tombstones."""

    def bury(self, agent: str, hashes: Collection[str], *, now: datetime) -> int:
        """Keep texts of an agent, by content hash, from being added again; returns how many."""
        check_name("agent", agent)
        at = format_time(now)
        with self._db.atomic():
            return self._db.write_many(
                "INSERT INTO tombstones (agent, content_hash, at) VALUES (?, ?, ?) "
                "ON CONFLICT DO NOTHING",
                [(agent, each, at) for each in sorted(set(hashes))],
            )

    def buried(self, agent: str, hashes: Collection[str]) -> set[str]:
        """Which of these content hashes have a tombstone of the agent."""
        rows = self._db.query(
            "SELECT content_hash FROM tombstones "
            "WHERE agent = ? AND content_hash IN (SELECT value FROM json_each(?))",
            (agent, self._db.among(list(hashes))),
        )
        return {row[0] for row in rows}

    def kept_out(self, agent: str, texts: Collection[str]) -> set[str]:
        """Which of these texts the agent has forgotten for good, as they are or nearly so."""
        if not self._db.one("SELECT 1 FROM tombstones WHERE agent = ? LIMIT 1", (agent,)):
            return set()
        keys = {text: grave_keys(text) for text in texts}
        graves = self.buried(agent, {key for each in keys.values() for key in each})
        return {text for text, each in keys.items() if each & graves}

    def unearth(self, agent: str, hashes: Collection[str]) -> int:
        """Take tombstones away, so that the texts may be added again; returns how many."""
        with self._db.atomic():
            return self._db.write(
                "DELETE FROM tombstones "
                "WHERE agent = ? AND content_hash IN (SELECT value FROM json_each(?))",
                (agent, self._db.among(list(hashes))),
            )
