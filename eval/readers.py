"""Readers for public data sets that a user has on disk. None of them is part of this project.

Inference pairs: SNLI and MultiNLI (JSONL), ANLI (JSONL), SICK (TSV). Conversations: LoCoMo and
LongMemEval (JSON). Formats are told by their fields, not by file names.
"""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from consolidate.errors import InputError
from eval.record import read_jsonl

__all__ = ["Conversation", "NliPair", "Question", "Turn", "read_conversations", "read_nli"]

LABELS: Final[Mapping[str, str]] = {
    "entailment": "entailment", "e": "entailment",
    "neutral": "neutral", "n": "neutral",
    "contradiction": "contradiction", "c": "contradiction",
}  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class NliPair:
    """A premise, a hypothesis, and what the first says of the second."""

    id: str
    premise: str
    hypothesis: str
    label: str
    """`entailment`, `neutral` or `contradiction`."""


@dataclass(frozen=True, kw_only=True)
class Turn:
    """One message of a conversation."""

    id: str
    """As questions name it in their evidence."""
    session: str
    speaker: str
    text: str
    said_at: datetime | None
    """UTC; the sets give no zone."""


@dataclass(frozen=True, kw_only=True)
class Question:
    """Something asked about a conversation."""

    id: str
    text: str
    answer: str
    kind: str
    evidence: tuple[str, ...]
    """Ids of turns, or of whole sessions, that hold the answer."""
    asked_at: datetime | None = None


@dataclass(frozen=True, kw_only=True)
class Conversation:
    """Turns in order, and questions about them."""

    id: str
    turns: tuple[Turn, ...]
    questions: tuple[Question, ...]


# -- inference pairs ---------------------------------------------------------------------------


def read_nli(path: Path) -> list[NliPair]:
    """Read SNLI, MultiNLI, ANLI or SICK. Pairs without an agreed label are left out.

    Raises:
        InputError: The file is of none of these formats, or not readable as it; names the line.
    """
    try:
        rows = _sick_rows(path) if path.suffix in (".tsv", ".txt") else read_jsonl(path)
        found = []
        for number, row in enumerate(rows, start=1):
            pair = _nli(row, number, path)
            if pair is not None:
                found.append(pair)
    except (json.JSONDecodeError, UnicodeDecodeError, csv.Error) as error:
        raise InputError(f"{path} can't be read: {error}") from error
    return found


def _sick_rows(path: Path) -> Iterator[dict[str, Any]]:
    with path.open(encoding="utf-8", newline="") as lines:
        yield from csv.DictReader(lines, delimiter="\t", quoting=csv.QUOTE_NONE)


_PREMISES: Final = ("sentence1", "context", "premise", "sentence_A")
_HYPOTHESES: Final = ("sentence2", "hypothesis", "sentence_B")
_LABELLED: Final = ("gold_label", "label", "entailment_label", "entailment_judgment")
_IDS: Final = ("pairID", "uid", "pair_ID")


def _nli(row: Any, number: int, path: Path) -> NliPair | None:
    if not isinstance(row, Mapping):
        raise InputError(f"{path}, row {number}: expected fields, got {row!r}")
    premise, hypothesis, label = (
        _first(row, names) for names in (_PREMISES, _HYPOTHESES, _LABELLED)
    )
    if premise is None or hypothesis is None or label is None:
        raise InputError(
            f"{path}, row {number}: it has the fields {', '.join(map(str, row))}, which are those "
            "of none of SNLI, MultiNLI, ANLI, SICK"
        )
    known = LABELS.get(str(label).strip().casefold())
    if known is None:
        if str(label).strip() in ("-", ""):
            return None  # annotators did not agree
        raise InputError(f"{path}, row {number}: unknown label {label!r}")
    return NliPair(
        id=str(_first(row, _IDS) or number), premise=premise, hypothesis=hypothesis, label=known
    )


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


# -- conversations -----------------------------------------------------------------------------


def read_conversations(path: Path) -> list[Conversation]:
    """Read LoCoMo or LongMemEval.

    Raises:
        InputError: The file is of neither format.
    """
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except (json.JSONDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} can't be read: {error}") from error
    if not isinstance(rows, list) or not rows:
        raise InputError(f"{path}: expected a list of conversations")
    try:
        if "conversation" in rows[0]:
            return [_locomo(row, number) for number, row in enumerate(rows, start=1)]
        if "haystack_sessions" in rows[0]:
            return [_longmemeval(row) for row in rows]
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{path}: a conversation lacks {error}") from error
    raise InputError(
        f"{path}: the first entry has the fields {', '.join(rows[0])}, which are those of neither "
        "LoCoMo nor LongMemEval"
    )


def _locomo(row: Mapping[str, Any], number: int) -> Conversation:
    name = str(row.get("sample_id", number))
    talk = row["conversation"]
    sessions = sorted(
        (key for key in talk if re.fullmatch(r"session_\d+", key)),
        key=lambda key: int(key.rpartition("_")[2]),
    )
    turns = [
        Turn(
            id=turn["dia_id"],
            session=session,
            speaker=turn["speaker"],
            # What a picture shows is told in a caption; without it the turn makes no sense
            text=" ".join(filter(None, (turn.get("text", ""), _picture(turn)))),
            said_at=_moment(talk.get(f"{session}_date_time", "")),
        )
        for session in sessions
        for turn in talk[session]
    ]
    questions = [
        Question(
            id=f"{name}-{place}",
            text=asked["question"],
            answer=str(asked.get("answer", asked.get("adversarial_answer", ""))),
            kind=str(asked.get("category", "")),
            evidence=tuple(_pieces(asked.get("evidence", ()))),
        )
        for place, asked in enumerate(row.get("qa", ()), start=1)
    ]
    return Conversation(id=name, turns=tuple(turns), questions=tuple(questions))


def _picture(turn: Mapping[str, Any]) -> str:
    return f"[picture: {turn['blip_caption']}]" if turn.get("blip_caption") else ""


def _pieces(evidence: Sequence[str]) -> Iterator[str]:
    """Evidence comes as "D1:3", and now and then as "D1:3; D2:4"."""
    for entry in evidence:
        yield from re.findall(r"D\d+:\d+", entry)


def _longmemeval(row: Mapping[str, Any]) -> Conversation:
    turns = []
    sessions = zip(
        row["haystack_session_ids"], row["haystack_dates"], row["haystack_sessions"], strict=True
    )
    for session, date, said in sessions:
        turns += [
            Turn(
                id=f"{session}:{place}",
                session=session,
                speaker=turn["role"],
                text=turn["content"],
                said_at=_moment(date),
            )
            for place, turn in enumerate(said, start=1)
        ]
    asked = Question(
        id=row["question_id"],
        text=row["question"],
        answer=str(row["answer"]),
        kind=row["question_type"],
        evidence=tuple(row.get("answer_session_ids", ())),
        asked_at=_moment(row.get("question_date", "")),
    )
    return Conversation(id=row["question_id"], turns=tuple(turns), questions=(asked,))


_FORMS: Final = ("%I:%M %p on %d %B, %Y", "%Y/%m/%d (%a) %H:%M", "%Y/%m/%d %H:%M")


def _moment(text: str) -> datetime | None:
    for form in _FORMS:
        try:
            return datetime.strptime(text.strip(), form).replace(tzinfo=UTC)
        except ValueError:
            continue
    return None
