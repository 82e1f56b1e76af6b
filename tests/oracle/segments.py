"""Networks: the places of each on switches, hosts and underlays, and who claims it or may plug into it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from interlock.model.site.inventory import Host
from interlock.resources import Network, RbacPolicy

from .frames import UNTAGGED, received
from .readings import Facts, PortId, listed
from .switches import Switches
from .terrain import Place, Terrain
from .world import FOREIGN, OP, OUTSIDE, Stack

#: What Neutron's own overlays run over; it may be one of the underlays that the site names.
NEUTRONS_OWN = "neutron"
#: Ids with which a virtual function is in no VLAN.
NO_VLAN = (None, 0, 4095)


@dataclass(frozen=True)
class Segment:
    """One network. `hub`: a place from which each place of it is reached, made on demand."""

    stack: str
    name: str
    owner: str
    external: bool
    kind: str
    physical_network: str | None
    vlan: int | None
    places: tuple[Place, ...]

    @property
    def outside(self) -> Place:
        """The external network as one place."""
        return ("outside", self.physical_network or self.name)


class Segments:
    """Puts networks into the terrain, and finds them by reference."""

    def __init__(self, facts: Facts, terrain: Terrain, switches: Switches) -> None:
        self.facts, self.terrain, self.switches = facts, terrain, switches
        self.known: dict[tuple[str, str], Segment] = {}
        #: (host, interface, tag) that somebody sends or hears.
        self.used: set[tuple[str, str, int]] = set()
        #: Wires of claims that were given up.
        self.released_places: list[Place] = []

    def walk(self) -> None:
        """All hops and marks."""
        self._external_of_site()
        for stack in self.facts.world.stacks:
            for name, network in stack.all(Network):
                self._claim(stack, self._read(stack, name, network), network)
        for stack in self.facts.world.stacks:
            for _, policy in stack.all(RbacPolicy):
                self._right(stack, policy)
        self._released()
        self._interfaces_of_tenants()

    def find(self, stack: Stack, reference: str) -> Segment:
        """The segment behind a reference; one that nobody describes belongs to strangers."""
        found = stack.find(Network, reference)
        if found is not None:
            return self.known[found[0].owner, found[1]]
        external = self.facts.site.external
        if reference in ("site:Network/external", f"site:Network/{external.name}"):
            return self.known[OP, "(external)"]
        place: Place = ("stray network", stack.owner, reference)
        self.terrain.mark(place, FOREIGN)
        return Segment(stack.owner, reference, FOREIGN, False, "stray", None, None, (place,))

    def _read(self, stack: Stack, name: str, network: Network) -> Segment:
        return self._segment(
            stack.owner, name, stack.owner_of(network.project), network.external,
            network.network_type, network.physical_network, network.segmentation_id,
        )  # fmt: skip

    def _segment(
        self, stack: str, name: str, owner: str, external: bool, kind: str, physical: str | None, number: int | None
    ) -> Segment:
        places = tuple(self._places(kind, physical, number))
        found = Segment(stack, name, owner, external, kind, physical, number, places)
        self.known[stack, name] = found
        return found

    def _places(self, kind: str, physical: str | None, number: int | None) -> Iterator[Place]:
        if kind == "vxlan":
            yield self._tunnel(number or 0)
        elif kind == "vlan" and number is not None and physical in self.facts.site.physical_network:
            for switch in self.facts.site.physical_network[physical].switches:
                yield self.switches.bridge(switch, number)
        elif kind == "flat":
            for host in self.facts.site.hosts:
                yield from (self.nic(host, item, 0) for item in self.facts.interfaces(host.name, physical))

    def _tunnel(self, number: int) -> Place:
        own: Place = ("tunnel", NEUTRONS_OWN, "vxlan", number)
        for underlay in self.facts.site.underlays:
            if underlay.neutron is not False:
                self.terrain.hop(own, ("tunnel", underlay.name, "vxlan", number), "E3", underlay.neutron is True)
        return own

    def nic(self, host: Host, interface: str, tag: int) -> Place:
        """Frames with this tag inside a host's adapter."""
        self.used.add((host.name, interface, tag))
        return ("nic", host.serial, interface, tag)

    def kernels(self) -> None:
        """The operator's kernel is on a hypervisor's uplink, too: what comes without a tag is for it.

        Where the external network is flat, that is what has the interface for itself.
        """
        external = self.facts.site.external
        for host in self.facts.site.hosts:
            flat = external.network_type == "flat" and self.facts.interfaces(host.name, external.physical_network)
            for interface in sorted(listed(host) - set(flat or ())) if not self.facts.is_whole(host) else ():
                at = self.facts.behind.get((host.name, interface))
                kernel: Place = ("kernel", host.serial, interface)
                self.terrain.mark(kernel, OP)
                for place, certain in self.switches.tagged_as(at, UNTAGGED) if at else ():
                    self.terrain.hop(kernel, place, "kernel", certain)

    def uplinks(self) -> None:
        """Frames of virtual servers leave a hypervisor by its uplink with the tag they have, and no other.

        Only tags that somebody on the host uses: what nobody there hears does not come back either.
        """
        for name, interface, tag in sorted(self.used):
            at = self.facts.behind.get((name, interface))
            for place, certain in self.switches.tagged_as(at, tag) if at else ():
                self.terrain.hop(self.nic(self.facts.site.host[name], interface, tag), place, "E4", certain)
            if at:
                self._second_tags(at, self.nic(self.facts.site.host[name], interface, tag), tag)

    def _second_tags(self, at: PortId, nic: Place, tag: int) -> None:
        """A tag behind the one that a switch port takes off is the adapter's to read, and the other way round."""
        if tag == UNTAGGED:
            for place in self.switches.by_a_tag(at):
                self.terrain.way(nic, place, "E21")
        else:
            for place in self.switches.without_a_tag(at):
                self.terrain.way(place, nic, "E21")

    def of_plans(self) -> Iterator[Segment]:
        """Every network of a plan with an id."""
        for (_, name), item in self.known.items():
            if name != "(external)" and item.kind != "flat":
                yield item

    @property
    def outside_of_site(self) -> Place:
        """The external network of the site."""
        return self.known[OP, "(external)"].outside

    def _external_of_site(self) -> None:
        external = self.facts.site.external
        found = self._segment(
            OP, "(external)", OP, True, external.network_type, external.physical_network, external.vlan
        )
        self._outside(found)

    def _outside(self, segment: Segment) -> None:
        self.terrain.mark(segment.outside, OUTSIDE)
        for place in segment.places:
            self.terrain.hop(segment.outside, place, "E12")

    def _claim(self, stack: Stack, segment: Segment, network: Network) -> None:
        if segment.external:
            self._outside(segment)
        delegated = self.facts.holds("A10", "pools_delegated")
        for place in segment.places if not segment.external else ():
            self.terrain.mark(place, segment.owner)
            if delegated is not True and "A10" not in self.terrain.without:
                self.terrain.mark(place, FOREIGN, certain=delegated is False)
        if segment.owner != OP:
            self.may_plug_in(segment.owner, segment)
        for owner in self._everybody() if network.shared else ():
            self.may_plug_in(owner, segment)

    def _everybody(self) -> list[str]:
        return [*self.facts.world.plans, FOREIGN]

    def may_plug_in(self, owner: str, segment: Segment, certain: bool = True) -> None:
        """A right to plug in is a way before anybody uses it."""
        right: Place = ("may plug in", owner)
        self.terrain.mark(right, owner)
        for place in (segment.outside,) if segment.external else segment.places:
            self.terrain.hop(right, place, "E13", certain)

    def _right(self, stack: Stack, policy: RbacPolicy) -> None:
        if stack.find(Network, policy.object) is None and not policy.object.startswith("site:Network/"):
            return
        segment = self.find(stack, policy.object)
        if policy.action == "access_as_external" and segment.external:
            return
        for owner in self.targets(policy):
            self.may_plug_in(owner, segment, certain=policy.action == "access_as_shared")

    def targets(self, policy: RbacPolicy) -> list[str]:
        """Owners to whom a right is given."""
        if policy.target == "*":
            return self._everybody()
        name = policy.target.removeprefix("cloud:Project/")
        return [name if name in self.facts.world.plans else FOREIGN]

    def _released(self) -> None:
        """A claim given up counts until the wire has let go."""
        for tenant, entry in self.facts.world.given_up():
            if entry.claim == "control_vni":
                for place in self._places("vxlan", None, int(entry.value)):
                    self.terrain.mark(place, tenant)
                    self.released_places.append(place)
            elif entry.claim.endswith("_vlan"):
                self._released_vlan(tenant, entry.value)

    def _released_vlan(self, tenant: str, value: str) -> None:
        physical, _, number = value.rpartition(":")
        if physical:
            for place in self._places("vlan", physical, int(number)):
                self.terrain.mark(place, tenant)
                self.released_places.append(place)
            return
        for switch in self.facts.site.switches:
            self.terrain.mark(self.switches.bridge(switch.name, int(number)), tenant, certain=False)
        self._lost_on_trunks(tenant, int(number))

    def _lost_on_trunks(self, tenant: str, vlan: int) -> None:
        """On whichever switch it is, it is on the trunks that a driver filled."""
        for a, b in self.facts.ends[0]:
            for far in [b] * (a in self.facts.filled) + [a] * (b in self.facts.filled):
                for setting in self.facts.of_port(*far):
                    for inner, _ in received(setting, vlan, self.facts.ids):
                        self.terrain.mark(self.switches.entry(far, inner, setting), tenant, certain=False)
        for (device, interface), at in self.facts.behind.items():
            host = self.facts.site.host.get(device)
            if host is not None and at in self.facts.filled and interface in listed(host):
                self.terrain.mark(("nic", host.serial, interface, vlan), tenant, certain=False)

    def _interfaces_of_tenants(self) -> None:
        """Where the cloud does not keep projects apart, what anybody may plug in is the operator's as well."""
        held = self.facts.holds("A2", "project_scope_enforced", "default_policies")
        if held is True:
            return
        self.terrain.mark(("cloud",), OP)
        for owner in self.facts.world.plans:
            self.terrain.unless(held, ("may plug in", owner), ("cloud",), "A2")
