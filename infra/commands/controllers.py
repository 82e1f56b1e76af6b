"""`interlock controllers`: ask the V-IPU controller of each vPOD of a site how it is set."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option
from infra.commands.options import Site
from infra.commands.surveys import By, answering, exit_of, tell
from infra.program.gate import Gate


def controllers(
    names: Annotated[
        list[str] | None,
        typer.Argument(metavar="CONTROLLER", help="Only these, by plan name; all by default."),
    ] = None,
    site: Site = "",
    keep: Annotated[
        bool, typer.Option("--record", help="Write what each controller says as evidence for the proof.")
    ] = False,
    by: By = None,
    form: Annotated[Format, format_option("controllers")] = Format.TEXT,
) -> None:
    """Ask how V-IPU controllers are set, for the proof. Changes nothing there.

    Read are the releases of each controller and of its agents, and whether a call with a wrong key is refused. Where
    `machine:` of `vipu.yaml` says how, also its certificates, whether its machine forwards packets, what is there of a
    backup of its state, at which addresses the admin API listens, and whether a key stands in its user data. No key is
    shown or written.

    How each controller is reached stands in `vipu.yaml` beside `clouds.yaml`.

    With --record what each says is written to `evidence/controllers-<name>.json` in the site's folder, in place of an
    older one, good or not: commit it. LIF-08 and LIF-12 rest on it, and SEC-01, SEC-02 and SEC-04 are violated where it
    says otherwise than the site. A reading makes nothing better than it is stated.

    \b
    Exit code:
      0  everything was read, and is as it should be
      1  a controller is not as it should be
      2  the input is wrong: a file or a name
      3  a controller does not say all of it
      4  a controller could not be read

    \b
    Examples:
      interlock controllers
      interlock controllers --record --by "night shift"
      interlock controllers acme-train-controller --format json
    """
    answers = answering(by, keep=keep)
    raise typer.Exit(_ask_and_tell(site, names or (), form, answers, keep=keep))


def _ask_and_tell(site: str, names: Iterable[str], form: Format, by: str, *, keep: bool) -> Exit:
    # Imported here: help needs none of it.
    from infra.controllers.recording import record_controllers
    from infra.controllers.survey import survey_controllers
    from infra.reports.controller_reports import controllers_as_json, controllers_as_table
    from infra.reports.recorded_files import recorded_lines

    gate = Gate.indexed(site)
    found = survey_controllers(gate, names)
    kept = record_controllers(gate, found, by) if keep else None
    shown = gate.workspace.shown
    tell(
        form,
        lambda: controllers_as_json(found, kept, shown),
        lambda colour: controllers_as_table(found, colour=colour) + recorded_lines(kept, shown),
    )
    return exit_of(
        (finding.value for finding in found.findings), is_unread=bool(found.unread or (kept and kept.lacking))
    )
