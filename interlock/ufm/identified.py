"""Which device of a site each end of a discovered link is.

A port of a node is known by the GUID that the site states, a switch by its GUID, or by its name where no GUID is
stated. Other hosts, such as UFM's own, have no GUID in a site file: they are known by the port at which their cable
ends and the name that they give.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from interlock.model.site.gpu import HcaPort
from interlock.model.site.inventory import Endpoint, Site

from .discovered import DiscoveredFabric, LinkEnd


@dataclass(frozen=True)
class IdentifiedFabric:
    """One subnet, as it is stated and as it was discovered."""

    site: Site
    infiniband: str
    fabric: DiscoveredFabric

    @cached_property
    def ports(self) -> dict[Endpoint, HcaPort]:
        """Every port of a node on this subnet."""
        return {
            Endpoint(device=node.name, interface=port.name): port
            for node in self.site.gpu_nodes
            for port in node.ports
            if port.infiniband == self.infiniband
        }

    @cached_property
    def port_of(self) -> dict[str, Endpoint]:
        """GUID -> port of a node."""
        return {port.guid: end for end, port in self.ports.items() if port.guid is not None}

    @cached_property
    def switches(self) -> dict[str, tuple[str, ...]]:
        """Switch of the site -> GUIDs of all discovered switches that it may be: one, if it is known."""
        stated = [item for item in self.site.fabric_switches if item.infiniband == self.infiniband]
        by_guid = {item.guid: item.name for item in stated if item.guid}
        by_name = {item.name.lower(): item.name for item in stated if not item.guid}
        found: dict[str, tuple[str, ...]] = {item.name: () for item in stated}
        for guid, name in sorted(self.fabric.switches.items()):
            known = by_guid.get(guid) or by_name.get(name.lower())
            if known is not None:
                found[known] += (guid,)
        return found

    @cached_property
    def switch_of(self) -> dict[str, str]:
        """GUID -> switch of the site, of those that are known."""
        return {guids[0]: name for name, guids in self.switches.items() if len(guids) == 1}

    @cached_property
    def cables(self) -> tuple[tuple[Endpoint, Endpoint], ...]:
        """Both ends of each cable that the site states here; the first one is a switch's."""
        ends = ((cable.a, cable.b) for cable in self.site.cables if cable.kind == "infiniband")
        return tuple((a, b) if a.device in self.switches else (b, a) for a, b in ends if self._is_here(a, b))

    @cached_property
    def cabled(self) -> dict[Endpoint, Endpoint]:
        """End of a stated cable -> its other end."""
        return {here: there for a, b in self.cables for here, there in ((a, b), (b, a))}

    @cached_property
    def peers(self) -> dict[LinkEnd, LinkEnd]:
        """End of a link -> its other end."""
        return {here: there for link in self.fabric.links for here, there in ((link.a, link.b), (link.b, link.a))}

    @cached_property
    def ends_of_hosts(self) -> dict[str, LinkEnd]:
        """GUID of a port of a host -> its end of its link."""
        return {end.guid: end for end in self.peers if end.guid in self.fabric.hosts}

    def peer(self, end: Endpoint) -> LinkEnd | None:
        """What is at the other end of the link there; None: no link, or nobody can say which port it is."""
        if end.device in self.switches:
            guids = self.switches[end.device]
            place = LinkEnd(guids[0], int(end.interface)) if len(guids) == 1 else None
        else:
            port = self.ports.get(end)
            place = None if port is None or port.guid is None else self.ends_of_hosts.get(port.guid)
        return None if place is None else self.peers.get(place)

    def endpoint(self, end: LinkEnd) -> Endpoint | None:
        """What of the site is at this end; None: nothing that the site knows."""
        if end.guid in self.switch_of:
            return Endpoint(device=self.switch_of[end.guid], interface=str(end.port))
        return self.port_of.get(end.guid)

    def is_strange(self, end: LinkEnd) -> bool:
        """True for a port of a host that no node of the site has."""
        return end.guid in self.fabric.hosts and end.guid not in self.port_of

    def is_device(self, end: LinkEnd, stated: Endpoint | None) -> bool:
        """True for a port of a host that is no GPU node, where the site has it cabled, by the name that it gives."""
        if stated is None or stated in self.ports or stated.device in self.switches:
            return False
        return self.fabric.hosts.get(end.guid, "").lower() == stated.device.lower()

    def may_be_device(self, end: LinkEnd, at: Endpoint | None) -> bool:
        """`is_device` of a port of a host whose link leads to `at`; or it leads to a switch that nobody can tell, and
        the site has a host of this name at one of those.
        """
        if at is not None:
            return self.is_device(end, self.cabled.get(at))
        untold = {name for name, guids in self.switches.items() if len(guids) != 1}
        return any(self.is_device(end, b) for a, b in self.cables if a.device in untold)

    def words(self, end: LinkEnd | None) -> str:
        """An end as a person reads it: the device of the site, or the GUID and the name that it gives."""
        if end is None:
            return "nothing"
        known = self.endpoint(end)
        if known is not None:
            return str(known)
        name = self.fabric.hosts.get(end.guid) or self.fabric.switches.get(end.guid)
        return f"{end}{f' ({name})' if name else ''}"

    def _is_here(self, a: Endpoint, b: Endpoint) -> bool:
        return any(end.device in self.switches or end in self.ports for end in (a, b))
