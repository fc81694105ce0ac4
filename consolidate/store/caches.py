"""What models said, kept under (text hash, model identity). Derived data: safe to lose.

Entries are never changed, since equal identity means equal results; saving one again writes
nothing. Writing goes in transactions of at most 500 rows, so that nobody waits long for it.
"""

from __future__ import annotations

import json
import math
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from consolidate.errors import InputError, ModelMismatchError, StoreError
from consolidate.serialise import canonical
from consolidate.store.base import Part
from consolidate.store.validation import check_name
from consolidate.types import FactStatus, Mention, Scores, Verdict

__all__ = ["CachePart", "chunks"]

ROWS_A_TRANSACTION = 500

_Item = TypeVar("_Item")
_Key = tuple[str, str]


class CachePart(Part):
    """The store's methods for vectors, mentions and verdicts."""

    # Vectors

    def vectors(self, hashes: Collection[str], model: str) -> dict[str, npt.NDArray[np.float32]]:
        """Return the vectors of texts that this model has embedded; unknown ones are left out."""
        rows = self._db.query(
            "SELECT texts.hash, vectors.vector FROM json_each(?) AS wanted "
            "CROSS JOIN texts ON texts.hash = wanted.value "
            "CROSS JOIN vectors ON vectors.text = texts.id "
            "WHERE vectors.model = (SELECT id FROM models WHERE name = ?)",
            (self._db.among(set(hashes)), model),
        )
        return {text: _unpack(blob, self._db.where) for text, blob in rows}

    def save_vectors(
        self, vectors: Mapping[str, npt.NDArray[np.float32]], model: str, dimensions: int
    ) -> None:
        """Keep vectors; the first ones bind the store to their model.

        Args:
            vectors: Content hash to vector.
            model: Identity of the embedder.
            dimensions: Length of every vector.

        Raises:
            ModelMismatchError: The store holds vectors of another model.
            InputError: A vector has another length or is not finite.
        """
        check_name("model", model)
        packed = {key: _pack(key, vector, dimensions) for key, vector in vectors.items()}
        self.check_embedding_model(model, dimensions)
        for chunk in chunks(packed.items()):
            with self._db.atomic():
                self._bind(model, dimensions)
                ids = self._text_ids([key for key, _ in chunk])
                model_id = self._model_id(model)
                written = self._db.write_many(
                    "INSERT INTO vectors (text, model, vector) VALUES (?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    [(ids[key], model_id, blob) for key, blob in chunk],
                )
                if written:
                    self._note_vectors()

    def vectors_revision(self) -> int:
        """A number that rises whenever vectors are saved."""
        return int(self._db.value("SELECT value FROM meta WHERE key = ?", (_SAVED,)) or 0)

    def _note_vectors(self) -> None:
        self._db.write(
            "INSERT INTO meta (key, value) VALUES (?, '1') "
            "ON CONFLICT (key) DO UPDATE SET value = value + 1",
            (_SAVED,),
        )

    def embedding_model(self) -> tuple[str, int] | None:
        """Return identity and dimensions of the model this store is bound to, if any."""
        rows: dict[str, str] = dict(
            self._db.query("SELECT key, value FROM meta WHERE key IN (?, ?)", (_MODEL, _LENGTH))
        )
        return (rows[_MODEL], int(rows[_LENGTH])) if len(rows) == 2 else None

    def check_embedding_model(self, model: str, dimensions: int) -> None:
        """Refuse a model other than the one whose vectors are stored.

        Raises:
            ModelMismatchError: Naming both and the way out.
        """
        bound = self.embedding_model()
        if bound is not None and bound != (model, dimensions):
            raise ModelMismatchError(
                f"{self._db.where} holds vectors of {bound[0]} ({bound[1]} dimensions), not of "
                f"{model} ({dimensions}); the two can't be compared. Embed everything anew with "
                f"`consolidate models use`, which keeps the old until it is done, or with "
                f"`consolidate run --reembed`, or choose {bound[0]}"
            )

    def drop_vectors(self) -> int:
        """Forget all vectors and the model they bind the store to; returns how many."""
        with self._db.atomic():
            dropped = self._db.write("DELETE FROM vectors")
            self._db.write(
                "DELETE FROM failures WHERE model = (SELECT models.id FROM models "
                "JOIN meta ON meta.key = ? AND meta.value = models.name)",
                (_MODEL,),
            )
            self._db.write("DELETE FROM meta WHERE key IN (?, ?)", (_MODEL, _LENGTH))
        return dropped

    # Another model takes over: its vectors are collected beside those in use, and change places
    # with them when all are there.

    def lacking_vectors(self, model: str, *, limit: int = -1) -> dict[str, str]:
        """Texts that a run could ask for and that have no staged vector of this model.

        Args:
            model: Identity of the embedder that is to take over.
            limit: How many at most; -1 is all.

        Returns:
            Content hash to text, of all agents.
        """
        statuses = [status.value for status in FactStatus if _takes_part(status)]
        wanted = (
            "SELECT content_hash, text FROM facts WHERE status IN "
            "(SELECT value FROM json_each(?1)) "
            "UNION ALL SELECT passages.content_hash, passages.text FROM passages "
            "JOIN facts ON facts.id = fact WHERE status IN (SELECT value FROM json_each(?1))"
        )
        return dict(
            self._db.query(
                f"SELECT content_hash, text FROM ({wanted}) WHERE content_hash NOT IN ("  # noqa: S608
                "SELECT texts.hash FROM staged_vectors AS staged "
                "JOIN texts ON texts.id = staged.text "
                "WHERE staged.model = (SELECT id FROM models WHERE name = ?2)) "
                "GROUP BY content_hash ORDER BY content_hash LIMIT ?3",
                (self._db.among(statuses), model, limit),
            )
        )

    def staged_vectors(self) -> dict[str, int]:
        """How many vectors are staged, by model."""
        return dict(
            self._db.query(
                "SELECT models.name, count(*) FROM staged_vectors "
                "JOIN models ON models.id = staged_vectors.model GROUP BY 1 ORDER BY 1"
            )
        )

    def stage_vectors(
        self, vectors: Mapping[str, npt.NDArray[np.float32]], model: str, dimensions: int
    ) -> None:
        """Keep vectors of a model that is to take over. Those in use are not touched.

        Raises:
            InputError: A vector has another length or is not finite.
        """
        check_name("model", model)
        packed = {key: _pack(key, vector, dimensions) for key, vector in vectors.items()}
        for chunk in chunks(packed.items()):
            with self._db.atomic():
                ids = self._text_ids([key for key, _ in chunk])
                model_id = self._model_id(model)
                self._db.write_many(
                    "INSERT INTO staged_vectors (model, text, vector) VALUES (?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    [(model_id, ids[key], blob) for key, blob in chunk],
                )

    def adopt_vectors(self, model: str, dimensions: int) -> int | None:
        """Put the staged vectors of a model in the place of those in use, all or none.

        Returns:
            How many were dropped; None if a text still lacks its vector, and nothing was done.
        """
        with self._db.atomic():
            if self.lacking_vectors(model, limit=1):
                return None
            dropped = self._db.write("DELETE FROM vectors")
            self._db.write(
                "INSERT INTO vectors (text, model, vector) SELECT text, model, vector "
                "FROM staged_vectors WHERE model = (SELECT id FROM models WHERE name = ?)",
                (model,),
            )
            self._db.write("DELETE FROM staged_vectors")
            self._db.write("DELETE FROM meta WHERE key IN (?, ?)", (_MODEL, _LENGTH))
            self._bind(model, dimensions)
            self._note_vectors()
        return dropped

    def drop_staged_vectors(self) -> int:
        """Forget what was collected for a model that does not take over after all."""
        with self._db.atomic():
            return self._db.write("DELETE FROM staged_vectors")

    def answers_by_model(self) -> dict[str, dict[str, int]]:
        """How much of each model's work is kept: `vectors`, `mentions`, `verdicts` by identity."""
        tables = {"vectors": "vectors", "mentions": "mention_cache", "verdicts": "verdicts"}
        with self._db.reading():
            return {
                what: dict(
                    self._db.query(
                        f"SELECT models.name, count(*) FROM {table} "  # noqa: S608
                        f"JOIN models ON models.id = {table}.model GROUP BY 1 ORDER BY 1"
                    )
                )
                for what, table in tables.items()
            }

    def _bind(self, model: str, dimensions: int) -> None:
        # Checked again under the write lock: another process may have bound it meanwhile.
        self.check_embedding_model(model, dimensions)
        self._db.write_many(
            "INSERT INTO meta (key, value) VALUES (?, ?) ON CONFLICT DO NOTHING",
            [(_MODEL, model), (_LENGTH, str(dimensions))],
        )

    # Mentions

    def mentions(self, hashes: Collection[str], extractor: str) -> dict[str, tuple[Mention, ...]]:
        """Return what an extractor found in texts; texts it has not read are left out."""
        rows = self._db.query(
            "SELECT texts.hash, mention_cache.body FROM json_each(?) AS wanted "
            "CROSS JOIN texts ON texts.hash = wanted.value "
            "CROSS JOIN mention_cache ON mention_cache.text = texts.id "
            "AND mention_cache.model = (SELECT id FROM models WHERE name = ?)",
            (self._db.among(set(hashes)), extractor),
        )
        return {text: _mentions_from(body) for text, body in rows}

    def save_mentions(self, mentions: Mapping[str, Sequence[Mention]], extractor: str) -> None:
        """Keep what an extractor found; an empty list says that there is nothing to find."""
        check_name("extractor", extractor)
        gone = self._forgotten_texts(mentions)
        mentions = {key: found for key, found in mentions.items() if key not in gone}
        for chunk in chunks(mentions.items()):
            with self._db.atomic():
                ids = self._text_ids([key for key, _ in chunk])
                model_id = self._model_id(extractor)
                self._db.write_many(
                    "INSERT INTO mention_cache (model, text, body) VALUES (?, ?, ?) "
                    "ON CONFLICT DO NOTHING",
                    [(model_id, ids[key], _mentions_to(found)) for key, found in chunk],
                )

    def _forgotten_texts(self, hashes: Collection[str]) -> set[str]:
        """Texts that were forgotten and that no fact has: a model may still be at work on one."""
        if not self._db.one("SELECT 1 FROM tombstones LIMIT 1"):
            return set()
        rows = self._db.query(
            "SELECT content_hash FROM tombstones "
            "WHERE content_hash IN (SELECT value FROM json_each(?)) "
            "AND content_hash NOT IN (SELECT content_hash FROM facts)",
            (self._db.among(list(hashes)),),
        )
        return {row[0] for row in rows}

    # Verdicts

    def verdicts(self, keys: Collection[_Key], model: str) -> dict[_Key, Verdict]:
        """Return verdicts by (hash of one text, hash of the other), the smaller hash first.

        `forward` has the text of the smaller hash as premise. Unknown pairs are left out.
        """
        wanted = set(keys)
        rows = self._db.query(
            f"SELECT one.hash, other.hash, {_SCORES}, truncated FROM json_each(?) AS wanted "  # noqa: S608
            "CROSS JOIN texts AS one ON one.hash = wanted.value "
            "CROSS JOIN verdicts ON verdicts.left_text = one.id "
            "AND verdicts.model = (SELECT id FROM models WHERE name = ?) "
            "CROSS JOIN texts AS other ON other.id = verdicts.right_text",
            (self._db.among({left for left, _ in wanted}), model),
        )
        return {
            (row[0], row[1]): Verdict(
                forward=_scores(row[2:5]),
                backward=_scores(row[5:8]),
                model=model,
                truncated=bool(row[8]),
            )
            for row in rows
            if (row[0], row[1]) in wanted
        }

    def save_verdicts(self, verdicts: Mapping[_Key, Verdict], model: str) -> None:
        """Keep verdicts; failures are not kept, so that they are tried again.

        Raises:
            InputError: A key has the larger hash first.
        """
        check_name("model", model)
        for left, right in verdicts:
            if left > right:
                raise InputError(f"verdict key ({left!r}, {right!r}) must have the smaller first")
        kept = ((key, verdict) for key, verdict in verdicts.items() if _is_answer(verdict))
        for chunk in chunks(kept):
            with self._db.atomic():
                ids = self._text_ids(list({text for key, _ in chunk for text in key}))
                model_id = self._model_id(model)
                self._db.write_many(
                    f"INSERT INTO verdicts (model, left_text, right_text, {_SCORES}, truncated) "  # noqa: S608
                    "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING",
                    [
                        (
                            model_id,
                            ids[left],
                            ids[right],
                            *_score_values(verdict.forward),
                            *_score_values(verdict.backward),
                            int(verdict.truncated),
                        )
                        for (left, right), verdict in chunk
                    ],
                )

    # Integers for names

    def _text_ids(self, hashes: Collection[str]) -> dict[str, int]:
        known = self._known_texts(hashes)
        missing = [text for text in hashes if text not in known]
        if missing:
            self._db.write_many(
                "INSERT INTO texts (hash) VALUES (?) ON CONFLICT DO NOTHING",
                [(text,) for text in missing],
            )
            known |= self._known_texts(missing)
        return known

    def _known_texts(self, hashes: Collection[str]) -> dict[str, int]:
        return dict(
            self._db.query(
                "SELECT hash, id FROM texts WHERE hash IN (SELECT value FROM json_each(?))",
                (self._db.among(hashes),),
            )
        )

    def _model_id(self, name: str) -> int:
        sql = "SELECT id FROM models WHERE name = ?"
        found = self._db.value(sql, (name,))
        if found is None:
            self._db.write("INSERT INTO models (name) VALUES (?)", (name,))
            found = self._db.value(sql, (name,))
        return int(found)


