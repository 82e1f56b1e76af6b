"""What commands that ask devices have in common: who answers for a record, how it is told, and the exit code."""

from __future__ import annotations

import getpass
from collections.abc import Callable, Iterable
from typing import Annotated, Any

import typer

from infra.cli import colour
from infra.cli.exits import Exit
from infra.cli.formats import Format, print_json
from infra.cli.terminal import print_text

#: Characters of a name in a file of evidence.
MOST_OF_NAME = 80
By = Annotated[
    str | None, typer.Option("--by", metavar="NAME", help="With --record: who answers for it; else the login name.")
]


def answering(given: str | None, *, keep: bool) -> str:
    """Who answers for evidence, as its files have it: whoever is named, else who runs this. Raises `BadParameter`."""
    if given is not None and not keep:
        raise typer.BadParameter("who answers for evidence is said with --record", param_hint="--by")
    if given is None:
        return _whoever_runs_this()
    if not given.strip() or len(given) > MOST_OF_NAME or not given.isprintable():
        raise typer.BadParameter(
            f"{given[:MOST_OF_NAME]!r} is no name: one line of 1 to 80 characters", param_hint="--by"
        )
    return given


def _whoever_runs_this() -> str:
    try:
        return getpass.getuser()
    except (KeyError, OSError):
        return "nobody named"


def tell(form: Format, as_json: Callable[[], Any], as_text: Callable[[bool], str]) -> None:
    """Print a survey; `as_text` is told whether colours are wanted."""
    if form is Format.JSON:
        print_json(as_json())
    else:
        print_text(as_text(colour.wanted()))


def exit_of(values: Iterable[bool | None], *, is_unread: bool) -> Exit:
    """Of what was found: False is not as it should be, None is not known. A device that was not read is worse."""
    if is_unread:
        return Exit.ENVIRONMENT
    found = set(values)
    return Exit.VIOLATED if False in found else Exit.NOT_PROVABLE if None in found else Exit.PROVED
