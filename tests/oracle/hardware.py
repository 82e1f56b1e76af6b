"""What hangs on cables: IPU-Machines, hosts, appliances. Whose each is follows from who holds it now or last."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import cached_property

from interlock.model.site.inventory import Host, Machine
from interlock.resources import BareMetalServer, NvlinkPartition, PartitionKey, Server, VipuAgent, VipuAllocation

from .readings import Facts, listed
from .shared import put
from .switches import Switches
from .terrain import Place, Terrain, flood
from .world import OP, Stack

#: The partition key in which every port is by default.
DEFAULT_KEY = 0x7FFF
LINKS = ("ipu-link", "gw-link", "sync-link")


class Hardware:
    """Puts the devices of the site into the terrain."""

    def __init__(self, facts: Facts, terrain: Terrain, switches: Switches) -> None:
        self.facts, self.terrain, self.switches = facts, terrain, switches

    def walk(self) -> None:
        """All hops and marks."""
        for machine in self.facts.site.machines:
            self._machine(machine)
        for host in self.facts.site.hosts:
            self._host(host)
        self._other_devices()
        self._links()
        for stack in self.facts.world.stacks:
            self._allocations(stack)
            self._nvlink(stack)
            self._keys(stack)
        self._fabric_faults()

    @cached_property
    def holders(self) -> dict[str, set[str]]:
        """Machine or host -> who holds it: whose plan sets a switch port behind it, deploys it or has its devices."""
        found: dict[str, set[str]] = {}
        for device, owner in self._holding():
            found.setdefault(device, set()).add(owner)
        return found

    def _holding(self) -> Iterator[tuple[str, str]]:
        for (device, interface), at in self.facts.behind.items():
            known = self.facts.site.host.get(device)
            if known is None or not (interface == known.bmc or self.facts.is_passed_on(known)):
                yield from ((device, owner) for owner, _ in self.facts.planned.get(at, ()))
        for stack in self.facts.world.stacks:
            yield from ((machine, stack.owner) for machine in _told_of(stack))
            for _, server in stack.all(BareMetalServer):
                yield server.node, stack.owner
            for _, guest in stack.all(Server):
                if self._is_passed_on(guest.host):
                    yield guest.host, stack.owner
        # What is given up still runs the code of whoever had it, until the operator is known to have wiped it.
        for tenant, entry in self.facts.world.given_up():
            lent = self._is_whole(entry.value) or self._is_passed_on(entry.value)
            if entry.claim == "machines" or (entry.claim == "hosts" and lent):
                yield entry.value, tenant

    def _is_passed_on(self, host: str) -> bool:
        return host in self.facts.site.host and self.facts.is_passed_on(self.facts.site.host[host])

    def _is_whole(self, host: str) -> bool:
        return host in self.facts.site.host and self.facts.is_whole(self.facts.site.host[host])

    def _attach(self, device: Place, name: str, interface: str) -> None:
        """A device that sends any frame into the switch port behind its interface."""
        at = self.facts.behind.get((name, interface))
        for place, certain in self.switches.any_tag(at) if at else ():
            self.terrain.hop(device, place, "E5", certain)

    def _owners(self, name: str) -> set[str]:
        """Who has a device. One that nobody has is the operator's, unless what its former holder left may be there."""
        left = any(self.facts.world.had(name)) and not all(self._erased(name))
        return self.holders.get(name) or (set() if left else {OP})

    def _erased(self, name: str) -> tuple[bool | None, ...]:
        """What cleaning a device rests on."""
        firmware = (self.facts.holds("A23", "firmware_restored"),) if name in self.facts.site.host else ()
        return (self.facts.holds("A9", "steps_erase"), *firmware)

    def idle(self) -> None:
        """Last of all: what was cleaned and nobody has is its former holder's or the operator's, and never of both.

        To mark it for both would be a meeting of the two. So it is the operator's, perhaps, where its former holder's
        things come to it; what was left on its like is no such thing, since then it was left here too.
        """
        places = {machine.name: part_of(machine, "rnic") for machine in self.facts.site.machines}
        places |= {host.name: whole_of(host) for host in self.facts.site.hosts if self.facts.is_whole(host)}
        places |= {host.name: passed_of(host) for host in self.facts.site.hosts if self.facts.is_passed_on(host)}
        doubtful = [name for name in places if not self.holders.get(name) and _open(self._erased(name))]
        found: list[Place] = []
        for name in doubtful:
            alike = [other for other in places if len(self._erased(other)) == len(self._erased(name))]
            for tenant in self.facts.world.had(name):
                seeds = [mark.place for mark in self.terrain.marks if mark.owner == tenant]
                seeds = [place for place in seeds if place[0] != "left by" or place[-1] not in alike]
                if places[name] in flood(self.terrain, seeds, must=False, one_way=True):
                    found.append(places[name])
        for place in found:
            self.terrain.mark(place, OP, certain=False)

    def _left_by_others(self, name: str, device: Place) -> None:
        """What was cleaned is as its former holder left it if cleaning does not erase."""
        for tenant in self.facts.world.had(name):
            former: Place = ("left by", tenant, name)
            self.terrain.mark(former, tenant)
            self.terrain.unless(self.facts.holds("A9", "steps_erase"), device, former, "A9")
            if name in self.facts.site.host:
                self.terrain.unless(self.facts.holds("A23", "firmware_restored"), device, former, "A23")

    def _machine(self, machine: Machine) -> None:
        parts: dict[str, Place] = {part: part_of(machine, part) for part in ("rnic", "gw", "bmc")}
        for owner in self._owners(machine.name):
            self.terrain.mark(parts["rnic"], owner)
            self.terrain.alone(("machine", machine.serial), owner, "Excl")
            # Whoever has the machine sends from its address.
            for address in [machine.macs["rnic"]] if "rnic" in machine.macs else []:
                self.terrain.alone(("address", address.lower().replace("-", ":")), owner, "Excl")
        for part in ("gw", "bmc"):
            self.terrain.mark(parts[part], OP)
            self._attach(parts[part], machine.name, "mgmt")
        self._attach(parts["rnic"], machine.name, "rnic")
        self._left_by_others(machine.name, parts["rnic"])
        held = self.facts.holds("A3", "no_forwarding", "credentials_rotated", "agent_port_operator_only")
        self.terrain.unless(held, parts["rnic"], parts["gw"], "E15")
        self.terrain.unless(held, parts["gw"], parts["bmc"], "E15")

    def _host(self, host: Host) -> None:
        """A host given out whole, and the BMC of any host."""
        whole, bmc, is_whole = whole_of(host), bmc_of(host), self.facts.is_whole(host)
        self.terrain.mark(bmc, OP)
        if is_whole:
            # The way from a host to its BMC needs no cable.
            self.terrain.unless(self.facts.holds("A13", "in_band_closed"), whole, bmc, "E14")
        self._plugs(host)
        if is_whole:
            self._lent(host, whole, ("compute", "storage"))
        elif self.facts.is_passed_on(host):
            self._passed_on(host)

    def _plugs(self, host: Host) -> None:
        """What a host's interfaces and its BMC are cabled to."""
        whole, bmc, is_whole = whole_of(host), bmc_of(host), self.facts.is_whole(host)
        for interface in [name for device, name in self.facts.behind if device == host.name]:
            if interface == host.bmc:
                self._attach(bmc, host.name, interface)
            elif is_whole and interface in self.facts.doubtful_plugs(host):
                self._either(host, interface)
            elif is_whole:
                self._attach(whole, host.name, interface)
            elif interface not in listed(host):
                # The hypervisor's own interface: a device of the operator, or one for guests that is not listed.
                more = False if self.facts.declared(host.name) else self.facts.more("attachments", host.name)
                if more is not True:
                    self._operators(("hypervisor's own", host.serial), host.name, interface, certain=more is False)

    def _passed_on(self, host: Host) -> None:
        """Whatever its flavour says, a server there has GPUs and compute adapters; the others stay the host's."""
        self._lent(host, passed_of(host), ("compute",))
        for fabric, guid in self._kept_ports(host):
            self.terrain.mark(("infiniband port", fabric, guid), OP)
        if any(self.facts.world.had(host.name)):
            # A guest's code may be in what carries the next one.
            self.terrain.mark(("hypervisor", host.name), OP)
            self._left_by_others(host.name, ("hypervisor", host.name))
        for stack in self.facts.world.stacks:
            for name, guest in stack.all(Server):
                if guest.host == host.name:
                    self.terrain.hop(("server", stack.owner, name), passed_of(host), "E5")

    def _kept_ports(self, host: Host) -> Iterator[tuple[str, str]]:
        prefixes = {item.name: item.prefix for item in self.facts.site.infiniband}
        for port in self.facts.site.gpu_node[host.name].ports:
            if port.use != "compute" and port.guid is not None:
                yield prefixes.get(port.infiniband, port.infiniband), port.guid

    def _lent(self, host: Host, device: Place, uses: tuple[str, ...]) -> None:
        """What one owner at a time has of a host, and the InfiniBand ports that come with it."""
        self._left_by_others(host.name, device)
        self._adapters(host, device, uses)
        for owner in self._owners(host.name):
            self.terrain.mark(device, owner)
            self.terrain.alone(("host", host.serial), owner, "Excl")

    def _adapters(self, host: Host, whole: Place, uses: tuple[str, ...]) -> None:
        """Whoever has a GPU node has its InfiniBand ports. One whose GUID is not stated may be any that no node has."""
        node = self.facts.site.gpu_node.get(host.name)
        prefixes = {item.name: item.prefix for item in self.facts.site.infiniband}
        listed = {port.guid for item in self.facts.site.gpu_nodes for port in item.ports}
        for port in (port for port in node.ports if port.use in uses) if node is not None else ():
            fabric = prefixes.get(port.infiniband, port.infiniband)
            if port.guid is not None:
                self.terrain.hop(whole, ("infiniband port", fabric, port.guid), "E9")
                continue
            for there, guid in self._named_ports:
                if there == fabric and guid not in listed:
                    self.terrain.hop(whole, ("infiniband port", fabric, guid), "E9", certain=False)

    @cached_property
    def _named_ports(self) -> set[tuple[str, str]]:
        """(subnet, GUID) of every member of a key."""
        prefixes = {item.name: item.prefix for item in self.facts.site.infiniband}
        keys = (item for stack in self.facts.world.stacks for _, item in stack.all(PartitionKey))
        return {(prefixes.get(item.infiniband, item.infiniband), one.guid) for item in keys for one in item.members}

    def _either(self, host: Host, interface: str) -> None:
        """A plug that is the borrower's, or the BMC's."""
        plug: Place = ("plug", host.serial, interface)
        self._attach(plug, host.name, interface)
        for device in (whole_of(host), bmc_of(host)):
            self.terrain.hop(device, plug, "E9", certain=False)

    def _other_devices(self) -> None:
        known = {*self.facts.site.machine, *self.facts.site.host}
        for device, interface in self.facts.behind:
            if device not in known:
                self._operators(("device", device), device, interface)

    def _operators(self, place: Place, name: str, interface: str, *, certain: bool = True) -> None:
        """A device of the operator's behind a switch port."""
        at = self.facts.behind[name, interface]
        declared = self.facts.declared(name)
        found = self.switches.heard(at) if declared else self.switches.any_tag(at)
        met = ((other, known and certain) for other, known in found)
        put(self.terrain, place, declared, met, "E5")

    def _links(self) -> None:
        """Cables between machines carry nothing over a boundary only while V-IPU keeps it shut."""
        held = self.facts.holds("A4", "one_allocation_each", "secure_tls", "operator_run")
        machines = self.facts.site.machine
        for cable in self.facts.site.cables if held is not True else ():
            if cable.kind in LINKS and cable.a.device in machines and cable.b.device in machines:
                a, b = (part_of(machines[end.device], "rnic") for end in (cable.a, cable.b))
                self.terrain.unless(held, a, b, "E16")

    def _allocations(self, stack: Stack) -> None:
        for name, allocation in stack.all(VipuAllocation):
            for machine in allocation.machines:
                if machine in self.facts.site.machine:
                    rnic = part_of(self.facts.site.machine[machine], "rnic")
                    self.terrain.hop(("allocation", stack.owner, name), rnic, "E16")

    def _nvlink(self, stack: Stack) -> None:
        held = self.facts.holds("A8", "partitions_applied", "default_partition_empty")
        for _, item in stack.all(NvlinkPartition):
            partition = ("nvlink", item.domain, item.partition)
            self.terrain.alone(partition, stack.owner, "Excl")
            self.terrain.unless(held, partition, ("nvlink", item.domain, "every"), "A8")
            if item.domain in self.facts.site.gpu_node and item.domain in self.facts.site.host:
                # The node is the domain: whoever has root on it reads and writes all memory of its GPUs.
                node = self.facts.site.host[item.domain]
                device = whole_of(node) if self.facts.is_whole(node) else passed_of(node)
                self.terrain.hop(device, partition, "E17")
            for gpu in item.gpus:
                self.terrain.mark(("gpu", item.domain, gpu), stack.owner)
                self.terrain.hop(("gpu", item.domain, gpu), partition, "E17")

    def _keys(self, stack: Stack) -> None:
        prefixes = {item.name: item.prefix for item in self.facts.site.infiniband}
        for _, item in stack.all(PartitionKey):
            fabric, key = prefixes.get(item.infiniband, item.infiniband), item.key & 0x7FFF
            # In a key that several fill it is the one with the full member who chose it.
            fills_only = item.shared and all(member.membership == "limited" for member in item.members)
            if key != DEFAULT_KEY and not fills_only:
                self.terrain.alone(("key", fabric, key), stack.owner, "Excl")
            for member in item.members:
                port = ("infiniband port", fabric, member.guid)
                if self._is_its_own(stack, member.guid):
                    self.terrain.mark(port, stack.owner)
                    self.terrain.alone(port, stack.owner, "Excl")
                self.terrain.hop(port, ("member of", fabric, key, member.guid), "E19")
                if member.membership == "full" or "roles" in self.terrain.without:
                    self._full_members.append((fabric, key, member.guid))
                self._members.append((fabric, key, member.guid))

    def _is_its_own(self, stack: Stack, guid: str) -> bool:
        """In a key of the operator's a port may be a tenant's, who has it in a key of its own, or its node; a declared
        one is the operator's, whoever names it."""
        if self.facts.declared(guid) is not None:
            return False
        return stack.owner != OP or guid not in self._tenants_ports

    @cached_property
    def _tenants_ports(self) -> set[str]:
        stacks = (stack for stack in self.facts.world.stacks if stack.owner != OP)
        keys = (item for stack in stacks for _, item in stack.all(PartitionKey))
        lent = (node for node in self.facts.site.gpu_nodes if self.holders.get(node.name, set()) - {OP})
        theirs = {
            port.guid
            for node in lent
            for port in node.ports
            if port.guid is not None and (port.use == "compute" or self._is_whole(node.name))
        }
        return theirs | {member.guid for item in keys for member in item.members}

    @cached_property
    def _members(self) -> list[tuple[str, int, str]]:
        return []

    @cached_property
    def _full_members(self) -> list[tuple[str, int, str]]:
        return []

    def _fabric_faults(self) -> None:
        """A full member hears and answers everybody of its key; limited members alone hear nobody."""
        guards = ("subnet_manager_keys_set", "keys_enforced_at_switch", "default_partition_limited")
        held = self.facts.holds("A6", *guards)
        for fabric, key, guid in self._full_members:
            others: list[Place] = [("member of", *item) for item in self._members if item[:2] == (fabric, key)]
            declared = self.facts.declared(guid)
            if declared is not None:
                met = ((other, True) for other in others if other[-1] != guid)
                put(self.terrain, ("infiniband port", fabric, guid), declared, met, "E19")
                continue
            for other in others:
                self.terrain.hop(("member of", fabric, key, guid), other, "E19")
        for fabric, key, guid in self._members:
            self.terrain.unless(held, ("member of", fabric, key, guid), ("every key", fabric), "A6")


def _open(guards: Iterable[bool | None]) -> bool:
    """Nobody knows whether all of them hold."""
    found = {*guards}
    return None in found and False not in found


def part_of(machine: Machine, part: str) -> Place:
    """RNIC, gateway or BMC of a machine."""
    return (part, machine.serial)


def whole_of(host: Host) -> Place:
    """A host as one device that somebody has root on."""
    return ("whole host", host.serial)


def passed_of(host: Host) -> Place:
    """GPUs and NVSwitches of a GPU node below a hypervisor, as one device."""
    return ("passed on", host.serial)


def bmc_of(host: Host) -> Place:
    """Its BMC, which is there with or without a cable."""
    return ("bmc", host.serial)


def _told_of(stack: Stack) -> Iterator[str]:
    """The machines that V-IPU controllers of a stack are told of, as agents or in an allocation."""
    for _, allocation in stack.all(VipuAllocation):
        yield from allocation.machines
    for _, agent in stack.all(VipuAgent):
        yield agent.machine
