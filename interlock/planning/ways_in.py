"""How people get in to a tenant's servers from outside: by which floating IP, from which prefixes, by which bastion."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.bastion import Bastion
from interlock.model.site.inventory import Site
from interlock.resources import FloatingIp, Frozen, Server

from .plan import Plan


class WayIn(Frozen):
    """One public server."""

    #: Plan name, which is its name on the cloud.
    server: str
    #: Plan name of the floating IP.
    entry: str
    #: Prefixes from which it is reached, those of the bastion among them.
    prefixes: tuple[str, ...]


class WaysIn(Frozen):
    """All of one tenant's."""

    servers: tuple[WayIn, ...]
    #: Virtual servers that have none.
    closed: tuple[str, ...]
    #: The site's; None: people come straight.
    bastion: Bastion | None


def ways_in(site: Site, plan: Plan) -> WaysIn:
    """Of a tenant's plan, in its order."""
    found = tuple(_servers(plan))
    public = {way.server for way in found}
    every = (item.name for item in plan.resources if _is_tenants_server(plan, item.name))
    return WaysIn(servers=found, closed=tuple(name for name in every if name not in public), bastion=site.bastion)


#: What to do where nobody gets in.
NAME_THEM = "say under `access.public` which servers have one, and from which prefixes they are reached"


def why_nobody(found: WaysIn) -> str:
    """In words why nobody gets in; empty if somebody does, or there is no virtual server to get in to."""
    if found.servers or not found.closed:
        return ""
    by = f", and {found.bastion.host} reaches no others" if found.bastion is not None else ""
    return f"nobody gets in from outside: no server has a floating IP{by}"


def _servers(plan: Plan) -> Iterator[WayIn]:
    holders = {
        port: item.name for item in plan.resources if isinstance(item.resource, Server) for port in item.resource.ports
    }
    for item in plan.resources:
        if isinstance(item.resource, FloatingIp) and item.resource.port in holders:
            server = holders[item.resource.port]
            yield WayIn(server=server, entry=item.name, prefixes=plan.public_from.get(item.name, ()))


def _is_tenants_server(plan: Plan, name: str) -> bool:
    item = plan.by_name[name]
    return isinstance(item.resource, Server) and plan.component[item.component].type in ("PoplarServer", "ClusterHead")
