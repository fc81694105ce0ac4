"""What holds for the repository as a whole: documents, demo, licences, version, imports."""

from __future__ import annotations

import ast
import json
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "consolidate"
MODULES = sorted(PACKAGE.rglob("*.py"))
HEAVY = {"torch", "transformers", "gliner", "optimum", "sentence_transformers"}
KINDS = {"fact", "preference", "instruction", "decision", "plan", "event", "memory"}
SOURCES = {"user", "assistant", "tool", "web", "inferred"}


@cache
def demo_facts() -> tuple[dict[str, Any], ...]:
    text = (PACKAGE / "data" / "demo_facts.jsonl").read_text(encoding="utf-8")
    return tuple(json.loads(line) for line in text.splitlines())


@cache
def demo_key() -> dict[str, Any]:
    path = ROOT / "eval" / "sets" / "streams" / "demo.json"
    key: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return key


# ---- documents


def commands(command: Any, prefix: str) -> Iterator[str]:
    """Names of all commands below a group, as one types them."""
    children = getattr(command, "commands", None)
    if children is None:
        yield prefix
        return
    for name, child in children.items():
        yield from commands(child, f"{prefix} {name}")


def test_every_command_is_named_in_the_readme() -> None:
    import typer

    from consolidate.cli.app import app

    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    named = set(re.findall(r"^\| `(consolidate [a-z -]+)` \|", readme, re.MULTILINE))
    assert named == set(commands(typer.main.get_command(app), "consolidate"))


def test_the_changelog_has_a_place_for_what_is_not_released() -> None:
    text = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert "## [Unreleased]" in text


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("LICENSE", "Apache License"),
        ("eval/sets/LICENSE", "CC BY 4.0"),
        ("eval/sets/README.md", "CC BY 4.0"),
    ],
)
def test_licences_are_there(path: str, words: str) -> None:
    assert words in (ROOT / path).read_text(encoding="utf-8")


def test_the_version_stands_in_one_place() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    assert "version" not in project["project"]
    assert project["project"]["dynamic"] == ["version"]
    assert project["project"]["license"] == "Apache-2.0"
    assigned = [p for p in MODULES if re.search(r"^__version__ *=", p.read_text("utf-8"), re.M)]
    assert assigned == [PACKAGE / "version.py"]


# ---- the demo memory and its key


def test_the_demo_memory_has_about_two_hundred_facts_with_unique_ids() -> None:
    ids = [row["id"] for row in demo_facts()]
    assert 190 <= len(ids) <= 230
    assert ids == [f"demo-{n:03d}" for n in range(1, len(ids) + 1)]


def test_documents_give_the_right_number_of_demo_facts() -> None:
    for path in ("CHANGELOG.md", "eval/sets/README.md"):
        assert f"{len(demo_facts())} facts" in (ROOT / path).read_text(encoding="utf-8")


def test_every_demo_fact_is_complete_and_of_known_kind_and_source() -> None:
    allowed = {"id", "text", "kind", "stated_at", "source", "valid_from", "valid_to", "intensity"}
    for row in demo_facts():
        assert row.keys() <= allowed, row["id"]
        assert row["text"] == row["text"].strip() != ""
        assert row["kind"] in KINDS, row["id"]
        assert row["source"] in SOURCES, row["id"]
        assert 0 <= row.get("intensity", 0.5) <= 1, row["id"]


def test_every_time_of_the_demo_has_an_offset() -> None:
    for row in demo_facts():
        for field in ("stated_at", "valid_from", "valid_to"):
            if field in row:
                assert datetime.fromisoformat(row[field]).tzinfo is not None, row["id"]


def test_the_demo_spans_three_years_and_some_facts_arrive_late() -> None:
    stated = [datetime.fromisoformat(row["stated_at"]) for row in demo_facts()]
    assert (max(stated) - min(stated)).days > 2.9 * 365
    assert stated != sorted(stated)


def test_the_key_speaks_of_every_demo_fact_and_of_no_other() -> None:
    key = demo_key()
    ids = {row["id"] for row in demo_facts()}
    assert key["facts"].keys() == ids
    assert set(key["traps"]) <= ids
    assert len(set(key["traps"])) == len(key["traps"]) >= 40
    for members in key["groups"].values():
        assert len(set(members)) == len(members) > 1
        assert set(members) <= ids
    for fact_id, entry in key["facts"].items():
        assert set(entry.get("by", ())) <= ids - {fact_id}


def test_every_state_of_the_key_is_well_formed() -> None:
    key = demo_key()
    for fact_id, entry in key["facts"].items():
        state = entry["state"]
        accepted = set(entry.get("accept", (state,)))
        assert state in ("current", "superseded", "merged", "either"), fact_id
        assert accepted <= {"current", "superseded", "merged"}, fact_id
        assert (state == "either") == ("why" in entry) == (len(accepted) > 1), fact_id
        assert ("superseded" in accepted) == ("by" in entry), fact_id
        if "merged" in accepted:
            assert "group" in entry, fact_id
        if "group" in entry:
            assert fact_id in key["groups"][entry["group"]], fact_id
    for name, members in key["groups"].items():
        assert all(key["facts"][m].get("group") == name for m in members), name


def test_the_traps_of_the_key_must_stay_current() -> None:
    key = demo_key()
    assert {key["facts"][trap]["state"] for trap in key["traps"]} == {"current"}


def test_nothing_in_the_key_is_superseded_by_a_fact_said_earlier() -> None:
    said = {row["id"]: datetime.fromisoformat(row["stated_at"]) for row in demo_facts()}
    for fact_id, entry in demo_key()["facts"].items():
        if entry["state"] == "superseded":
            assert all(said[other] > said[fact_id] for other in entry["by"]), fact_id


def test_chains_of_the_key_end_in_a_fact_that_stands() -> None:
    facts = demo_key()["facts"]
    for fact_id, entry in facts.items():
        if entry["state"] == "superseded":
            ends = {facts[other]["state"] for other in entry["by"]}
            assert ends & {"current", "merged"}, fact_id


def test_the_demo_holds_enough_of_each_kind_of_trouble() -> None:
    key = demo_key()
    states = Counter(entry["state"] for entry in key["facts"].values())
    assert states["superseded"] >= 25
    assert len(key["groups"]) >= 25
    later = datetime(2030, 1, 1).astimezone()
    starts = [row["valid_from"] for row in demo_facts() if "valid_from" in row]
    assert sum(datetime.fromisoformat(start) > later for start in starts) == 1


# ---- imports


def module_level_imports(tree: ast.AST) -> Iterator[str]:
    """Top-level packages that importing a file imports; functions run later."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            continue
        if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test):
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module.partition(".")[0]
        else:
            yield from module_level_imports(node)


@pytest.mark.parametrize("path", MODULES, ids=[str(p.relative_to(ROOT)) for p in MODULES])
def test_no_module_imports_a_heavy_library_when_it_is_imported(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not HEAVY & set(module_level_imports(tree))


def test_importing_the_package_imports_no_model_library() -> None:
    code = (
        "import sys, consolidate; "
        "print(*{'onnxruntime', 'tokenizers', 'torch', 'transformers'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
