"""`interlock sandbox`: look after the embedded cloud."""

from __future__ import annotations

import subprocess
import sys

import typer

from infra.places import ROOT


def sandbox(context: typer.Context) -> None:
    """The embedded OpenStack: `up`, `down`, `status`, `reset`, `install`; `interlock sandbox --help` says more."""
    # A program of its own, with packages of its own, so that nothing of it is ever imported here.
    command = [sys.executable, str(ROOT / "sandbox" / "supervisor.py"), *context.args]
    raise typer.Exit(subprocess.run(command, check=False).returncode)
