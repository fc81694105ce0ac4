"""What the rules take for a name, and what they do not."""

from __future__ import annotations

import pytest
from models_under_test import LONG

from consolidate.backends.rules import RulesExtractor

RULES = RulesExtractor()


def names(text: str, known: tuple[str, ...] = ()) -> list[str]:
    extractor = RulesExtractor(known) if known else RULES
    return [mention.text for mention in extractor.extract([text])[0]]


def labels(text: str) -> dict[str, str]:
    return {mention.text: mention.label for mention in RULES.extract([text])[0]}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Anna lives in Oslo", ["Anna", "Oslo"]),
        ("Janet Roe works with Lars Holm.", ["Janet Roe", "Lars Holm"]),
        ("They met Dr. Janet B. Roe", ["Janet B. Roe"]),
        ("They read J.R.R. Tolkien", ["J.R.R. Tolkien"]),
        ("They met J. Roe yesterday", ["J. Roe"]),
        ("We heard Ludwig van Beethoven", ["Ludwig van Beethoven"]),
        ("The award went to Maria de la Cruz", ["Maria de la Cruz"]),
        ("We asked van der Berg", ["van der Berg"]),
        ("Uncle Bob called", ["Bob"]),
        ("Anna's Volvo is red", ["Anna", "Volvo"]),
        ("Ask Jean-Luc or O'Brien", ["Jean-Luc", "O'Brien"]),
        ("She banks with the Bank of America", ["Bank of America"]),
        ("They shop at Marks & Spencer", ["Marks & Spencer"]),
        ("The CEO of Globex resigned", ["CEO", "Globex"]),
        ("New York is loud", ["New York"]),
        ("Will Smith moved", ["Will Smith"]),
        ("a Berlin-based startup", ["Berlin"]),
        ("He is an ex-Google engineer", ["Google"]),
        ("They use HTTP", ["HTTP"]),
        ("She flew to İzmir", ["İzmir"]),
        ("works at L'Oréal", ["L'Oréal"]),
    ],
)
def test_capitalised_names_are_found(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "Moved last week.",
        "The user likes tea.",
        "User prefers dark mode",
        "User's brother is married",
        "Prefers tea over coffee. Drinks it daily.",
        "I think I'm late; It's fine.",
        "He said she and they will come",
        "The meeting is on Monday 3 March",
        "Moved in May. Started in June 2024",
        "MOVED TO THE OTHER OFFICE YESTERDAY",
        "Vegetarian since 2019.",
        "OK, TODO: call back",
        "10GB of RAM is enough? no 2FA".replace("RAM", "memory"),
        "and/or 24/7",
        "Der Vertrag ist gekündigt worden.",
        "L'atelier ouvre le mercredi",
        "",
    ],
)
def test_common_words_and_pronouns_are_no_names(text: str) -> None:
    assert names(text) == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see ./src/app.py and /etc/hosts", {"./src/app.py": "path", "/etc/hosts": "path"}),
        ("edit src/lib/x.ts or ~/notes", {"src/lib/x.ts": "path", "~/notes": "path"}),
        ("open C:\\Users\\anna", {"C:\\Users\\anna": "path"}),
        ("the file main.rs is long", {"main.rs": "path"}),
        ("runs v18.2.0, was 1.4.2", {"v18.2.0": "version", "1.4.2": "version"}),
        ("fixed in ABC-123 and #45", {"ABC-123": "ticket", "#45": "ticket"}),
        ("needs @acme/ui", {"@acme/ui": "package"}),
        ("set DATABASE_URL or $HOME", {"DATABASE_URL": "variable", "$HOME": "variable"}),
        ("at api.example.com:8080", {"api.example.com:8080": "host"}),
        ("on localhost:3000 or 10.0.0.1", {"localhost:3000": "host", "10.0.0.1": "host"}),
        ("runs on web-01 and db-prod-2", {"web-01": "host", "db-prod-2": "host"}),
        ("mail anna@example.org.", {"anna@example.org": "email"}),
        ("see https://a.example/b?c=d.", {"https://a.example/b?c=d": "url"}),
        ("run `make ship` first", {"make ship": "code"}),
        ("calls getUserName() with user_id", {"getUserName()": "code", "user_id": "code"}),
        ("part KX2203 not KX2205", {"KX2203": "code", "KX2205": "code"}),
        ("at commit 3f9c2a71b", {"3f9c2a71b": "code"}),
        ("knows C++, C# and .NET", {"C++": "name", "C#": "name", ".NET": "name"}),
        ("written for Node.js", {"Node.js": "name"}),
    ],
)
def test_code_like_tokens_are_found_with_their_kind(text: str, expected: dict[str, str]) -> None:
    assert labels(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('the cat is called "Biscuit"', ["Biscuit"]),
        ("the boat is called 'Sea Star'", ["Sea Star"]),
        ("Das Boot heißt „Seestern“", ["Seestern"]),
        ("un roman, «Les Vagues»", ["Les Vagues"]),
        ("愛犬は「ポチ」です", ["ポチ"]),
        ('she said "see you tomorrow then"', []),
        ("it doesn't matter, it isn't his", []),
    ],
)
def test_quoted_names_are_found_and_quoted_speech_is_not(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Анна живёт в Москве", ["Анна", "Москве"]),
        ("Живёт в Москве", ["Москве"]),
        ("Η Μαρία μένει στην Αθήνα", ["Μαρία", "Αθήνα"]),
        ("田中さんはスズキを運転する", ["田中", "スズキ"]),
        ("김민수 씨는 서울에 산다", ["김민수"]),
        ("أحمد يسكن في القاهرة", []),
    ],
)
def test_other_scripts_are_read_as_far_as_they_show_names(text: str, expected: list[str]) -> None:
    assert names(text) == expected


