"""Changing models: the old one works until the new one is complete, and nothing is mixed."""

from __future__ import annotations

import signal
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
import pytest
from builders import NOW
from command_line import Cli

from consolidate import switching
from consolidate.backends.fake import FakeEmbedder
from consolidate.errors import (
    BackendError,
    InputError,
    LeaseHeldError,
    ModelMismatchError,
    StoreError,
)
from consolidate.store import Store
from consolidate.switching import outlook, switch_embedder
from consolidate.types import FactStatus, NewFact

OLD, NEW = FakeEmbedder(dimensions=16), FakeEmbedder(dimensions=32)


class Interrupted(Exception):
    """Stands for a power cut."""


class Failing(FakeEmbedder):
    """Answers so many times."""

    def __init__(self, times: int) -> None:
        super().__init__(dimensions=32)
        self.times = times

    def embed(self, texts):  # type: ignore[no-untyped-def]  # as the base
        if self.times == 0:
            raise Interrupted
        self.times -= 1
        return super().embed(texts)


def clock() -> datetime:
    return datetime.now(UTC)


@pytest.fixture
def filled(store: Store, monkeypatch: pytest.MonkeyPatch) -> Store:
    """Ten facts of two agents with vectors of the old model."""
    monkeypatch.setattr(switching, "_CHUNK", 3)
    store.add([NewFact(text=f"fact {n}", agent=f"a{n % 2}") for n in range(10)], now=NOW)
    embed(store, OLD)
    return store


def embed(store: Store, model: FakeEmbedder) -> None:
    texts = {fact.content_hash: fact.text for fact in store.facts()}
    vectors = model.embed(list(texts.values()))
    store.save_vectors(dict(zip(texts, vectors, strict=True)), model.identity, model.dimensions)


def hashes(store: Store) -> set[str]:
    return {fact.content_hash for fact in store.facts()}


def test_all_texts_are_embedded_anew_and_the_old_vectors_are_gone(filled: Store) -> None:
    seen = outlook(filled, "embedder", NEW.identity)
    assert (seen.before, seen.to_do, seen.kept) == ((OLD.identity,), 10, 0)
    done = switch_embedder(filled, NEW, now=clock)
    assert (done.before, done.embedded, done.dropped) == (OLD.identity, 10, 10)
    assert filled.embedding_model() == (NEW.identity, 32)
    found = filled.vectors(hashes(filled), NEW.identity)
    assert found.keys() == hashes(filled)
    for fact in filled.facts():
        assert np.array_equal(found[fact.content_hash], NEW.embed([fact.text])[0])
    assert filled.vectors(hashes(filled), OLD.identity) == {}
    assert filled.staged_vectors() == {}
    assert filled.check() == []


def test_changing_to_the_model_in_use_asks_no_model(filled: Store) -> None:
    rows = filled.rows_written()
    model = Failing(times=0)
    model._dimensions = 16
    assert model.identity == OLD.identity
    assert switch_embedder(filled, model, now=clock).already
    assert filled.rows_written() == rows


@pytest.mark.parametrize("times", [0, 1, 2, 3, 4])
def test_an_interrupted_change_leaves_the_old_model_at_work_and_goes_on(
    filled: Store, times: int
) -> None:
    with pytest.raises(Interrupted):
        switch_embedder(filled, Failing(times), now=clock)
    assert filled.embedding_model() == (OLD.identity, 16)
    assert filled.vectors(hashes(filled), OLD.identity).keys() == hashes(filled)
    filled.add([NewFact(text="one more")], now=NOW)
    embed(filled, OLD)  # a run in between
    staged = 3 * max(0, times - 1)  # the first call tries the model out
    assert outlook(filled, "embedder", NEW.identity).to_do == 11 - staged
    done = switch_embedder(filled, NEW, now=clock)
    assert (done.embedded, done.dropped) == (11 - staged, 11)
    assert filled.vectors(hashes(filled), NEW.identity).keys() == hashes(filled)


