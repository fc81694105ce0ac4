"""The command `calibrate`: thresholds from the user's own labels."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from consolidate.cli.common import Agent, Assign, Db, Json, Profile, Timezone, context, utc_now
from consolidate.cli.errors import complain
from consolidate.cli.progress import watched
from consolidate.cli.render import draw, heading, say, table, write_json
from consolidate.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from consolidate.calibration.band import Chosen
    from consolidate.calibration.curve import Act
    from consolidate.calibration.record import Calibration
    from consolidate.settings import Settings

__all__ = ["calibrate"]

_COMPLAINTS = 20
_SHOWN = (0.5, 0.6, 0.7, 0.8, 0.85, 0.9, 0.92, 0.94, 0.96, 0.98)


def calibrate(
    file: Annotated[
        str,
        typer.Argument(
            metavar="FILE",
            help="Labelled pairs, one JSON object a line: a, b, relation, and a_time, b_time, "
            "winner where known. 'review export' writes such a file.",
        ),
    ],
    preview: Annotated[
        bool, typer.Option("--preview", help="Say what would come of it; keep nothing.")
    ] = False,
    profile: Profile = None,
    timezone: Timezone = None,
    assign: Assign = None,
    db: Db = None,
    agent: Agent = None,
    as_json: Json = False,
) -> None:
    """Choose how sure the judge must be from your own labelled pairs.

    The false rates to keep to are the settings max_false_merge and max_false_supersede, or the
    profile's. What comes out holds for this model file alone and goes before the calibration that
    came with the model; delete the file to go back.
    """
    from consolidate.backends import Backends
    from consolidate.calibration.band import choose, review_from
    from consolidate.calibration.labels import judged, read_labels
    from consolidate.calibration.measure import made_of
    from consolidate.calibration.record import ACTS
    from consolidate.calibration.shelf import keep, own_path

    ctx = context(db, agent, as_json, assign=assign, profile=profile, timezone=timezone)
    path = Path(file)
    if not path.is_file():
        raise InputError(f"there is no file {file!r}")
    content = path.read_bytes()
    labels, broken = read_labels(content, zone=ctx.settings.timezone or "UTC")
    for number, error in broken[:_COMPLAINTS]:
        complain(f"line {number}: {error}")
    if len(broken) > _COMPLAINTS:
        complain(f"and {len(broken) - _COMPLAINTS} more")
    backends = Backends.load(ctx.settings)
    with watched(as_json) as progress:
        scored, without = judged(labels, backends, slots=ctx.settings.slots, progress=progress)
    made = made_of(
        {"labels": scored},
        model=backends.classifier.identity,
        extractor=backends.extractor.identity,
        made=utc_now().date().isoformat(),
        data={path.name: hashlib.sha256(content).hexdigest()},
    )
    _refuse_too_few(made, ctx.settings)
    chosen = {act: choose(made, act, _rates(ctx.settings)[act]) for act in ACTS}
    review = review_from(made, chosen)
    target = own_path(made.model)
    if not preview:
        keep(made, target)
    if as_json:
        write_json(
            {
                "model": made.model,
                "labels": len(scored),
                "broken": len(broken),
                "without_verdict": len(without),
                "merge": _facts(chosen["merge"]),
                "supersede": _facts(chosen["supersede"]),
                "review_threshold": review,
                "kept": None if preview else str(target),
            }
        )
        return
    say(f"{len(scored)} labelled pairs, judged by {made.model}")
    if broken or without:
        say(
            f"Left out: {len(broken)} broken lines, {len(without)} pairs that are repeats word "
            "for word or that the model failed on"
        )
    _draw(made, chosen, review)
    if preview:
        say("Nothing was kept.")
    else:
        say(f"Kept in {target}; it is in force from the next run on. Delete it to go back.")


def _rates(settings: Settings) -> dict[str, float]:
    return {"merge": settings.false_merge_rate, "supersede": settings.false_supersede_rate}


def _refuse_too_few(made: Calibration, settings: Settings) -> None:
    """Refuse labels that could not support the wished rates even without one mistake.

    Raises:
        InputError: It says how many are needed.
    """
    from consolidate.calibration.bound import labels_needed
    from consolidate.calibration.record import ACTS

    not_wanted = {"merge": "not 'equivalent'", "supersede": "not 'contradicts'"}
    problems = []
    for act in ACTS:
        rate, there = _rates(settings)[act], made.sources["labels"][act].forbidden
        needed = labels_needed(rate)
        if there < needed:
            problems.append(
                f"max_false_{act} = {rate:g} needs at least {needed} pairs that are "
                f"{not_wanted[act]}, and there are {there}"
            )
    if problems:
        raise InputError(
            f"too few labels: {'; '.join(problems)}; label more, or accept a higher rate with "
            "--set max_false_merge=... and --set max_false_supersede=..."
        )


def _facts(chosen: Chosen) -> dict[str, object]:
    return {
        "threshold": chosen.threshold,
        "wished": chosen.wished,
        "bound": chosen.bound,
        "holds": chosen.holds,
        "wrong": chosen.wrong,
        "forbidden": chosen.forbidden,
        "caught": chosen.caught,
        "languages": sorted(chosen.languages),
    }


def _draw(made: Calibration, chosen: Mapping[Act, Chosen], review: float) -> None:
    from consolidate.calibration.curve import GRID
    from consolidate.calibration.record import ACTS

    heading("The band")
    rows: list[tuple[str, ...]] = [
        (act, f"{each.threshold:.3f}", f"{each.caught:.0%}", each.sentence)
        for act, each in chosen.items()
    ]
    rows.append(("review", f"{review:.3f}", "", "from there on questions are worth asking"))
    draw(table(["act", "from", "done of what should be", "why"], rows, grow="why"))
    heading("Risk and coverage")
    columns = ["from", "merged", "wrongly", "at most", "superseded", "wrongly ", "at most "]
    lines = []
    for threshold in _SHOWN:
        step = GRID.index(threshold)
        line = [f"{threshold:.2f}"]
        for act in ACTS:
            curve = made.sources["labels"][act]
            line += [
                f"{curve.right[step]} of {curve.wanted}",
                f"{curve.wrong[step]} of {curve.forbidden}",
                f"{curve.bound(step):.2%}",
            ]
        lines.append(line)
    draw(table(columns, lines, right=columns))
    heading("Languages")
    draw(
        table(
            ["language", "pairs", "merges", "supersedes"],
            [
                (
                    language,
                    curves["merge"].forbidden + curves["merge"].wanted,
                    *("yes" if language in chosen[act].languages else "asks" for act in ACTS),
                )
                for language, curves in made.languages.items()
            ],
            right=["pairs"],
        )
    )
