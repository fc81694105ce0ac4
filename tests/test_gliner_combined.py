"""Rules and a GLiNER together: who wins where both see something."""

from __future__ import annotations

from models_under_test import NOTES, TINY_GLINER

from consolidate.backends import resolve_extractor
from consolidate.backends.combined import CombinedExtractor, merged
from consolidate.backends.rules import RulesExtractor
from consolidate.types import Mention


def mention(text: str, part: str, label: str, score: float = 0.9) -> Mention:
    start = text.index(part)
    return Mention(start=start, end=start + len(part), text=part, label=label, score=score)


def rules(text: str, *known: str) -> list[Mention]:
    return RulesExtractor(known).extract([text])[0]


def seen(text: str, found: list[Mention], *known: str) -> list[tuple[str, str]]:
    return [(m.text, m.label) for m in merged(rules(text, *known), found)]


def test_code_is_the_rules_and_people_are_the_models() -> None:
    text = "Rosa Parks runs ./src/app.py on web-01"
    model = [mention(text, "Rosa Parks", "person"), mention(text, "src", "project")]
    assert seen(text, model) == [
        ("Rosa Parks", "person"),
        ("./src/app.py", "path"),
        ("web-01", "host"),
    ]


def test_known_names_are_never_overruled() -> None:
    text = "the old mill in Bonn"
    model = [mention(text, "mill", "place"), mention(text, "Bonn", "place")]
    assert seen(text, model, "the old mill") == [("the old mill", "known"), ("Bonn", "place")]


def test_the_models_borders_replace_those_of_a_guess_by_capitals() -> None:
    text = "We met Dr. Amara Osei in Lagos."
    model = [mention(text, "Dr. Amara Osei", "person"), mention(text, "Lagos", "place")]
    assert seen(text, model) == [("Dr. Amara Osei", "person"), ("Lagos", "place")]


def test_what_only_the_rules_see_is_kept() -> None:
    text = "They moved to Zzyzx with Rosa"
    assert ("Zzyzx", "name") in seen(text, [mention(text, "Rosa", "person")])


def test_a_date_is_no_name_and_hides_no_code() -> None:
    text = "Release v2.1.0 on Sunday Morning"
    found = seen(text, [mention(text, "Sunday Morning", "date")])
    assert "Sunday Morning" not in [part for part, _ in found]
    assert ("v2.1.0", "version") in found


def test_lower_case_projects_are_the_models() -> None:
    text = "moonlight is written in rust"
    assert seen(text, [mention(text, "moonlight", "project")]) == [("moonlight", "project")]


def test_products_and_technologies_are_left_to_the_rules() -> None:
    text = "moonlight is written in Rust, not in go"
    model = [mention(text, "Rust", "technology"), mention(text, "go", "technology")]
    assert seen(text, model) == [("Rust", "name")]
    assert [m.text for m in merged(rules(text), model, taken={"technology"})] == ["Rust", "go"]


def test_labels_that_were_asked_for_are_all_taken() -> None:
    both = resolve_extractor(f"rules+gliner:{TINY_GLINER}?labels=beverage&threshold=0.1")
    found = [m.label for each in both.extract(NOTES) for m in each]
    assert "beverage" in found


def test_it_is_made_by_name_knows_names_and_says_who_it_is() -> None:
    both = resolve_extractor(f"rules+gliner:{TINY_GLINER}")
    assert isinstance(both, CombinedExtractor)
    knowing = both.knowing(["the shop"])
    assert knowing.identity != both.identity
    assert "rules@" in both.identity and "tiny-gliner-span@" in both.identity
    found = knowing.extract(["he works at the shop"])[0]
    assert ("the shop", "known") in [(m.text, m.label) for m in found]
    assert both.attempt(NOTES) == both.extract(NOTES)
