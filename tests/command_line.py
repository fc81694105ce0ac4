"""Runs the command line in a test: in this process, or as a process of its own."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from consolidate.cli.app import app

ROOT = Path(__file__).parents[1]
FAKES = {
    "CONSOLIDATE_EMBEDDER": "fake",
    "CONSOLIDATE_EXTRACTOR": "fake",
    "CONSOLIDATE_CLASSIFIER": "fake",
}


@dataclass(frozen=True)
class Result:
    """What a command left: exit code and the two streams."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on standard output."""
        return json.loads(self.out)


@dataclass
class Cli:
    """The command line over one database."""

    home: Path
    db: Path
    env: dict[str, str] = field(default_factory=lambda: dict(FAKES))

    def __call__(self, *args: str, stdin: str | bytes | None = None, code: int = 0) -> Result:
        """Run a command in this process and check its exit code."""
        done = CliRunner().invoke(app, list(args), input=stdin, env=self._environment())
        result = Result(done.exit_code, done.stdout, done.stderr)
        assert result.code == code, (result, done.exception)
        return result

    def process(self, *args: str, **options: Any) -> subprocess.CompletedProcess[str]:
        """Run a command as a process of its own."""
        return subprocess.run(
            [sys.executable, "-m", "consolidate", *args],
            cwd=self.home,
            env=self.process_environment(),
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **options,
        )

    def process_environment(self) -> dict[str, str]:
        """The environment of such a process."""
        return {
            "PATH": os.environ.get("PATH", ""),
            "PYTHONPATH": str(ROOT),
            "PYTHONWARNINGS": "error",
            **self._environment(),
        }

    def _environment(self) -> dict[str, str]:
        return {"HOME": str(self.home), "CONSOLIDATE_DB": str(self.db), **self.env}
