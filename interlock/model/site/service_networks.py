"""The network on which each whole host is deployed and cleaned, and by which interface: one network for each host."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from ipaddress import IPv4Network
from itertools import islice
from types import MappingProxyType

from interlock.vocabulary import Vlan

from .inventory import Site
from .ironic import ServiceNetworks

#: Addresses at the start of each subnet that are nobody's: those of conductors, which are on the network too.
CONDUCTORS = 3
#: A smaller subnet has no room for those, Neutron's DHCP and the host.
LONGEST_PREFIX = 28
#: Of a site without a lock.
NOTHING: Mapping[str, str] = MappingProxyType({})


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


def service_networks(site: Site, recorded: Mapping[str, str] = NOTHING) -> dict[str, ServiceNetwork]:
    """By whole host, in the order of the site. `recorded`: host -> `<physical network>:<VLAN>`, as the operator's lock
    has it.

    A host keeps what is recorded of it for as long as an entry of `networks` has it, wherever the host is listed by
    then. Any other gets what is next, of the first entry on whose physical network it has an interface, and last what
    a host had that the site has no more: its network may be there until the next `up`. One for which nothing is left
    has none, which the checks of a site file refuse.
    """
    if site.ironic is None:
        return {}
    entries = [(entry, dict(segments_of(entry))) for entry in site.ironic.networks]
    whole = {item.name for item in site.whole_hosts}
    kept = {
        name: network for name in recorded if name in whole and (network := _kept(site, entries, name, recorded[name]))
    }
    used = {_text(network) for network in kept.values()}
    # First what nobody had, and last what a host had that the site has no more.
    fresh, any_left = _Unused(entries, {*recorded.values()} | used), _Unused(entries, used)
    found: dict[str, ServiceNetwork] = {}
    for host in site.whole_hosts:
        network = kept.get(host.name) or fresh.next(site, host.name) or any_left.next(site, host.name)
        if network is not None:
            found[host.name] = network
            for unused in (fresh, any_left):
                unused.take(network)
    return found


def recorded_of(site: Site, recorded: Mapping[str, str]) -> dict[str, str]:
    """What the operator's next lock records: each whole host's network, and those of hosts that the site has no more,
    as long as no other host has them. Without Ironic nothing is given, and nothing forgotten.
    """
    if site.ironic is None:
        return dict(recorded)
    found = {host: _text(network) for host, network in service_networks(site, recorded).items()}
    gone = {host: text for host, text in recorded.items() if host not in site.host and text not in found.values()}
    return dict(sorted((gone | found).items()))


#: An entry of `networks`, and VLAN -> subnet of it.
_Entry = tuple[ServiceNetworks, dict[int, str]]


class _Unused:
    """Segments that are still to be given, in the order of the entries: each is passed once, whoever asks."""

    def __init__(self, entries: Sequence[_Entry], taken: Collection[str]) -> None:
        self._entries = [(entry, list(segments.items())) for entry, segments in entries]
        self._at = [0] * len(entries)
        self._taken = {*taken}

    def take(self, network: ServiceNetwork) -> None:
        """It is given."""
        self._taken.add(_text(network))

    def next(self, site: Site, host: str) -> ServiceNetwork | None:
        """The next one for a host: of the first entry on whose physical network it has an interface."""
        for number, (entry, segments) in enumerate(self._entries):
            interfaces = site.interfaces_on(host, entry.physical_network)
            while interfaces and self._at[number] < len(segments):
                vlan, cidr = segments[self._at[number]]
                network = ServiceNetwork(host, interfaces[0], entry.physical_network, vlan, cidr)
                if _text(network) not in self._taken:
                    return network
                self._at[number] += 1
        return None


def _kept(site: Site, entries: Sequence[_Entry], host: str, text: str) -> ServiceNetwork | None:
    """What is recorded of a whole host; None where no entry has it any more, or the host has no interface there."""
    wanted = Vlan.parse(text)
    interfaces = site.interfaces_on(host, wanted.network)
    for entry, segments in entries if interfaces else ():
        if entry.physical_network == wanted.network and wanted.id in segments:
            return ServiceNetwork(host, interfaces[0], wanted.network, wanted.id, segments[wanted.id])
    return None


def _text(network: ServiceNetwork) -> str:
    return str(Vlan(network.physical_network, network.vlan))


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
