"""Ethernet of a hall: in-band, BMCs, and compute ports where these are Ethernet: which switch port is behind which."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain

from interlock.hardware.gpu import PortRole
from interlock.model.site.physical import Endpoint
from interlock.model.text.source import Step

from .file import HallFile
from .names import Layout


@dataclass(frozen=True)
class EthernetPorts:
    """An interface of every node at some of the hall's places, and the switch ports behind it."""

    interface: str
    #: Where the switch ports are listed, below the hall.
    path: tuple[Step, ...]
    places: tuple[str, ...]
    #: One for each place, in their order; none: the cables are unknown.
    ends: tuple[Endpoint, ...]


def ethernet_ports(hall: HallFile, layout: Layout) -> Iterator[EthernetPorts]:
    """In-band and BMCs, of all places; then the compute ports, of each unit."""
    found: list[tuple[str, tuple[Step, ...], tuple[str, ...], list[tuple[Endpoint, ...]]]] = []
    if hall.in_band is not None:
        found += [(name, ("in_band", "ports", name), layout.places, ends) for name, ends in hall.in_band.ports.items()]
    if hall.out_of_band is not None and hall.out_of_band.ports:
        bmc = hall.out_of_band
        found.append((bmc.interface, ("out_of_band", "ports"), layout.places, bmc.ports))
    for index, unit in enumerate(hall.roce[: hall.units]):
        places = places_of(layout, index + 1)
        found += [(name, ("roce", index, "ports", name), places, ends) for name, ends in unit.ports.items()]
    for interface, path, places, ends in found:
        yield EthernetPorts(interface, path, places, tuple(chain.from_iterable(ends)))


def places_of(layout: Layout, unit: int) -> tuple[str, ...]:
    """The places of one scalable unit."""
    return tuple(place.name for place in layout.hall.nodes if place.unit == unit)


def compute_names(layout: Layout) -> tuple[str, ...]:
    """The compute ports that every node has, in the order of rails."""
    return tuple(name for _, name in layout.hcas[PortRole.COMPUTE])


def interfaces_on(hall: HallFile, layout: Layout, unit: int) -> dict[str, tuple[str, ...]]:
    """Physical network -> the interfaces of a node of this unit on it, its compute ports in the order of rails."""
    found = {} if hall.in_band is None else {hall.in_band.physical_network: tuple(hall.in_band.ports)}
    if hall.roce:
        found[hall.roce[unit - 1].physical_network] = compute_names(layout)
    return found


def ethernet_names(hall: HallFile, layout: Layout) -> frozenset[str]:
    """The Ethernet interfaces of a node: those that may have a MAC address."""
    in_band = () if hall.in_band is None else tuple(hall.in_band.ports)
    bmc = () if hall.out_of_band is None else (hall.out_of_band.interface,)
    return frozenset((*in_band, *bmc, *(compute_names(layout) if hall.roce else ())))
