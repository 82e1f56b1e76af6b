"""`interlock fabrics`: ask the UFM of each InfiniBand subnet of a site how its subnet manager is set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option
from infra.commands.options import Site, subnets_of
from infra.commands.surveys import By, answering, exit_of, tell
from infra.program.gate import Gate


def fabrics(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="SUBNET", help="Only these subnets; all by default.", autocompletion=subnets_of),
    ] = None,
    site: Site = "",
    keep: Annotated[bool, typer.Option("--record", help="Write what each UFM says as evidence for the proof.")] = False,
    by: By = None,
    form: Annotated[Format, format_option("fabrics")] = Format.TEXT,
) -> None:
    """Ask how subnet managers are set, for the proof. Changes nothing there.

    Two guards of A6 are read: whether M_Key, SM_Key and SA_Key are other than the defaults, with an M_Key for each
    port; and whether everybody is a limited member of the default partition. Keys themselves are neither shown nor
    written. Whether switches enforce P_Keys, and `allowed_sm_guids`, no UFM says: that stays a person's word.

    How each UFM is asked stands in `fabrics.yaml` beside `clouds.yaml`.

    With --record what each UFM says is written to `evidence/fabrics-<subnet>.json` in the site's folder, in place of
    an older one, good or not: commit it. A guard of A6 that rests on evidence holds while there is such a file of
    every subnet, young enough, that says so. Where one says otherwise it does not hold, and ISO-19 or ISO-23 say so.

    \b
    Exit code:
      0  everything that was read is set
      1  a subnet manager is not set so
      2  the input is wrong: a file or a name
      3  a UFM does not say all of it
      4  a UFM could not be read

    \b
    Examples:
      interlock fabrics
      interlock fabrics --record --by "night shift"
      interlock fabrics ib-compute --format json
    """
    answers = answering(by, keep=keep)
    raise typer.Exit(_ask_and_tell(site, names or (), form, answers, keep=keep))


def _ask_and_tell(site: str, names: Iterable[str], form: Format, by: str, *, keep: bool) -> Exit:
    # Imported here: help needs none of it.
    from infra.fabrics.recording import record_managers
    from infra.fabrics.survey import survey_managers
    from infra.reports.fabric_reports import managers_as_json, managers_as_table
    from infra.reports.recorded_files import recorded_lines

    gate = Gate.indexed(site)
    found = survey_managers(gate, names)
    kept = record_managers(gate, found, by) if keep else None
    shown = gate.workspace.shown
    tell(
        form,
        lambda: managers_as_json(found, kept, shown),
        lambda colour: managers_as_table(found, colour=colour) + recorded_lines(kept, shown),
    )
    return exit_of((finding.value for finding in found.findings), is_unread=bool(found.unread))
