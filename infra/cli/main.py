"""The `interlock` command: data on stdout, messages on stderr, exit codes of `infra.cli.exits`."""

from __future__ import annotations

import os
import sys
import traceback
from typing import Annotated

import typer

from infra.cli import debugging, streams
from infra.cli.command_group import HELP_OPTIONS, CommandGroup
from infra.cli.exits import EXITS, Exit, Interrupted
from interlock import __version__
from interlock.garbage import collect_seldom
from interlock.vocabulary import InterlockError

app = typer.Typer(
    name="interlock",
    cls=CommandGroup,
    help="Proves that tenants of AI clusters stay apart, before `pulumi up` touches anything.",
    no_args_is_help=True,
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings=HELP_OPTIONS,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(__version__)
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", callback=debugging.begin_if, is_eager=True, help="As after a command: show requests."),
    ] = False,
) -> None:
    """Options that stand before a command."""


def main() -> None:
    """Entry point; turns exceptions into one clear message and the right exit code."""
    collect_seldom()
    streams.prepare()
    try:
        try:
            _run()
        finally:
            sys.stdout.flush()  # what is still held back may meet a closed pipe or a full disk too
    except BrokenPipeError:
        streams.leave()
        sys.exit(Exit.UNREAD)
    except OSError as error:
        if not streams.is_unwritable(error):
            raise
        print(f"stdout cannot be written: {os.strerror(error.errno or 0)}; there is no verdict", file=sys.stderr)
        streams.leave()
        sys.exit(Exit.ENVIRONMENT)


def _run() -> None:
    try:
        _command()
    except BrokenPipeError:
        raise
    except Interrupted as error:
        _stop(f"interrupted: {error}", Exit.INTERRUPTED)
    except InterlockError as error:
        _stop(str(error), EXITS[error.kind])
    except KeyboardInterrupt:
        _stop("interrupted", Exit.INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - Python's own exit code for a defect, 1, would read as "violated"
        _fail(error)


def _fail(error: Exception) -> None:
    """Say what was wrong, and end; a stdout that is full is told by `main`."""
    if isinstance(error, OSError) and streams.is_unwritable(error):
        # Typer was telling a wrong word on a full stderr: its exit code counts all the same.
        if code := getattr(error.__context__, "exit_code", 0):
            sys.exit(code)
        raise error
    _stop(f"{traceback.format_exc()}this is a defect of interlock; please report it", Exit.ENVIRONMENT)


def _command() -> None:
    """Run what the command line names. Raises `BrokenPipeError` if nobody reads what it prints."""
    try:
        # `./run` starts us as a module, and help shall not call us `python -m infra.cli`.
        app(prog_name="interlock")
    except SystemExit as ended:
        # Typer ends with 1 after a closed pipe, which would read as "violated".
        if isinstance(ended.__context__, BrokenPipeError):
            raise ended.__context__ from None
        raise


def _stop(message: str, code: Exit) -> None:
    if debugging.is_on() and (error := sys.exception()):
        from interlock.provider.redaction import REDACTOR

        print(REDACTOR.redact("".join(traceback.format_exception(error))), file=sys.stderr)
    print(message, file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
