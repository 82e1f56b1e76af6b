"""Compares a trunk that Neutron's driver fills: VLANs come onto it with networks, so no list of it is ever final.

It has to carry what the site file lists and the VLANs of networks that are applied, or their frames do not arrive. It
may carry those of planned networks, which may be on their way. Anything else is a network that no plan tells of, or one
that was deleted and is still there.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from interlock.model.site.inventory import Site, SwitchPortConfig

from .findings import NOBODY, SITE_FILE, FindingKind, SwitchFinding
from .observed import ObservedPort, contains, joined, ranges_text


@dataclass(frozen=True)
class PlannedNetwork:
    """A network of a plan that has a VLAN on a physical network."""

    stack: str
    physical_network: str
    vlan: int
    is_applied: bool = True


def networks_at(site: Site, switch: str, networks: Iterable[PlannedNetwork]) -> tuple[PlannedNetwork, ...]:
    """Those whose VLANs the driver puts onto the trunks of a switch."""
    reaching = {item.name for item in site.physical_networks if switch in item.switches}
    return tuple(item for item in networks if item.physical_network in reaching)


def filled_trunk(
    switch: str, config: SwitchPortConfig, networks: Iterable[PlannedNetwork], port: ObservedPort
) -> Iterator[SwitchFinding]:
    """What is missing on such a trunk, by whom it is missed, and what nobody tells of. `networks`: of this switch."""
    known = tuple(networks)
    if port.allowed is None:
        words = f"has it filled by Neutron: {_text(_listed(config), (item.vlan for item in known if item.is_applied))}"
        yield _finding(FindingKind.UNKNOWN, switch, config.port, port, SITE_FILE, words, "nothing of its list")
        return
    carried, says = port.allowed, f"trunk {ranges_text(port.allowed)}"
    listed = {vlan for first, last in _listed(config) for vlan in range(first, last + 1)}
    if missing := {vlan for vlan in listed if not contains(carried, vlan)}:
        words = f"lists VLAN {_text((), missing)} on it"
        yield _finding(FindingKind.DIFFERENT, switch, config.port, port, SITE_FILE, words, says)
    for stack in sorted({item.stack for item in known if item.is_applied}):
        own = {item.vlan for item in known if item.stack == stack and item.is_applied}
        if lacking := {vlan for vlan in own - listed if not contains(carried, vlan)}:
            words = f"has networks in VLAN {_text((), lacking)}, which Neutron puts onto it"
            by = f"the plan of {stack}"
            yield _finding(FindingKind.DIFFERENT, switch, config.port, port, by, words, says)
    told = listed | {item.vlan for item in known}
    if more := {vlan for first, last in carried for vlan in range(first, last + 1)} - told:
        words = f"has a network in VLAN {_text((), more)} there"
        yield _finding(FindingKind.UNSTATED, switch, config.port, port, NOBODY, words, says)


def _listed(config: SwitchPortConfig) -> tuple[tuple[int, int], ...]:
    """What the site file states of the trunk itself, its native VLAN included."""
    own = () if config.untagged is None else ((config.untagged, config.untagged),)
    return (*(config.tagged or ()), *own)


def _text(ranges: Iterable[tuple[int, int]], vlans: Iterable[int]) -> str:
    return ranges_text(joined((*ranges, *((vlan, vlan) for vlan in vlans))))


def _finding(
    found: FindingKind, switch: str, number: int, port: ObservedPort, by: str, words: str, says: str
) -> SwitchFinding:
    return SwitchFinding(found, switch, number, port.name, "trunk", words, says, by)
