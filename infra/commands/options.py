"""Arguments and options that several commands have."""

from __future__ import annotations

from typing import Annotated

import typer

from infra.program.places import stacks
from interlock.vocabulary import InterlockError

#: Names the operator's own stack where a tenant's may stand; no tenant may be called so.
OPERATORS = "site"


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
    """Names of tenants, for shell completion; none where no site is meant."""
    try:
        site = str(ctx.params.get("site") or _chosen(""))
    except InterlockError:
        return []
    return sorted(file.stem for file in (stacks() / site / "tenants").glob(f"{incomplete}*.yaml"))


def _stacks(ctx: typer.Context, incomplete: str) -> list[str]:
    """The same, and the operator's own stack."""
    return [*_tenants(ctx, incomplete), *(word for word in (OPERATORS,) if word.startswith(incomplete))]


def switches_of(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of switches, for shell completion; none where the site cannot be read."""
    from interlock.model.load import load_site_of_fleet

    try:
        loaded = load_site_of_fleet(stacks(), str(ctx.params.get("site") or _chosen("")))
    except InterlockError:
        return []
    return sorted(name for name in loaded.site.switch if name.startswith(incomplete))


def subnets_of(ctx: typer.Context, incomplete: str) -> list[str]:
    """Names of InfiniBand subnets, for shell completion; none where the site cannot be read."""
    from interlock.model.load import load_site_of_fleet

    try:
        loaded = load_site_of_fleet(stacks(), str(ctx.params.get("site") or _chosen("")))
    except InterlockError:
        return []
    return sorted(item.name for item in loaded.site.infiniband if item.name.startswith(incomplete))


def tenant_of(word: str | None) -> str | None:
    """The tenant of the stack that an argument names; None for the operator's own."""
    return None if word == OPERATORS else word


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

#: One stack: a tenant's, or the operator's, which is None.
Tenant = Annotated[
    str | None,
    typer.Argument(
        metavar="TENANT",
        help=f"A tenant; `{OPERATORS}`, or nothing, is the operator's own stack.",
        callback=tenant_of,
        autocompletion=_stacks,
    ),
]
OneTenant = Annotated[str, typer.Argument(metavar="TENANT", help="The tenant.", autocompletion=_tenants)]
OneStack = Annotated[
    str,
    typer.Argument(
        metavar="TENANT", help=f"The tenant, or `{OPERATORS}` for the operator's stack.", autocompletion=_stacks
    ),
]
#: Stacks; `tenant_of` each.
Stacks = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="TENANT",
        help=f"Only these tenants, `{OPERATORS}` for the operator's own stack; all by default.",
        autocompletion=_stacks,
    ),
]
Tenants = Annotated[
    list[str] | None,
    typer.Argument(metavar="TENANT", help="Only these tenants; all by default.", autocompletion=_tenants),
]
Switches = Annotated[
    list[str] | None,
    typer.Option("--switch", metavar="NAME", help="Only this switch, whoever wires it.", autocompletion=switches_of),
]
#: What was said in place of an argument; taken for a release more.
EarlierTenants = Annotated[list[str] | None, typer.Option("--tenant", "-t", metavar="TENANT", hidden=True)]


def site_of(given: str) -> str:
    """The site of a command that only sometimes needs one. Raises `InputErrors` if there is none."""
    return _chosen(given)
