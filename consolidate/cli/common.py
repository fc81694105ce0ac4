"""What every command shares: options, settings, the store, the clock.

Heavy modules are imported inside functions: `consolidate --help` must not wait for them.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from consolidate.cli.errors import UsageError, complain
from consolidate.errors import InputError, SettingsError
from consolidate.settings import Resolved, Settings, resolve

if TYPE_CHECKING:
    from consolidate.memory.memory import Memory
    from consolidate.store import Store

__all__ = [
    "Agent",
    "Assign",
    "Context",
    "Db",
    "Json",
    "Profile",
    "Timezone",
    "context",
    "hint_at_agents",
    "utc_now",
]

Db = Annotated[
    str | None,
    typer.Option(
        "--db",
        metavar="PATH",
        help="The database; else CONSOLIDATE_DB, the settings file, or the data folder.",
        show_default=False,
    ),
]
Agent = Annotated[
    str | None,
    typer.Option(
        "--agent", metavar="NAME", help="Whose memory it is; else 'default'.", show_default=False
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Write one JSON document instead.")]
Timezone = Annotated[
    str | None,
    typer.Option(
        "--timezone",
        metavar="ZONE",
        help="Zone of times without offset, such as Europe/Athens.",
        show_default=False,
    ),
]
Profile = Annotated[
    str | None,
    typer.Option(
        "--profile",
        metavar="NAME",
        help="How sure is sure enough: careful, balanced or eager.",
        show_default=False,
    ),
]
Assign = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="KEY=VALUE",
        help="Set any setting for this call; may be repeated.",
        show_default=False,
    ),
]


@dataclass(frozen=True, kw_only=True)
class Context:
    """Settings of this call, and what is made from them."""

    resolved: Resolved
    as_json: bool

    @property
    def settings(self) -> Settings:
        """The settings."""
        return self.resolved.settings

    @property
    def agent(self) -> str:
        """Whose memory is worked on."""
        return self.settings.agent

    @property
    def path(self) -> Path:
        """The database file."""
        return self.settings.database

    def spare(self, target: Path) -> None:
        """Refuse to write a file over the database.

        Raises:
            InputError: It is the database.
        """
        if target.exists() and self.path.exists() and target.samefile(self.path):
            raise InputError(f"{str(target)!r} is the database itself; name another file")

    @contextmanager
    def store(self, *, create: bool = False) -> Iterator[Store]:
        """Open the store; `create` makes file and folder where there are none."""
        from consolidate.store import Store

        if create and not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with Store.open(self.path, create=create) as store:
            yield store

    @property
    def locked(self) -> bool:
        """Whether the store lies where nobody may write."""
        places = (self.path, self.path.parent)
        return any(place.exists() and not os.access(place, os.W_OK) for place in places)

    @contextmanager
    def reading(self) -> Iterator[Store]:
        """Open the store to look at it: works in a folder where nobody may write, too."""
        from consolidate.store import Store

        with Store.open(self.path, create=False, read_only=self.locked) as store:
            yield store

    @contextmanager
    def memory(self, *, create: bool = False) -> Iterator[Memory]:
        """Open the agent's memory; one that may not be written is read."""
        from consolidate.memory import open_memory

        if create and not self.path.exists():
            self.path.parent.mkdir(parents=True, exist_ok=True)
        with open_memory(
            self.path,
            self.agent,
            settings=self.settings,
            create=create,
            read_only=self.locked and not create,
        ) as memory:
            yield memory


def context(
    db: str | None,
    agent: str | None,
    as_json: bool,
    *,
    assign: Sequence[str] | None = None,
    **options: Any,
) -> Context:
    """Resolve the settings of a call.

    Args:
        db: Value of `--db`.
        agent: Value of `--agent`.
        as_json: Whether `--json` was given.
        assign: Values of `--set`.
        options: Other options that are settings; None is not given.

    Raises:
        UsageError: The value of an option is wrong, and nothing else is.
        SettingsError: Something else is wrong too, or alone.
    """
    cli: dict[str, Any] = {"db": db, "agent": agent, **options}
    try:
        resolved = resolve(cli=cli, assigned=_assigned(assign or ()))
    except SettingsError as error:
        if all(problem.startswith("--") for problem in error.problems):
            raise UsageError("\n".join(error.problems)) from error
        raise
    return Context(resolved=resolved, as_json=as_json)


def hint_at_agents(agent: str, agents: Iterable[str]) -> None:
    """Say which agents there are, if this one has no facts: its name may be mistyped."""
    there = list(agents)
    if agent not in there:
        others = f"; there are {', '.join(there)}" if there else ""
        complain(f"Note: agent {agent!r} has no facts{others}")


def utc_now() -> datetime:
    """The one clock of the command line."""
    return datetime.now(UTC)


def _assigned(parts: Sequence[str]) -> dict[str, str]:
    given = {}
    for part in parts:
        key, equals, value = part.partition("=")
        if not equals:
            raise typer.BadParameter(f"{part!r} is not KEY=VALUE", param_hint="--set")
        given[key.strip().replace("-", "_")] = value.strip()
    return given
