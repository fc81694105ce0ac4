"""GLiNER models without torch: windows, offsets, labels, identity, and files that are wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from models_under_test import NOTES, TINY_GLINER, TINY_GLINER_TOKEN

from consolidate.backends import Options, resolve_extractor
from consolidate.backends.files import ModelFiles
from consolidate.backends.gliner import GlinerExtractor, asked_in
from consolidate.backends.gliner_rows import GlinerRows, word_places
from consolidate.errors import InputError, ModelFilesError

TEXT_INPUTS = ("input_ids", "attention_mask", "words_mask", "text_lengths")
SPAN_INPUTS = (*TEXT_INPUTS, "span_idx", "span_mask")
LONG = "Anna met Oslo, then Rome. " * 40


def files_of(folder: Path = TINY_GLINER) -> ModelFiles:
    return ModelFiles.open(folder, task="gliner")


def copy_of(folder: Path, to: Path, **changes: Any) -> Path:
    """A copy without manifest, with other values in its config."""
    made = Path(shutil.copytree(folder, to / "copy"))
    (made / "manifest.json").unlink()
    path = made / "gliner_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, **changes}), encoding="utf-8")
    return made


class Session:
    """A token-level graph that finds the words a function picks, as label 0."""

    def __init__(
        self,
        answer: Callable[[dict[str, Any]], Any],
        *,
        inputs: Sequence[str] = TEXT_INPUTS,
        outputs: Sequence[str] = ("logits",),
    ) -> None:
        self.answer = answer
        self.feeds: list[dict[str, Any]] = []
        self._inputs, self._outputs = inputs, outputs

    def get_inputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in self._inputs]

    def get_outputs(self) -> list[SimpleNamespace]:
        return [SimpleNamespace(name=name) for name in self._outputs]

    def run(self, names: list[str], feed: dict[str, Any]) -> list[Any]:
        self.feeds.append(feed)
        return [self.answer(feed)]


def nothing(feed: dict[str, Any]) -> Any:
    return np.full((1, int(feed["text_lengths"][0, 0]), 3, 3), -9.0, dtype=np.float32)


def tokens_of(word: str, folder: Path = TINY_GLINER) -> list[int]:
    rows = GlinerRows(files_of(folder), overlap=2)
    return [int(i) for i in rows.windows(word, ["x"])[0].ids[0][-1 - _size(rows, word) : -1]]


def _size(rows: GlinerRows, word: str) -> int:
    return int((rows.windows(word, ["x"])[0].words_mask > 0).sum())


def finding(word: str) -> Callable[[dict[str, Any]], Any]:
    """Scores by which exactly the words with the tokens of `word` are mentions."""
    wanted = tokens_of(word)

    def answer(feed: dict[str, Any]) -> Any:
        logits = nothing(feed)
        mask, ids = feed["words_mask"][0], feed["input_ids"][0]
        for index in range(logits.shape[1]):
            if ids[mask == index + 1].tolist() == wanted:
                logits[0, index, 0, :] = 9.0
        return logits

    return answer


@pytest.fixture(scope="module", params=[TINY_GLINER, TINY_GLINER_TOKEN], ids=["span", "token"])
def tiny(request: pytest.FixtureRequest) -> GlinerExtractor:
    return GlinerExtractor(files_of(request.param), threads=2)


def test_both_heads_find_something_in_plain_notes(tiny: GlinerExtractor) -> None:
    found = tiny.extract(NOTES)
    assert sum(map(bool, found)) > 2
    assert {m.label for each in found for m in each} <= {"person", "place", "technology"}


def test_answers_do_not_depend_on_company_order_or_threads(tiny: GlinerExtractor) -> None:
    alone = [tiny.spans([text])[0] for text in NOTES]
    assert tiny.spans(NOTES) == alone
    other = GlinerExtractor(tiny.files, threads=5)
    assert other.spans([*NOTES[::-1], LONG, *NOTES])[: len(NOTES)] == alone[::-1]


def test_a_higher_threshold_finds_less(tiny: GlinerExtractor) -> None:
    def count(threshold: float) -> int:
        return sum(len(each or ()) for each in tiny.spans(NOTES, threshold=threshold, nested=True))

    assert count(0.1) >= count(0.6) > count(0.97)
    assert count(0.9999999) == 0


def test_labels_are_free_words(tiny: GlinerExtractor) -> None:
    (found,) = tiny.spans([NOTES[0]], labels=["city or town", "beverage"], threshold=0.01)
    assert found and {m.label for m in found} <= {"city or town", "beverage"}


def test_nested_mentions_lie_within_others_and_flat_ones_apart(tiny: GlinerExtractor) -> None:
    nested = [m or [] for m in tiny.spans(NOTES, nested=True, threshold=0.2)]
    flat = [m or [] for m in tiny.spans(NOTES, threshold=0.2)]
    assert sum(map(len, nested)) > sum(map(len, flat))
    for mentions in flat:
        assert all(a.end <= b.start for a, b in pairwise(mentions))


def test_a_long_text_is_read_whole_in_windows_with_right_offsets() -> None:
    session = Session(finding("oslo"))
    model = GlinerExtractor(files_of(), session=session)
    (found,) = model.extract([LONG])
    assert [m.text for m in found] == ["Oslo"] * 40
    assert [m.start for m in found] == [i * 26 + 9 for i in range(40)]
    assert max(feed["input_ids"].shape[1] for feed in session.feeds) <= 64
    assert max(int(feed["text_lengths"][0, 0]) for feed in session.feeds) <= 20


def test_offsets_count_code_points_whatever_stands_before() -> None:
    model = GlinerExtractor(files_of(), session=Session(finding("oslo")))
    text = "👩‍👩‍👧‍👦 \u200b é e\u0301 \ud800 ﬁ Oslo? Oslo!"
    (found,) = model.extract([text])
    assert [m.start for m in found] == [text.index("Oslo"), text.rindex("Oslo")]
    assert all(text[m.start : m.end] == m.text for m in found)


def test_a_word_without_tokens_does_not_move_the_words_after_it() -> None:
    model = GlinerExtractor(files_of(), session=Session(finding("rome")))
    text = "Anna \u200b \u200d Rome"
    (found,) = model.extract([text])
    assert [(m.start, m.end) for m in found] == [(text.index("Rome"), len(text))]


def test_neighbouring_windows_share_words() -> None:
    rows = GlinerRows(files_of(), overlap=4)
    windows = rows.windows(LONG, ["person"])
    ends = [(w.first, w.first + len(w.places)) for w in windows]
    assert ends[0][0] == 0 and ends[-1][1] == len(word_places(LONG))
    for (_, end), (start, _) in pairwise(ends):
        assert end - start == 4


def test_a_word_longer_than_a_row_does_not_break_it() -> None:
    model = GlinerExtractor(files_of(), session=Session(finding("rome")))
    (found,) = model.extract(["a" * 5000 + " Rome " + "." * 3000])
    assert [m.text for m in found] == ["Rome"]


def test_a_text_without_words_is_not_asked_about() -> None:
    session = Session(nothing)
    model = GlinerExtractor(files_of(), session=session)
    model.extract(["x"])
    before = len(session.feeds)
    assert model.extract(["", " ", "\n\t"]) == [[], [], []]
    assert len(session.feeds) == before


def test_more_labels_than_fit_are_refused() -> None:
    model = GlinerExtractor(files_of(), session=Session(nothing))
    with pytest.raises(InputError, match=r"40 labels take .* ask for fewer"):
        model.spans(["Anna"], labels=[f"label {number}" for number in range(40)])


def test_known_names_win_over_the_model() -> None:
    model = GlinerExtractor(files_of(), session=Session(finding("oslo")))
    knowing = model.knowing(["oslo office"])
    (mention,) = knowing.extract(["the Oslo office is open"])[0]
    assert (mention.text, mention.label) == ("Oslo office", "known")
    assert knowing.identity != model.identity


# what is asked for, and who answers


def test_labels_and_threshold_may_stand_in_the_spec_and_are_part_of_the_identity() -> None:
    plain = resolve_extractor(f"gliner:{TINY_GLINER}")
    other = resolve_extractor(f"gliner:{TINY_GLINER}?labels=person, city&threshold=0.3")
    assert isinstance(other, GlinerExtractor)
    assert (other.labels, other.threshold) == (("person", "city"), 0.3)
    again = resolve_extractor(f"gliner:{TINY_GLINER}?threshold=0.3&labels=person,city")
    assert plain.identity != other.identity == again.identity
    assert plain.identity.startswith("gliner:tiny-gliner-span@")


def test_without_a_name_the_bundled_model_is_meant() -> None:
    assert asked_in("").model == asked_in("?threshold=0.4").model == "gliner"


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("labels=", "different words"),
        ("labels=a,a", "different words"),
        ("labels=<<ENT>>", "plain words"),
        ("threshold=1.5", "from 0 to below 1"),
        ("threshold=high", "'high'"),
        ("colour=red", "'colour'"),
    ],
)
def test_what_can_not_be_asked_for_is_named(query: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve_extractor(f"gliner:{TINY_GLINER}?{query}", options=Options())


def test_equal_files_elsewhere_have_the_same_identity_and_changed_ones_another(
    tmp_path: Path,
) -> None:
    copy = Path(shutil.copytree(TINY_GLINER, tmp_path / "elsewhere"))
    one = resolve_extractor(f"gliner:{TINY_GLINER}").identity
    assert resolve_extractor(f"gliner:{copy}").identity == one
    (copy / "manifest.json").unlink()
    tokenizer = copy / "tokenizer.json"
    tokenizer.write_bytes(tokenizer.read_bytes() + b"\n")
    assert resolve_extractor(f"gliner:{copy}").identity != one


# files that are wrong


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json", "gliner_config.json"])
def test_a_missing_file_is_named(name: str, tmp_path: Path) -> None:
    folder = copy_of(TINY_GLINER, tmp_path)
    (folder / name).unlink()
    with pytest.raises(ModelFilesError, match=rf"missing {name}"):
        resolve_extractor(f"gliner:{folder}")


def test_files_other_than_the_manifest_says_are_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TINY_GLINER, tmp_path / "copy"))
    model = folder / "model.onnx"
    model.write_bytes(model.read_bytes()[:-100])
    with pytest.raises(ModelFilesError, match=r"model\.onnx: expected \d+ bytes"):
        resolve_extractor(f"gliner:{folder}")


def test_a_cut_graph_is_refused_at_first_use(tmp_path: Path) -> None:
    folder = copy_of(TINY_GLINER, tmp_path)
    model = folder / "model.onnx"
    model.write_bytes(model.read_bytes()[:5000])
    with pytest.raises(ModelFilesError, match="onnxruntime refuses"):
        resolve_extractor(f"gliner:{folder}").extract(["Anna"])


def test_a_tokenizer_of_another_model_is_refused(tmp_path: Path) -> None:
    folder = copy_of(TINY_GLINER, tmp_path, class_token_index=3)
    with pytest.raises(ModelFilesError, match="belongs to another model"):
        resolve_extractor(f"gliner:{folder}").extract(["Anna"])
    other = copy_of(TINY_GLINER, tmp_path / "other", ent_token="[ENTITY]")
    with pytest.raises(ModelFilesError, match=r"no tokenizer of a GLiNER.*\[ENTITY\]"):
        resolve_extractor(f"gliner:{other}").extract(["Anna"])


def test_words_split_in_an_unknown_way_are_refused_with_the_way_out(tmp_path: Path) -> None:
    folder = copy_of(TINY_GLINER, tmp_path, words_splitter_type="spacy")
    with pytest.raises(ModelFilesError, match=r"'spacy'.*gliner-package:"):
        resolve_extractor(f"gliner:{folder}").extract(["Anna"])


def test_a_model_for_another_task_is_refused(tmp_path: Path) -> None:
    folder = Path(shutil.copytree(TINY_GLINER, tmp_path / "copy"))
    manifest = folder / "manifest.json"
    facts = json.loads(manifest.read_text(encoding="utf-8"))
    manifest.write_text(json.dumps({**facts, "task": "text-classification"}), encoding="utf-8")
    with pytest.raises(ModelFilesError, match="for another task: expected gliner"):
        resolve_extractor(f"gliner:{folder}")


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        (("input_ids", "attention_mask"), "missing text_lengths, words_mask"),
        ((*TEXT_INPUTS, "labels_input_ids"), r"two encoders.*unknown labels_input_ids"),
        ((*TEXT_INPUTS, "span_idx"), "expected the inputs"),
    ],
)
def test_a_graph_with_other_inputs_is_refused_by_name(
    inputs: tuple[str, ...], message: str
) -> None:
    model = GlinerExtractor(files_of(), session=Session(nothing, inputs=inputs))
    with pytest.raises(ModelFilesError, match=message):
        model.extract(["Anna"])


def test_a_graph_without_logits_is_refused() -> None:
    model = GlinerExtractor(files_of(), session=Session(nothing, outputs=("hidden",)))
    with pytest.raises(ModelFilesError, match="expected the output logits, found hidden"):
        model.extract(["Anna"])


def test_scores_of_another_shape_are_refused() -> None:
    model = GlinerExtractor(files_of(), session=Session(nothing, inputs=SPAN_INPUTS))
    with pytest.raises(ModelFilesError, match=r"expected scores of shape \(1, 5, 4, 3\)"):
        model.extract(["Anna"])


def test_a_model_that_gives_nan_for_a_plain_sentence_is_refused() -> None:
    model = GlinerExtractor(files_of(), session=Session(lambda feed: nothing(feed) * np.nan))
    with pytest.raises(ModelFilesError, match=r"no scores for a plain sentence.*not finite"):
        model.extract(["Anna"])


def test_one_text_without_usable_scores_costs_no_other_its_mentions() -> None:
    find = finding("oslo")
    bad = tokens_of("tea")

    def answer(feed: dict[str, Any]) -> Any:
        hit = set(bad) <= set(feed["input_ids"][0].tolist())
        return find(feed) * (np.nan if hit else 1)

    model = GlinerExtractor(files_of(), session=Session(answer))
    good, failed, empty = model.attempt(["in Oslo", "tea in Oslo", "no"])
    assert good is not None and [m.text for m in good] == ["Oslo"]
    assert failed is None
    assert empty == []
    assert model.extract(["tea in Oslo"]) == [[]]


def test_scores_in_the_order_of_older_exports_are_read() -> None:
    find = finding("oslo")
    old = GlinerExtractor(files_of(), session=Session(lambda feed: np.moveaxis(find(feed), -1, 0)))
    assert [m.text for m in old.extract(["in Oslo"])[0]] == ["Oslo"]
