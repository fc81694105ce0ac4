"""The records that a memory hands out. Frozen, keyword-only, no behaviour."""

from __future__ import annotations

__all__: list[str] = []
