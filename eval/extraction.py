"""Suite `extraction`: are the facts read out of what is said the right ones, word for word?

Short texts in five languages with the facts that are to come of them: greetings, questions and
orders make none, "I" becomes the user where that is safe, relative dates become absolute or get a
note of the day. No model; what is measured is the reading without one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from datetime import date
from pathlib import Path
from typing import Any, Final

from consolidate.memory.extraction import extract_claims
from consolidate.settings import Settings
from eval.record import SETS, files_digest, heading, read_jsonl
from eval.tables import table

__all__ = ["TEXTS", "extraction_lines", "run_extraction"]

TEXTS: Final = SETS / "extraction"


def run_extraction(split: str, settings: Settings, *, folder: Path = TEXTS) -> dict[str, Any]:
    """Read all texts of a split.

    Args:
        split: `dev` or `test`.
        settings: What the result says it was made with.
        folder: Where the texts are.

    Returns:
        `texts`, `right` and the same `by_language`, and `wrong`: each with what was read.
    """
    path = folder / f"{split}.jsonl"
    result = heading(
        f"extraction {split}", settings=settings, models={}, data={path.name: files_digest([path])}
    )
    texts: Counter[str] = Counter()
    right: Counter[str] = Counter()
    wrong = []
    for row in read_jsonl(path):
        claims, _ = extract_claims(row["text"], said_on=date.fromisoformat(row["said_on"]))
        read = [claim.text for claim in claims]
        texts[row["language"]] += 1
        if read == row["facts"]:
            right[row["language"]] += 1
        else:
            wrong.append({"id": row["id"], "read": read})
    return result | {
        "texts": texts.total(),
        "right": right.total(),
        "by_language": {
            name: {"texts": count, "right": right[name]} for name, count in texts.items()
        },
        "wrong": wrong,
    }


def extraction_lines(result: Mapping[str, Any]) -> list[str]:
    """The table of a result."""
    rows = [(name, part["texts"], part["right"]) for name, part in result["by_language"].items()]
    rows.append(("all", result["texts"], result["right"]))
    return [
        *table(("language", "texts", "right"), rows),
        *(f"wrong: {w['id']}" for w in result["wrong"]),
    ]
