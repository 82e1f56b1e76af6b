"""`interlock rollout`: in which order stacks are to be applied when objects of the operator's stack change."""

from __future__ import annotations

from typing import Annotated

import typer

from infra.cli.exits import Exit
from infra.cli.formats import Format, format_option, print_json
from infra.cli.terminal import print_text
from infra.commands.options import Site
from infra.program.gate import Gate
from infra.program.rollout import rollout_of
from infra.reports.rollout_text import rollout_text


def rollout(
    site: Site = "",
    form: Annotated[Format, format_option("rollout")] = Format.TEXT,
) -> None:
    """Print the order of steps when the operator's objects change.

    Images, flavours, volume and share types, the external network and what it stands on: edit the site file and the
    requests as they are to be in the end, and lock. The steps then are: the operator's stack makes what is new, each
    tenant that moves is applied, and the operator's stack lets go of what is old. What an applied stack uses is kept
    until then, although the site file has it no more.

    The steps follow from what is applied, as the claims store records it, and from the files: ask again after each
    step, and what is done is listed no more. Nothing is changed, and the cloud is not asked. A step that
    `pulumi up` would refuse says so, and why.

    The JSON form is one object: `version`, `site`, `kept`, and `steps` with `stack`, `command`, `adds`, `changes`,
    `goes`, `moves`, `refused`, `note`.

    \b
    Exit code:
      0  no step is left
      1  steps are left
      2  the input is wrong: a file, or a lock that is missing or old
      4  the claims store cannot be read

    \b
    Examples:
      interlock rollout
      interlock rollout --format json
    """
    found = rollout_of(Gate.indexed(site).with_applied())
    if form is Format.JSON:
        print_json(found.document())
    else:
        print_text(rollout_text(found))
    if found.steps:
        raise typer.Exit(Exit.VIOLATED)
