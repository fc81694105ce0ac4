"""A hundred reported failures of other memories, asked of this one; see `cases/cases.toml`."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from cases.bench import BAND
from cases.book import BOOK, Miss, Test, told_as
from cases.checks import CHECKS, Bench
from cases.told import play

from consolidate.backends import Backends
from consolidate.names import name_key
from consolidate.settings import Settings
from consolidate.store import Store

IDS = """
    P001 P002 P004 P005 P007 P008 P010 P011 P013 P014 P016 P017 P019 P020 P022 P023 P025 P026 P028
    P029 P031 P032 P034 P035 P037 P038 P040 P041 P043 P044 P046 P047 P049 P050 P052 P053 P055 P056
    P058 P059 P061 P062 P064 P065 P067 P068 P070 P071 P073 P074 P076 P077 P079 P080 P082 P083 P085
    P086 P088 P089 P091 P092 P094 P095 P097 P098 P100 P101 P103 P104 P106 P107 P109 P110 P112 P113
    P115 P116 P118 P119 P121 P122 P124 P125 P127 P128 P130 P131 P133 P134 P136 P137 P139 P140 P142
    P143 P145 P146 P148 P149
""".split()

SETTINGS = Settings(**BAND)  # type: ignore[arg-type]  # thresholds, all of them
"""The bundled models."""


@pytest.fixture(scope="session")
def backends() -> Backends:
    return Backends.load(SETTINGS)


def each(tests: Iterable[Test]) -> list[Any]:
    """Parameters whose ids are sentences, with the failures that are expected for now."""
    return [
        pytest.param(
            test,
            id=f"{test.case} {test.name}",
            marks=[pytest.mark.xfail(raises=test.failure, reason=test.reason, strict=True)]
            if test.failure
            else [],
        )
        for test in tests
    ]


@pytest.mark.parametrize("test", each(told_as("facts")))
def test_facts(test: Test, backends: Backends) -> None:
    play(test, backends, SETTINGS)


@pytest.mark.parametrize("test", each(told_as("names")))
def test_names(test: Test) -> None:
    for names in test.body["names"].get("same", ()):
        if len({name_key(name) for name in names}) > 1:
            raise Miss(f"{', '.join(names)} are not one entity")
    for a, b in combinations(test.body["names"].get("apart", ()), 2):
        assert name_key(a) != name_key(b), f"{a} and {b} are one entity"


@pytest.mark.parametrize("test", each(told_as("check")))
def test_check(
    test: Test,
    backends: Backends,
    tmp_path: Path,
    open_store: Callable[..., Store],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    CHECKS[test.body["check"]](
        Bench(
            real=backends,
            settings=SETTINGS,
            folder=tmp_path,
            open_store=open_store,
            monkeypatch=monkeypatch,
        )
    )


@pytest.mark.parametrize(
    "needs", [pytest.param(case.needs, id=case.id) for case in BOOK.values() if case.needs]
)
def test_later(needs: str) -> None:
    pytest.skip(f"needs {needs}")


def test_every_case_is_listed_and_has_a_test_or_says_what_it_needs() -> None:
    assert list(BOOK) == IDS
    assert len(set(IDS)) == 100
    for case in BOOK.values():
        assert case.tests or case.needs, case.id
        assert case.told.endswith("."), case.id


def test_every_check_belongs_to_a_case() -> None:
    assert {test.body["check"] for test in told_as("check")} == set(CHECKS)


def test_no_two_tests_of_a_case_have_one_name() -> None:
    names = Counter((test.case, test.name) for case in BOOK.values() for test in case.tests)
    assert max(names.values()) == 1
