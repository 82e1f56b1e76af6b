"""What switches say of what was released: a switch port or a VLAN that is still set stops `interlock settle`.

A switch that was read counts as somebody who saw it unwired, at the time of the reading. That ends the claim on a port
or a VLAN. A machine needs more: that it was unwired is to be seen before its power cycle, so a reading of now comes too
late, and a person's evidence is wanted.
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass

from interlock.model.evidence.reading import Sighting
from interlock.model.evidence.steps import SeenStep, steps_of
from interlock.model.site.inventory import Site, Switch
from interlock.switches.errors import SwitchUnread
from interlock.switches.observed import ObservedPort, ObservedSwitch
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


def read_back(site: Site, demands: Iterable[Demand], tenant: str, ask: Ask, known: Collection[str]) -> ReadBack:
    """Read the switches that the demands are about, of those that can be asked. What they do not say is no sighting."""
    asked = [(demand, switch) for demand in demands for switch in _switches(site, demand.identity)]
    names = {switch.name for _, switch in asked} & set(known)
    said = ask(sorted(names)) if names else {}
    still_set, seen = list[str](), list[Sighting]()
    for demand, switch in asked:
        found = said.get(switch.name)
        if not isinstance(found, ObservedSwitch):
            continue
        is_set = _still_set(switch, found, demand.identity)
        if is_set:
            still_set.append(f"switch: {demand}: {is_set}")
        elif is_set == "" and steps_of(demand.identity) == (SeenStep.UNWIRED,):
            at = found.at or datetime.datetime.now(datetime.UTC)
            position = f"switch {switch.name}"
            seen.append(Sighting(demand.identity, "", tenant, SeenStep.UNWIRED, at, READER, position))
    return ReadBack(tuple(still_set), tuple(seen))


def _switches(site: Site, identity: str) -> Iterator[Switch]:
    """The switch that an identity lies on."""
    serials = set[str]()
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
    """Trunks to hypervisors carry whole pools, whoever has their VLANs: what counts is who is in it without a tag."""
    ports = [port for port in said.ports.values() if port.admin_up is not False and port.mode != "routed"]
    inside = [port.name for port in ports if port.untagged == vlan]
    if inside:
        return f"{switch.name} says that {', '.join(inside)} {'is' if len(inside) == 1 else 'are'} in VLAN {vlan}"
    # A port of which this is not known may be in it.
    return "" if ports and all(port.untagged is not None for port in ports) else None
