"""Compares what ports hear by LLDP with the list of cables: the proof is worth what the cables are.

Who is heard is recognised by a MAC address that the site states, or by the name that the device has there. A device
that says nothing is no difference, and one that the site gives no way to recognise is none either.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from interlock.model.site.inventory import Endpoint, Host, Machine, Site, Switch

from .answers import mac
from .findings import FindingKind, SwitchFinding
from .observed import Neighbour, ObservedSwitch

#: Switch -> port number -> what that switch calls it, to compare the far ends of cables between switches.
FarEnds = Mapping[str, Mapping[int, str]]
CABLES = "the list of cables"


@dataclass(frozen=True)
class _Known:
    """How devices of a site are recognised."""

    #: MAC address -> device.
    macs: Mapping[str, str] = field(default_factory=dict)
    #: Name in lower case -> device.
    names: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, site: Site) -> _Known:
        named: tuple[Machine | Host, ...] = (*site.machines, *site.hosts)
        macs = {mac(text) or text: item.name for item in named for text in item.macs.values()}
        listed = (*site.machine, *site.host, *site.switch, *(item.name for item in site.devices))
        return cls(macs, {name.lower(): name for name in listed})

    def device(self, heard: Neighbour) -> str | None:
        """The device of the site that a neighbour is; None: none that is known."""
        for identifier in (heard.chassis_id, heard.port_id):
            if identifier is not None and identifier in self.macs:
                return self.macs[identifier]
        name = (heard.system_name or "").lower()
        # Many send their full name, of which the site has the first part.
        return self.names.get(name) or self.names.get(name.split(".")[0])


def cable_findings(
    site: Site, switch: Switch, observed: ObservedSwitch, names: Mapping[int, str], far_ends: FarEnds
) -> Iterator[SwitchFinding]:
    """Each port at which the cable and the neighbour differ, or nobody is heard. In the order of the ports."""
    known = _Known.of(site)
    for number, name in names.items():
        port = observed.ports.get(name)
        if port is None:
            continue
        end = site.far_end(switch.name, str(number))
        stated = f"has {end} at the other end" if end else "has no cable here"
        if not port.neighbours:
            if end is not None:
                said = "nobody is heard" if port.neighbours == () else "nothing of neighbours"
                yield SwitchFinding(FindingKind.UNHEARD, switch.name, number, name, "neighbour", stated, said, CABLES)
            continue
        for heard in port.neighbours:
            found = _judged(site, known, end, heard, far_ends)
            if found is not None:
                said = f"that it hears {heard}"
                yield SwitchFinding(found, switch.name, number, name, "neighbour", stated, said, CABLES)


def _judged(site: Site, known: _Known, end: Endpoint | None, heard: Neighbour, far_ends: FarEnds) -> FindingKind | None:
    """What a neighbour is against the far end of the cable; None if it is that one."""
    if end is None:
        return FindingKind.CABLE
    device = known.device(heard)
    if device is None:
        # The system name of a machine's controllers is their own; every other device has the name of the site file.
        return FindingKind.UNHEARD if end.device in site.machine or heard.system_name is None else FindingKind.CABLE
    if device != end.device or _other_port(end, heard, far_ends):
        return FindingKind.CABLE
    return None


def _other_port(end: Endpoint, heard: Neighbour, far_ends: FarEnds) -> bool:
    """True if the neighbour names another interface than the cable; a MAC address names none."""
    far = far_ends.get(end.device)
    if far is not None and end.interface.isascii() and end.interface.isdigit():
        wanted = far.get(int(end.interface))
        return wanted is not None and heard.port_id is not None and _is_name(heard.port_id) and heard.port_id != wanted
    said = [text for text in (heard.port_id, heard.port_description) if text and _is_name(text)]
    # Of a machine the site names parts, of a host interfaces; only the latter are what LLDP sends.
    return end.interface not in ("rnic", "mgmt") and bool(said) and end.interface not in said


def _is_name(text: str) -> bool:
    return mac(text) is None
