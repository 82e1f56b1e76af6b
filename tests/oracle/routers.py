"""Routers, external gateways and the storage appliance: what forwards between networks, and what must not."""

from __future__ import annotations

from collections.abc import Iterator

from interlock.resources import AddressScope, RbacPolicy, Router, RouterInterface, ShareAccess, Subnet, SubnetPool

from .readings import Facts
from .segments import Segment, Segments
from .terrain import Door, Place, Terrain
from .world import FOREIGN, OP, Stack


class Routers:
    """Puts routers and shared services with an address of their own into the terrain."""

    def __init__(self, facts: Facts, terrain: Terrain, segments: Segments) -> None:
        self.facts, self.terrain, self.segments = facts, terrain, segments
        self.joined_scope: set[Place] = set()

    def walk(self) -> None:
        """All hops and marks."""
        for stack in self.facts.world.stacks:
            for name, router in stack.all(Router):
                self.terrain.mark(("router", stack.owner, name), stack.owner_of(router.project))
            for _, interface in stack.all(RouterInterface):
                self._interface(stack, interface)
            for _, access in stack.all(ShareAccess):
                self._appliance(stack, access)
        for stack in self.facts.world.stacks:
            for name, router in stack.all(Router):
                if router.external_network is not None:
                    self._gateway(stack, name, router.external_network)

    def _interface(self, stack: Stack, interface: RouterInterface) -> None:
        """A router forwards anything between all its interfaces."""
        router = self._router(stack, interface.router)
        found = stack.find(Subnet, interface.subnet)
        if found is None:
            stray: Place = ("stray subnet", stack.owner, interface.subnet)
            self.terrain.mark(stray, FOREIGN)
            self.terrain.hop(router, stray, "E10")
            return
        home, _, subnet = found
        # Nobody translates IPv6, and what is outside tells only addresses of IPv4 apart.
        if subnet.subnet_pool is not None or ":" in subnet.cidr:
            self.joined_scope.add(router)
        segment = self.segments.find(home, subnet.network)
        for place in (segment.outside,) if segment.external else segment.places:
            self.terrain.hop(router, place, "E10")

    def _router(self, stack: Stack, reference: str) -> Place:
        found = stack.find(Router, reference)
        if found is not None:
            return ("router", found[0].owner, found[1])
        stray: Place = ("stray router", stack.owner, reference)
        self.terrain.mark(stray, FOREIGN)
        return stray

    def _gateway(self, stack: Stack, name: str, network: str) -> None:
        """A router meets a copy of the outside of its own, while something drops what is not translated."""
        segment, router = self.segments.find(stack, network), ("router", stack.owner, name)
        copy: Place = ("gateway", *router, segment.name)
        self.terrain.hop(router, copy, "E11")
        for place in (segment.outside,) if segment.external else segment.places:
            self.terrain.unless(self._filtered(segment, router), copy, place, "E11")
        declared, _ = self.facts.shared("external-network")
        if declared is not None and "*" not in declared.audience:
            self.terrain.doors.append(Door(copy, declared.audience))

    def _filtered(self, segment: Segment, router: Place) -> bool | None:
        if not segment.external or self.facts.site.external.address_scope is None:
            return False
        if router in self.joined_scope or self._scope_is_given_away:
            return False
        held, more = self.facts.shared("external-network")[1], self._more_scopes
        return False if held is False or more is True else None if held is None or more is None else True

    @property
    def _more_scopes(self) -> bool | None:
        """Whether there are subnets, scopes or rights to them that no plan tells of."""
        tables = (("scopes", self.facts.site.external.name), ("rights", "AddressScope"), ("rights", "SubnetPool"))
        found = [self.facts.more(table, name) for table, name in tables]
        return True if True in found else None if None in found else False

    @property
    def _scope_is_given_away(self) -> bool:
        """Tenants may put subnets of theirs into an address scope of the operator's."""
        return any(self._given_away())

    def _given_away(self) -> Iterator[bool]:
        for stack in self.facts.world.stacks:
            if stack.owner != OP:
                continue
            yield from (item.shared for _, item in stack.all(AddressScope))
            yield from (item.shared for _, item in stack.all(SubnetPool))
            for _, right in stack.all(RbacPolicy):
                yield bool(stack.find(AddressScope, right.object) or stack.find(SubnetPool, right.object))

    def _appliance(self, stack: Stack, access: ShareAccess) -> None:
        """One address of the appliance on the network of a grant; nothing goes from one such network to another."""
        declared, held = self.facts.shared("storage-appliance")
        segment = self.segments.find(stack, access.network)
        self.terrain.alone(("address of the appliance", access.vip), stack.owner, "Excl")
        for place in segment.places:
            door: Place = ("address", access.vip, *place)
            self.terrain.hop(door, place, "E7")
            self.terrain.unless(held, door, ("appliance",), "terminal")
            if declared is not None and "*" not in declared.audience:
                self.terrain.doors.append(Door(door, declared.audience))
        if held is not True:
            self.terrain.mark(("appliance",), OP)
