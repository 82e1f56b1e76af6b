"""`interlock sandbox`: look after the embedded cloud."""

from __future__ import annotations

import sys

import typer

from infra.program.places import ROOT
from infra.stack import foreground


def supervise(*arguments: str) -> int:
    """Run the sandbox's supervisor; its exit code.

    A program of its own, with packages of its own, so that nothing of it is ever imported here.
    """
    return foreground.run([sys.executable, ROOT / "sandbox" / "supervisor.py", *arguments])


def sandbox(context: typer.Context) -> None:
    """Look after the embedded OpenStack (up, down, status, reset)."""
    raise typer.Exit(supervise(*context.args))
