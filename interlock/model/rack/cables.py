"""Cables of a pod: to both switches, IPU-Links and Sync-Links in a logical rack, GW-Links between them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.hardware import RackDesign
from interlock.model.site.physical import Cable, CableKind, Endpoint

from .file import RackFile
from .names import (
    LogicalPart,
    design_of,
    gw_switch_names,
    logical_parts,
    management_roles,
    tor_roles,
)

#: (device, interface).
End = tuple[str, str]


def pod_cables(rack: RackFile) -> Iterator[Cable]:
    """Every cable of the design; those of power are in `rack_power`."""
    design, parts = design_of(rack).rack, logical_parts(rack)
    for part in parts:
        yield from _tor_cables(rack, part)
        yield from _management_cables(rack, part)
        yield from _chain_cables(rack, part, design)
    yield from _gateway_cables(rack, parts)


def _tor_cables(rack: RackFile, part: LogicalPart) -> Iterator[Cable]:
    ports = tor_roles(rack)
    yield from _row(part.tor, ports["machines"], [(name, "rnic") for name in part.machines])
    hosts = [(name, interface) for name in part.hosts for interface in rack.poplar.tor_interfaces]
    yield from _row(part.tor, ports["servers"], hosts)


def _management_cables(rack: RackFile, part: LogicalPart) -> Iterator[Cable]:
    ports, switch = management_roles(rack), part.management
    servers = [(name, interface) for name in part.hosts for interface in rack.poplar.management_interfaces]
    for role, ends in (
        ("machines", [(name, "mgmt") for name in part.machines]),
        ("idrac", [(name, "idrac") for name in part.hosts]),
        ("servers", servers),
        ("tor", [(part.own_management, "mgmt")]),
        ("pdus", [(name, "mgmt") for name in part.pdus]),
    ):
        if ends:
            yield from _row(switch, ports[role], ends)


def _row(switch: str, ports: tuple[int, int], ends: Sequence[End]) -> Iterator[Cable]:
    """Cables from the first ports of a block to these plugs, in order."""
    for port, end in enumerate(ends, start=ports[0]):
        yield _cable((switch, str(port)), end, "ethernet")


def _chain_cables(rack: RackFile, part: LogicalPart, design: RackDesign) -> Iterator[Cable]:
    """The chain m1—m2—…—m16, and back from m16 to m1 only if the file states a torus."""
    pairs = list(zip(part.machines, part.machines[1:], strict=False))
    if rack.topology == "torus":
        pairs.append((part.machines[-1], part.machines[0]))
    for lower, upper in pairs:
        yield from _links(lower, upper, "ipu-link", design.machine.ipu_links_per_neighbour.value)
        yield from _links(lower, upper, "sync-link", rack.machines.sync_cables)


def _links(lower: str, upper: str, kind: CableKind, count: int) -> Iterator[Cable]:
    for number in range(1, count + 1):
        yield _cable((lower, f"{kind}-down-{number}"), (upper, f"{kind}-up-{number}"), kind)


def _gateway_cables(rack: RackFile, parts: Sequence[LogicalPart]) -> Iterator[Cable]:
    """GW-Links join machines of the same position; a machine has two, so direct cabling makes pair or ring."""
    mode = rack.gw or design_of(rack).gateway.value
    if mode == "direct-pair":
        yield from _pair_cables(parts[0], parts[1])
    elif mode == "looped":
        yield from _ring_cables(parts)
    elif mode == "switched":
        yield from _switched_cables(parts, gw_switch_names(rack))


def _pair_cables(one: LogicalPart, other: LogicalPart) -> Iterator[Cable]:
    for a, b in zip(one.machines, other.machines, strict=True):
        for number in (1, 2):
            yield _cable((a, _gw(number)), (b, _gw(number)), "gw-link")


def _ring_cables(parts: Sequence[LogicalPart]) -> Iterator[Cable]:
    """Port 2 of each machine to port 1 of its peer in the next logical rack, and from the last to the first."""
    for part, following in zip(parts, (*parts[1:], parts[0]), strict=True):
        for a, b in zip(part.machines, following.machines, strict=True):
            yield _cable((a, _gw(2)), (b, _gw(1)), "gw-link")


def _switched_cables(parts: Sequence[LogicalPart], switches: Sequence[str]) -> Iterator[Cable]:
    """Port 1 of each machine to the first switch, port 2 to the second, at the machine's number in the pod."""
    machines = [name for part in parts for name in part.machines]
    for number, switch in enumerate(switches, start=1):
        for port, name in enumerate(machines, start=1):
            yield _cable((switch, str(port)), (name, _gw(number)), "gw-link")


def _gw(number: int) -> str:
    return f"gw-link-{number}"


def _cable(a: End, b: End, kind: CableKind) -> Cable:
    return Cable(a=Endpoint(device=a[0], interface=a[1]), b=Endpoint(device=b[0], interface=b[1]), kind=kind)
