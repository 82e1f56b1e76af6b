"""The `interlock` command: data on stdout, messages on stderr, exit codes of `infra.cli.exits`."""

from __future__ import annotations

import io
import os
import sys
import traceback
from typing import Annotated

import typer

from infra.cli.command_group import HELP_OPTIONS, CommandGroup
from infra.cli.exits import EnvironmentFailed, Exit
from interlock import __version__

app = typer.Typer(
    name="interlock",
    cls=CommandGroup,
    help="Proves that tenants of AI clusters stay apart, before `pulumi up` touches anything.",
    no_args_is_help=True,
    add_completion=False,
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
) -> None:
    """Options that stand before a command."""


def main() -> None:
    """Entry point; turns exceptions into one clear message and the right exit code."""
    _require_streams()
    try:
        try:
            _run()
        finally:
            sys.stdout.flush()  # what is still held back may meet a closed pipe too
    except BrokenPipeError:
        _leave_unread()


def _require_streams() -> None:
    """Where a caller closed one of them, as `>&-` does, what we say goes nowhere; the exit code still counts."""
    sys.stdout = sys.stdout or io.StringIO()
    sys.stderr = sys.stderr or io.StringIO()


def _run() -> None:
    try:
        _command()
    except EnvironmentFailed as error:
        _stop(str(error), Exit.ENVIRONMENT)
    except BrokenPipeError:
        raise
    except KeyboardInterrupt:
        _stop("interrupted", Exit.INTERRUPTED)
    except Exception as error:  # noqa: BLE001 - Python's own exit code for a defect, 1, would read as "violated"
        if _is_wrong_input(error):
            _stop(str(error), Exit.INPUT)
        if _is_environment(error):
            _stop(str(error), Exit.ENVIRONMENT)
        _stop(f"{traceback.format_exc()}this is a defect of interlock; please report it", Exit.ENVIRONMENT)


def _is_wrong_input(error: Exception) -> bool:
    """True if it says what is wrong with files. Imported here: help must not wait for the models."""
    from infra.program.gate import NotPlanned
    from interlock.model.text.errors import InputErrors

    return isinstance(error, (InputErrors, NotPlanned))


def _is_environment(error: Exception) -> bool:
    """True if a store or a cloud failed, or refuses."""
    from interlock.provider.errors import Failure
    from interlock.store.objects import StoreFailed

    return isinstance(error, (StoreFailed, Failure))


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


def _leave_unread() -> None:
    """End as a program does that is killed by writing into a closed pipe."""
    # Python flushes both once more at its end, and would complain.
    nowhere = os.open(os.devnull, os.O_WRONLY)
    for descriptor in (1, 2):
        os.dup2(nowhere, descriptor)
    sys.exit(Exit.UNREAD)


def _stop(message: str, code: Exit) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)


if __name__ == "__main__":
    main()
