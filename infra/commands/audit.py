"""`interlock audit`: hold what the cloud really has against what was proved."""

from __future__ import annotations

import json
import sys
from typing import Annotated

import typer

from infra.cli import colour
from infra.cli.exits import Exit
from infra.commands.check import Format
from infra.commands.options import Site
from infra.program.gate import Gate


def audit(
    site: Site = "lyon",
    form: Annotated[Format, typer.Option("--format", "-f", help="Form of the report.")] = Format.TABLE,
) -> None:
    """Read the live cloud, and hold it against what was proved. Changes nothing; made for a scheduled job.

    Some twenty lists, however many tenants there are, and one question for each bucket and for each flavor that is
    not public. Told are: objects that are gone, doubled or not as planned, with the facts and findings that follow;
    orphans, which carry a marker of a stack and are in no plan; and what others made in our projects, on our
    networks, hosts, segment ids, or with rights to any of them. Quotas and switches are not looked at.

    \b
    Exit code:
      0  no drift
      1  drift
      2  the input is wrong: a file, or a lock that is missing or old
      3  no drift was seen, and something could not be read
      4  the cloud or the claims store failed

    \b
    Examples:
      interlock audit
      interlock audit --site leaky/vlan-of-another
      interlock audit --format json > audit.json
    """
    # Imported here: the cloud's client takes as long to load as everything else together.
    from infra.audit.comparison import audit as hold
    from infra.audit.report import as_json, as_table
    from interlock.provider.clouds import Cloud

    gate = Gate.indexed(site).with_applied()
    found = hold(gate, Cloud(gate.workspace.site.cloud), lambda said: print(said, file=sys.stderr))
    if form is Format.JSON:
        json.dump(as_json(found, gate), sys.stdout, indent=1, sort_keys=True)
        print()
    else:
        print(as_table(found, gate, colour=colour.wanted()), end="")
    code = Exit.VIOLATED if found.has_drifted else Exit.NOT_PROVABLE if found.unread else Exit.PROVED
    raise typer.Exit(code)