def _takes_part(status: FactStatus) -> bool:
    """Whether a run reads facts of this status; see `snapshot`."""
    return status.is_live or status is FactStatus.SUPERSEDED


_MODEL, _LENGTH, _SAVED = "embedding_model", "embedding_dimensions", "vectors_revision"

_SCORES = ", ".join(
    f"{direction}_{score}"
    for direction in ("forward", "backward")
    for score in ("entailment", "neutral", "contradiction")
)


def chunks(items: Iterable[_Item]) -> Iterator[list[_Item]]:
    """Cut items into lists that are each written in one short transaction."""
    iterator = iter(items)
    while chunk := list(islice(iterator, ROWS_A_TRANSACTION)):
        yield chunk


def _pack(key: str, vector: npt.NDArray[np.float32], dimensions: int) -> bytes:
    values = np.asarray(vector, dtype="<f4")
    if values.shape != (dimensions,):
        raise InputError(f"the vector of {key} has shape {values.shape}, not ({dimensions},)")
    if not np.isfinite(values).all():
        raise InputError(f"the vector of {key} holds NaN or infinity")
    return values.tobytes()


def _unpack(blob: bytes, where: str) -> npt.NDArray[np.float32]:
    if len(blob) % 4:
        raise StoreError(f"{where}: a stored vector is damaged; run `consolidate run --reembed`")
    return np.frombuffer(blob, dtype="<f4").astype(np.float32, copy=False)


def _mentions_to(mentions: Sequence[Mention]) -> str:
    return canonical([[m.start, m.end, m.text, m.label, float(m.score)] for m in mentions])


def _mentions_from(body: str) -> tuple[Mention, ...]:
    return tuple(
        Mention(start=start, end=end, text=text, label=label, score=score)
        for start, end, text, label, score in json.loads(body)
    )


def _is_answer(verdict: Verdict) -> bool:
    scored = verdict.forward is not None or verdict.backward is not None
    return verdict.failure is None and scored


def _scores(values: Sequence[Any]) -> Scores | None:
    if values[0] is None:
        return None
    return Scores(entailment=values[0], neutral=values[1], contradiction=values[2])


def _score_values(scores: Scores | None) -> tuple[float | None, float | None, float | None]:
    if scores is None:
        return (None, None, None)
    values = (float(scores.entailment), float(scores.neutral), float(scores.contradiction))
    if not all(map(math.isfinite, values)):
        # SQLite would store NaN as NULL and hand it out as "no answer".
        raise InputError(f"scores {values} are not finite numbers; save such a pair as a failure")
    return values
