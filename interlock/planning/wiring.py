"""What the plans of a site want of its switches, switch by switch: ports, VLANs, and ports that rest.

The form is documented and stable: `interlock wiring --format json` prints it, and pipelines read it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from pydantic import Field

from interlock.model.site.inventory import Endpoint, Site, Switch
from interlock.model.site.physical import WiredBy
from interlock.resources import Frozen, Network, SwitchPort

from .plan import Plan, Planned

#: Arista EOS takes no longer name of a VLAN, and no blanks in it.
LONGEST_VLAN_NAME = 32
#: Interface of an IPU-Machine behind which its BMC is, which the operator has to reach to clean the machine.
MANAGEMENT = "mgmt"


#: What the keys mean, wherever they stand.
_NUMBER = "from 1, as in the site file"
_NAME = "what the switch itself calls it; null: the site file does not say"
_DEVICE = "the machine or host behind it"
_INTERFACE = "`rnic` or `mgmt` of an IPU-Machine, or the interface of a host"
_VLAN = "1 to 4094"
_NETWORK = "the network of the plan that the VLAN is"
_TENANT = "whose it is"
_VPOD = "the vPOD whose it is, as plans call it"
_MODE = "always access: frames without tags"


class WiredPort(Frozen):
    """A switch port that a plan puts on a VLAN: untagged, in access mode, enabled."""

    number: int = Field(description=_NUMBER)
    name: str | None = Field(description=_NAME)
    device: str = Field(description=_DEVICE)
    interface: str = Field(description=_INTERFACE)
    mode: Literal["access"] = Field(default="access", description=_MODE)
    vlan: int = Field(description=_VLAN)
    network: str = Field(description=_NETWORK)
    tenant: str = Field(description=_TENANT)
    vpod: str = Field(description=_VPOD)
    addresses: tuple[str, ...] = Field(description="of what is behind it, ascending")


class WiredVlan(Frozen):
    """A VLAN that has to exist on a switch: of one of its ports, or of a network that it carries on trunks."""

    vlan: int = Field(description=_VLAN)
    name: str = Field(description="a label of at most 32 characters, without blanks")
    network: str = Field(description=_NETWORK)
    tenant: str = Field(description=_TENANT)
    vpod: str = Field(description=_VPOD)


class RestingPort(Frozen):
    """The port of an IPU-Machine, or of a whole host that Ironic does not set, and that no plan of the site uses."""

    number: int = Field(description=_NUMBER)
    name: str | None = Field(description=_NAME)
    device: str = Field(description=_DEVICE)
    interface: str = Field(description=_INTERFACE)
    mode: Literal["access"] = Field(default="access", description=_MODE)
    vlan: int | None = Field(description="the quarantine VLAN of the switch; null: none, and the port is disabled")
    enabled: bool = Field(description="true only for a BMC in quarantine, which the operator reaches to clean it")


class IronicPort(Frozen):
    """The port of a whole host, which Ironic sets when it deploys the host: to be left alone."""

    number: int = Field(description=_NUMBER)
    name: str | None = Field(description=_NAME)
    device: str = Field(description=_DEVICE)
    interface: str = Field(description=_INTERFACE)


class SwitchWiring(Frozen):
    """One switch. Ports, VLANs and resting ports are in the order of their numbers."""

    name: str = Field(description="as the site file has it")
    serial: str = Field(description="which identifies it")
    mac: str | None = Field(description="its system MAC address; null: not stated")
    model: str = Field(description="as the site file has it")
    wired_by: WiredBy = Field(description="who sets its ports, as the site file says")
    quarantine_vlan: int | None = Field(description="where ports without a plan rest; null: they are disabled alone")
    ports: tuple[WiredPort, ...] = Field(description="ports that plans set")
    vlans: tuple[WiredVlan, ...] = Field(description="VLANs that have to exist")
    rest: tuple[RestingPort, ...] = Field(description="ports of machines and whole hosts that no plan uses")
    ironic: tuple[IronicPort, ...] = Field(description="ports of whole hosts, which Ironic sets")


class SiteWiring(Frozen):
    """What plans want of the switches of a site. Switches and tenants are in the order of their names."""

    version: Literal[1] = Field(default=1, description="raised where a key goes away or changes its meaning")
    site: str = Field(description="name of the site")
    tenants: tuple[str, ...] = Field(description="whose plans are in it; `rest` regards all of the site")
    switches: tuple[SwitchWiring, ...] = Field(description="those that were asked for")


def wiring_of(
    site: Site, plans: Sequence[Plan], switches: Iterable[str], all_plans: Sequence[Plan] | None = None
) -> SiteWiring:
    """What some plans want of some switches. `all_plans`: of every tenant; without them nobody knows what rests."""
    tenants = sorted(plan.tenant for plan in plans if plan.tenant)
    used = None if all_plans is None else {(port.switch, port.port) for plan in all_plans for _, port in _ports(plan)}
    found = (_switch(site, site.switch[name], plans, used) for name in sorted(set(switches)))
    return SiteWiring(site=site.name, tenants=tuple(tenants), switches=tuple(found))


def _switch(site: Site, switch: Switch, plans: Sequence[Plan], used: set[tuple[str, int]] | None) -> SwitchWiring:
    here = [(plan, item, port) for plan in plans for item, port in _ports(plan) if port.switch == switch.name]
    ports = [_wired(plan, item, port) for plan, item, port in here if port.wired_by != "ironic"]
    ironic = [
        IronicPort(number=port.port, name=port.port_name, device=port.device, interface=port.interface)
        for _, _, port in here
        if port.wired_by == "ironic"
    ]
    vlans = {vlan for plan in plans for vlan in _vlans(site, switch, plan)}
    return SwitchWiring(
        name=switch.name, serial=switch.serial, mac=switch.mac, model=switch.model, wired_by=switch.wired_by,
        quarantine_vlan=switch.quarantine_vlan,
        ports=tuple(sorted(ports, key=lambda port: port.number)),
        vlans=tuple(sorted(vlans, key=lambda vlan: (vlan.vlan, vlan.network))),
        rest=() if used is None else tuple(_resting(site, switch, used)),
        ironic=tuple(sorted(ironic, key=lambda port: port.number)),
    )  # fmt: skip


def _ports(plan: Plan) -> Iterable[tuple[Planned, SwitchPort]]:
    return ((item, item.resource) for item in plan.resources if isinstance(item.resource, SwitchPort))


def _wired(plan: Plan, item: Planned, port: SwitchPort) -> WiredPort:
    return WiredPort(
        number=port.port, name=port.port_name, device=port.device, interface=port.interface, vlan=port.vlan,
        network=port.network or "", tenant=plan.tenant or "", vpod=item.vpod or "", addresses=port.addresses,
    )  # fmt: skip


def _vlans(site: Site, switch: Switch, plan: Plan) -> Iterable[WiredVlan]:
    """Those of the plan's networks that the switch carries, also where hosts alone are on them, over trunks."""
    for item in plan.resources:
        network = item.resource
        if not isinstance(network, Network) or network.network_type != "vlan" or network.segmentation_id is None:
            continue
        physical = site.physical_network.get(network.physical_network or "")
        if physical is not None and switch.name in physical.switches:
            yield WiredVlan(
                vlan=network.segmentation_id, name=vlan_name(network.name, plan.tenant or "", network.segmentation_id),
                network=item.name, tenant=plan.tenant or "", vpod=item.vpod or "",
            )  # fmt: skip


