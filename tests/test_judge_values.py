from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from consolidate.judge.values import find_values


def keys(text: str) -> list[tuple[str, str, str]]:
    return [value.key for value in find_values(text)]


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("1.5 kg of flour", "1500 g of flour"),
        ("2 km away", "2000 m away"),
        ("waits 90 seconds", "waits 1.5 minutes"),
        ("a 2 hour nap", "a 120 minute nap"),
        ("3 weeks", "21 days"),
        ("2 years", "24 months"),
        ("512 MB", "0.512 GB"),
        ("costs 1,200 euros", "costs €1200"),
        ("costs 5 USD", "costs $5"),
        ("€2k", "2000 EUR"),
        ("5 percent", "5%"),
        ("on 2026-03-01", "on 1 March 2026"),
        ("on March 1st, 2026", "on 1st of March 2026"),
        ("at 3 pm", "at 15:00"),
        ("at 12:30 am", "at 00:30"),
        ("v1.2.3", "1.2.3"),
        ("has three cats", "has 3 cats"),
        ("has 3 cat", "has 3 cats"),
        ("#42", "#42"),
    ],
)
def test_one_value_in_two_forms_is_one(left: str, right: str) -> None:
    assert keys(left) == keys(right) != []


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("port 8080", "port 8081"),
        ("KX2203", "KX2205"),
        ("1.2.3", "1.2.4"),
        ("5 kg", "5 km"),
        ("3 cats", "3 dogs"),
        ("5 MB", "5 MiB"),
        ("€5", "$5"),
        ("5%", "5 kg"),
        ("5 mW", "5 MW"),
        ("10:00", "10:30"),
        ("/etc/hosts", "/etc/Hosts"),
        ("10.0.0.1", "10.0.0.2"),
        ("1 month", "30 days"),
    ],
)
def test_other_values_are_other(left: str, right: str) -> None:
    assert keys(left) != keys(right)


@pytest.mark.parametrize(
    ("text", "kinds"),
    [
        ("born on 3 May 1990", ["date"]),
        ("in 1999", ["date"]),
        ("see https://example.org/a1", ["path"]),
        ("at 10.0.0.1", ["identifier"]),
        ("ticket ABC-123 is open", ["identifier"]),
        ("order 66 arrived", ["identifier"]),
        ("weighs 70 kg and is 180 cm tall", ["quantity", "quantity"]),
        ("no values here", []),
        ("", []),
    ],
)
def test_kinds_of_values(text: str, kinds: list[str]) -> None:
    assert [value.kind for value in find_values(text)] == kinds


@given(st.text(max_size=60) | st.text(alphabet="0123456789.,-:/ #v€kgMarch pm", max_size=40))
def test_any_text_gives_values_inside_of_it(text: str) -> None:
    last = 0
    for value in find_values(text):
        assert last <= value.start < value.end <= len(text)
        last = value.start
