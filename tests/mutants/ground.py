"""The ground that generated workspaces stand on: racks in halls, their switches and links, and what else is cabled.

tor-r1 ──┐                      ┌── mgmt-r1      tor: 1-16 RNICs, 17-24 Poplar hosts, 25-26 whole host, 29-30 devices,
tor-r2 ──┴─ spine-1    mspine-1 ┴── mgmt-r2           31 to the spine, 32 to the first leaf of the next hall
tor-r3 ──── spine-2    mspine-2 ─── mgmt-r3      mgmt: 1-16 machines, 33-34 whole host and its BMC, 37-40 hosts,
                                                      41-44 infra hosts, 45 devices, 47 to the spine

Serials hold no name, so that a rename of everything leaves them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from interlock.model.site.inventory import (
    Cable,
    Endpoint,
    Host,
    LogicalRack,
    Machine,
    PhysicalNetwork,
    Switch,
    SwitchPortConfig,
)
from tests.builders.pod64 import cable

#: The ids that links between switches may carry, and a native VLAN that nothing uses.
DATA, MANAGEMENT, CONTROL, DEAD = ((1000, 1999), (2000, 2999)), (110, 199), (3000, 3004), 3999


@dataclass(frozen=True)
class Ground:
    """How many racks each hall has, and what stands in them."""

    halls: tuple[int, ...] = (1,)
    hosts: int = 4
    #: Whole hosts in each rack: none or one.
    metal: int = 0
    #: Whether a link joins the first leaves of neighbouring halls, and carries nothing.
    core: bool = False
    #: Whether links between switches have a native VLAN, a dead one.
    natives: bool = False
    #: Whether the native VLAN is sent with its tag.
    tag_native: bool = False

    @property
    def racks(self) -> tuple[tuple[int, int], ...]:
        """(hall, rack), both from 1; racks are numbered through."""
        found = [hall for hall, count in enumerate(self.halls, start=1) for _ in range(count)]
        return tuple((hall, rack) for rack, hall in enumerate(found, start=1))

    @property
    def managed(self) -> tuple[tuple[int, int], ...]:
        """What the management switches carry: control VLANs only where there are whole hosts."""
        return (MANAGEMENT, CONTROL) if self.metal else (MANAGEMENT,)

    def leaves(self, hall: int) -> tuple[str, ...]:
        """The leaf switches of a hall."""
        return tuple(f"tor-r{rack}" for at, rack in self.racks if at == hall)

    @property
    def cores(self) -> tuple[tuple[str, str], ...]:
        """The pairs of leaves that core links join."""
        leaves = [self.leaves(hall + 1)[0] for hall in range(len(self.halls))]
        return tuple(pairwise(leaves)) if self.core else ()


def machine(rack: int, position: int) -> str:
    """The name of a machine."""
    return f"r{rack}-m{position:02}"


def machines(ground: Ground) -> tuple[Machine, ...]:
    """Sixteen in each rack."""
    return tuple(
        Machine(
            name=machine(rack, position), serial=f"S1{rack}{position:02}", logical_rack=f"lr{rack}", position=position
        )
        for _, rack in ground.racks
        for position in range(1, 17)
    )


def logical_racks(ground: Ground) -> tuple[LogicalRack, ...]:
    """One in each rack."""
    return tuple(LogicalRack(name=f"lr{rack}", number=rack) for _, rack in ground.racks)


def hosts(ground: Ground) -> tuple[Host, ...]:
    """Poplar hosts, whole ones, and an infra host for each hall."""
    found = [
        _poplar(hall, rack, number, metal=number > ground.hosts)
        for hall, rack in ground.racks
        for number in range(1, ground.hosts + ground.metal + 1)
    ]
    for hall in range(1, len(ground.halls) + 1):
        interfaces: dict[str, tuple[str, ...]] = {f"mgmt-h{hall}": ("eno1",), "external": ("eno2",)}
        found.append(
            Host(
                name=f"infra-h{hall}", serial=f"S3{hall}", role="infra", shared_cpus=128, ram_gib=512,
                interfaces=interfaces,
            )
        )  # fmt: skip
    return tuple(found)


def _poplar(hall: int, rack: int, number: int, *, metal: bool) -> Host:
    interfaces: dict[str, tuple[str, ...]] = {f"fabric-h{hall}": ("f0", "f1")}
    if metal:
        interfaces[f"mgmt-h{hall}"] = ("e0",)
    name = f"r{rack}-b{number}" if metal else f"r{rack}-p{number}"
    return Host(
        name=name, serial=f"S2{rack}{number}", role="poplar", logical_rack=f"lr{rack}", bmc="bmc",
        provisioning="bare-metal" if metal else "hypervisor", dedicated_cpus=224, huge_pages_gib=464,
        virtual_functions=16, interfaces=interfaces,
    )  # fmt: skip


def physical_networks(ground: Ground) -> tuple[PhysicalNetwork, ...]:
    """A fabric and a management network for each hall, and the external one."""
    found = []
    for hall in range(1, len(ground.halls) + 1):
        racks = [rack for at, rack in ground.racks if at == hall]
        found.append(PhysicalNetwork(name=f"fabric-h{hall}", switches=tuple(f"tor-r{rack}" for rack in racks)))
        found.append(PhysicalNetwork(name=f"mgmt-h{hall}", switches=tuple(f"mgmt-r{rack}" for rack in racks)))
    return (*found, PhysicalNetwork(name="external", switches=("mgmt-r1",)))


def switches(ground: Ground) -> tuple[Switch, ...]:
    """Two in each rack, two spines in each hall of several racks."""
    found: list[Switch] = []
    for hall, rack in ground.racks:
        found += [_tor(ground, hall, rack), _management(ground, hall, rack)]
    for hall, count in enumerate(ground.halls, start=1):
        if count > 1:
            down = range(1, count + 1)
            found.append(_switch(f"spine-{hall}", "spine", [_link(ground, port, *DATA) for port in down]))
            ports = [_link(ground, port, *ground.managed) for port in down]
            found.append(_switch(f"mspine-{hall}", "spine", ports))
    return tuple(found)


def _tor(ground: Ground, hall: int, rack: int) -> Switch:
    ports = [SwitchPortConfig(port=port, mode="access") for port in (*range(1, 17), 25, 26)]
    ports += [_trunk(port, *DATA) for port in range(17, 25)]
    if ground.halls[hall - 1] > 1:
        ports.append(_link(ground, 31, *DATA))
    if any(f"tor-r{rack}" in pair for pair in ground.cores):
        ports += [_link(ground, port) for port in (32, 33)]
    return _switch(f"tor-r{rack}", "tor", ports)


def _management(ground: Ground, hall: int, rack: int) -> Switch:
    ports = [SwitchPortConfig(port=port, mode="access") for port in (*range(1, 17), 33)]
    ports += [SwitchPortConfig(port=port, mode="access", untagged=10) for port in (34, *range(37, 41))]
    ports += [_trunk(port, *ground.managed) for port in (41, 42)]
    ports += [SwitchPortConfig(port=port, mode="access", untagged=100) for port in (43, 44)]
    if ground.halls[hall - 1] > 1:
        ports.append(_link(ground, 47, *ground.managed))
    return _switch(f"mgmt-r{rack}", "management", ports)


def _trunk(port: int, *tagged: tuple[int, int]) -> SwitchPortConfig:
    return SwitchPortConfig(port=port, mode="trunk", tagged=tagged)


def _link(ground: Ground, port: int, *tagged: tuple[int, int]) -> SwitchPortConfig:
    native = DEAD if ground.natives else None
    tag_native = True if ground.natives and ground.tag_native else None
    return SwitchPortConfig(port=port, mode="trunk", tagged=tagged, untagged=native, tag_native=tag_native)


#: Switch -> what its serial begins with.
_KINDS = {"tor": "S4", "mgmt": "S5", "spine": "S6", "mspine": "S7"}


def _switch(name: str, role: str, ports: Sequence[SwitchPortConfig]) -> Switch:
    kind, _, number = name.partition("-")
    return Switch.model_validate(
        {
            "name": name, "serial": f"{_KINDS[kind]}{number.removeprefix('r')}", "model": "arista-7060x", "role": role,
            "port_groups": ((100, 48), (10, 4)), "ports": tuple(sorted(ports, key=lambda item: item.port)),
            "routed_vlans": (), "ip_routing": False,
        }
    )  # fmt: skip


def cables(ground: Ground) -> Iterator[Cable]:
    """Every cable of the picture above, and the IPU-Links between neighbours."""
    for hall, rack in ground.racks:
        yield from _machine_cables(rack)
        yield from _host_cables(ground, rack)
        if ground.halls[hall - 1] > 1:
            down = [at for at, _ in ground.racks[:rack]].count(hall)
            yield cable(f"tor-r{rack}:31", f"spine-{hall}:{down}")
            yield cable(f"mgmt-r{rack}:47", f"mspine-{hall}:{down}")
    for hall in range(1, len(ground.halls) + 1):
        first = ground.leaves(hall)[0].removeprefix("tor-")
        yield cable(f"infra-h{hall}:eno1", f"mgmt-{first}:41")
        yield cable(f"infra-h{hall}:eno2", f"mgmt-{first}:43")
    yield from (cable(f"{one}:32", f"{other}:33") for one, other in ground.cores)


def _machine_cables(rack: int) -> Iterator[Cable]:
    for position in range(1, 17):
        yield cable(f"{machine(rack, position)}:rnic", f"tor-r{rack}:{position}")
        yield cable(f"{machine(rack, position)}:mgmt", f"mgmt-r{rack}:{position}")
    for position in range(1, 16):
        for link in range(1, 5):
            a = Endpoint(device=machine(rack, position), interface=f"ipu-link-down-{link}")
            b = Endpoint(device=machine(rack, position + 1), interface=f"ipu-link-up-{link}")
            yield Cable(a=a, b=b, kind="ipu-link")


def _host_cables(ground: Ground, rack: int) -> Iterator[Cable]:
    for number in range(1, ground.hosts + 1):
        yield cable(f"r{rack}-p{number}:f0", f"tor-r{rack}:{15 + 2 * number}")
        yield cable(f"r{rack}-p{number}:f1", f"tor-r{rack}:{16 + 2 * number}")
        yield cable(f"r{rack}-p{number}:eno1", f"mgmt-r{rack}:{36 + number}")
    for number in range(ground.hosts + 1, ground.hosts + ground.metal + 1):
        yield cable(f"r{rack}-b{number}:f0", f"tor-r{rack}:25")
        yield cable(f"r{rack}-b{number}:f1", f"tor-r{rack}:26")
        yield cable(f"r{rack}-b{number}:e0", f"mgmt-r{rack}:33")
        yield cable(f"r{rack}-b{number}:bmc", f"mgmt-r{rack}:34")
