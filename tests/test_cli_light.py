"""Asking for help never loads a model library, whatever the command."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
SCRIPT = """
import sys
import typer
from typer.testing import CliRunner
import consolidate
from consolidate.cli.app import app

HEAVY = {"torch", "transformers", "gliner", "optimum", "onnxruntime", "tokenizers",
         "huggingface_hub", "ollama", "openai", "anthropic", "httpx", "numpy", "mcp"}

def every(command, words):
    yield words
    for name, child in getattr(command, "commands", {}).items():
        yield from every(child, [*words, name])

count = 0
for words in every(typer.main.get_command(app), []):
    done = CliRunner().invoke(app, [*words, "--help"])
    assert done.exit_code == 0, (words, done.output)
    assert "Usage: " in done.output, words
    loaded = HEAVY & sys.modules.keys()
    assert not loaded, f"consolidate {' '.join(words)} --help imports {sorted(loaded)}"
    count += 1
print(count)
"""


def test_no_help_of_any_command_loads_a_model_library() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], cwd=ROOT, capture_output=True, text=True, check=False,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 20
