"""`interlock switches`: ask the switches of a site what they are set to, and compare it with what is stated."""

from __future__ import annotations

from typing import Annotated

import typer

from infra.cli import colour
from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_json
from infra.cli.terminal import Progress, print_text
from infra.commands.options import Site, switches_of
from infra.program.gate import Gate


def switches(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SWITCH", help="Only these switches; all by default.", autocompletion=switches_of),
    ] = None,
    site: Site = "",
    form: Annotated[Format, format_option("switches")] = Format.TEXT,
) -> None:
    """Read the switches and compare each port with what is stated. Changes nothing on them.

    Each port is compared with what the site file states of it and with what the plans of all stacks set, ports that no
    plan has included; and what it hears by LLDP with the list of cables. A port that nothing states may be disabled,
    or rest in one of the site's reserved VLANs. What a switch does not say is unknown, and never as stated; a
    neighbour that is not heard is only counted.

    How switches are reached, by which user and with which host key, stands in `switches.yaml` beside `clouds.yaml`.
    They are asked over ssh, side by side, with a fixed list of commands that only read.

    \b
    Exit code:
      0  every port is as stated
      1  a switch says something else
      2  the input is wrong: a file, a name, or a lock that is missing or old
      3  no difference was seen, and something is unknown
      4  a switch could not be read

    \b
    Examples:
      interlock switches
      interlock switches tor-1 mgmt-1
      interlock switches --format json > switches.json
    """
    # Imported here: help needs none of it.
    from infra.reports.switch_reports import as_json, as_table
    from infra.switches.survey import survey

    progress = Progress("read")
    found = survey(Gate.indexed(site), names or (), progress)
    progress.end()
    if form is Format.JSON:
        print_json(as_json(found))
    else:
        print_text(as_table(found, colour=colour.wanted()))
    if found.unread:
        raise typer.Exit(Exit.ENVIRONMENT)
    raise typer.Exit(Exit.VIOLATED if found.differs else Exit.NOT_PROVABLE if found.is_unknown else Exit.PROVED)
