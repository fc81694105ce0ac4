"""Extras: which there are, and that what is missing is named with its extra."""

from __future__ import annotations

import importlib.util
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
HEAVY = ("torch", "transformers", "gliner", "optimum", "sentence-transformers")


def names(requirements: list[str]) -> set[str]:
    return {re.split(r"[<>=!~;\[ ]", line, maxsplit=1)[0].lower() for line in requirements}


def test_the_promised_extras_are_there() -> None:
    extras = PROJECT["optional-dependencies"]
    assert {"gliner", "export", "ollama", "openai", "anthropic"} <= extras.keys()
    assert "models" not in extras
    for name in ("gliner", "ollama", "openai", "anthropic"):
        assert names(extras[name]) == {name}
    assert {"torch", "transformers", "optimum", "optimum-onnx", "onnx"} <= names(extras["export"])


def test_the_default_install_brings_no_heavy_library() -> None:
    assert not names(PROJECT["dependencies"]) & set(HEAVY)


def test_the_lock_of_the_workshop_fits_the_extras_and_names_no_build() -> None:
    lines = (ROOT / "models" / "requirements.lock").read_text(encoding="utf-8").splitlines()
    pinned = dict(line.split("==") for line in lines if line and not line.startswith("#"))
    assert all(re.fullmatch(r"[0-9][0-9a-z.]*", version) for version in pinned.values())
    extras = PROJECT["optional-dependencies"]
    for line in [*extras["export"], *extras["gliner"]]:
        name, exact, version = line.partition("==")
        if exact:
            assert pinned[name] == version
    assert names(extras["export"]) | {"pytest", "hypothesis", "typer"} <= pinned.keys()


@pytest.mark.parametrize(
    ("module", "library", "arguments"),
    [
        ("models.export", "optimum", ["nowhere", "--task", "feature-extraction"]),
        ("models.export", "gliner", ["nowhere", "--task", "gliner"]),
        ("models.quantize", "onnx", ["nowhere", "out"]),
    ],
)
def test_tools_without_their_libraries_name_the_extra(
    module: str, library: str, arguments: list[str]
) -> None:
    if importlib.util.find_spec(library):
        pytest.skip(f"{library} is installed")
    done = subprocess.run(
        [sys.executable, "-m", module, *arguments],
        cwd=ROOT, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert done.returncode == 1
    assert "Traceback" not in done.stderr
    assert "consolidate[export]" in done.stderr
