"""`interlock switches`: ask the switches of a site what they are set to, and compare it with what is stated."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option
from infra.cli.terminal import Progress
from infra.commands.options import Site, switches_of
from infra.commands.surveys import By, answering, exit_of, tell
from infra.program.gate import Gate


def switches(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SWITCH", help="Only these switches; all by default.", autocompletion=switches_of),
    ] = None,
    site: Site = "",
    keep: Annotated[
        bool, typer.Option("--record", help="Write evidence of each switch that is as stated, for the proof.")
    ] = False,
    by: By = None,
    form: Annotated[Format, format_option("switches")] = Format.TEXT,
) -> None:
    """Read the switches and compare each port with what is stated. Changes nothing on them.

    Each port is compared with what the site file states of it and with what the plans of all stacks set, ports that no
    plan has included; and what it hears by LLDP with the list of cables. A port that nothing states may be disabled,
    or rest in one of the site's reserved VLANs. What a switch does not say is unknown, and never as stated; a
    neighbour that is not heard is only counted.

    How switches are reached, by which user and with which host key, stands in `switches.yaml` beside `clouds.yaml`.
    They are asked over ssh, side by side, with a fixed list of commands that only read.

    With --record each switch is compared with the plans that are applied, as the claims store knows them. Of one that
    was read in full, and in which nothing differs or is unknown, `evidence/switches-<name>.json` is written into the
    site's folder, in place of an older one: commit it. A site whose `A1.configuration_matches` rests on evidence is
    proved only while there is such a file of every switch, young enough. Of any other switch nothing is written, and
    the file that there may be stays.

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
      interlock switches --record --by "night shift"
      interlock switches --format json > switches.json
    """
    raise typer.Exit(_read_and_tell(site, names or (), form, answering(by, keep=keep), keep=keep))


def _read_and_tell(site: str, names: Iterable[str], form: Format, by: str, *, keep: bool) -> Exit:
    # Imported here: help needs none of it.
    from infra.reports.recorded_files import recorded_lines
    from infra.reports.switch_reports import as_json, as_table
    from infra.switches.recording import applied_stacks, record
    from infra.switches.survey import survey

    gate = Gate.indexed(site).with_applied() if keep else Gate.indexed(site)
    progress = Progress("read")
    found = survey(gate, names, progress, applied=applied_stacks(gate) if keep else None)
    progress.end()
    kept = record(gate, found, by) if keep else None
    shown = gate.workspace.shown
    tell(
        form,
        lambda: as_json(found, kept, shown),
        lambda colour: as_table(found, colour=colour) + recorded_lines(kept, shown),
    )
    is_unknown = found.is_unknown or bool(kept and kept.lacking)
    return exit_of([not found.differs, None if is_unknown else True], is_unread=bool(found.unread))
