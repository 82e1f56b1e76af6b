"""`interlock sandbox`: look after the embedded cloud."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from infra.cli.exits import EnvironmentFailed
from infra.program.places import ROOT
from infra.stack import foreground


def supervise(*arguments: str) -> int:
    """Run the sandbox's supervisor; its exit code.

    A program of its own, with packages of its own, so that nothing of it is ever imported here.
    """
    supervisor = ROOT / "sandbox" / "supervisor.py"
    if not supervisor.is_file():
        raise EnvironmentFailed("the embedded OpenStack is part of a checkout, not of the installed package")
    return foreground.run([sys.executable, supervisor, *arguments])


def _words(incomplete: str) -> list[str]:
    """The supervisor's commands, for shell completion."""
    return [word for word in ("up", "down", "status", "enrol", "reset", "install") if word.startswith(incomplete)]


def sandbox(
    words: Annotated[
        list[str] | None,
        typer.Argument(metavar="COMMAND", autocompletion=_words, help="up, down, status, enrol, reset."),
    ] = None,
) -> None:
    """Manage the embedded OpenStack (up, down, status, enrol, reset)."""
    raise typer.Exit(supervise(*(words or ())))
