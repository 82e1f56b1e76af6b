"""`interlock site`: what a site file says, on one screen or in full."""

from __future__ import annotations

import json
from typing import Annotated

import typer
import yaml

from infra.cli.formats import Format, encodes_all, format_option, print_json
from infra.cli.terminal import print_text
from infra.commands.options import Site
from infra.program.places import stacks
from infra.reports.site_summary import document, summary
from interlock.model.load import load_site_of_fleet, site_with_evidence
from interlock.model.site.full import Document, full_form


def site(
    site: Site = "",
    full: Annotated[
        bool, typer.Option("--full", help="The full form: every device, port and cable by itself.")
    ] = False,
    form: Annotated[Format, format_option("site")] = Format.TEXT,
) -> None:
    """Show what a site holds, and which facts are not stated.

    Machines and hosts that failed or are in maintenance are listed with the reason, and so is what says that switches
    are as stated: a person, or evidence, with its age.
    With --full, all of it as a site file without short forms. Put in the place of site.yaml it means the same.

    \b
    Exit code:
      0  shown
      2  the input is wrong

    \b
    Examples:
      interlock site
      interlock site --format json
      interlock site --full | less
      interlock site --site leaky/vlan-of-another --full --format json
    """
    if form is Format.YAML and not full:
        raise typer.BadParameter("yaml is a form of the full form: add --full", param_hint="--format")
    loaded = load_site_of_fleet(stacks(), site)
    if full:
        # The full form is a site file: its version is that of site files, and JSON is YAML too.
        print(written(full_form(loaded.site, loaded.defaults), form, unicode=encodes_all()), end="")
    elif form is Format.JSON:
        print_json(document(site_with_evidence(loaded)))
    else:
        print_text(summary(site_with_evidence(loaded)))


def written(document: Document, form: Format, *, unicode: bool = True) -> str:
    """A full form as text: JSON, else YAML. Without `unicode` in ASCII alone."""
    if form is Format.JSON:
        return json.dumps(document, indent=1, ensure_ascii=not unicode) + "\n"
    return yaml.dump(
        document, Dumper=yaml.CSafeDumper, sort_keys=False, width=118, allow_unicode=unicode, default_flow_style=None
    )
