"""What the README shows is true: its commands run, its targets and facts exist."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
FENCE = re.compile(r"^```(\w*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


def blocks(language: str) -> list[str]:
    return [body for name, body in FENCE.findall(README) if name == language]


def is_not_ours(block: str) -> bool:
    """Or of a client's own program, which `test_readme_server.py` takes apart."""
    return all(line.startswith(("make ", "claude ")) for line in block.splitlines() if line.strip())


def environment(home: Path) -> Mapping[str, str]:
    """A fresh user's environment, with a `consolidate` on the path that runs this checkout."""
    folder = home / "bin"
    folder.mkdir()
    command = folder / "consolidate"
    command.write_text(
        f'#!/bin/sh\nexec "{sys.executable}" -m consolidate "$@"\n', encoding="utf-8"
    )
    command.chmod(0o755)
    # COV*: coverage starts itself in subprocesses by these.
    kept = {k: v for k, v in os.environ.items() if k in ("PATH", "LANG", "TMPDIR") or "COV" in k}
    return {
        **kept,
        "HOME": str(home),
        "PATH": f"{folder}{os.pathsep}{kept.get('PATH', os.defpath)}",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "error",
    }


def run(command: list[str], home: Path) -> subprocess.CompletedProcess[str]:
    work = home / "work"
    work.mkdir()
    return subprocess.run(
        command,
        cwd=work,
        env=environment(home),
        capture_output=True,
        text=True,
        timeout=240,
        check=False,
    )


def test_the_first_screen_holds_the_example_both_commands_and_the_library_use() -> None:
    screen = "\n".join(README.splitlines()[:25])
    for wanted in ("make consolidate", "make test", "consolidate.open_store(", "outcome.report"):
        assert wanted in screen


@pytest.mark.skipif(shutil.which("bash") is None, reason="needs bash")
@pytest.mark.parametrize("block", [b for b in blocks("sh") if not is_not_ours(b)])
def test_shell_commands_of_the_readme_run(block: str, tmp_path: Path) -> None:
    done = run(["bash", "-euo", "pipefail", "-c", block], tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("block", blocks("python"))
def test_python_snippets_of_the_readme_run(block: str, tmp_path: Path) -> None:
    done = run([sys.executable, "-c", block], tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip()


@pytest.mark.parametrize("block", blocks("toml"))
def test_settings_of_the_readme_are_accepted(block: str, tmp_path: Path) -> None:
    from consolidate.settings import resolve

    (tmp_path / "consolidate.toml").write_text(block, encoding="utf-8")
    resolved = resolve(environ={"HOME": str(tmp_path)}, folder=tmp_path)
    assert resolved.settings.profile == "careful"
    assert resolved.settings.timezone == "Europe/Athens"


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_every_make_target_that_the_readme_names_exists() -> None:
    targets = sorted(set(re.findall(r"(?:^|`)make ([a-z]+)", README, re.MULTILINE)))
    assert {"consolidate", "test", "help"} <= set(targets)
    # A make that runs these tests must not pass its own flags on.
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    for target in targets:
        done = subprocess.run(
            ["make", "-n", target], cwd=ROOT, env=env, capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, f"make {target}: {done.stderr}"


@pytest.mark.skipif(shutil.which("make") is None, reason="needs make")
def test_make_alone_lists_every_target() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    declared = re.search(r"^\.PHONY: (.*)$", makefile, re.MULTILINE)
    assert declared
    env = {k: v for k, v in os.environ.items() if not k.startswith(("MAKE", "MFLAGS"))}
    shown = subprocess.run(
        ["make", "--no-print-directory"],
        cwd=ROOT,
        env=env,
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    assert {line.split()[1] for line in shown.splitlines()} == set(declared[1].split())


def test_the_memory_of_the_first_screen_is_the_demo_memory() -> None:
    path = ROOT / "consolidate" / "data" / "demo_facts.jsonl"
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    known = {(row["stated_at"][:10], row["text"]) for row in rows}
    shown = re.findall(r"^\| (\d{4}-\d\d-\d\d) \| (.+?) \| ", README, re.MULTILINE)
    assert len(shown) == 5
    assert set(shown) <= known


def test_every_file_the_readme_links_to_exists() -> None:
    for target in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / target).exists(), target


def test_every_path_in_the_tree_exists() -> None:
    tree = next(block for block in blocks("text") if "protocols.py" in block)
    folder = Path()
    for line in tree.splitlines():
        name = line.split()[0]
        if not line.startswith(" "):
            folder = Path(name)
            assert (ROOT / folder).is_dir(), name
        else:
            assert (ROOT / folder / name).exists(), f"{folder}/{name}"
