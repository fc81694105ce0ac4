"""What the parts of the store share: the database and looking up ids that a person typed."""

from __future__ import annotations

from consolidate.errors import InputError, NotFoundError
from consolidate.store.database import Database

__all__ = ["Part"]

_SHORTEST_PREFIX = 6


class Part:
    """A group of the store's methods; `Store` is all of them over one `Database`."""

    _db: Database

    def _resolve(self, table: str, what: str, given: str) -> str:
        """Find the full id for an id or a unique beginning of one.

        `table` and `what` are words of this package, never input.
        """
        if self._db.one(f"SELECT 1 FROM {table} WHERE id = ?", (given,)):  # noqa: S608
            return given
        found = []
        if len(given) >= _SHORTEST_PREFIX:
            # U+10FFFF ends the range of everything that begins with the prefix.
            found = self._db.query(
                f"SELECT id FROM {table} WHERE id >= ?1 AND id < ?1 || char(1114111) "  # noqa: S608
                "ORDER BY id LIMIT 2",
                (given,),
            )
        if not found:
            raise NotFoundError(
                f"no {what} {given!r} in {self._db.where}; give the whole id or at least its "
                f"first {_SHORTEST_PREFIX} characters"
            )
        if len(found) > 1:
            raise InputError(
                f"{given!r} fits several {what}s, e.g. {found[0][0]} and {found[1][0]}; "
                "give more characters"
            )
        return str(found[0][0])

    def _run_id(self, given: str) -> str:
        """Find a run by id, a unique beginning, its last six characters, or `last`."""
        if given == "last":
            newest = self._db.value("SELECT id FROM runs ORDER BY number DESC LIMIT 1")
            if newest is None:
                raise NotFoundError(f"no run in {self._db.where} yet; `consolidate run` makes one")
            return str(newest)
        ends = self._db.query("SELECT id FROM runs WHERE substr(id, -6) = ? LIMIT 2", (given,))
        return str(ends[0][0]) if len(ends) == 1 else self._resolve("runs", "run", given)