def test_going_back_forgets_what_was_begun(filled: Store) -> None:
    with pytest.raises(Interrupted):
        switch_embedder(filled, Failing(3), now=clock)
    assert filled.staged_vectors() == {NEW.identity: 6}
    assert switch_embedder(filled, OLD, now=clock).already
    assert filled.staged_vectors() == {}


def test_facts_that_come_in_meanwhile_are_embedded_too(filled: Store) -> None:
    def come(stage: str, done: int, total: int) -> None:
        if (done, total) == (10, 10):
            filled.add([NewFact(text="came late", agent="a9")], now=NOW)

    assert switch_embedder(filled, NEW, now=clock, progress=come).embedded == 11
    assert filled.vectors(hashes(filled), NEW.identity).keys() == hashes(filled)


def test_superseded_facts_are_embedded_and_forgotten_ones_are_not(filled: Store) -> None:
    first, second, *_ = filled.facts()
    with filled._db.atomic():
        filled._db.write(
            "UPDATE facts SET status = 'superseded', superseded_by = ? WHERE id = ?",
            (second.id, first.id),
        )
        filled._db.write("UPDATE facts SET status = 'forgotten' WHERE id = ?", (second.id,))
    assert filled.get(first.id).status is FactStatus.SUPERSEDED
    lacking = filled.lacking_vectors(NEW.identity)
    assert first.content_hash in lacking
    assert second.content_hash not in lacking


def test_a_run_at_work_delays_only_the_exchange(
    filled: Store, open_store: Callable[..., Store]
) -> None:
    other = open_store(filled.path)
    with other.lease(now=clock), pytest.raises(LeaseHeldError):
        switch_embedder(filled, NEW, now=clock)
    assert filled.embedding_model() == (OLD.identity, 16)
    done = switch_embedder(filled, Failing(times=1), now=clock)  # no text is asked again
    assert (done.embedded, done.dropped) == (0, 10)


