"""Vectors are made as a model's own files say: pooling, prefixes, length, size."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from models_under_test import TINY_ENCODER, TINY_JUDGE

from consolidate.backends import Options, resolve_classifier, resolve_embedder
from consolidate.backends.files import ModelFiles
from consolidate.backends.onnx_embedder import OnnxEmbedder
from consolidate.backends.providers import mark_of, providers_of
from consolidate.backends.recipe import Recipe, recipe_of, split_size
from consolidate.backends.tokens import Tokens
from consolidate.errors import BackendError, ModelFilesError, ModelOutputError
from consolidate.protocols import embed_queries

WIDTH = 32


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """The tiny encoder, without what says how it is to be used."""
    made = Path(shutil.copytree(TINY_ENCODER, tmp_path / "encoder"))
    (made / "manifest.json").unlink()
    config = json.loads((made / "config.json").read_text(encoding="utf-8"))
    config.pop("consolidate")
    write(made / "config.json", config)
    return made


def write(path: Path, value: Any) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")


def config(folder: Path, **changes: Any) -> None:
    old = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    write(folder / "config.json", old | changes)


def pooling(folder: Path, *modes: str, **more: Any) -> None:
    flags = dict.fromkeys(("cls_token", "mean_tokens", "max_tokens", "lasttoken"), False)
    flags |= dict.fromkeys(modes, True)
    named = {f"pooling_mode_{name}": on for name, on in flags.items()}
    write(folder / "1_Pooling" / "config.json", {**named, **more})


def recipe(folder: Path, **options: Any) -> Recipe:
    return recipe_of(ModelFiles.open(folder, task="feature-extraction"), **options)


def unit(vector: npt.NDArray[Any]) -> npt.NDArray[np.float64]:
    wide = vector.astype(np.float64)
    made: npt.NDArray[np.float64] = wide / np.linalg.norm(wide)
    return made


def hidden(folder: Path, text: str) -> npt.NDArray[Any]:
    """What the graph gives for each token of a text, special ones included."""
    model = OnnxEmbedder(ModelFiles.open(folder, task="feature-extraction"), threads=1)
    (window,) = Tokens(model.files, most=64).windows(text)
    (answer,) = model._head.model.run([window.item], lambda rows: np.copy(rows[0]))
    assert not isinstance(answer, Exception)
    return answer


class Echo:
    """A session that gives each token a vector of its own, of any width."""

    def __init__(self, width: int, limit: int = 0) -> None:
        self.width = width
        self.lengths: list[int] = []
        self.table = np.random.default_rng(5).standard_normal((500, width)).astype(np.float32)

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name="input_ids"), SimpleNamespace(name="position_ids")]

    def get_outputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name="hidden", shape=["rows", "tokens", self.width])]

    def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
        ids = feed["input_ids"]
        assert (feed["position_ids"] == np.arange(ids.shape[1])).all()
        self.lengths.append(ids.shape[1])
        return [self.table[ids]]


# ---- pooling


@pytest.mark.parametrize(
    ("mode", "pool"),
    [
        ("mean_tokens", lambda rows: rows.mean(axis=0)),
        ("cls_token", lambda rows: rows[0]),
        ("lasttoken", lambda rows: rows[-1]),
    ],
)
def test_tokens_are_pooled_as_the_pooling_file_says(
    folder: Path, mode: str, pool: Callable[[npt.NDArray[Any]], npt.NDArray[Any]]
) -> None:
    pooling(folder, mode)
    (vector,) = resolve_embedder(f"onnx:{folder}").embed(["Anna likes tea"])
    assert vector == pytest.approx(unit(pool(hidden(folder, "Anna likes tea"))), abs=1e-6)


def test_newer_pooling_files_name_the_way_in_one_word(folder: Path) -> None:
    write(folder / "1_Pooling" / "config.json", {"pooling_mode": "lasttoken"})
    assert recipe(folder).pooling == "last"


@pytest.mark.parametrize("modes", [("max_tokens",), ("cls_token", "mean_tokens"), ()])
def test_ways_of_pooling_that_are_not_done_here_are_refused(
    folder: Path, modes: tuple[str, ...]
) -> None:
    pooling(folder, *modes)
    with pytest.raises(ModelFilesError, match="expected mean, cls or last, found"):
        recipe(folder)


def test_a_prefix_that_must_not_be_pooled_is_left_out_of_the_mean(folder: Path) -> None:
    pooling(folder, "mean_tokens", include_prompt=False)
    write(folder / "config_sentence_transformers.json", {"prompts": {"document": "my shop: "}})
    (vector,) = resolve_embedder(f"onnx:{folder}").embed(["Anna likes tea"])
    rows = hidden(folder, "my shop: Anna likes tea")
    ahead = len(hidden(folder, "my shop:")) - 1
    assert vector == pytest.approx(unit(rows[ahead:].mean(axis=0)), abs=1e-6)


# ---- the list of modules


def modules(folder: Path, *kinds: str, pool: str = "1_Pooling") -> None:
    paths = {"Pooling": pool, "Transformer": ""}
    listed = [
        {"idx": k, "type": f"sentence_transformers.models.{kind}", "path": paths.get(kind, f"{k}")}
        for k, kind in enumerate(kinds)
    ]
    write(folder / "modules.json", listed)


def test_the_usual_modules_are_followed(folder: Path) -> None:
    modules(folder, "Transformer", "Pooling", "Normalize")
    pooling(folder, "cls_token")
    assert recipe(folder).pooling == "cls"


def test_a_module_that_is_not_done_here_is_refused_by_name(folder: Path) -> None:
    modules(folder, "Transformer", "Pooling", "Dense", "Normalize")
    pooling(folder, "mean_tokens")
    with pytest.raises(ModelFilesError, match="makes vectors with Dense, which is not done here"):
        recipe(folder)


def test_a_pooling_file_that_is_named_but_not_there_is_refused(folder: Path) -> None:
    modules(folder, "Transformer", "Pooling")
    with pytest.raises(ModelFilesError, match=r"not whole: modules.json names '1_Pooling'"):
        recipe(folder)


@pytest.mark.parametrize("content", ["{", "{}", "[1]", '[{"path": ""}]', "null", '"x"'])
def test_a_list_of_modules_that_is_none_is_refused(folder: Path, content: str) -> None:
    (folder / "modules.json").write_text(content, encoding="utf-8")
    if content == "{}":  # a list of nothing, which asks for nothing
        assert recipe(folder).pooling == "mean"
        return
    with pytest.raises(ModelFilesError, match=r"expected a list of modules.*modules\.json"):
        recipe(folder)


# ---- prefixes

CONVENTIONS = {
    "minilm": ({}, {}, ("", "")),
    "bge": ({"query": "Represent this: ", "document": ""}, {}, ("Represent this: ", "")),
    "arctic": ({}, {"query": "Represent this: "}, ("Represent this: ", "")),
    "e5": ({"query": "query: ", "document": "passage: "}, {}, ("query: ", "passage: ")),
    "nomic": (
        {},
        {"search_query": "search_query: ", "search_document": "search_document: "},
        ("search_query: ", "search_document: "),
    ),
    "passage": ({}, {"query": "query: ", "passage": "passage: "}, ("query: ", "passage: ")),
    "list before file": ({"query": "ours: "}, {"query": "theirs: "}, ("ours: ", "")),
}


@pytest.mark.parametrize(("listed", "stated", "expected"), CONVENTIONS.values(), ids=CONVENTIONS)
def test_prefixes_of_the_usual_families_are_read(
    folder: Path, listed: dict[str, str], stated: dict[str, str], expected: tuple[str, str]
) -> None:
    if listed:
        write(folder / "manifest.json", {"task": "feature-extraction", "prompts": listed})
    if stated:
        write(folder / "config_sentence_transformers.json", {"prompts": stated})
    made = recipe(folder)
    assert (made.query, made.document) == expected


def test_a_default_prompt_counts_where_no_other_is_named(folder: Path) -> None:
    prompts = {"prompts": {"all": "text: ", "query": "ask: "}, "default_prompt_name": "all"}
    write(folder / "config_sentence_transformers.json", prompts)
    made = recipe(folder)
    assert (made.query, made.document) == ("ask: ", "text: ")


def test_prefixes_in_the_own_section_overrule_all(folder: Path) -> None:
    config(folder, consolidate={"prompts": {"query": "", "document": "mine: "}})
    write(folder / "config_sentence_transformers.json", {"prompts": {"query": "theirs: "}})
    made = recipe(folder)
    assert (made.query, made.document) == ("", "mine: ")


@pytest.mark.parametrize("prompts", [["query: "], {"query": 3}, "query: "])
def test_prompts_that_are_none_are_refused(folder: Path, prompts: Any) -> None:
    write(folder / "config_sentence_transformers.json", {"prompts": prompts})
    with pytest.raises(ModelFilesError, match="expected prompts that are texts"):
        recipe(folder)


def test_a_prefix_stands_before_texts_and_another_before_queries(folder: Path) -> None:
    plain = resolve_embedder(f"onnx:{folder}")
    write(
        folder / "manifest.json",
        {"task": "feature-extraction", "prompts": {"query": "user: ", "document": "shop: "}},
    )
    model = resolve_embedder(f"onnx:{folder}")
    assert (model.embed(["Anna"]) == plain.embed(["shop: Anna"])).all()
    assert (embed_queries(model, ["Anna"]) == plain.embed(["user: Anna"])).all()


def test_without_a_way_of_its_own_an_embedder_takes_queries_as_texts() -> None:
    fake = resolve_embedder("fake")
    assert (embed_queries(fake, ["Anna"]) == fake.embed(["Anna"])).all()


def test_a_prefix_stands_before_every_window_of_a_long_text(folder: Path) -> None:
    config(folder, consolidate={"prompts": {"document": "shop: "}})
    plain, text = Tokens(ModelFiles.open(folder, task="feature-extraction"), most=20), "tea " * 50
    windows = plain.windows(text, prefix="shop: ")
    heads = {tuple(window.item.ids[0][:3].tolist()) for window in windows}
    assert len(windows) == 4
    assert len(heads) == 1
    assert sum(window.tokens for window in windows) == 50
    assert {window.skipped for window in windows} == {3}
    assert max(window.item.ids.shape[1] for window in windows) <= 20


def test_a_prefix_that_leaves_no_room_is_refused(folder: Path) -> None:
    config(folder, consolidate={"prompts": {"document": "tea " * 80}})
    with pytest.raises(ModelFilesError, match="leaves no room"):
        resolve_embedder(f"onnx:{folder}").embed(["Anna"])


# ---- length


@pytest.mark.parametrize(
    ("changes", "stated", "most"),
    [
        ({}, None, 64),
        ({}, 48, 48),
        ({}, 500, 64),
        ({"consolidate": {"max_tokens": 16}}, 48, 16),
        (
            {"max_position_embeddings": 514, "model_type": "xlm-roberta", "pad_token_id": 1},
            512,
            512,
        ),
        ({"max_position_embeddings": 514, "model_type": "mpnet", "pad_token_id": 1}, None, 512),
        ({"max_position_embeddings": 8192}, 8192, 2048),
        ({"max_position_embeddings": 8192, "max_trained_positions": 1024}, None, 1024),
        ({"max_position_embeddings": None}, None, 256),
    ],
)
def test_rows_are_as_long_as_the_model_reads_and_no_longer(
    folder: Path, changes: dict[str, Any], stated: int | None, most: int
) -> None:
    config(folder, **changes)
    if stated is not None:
        write(folder / "sentence_bert_config.json", {"max_seq_length": stated})
    assert recipe(folder).most == most


def test_a_long_text_is_the_mean_of_its_windows_weighted_by_tokens(folder: Path) -> None:
    config(folder, consolidate={"max_tokens": 8})  # room for six
    files = ModelFiles.open(folder, task="feature-extraction")
    text = "anna likes tea user drinks coffee daily"  # seven tokens: windows of three and four
    first, second = Tokens(files, most=8).windows(text)
    assert (first.tokens, second.tokens) == (3, 4)
    model = OnnxEmbedder(files, threads=1)
    parts = model.embed(["anna likes tea", "user drinks coffee daily"])
    expected = unit(3 * parts[0] + 4 * parts[1])
    assert model.embed([text])[0] == pytest.approx(expected, abs=1e-6)


def test_texts_are_put_in_lower_case_where_the_files_say_so(folder: Path) -> None:
    tokenizer = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    tokenizer["normalizer"] = None
    write(folder / "tokenizer.json", tokenizer)
    plain = resolve_embedder(f"onnx:{folder}")
    write(folder / "sentence_bert_config.json", {"do_lower_case": True})
    lowered = resolve_embedder(f"onnx:{folder}")
    assert (plain.embed(["ANNA"]) != plain.embed(["anna"])).any()
    assert (lowered.embed(["ANNA"]) == plain.embed(["anna"])).all()


# ---- size


def test_a_size_behind_the_name_is_split_off() -> None:
    assert split_size("nomic@256") == ("nomic", 256)
    assert split_size("/models/nomic@256") == ("/models/nomic", 256)
    assert split_size("nomic") == ("nomic", None)
    assert split_size("a@b") == ("a@b", None)


def test_a_cut_vector_is_the_start_of_the_whole_one_at_unit_length(folder: Path) -> None:
    whole = resolve_embedder(f"onnx:{folder}")
    cut = resolve_embedder(f"onnx:{folder}@8")
    assert (whole.dimensions, cut.dimensions) == (WIDTH, 8)
    vectors = cut.embed(["Anna likes tea", "tea " * 200])
    assert vectors.shape == (2, 8)
    for row, full in zip(vectors, whole.embed(["Anna likes tea", "tea " * 200]), strict=True):
        assert row == pytest.approx(unit(full[:8]), abs=1e-6)


@pytest.mark.parametrize("width", [384, 768])
def test_vectors_of_usual_sizes_can_be_cut(folder: Path, width: int) -> None:
    config(folder, hidden_size=width)
    files = ModelFiles.open(folder, task="feature-extraction")
    whole = OnnxEmbedder(files, session=Echo(width))
    assert whole.embed(["Anna"]).shape == (1, width)
    cut = OnnxEmbedder(files, dimensions=256, session=Echo(width))
    assert cut.embed(["Anna"])[0] == pytest.approx(unit(whole.embed(["Anna"])[0][:256]), abs=1e-6)


def test_nomic_vectors_are_centred_before_they_are_cut(folder: Path) -> None:
    config(folder, model_type="nomic_bert", hidden_size=None, n_embd=WIDTH)
    full = resolve_embedder(f"onnx:{folder}").embed(["Anna"])[0]
    (vector,) = resolve_embedder(f"onnx:{folder}@16").embed(["Anna"])
    normed = (full - full.mean()) / full.std()
    assert vector == pytest.approx(unit(normed[:16]), abs=1e-5)


@pytest.mark.parametrize("size", [0, 33, 4096])
def test_a_size_the_model_does_not_have_is_refused(folder: Path, size: int) -> None:
    with pytest.raises(ModelFilesError, match=rf"from 1 to 32, found @{size}"):
        resolve_embedder(f"onnx:{folder}@{size}")


def test_all_that_changes_vectors_is_in_the_identity(folder: Path) -> None:
    seen = [resolve_embedder(f"onnx:{folder}").identity]
    seen.append(resolve_embedder(f"onnx:{folder}@8").identity)
    seen.append(resolve_embedder(f"onnx:{folder}@16").identity)
    gpu = resolve_embedder(f"onnx:{folder}", options=Options(providers="cuda,cpu"))
    seen.append(gpu.identity)
    for prompts in ({"query": "a: "}, {"document": "a: "}, {"document": "b: "}):
        write(folder / "manifest.json", {"task": "feature-extraction", "prompts": prompts})
        seen.append(resolve_embedder(f"onnx:{folder}").identity)
    (folder / "manifest.json").unlink()
    for name, value in (
        ("sentence_bert_config.json", {"max_seq_length": 32}),
        ("config_sentence_transformers.json", {"prompts": {"document": "c: "}}),
        ("1_Pooling/config.json", {"pooling_mode_cls_token": True}),
    ):
        write(folder / name, value)
        seen.append(resolve_embedder(f"onnx:{folder}").identity)
    assert len(set(seen)) == len(seen)


def test_the_whole_size_by_name_is_the_same_model(folder: Path) -> None:
    plain, sized = resolve_embedder(f"onnx:{folder}"), resolve_embedder(f"onnx:{folder}@{WIDTH}")
    assert plain.identity == sized.identity


# ---- which graph


def test_a_folder_as_on_the_hub_has_its_graph_in_a_folder_of_its_own(folder: Path) -> None:
    plain = resolve_embedder(f"onnx:{folder}")
    vectors = plain.embed(["Anna"])
    late = resolve_embedder(f"onnx:{folder}")
    (folder / "onnx").mkdir()
    (folder / "model.onnx").rename(folder / "onnx" / "model.onnx")
    moved = resolve_embedder(f"onnx:{folder}")
    assert moved.identity == plain.identity
    assert (moved.embed(["Anna"]) == vectors).all()
    with pytest.raises(ModelFilesError, match="can't be read any more"):
        late.embed(["Anna"])


def test_one_of_several_graphs_is_named_by_its_path(folder: Path) -> None:
    from models_under_test import TINY_ENCODER_INT8

    (folder / "onnx").mkdir()
    small = folder / "onnx" / "model_int8.onnx"
    shutil.copyfile(TINY_ENCODER_INT8 / "model.onnx", small)
    plain, other = resolve_embedder(f"onnx:{folder}"), resolve_embedder(f"onnx:{small}@16")
    assert plain.identity != other.identity
    assert other.dimensions == 16
    expected = resolve_embedder(f"onnx:{TINY_ENCODER_INT8}@16").embed(["Anna"])
    assert (other.embed(["Anna"]) == expected).all()


def test_where_none_is_the_usual_one_the_graphs_are_listed(folder: Path) -> None:
    (folder / "model.onnx").rename(folder / "model_quantized.onnx")
    with pytest.raises(ModelFilesError, match=r"has no model.onnx, but model_quantized.onnx"):
        resolve_embedder(f"onnx:{folder}")


# ---- what computes


def test_providers_are_found_by_short_and_by_full_name() -> None:
    there = ["CUDAExecutionProvider", "CPUExecutionProvider"]
    assert providers_of("cpu", there) == ("CPUExecutionProvider",)
    assert providers_of("cuda", there) == ("CUDAExecutionProvider", "CPUExecutionProvider")
    assert providers_of("CUDAExecutionProvider, cpu", there)[0] == "CUDAExecutionProvider"


def test_a_provider_that_is_not_there_is_named_with_those_that_are(folder: Path) -> None:
    options = Options(providers="tensorrt")
    embedder = resolve_embedder(f"onnx:{folder}", options=options)
    judge = resolve_classifier(f"onnx:{TINY_JUDGE}", options=options)
    with pytest.raises(BackendError, match=r"can't compute on 'tensorrt'; it has .*cpu"):
        embedder.embed(["a"])
    with pytest.raises(BackendError, match=r"can't compute on 'tensorrt'; it has .*cpu"):
        judge.classify([("a", "b")])


def test_only_other_hardware_marks_the_identity() -> None:
    assert mark_of("cpu") == mark_of("CPUExecutionProvider") == ""
    assert mark_of("cuda,cpu") == mark_of("CUDAExecutionProvider") == "/cuda"


# ---- strange graphs


def test_a_graph_that_pools_itself_is_read_as_it_is(folder: Path) -> None:
    class Pooled(Echo):
        def get_outputs(self) -> list[SimpleNamespace]:
            return [SimpleNamespace(name="sentence_embedding", shape=["rows", self.width])]

        def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
            return [super().run(names, feed)[0].mean(axis=1)]

    files = ModelFiles.open(folder, task="feature-extraction")
    pooled = OnnxEmbedder(files, session=Pooled(WIDTH)).embed(["Anna"])[0]
    plain = OnnxEmbedder(files, session=Echo(WIDTH)).embed(["Anna"])[0]
    assert pooled == pytest.approx(plain, abs=1e-6)


def test_a_cut_vector_without_length_is_an_error(folder: Path) -> None:
    class Late(Echo):
        def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
            answer = super().run(names, feed)[0].copy()
            answer[:, :, :8] = 0
            return [answer]

    files = ModelFiles.open(folder, task="feature-extraction")
    with pytest.raises(ModelOutputError, match=r"unusable vector for 'Anna'.*length 0"):
        OnnxEmbedder(files, dimensions=8, session=Late(WIDTH)).embed(["Anna"])
