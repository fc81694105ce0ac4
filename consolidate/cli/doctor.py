"""The command `doctor`."""

from __future__ import annotations

import typer

from consolidate.cli.common import Agent, Assign, Db, Json, context, utc_now
from consolidate.cli.render import draw, say, table, write_json

__all__ = ["doctor"]


def doctor(
    assign: Assign = None, db: Db = None, agent: Agent = None, as_json: Json = False
) -> None:
    """Check this machine, the models and the database; exits with 1 if something fails."""
    from consolidate.checkup import Verdict, check_up

    ctx = context(db, agent, as_json, assign=assign)
    checks = list(check_up(ctx.settings, now=utc_now()))
    failed = [check for check in checks if check.verdict is Verdict.FAIL]
    if as_json:
        write_json({"sound": not failed, "checks": checks})
    else:
        rows = [(check.verdict, check.name, check.detail) for check in checks]
        draw(table(["", "what", "found"], rows, grow="found"))
        for check in checks:
            if check.remedy:
                say(f"{check.verdict} {check.name}: {check.remedy}")
        say("Something is wrong." if failed else "All that is needed is there.")
    if failed:
        raise typer.Exit(1)
