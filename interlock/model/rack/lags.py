"""Ports that act as one link: the two 100G of each server, and the ToR's uplinks where they are cabled."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from interlock.model.site.physical import Cable, Lag, Switch, SwitchPortConfig

from .file import RackFile
from .names import logical_parts, tor_roles


def server_lags(rack: RackFile) -> Iterator[Lag]:
    """Both 100G interfaces of each hypervisor, which end at one ToR: virtual functions lie on the pair (VF-LAG).

    A whole host has a network on each.
    """
    for part in logical_parts(rack):
        for host in (name for name in part.hosts if name not in rack.poplar.bare_metal.names):
            yield Lag(
                name=f"{host}-fabric",
                device=host,
                interfaces=tuple(rack.poplar.tor_interfaces),
                mode="vf-lag",
            )


def uplink_lags(rack: RackFile, switches: Sequence[Switch], cables: Sequence[Cable]) -> Iterator[Lag]:
    """Uplinks of each ToR that are switched and cabled to one device: two links beside each other would loop.

    Routed uplinks are links of their own. `cables` are those of the site file: no design has an uplink's.
    """
    first, last = tor_roles(rack).get("uplinks", (1, 0))
    tors = {part.tor for part in logical_parts(rack)}
    for switch in (item for item in switches if item.name in tors):
        ports = [config for config in switch.ports if first <= config.port <= last and _switched(config)]
        for far, interfaces in _by_far_device(switch.name, ports, cables).items():
            if len(interfaces) > 1:
                yield Lag(name=f"{switch.name}-to-{far}", device=switch.name, interfaces=tuple(interfaces))


def _switched(config: SwitchPortConfig) -> bool:
    return config.mode in ("access", "trunk")


def _by_far_device(switch: str, ports: Sequence[SwitchPortConfig], cables: Sequence[Cable]) -> dict[str, list[str]]:
    """Far device -> interfaces of the switch that lead to it, in the order of the ports."""
    ends = [(near, far) for cable in cables for near, far in ((cable.a, cable.b), (cable.b, cable.a))]
    leads = {near.interface: far.device for near, far in ends if near.device == switch}
    found = dict[str, list[str]]()
    for config in ports:
        if str(config.port) in leads:
            found.setdefault(leads[str(config.port)], []).append(str(config.port))
    return found
