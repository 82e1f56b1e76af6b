"""`interlock preflight`: ask the cloud, read-only, for all that would fail later."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from infra.exits import Exit
from infra.gate import Gate, NotProved
from infra.summary import refusal
from interlock.provider.preflight import preflight as ask


def preflight(
    tenant: Annotated[str | None, typer.Argument(help="A tenant; without one the operator's own stack.")] = None,
    site: Annotated[str, typer.Option("--site", "-s", help="Folder of the site below stacks/.")] = "lyon",
) -> None:
    """Name everything on the cloud that would make `pulumi up` fail: token, quota, images, flavours, hosts, VFs.

    Reads only. `pulumi up` does the same before its first call.

    Exit code: 0 nothing stands in the way, 1 or 3 the plan is not proved, 2 wrong input, 4 the cloud has faults.

    Examples:

      interlock preflight acme

      interlock preflight --site lyon
    """
    gate = Gate.open(site)
    try:
        admission = gate.admission(gate.prove(tenant))
    except NotProved as error:
        print(refusal(error.judgement), file=sys.stderr)
        raise typer.Exit(error.judgement.exit_code) from None
    faults = ask(admission)
    for fault in faults:
        print(fault)
    raise typer.Exit(Exit.ENVIRONMENT if faults else Exit.PROVED)
