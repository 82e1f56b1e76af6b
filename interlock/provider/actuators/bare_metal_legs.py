"""The switch ports behind a whole host, asked of the switches themselves: neither Ironic nor Neutron knows for certain.

While a switch does not answer, both say that a port was detached, and forget it; the switch keeps the tenant's VLAN.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from interlock.provider import switch_settings as settings
from interlock.provider.clouds import Cloud
from interlock.resources import BareMetalLeg
from interlock.switches.errors import SwitchUnread

from .switch_port import VNIC_TYPE, unread_port


def unconfirmed_leg(cloud: Cloud, leg: BareMetalLeg) -> tuple[str, bool]:
    """(why the switch does not confirm a leg or empty, False if it says too little). Raises `SwitchUnread`."""
    if cloud.switches is None:
        return "", True
    said = cloud.switches.now(leg.switch, leg.switch_mac)
    setting = settings.setting_of(leg, said)
    return settings.unconfirmed(leg, said), setting is None or setting.carries(leg.vlan) is not None


def not_at_rest(cloud: Cloud, legs: Mapping[str, BareMetalLeg], node: str) -> Iterator[str]:
    """Of each leg that still leads somewhere, or of which nobody knows, why. It mends what it can.

    `legs`: id of the Neutron port that was attached -> leg. `node`: uuid of the node that had it.
    """
    if cloud.switches is None:
        return
    for vif, leg in legs.items():
        try:
            if _leads_on(cloud, leg):
                _set_to_rest(cloud, vif, leg, node)
            if wrong := _leads_on(cloud, leg):
                yield wrong
        except SwitchUnread as unread:
            yield unread_port(leg, unread)


def _leads_on(cloud: Cloud, leg: BareMetalLeg) -> str:
    """Where a leg leads; empty if it is at rest, or its switch has no such port. Raises `SwitchUnread`."""
    assert cloud.switches is not None  # its caller asked
    return settings.not_at_rest(leg, cloud.switches.now(leg.switch, leg.switch_mac))


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
