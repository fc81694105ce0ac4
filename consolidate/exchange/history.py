"""Facts with a past from foreign files: ids that a second import meets again, and who ended whom.

An id is made from the format, the agent, the id in the file and what is said, so that the same file
gives the same ids, and a text that was changed there comes in as a fact of its own.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from consolidate.errors import InputError
from consolidate.judge.trust import default_trust
from consolidate.store import fact_hash
from consolidate.types import Fact, FactStatus

__all__ = ["foreign_id", "past_fact"]


def foreign_id(form: str, agent: str, given: Any, *parts: str) -> str:
    """The id of a fact from elsewhere.

    Args:
        form: Name of the format.
        agent: Whose fact.
        given: The id in the file, if there is one.
        parts: What else tells the fact from others.
    """
    key = "\0".join((form, agent, str(given or ""), *parts))
    return f"{form}-{hashlib.sha256(key.encode('utf-8', 'surrogatepass')).hexdigest()[:24]}"


def past_fact(
    *,
    fact_id: str,
    agent: str,
    text: str,
    source: str,
    now: datetime,
    kind: str = "fact",
    metadata: Mapping[str, Any] | None = None,
    stated_at: datetime | None = None,
    valid_from: datetime | None = None,
    valid_to: datetime | None = None,
    ended: bool = False,
    superseded_by: str | None = None,
    intensity: float = 0.5,
    access_count: int = 0,
    last_access: datetime | None = None,
) -> Fact:
    """Make a fact that may be retired: superseded if it has `ended` or has a successor.

    `now` is when it is recorded; the other arguments are the fact's own.

    Raises:
        InputError: It ends before it begins.
    """
    if valid_from is not None and valid_to is not None and valid_to < valid_from:
        raise InputError(
            f"it ends ({valid_to.isoformat()}) before it begins ({valid_from.isoformat()})"
        )
    return Fact(
        id=fact_id,
        agent=agent,
        kind=kind,
        text=text,
        metadata=dict(metadata or {}),
        stated_at=stated_at,
        valid_from=valid_from,
        valid_to=valid_to,
        recorded_at=now,
        source=source,
        trust=default_trust(source),
        intensity=min(1.0, max(0.0, intensity)),
        access_count=access_count,
        last_access=last_access,
        content_hash=fact_hash(text),
        status=FactStatus.SUPERSEDED if ended or superseded_by else FactStatus.ACTIVE,
        superseded_by=superseded_by,
    )
