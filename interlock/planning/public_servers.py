"""Servers that are reached from outside: a floating IP at a port on the tenant's router, and who may come in by it."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import Site
from interlock.model.tenant.request import PublicServers, Tenant
from interlock.resources import FloatingIp
from interlock.vocabulary import NetworkRole
from interlock.vocabulary.references import EXTERNAL_REFERENCE
from interlock.vocabulary.request_parts import RequestPart

from .plan_builder import PlanBuilder
from .scope import PartScope


def is_public(scope: PartScope, index: int) -> bool:
    """True if the request says so of this Poplar server, or of this head of a cluster."""
    return scope.public is not None and index in scope.public.servers


def public_sources(site: Site, entry: PublicServers) -> tuple[str, ...]:
    """The prefixes from which these servers are reached: the request's, and those of the site's bastion."""
    bastion = site.bastion.prefixes if site.bastion is not None else ()
    return tuple(dict.fromkeys((*entry.ssh_from, *bastion)))


def public_entries(site: Site, tenant: Tenant) -> dict[str, tuple[str, ...]]:
    """Plan name of each floating IP -> the prefixes that may come in by it; none of a tenant or cluster that has no
    servers, since it is to go or released.
    """
    return dict(_entries(site, tenant)) if tenant.state == "present" else {}


def _entries(site: Site, tenant: Tenant) -> Iterator[tuple[str, tuple[str, ...]]]:
    clusters = {cluster.name: cluster for cluster in tenant.clusters}
    for entry in tenant.access.public:
        if entry.vpod in clusters and clusters[entry.vpod].state == "released":
            continue
        part, word = RequestPart(tenant.id, entry.vpod), "head" if entry.vpod in clusters else "poplar"
        yield from ((_entry_of(f"{part}-{word}-{index}"), public_sources(site, entry)) for index in entry.servers)


def write_floating_ip(scope: PartScope, builder: PlanBuilder, server: str, network: NetworkRole) -> None:
    """Write down the entry of one server, at its port on this network.

    Neutron gives an address only where a router leads to the port's subnet.
    """
    entry = FloatingIp(
        project=scope.project, external_network=EXTERNAL_REFERENCE, port=f"{server}-{network}",
        uplink=scope.name(network, "uplink"),
    )  # fmt: skip
    builder.add(_entry_of(server), entry)


def _entry_of(server: str) -> str:
    return f"{server}-public"
