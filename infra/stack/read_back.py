"""What switches say of what was released: a switch port or a VLAN that is still set stops `interlock settle`.

A switch that was read counts as somebody who saw it unwired, at the time of the reading. That ends the claim on a port
or a VLAN. A machine or whole host was unwired if all its ports are at rest; its power cycle has to come after that, so
the reading is kept in a file of evidence (`recorded_evidence`), and the steps that follow are a person's.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from interlock.hardware import MACHINE_PLUGS
from interlock.model.evidence.reading import Sighting
from interlock.model.evidence.steps import SeenStep
from interlock.model.site.inventory import Site, Switch
from interlock.model.site.service_networks import NOTHING, service_networks
from interlock.switches.errors import SwitchUnread
from interlock.switches.observed import ObservedPort, ObservedSwitch, contains
from interlock.vocabulary import nodes

from .handing_over import Demand

#: Names of switches -> what each says, or why it could not be read.
Ask = Callable[[Collection[str]], Mapping[str, ObservedSwitch | SwitchUnread]]

#: Who saw it, where a person stands in a file of evidence.
READER = "the switch, read by `interlock settle`"


@dataclass(frozen=True)
class ReadBack:
    """What follows from the readings."""

    #: Sentences about what is still set.
    still_set: tuple[str, ...] = ()
    #: What was seen unwired.
    seen: tuple[Sighting, ...] = ()


def read_back(
    site: Site,
    demands: Iterable[Demand],
    tenant: str,
    ask: Ask,
    known: Collection[str],
    recorded: Mapping[str, str] = NOTHING,
) -> ReadBack:
    """Read the switches that the demands are about, of those that can be asked. What they do not say is no sighting.

    `recorded`: the service networks of the operator's lock, on which whole hosts are cleaned.
    """
    demands = tuple(demands)
    asked = [(demand, switch) for demand in demands for switch in _switches(site, demand.identity)]
    names = {switch.name for _, switch in asked} & set(known)
    said = ask(sorted(names)) if names else {}
    still_set, seen = list[str](), list[Sighting]()
    devices = [demand for demand in demands if _is_device(demand.identity)]
    for demand, switch in asked:
        if demand in devices:
            continue
        found = said.get(switch.name)
        if not isinstance(found, ObservedSwitch):
            continue
        is_set = _still_set(switch, found, demand.identity)
        if is_set:
            still_set.append(f"switch: {demand}: {is_set}")
        elif is_set == "" and demand.steps == (SeenStep.UNWIRED,):
            seen.append(_sighting(demand, tenant, [found]))
    for demand in devices:
        sentences, readings = _of_device(site, demand, said, recorded)
        still_set += sentences
        seen += [_sighting(demand, tenant, readings)] if readings else []
    return ReadBack(tuple(still_set), tuple(seen))


def _sighting(demand: Demand, tenant: str, readings: Collection[ObservedSwitch]) -> Sighting:
    """Seen unwired: at the time of the first reading of those that it takes."""
    now = datetime.datetime.now(datetime.UTC)
    at = min((found.at or now for found in readings), default=now)
    names = ", ".join(sorted(found.name for found in readings))
    name = str(demand.entry.get("machine") or demand.entry.get("host") or "")
    return Sighting(demand.identity, name, tenant, SeenStep.UNWIRED, at, READER, f"switch {names}", asked_now=True)


def _of_device(
    site: Site, demand: Demand, said: Mapping[str, ObservedSwitch | SwitchUnread], recorded: Mapping[str, str]
) -> tuple[list[str], list[ObservedSwitch]]:
    """(what is still set, the readings by which all its ports are at rest): neither, where a switch does not say."""
    plugs = _plugged(site, demand.identity)
    is_host = isinstance(nodes.parse(demand.identity), nodes.HeldHost)
    still_set, readings, is_known = list[str](), dict[str, ObservedSwitch](), bool(plugs)
    for switch, number in plugs:
        found = said.get(switch.name)
        port = found.ports.get(switch.port_name(number) or "") if isinstance(found, ObservedSwitch) else None
        is_set = None if port is None else _not_at_rest(switch, port)
        if is_set and is_host and port is not None and _is_service(site, demand.identity, port, recorded):
            is_set = ""
        if is_set:
            still_set.append(f"switch: {demand}: {is_set}")
        is_known = is_known and is_set == ""
        if isinstance(found, ObservedSwitch):
            readings[found.name] = found
    return still_set, list(readings.values()) if is_known else []


def _is_device(identity: str) -> bool:
    return isinstance(nodes.parse(identity), nodes.HeldMachine | nodes.HeldHost)


def _is_service(site: Site, identity: str, port: ObservedPort, recorded: Mapping[str, str]) -> bool:
    """True for the VLAN on which this very host is cleaned: of any other one nobody knows whose it was."""
    found = nodes.parse(identity)
    name = site.host_of.get(found.serial, "") if isinstance(found, nodes.HeldHost) else ""
    service = service_networks(site, recorded).get(name)
    return service is not None and port.mode == "access" and port.untagged == service.vlan


def _plugged(site: Site, identity: str) -> list[tuple[Switch, int]]:
    """The switch ports of a machine, all of them, or of a host those by which a tenant is on its networks.

    None where the site has no such device, or it is not known where one of its plugs is.
    """
    match nodes.parse(identity):
        case nodes.HeldMachine(serial) if serial in site.machine_of:
            machine = site.machine[site.machine_of[serial]]
            wanted = {plug for plug, parts in MACHINE_PLUGS[machine.generation].items() if parts}
            name = machine.name
        case nodes.HeldHost(serial) if serial in site.host_of:
            host = site.host[site.host_of[serial]]
            if host.is_passed_on:
                # Its trunk is the operator's, whoever had the node: what a guest had there goes with Neutron's port.
                return []
            wanted = {plug for plugs in host.interfaces.values() for plug in plugs}
            name = host.name
        case _:
            return []
    ends = [site.far_end(name, plug) for plug in sorted(wanted)]
    if None in ends and not site.is_complete("attachments", name):
        return []
    cabled = [end for end in ends if end is not None]
    found = [(site.switch[end.device], int(end.interface)) for end in cabled if end.device in site.switch]
    return found if len(found) == len(cabled) else []


def _switches(site: Site, identity: str) -> Iterator[Switch]:
    """The switch that an identity lies on."""
    serials = set[str]()
    if _is_device(identity):
        yield from {switch.name: switch for switch, _ in _plugged(site, identity)}.values()
        return
    match nodes.parse(identity):
        case nodes.HeldSwitchPort(serial, _):
            serials = {serial}
        case nodes.HeldSegment(segment):
            match nodes.parse(segment):
                case nodes.VlanNode(bridge, _):
                    serials = {item.serial for item in site.switches if str(nodes.SwitchBridge(item.serial)) == bridge}
        case _:
            return
    yield from (item for item in site.switches if item.serial in serials)


def _still_set(switch: Switch, said: ObservedSwitch, identity: str) -> str | None:
    """What is still set there; empty if nothing is; None if the switch does not say all of it."""
    match nodes.parse(identity):
        case nodes.HeldSwitchPort(_, number):
            port = said.ports.get(switch.port_name(number) or "")
            return None if port is None else _not_at_rest(switch, port)
        case nodes.HeldSegment(segment):
            match nodes.parse(segment):
                case nodes.VlanNode(_, vlan):
                    return _in_vlan(switch, said, vlan)
    return None


def _not_at_rest(switch: Switch, port: ObservedPort) -> str | None:
    if port.admin_up is False:
        return ""
    if None in (port.admin_up, port.mode):
        return None
    vlan = port.untagged
    if vlan is None:
        return None
    resting = port.mode == "access" and vlan in (1, switch.quarantine_vlan)
    return "" if resting else f"{switch.name} says that {port.name} is up, {port.mode}, VLAN {vlan or 'none'}"


def _in_vlan(switch: Switch, said: ObservedSwitch, vlan: int) -> str | None:
    """Who is in it without a tag, and which trunks Neutron left it on.

    Trunks to hypervisors carry whole pools, whoever has their VLANs.
    """
    ports = [port for port in said.ports.values() if port.admin_up is not False and port.mode != "routed"]
    inside = [port.name for port in ports if port.untagged == vlan]
    if inside:
        return f"{switch.name} says that {', '.join(inside)} {'is' if len(inside) == 1 else 'are'} in VLAN {vlan}"
    on_trunk = _left_on_trunks(switch, said, vlan)
    if on_trunk:
        return on_trunk
    # A port of which this is not known may be in it.
    return "" if on_trunk == "" and ports and all(port.untagged is not None for port in ports) else None


def _left_on_trunks(switch: Switch, said: ObservedSwitch, vlan: int) -> str | None:
    """The filled trunks that still carry a VLAN which their list does not have; as `_still_set`."""
    filled = [port for port in switch.ports if port.filled_by and not contains(port.tagged or (), vlan)]
    ports = [said.ports.get(switch.port_name(port.port) or "") for port in filled]
    found = [port for port in ports if port is not None and port.admin_up is not False]
    still = [port.name for port in found if port.mode == "trunk" and port.allowed and contains(port.allowed, vlan)]
    if still:
        return f"{switch.name} says that {', '.join(still)} still {_carry(still)} VLAN {vlan}"
    is_known = None not in ports and all(
        port.mode is not None and (port.mode != "trunk" or port.allowed is not None) for port in found
    )
    return "" if is_known else None


def _carry(names: Collection[str]) -> str:
    return "carries" if len(names) == 1 else "carry"
