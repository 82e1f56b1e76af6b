"""Arguments and options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from infra.program.places import stacks


def _chosen(given: str) -> str:
    """The site that is named, else the fleet's default. Raises `InputErrors` if there is none."""
    # Imported here: nobody needs the models who names a site, or asks for help.
    from interlock.model.fleet import default_site

    return given or default_site(stacks())


def _sites(incomplete: str) -> list[str]:
    """Folders with a site, for shell completion."""
    found = (path.parent.relative_to(stacks()).as_posix() for path in stacks().rglob("site.yaml"))
    return sorted(name for name in found if name.startswith(incomplete) and "/tenants" not in name)


def _tenants(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of tenants, for shell completion."""
    site = str(ctx.params.get("site") or _chosen(""))
    return sorted(file.stem for file in (stacks() / site / "tenants").glob(f"{incomplete}*.yaml"))


_SITE = {
    "metavar": "FOLDER",
    "envvar": "INTERLOCK_SITE",
    "show_default": False,
    "help": "Folder of the site below stacks/; else the fleet's default.",
    "autocompletion": _sites,
}

#: The site, which is known: named or the default.
Site = Annotated[str, typer.Option("--site", "-s", callback=_chosen, **_SITE)]
#: The same, empty where it is not named; for `site_of`.
MaybeSite = Annotated[str, typer.Option("--site", "-s", **_SITE)]

#: One stack: a tenant's, or the operator's.
Tenant = Annotated[
    str | None,
    typer.Argument(metavar="TENANT", help="A tenant; without one the operator's own stack.", autocompletion=_tenants),
]
OneTenant = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant.", autocompletion=_tenants)]
Tenants = Annotated[
    list[str] | None,
    typer.Argument(metavar="TENANT", help="Only these tenants; all by default.", autocompletion=_tenants),
]
#: What was said in place of an argument; taken for a release more.
EarlierTenants = Annotated[list[str] | None, typer.Option("--tenant", "-t", metavar="TENANT", hidden=True)]


def site_of(given: str) -> str:
    """The site of a command that only sometimes needs one. Raises `InputErrors` if there is none."""
    return _chosen(given)
