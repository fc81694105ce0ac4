"""How errors reach the user: one or two lines on standard error, an exit code, no traceback."""

from __future__ import annotations

import errno
import os
import sys
from typing import Any

import typer
from typer.core import TyperGroup

from consolidate.cli.text import visible
from consolidate.errors import ConsolidateError, InputError, SettingsError

__all__ = ["ErrorsToExitCodes", "UsageError", "complain"]

FAILED = 1
MISUSED = 2  # as Typer has it
INTERRUPTED = 130  # what a shell reports for Ctrl-C


class UsageError(InputError):
    """The value of an option is wrong, which Typer could not see."""


class ErrorsToExitCodes(TyperGroup):
    """The root of the commands: turns what they raise into messages and exit codes.

    Wrong usage is found by Typer before and exits with 2.
    """

    def parse_args(self, ctx: typer.Context, args: list[str]) -> list[str]:  # type: ignore[override]  # the base names a class that Typer does not export
        """Note whether JSON was asked for: errors are then a document too."""
        ctx.meta["consolidate.json"] = "--json" in args
        return super().parse_args(ctx, args)

    def invoke(self, ctx: typer.Context) -> Any:  # type: ignore[override]  # as above
        """Run a command."""
        try:
            return super().invoke(ctx)
        except ConsolidateError as error:
            raise self._exit(ctx, error, _lines(error)) from error
        except KeyboardInterrupt as error:
            complain(
                "Interrupted. A run is applied as a whole or not at all; nothing is half done."
            )
            raise typer.Exit(INTERRUPTED) from error
        except OSError as error:
            if error.errno == errno.EPIPE:  # the reader, such as `head`, has seen enough
                raise
            raise self._exit(ctx, error, [_os_message(error)]) from error
        except Exception as error:
            if isinstance(error, typer.Exit | typer.Abort) or _is_usage(error) or _debugging():
                raise
            lines = [
                f"unexpected {type(error).__name__}: {error}",
                "this is a mistake in consolidate; CONSOLIDATE_DEBUG=1 shows where",
            ]
            raise self._exit(ctx, error, lines) from error

    def _exit(self, ctx: typer.Context, error: Exception, lines: list[str]) -> typer.Exit:
        if ctx.meta.get("consolidate.json"):
            from consolidate.cli.render import write_json

            write_json({"error": {"kind": type(error).__name__, "message": "; ".join(lines)}})
        for line in lines:
            complain(f"Error: {line}")
        return typer.Exit(MISUSED if isinstance(error, UsageError) else FAILED)


def complain(line: str) -> None:
    """Write one line to standard error."""
    sys.stdout.flush()  # keeps the order when both go to one terminal
    typer.echo(visible(line), err=True)


def _lines(error: ConsolidateError) -> list[str]:
    if isinstance(error, SettingsError):
        return list(error.problems)
    return str(error).splitlines()  # addresses and paths to copy have lines of their own


def _os_message(error: OSError) -> str:
    where = f"{error.filename}: " if error.filename else ""
    return f"{where}{error.strerror or error}"


def _is_usage(error: Exception) -> bool:
    # Usage errors show themselves and exit with 2; their class is not exported by every version.
    return hasattr(error, "exit_code") and hasattr(error, "show")


def _debugging() -> bool:
    return bool(os.environ.get("CONSOLIDATE_DEBUG"))
