"""Reads facts out of a text with a language model."""

from __future__ import annotations

from datetime import datetime

from consolidate.backends.llm.facts import FactReader
from consolidate.memory.extraction import Claim
from consolidate.memory.persons import with_name
from consolidate.protocols import LanguageModel

__all__ = ["read_with_model"]

_SAID_AS: int = 500
"""Characters of the text up to which a fact keeps the words it was read from."""


def read_with_model(
    model: LanguageModel | None, text: str, *, said_at: datetime, speaker: str
) -> list[Claim] | str:
    """Read facts; a text says why there is no usable answer.

    Raises:
        BackendError: The model can't be asked at all.
    """
    if model is None:
        return "none is configured"
    found = FactReader(model).read(text, said_at=said_at, speaker=with_name(speaker))
    if isinstance(found, str):
        return found
    # The words are kept with one fact alone: forgetting it must not leave them with another.
    words = found[0].part if len(found) == 1 and len(found[0].part) <= _SAID_AS else ""
    return [
        Claim(
            text=fact.text,
            kind=fact.kind,
            intensity=fact.intensity,
            said=words or fact.text,
        )
        for fact in found
    ]
