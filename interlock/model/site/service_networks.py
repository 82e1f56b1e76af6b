"""The network on which each whole host is deployed and cleaned, and by which interface: one network for each host."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import islice

from .inventory import Site
from .ironic import ServiceNetworks

#: Addresses at the start of each subnet that are nobody's: those of conductors, which are on the network too.
CONDUCTORS = 3
#: A smaller subnet has no room for those, Neutron's DHCP and the host.
LONGEST_PREFIX = 28


@dataclass(frozen=True)
class ServiceNetwork:
    """The service network of one host: its segment, its subnet, and the interface that the host boots from there."""

    host: str
    interface: str
    physical_network: str
    vlan: int
    cidr: str

    @property
    def name(self) -> str:
        """Its name, in the operator's plan and at Neutron; the node's `driver_info` has it."""
        return f"service-{self.host}"

    @property
    def pool(self) -> tuple[str, str]:
        """First and last address that Neutron may hand out: not those of conductors."""
        network = IPv4Network(self.cidr)
        return str(network[CONDUCTORS + 1]), str(network[-2])


def service_networks(site: Site) -> dict[str, ServiceNetwork]:
    """By whole host, in the order of the site.

    A host gets what is next of the first entry of `networks` on whose physical network it has an interface. One for
    which nothing is left has none, which the checks of a site file refuse.
    """
    if site.ironic is None:
        return {}
    found: dict[str, ServiceNetwork] = {}
    segments = [segments_of(entry) for entry in site.ironic.networks]
    for host in site.whole_hosts:
        for entry, free in zip(site.ironic.networks, segments, strict=True):
            interfaces = site.interfaces_on(host.name, entry.physical_network)
            if interfaces and (segment := next(free, None)):
                found[host.name] = ServiceNetwork(host.name, interfaces[0], entry.physical_network, *segment)
                break
    return found


def segments_of(entry: ServiceNetworks) -> Iterator[tuple[int, str]]:
    """(VLAN, subnet) of an entry, as many as it has of both."""
    vlans = (vlan for first, last in entry.vlans for vlan in range(first, last + 1))
    return zip(vlans, subnets_of(entry), strict=False)


def subnets_of(entry: ServiceNetworks) -> Iterator[str]:
    """The subnets that can be cut from the prefix of an entry; none if it is too small."""
    prefix, length = entry.subnets
    network = IPv4Network(prefix)
    if network.prefixlen > length:
        return iter(())
    most = sum(last - first + 1 for first, last in entry.vlans)
    return (str(subnet) for subnet in islice(network.subnets(new_prefix=length), most))
