"""How a switch says that a port is set, beside how a plan sets it and how ports rest that nobody uses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from interlock.resources import BareMetalLeg, SwitchPort
from interlock.switches.errors import SwitchUnread

if TYPE_CHECKING:
    from interlock.switches.observed import ObservedPort, ObservedSwitch

#: VLAN in which every switch has its ports as delivered.
DEFAULT_VLAN = 1

#: A switch port in access mode as a plan states it: of its own, or behind an interface of a whole host.
PortAsPlanned = SwitchPort | BareMetalLeg


@dataclass(frozen=True)
class PortAsSaid:
    """One port. Each part is None where the switch does not say it."""

    is_up: bool | None
    mode: str | None
    vlan: int | None
    #: False: the VLAN is not in the switch's table, so no frame of it is forwarded.
    exists: bool | None

    def __str__(self) -> str:
        if self.is_up is False:
            return "shut"
        known = {"access": f"access {self.vlan or '(VLAN not said)'}", None: "set in a way that is not said"}
        return known.get(self.mode, str(self.mode))

    def carries(self, vlan: int) -> bool | None:
        """Whether untagged frames of what is behind the port are in this VLAN alone; None: not known."""
        if self.is_up is False or self.exists is False or (self.mode or "access") != "access":
            return False
        if self.vlan is not None and self.vlan != vlan:
            return False
        return None if None in (self.is_up, self.mode, self.vlan, self.exists) else True

    def has_let_go(self, vlan: int) -> bool:
        """True if it is known that no frame of this VLAN passes, with a tag or without: a trunk may carry it."""
        # Not in the switch's table is no rest: whoever makes the VLAN there again finds the port in it.
        return self.is_up is False or (self.mode == "access" and self.vlan not in (None, vlan))


def names_port(link: Mapping[str, Any], spec: PortAsPlanned) -> bool:
    """True if a `local_link_connection` or `local_link_information` names this port of this switch."""
    same_switch = link.get("switch_info") == spec.switch or (
        spec.switch_mac is not None and str(link.get("switch_id")).lower() == spec.switch_mac
    )
    return same_switch and link.get("port_id") == spec.port_name


def setting_of(spec: PortAsPlanned, said: ObservedSwitch) -> PortAsSaid | None:
    """How the planned port is set; None if the switch has no port of this name."""
    port: ObservedPort | None = said.ports.get(spec.port_name or "")
    if port is None:
        return None
    vlan = port.access_vlan if port.mode == "access" else None
    exists = None if said.vlans is None or vlan is None else vlan in said.vlans
    return PortAsSaid(port.admin_up, port.mode, vlan, exists)


def known_setting(spec: PortAsPlanned, said: ObservedSwitch) -> PortAsSaid:
    """How the planned port is set. Raises `SwitchUnread` if the switch has no port of this name: it may have another
    name now, or have been broken out, and carry there what it carried before."""
    setting = setting_of(spec, said)
    if setting is None:
        nameless = f"nobody states what {spec.switch} calls it"
        raise SwitchUnread(spec.switch, f"{spec.switch} has no such port" if spec.port_name else nameless, _ABSENT)
    return setting


#: What to do about a port that a tenant may have had and that its switch does not know.
_ABSENT = (
    "if it was renamed or broken out, give it its name back there; else set to rest by hand what it is called now, "
    "then take this resource out of the state with `pulumi state delete`"
)


def unconfirmed(spec: PortAsPlanned, said: ObservedSwitch) -> str:
    """Why the switch does not confirm that a port is as planned; empty if it does."""
    setting = setting_of(spec, said)
    where = f"{spec.switch} {spec.port_name}"
    if setting is None:
        return f"{spec.switch} has no port {spec.port_name}"
    if setting.exists is False:
        return f"{where} is in VLAN {setting.vlan}, which {spec.switch} does not have"
    confirmed = setting.carries(spec.vlan)
    if confirmed is None:
        return f"{spec.switch} does not say all of {spec.port_name}: it is {setting}"
    return "" if confirmed else f"{where} is {setting}, not access {spec.vlan}"


def not_at_rest(spec: PortAsPlanned, said: ObservedSwitch) -> str:
    """How a port that was given back is still set; empty if it rests. Raises `SwitchUnread` if there is none."""
    setting = known_setting(spec, said)
    if setting.is_up is False:
        return ""
    if setting.mode == "access" and setting.vlan in (DEFAULT_VLAN, spec.quarantine_vlan):
        return ""
    return not_let_go(spec, said) or f"{spec.switch} {spec.port_name} is {setting}, not at rest"


def not_let_go(spec: PortAsPlanned, said: ObservedSwitch) -> str:
    """How a port may still be in its planned VLAN; empty if it has left it. Raises `SwitchUnread` if there is none."""
    setting = known_setting(spec, said)
    return "" if setting.has_let_go(spec.vlan) else f"{spec.switch} {spec.port_name} is still {setting}"


def taken_from(spec: PortAsPlanned, said: ObservedSwitch) -> str:
    """What a port is set for that is to be taken, and is not at rest; empty if it rests or is as planned already."""
    setting = setting_of(spec, said)
    if setting is None:
        return f"{spec.switch} has no port {spec.port_name}"
    at_rest = (DEFAULT_VLAN, spec.quarantine_vlan, spec.vlan)
    if setting.is_up is False or (setting.mode == "access" and setting.vlan in at_rest):
        return ""
    return f"{spec.switch} {spec.port_name} is {setting}"
