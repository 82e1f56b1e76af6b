"""How one switch port is set, by its record in the site file; without one, by what is declared of the table."""

from __future__ import annotations

from collections.abc import Iterable

from interlock.model.site.inventory import Site, Switch, SwitchPortConfig

from .kinds import NO_PORT, PortMode, SwitchEnd


def is_disabled(site: Site, end: SwitchEnd) -> bool:
    """True if it is stated so, or there is no record of it and the table of ports is complete."""
    record = site.switch[end.switch].by_port.get(end.port)
    if record is None:
        return end.port != NO_PORT and site.is_complete("switch_ports", end.switch)
    return record.mode == "disabled"


def recorded_mode(site: Site, end: SwitchEnd) -> PortMode:
    """What the site file says of a port."""
    record = site.switch[end.switch].by_port.get(end.port)
    if record is None or record.mode == "disabled":
        return PortMode(known=is_disabled(site, end))
    if record.mode == "routed":
        return PortMode(known=True, routed=True)
    if record.mode == "dot1q-tunnel":
        return PortMode(known=False, unmodelled=True)
    return _modelled(end.switch, record)


def _modelled(switch: str, record: SwitchPortConfig) -> PortMode:
    """An access port or a trunk. `tag native` makes the native VLAN one of the tagged ones."""
    trunk = record.mode == "trunk"
    tagged = record.tagged if trunk else ()
    untagged = frozenset() if record.untagged is None else frozenset({record.untagged})
    if trunk and record.tag_native:
        tagged = tagged if tagged is None else (*tagged, *((vlan, vlan) for vlan in untagged))
        untagged = frozenset()
    return PortMode(
        known=True,
        untagged=untagged,
        tagged=tagged,
        tag_native=record.tag_native,
        perhaps_tagged=untagged if trunk and record.tag_native is None else frozenset(),
        translations=record.translations if trunk else (),
        private=record.private_vlan,
        filled=frozenset({switch} if trunk and tagged is not None and record.filled_by else ()),
    )


def configured_vlans(switches: Iterable[Switch]) -> frozenset[int]:
    """The VLAN ids that the site file itself puts to use on switches."""
    found: set[int] = set()
    for switch in switches:
        found.update(switch.routed_vlans or (), *(item.vlans for item in switch.vrfs))
        found.update(item.vlan for item in switch.vteps)
        for port in switch.ports:
            found.update(() if port.untagged is None else (port.untagged,), *port.translations)
    return frozenset(found)
