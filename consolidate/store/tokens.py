"""Tokens of forgetting: what somebody has looked at, so that just that can be deleted.

A token stands for the ids that a preview showed and for the state each was in. It holds no text,
works once, for one agent, for a short time, and from any process.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final

from consolidate.errors import NotFoundError
from consolidate.serialise import canonical
from consolidate.store.base import Part
from consolidate.times import format_time

__all__ = ["TOKEN_LASTS", "TokenPart"]

TOKEN_LASTS: Final = timedelta(minutes=15)


class TokenPart(Part):
    """The store's methods for tokens."""

    def issue_token(self, agent: str, digests: Mapping[str, str], *, now: datetime) -> str:
        """Make a token for facts, each with the digest of its row; expired ones go."""
        token = f"forget-{secrets.token_hex(6)}"
        with self._db.atomic():
            self._db.write("DELETE FROM forget_tokens WHERE expires <= ?", (format_time(now),))
            self._db.write(
                "INSERT INTO forget_tokens (token, agent, facts, expires) VALUES (?, ?, ?, ?)",
                (token, agent, canonical(dict(digests)), format_time(now + TOKEN_LASTS)),
            )
        return token

    def redeem_token(self, agent: str, token: str, *, now: datetime) -> dict[str, str]:
        """Give the facts of a token with their digests, and use it up.

        Raises:
            NotFoundError: It is unknown, used, expired or of another agent.
        """
        with self._db.atomic():
            row = self._db.one(
                "SELECT facts FROM forget_tokens WHERE token = ? AND agent = ? AND expires > ?",
                (token, agent, format_time(now)),
            )
            if row is None:
                raise NotFoundError(
                    f"no preview has the token {token!r} (any more): it works once, within "
                    f"{TOKEN_LASTS.seconds // 60} minutes, for the agent that looked; look again, "
                    "nothing was deleted"
                )
            self._db.write("DELETE FROM forget_tokens WHERE token = ?", (token,))
        found: dict[str, str] = json.loads(row[0])
        return found
