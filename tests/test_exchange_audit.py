"""The audit of a file: what it finds, what it leaves alone, and that it changes nothing."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from typing import Any

import pytest
from pipelines import FAKE_SETTINGS

from consolidate.backends import Backends
from consolidate.backends.fake import FakeClassifier, FakeEmbedder, FakeExtractor
from consolidate.exchange import audit as auditing
from consolidate.exchange.audit import audit
from consolidate.exchange.findings import Audit
from consolidate.exchange.formats import parse_files
from consolidate.exchange.records import Options, Parsed
from consolidate.exchange.secrets import find_secrets, masked
from consolidate.types import Relation

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)
OLD, NEW = "The rent is 700 euros", "The rent is 800 euros"
TABLE = {(OLD, NEW): Relation.CONTRADICTS}


def parsed(*rows: dict[str, Any]) -> Parsed:
    data = "\n".join(map(json.dumps, rows)).encode()
    return parse_files([("facts.jsonl", data)], Options(timezone="UTC"), now=NOW)


def looked(*rows: dict[str, Any]) -> Audit:
    return audit(parsed(*rows), now=NOW)


def judged(*rows: dict[str, Any]) -> Audit:
    backends = Backends(
        embedder=FakeEmbedder(), extractor=FakeExtractor(), classifier=FakeClassifier(TABLE)
    )
    return audit(parsed(*rows), now=NOW, settings=FAKE_SETTINGS, backends=backends)


def test_a_clean_file_is_clean() -> None:
    found = judged(
        {"text": "Noor plays the cello", "date": "2026-01-02"},
        {"text": "The kiln is in the yard", "date": "2026-02-03"},
    )
    assert found.clean and found.judged == found.looked_at == 2


def test_repeats_and_conflicts_are_found_with_their_lines() -> None:
    found = judged(
        {"text": OLD, "date": "2026-01-02"},
        {"text": "The kiln is in the yard", "date": "2026-01-03"},
        {"text": NEW, "date": "2026-05-02"},
        {"text": "the kiln is in the yard.", "date": "2026-06-02"},
        {"text": "The kiln is in the yard", "date": "2026-07-02"},
    )
    assert found.repeats == 2
    (repeat,) = found.duplicates
    assert repeat.lines == (2, 4) and repeat.reason == "word for word, 3 times"
    (conflict,) = found.conflicts
    assert (conflict.lines, conflict.texts, conflict.sure) == ((1, 3), (OLD, NEW), True)


def test_a_tie_is_a_conflict_that_is_not_sure() -> None:
    found = judged({"text": OLD, "date": "2026-01-02"}, {"text": NEW, "date": "2026-01-02"})
    assert [each.sure for each in found.conflicts] == [False]


def test_without_models_it_says_what_was_not_looked_at() -> None:
    found = looked({"text": OLD}, {"text": NEW})
    assert found.conflicts == () and found.judged == 0
    assert "without models" in found.notes[0]


def test_what_is_too_much_is_cut_and_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(auditing, "MOST_FACTS", 3)
    found = judged(
        *({"text": f"Row {n} of the seating plan", "date": "2026-01-02"} for n in range(9))
    )
    assert found.judged == 3
    assert "3 of 9 facts" in found.notes[0]


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("--", "empty"),
        ("ok", "boilerplate"),
        ("undefined", "boilerplate"),
        ("As an AI language model, I can't remember that.", "boilerplate"),
        ("Sure! Here is the list you asked for.", "boilerplate"),
        ("<div class='x'>The kiln</div>", "HTML"),
        ("Tea &amp; biscuits at four", "HTML"),
        ("The kiln is hot. " * 200, "too long"),
        ("Traceback (most recent call last): ...", "stack trace"),
        ("CafÃ© MÃ¼ller opens at nine", "garbled letters"),
    ],
)
def test_junk_is_found(text: str, what: str) -> None:
    assert what in [each.what for each in looked({"text": text}).junk]


@pytest.mark.parametrize(
    "text",
    [
        "Tea is served at 4 < 5 o'clock",
        "No is the answer she gave to the council",
        "The test bench stands in hall B",
        "Sure-footed ponies carry the post",
        "R&D sits on the third floor",
        "Yes Minister is a favourite of hers",
    ],
)
def test_sentences_that_look_like_junk_are_left_alone(text: str) -> None:
    assert looked({"text": text}).junk == ()


SECRETS = [
    ("-----BEGIN OPENSSH PRIVATE KEY-----", "private key"),
    ("The bucket key is AKIA" + "IOSFODNN7EXAMPLE", "AWS key"),
    ("uses ghp_" + "a1B2c3D4e5" * 4, "GitHub token"),
    ("bot: xoxb-" + "123456789012-abcdefABCDEF", "Slack token"),
    ("OPENAI_API_KEY=sk-" + "proj-abcDEF123456789xyz", "API key"),
    ("jwt eyJhbGciOiJI.eyJzdWIiOiIx.c2lnbmF0dXJl", "web token"),
    ("postgres://app:hunter22@db.local:5432/shop", "login in an address"),
    ("The wifi password is Blue-Heron-77", "password"),
    ("password for the router: tr0ub4dor", "password"),
    ("My PIN is 4711", "password"),
    ("Das Passwort ist Regen2024!", "password"),
    ("Card 4111 1111 1111 1111, valid to 2028", "card number"),
    ("IBAN GB82 WEST 1234 5698 7654 32", "account number"),
    ("SSN 219-09-9999", "social security number"),
]


@pytest.mark.parametrize(("text", "what"), SECRETS)
def test_secrets_are_found_and_never_shown(text: str, what: str) -> None:
    ((kind, shown),) = find_secrets(text)
    assert kind == what
    found = looked({"text": text})
    assert [each.what for each in found.secrets] == [what]
    printed = repr(found)
    value = max((part for part in text.split() if any(map(str.isdigit, part))), key=len, default="")
    assert value not in printed or what == "private key" or len(value) < 6
    assert shown in printed


@pytest.mark.parametrize(
    "text",
    [
        "The password is required at every login",
        "She forgot the password again",
        "The order number is 4111 1111 1111 1112",
        "Call +44 20 7946 0958 after 10:30",
        "Commit 9f2c4e1a8b7d6c5e4f3a2b1c0d9e8f7a6b5c4d3e fixed it",
        "The token ring in the lab is from 1988",
        "Version 1.2.3 of sk-learn is pinned",
        "Her pin is a small silver fish",
        "See https://example.org:8080/path",
        "ISBN 978-3-16-148410-0",
    ],
)
def test_what_is_no_secret_is_left_alone(text: str) -> None:
    assert find_secrets(text) == []


def test_a_secret_in_a_repeated_text_is_not_shown_there_either() -> None:
    text = "The safe password is Blue-Heron-77"
    found = looked({"text": text}, {"text": text, "source": "web"})
    assert found.repeats == 1
    assert "Blue-Heron" not in repr(found)


def test_little_of_a_short_secret_is_shown() -> None:
    assert masked("4711") == "4… (4 characters)"
    assert masked("abc") == "… (3 characters)"


def test_times_that_can_not_be_right_are_found() -> None:
    rows = [
        {"text": "Said tomorrow", "date": "2027-06-01"},
        {"text": "Said at the beginning of time", "date": "1970-01-01"},
        {"text": "Never said"},
        {"text": "Held backwards", "date": "2026-01-01", "valid_from": "2026-03-01",
         "valid_to": "2026-02-01"},
    ]  # fmt: skip
    assert {(each.what, each.line) for each in looked(*rows).times} == {
        ("said in the future", 1),
        ("said long ago", 2),
        ("no time", 3),
        ("ends before it begins", 4),
    }


def test_one_stamp_for_everything_is_noticed() -> None:
    rows = [{"text": f"Row {n} of the plan", "date": "2026-05-05T10:00:00Z"} for n in range(12)]
    assert [each.what for each in looked(*rows).times] == ["one time for all"]


def test_broken_lines_are_junk_of_the_file() -> None:
    found = looked({"text": "The kiln is hot"}, {"nothing": "here"})
    assert [(each.line, each.what) for each in found.junk] == [(2, "unreadable")]
