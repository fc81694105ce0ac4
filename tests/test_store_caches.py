"""Vectors, mentions and verdicts kept under (text hash, model identity)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from consolidate.errors import InputError, ModelMismatchError, StoreError
from consolidate.store import Store, fact_hash
from consolidate.types import Mention, Scores, Verdict

OpenStore = Callable[..., Store]

SCORES = Scores(entailment=0.125, neutral=0.25, contradiction=0.625)


def vectors(count: int, dimensions: int = 8) -> dict[str, npt.NDArray[np.float32]]:
    numbers = np.random.default_rng(7).normal(size=(count, dimensions)).astype(np.float32)
    return {fact_hash(str(n)): row for n, row in enumerate(numbers)}


def verdict(**changes: Any) -> Verdict:
    return Verdict(**{"forward": SCORES, "backward": SCORES, "model": "judge@1", **changes})


# Vectors


def test_vectors_come_back_bit_for_bit(store: Store) -> None:
    saved = vectors(1200)
    saved[fact_hash("edge")] = np.array([0.0, -0.0, 1e-45, 3.4e38, 1, 2, 3, 4], dtype=np.float32)
    store.save_vectors(saved, "minilm@1", 8)
    found = store.vectors([*saved, "unknown"], "minilm@1")
    assert found.keys() == saved.keys()
    for key, vector in found.items():
        assert vector.dtype == np.float32
        assert vector.tobytes() == saved[key].tobytes()


def test_vectors_of_another_type_are_stored_as_float32(store: Store) -> None:
    store.save_vectors({"h": np.arange(4, dtype=np.float64)}, "m", 4)  # type: ignore[dict-item]
    store.save_vectors({"b": np.arange(4, dtype=">f4")}, "m", 4)
    found = store.vectors(["h", "b"], "m")
    assert found["h"].tolist() == found["b"].tolist() == [0, 1, 2, 3]


def test_the_first_vectors_bind_the_store_to_their_model(
    store: Store, open_store: OpenStore
) -> None:
    assert store.embedding_model() is None
    store.check_embedding_model("anything", 3)
    store.save_vectors({}, "minilm@1", 8)
    assert store.embedding_model() is None
    store.save_vectors(vectors(1), "minilm@1", 8)
    assert open_store(store.path).embedding_model() == ("minilm@1", 8)
    for model, dimensions in (("minilm@2", 8), ("minilm@1", 16)):
        with pytest.raises(ModelMismatchError, match=r"minilm@1 \(8.*consolidate run --reembed"):
            store.check_embedding_model(model, dimensions)
        with pytest.raises(ModelMismatchError, match=model):
            store.save_vectors(vectors(1, dimensions), model, dimensions)
    assert store.vectors(list(vectors(1)), "minilm@2") == {}
    assert store.stats()["vectors"] == 1


def test_dropping_vectors_frees_the_store_for_another_model(store: Store) -> None:
    store.save_vectors(vectors(700), "old", 8)
    assert store.drop_vectors() == 700
    assert store.embedding_model() is None
    store.save_vectors(vectors(3, 4), "new", 4)
    assert store.embedding_model() == ("new", 4)
    assert store.drop_vectors() == 3
    assert store.drop_vectors() == 0


def test_a_store_that_another_process_bound_meanwhile_is_not_mixed(
    store: Store, open_store: OpenStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = open_store(store.path)
    check = store.check_embedding_model
    calls: list[str] = []

    def overtaken(model: str, dimensions: int) -> None:
        check(model, dimensions)
        calls.append(model)
        if len(calls) == 1:
            other.save_vectors(vectors(1), "theirs", 8)

    monkeypatch.setattr(store, "check_embedding_model", overtaken)
    with pytest.raises(ModelMismatchError, match="holds vectors of theirs"):
        store.save_vectors(vectors(2), "mine", 8)
    assert store.embedding_model() == ("theirs", 8)
    assert store.stats()["vectors"] == 1


@pytest.mark.parametrize(
    ("vector", "message"),
    [
        (np.zeros(7, dtype=np.float32), r"shape \(7,\), not \(8,\)"),
        (np.zeros((1, 8), dtype=np.float32), r"shape \(1, 8\)"),
        (np.full(8, np.nan, dtype=np.float32), "NaN or infinity"),
        (np.array([1, 2, 3, 4, 5, 6, 7, np.inf], dtype=np.float32), "NaN or infinity"),
    ],
)
def test_a_vector_that_is_none_is_refused_before_anything_is_written(
    store: Store, vector: npt.NDArray[np.float32], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        store.save_vectors({**vectors(3), "bad": vector}, "m", 8)
    assert store.rows_written() == 0


def test_a_damaged_vector_says_how_to_go_on(store: Store) -> None:
    store.save_vectors(vectors(1), "m", 8)
    with store.atomic():
        store._db.write("UPDATE vectors SET vector = x'010203'")
    with pytest.raises(StoreError, match="--reembed"):
        store.vectors(list(vectors(1)), "m")


# Mentions


def test_mentions_come_back_also_where_there_are_none(store: Store) -> None:
    saved = {
        "h1": (
            Mention(start=0, end=2, text="é🧠", label="name", score=0.5),
            Mention(start=3, end=6, text='"x"', label="quoted"),
        ),
        "h2": (),
    }
    store.save_mentions(saved, "rules@1")
    assert store.mentions(["h1", "h2", "h3"], "rules@1") == saved
    assert store.mentions(["h1"], "rules@2") == {}
    store.save_mentions({"h1": [Mention(start=9, end=10, text="z", label="other")]}, "rules@2")
    assert store.mentions(["h1"], "rules@1") == {"h1": saved["h1"]}


# Verdicts


def test_verdicts_come_back_with_both_directions(store: Store) -> None:
    saved = {
        ("a", "b"): verdict(),
        ("a", "c"): verdict(backward=None, truncated=True),
        ("b", "c"): verdict(forward=Scores(entailment=1 / 3, neutral=1e-300, contradiction=0.0)),
    }
    store.save_verdicts(saved, "judge@1")
    assert store.verdicts([*saved, ("a", "z"), ("c", "z")], "judge@1") == saved
    assert store.verdicts([("a", "b")], "judge@1") == {("a", "b"): saved["a", "b"]}
    assert store.verdicts(saved.keys(), "judge@2") == {}
    assert store.verdicts([("b", "a")], "judge@1") == {}


def test_failures_are_not_kept_so_that_they_are_tried_again(store: Store) -> None:
    store.save_verdicts(
        {
            ("a", "b"): verdict(failure="out of memory"),
            ("a", "c"): verdict(forward=None, backward=None),
        },
        "judge@1",
    )
    assert store.verdicts([("a", "b"), ("a", "c")], "judge@1") == {}
    assert store.stats()["verdicts"] == 0


def test_a_key_the_wrong_way_round_is_refused(store: Store) -> None:
    with pytest.raises(InputError, match=r"\('b', 'a'\) must have the smaller first"):
        store.save_verdicts({("b", "a"): verdict()}, "judge@1")
    store.save_verdicts({("a", "a"): verdict()}, "judge@1")
    assert store.verdicts([("a", "a")], "judge@1")


def test_scores_that_are_no_numbers_are_refused(store: Store) -> None:
    bad = Scores(entailment=float("nan"), neutral=0, contradiction=0)
    with pytest.raises(InputError, match="not finite"):
        store.save_verdicts({("a", "b"): verdict(forward=bad)}, "judge@1")
    assert store.stats()["verdicts"] == 0


# All of them


def test_saving_the_same_again_writes_nothing(store: Store, open_store: OpenStore) -> None:
    found = {"h": [Mention(start=0, end=1, text="x", label="y")]}
    verdicts = {("a", "b"): verdict()}
    store.save_vectors(vectors(600), "m", 8)
    store.save_mentions(found, "r")
    store.save_verdicts(verdicts, "j")
    again = open_store(store.path)
    again.save_vectors(vectors(600), "m", 8)
    again.save_mentions(found, "r")
    again.save_verdicts(verdicts, "j")
    assert again.rows_written() == 0


def test_caches_are_written_in_short_transactions(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []
    write_many = store._db.write_many

    def watched(sql: str, rows: Any) -> int:
        sizes.append(len(rows))
        return write_many(sql, rows)

    monkeypatch.setattr(store._db, "write_many", watched)
    store.save_vectors(vectors(1201), "m", 8)
    store.save_mentions({fact_hash(str(n)): () for n in range(1201)}, "r")
    store.save_verdicts({("0", fact_hash(str(n))): verdict() for n in range(1201)}, "j")
    assert max(sizes) <= 501  # a chunk of pairs that share a text names one text more
    assert store.stats()["vectors"] == store.stats()["verdicts"] == 1201


def test_any_number_of_keys_can_be_asked_for(store: Store) -> None:
    store.save_vectors(vectors(10), "m", 8)
    keys = [fact_hash(str(n)) for n in range(50_000)]
    assert len(store.vectors(keys, "m")) == 10
    assert store.vectors([], "m") == {}
    assert store.verdicts([], "m") == {}
    assert store.mentions([], "m") == {}


def test_twenty_thousand_verdicts_are_read_with_few_queries(open_store: OpenStore) -> None:
    store = open_store(":memory:")
    hashes = sorted(fact_hash(str(n)) for n in range(20_000))
    drawn = np.random.default_rng(3).integers(0, 20_000, size=(20_000, 2))
    keys = list({(hashes[min(pair)], hashes[max(pair)]) for pair in drawn.tolist()})
    with store.atomic():
        store.save_verdicts(dict.fromkeys(keys, verdict(model="j")), "j")
    statements: list[str] = []
    store._db._connection.set_trace_callback(statements.append)
    found = store.verdicts(keys, "j")
    store._db._connection.set_trace_callback(None)
    assert len(found) == len(keys)
    assert len(statements) < 200  # never a query a pair
