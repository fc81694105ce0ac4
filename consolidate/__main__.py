"""Runs the command line: `python -m consolidate`."""

from __future__ import annotations

from consolidate.cli.app import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
