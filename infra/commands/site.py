"""`interlock site`: what a site file says, on one screen or in full."""

from __future__ import annotations

import json
import sys
from enum import StrEnum
from typing import Annotated

import typer
import yaml

from infra.commands.options import Site
from infra.program.places import stacks
from infra.reports.site_summary import summary
from interlock.model.load import load_site_of_fleet
from interlock.model.site.full import Document, full_form


class Format(StrEnum):
    """Forms of the full form; JSON is YAML too, so either loads again."""

    YAML = "yaml"
    JSON = "json"


def site(
    site: Site = "lyon",
    full: Annotated[
        bool, typer.Option("--full", help="The full form: every device, port and cable by itself.")
    ] = False,
    form: Annotated[Format, typer.Option("--format", "-f", help="Form of the full form.")] = Format.YAML,
) -> None:
    """Show what a site holds, and what nobody stated.

    With --full, all of it as a site file without short forms. Put in the place of site.yaml it means the same.

    \b
    Exit code:
      0  shown
      2  the input is wrong

    \b
    Examples:
      interlock site
      interlock site --full | less
      interlock site --site leaky/vlan-of-another --full --format json
    """
    if form is not Format.YAML and not full:
        raise typer.BadParameter("is a form of the full form: add --full", param_hint="--format")
    loaded = load_site_of_fleet(stacks(), site)
    if full:
        sys.stdout.write(written(full_form(loaded.site, loaded.defaults), form))
    else:
        sys.stdout.write(summary(loaded.site))


def written(document: Document, form: Format) -> str:
    """A full form as text."""
    if form is Format.JSON:
        return json.dumps(document, indent=1, ensure_ascii=False) + "\n"
    return yaml.dump(
        document, Dumper=yaml.CSafeDumper, sort_keys=False, width=118, allow_unicode=True, default_flow_style=None
    )
