"""`interlock audit`: compare what the cloud really has with what was proved."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Annotated

import typer

from infra.cli import colour
from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_json, print_plain_json
from infra.cli.terminal import Progress, print_text
from infra.commands.options import Site
from infra.program.gate import Gate

if TYPE_CHECKING:
    from infra.audit.comparison import Audit


def audit(
    site: Site = "",
    form: Annotated[Format, format_option("audit")] = Format.TEXT,
) -> None:
    """Read the live cloud and compare it with what was proved. Changes nothing; made for a scheduled job.

    It reads some twenty lists, however many tenants there are, asks once for each bucket and each flavor that is not
    public, and asks V-IPU controllers, as `vipu.yaml` says how, for all that they were told (none that a person tells).
    It reports: objects that are missing, duplicated or not as planned, with facts and findings that follow; orphans,
    which carry a marker of a stack and are in no plan; and unmanaged resources in our projects, on our networks, hosts,
    segment ids and controllers, and rights to any of them.

    Then it asks each switch that Neutron wires, or that `switches.yaml` knows, as `interlock switches` does, the UFM of
    each InfiniBand subnet for the links that its subnet manager has discovered and for all partitions, and each subnet
    manager that `fabrics.yaml` knows whether it is set as the site says (A6), as `interlock fabrics` does.

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
      interlock audit --format junit > audit.xml
    """
    # Imported here: the cloud's client takes as long to load as everything else together.
    from infra.audit.report import as_json, as_table
    from infra.reports.ci_reports import audit_junit, audit_sarif

    gate = Gate.indexed(site).with_applied()
    found = whole_audit(gate)
    if form is Format.JSON:
        print_json(as_json(found, gate))
    elif form is Format.SARIF:
        print_plain_json(audit_sarif(found, gate))
    elif form is Format.JUNIT:
        print(audit_junit(found, gate))
    else:
        print_text(as_table(found, gate, colour=colour.wanted()))
    code = Exit.VIOLATED if found.has_drifted else Exit.NOT_PROVABLE if found.unread else Exit.PROVED
    raise typer.Exit(code)


def whole_audit(gate: Gate) -> Audit:
    """The cloud, switches, InfiniBand subnets and their managers, and what is open of changes by hand."""
    from infra.audit.comparison import audit as hold
    from infra.audit.comparison import with_switches
    from infra.audit.subnet_managers import with_managers
    from infra.audit.subnets import with_subnets
    from infra.break_glass.open_entries import open_entries
    from infra.fabrics.survey import managers_of_audit
    from infra.switches import survey
    from interlock.provider.clouds import Cloud

    progress = Progress("read")
    of_site = gate.workspace.site
    cloud = Cloud(of_site.cloud, site_region=of_site.region)
    found = hold(gate, cloud, progress.say)
    found = with_switches(found, gate, survey.survey_of_audit, progress.say)
    found = with_subnets(found, gate, cloud.fabrics, progress.say)
    found = with_managers(found, gate, managers_of_audit(gate))
    progress.end()
    return replace(found, break_glass=open_entries(gate, datetime.now(UTC)))
