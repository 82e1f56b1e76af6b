"""Sites of several racks, built by hand: each *hall* of racks is one leaf group with VLANs of its own.

rack r1 ── tor-r1 ──┐                         ┌── mgmt-r1 ── ipum 1-16, infra-h1
rack r2 ── tor-r2 ──┴─ fabric-h1   mgmt-h1 ───┴── mgmt-r2
rack r3 ── tor-r3 ──── fabric-h2   mgmt-h2 ────── mgmt-r3 ── infra-h2

A rack has 16 machines, Poplar hosts on its ToR and, if asked for, bare-metal hosts beside them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.model.site.inventory import (
    Cable,
    Endpoint,
    Generation,
    Host,
    LogicalRack,
    Machine,
    PhysicalNetwork,
    Site,
    Switch,
    VlanPool,
)
from tests.builders.pod64 import pod64, pools

#: The racks of each hall.
Halls = Sequence[Sequence[str]]


def halls(
    racks: Halls,
    *,
    joined: Sequence[tuple[str, str]] = (),
    torus: Sequence[str] = (),
    bow: Sequence[str] = (),
    hosts: int = 4,
    bare_metal: int = 0,
    **overrides: object,
) -> Site:
    """A site of these halls. `joined`: pairs of racks that GW-Links join at all positions."""
    names = [rack for hall in racks for rack in hall]
    fabrics = tuple(f"fabric-h{number}" for number in range(1, len(racks) + 1))
    managements = tuple(f"mgmt-h{number}" for number in range(1, len(racks) + 1))
    fields: dict[str, object] = {
        "logical_racks": tuple(
            LogicalRack(name=name, number=number, topology="torus" if name in torus else "mesh")
            for number, name in enumerate(names, start=1)
        ),
        "machines": tuple(
            machine for name in names for machine in machines_of(name, "bow-2000" if name in bow else "ipu-m2000")
        ),
        "hosts": tuple(_hosts(racks, hosts, bare_metal)),
        "switches": tuple(switch for name in names for switch in _switches(name)),
        "cables": (*_cables(racks, hosts, bare_metal), *(cable for pair in joined for cable in gw_cables(*pair))),
        "physical_networks": tuple(_networks(racks)),
        "pools": pools(
            ipu_data=VlanPool(physical_networks=fabrics, vlans=((1000, 1999),)),
            storage=VlanPool(physical_networks=fabrics, vlans=((2000, 2999),)),
            management=VlanPool(physical_networks=managements, vlans=((110, 199),)),
            bare_metal_control=VlanPool(physical_networks=managements, vlans=((3000, 3004),)),
            control=((5000, 25000),),
            ipu_data_subnets=("10.0.0.0/10", 24),
            storage_subnets=("10.64.0.0/10", 24),
            control_subnets=("10.128.0.0/10", 24),
            management_subnets=("10.192.0.0/10", 26),
        ),
    }
    return pod64(**(fields | overrides))


def machine(rack: str, position: int) -> str:
    """The name of a machine."""
    return f"{rack}-m{position:02}"


def block(rack: str, first: int, last: int) -> tuple[str, ...]:
    """The machines from one position to another."""
    return tuple(machine(rack, position) for position in range(first, last + 1))


def machines_of(rack: str, generation: Generation = "ipu-m2000") -> tuple[Machine, ...]:
    """The machines of a rack."""
    return tuple(
        Machine(
            name=machine(rack, position), serial=f"SN-{machine(rack, position)}", logical_rack=rack,
            position=position, generation=generation,
        )
        for position in range(1, 17)
    )  # fmt: skip


def gw_cables(one: str, other: str) -> Iterator[Cable]:
    """GW-Links between the same-numbered machines of two racks."""
    for position in range(1, 17):
        ends = (machine(one, position), f"gw-to-{other}"), (machine(other, position), f"gw-to-{one}")
        yield cable(*ends[0], *ends[1], kind="gw-link")


def cable(device: str, interface: str, other: str, plug: str, kind: str = "ethernet") -> Cable:
    """A cable between two plugs."""
    ends = {"a": Endpoint(device=device, interface=interface), "b": Endpoint(device=other, interface=plug)}
    return Cable.model_validate(ends | {"kind": kind})


def _hosts(racks: Halls, vm_hosts: int, bare_metal: int) -> Iterator[Host]:
    for number, hall in enumerate(racks, start=1):
        for rack in hall:
            for index in range(1, vm_hosts + bare_metal + 1):
                bare = index > vm_hosts
                interfaces: dict[str, tuple[str, ...]] = {f"fabric-h{number}": ("f0", "f1")}
                interfaces |= {f"mgmt-h{number}": ("e0",)} if bare else {}
                yield Host(
                    name=f"{rack}-p{index}", serial=f"SN-{rack}-p{index}", role="poplar", logical_rack=rack,
                    provisioning="bare-metal" if bare else "hypervisor", dedicated_cpus=224, huge_pages_gib=464,
                    virtual_functions=16, interfaces=interfaces,
                )  # fmt: skip
        yield Host(
            name=f"infra-h{number}", serial=f"SN-infra-h{number}", role="infra", shared_cpus=128, ram_gib=512,
            interfaces={f"mgmt-h{number}": ("e0",)},
        )  # fmt: skip


def _switches(rack: str) -> tuple[Switch, Switch]:
    tor = Switch(
        name=f"tor-{rack}", serial=f"SN-tor-{rack}", model="arista-7060x", role="tor", port_groups=((100, 32),)
    )
    management = Switch(
        name=f"mgmt-{rack}", serial=f"SN-mgmt-{rack}", model="arista-7010t", role="management", port_groups=((1, 48),)
    )
    return tor, management


def _networks(racks: Halls) -> Iterator[PhysicalNetwork]:
    for number, hall in enumerate(racks, start=1):
        yield PhysicalNetwork(name=f"fabric-h{number}", switches=tuple(f"tor-{rack}" for rack in hall))
        yield PhysicalNetwork(name=f"mgmt-h{number}", switches=tuple(f"mgmt-{rack}" for rack in hall))
    yield PhysicalNetwork(name="external", switches=())


def _cables(racks: Halls, vm_hosts: int, bare_metal: int) -> Iterator[Cable]:
    for number, hall in enumerate(racks, start=1):
        for rack in hall:
            for position in range(1, 17):
                yield cable(machine(rack, position), "rnic", f"tor-{rack}", str(position))
                yield cable(machine(rack, position), "mgmt", f"mgmt-{rack}", str(position))
            for index in range(1, vm_hosts + bare_metal + 1):
                yield cable(f"{rack}-p{index}", "f0", f"tor-{rack}", str(15 + 2 * index))
                yield cable(f"{rack}-p{index}", "f1", f"tor-{rack}", str(16 + 2 * index))
                yield cable(f"{rack}-p{index}", "e0", f"mgmt-{rack}", str(36 + index))
        yield cable(f"infra-h{number}", "e0", f"mgmt-{hall[0]}", "48")
