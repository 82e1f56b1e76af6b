"""`interlock preflight`: ask the cloud, read-only, for all that would fail later."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_json
from infra.cli.terminal import print_text
from infra.commands.options import Site, Tenant
from infra.program.gate import Gate
from infra.program.refusal import note
from policies import NotProved
from policies.findings.report import as_message


def preflight(
    tenant: Tenant = None,
    site: Site = "",
    form: Annotated[Format, format_option("preflight")] = Format.TEXT,
) -> None:
    """Name everything on the cloud that would make `pulumi up` fail.

    Token, region, members, quota, images, flavours, hosts, virtual functions. Reads only; `pulumi up` does the same
    before its first call.

    \b
    Exit code:
      0  nothing stands in the way
      1  the plan is violated
      2  the input is wrong
      3  the plan is not provable
      4  the cloud has faults, a line each

    \b
    Examples:
      interlock preflight
      interlock preflight acme
      interlock preflight acme --format json
      interlock preflight acme --debug
    """
    # Imported here: the cloud's client takes as long to load as everything else together.
    from infra.program.foreign_partitions import of_foreign_partitions
    from infra.program.looking import by_hand
    from infra.program.recorded import of_the_claims
    from interlock.provider.clouds import Cloud
    from interlock.provider.preflight import preflight as ask

    gate = Gate.indexed(site)
    try:
        proof = gate.prove(tenant)
    except NotProved as error:
        print(as_message(error.judgement), file=sys.stderr)
        raise typer.Exit(error.judgement.exit_code) from None
    if said := note(proof.plan, proved=True):
        print(said, file=sys.stderr)
    # Several looks may meet the same fault, such as a service that is not there.
    admission = gate.admission(proof)
    found = [*by_hand(gate, tenant), *ask(admission), *of_the_claims(gate.workspace.site, admission)]
    found += of_foreign_partitions(gate, admission, Cloud(admission.cloud, site_region=admission.region))
    faults = list({str(fault): fault for fault in found}.values())
    if form is Format.JSON:
        print_json({"stack": proof.plan.stack, "proof": proof.hash, "faults": [asdict(fault) for fault in faults]})
    else:
        for fault in faults:
            print_text(str(fault))
    raise typer.Exit(Exit.ENVIRONMENT if faults else Exit.PROVED)
