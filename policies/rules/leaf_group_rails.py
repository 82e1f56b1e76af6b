"""TOP-18 of RoCE: a node that has some of its Ethernet rails in a leaf group has all of them in one.

A RoCE cluster is given nodes with all their rails there, each with MAC address and cable: a node with seven of eight
is given to none, and without this nobody would hear why.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.gpu import GpuHost
from interlock.model.site.inventory import Endpoint, Host, Site
from interlock.model.site.leaf_groups import ethernet_rails, leaf_groups, rails_on
from policies.about import Fact, SaidFact, SiteFact, devices

from .rule import Cause

_HINT = (
    "state all rails of a node in one leaf group, each with MAC address and cable; or put the node into maintenance "
    "until it has them"
)
#: A node, and its interfaces on each leaf group.
RailedHost = tuple[GpuHost, Host, dict[str, tuple[str, ...]]]


def railed_hosts(site: Site) -> list[RailedHost]:
    """Nodes in service that are given out whole and have an interface in a leaf group, of a type with such rails."""
    found = list[RailedHost]()
    for node in site.gpu_nodes:
        host = site.host.get(node.name)
        if (
            host is not None
            and host.provisioning == "bare-metal"
            and host.in_service
            and ethernet_rails(node.node_type)
        ):
            on = {name: host.interfaces[name] for name in leaf_groups(site) if host.interfaces.get(name)}
            found += [(node, host, on)] if on else []
    return found


def some_of_its_rails(site: Site, railed: RailedHost) -> Iterator[Cause]:
    """A node with some rails that a cluster could use, and not with all of them in one leaf group."""
    node, host, on = railed
    if any(rails_on(site, node, network) for network in on):
        return
    known = {network: [rail for rail in rails if _is_known(site, host, rail)] for network, rails in on.items()}
    count, used = ethernet_rails(node.node_type), sum(map(len, known.values()))
    if not used:
        # Nobody says of it yet where it is cabled to.
        return
    where = " and ".join(f"{len(rails)} in {network}" for network, rails in known.items() if rails)
    yield Cause(
        key=node.name,
        message=f"{node.name} has, of its {count} Ethernet rails, {where} with MAC address and cable; a RoCE cluster "
        "takes nodes with all of them in one leaf group",
        witness=tuple(f"{network}: {', '.join(rails)}" for network, rails in known.items() if rails),
        hint=_HINT,
        missing=() if used >= count else tuple(_unstated(site, host, on, count)),
        specificity=35,
        about=devices(node.name),
    )


def _is_known(site: Site, host: Host, rail: str) -> bool:
    return rail in host.macs and (host.name, rail) in site.cable_at


def _unstated(site: Site, host: Host, on: dict[str, tuple[str, ...]], count: int) -> Iterator[Fact]:
    """What nobody states of the rails that it lacks."""
    if sum(map(len, on.values())) < count:
        yield from (SiteFact(f"hosts.{host.name}.interfaces.{network}") for network in on)
    for rail in (rail for rails in on.values() for rail in rails):
        if rail not in host.macs:
            yield SiteFact(f"hosts.{host.name}.macs.{rail}")
        if (host.name, rail) not in site.cable_at:
            yield SaidFact(f"the cable at {Endpoint(device=host.name, interface=rail)}")
