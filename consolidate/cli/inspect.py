"""Commands that look at the set-up: settings."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

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
from consolidate.errors import ConsolidateError

if TYPE_CHECKING:
    from consolidate.calibration.policy import InForce
    from consolidate.settings import Settings

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
    effective: dict[str, Any] = {
        "database": str(ctx.path),
        "threads": chosen.workers,
        "max_false_merge": chosen.false_merge_rate,
        "max_false_supersede": chosen.false_supersede_rate,
    }
    band, trouble = _band(chosen)
    if band is not None:
        effective |= {
            "merge_threshold": band.policy.merge,
            "supersede_threshold": band.policy.supersede,
            "review_threshold": band.policy.review,
        }
    if as_json:
        write_json(
            {
                "settings": chosen.values(),
                "origins": origins,
                "effective": effective,
                "band": _band_data(band) if band else {"unknown": trouble},
                "digest": chosen.digest(),
            }
        )
        return
    rows = [(key, _shown(value), origins[key]) for key, value in chosen.values().items()]
    draw(table(["setting", "value", "from"], rows))
    heading("What follows from them")
    if band is None:
        draw(table(["what", "value"], effective.items()))
        say(f"The thresholds can't be told: {trouble}")
        return
    plain = {key: value for key, value in effective.items() if not key.endswith("_threshold")}
    draw(table(["what", "value"], plain.items()))
    heading("How sure the judge must be")
    numbers = [(act, getattr(band.policy, act), why) for act, why in band.origins.items()]
    draw(table(["to", "from", "why"], numbers, grow="why"))
    for line in _about(band):
        say(line)


def _band(chosen: Settings) -> tuple[InForce | None, str]:
    """What is in force for the classifier, or why that can't be told."""
    from consolidate.backends import Options, resolve_classifier
    from consolidate.calibration.policy import in_force

    try:
        model = resolve_classifier(chosen.classifier, options=Options.of(chosen))
        return in_force(chosen, model), ""
    except ConsolidateError as error:
        return None, str(error)


def _band_data(band: InForce) -> dict[str, Any]:
    made = band.found.calibration
    return {
        **band.policy.values(),
        "why": dict(band.origins),
        "calibration": None if band.found.path is None else str(band.found.path),
        "labels": None if made is None else made.labels,
        "passed_over": list(band.found.passed_over),
    }


def _about(band: InForce) -> list[str]:
    """Where the band came from, in sentences."""
    lines = []
    made = band.found.calibration
    if made is not None:
        lines.append(
            f"Calibrated on {made.labels} labelled pairs, {made.made}, for {made.model}: "
            f"{band.found.path}"
        )
        for act, each in band.chosen.items():
            asks = sorted(made.languages.keys() - each.languages)
            held = getattr(band.policy, f"{act}_languages") is not None
            if held:
                acts = ", ".join(sorted(each.languages)) or "none"
                lines.append(
                    f"Languages it may {act} in: {acts}; asks in: {', '.join(asks)}, others"
                )
    lines += [f"Not used: {reason}" for reason in band.found.passed_over]
    return lines


def _shown(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, dict):
        return ", ".join(f"{key}={what}" for key, what in value.items()) or "-"
    return str(value).lower() if isinstance(value, bool) else str(value)
