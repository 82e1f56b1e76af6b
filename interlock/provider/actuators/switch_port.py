"""Switch ports that Neutron wires: a Neutron port of VNIC type `baremetal`, bound by the driver of its switch.

The mechanism driver is networking-generic-switch, or another that reads `local_link_information`. It configures the
switch while Neutron handles the request: a switch that cannot be reached, or refuses, is an answer 500 and no port.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, ClassVar

from interlock.provider.clouds import Cloud
from interlock.provider.errors import Failure, Trouble
from interlock.provider.switch_settings import (
    PortAsPlanned,
    PortAsSaid,
    known_setting,
    names_port,
    setting_of,
    unconfirmed,
)
from interlock.resources import Resource, SwitchPort
from interlock.switches.errors import SwitchUnread

from .base import Ids, Observed, Phase, Target
from .neutron import NeutronActuator

#: Kind of port that a mechanism driver of switches binds.
VNIC_TYPE = "baremetal"

#: What Neutron calls a binding that no mechanism driver took, and one that was taken by a driver of switches.
_FAILED, _BOUND = "binding_failed", "other"

#: What is wrong with a port that no driver took. Neutron itself says only that binding failed.
_NO_DRIVER = (
    "Neutron could not bind it: its driver knows no switch {switch}, or that switch is not on the network's physical "
    "network"
)


#: What of a port says who binds what.
_SHOWN = [
    "id", "name", "description", "project_id", "binding:host_id", "binding:vnic_type", "binding:vif_type",
    "binding:profile",
]  # fmt: skip

#: What to do about a switch port that another Neutron port is bound to: both would set its VLAN.
ONE_WRITER = "a switch port has one writer: find out what that port is for and delete it, or correct the site's cables"


#: What to do when the driver of a switch failed.
_DRIVER_FAILED = (
    "see Neutron's log: whether {switch} answers at ssh from where Neutron runs, lets its user configure it, and calls "
    "the port so (`port_names` of the site file); then run `pulumi up` again"
)


def link_of(raw: Mapping[str, Any]) -> Mapping[str, Any]:
    """The switch and port that a Neutron port is bound to; empty if it names none, or several."""
    links: list[Mapping[str, Any]] = (raw.get("binding:profile") or {}).get("local_link_information") or []
    return links[0] if len(links) == 1 else {}


class SwitchPortActuator(NeutronActuator[SwitchPort]):
    """Bound Neutron ports. That no other port is bound to the same switch port is looked at in the preflight."""

    KIND: ClassVar[type[Resource]] = SwitchPort
    PATH: ClassVar[str] = "ports"
    ONE: ClassVar[str] = "port"
    MUTABLE: ClassVar[tuple[str, ...]] = ("fixed_ips",)
    #: Drivers log in to the switch, one port at a time; the switch is read back after each.
    PATIENCE: ClassVar[float] = 90.0

    def body(self, cloud: Cloud, target: Target[SwitchPort]) -> dict[str, Any]:
        spec, subnet = target.spec, target.one("subnet")
        link = {"switch_info": spec.switch, "port_id": spec.port_name}
        if spec.switch_mac is not None:
            link["switch_id"] = spec.switch_mac
        return {
            "name": target.name,
            "network_id": target.one("network"),
            "fixed_ips": [{"subnet_id": subnet, "ip_address": address} for address in spec.addresses],
            "binding:vnic_type": VNIC_TYPE,
            # A binding begins when the port has a host; drivers of switches do not look at its name.
            "binding:host_id": spec.device,
            "binding:profile": {"local_link_information": [link]},
            # Nothing filters between a switch port and what is behind it, so nothing is said to.
            "port_security_enabled": False,
        }

    def create(self, cloud: Cloud, target: Target[SwitchPort]) -> str:
        try:
            return super().create(cloud, target)
        except Failure as failure:
            if failure.trouble is not Trouble.SERVICE:
                raise
            # The driver's own failure: Neutron says no more than that it had one.
            what = f"Neutron could not set {target.spec.switch} {target.spec.port_name}: {failure.message}"
            raise Failure(failure.trouble, what, _DRIVER_FAILED.format(switch=target.spec.switch)) from failure

    def read(self, cloud: Cloud, ident: str, target: Target[SwitchPort] | None = None) -> Observed | None:
        seen = super().read(cloud, ident, target)
        if seen is None or target is None or cloud.switches is None or seen.phase is not Phase.READY:
            return seen
        try:
            said = cloud.switches.now(target.spec.switch, target.spec.switch_mac)
        except SwitchUnread as unread:
            return replace(seen, phase=Phase.PENDING, reason=unread_port(target.spec, unread))
        why = unconfirmed(target.spec, said)
        setting = setting_of(target.spec, said)
        # A port that is shut, or no access port, is in no VLAN.
        shown = {} if setting is None or setting.carries(target.spec.vlan) is None else {"vlan": _vlan(setting)}
        return replace(seen, fields={**seen.fields, **shown}, phase=Phase.PENDING if why else Phase.READY, reason=why)

    def left_behind(self, cloud: Cloud, target: Target[SwitchPort]) -> str:
        """Neutron deletes a port also where its driver could not reach the switch, which then keeps the VLAN."""
        if cloud.switches is None or any(binds(raw, target.spec) for raw in bound_ports(cloud)):
            return ""
        try:
            if not self._still_set(cloud, target):
                return ""
            # No driver comes back to a port by itself: bound once more, it is set to rest when that is undone.
            self.delete(cloud, self.create(cloud, target), target)
            still = self._still_set(cloud, target)
        except SwitchUnread as unread:
            return unread_port(target.spec, unread)
        where = f"{target.spec.switch} {target.spec.port_name}"
        return f"{where} is still in VLAN {target.spec.vlan}" if still else ""

    def _still_set(self, cloud: Cloud, target: Target[SwitchPort]) -> bool:
        """True unless the switch says that the port has left the VLAN. Raises `SwitchUnread`."""
        assert cloud.switches is not None  # its caller asked
        said = cloud.switches.now(target.spec.switch, target.spec.switch_mac)
        return not known_setting(target.spec, said).has_let_go(target.spec.vlan)

    def observe(self, cloud: Cloud, raw: dict[str, Any]) -> Observed:
        link, addresses = link_of(raw), raw["fixed_ips"]
        fields: dict[str, Any] = {
            "switch": link.get("switch_info"),
            "port_name": link.get("port_id"),
            "switch_mac": link.get("switch_id"),
            "device": raw["binding:host_id"],
            "addresses": [item["ip_address"] for item in addresses],
        }
        references: dict[str, Ids] = {
            "project": raw["project_id"],
            "network": raw["network_id"],
            "subnet": addresses[0]["subnet_id"] if addresses else None,
        }
        phase, reason = _phase(raw, str(link.get("switch_info")))
        return Observed(raw["id"], raw["description"], fields, references, phase=phase, reason=reason)


#: In place of a VLAN: what is behind the port is in none, or in several.
_NO_VLAN = 0


def _vlan(setting: PortAsSaid) -> int:
    return setting.vlan or _NO_VLAN if setting.mode == "access" and setting.is_up else _NO_VLAN


def unread_port(spec: PortAsPlanned, unread: SwitchUnread) -> str:
    """Nobody knows how a port is set."""
    where = f"{spec.switch} {spec.port_name or f'port {spec.port}'}"
    return f"how {where} is set is not known: {unread.what} ({unread.hint})"


def bound_ports(cloud: Cloud) -> Iterator[Mapping[str, Any]]:
    """Every Neutron port, of all projects, that a driver of switches has bound. Raises `Failure`."""
    # Neutron lets nobody filter by VNIC type.
    ports = cloud.api("network").items("/ports", "ports", fields=_SHOWN)
    return (raw for raw in ports if raw["binding:vnic_type"] == VNIC_TYPE and raw["binding:vif_type"] == _BOUND)


def binds(raw: Mapping[str, Any], spec: PortAsPlanned) -> bool:
    """True if a Neutron port names this port of this switch."""
    return names_port(link_of(raw), spec)


def bound_by(spec: PortAsPlanned, holder: Mapping[str, Any]) -> str:
    """Who has a switch port already, in words."""
    return (
        f"{spec.switch} {spec.port_name} is bound by port {holder['name'] or 'without a name'} ({holder['id']}) of "
        f"project {holder['project_id']}"
    )


def _phase(raw: Mapping[str, Any], switch: str) -> tuple[Phase, str]:
    """Neutron calls a port ACTIVE once the driver has set the switch."""
    if raw["binding:vif_type"] == _FAILED:
        return Phase.BROKEN, _NO_DRIVER.format(switch=switch)
    if raw["binding:vif_type"] == _BOUND and raw["status"] == "ACTIVE":
        return Phase.READY, ""
    return Phase.PENDING, f"its switch has not confirmed it: the port is {raw['status']}"
