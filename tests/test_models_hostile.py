"""Model files that are wrong: a clear error or a counted abstention, and no fact is touched."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from command_line import Cli
from models_under_test import LONG, TINY_ENCODER, TINY_JUDGE, WEIGHTS

from consolidate.backends import resolve_classifier, resolve_embedder
from consolidate.store import Store

FACTS = ("Anna lives in Oslo.", "Anna lives in Rome.", "The user likes tea.", "user likes tea")
ONE = b"\x00\x00\x80\x3f"  # 1.0 as a float graph stores it
SEVEN = b"\x00\x00\xe0\x40"
NAN = b"\x00\x00\xc0\x7f"
ZERO = b"\x00\x00\x00\x00"

Damage = Callable[[Path], object]


@pytest.fixture
def cli(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Cli:
    monkeypatch.chdir(tmp_path)
    made = Cli(home=tmp_path, db=tmp_path / "memory.db")
    made("remember", *FACTS, "--stated-at", "2026-01-01T00:00:00Z")
    return made


def copy_of(source: Path, cli: Cli, damage: Damage) -> str:
    folder = Path(shutil.copytree(source, cli.home / "model"))
    (folder / "manifest.json").unlink()
    damage(folder)
    return f"onnx:{folder}"


def facts(cli: Cli) -> list[tuple[str, str, str]]:
    with Store.open(cli.db, create=False) as store:
        return [(fact.id, fact.text, fact.status.value) for fact in store.facts()]


def swap(name: str, source: Path) -> Damage:
    return lambda folder: shutil.copyfile(source / name, folder / name)


def cut(name: str) -> Damage:
    def damage(folder: Path) -> None:
        content = (folder / name).read_bytes()
        (folder / name).write_bytes(content[: len(content) // 2])

    return damage


def emptied(name: str) -> Damage:
    return lambda folder: (folder / name).write_bytes(b"")


def patched(old: bytes, new: bytes) -> Damage:
    """Change numbers inside of a graph, which stays whole otherwise."""

    def damage(folder: Path) -> None:
        content = (folder / "model.onnx").read_bytes()
        assert old in content
        (folder / "model.onnx").write_bytes(content.replace(old, new))

    return damage


LAYER_NORM = 32 * ONE
ENCODERS: dict[str, tuple[Damage, str]] = {
    "cut graph": (cut("model.onnx"), "expected a whole ONNX graph"),
    "empty graph": (emptied("model.onnx"), "expected a whole ONNX graph"),
    "cut tokenizer": (cut("tokenizer.json"), "expected a tokenizer"),
    "cut config": (cut("config.json"), "expected a JSON object"),
    "graph of a judge": (swap("model.onnx", TINY_JUDGE), "is no encoder"),
    "config of a judge": (swap("config.json", TINY_JUDGE), "expected hidden_size"),
    "tokenizer of another model": (swap("tokenizer.json", WEIGHTS / "minilm"), "another model"),
}
JUDGES: dict[str, tuple[Damage, str]] = {
    "cut graph": (cut("model.onnx"), "expected a whole ONNX graph"),
    "graph of an encoder": (swap("model.onnx", TINY_ENCODER), "no judge of three classes"),
    "config of an encoder": (swap("config.json", TINY_ENCODER), "three classes"),
    "tokenizer of another model": (swap("tokenizer.json", WEIGHTS / "minilm"), "another model"),
    "scores that are no numbers": (patched(SEVEN, NAN), "gave no scores for a plain sentence"),
}


@pytest.mark.parametrize(("damage", "words"), ENCODERS.values(), ids=ENCODERS)
def test_a_run_with_a_wrong_encoder_says_so_and_touches_nothing(
    cli: Cli, damage: Damage, words: str
) -> None:
    before = facts(cli)
    cli.env["CONSOLIDATE_EMBEDDER"] = copy_of(TINY_ENCODER, cli, damage)
    result = cli("run", code=1)
    assert words in result.err
    assert "Traceback" not in result.err
    assert facts(cli) == before
    with Store.open(cli.db, create=False) as store:
        assert store.embedding_model() is None


@pytest.mark.parametrize(("damage", "words"), JUDGES.values(), ids=JUDGES)
def test_a_run_with_a_wrong_judge_says_so_and_touches_nothing(
    cli: Cli, damage: Damage, words: str
) -> None:
    before = facts(cli)
    cli.env["CONSOLIDATE_CLASSIFIER"] = copy_of(TINY_JUDGE, cli, damage)
    result = cli("run", code=1)
    assert words in result.err
    assert "Traceback" not in result.err
    assert facts(cli) == before
    with Store.open(cli.db, create=False) as store:
        assert store.answers_by_model()["verdicts"] == {}


@pytest.mark.parametrize("number", [NAN, ZERO], ids=["not a number", "zero"])
def test_vectors_that_are_none_are_counted_and_never_kept(cli: Cli, number: bytes) -> None:
    cli.env["CONSOLIDATE_EMBEDDER"] = copy_of(TINY_ENCODER, cli, patched(LAYER_NORM, 32 * number))
    report = cli("run", "--json").json["report"]
    (embed,) = [stage for stage in report["stages"] if stage["stage"] == "embed"]
    assert embed["failures"] == len(FACTS)
    assert {status for _, _, status in facts(cli)} <= {"active", "in_review"}
    with Store.open(cli.db, create=False) as store:
        assert len(store.lacking_vectors("")) == len(FACTS)


def test_doctor_refuses_such_a_model_before_a_run(cli: Cli) -> None:
    cli.env["CONSOLIDATE_EMBEDDER"] = copy_of(TINY_ENCODER, cli, patched(LAYER_NORM, 32 * NAN))
    assert "unusable vector" in cli("doctor", "--json", code=1).out


def test_a_change_to_such_a_model_is_refused_and_the_old_one_stays(cli: Cli) -> None:
    cli("run")
    with Store.open(cli.db, create=False) as store:
        before = store.embedding_model()
    spec = copy_of(TINY_ENCODER, cli, patched(LAYER_NORM, 32 * NAN))
    assert "unusable vector" in cli("models", "use", spec, "--as", "embedder", code=1).err
    with Store.open(cli.db, create=False) as store:
        assert store.embedding_model() == before
        assert store.staged_vectors() == {}


def test_empty_and_very_long_texts_and_pairs_cost_no_other_its_answer() -> None:
    judge = resolve_classifier(f"onnx:{TINY_JUDGE}")
    verdicts = judge.classify([("", ""), (LONG, "Anna likes tea"), ("Anna likes tea",) * 2])
    assert [verdict.truncated for verdict in verdicts] == [False, True, False]
    assert verdicts[2].failure is None
    vectors = resolve_embedder(f"onnx:{TINY_ENCODER}").embed(["", LONG])
    assert np.linalg.norm(vectors, axis=1) == pytest.approx([1, 1], abs=1e-5)
