"""`interlock nodes`: what is to be enrolled at Ironic for a site."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_plain_json
from infra.cli.terminal import print_text
from infra.commands.options import Site
from infra.program.places import stacks
from infra.stack.nodes_file import enrolled, nodes_as_json
from interlock.model.load import InputErrors, load_site_of_fleet
from interlock.model.text.errors import Code
from interlock.planning.enrolment import INVENTORY_TRAIT, Enrolment


def nodes(
    site: Site = "",
    form: Annotated[Format, format_option("nodes")] = Format.TEXT,
    as_json: Annotated[bool, typer.Option("--json", help="The same as --format json.")] = False,
) -> None:
    """List what is to be enrolled at Ironic for a site.

    A node for each whole host and each IPU-Machine, with its ports. As JSON it is the file that
    `openstack baremetal create` reads. Addresses and credentials of BMCs are not in it: add them there, or set them
    afterwards. IPU-Machines are enrolled for power and inventory only, and are never provided for deployment.

    What nobody states is not made up: a port without a MAC address is left out, and named on stderr.

    \b
    Exit code:
      0  listed
      2  the input is wrong, or the site file has no `ironic`
      3  listed, but for what is not stated

    \b
    Examples:
      interlock nodes
      interlock nodes --json > nodes.json
    """
    loaded = load_site_of_fleet(stacks(), site)
    ironic = loaded.site.ironic
    if ironic is None:
        message = "`ironic` is missing: this site has no Ironic at which nodes could be enrolled"
        hint = "add `ironic:` with its `conductor_group` and `networks` where whole hosts are to be deployed"
        raise InputErrors([loaded.source.error(Code.MISSING_KEY, (), message, hint)])
    found = enrolled(loaded, ironic, site)
    if as_json or form is Format.JSON:
        print_plain_json(nodes_as_json(found))
    else:
        print_text(table(found))
    for line in found.lacking:
        print(line, file=sys.stderr)
    if found.lacking:
        raise typer.Exit(Exit.NOT_PROVABLE)


def table(found: Enrolment) -> str:
    """The list for people: a line for each node."""
    rows = [
        (
            node.name,
            node.resource_class,
            f"{len(node.ports)} port{'' if len(node.ports) == 1 else 's'}",
            "power and inventory only" if INVENTORY_TRAIT in node.traits else _service(node.driver_info),
        )
        for node in found.nodes
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    return "".join(
        f"{'  '.join(cell.ljust(width) for cell, width in zip(row, widths, strict=False))}  {row[3]}\n" for row in rows
    )


def _service(driver_info: dict[str, str]) -> str:
    network = driver_info.get("provisioning_network")
    return f"deployed and cleaned on {network}" if network else "no service network"
