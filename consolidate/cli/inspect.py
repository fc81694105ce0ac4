"""Commands that look at the set-up: settings, models list."""

from __future__ import annotations

from typing import Any

import typer

from consolidate.cli.common import (
    Agent,
    Assign,
    Db,
    Json,
    Profile,
    Timezone,
    context,
)
from consolidate.cli.render import draw, heading, say, table, write_json

__all__ = ["models", "settings"]

models = typer.Typer(help="See which models are used.", no_args_is_help=True, rich_markup_mode=None)


@models.callback()
def _models() -> None:
    """See which models are used."""


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


@models.command(name="list")
def list_models(
    assign: Assign = None, db: Db = None, agent: Agent = None, as_json: Json = False
) -> None:
    """List the models in use, and the bundled ones with their files. Loads none of them."""
    from consolidate.backends.files import bundled_names

    ctx = context(db, agent, as_json, assign=assign)
    used = [_used(role, getattr(ctx.settings, role), ctx.settings) for role in _ROLES]
    bundled = [_bundled(name) for name in bundled_names()]
    if as_json:
        write_json({"models": used, "bundled": bundled})
        return
    rows = [(m["role"], m["spec"], m["identity"] or f"unusable: {m['problem']}") for m in used]
    draw(table(["role", "setting", "model"], rows, grow="model"))
    heading("Bundled")
    if not bundled:
        say("None: the package consolidate-weights is not installed.")
        return
    columns = ["name", "model", "for", "MB", "licence", "folder"]
    files = [
        (m["name"], m["model"], m["task"], f"{m['bytes'] / 1e6:.1f}", m["licence"], m["folder"])
        for m in bundled
    ]
    draw(table(columns, files, right=["MB"]))


_ROLES = ("embedder", "extractor", "classifier")


def _used(role: str, spec: str, chosen: Any) -> dict[str, str | None]:
    from consolidate import backends
    from consolidate.errors import ConsolidateError

    try:
        options = backends.Options.of(chosen)
        model = getattr(backends, f"resolve_{role}")(spec, options=options)
    except ConsolidateError as error:
        return {"role": role, "spec": spec, "identity": None, "problem": str(error)}
    return {"role": role, "spec": spec, "identity": model.identity, "problem": None}


def _bundled(name: str) -> dict[str, Any]:
    from consolidate.backends.files import MANIFEST, bundled_folder, read_json

    folder = bundled_folder(name)
    manifest = read_json(folder / MANIFEST)
    files = manifest.get("files", {})
    return {
        "name": name,
        "model": manifest.get("name"),
        "task": manifest.get("task"),
        "licence": manifest.get("licence") or manifest.get("license"),
        "folder": str(folder),
        "bytes": sum(entry["size"] for entry in files.values()),
        "sha256": {file: entry["sha256"] for file, entry in files.items()},
    }


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key}={what}" for key, what in value.items()) or "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
