"""The switch ports behind a whole host, asked of the switches themselves: neither Ironic nor Neutron knows for certain.

While a switch does not answer, both say that a port was detached, and forget it; the switch keeps the tenant's VLAN.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING

from interlock.provider import switch_settings as settings
from interlock.provider.clouds import Cloud
from interlock.resources import BareMetalLeg
from interlock.switches.errors import SwitchUnread

from .switch_port import VNIC_TYPE, unread_port

if TYPE_CHECKING:
    from interlock.switches.observed import ObservedSwitch


def unconfirmed_leg(cloud: Cloud, leg: BareMetalLeg) -> tuple[str, bool]:
    """(why the switch does not confirm a leg or empty, False if it says too little). Raises `SwitchUnread`."""
    if cloud.switches is None:
        return "", True
    said = cloud.switches.now(leg.switch, leg.switch_mac)
    setting = settings.setting_of(leg, said)
    return settings.unconfirmed(leg, said), setting is None or setting.carries(leg.vlan) is not None


def not_at_rest(cloud: Cloud, legs: Mapping[str, BareMetalLeg], node: str = "") -> Iterator[str]:
    """Of each leg that still leads somewhere, or of which nobody knows, why.

    `legs`: id of the Neutron port that was attached -> leg. `node`: uuid of the node that had it, where a leg is to be
    set to rest by the driver of its switch before it counts; empty: this looks only.
    """
    for vif, leg in legs.items():
        try:
            wrong = _said_of(cloud, leg, settings.not_at_rest)
            if wrong and node:
                _set_to_rest(cloud, vif, leg, node)
                wrong = _said_of(cloud, leg, settings.not_at_rest)
        except SwitchUnread as unread:
            wrong = unread_port(leg, unread)
        if wrong:
            yield wrong


def not_let_go(cloud: Cloud, legs: Mapping[str, BareMetalLeg]) -> Iterator[str]:
    """Of each leg that may still be in its planned VLAN, or of which nobody knows, why. Looks only: it is another's."""
    for leg in legs.values():
        try:
            wrong = _said_of(cloud, leg, settings.not_let_go)
        except SwitchUnread as unread:
            wrong = unread_port(leg, unread)
        if wrong:
            yield wrong


def _said_of(cloud: Cloud, leg: BareMetalLeg, judge: Callable[[BareMetalLeg, ObservedSwitch], str]) -> str:
    """What the switch behind a leg says of it now, as `judge` puts it. Raises `SwitchUnread`."""
    return "" if cloud.switches is None else judge(leg, cloud.switches.now(leg.switch, leg.switch_mac))


def _set_to_rest(cloud: Cloud, vif: str, leg: BareMetalLeg, node: str) -> None:
    """Binds the tenant's port there once more, and unbinds it: no driver comes back to a switch port by itself."""
    api = cloud.api("network")
    if api.find(f"/ports/{vif}") is None:
        return
    link = {"switch_info": leg.switch, "port_id": leg.port_name}
    if leg.switch_mac is not None:
        link["switch_id"] = leg.switch_mac
    bound = {
        "binding:vnic_type": VNIC_TYPE,
        "binding:host_id": node,
        "binding:profile": {"local_link_information": [link]},
    }
    api.put(f"/ports/{vif}", {"port": bound})
    api.put(f"/ports/{vif}", {"port": {"binding:host_id": "", "binding:profile": {}}})
