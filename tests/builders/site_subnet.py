"""The InfiniBand subnet of a site as ibsim has it: its switches, its cables, and the GUIDs that the site states.

A UFM appliance stands for the one port at which its subnet manager runs; the site's second cable of it is left out.
"""

from __future__ import annotations

from collections.abc import Iterator

from interlock.model.site.inventory import Endpoint, Site
from sandbox.infiniband.topology import SubnetTopology, TopologyCable, TopologyHca, TopologySwitch

#: Of switches and appliances whose GUID the site does not state.
_SWITCH_GUID, _MANAGER_GUID = 0x0002C903F0000000, 0x0002C903E0000000


def subnet_of_site(site: Site, infiniband: str) -> SubnetTopology:
    """One subnet with two appliances. HCAs are `<node>:<port>`. Raises TopologyWrong for a port without a GUID."""
    switches = tuple(
        TopologySwitch(item.name, item.ports, int(item.guid, 16) if item.guid else _SWITCH_GUID + number)
        for number, item in enumerate(site.fabric_switches)
        if item.infiniband == infiniband
    )
    hosts = tuple(
        TopologyHca(f"{node.name}:{port.name}", int(port.guid or "0", 16), f"{node.name} mlx5_{(port.rail or 1) - 1}")
        for node in site.gpu_nodes
        for port in node.ports
        if port.infiniband == infiniband
    )
    stated = {item.name for item in switches} | {item.name.partition(":")[0] for item in hosts}
    ends = [(cable.a, cable.b) for cable in site.cables if cable.kind == "infiniband"]
    managers = sorted({end.device for pair in ends for end in pair} - stated)[:2]
    appliances = tuple(TopologyHca(name, _MANAGER_GUID + 16 * (1 + n), name) for n, name in enumerate(managers))
    names = {item.name for item in switches} | {item.name for item in (*hosts, *appliances)}
    cables = tuple(_cables(ends, {item.name for item in switches}, set(managers), names))
    return SubnetTopology(switches, (*hosts, *appliances), cables, manager=managers[0], standby=managers[1])


def _cables(
    ends: list[tuple[Endpoint, Endpoint]], switches: set[str], managers: set[str], names: set[str]
) -> Iterator[TopologyCable]:
    def end(found: Endpoint) -> tuple[str, int]:
        if found.device in switches:
            return found.device, int(found.interface)
        if found.device in managers:
            return found.device if found.interface == "1" else "", 1
        return f"{found.device}:{found.interface}", 1

    for a, b in ends:
        (near, near_port), (far, far_port) = end(a), end(b)
        if near in names and far in names:
            yield TopologyCable(near, near_port, far, far_port)
