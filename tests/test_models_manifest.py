"""The list of models: one source, true to the bundled files, strict about its form."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from consolidate.backends.files import config_name
from consolidate.errors import InputError, ModelFilesError
from consolidate.manifest import OWN, ROLES, entries, entry, parse
from consolidate.places import models_folder
from consolidate.shelf import Shelf, ready_folder

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "models" / "manifest.toml"
WEIGHTS = ROOT / "models" / "weights" / "consolidate_weights"
GOOD = """
[[model]]
name = "mine"
task = "text-classification"
source = "me/mine"
files = [{ path = "model.onnx" }, { path = "config.json", sha256 = "%s", size = 2 }]
""" % ("a" * 64)


def test_the_shipped_list_is_a_copy_of_the_one_source() -> None:
    shipped = ROOT / "consolidate" / "data" / "manifest.toml"
    assert shipped.read_bytes() == SOURCE.read_bytes(), "run `python -m models.manifest`"


@pytest.mark.parametrize("folder", sorted(p.parent.name for p in WEIGHTS.glob("*/manifest.json")))
def test_bundled_models_are_listed_with_the_digests_of_their_files(folder: str) -> None:
    written = json.loads((WEIGHTS / folder / "manifest.json").read_bytes())
    listed = entry(folder)
    assert listed.bundled, "run `python -m models.manifest`"
    assert listed.task == written["task"]
    assert {
        part.name: {"sha256": part.sha256, "size": part.size} for part in listed.parts
    } == written["files"], "run `python -m models.manifest`"


def test_every_listed_model_says_where_it_is_from_and_under_which_licence() -> None:
    for model in entries().values():
        assert model.revision and model.licence and model.languages, model.name
        assert "/" in model.source, model.name
        assert bool(model.labels) == (model.role == "classifier"), model.name
        assert bool(model.dimensions) == (model.role == "embedder"), model.name
        if model.format == "onnx":
            names = {part.name for part in model.parts}
            wanted = {"model.onnx", "tokenizer.json", config_name(model.task)}
            assert wanted <= names, model.name
        if model.labels:
            assert {label[:6] for label in model.labels} == {"entail", "neutra", "contra"}


def test_both_orders_of_labels_are_listed() -> None:
    firsts = {model.labels[0] for model in entries().values() if model.labels}
    assert {"contradiction", "entailment"} <= firsts


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"mine"', '"../mine"', "name must be letters"),
        ('"mine"', '".mine"', "name must be letters"),
        ("text-classification", "poetry", "task must be one of feature-extraction"),
        ("me/mine", "https://me/mine", "source must be a repository"),
        ("task =", 'revision = "main"\ntask =', "revision must be a commit"),
        ('path = "model.onnx"', 'path = "../model.onnx"', "no path of a file below"),
        ('path = "model.onnx"', 'path = "/model.onnx"', "no path of a file below"),
        ('path = "model.onnx"', 'path = "C:\\\\model.onnx"', "no path of a file below"),
        ('path = "model.onnx"', 'path = "m", as = "manifest.json"', "the folder itself uses"),
        ('path = "model.onnx"', 'path = "x", as = "config.json"', "a name of its own"),
        ("a" * 64, "a" * 63, "sha256 must be 64"),
        ("size = 2", "size = -2", "size must be a whole number"),
        ("size = 2", "sise = 2", "unknown keys sise"),
        ("[[model]]", "[[modle]]", "unknown keys modle"),
        ("task =", "task", "is no TOML"),
    ],
)  # fmt: skip
def test_a_list_that_says_something_impossible_is_refused(old: str, new: str, words: str) -> None:
    assert parse(GOOD, "here")["mine"].size is None
    with pytest.raises(ModelFilesError, match=words):
        parse(GOOD.replace(old, new), "here")


def test_a_list_of_ones_own_adds_models_and_replaces_none(tmp_path: Path) -> None:
    (tmp_path / OWN).write_text(GOOD, encoding="utf-8")
    assert entry("mine", tmp_path).role == "classifier"
    assert entries(tmp_path).keys() > entries(tmp_path / "elsewhere").keys()
    (tmp_path / OWN).write_text(GOOD.replace('"mine"', '"minilm"'), encoding="utf-8")
    with pytest.raises(ModelFilesError, match="lists minilm, which is shipped"):
        entries(tmp_path)


def test_unknown_names_get_a_hint(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"did you mean nli-deberta-v3-(small|base)"):
        entry("nli-deberta-v3", tmp_path)
    with pytest.raises(InputError, match="see `consolidate models list`"):
        entry("zzz", tmp_path)


def test_every_task_has_a_role() -> None:
    assert set(ROLES.values()) == {"embedder", "extractor", "classifier"}


def test_models_lie_in_the_data_folder_or_where_the_variable_says(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}
    assert models_folder(home).parts[-2:] == ("consolidate", "models")
    assert models_folder({**home, "CONSOLIDATE_MODELS": str(tmp_path / "m")}) == tmp_path / "m"


def test_raw_material_is_not_used_but_exported(tmp_path: Path) -> None:
    text = GOOD.replace("source =", 'format = "torch"\nsource =').replace("a" * 64, "0" * 64)
    (tmp_path / OWN).write_text(text.replace(', sha256 = "' + "0" * 64 + '", size = 2', ""))
    shelf = Shelf(tmp_path)
    shelf.place("mine").mkdir()
    for name in ("model.onnx", "config.json"):
        (shelf.place("mine") / name).write_bytes(b"{}")
    shelf.verify("mine")
    with pytest.raises(ModelFilesError, match=r"python -m models\.export .* --task text-class"):
        ready_folder("mine", tmp_path)


def test_a_lock_that_contradicts_the_list_is_not_ignored(tmp_path: Path) -> None:
    (tmp_path / OWN).write_text(GOOD, encoding="utf-8")
    shelf = Shelf(tmp_path)
    shelf.lock_file("mine").write_text(
        json.dumps(
            {
                "format": 1,
                "source": "me/other",
                "revision": None,
                "files": {"config.json": {"sha256": "b" * 64, "size": 2}},
                "absent": [],
            }
        ),
        encoding="utf-8",
    )
    with pytest.raises(ModelFilesError, match=r"noted and listed: source me/other and me/mine; co"):
        shelf.problems("mine")
    shelf.lock_file("mine").write_text("{}", encoding="utf-8")
    with pytest.raises(ModelFilesError, match="is no lock of this version"):
        shelf.problems("mine")


def test_a_move_that_was_killed_half_way_is_undone(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    old = tmp_path / ".mine.old"
    old.mkdir()
    shelf.recover("mine")
    assert shelf.place("mine").is_dir()
    assert not old.exists()
