"""Plugs and addresses of devices: TOP-13 planned switch ports are the right ones, TOP-14 MAC addresses are unique."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

from interlock.model.site.inventory import Endpoint, Host, Machine, Switch
from interlock.model.site.physical import MACHINE_PARTS
from policies.about import Fact, Reason, SiteFact, components, devices, resources
from policies.facts.fabric import SwitchPortFact, part_in_words
from policies.graph.model import Model
from policies.graph.naming import Names
from policies.proof import Severity

from .racks import by_rack
from .rule import Cause, Of, Polarity, Rule, RuleAnswer, by_facts


def _right_ports(model: Model, _: Names) -> RuleAnswer:
    found = [(item, why) for item in model.plan.switch_ports if (why := _wrong(model, item)) is not None]
    causes = [_port_cause(model, item, why, _unlisted(model, item)) for item, why in found]
    return by_facts(len(model.plan.switch_ports), causes)


def _unlisted(model: Model, item: SwitchPortFact) -> tuple[Fact, ...]:
    """Declarations without which a cable between the two may be there unlisted; none if one end has another."""
    site = model.site.site
    ends, switch = {(item.device, item.interface), (item.switch, str(item.port))}, site.switch.get(item.switch)
    if switch is None or not _has_port(switch, item.port) or ends & site.cable_at.keys():
        return ()
    return (*model.site.undeclared("attachments", item.device), *model.site.undeclared("cables", item.switch))


def _wrong(model: Model, item: SwitchPortFact) -> Reason | None:
    """What is wrong with a planned switch port; None if nothing is."""
    switch = model.site.site.switch.get(item.switch)
    if switch is None:
        return Reason(f"the site has no switch {item.switch}")
    if not _has_port(switch, item.port):
        return Reason(f"{item.switch}, a {switch.model}, has no port {item.port}")
    if model.site.site.far_end(item.device, item.interface) != Endpoint(device=item.switch, interface=str(item.port)):
        behind = model.site.site.far_end(item.switch, str(item.port))
        words = f"behind {item.switch} port {item.port} is {behind or 'no cable'}, not {item.device}:{item.interface}"
        return Reason(words, devices(behind.device) if behind else ())
    return _out_of_reach(model, item)


def _has_port(switch: Switch, port: int) -> bool:
    return 1 <= port <= sum(count for _, count in switch.port_groups)


def _out_of_reach(model: Model, item: SwitchPortFact) -> Reason | None:
    """VLAN ids are local to a physical network: the same id on a switch beside it is another segment.

    A vPOD may have one id twice, on its fabric and on its management network: one of them must reach the switch. Where
    Neutron wires the port, the network that it names must have the VLAN: Neutron sets the network's.
    """
    if item.by_neutron and item.network is not None:
        return _other_network(model, item, item.network)
    networks = [
        network for network in model.plan.networks
        if network.vpod == item.vpod and network.kind == "vlan" and network.segment == item.vlan
    ]  # fmt: skip
    reaching = {label.name for label in model.site.site.physical_networks if item.switch in label.switches}
    if any(network.physical_network in reaching for network in networks):
        return None
    if networks:
        first = networks[0]
        return Reason(f"{first.segment_name} ({first.name}) does not reach {item.switch}", resources(first.name))
    return None


def _other_network(model: Model, item: SwitchPortFact, name: str) -> Reason | None:
    """What is wrong with the network that a port is put on; one that is not of the plan is told by FACT-01."""
    network = model.plan.network.get(name)
    if network is None:
        return None
    if network.kind != "vlan" or network.segment != item.vlan:
        return Reason(
            f"network {network.name} is {network.segment_name}, not VLAN {item.vlan}", resources(network.name)
        )
    if network.vpod != item.vpod:
        where = f"vPOD {network.vpod}" if network.vpod else "no vPOD"
        return Reason(f"network {network.name} is of {where}", resources(network.name))
    if network.owner != item.owner:
        words = f"its project is one of {item.owner}, and that of network {network.name} one of {network.owner}"
        return Reason(words, resources(network.name))
    label = model.site.site.physical_network.get(network.physical_network or "")
    if label is None or item.switch not in label.switches:
        return Reason(f"{network.segment_name} ({network.name}) does not reach {item.switch}", resources(network.name))
    return None


def _port_cause(model: Model, item: SwitchPortFact, why: Reason, missing: tuple[Fact, ...]) -> Cause:
    end = Endpoint(device=item.device, interface=item.interface)
    return Cause(
        key=item.name,
        message=f"{end} of {part_in_words(model.plan.clusters, item.vpod)} at {item.switch} port {item.port}: {why}",
        witness=(str(end), f"{item.switch} port {item.port}, VLAN {item.vlan}", str(why)),
        hint="take machines and hosts whose cables end at the switches of the vPOD's physical network",
        missing=missing,
        specificity=83,
        about=(*components(item.vpod), *devices(item.device, item.switch), *why.about),
    )


def _unique_addresses(model: Model, _: Names) -> RuleAnswer:
    site = model.site.site
    machines = site.machines
    silent = [_silent_cause(rack, found) for rack, found in by_rack(list(machines)).items()]
    unknown = tuple(cause for cause in silent if cause is not None)
    asked = len(machines) * len(MACHINE_PARTS) + sum(len(host.macs) for host in site.hosts)
    return RuleAnswer(asked, tuple(_same_addresses(model)), unknown)


def _same_addresses(model: Model) -> Iterator[Cause]:
    holders: defaultdict[str, list[tuple[str, str]]] = defaultdict(list)
    site = model.site.site
    named: tuple[Machine | Host, ...] = (*site.machines, *site.hosts)
    for device in named:
        for part, address in device.macs.items():
            holders[address.lower().replace("-", ":")].append((part, device.name))
    for address, found in sorted(holders.items()):
        if len(found) > 1:
            parts = tuple(f"{part} of {device}" for part, device in found)
            yield Cause(
                key=address,
                message=f"{' and '.join(parts)} have one MAC address, {address}",
                witness=parts,
                hint="read the labels again: gateway, BMC and RNIC of each machine have one each",
                specificity=33,
                about=devices(*(device for _, device in found)),
            )


def _silent_cause(rack: str, machines: list[Machine]) -> Cause | None:
    silent = [machine for machine in machines if set(MACHINE_PARTS) - set(machine.macs)]
    if not silent:
        return None
    first = silent[0]
    parts = ", ".join(part for part in MACHINE_PARTS if part not in first.macs)
    return Cause(
        key=rack,
        message=f"{len(silent)} machines of logical rack {rack} lack MAC addresses, {first.name} those of {parts}",
        witness=(f"{first.name} … {silent[-1].name}",) if len(silent) > 1 else (first.name,),
        hint="state `macs` of each machine: DHCP gives addresses by them",
        missing=(SiteFact(f"machines.{first.name}.macs"),),
        specificity=5,
        severity=Severity.WARN,
    )


TOP_13 = Rule(
    id="TOP-13",
    title="planned switch ports are those behind the devices, on the physical network of their VLAN",
    severity=Severity.BLOCK,
    polarity=Polarity.STATED,
    why="a VLAN id is local to its leaf group: set on another switch it is another, maybe another tenant's segment",
    source="Neutron admin guide, provider networks: a VLAN is an id on one physical network",
    needs=("switch ports", "cables", "physical_networks"),
    ask=_right_ports,
    of=Of.TENANT,
)
TOP_14 = Rule(
    id="TOP-14",
    title="BMC, gateway and RNIC of each machine have MAC addresses of their own",
    severity=Severity.ERROR,
    polarity=Polarity.STATED,
    why="addresses are given by MAC: of two with one, the wrong one may answer",
    source="Graphcore, OpenStack reference design, physical installation: MACs collected at install",
    needs=("machines.macs",),
    ask=_unique_addresses,
    of=Of.SITE,
)
