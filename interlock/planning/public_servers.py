"""Servers that are reached from outside: a floating IP at their `control` port, and who may come in by it."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import Site
from interlock.model.tenant.request import PublicServers, Tenant
from interlock.resources import FloatingIp
from interlock.vocabulary import NetworkRole
from interlock.vocabulary.references import EXTERNAL_REFERENCE
from interlock.vocabulary.request_parts import RequestPart

from .plan_builder import PlanBuilder
from .scope import VPodScope


def is_public(scope: VPodScope, index: int) -> bool:
    """True if the request says so of this Poplar server."""
    return scope.public is not None and index in scope.public.servers


def public_sources(site: Site, entry: PublicServers) -> tuple[str, ...]:
    """The prefixes from which these servers are reached: the request's, and those of the site's bastion."""
    bastion = site.bastion.prefixes if site.bastion is not None else ()
    return tuple(dict.fromkeys((*entry.ssh_from, *bastion)))


def public_entries(site: Site, tenant: Tenant) -> dict[str, tuple[str, ...]]:
    """Plan name of each floating IP -> the prefixes that may come in by it; none of a tenant that is to go."""
    return dict(_entries(site, tenant)) if tenant.state == "present" else {}


def _entries(site: Site, tenant: Tenant) -> Iterator[tuple[str, tuple[str, ...]]]:
    for entry in tenant.access.public:
        vpod = RequestPart(tenant.id, entry.vpod)
        yield from ((_entry_of(f"{vpod}-poplar-{index}"), public_sources(site, entry)) for index in entry.servers)


def write_floating_ip(scope: VPodScope, builder: PlanBuilder, index: int) -> None:
    """Write down the entry of one server. Neutron gives an address only where a router leads to the port's subnet."""
    server = scope.server(index)
    entry = FloatingIp(
        project=scope.project, external_network=EXTERNAL_REFERENCE, port=f"{server}-control",
        uplink=scope.name(NetworkRole.CONTROL, "uplink"),
    )  # fmt: skip
    builder.add(_entry_of(server), entry)


def _entry_of(server: str) -> str:
    return f"{server}-public"
