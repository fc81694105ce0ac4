"""From scores to spans: thresholds, overlaps, nesting, both heads."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from consolidate.backends.gliner_spans import WordSpan, chosen, spans_of_spans, spans_of_tokens

HIGH, LOW = 4.0, -4.0


def span(first: int, last: int, score: float = 0.9, label: int = 0) -> WordSpan:
    return WordSpan(first=first, last=last, label=label, score=score)


def places(spans: list[WordSpan]) -> list[tuple[int, int]]:
    return [(each.first, each.last) for each in spans]


def test_a_span_above_the_threshold_is_found_with_its_width_and_label() -> None:
    logits = np.full((5, 3, 2), LOW)
    logits[1, 2, 1] = HIGH
    (found,) = spans_of_spans(logits, words=5, threshold=0.5)
    assert (found.first, found.last, found.label) == (1, 3, 1)
    assert 0.98 < found.score < 0.983


def test_a_span_that_ends_after_the_text_is_none() -> None:
    logits = np.full((3, 3, 1), HIGH)
    found = places(spans_of_spans(logits, words=3, threshold=0.5))
    assert found == [(0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2)]


def test_a_token_level_span_needs_start_end_and_all_between() -> None:
    logits = np.full((6, 1, 3), LOW)
    logits[1, 0, 0] = logits[3, 0, 1] = HIGH
    logits[1:4, 0, 2] = HIGH
    (found,) = spans_of_tokens(logits, words=6, threshold=0.5)
    assert (found.first, found.last) == (1, 3)
    logits[2, 0, 2] = LOW
    assert spans_of_tokens(logits, words=6, threshold=0.5) == []


def test_a_token_level_span_is_as_likely_as_its_weakest_word() -> None:
    logits = np.full((3, 1, 3), HIGH)
    logits[1, 0, 2] = 0.4
    best = {(s.first, s.last): s.score for s in spans_of_tokens(logits, words=3, threshold=0.5)}
    assert best[0, 2] < 0.6 < best[0, 0]


def test_labels_do_not_mix_in_a_token_level_span() -> None:
    logits = np.full((2, 2, 3), LOW)
    logits[:, :, 2] = HIGH
    logits[0, 0, 0] = logits[1, 1, 1] = HIGH
    assert spans_of_tokens(logits, words=2, threshold=0.5) == []


def test_of_overlapping_spans_the_better_one_stands() -> None:
    assert places(chosen([span(0, 2, 0.7), span(2, 3, 0.9), span(4, 4, 0.6)])) == [(2, 3), (4, 4)]


def test_nested_spans_stand_together_only_if_asked_for() -> None:
    spans = [span(0, 3, 0.9), span(1, 2, 0.8), span(2, 4, 0.7)]
    assert places(chosen(spans)) == [(0, 3)]
    assert places(chosen(spans, nested=True)) == [(0, 3), (1, 2)]


def test_one_place_has_one_label() -> None:
    spans = [span(0, 1, 0.6, label=0), span(0, 1, 0.8, label=1)]
    for nested in (False, True):
        (only,) = chosen(spans, nested=nested)
        assert only.label == 1


def test_a_span_seen_in_two_windows_counts_once_with_its_better_score() -> None:
    (only,) = chosen([span(3, 4, 0.6), span(3, 4, 0.8)])
    assert only.score == 0.8


@given(
    st.lists(
        st.tuples(st.integers(0, 12), st.integers(0, 4), st.integers(1, 99), st.integers(0, 2)),
        max_size=30,
    ),
    st.booleans(),
)
def test_chosen_spans_never_cross(raw: list[tuple[int, int, int, int]], nested: bool) -> None:
    spans = [span(a, a + width, score / 100, label) for a, width, score, label in raw]
    kept = chosen(spans, nested=nested)
    for i, one in enumerate(kept):
        for other in kept[i + 1 :]:
            apart = one.last < other.first or other.last < one.first
            within = one.first <= other.first and other.last <= one.last
            assert apart or (nested and within)
    # The best span of all always stands.
    if spans:
        assert max(each.score for each in spans) in {each.score for each in kept}
