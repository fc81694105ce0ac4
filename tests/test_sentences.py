"""Where sentences end, and passages of long texts."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.sentences import LONGEST_PASSAGE, passages, sentences


def cut(text: str) -> list[str]:
    return [text[start:end] for start, end in sentences(text)]


@pytest.mark.parametrize(
    "parts",
    [
        ["I live in Porto.", "I like tea, e.g. Assam!", "Version 1.2.3 is out."],
        ["Dr. Smith came at 5 p.m.", "She left at 6 p.m. on foot."],
        ["It costs 3.50 EUR at https://a.example/b.c?d=1.", "Then go."],
        ['He said "I hate it. Really."', "Then he left."],
        ["(He came back. Later.)", "Done."],
        ["I read J. R. Tolkien.", "So do you!", "Do they?"],
        ["Am 3. März ziehe ich um.", "Das ist z.B. gut."],
        ["我住在北京。", "我喜欢茶！", "真的？"],
        ["Wait... what?", "Ok."],
        ["Yahoo! is old.", "It was sold."],
        ["We chose plan B.", "The rest is easy."],
    ],
)
def test_a_text_is_cut_where_its_sentences_end(parts: list[str]) -> None:
    # Chinese has no spaces; nothing else may depend on how wide the gap is.
    gap = "" if parts[0][-1] == "。" else "  "
    assert cut(gap.join(parts)) == parts


def test_items_of_a_list_stand_by_themselves_and_wrapped_lines_do_not() -> None:
    text = (
        "# Notes\n- one cat\n- two dogs. Both old.\n1. first\n2) second\n\n"
        "A line that was wrapped at some column so that\nit goes on here. New one."
    )
    assert cut(text) == [
        "# Notes",
        "- one cat",
        "- two dogs.",
        "Both old.",
        "1. first",
        "2) second",
        "A line that was wrapped at some column so that\nit goes on here.",
        "New one.",
    ]


def test_a_text_in_small_letters_is_cut_too() -> None:
    assert cut("i live in porto. i like tea") == ["i live in porto.", "i like tea"]


@given(st.text(alphabet='ab .!?\n"(“”)。1A', max_size=200))
def test_nothing_but_white_space_lies_between_sentences(text: str) -> None:
    spans = sentences(text)
    position = 0
    for start, end in spans:
        assert position <= start < end <= len(text)
        assert not text[position:start].strip()
        assert text[start:end] == text[start:end].strip()
        position = end
    assert not text[position:].strip()


@given(st.text(alphabet="ab .\n", max_size=400))
def test_passages_hold_every_sentence_and_are_never_too_long(text: str) -> None:
    found = passages(text, longest=40, overlap=12)
    assert all(0 < end - start <= 40 for start, end in found)
    assert all(a[0] < b[0] and a[1] < b[1] for a, b in pairwise(found))
    covered = {i for start, end in found for i in range(start, end)}
    assert all(i in covered for i, c in enumerate(text) if not c.isspace())


@pytest.mark.parametrize("text", ["a" * 50_000, "word " * 10_000, '("' * 20_000, "x. (“ " * 9_000])
def test_passages_of_strange_texts_are_short(text: str) -> None:
    found = passages(text)
    assert max(end - start for start, end in found) <= LONGEST_PASSAGE
    assert found[-1][1] == len(text.rstrip())


def test_neighbouring_passages_share_whole_sentences() -> None:
    text = " ".join(f"This is sentence number {n} of many." for n in range(100))
    found = passages(text)
    for a, b in pairwise(found):
        assert b[0] < a[1]
        assert text[b[0] : a[1]].startswith("This is") and text[b[0] : a[1]].endswith("many.")
    assert passages("Short.") == [(0, 6)]
    assert passages(" \n ") == []
