"""Switches of the reference designs: ports by speed, numbered from 1 in this order."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal

from .facts import Fact, practice, primary

_SWITCHES = "Graphcore, IPU-POD64 datasheet, product description"
_NETBOX = "NetBox community, device type library"

#: (speed in Gb/s, number of ports).
PortGroups = tuple[tuple[int, int], ...]
#: How the maker calls the ports of each group, with `{}` for the number.
PortNames = tuple[str, ...]


def port_name_of(groups: PortGroups, names: PortNames, number: int) -> str | None:
    """The name of a port, numbered on over all groups; None where its group has no pattern, or of no such port."""
    last = 0
    for (_, count), pattern in zip(groups, names, strict=False):
        last += count
        if last - count < number <= last:
            return pattern.format(number)
    return None


@dataclass(frozen=True)
class SwitchModel:
    """A switch as delivered."""

    name: str
    port_groups: Fact[PortGroups]
    #: One for each port group, in its order.
    connectors: Fact[tuple[str, ...]]
    power_inputs: Fact[int]
    height: Fact[int]
    weight: Fact[Decimal] | None
    #: What it draws at most; None where there is not even a suggestion.
    nameplate: Fact[int] | None
    #: Of the maker's own system, one for each port group, in its order. A site may state others.
    default_port_names: Fact[PortNames]

    @property
    def ports(self) -> int:
        """How many ports there are, of all speeds."""
        return sum(count for _, count in self.port_groups.value)

    def default_port_name(self, number: int) -> str:
        """What the maker's own system calls a port. Raises `LookupError` if the model has none of this number."""
        found = port_name_of(self.port_groups.value, self.default_port_names.value, number)
        if found is None:
            raise LookupError(f"{self.name} has ports 1 to {self.ports}, and no port {number}")
        return found

    def port_number(self, name: str) -> int | None:
        """The number of a port by that name; None for what is no such port: `Management1`, `Vlan12`."""
        return next((number for number in range(1, self.ports + 1) if self.default_port_name(number) == name), None)


ARISTA_7060X = SwitchModel(
    name="arista-7060x",
    port_groups=primary(((100, 32), (10, 2)), "Gb/s", _SWITCHES),
    connectors=practice(("QSFP28", "SFP+"), "", f"{_NETBOX}, DCS-7060CX-32S"),
    power_inputs=practice(2, "", f"{_NETBOX}, DCS-7060CX-32S"),
    height=practice(1, "U", f"{_NETBOX}, DCS-7060CX-32S"),
    weight=practice(Decimal("9.53"), "kg", f"{_NETBOX}, DCS-7060CX-32S-F: 21 lb"),
    nameplate=practice(500, "W", f"{_NETBOX}, DCS-7060CX-32S: the most that one of its supplies draws"),
    default_port_names=practice(("Ethernet{}/1", "Ethernet{}"), "", f"{_NETBOX}, DCS-7060CX-32S"),
)

ARISTA_7010T = SwitchModel(
    name="arista-7010t",
    port_groups=primary(((1, 48), (10, 4)), "Gb/s", _SWITCHES),
    connectors=practice(("RJ45", "SFP+"), "", f"{_NETBOX}, DCS-7010T-48"),
    power_inputs=practice(2, "", f"{_NETBOX}, DCS-7010T-48"),
    height=practice(1, "U", f"{_NETBOX}, DCS-7010T-48"),
    weight=None,
    nameplate=practice(65, "W", f"{_NETBOX}, DCS-7010T-48: the most that one of its supplies draws"),
    default_port_names=practice(("Ethernet{}", "Ethernet{}"), "", f"{_NETBOX}, DCS-7010T-48"),
)

ARISTA_7060PX4 = SwitchModel(
    name="arista-7060px4",
    port_groups=practice(((400, 32), (10, 2)), "Gb/s", f"{_NETBOX}, DCS-7060PX4-32"),
    connectors=practice(("OSFP", "SFP+"), "", f"{_NETBOX}, DCS-7060PX4-32; the QSFP-DD variant is DCS-7060DX4-32"),
    power_inputs=practice(2, "", f"{_NETBOX}, DCS-7060PX4-32"),
    height=practice(1, "U", f"{_NETBOX}, DCS-7060PX4-32"),
    weight=None,
    nameplate=practice(1600, "W", f"{_NETBOX}, DCS-7060PX4-32: the most that one of its supplies draws"),
    default_port_names=practice(("Ethernet{}/1", "Ethernet{}"), "", f"{_NETBOX}, DCS-7060PX4-32"),
)

#: Every switch of the catalogue, by the name that site files use.
SWITCHES = {model.name: model for model in (ARISTA_7060X, ARISTA_7010T, ARISTA_7060PX4)}
