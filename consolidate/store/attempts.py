"""Which texts and pairs a model could not answer, and in how many runs: not asked for ever.

Kept beside the answers, under the same keys: another model is asked anew.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final, TypeVar

from consolidate.store.caches import CachePart, chunks

__all__ = ["MOST_ATTEMPTS", "AttemptPart"]

MOST_ATTEMPTS: Final = 3
"""After failing in so many runs a text or pair is not asked about again by itself."""

_Key = TypeVar("_Key", bound=tuple[str, ...])
"""The hash of one text, or of the two texts of a pair."""


class AttemptPart(CachePart):
    """The store's methods for what models fail on."""

    def given_up(self, keys: Collection[_Key], model: str) -> set[_Key]:
        """Those of some texts or pairs on which a model has failed often enough."""
        rows = self._db.query(
            "SELECT one.hash, other.hash FROM failures "
            "JOIN texts AS one ON one.id = failures.text "
            "JOIN texts AS other ON other.id = failures.other "
            "WHERE failures.model = (SELECT id FROM models WHERE name = ?) AND attempts >= ?",
            (model, MOST_ATTEMPTS),
        )
        found = set(rows)
        return {key for key in keys if (key[0], key[-1]) in found} if found else set()

    def note_failures(self, keys: Collection[_Key], model: str) -> set[_Key]:
        """Count a failure of a model on texts or pairs; returns those that are now given up."""
        for chunk in chunks(sorted(keys)):
            with self._db.atomic():
                ids = self._text_ids(sorted({text for key in chunk for text in key}))
                number = self._model_id(model)
                self._db.write_many(
                    "INSERT INTO failures (model, text, other, attempts) VALUES (?, ?, ?, 1) "
                    "ON CONFLICT (model, text, other) DO UPDATE SET attempts = attempts + 1",
                    [(number, ids[key[0]], ids[key[-1]]) for key in chunk],
                )
        return self.given_up(keys, model)

    def retry_failures(self) -> int:
        """Let every text and pair be asked about again; returns how many had failed."""
        with self._db.atomic():
            return self._db.write("DELETE FROM failures")