def test_the_exchange_is_one_transaction(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(model: str, dimensions: int) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr(filled, "_bind", broken)
    with pytest.raises(StoreError):
        switch_embedder(filled, NEW, now=clock)
    monkeypatch.undo()
    assert filled.embedding_model() == (OLD.identity, 16)
    assert filled.vectors(hashes(filled), OLD.identity).keys() == hashes(filled)
    assert filled.staged_vectors() == {NEW.identity: 10}


def test_a_store_without_vectors_is_bound_to_the_new_model(store: Store) -> None:
    store.add([NewFact(text="a fact")], now=NOW)
    assert switch_embedder(store, NEW, now=clock).before is None
    with pytest.raises(ModelMismatchError):
        embed(store, OLD)


def test_a_model_that_can_not_tell_texts_apart_is_refused(filled: Store) -> None:
    class Flat(FakeEmbedder):
        def embed(self, texts):  # type: ignore[no-untyped-def]  # as the base
            return np.ones((len(texts), self.dimensions), dtype=np.float32)

    with pytest.raises(BackendError, match="not taken over"):
        switch_embedder(filled, Flat(dimensions=32), now=clock)


@pytest.mark.parametrize("bad", [np.ones(3), np.full(32, np.nan)])
def test_vectors_of_the_wrong_kind_are_not_staged(
    filled: Store, bad: np.ndarray[tuple[int], np.dtype[np.float64]]
) -> None:
    with pytest.raises(InputError):
        filled.stage_vectors({"a" * 64: bad.astype(np.float32)}, NEW.identity, 32)


# ---- as commands


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    made = Cli(home=tmp_path, db=tmp_path / "memory.db")
    made("remember", "The office is in Bonn", "The office is in Ghent", "Ada likes tea")
    made("run")
    return made


def test_use_says_what_it_does_and_prints_the_line_for_the_settings(cli: Cli) -> None:
    out = cli("models", "use", "fake:32", "--as", "embedder").out
    assert "Vectors to compute anew: 3" in out
    assert "Done: 3 vectors computed; 3 of fake:bag-of-words-64" in out
    assert '  embedder = "fake:32"' in out
    cli("remember", "Ada likes jam")
    assert "consolidate models use" in cli("run", code=1).err
    cli("run", "--set", "embedder=fake:32")
    again = cli("models", "use", "fake:32", "--as", "embedder", "--json").json
    assert again["switched"]["already"]


def test_a_look_changes_nothing(cli: Cli) -> None:
    seen = cli("models", "use", "fake:32", "--as", "embedder", "--look", "--json").json
    assert (seen["outlook"]["to_do"], seen["switched"]) == (3, None)
    cli("run")


def test_a_classifier_or_extractor_needs_nothing_at_once(cli: Cli) -> None:
    out = cli("models", "use", "fake:default", "--as", "classifier", "--db", "x.db").out
    assert "There is no store" in out
    for role, spec in (("classifier", "fake"), ("extractor", "rules")):
        done = cli("models", "use", spec, "--as", role, "--json").json
        assert (done["switched"], done["line"]) == (None, f'{role} = "{spec}"')
    text = cli("models", "use", "rules", "--as", "extractor").out
    assert "Texts to read to compute anew, by the next runs: about 3; 0 are kept" in text


def test_what_a_model_is_for_is_known_or_asked(cli: Cli) -> None:
    assert "--as embedder" in cli("models", "use", "fake:32", code=1).err
    cli("models", "use", "fake:32", "--as", "oracle", code=2)
    err = cli("models", "use", "bge-small-en-v1.5", code=1).err
    assert "consolidate models fetch bge-small-en-v1.5" in err
    tiny = Path(__file__).parent / "data" / "tiny_judge"
    assert cli("models", "use", str(tiny), "--json").json["role"] == "classifier"


def test_a_model_is_used_at_another_size_by_its_name(cli: Cli) -> None:
    tiny = Path(__file__).parent / "data" / "tiny_encoder"
    seen = cli("models", "use", f"{tiny}@16", "--look", "--json").json
    assert seen["role"] == "embedder"
    assert seen["line"] == f'embedder = "onnx:{tiny}@16"'
    assert seen["identity"].endswith("/16")


def test_the_doctor_sees_a_store_and_settings_that_differ(cli: Cli) -> None:
    cli("models", "use", "fake:32", "--as", "embedder")
    (check,) = [c for c in cli("doctor", "--json", code=1).json["checks"] if c["name"] == "vectors"]
    assert (check["verdict"], check["remedy"].startswith("change the store")) == ("fail", True)


SLOW = """
import sys
from consolidate.backends import fake
from consolidate.cli.app import app

embed, times = fake.FakeEmbedder.embed, 0

def slow(self, texts):
    global times
    times += 1
    if times == 3:  # the trial and one part are done
        print("embedding", flush=True)
        sys.stdin.read()
    return embed(self, texts)

fake.FakeEmbedder.embed = slow
import consolidate.switching
consolidate.switching._CHUNK = 1
app(["models", "use", "fake:32", "--as", "embedder", "--json"])
"""


def test_a_killed_change_goes_on_with_the_next_call(cli: Cli) -> None:
    child = subprocess.Popen(
        [sys.executable, "-c", SLOW],
        cwd=cli.home,
        env=cli.process_environment(),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert child.stdout is not None
    assert child.stdout.readline() == "embedding\n"
    child.send_signal(signal.SIGKILL)
    child.communicate()
    cli("run")  # with the old model
    with Store.open(cli.db, create=False) as store:
        assert list(store.staged_vectors().values()) == [1]
    done = cli("models", "use", "fake:32", "--as", "embedder", "--json").json
    assert (done["switched"]["embedded"], done["switched"]["dropped"]) == (2, 3)