@pytest.mark.parametrize(
    ("known", "text", "expected"),
    [
        ("the old mill", "they met at The Old Mill.", ["The Old Mill"]),
        ("İzmir", "flew to IZMIR", ["IZMIR"]),
        ("anna", "anna's car is red", ["anna"]),
        ("sage", "sage moved", ["sage"]),
        ("C", "knows C++ and c#", ["C++", "c#"]),
        ("Net", "uses .NET", [".NET"]),
        ("node", "uses node.js", ["node.js"]),
        ("cat", "concatenate", []),
        ("東京", "彼は東京に住む", ["東京"]),
        ("أحمد", "أحمد يسكن هنا", ["أحمد"]),
        ("user", "user likes tea", []),
    ],
)
def test_known_names_count_wherever_they_stand_whole(
    known: str, text: str, expected: list[str]
) -> None:
    assert names(text, (known,)) == expected


def test_a_known_name_does_not_cut_a_longer_one() -> None:
    assert names("they met Janet Roe", ("Roe",)) == ["Janet Roe"]


def test_known_names_carry_their_label_and_full_score() -> None:
    (mention,) = RulesExtractor(["biscuit"]).extract(["feed biscuit daily"])[0]
    assert (mention.label, mention.score) == ("known", 1.0)


def test_a_word_that_opens_a_sentence_is_less_sure() -> None:
    first, second = RULES.extract(["Tendai lives in Oslo"])[0]
    assert first.score < second.score


def test_identity_follows_the_keys_of_known_names() -> None:
    assert RulesExtractor(["Anna", "BOB "]).identity == RulesExtractor(["bob", "anna"]).identity
    assert RulesExtractor(["Anna"]).identity != RulesExtractor(["Bob"]).identity
    assert RulesExtractor([""]).identity == RULES.identity


@pytest.mark.parametrize(
    "unit", ["A ", "a_b ", '"a" ', "a.", "/a", "a@", "A-", "“", "'a ", "van ", "a:", "@a/", "0."]
)
def test_hostile_repetition_is_read_in_linear_time(unit: str) -> None:
    # A quadratic rule would take minutes here, not a moment.
    text = unit * (40_000 // len(unit))
    for mention in RulesExtractor(["a b"]).extract([text, LONG])[0]:
        assert text[mention.start : mention.end] == mention.text
