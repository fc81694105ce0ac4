"""Averages the weights of GLiNERs that were trained from one start: `... OUT FOLDER [FOLDER...]`.

Checkpoints of runs that begin with the same weights lie close together, and their mean errs less
than most of them do (Wortsman et al. 2022, "Model soups"). With a hundred notes to choose by, it
also spares choosing. Needs the workshop environment (torch, gliner).
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gliner import GLiNER
from safetensors.torch import load_file


def average(folders: Sequence[Path], out: Path) -> None:
    """Write a folder whose weights are the mean of those in `folders`."""
    states = [load_file(folder / "model.safetensors") for folder in folders]
    mean = {
        name: sum(state[name].float() for state in states) / len(states)
        if first.is_floating_point()
        else first
        for name, first in states[0].items()
    }
    model = GLiNER.from_pretrained(str(folders[0]), local_files_only=True)
    model.model.load_state_dict(mean)
    model.save_pretrained(out, safe_serialization=True)


def main() -> None:
    """Parse arguments and average."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("folders", type=Path, nargs="+")
    arguments = parser.parse_args()
    average(arguments.folders, arguments.out)


if __name__ == "__main__":
    main()
