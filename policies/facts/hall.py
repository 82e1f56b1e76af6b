"""What stands where in a hall, and which plugs and cables there are; nothing of this carries a tenant's frames."""

from __future__ import annotations

from collections import Counter, defaultdict
from functools import cached_property

from interlock.model.site.inventory import Site
from interlock.model.site.physical import Cable, Placement


class Hall:
    """Places and cables of a site, by what rules ask for. Each table is made when it is first asked for."""

    def __init__(self, site: Site) -> None:
        self._site = site

    @cached_property
    def links_at(self) -> dict[str, tuple[Cable, ...]]:
        """Device -> the cables at it that are not ethernet."""
        found: defaultdict[str, list[Cable]] = defaultdict(list)
        for cable in self._site.cables:
            if cable.kind != "ethernet":
                for device in {cable.a.device, cable.b.device}:
                    found[device].append(cable)
        return {device: tuple(cables) for device, cables in found.items()}

    @cached_property
    def standing_in(self) -> dict[str, tuple[Placement, ...]]:
        """Physical rack -> what stands in it."""
        found: defaultdict[str, list[Placement]] = defaultdict(list)
        for item in self._site.placements:
            found[item.rack].append(item)
        return {rack: tuple(items) for rack, items in found.items()}

    @cached_property
    def rack_of(self) -> dict[str, str]:
        """Device -> the physical rack in which it stands."""
        return {item.device: item.rack for item in self._site.placements}

    @cached_property
    def plugs_of(self) -> dict[str, frozenset[str]]:
        """Device -> its interfaces with a cable."""
        found: defaultdict[str, set[str]] = defaultdict(set)
        for device, interface in self._site.cable_at:
            found[device].add(interface)
        return {device: frozenset(names) for device, names in found.items()}

    @cached_property
    def ipu_links(self) -> Counter[frozenset[str]]:
        """Pair of machines -> the number of IPU-Link cables between them."""
        cables = (cable for cable in self._site.cables if cable.kind == "ipu-link")
        return Counter(frozenset((cable.a.device, cable.b.device)) for cable in cables)
