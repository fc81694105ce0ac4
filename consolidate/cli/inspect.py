"""Commands that look at the set-up: settings."""

from __future__ import annotations

from typing import Any

from consolidate.cli.common import (
    Agent,
    Assign,
    Db,
    Json,
    Profile,
    Timezone,
    context,
)
from consolidate.cli.render import draw, heading, table, write_json

__all__ = ["settings"]


def settings(
    profile: Profile = None,
    timezone: Timezone = None,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Show every setting, its value, and where the value came from."""
    ctx = context(db, agent, as_json, assign=assign, profile=profile, timezone=timezone)
    chosen, origins = ctx.settings, ctx.resolved.origins
    effective = {
        "database": str(ctx.path),
        "merge_threshold": chosen.merge_at,
        "supersede_threshold": chosen.supersede_at,
        "review_threshold": chosen.review_at,
        "threads": chosen.workers,
    }
    if as_json:
        write_json(
            {
                "settings": chosen.values(),
                "origins": origins,
                "effective": effective,
                "digest": chosen.digest(),
            }
        )
        return
    rows = [(key, _shown(value), origins[key]) for key, value in chosen.values().items()]
    draw(table(["setting", "value", "from"], rows))
    heading("What follows from them")
    draw(table(["what", "value"], effective.items()))


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key}={what}" for key, what in value.items()) or "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