def vlan_name(network: str, tenant: str, vlan: int) -> str:
    """The label of a VLAN: its network's name, or a shorter one where switches would not take that."""
    return network if len(network) <= LONGEST_VLAN_NAME else f"{tenant}-vlan-{vlan}"


def _is_lent(site: Site, switch: Switch, end: Endpoint) -> bool:
    """Whether what is behind a port is given to tenants: a machine, or a listed interface of a whole host."""
    host = site.host.get(end.device)
    if host is None or host.provisioning != "bare-metal" or (site.ironic and switch.wired_by == "neutron"):
        return end.device in site.machine
    return any(end.interface in found for found in host.interfaces.values())


def _resting(site: Site, switch: Switch, used: set[tuple[str, int]]) -> Iterable[RestingPort]:
    """Ports with an IPU-Machine or a whole host behind them that no plan uses.

    But not those that the site file itself gives a VLAN, nor those of hosts that Ironic sets.
    """
    for number in range(1, switch.port_count + 1):
        end, stated = site.far_end(switch.name, str(number)), switch.by_port.get(number)
        if end is None or not _is_lent(site, switch, end) or (switch.name, number) in used:
            continue
        if stated is None or (stated.mode in ("access", "disabled") and stated.untagged is None):
            quarantine = switch.quarantine_vlan
            yield RestingPort(
                number=number, name=switch.port_name(number), device=end.device, interface=end.interface,
                vlan=quarantine, enabled=quarantine is not None and end.interface == MANAGEMENT,
            )  # fmt: skip
