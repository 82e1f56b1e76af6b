"""Frames with two tags: what a switch takes the first one off of, the other end of the cable reads by the second (E21).

Whoever is in the VLAN of the first can send them, and nothing comes back: so the edge is there where somebody other
than the operator is in that VLAN, by whatever else joins.
"""

from __future__ import annotations

from collections.abc import Iterator

from . import names
from .ground import OPERATOR, Ground
from .inventory import Inventory
from .ports import End

ROW = "E21"


class SecondTags:
    """After everything else, labels included; who meets a declared device not meant for him joins senders alone."""

    def __init__(self, inventory: Inventory, ground: Ground) -> None:
        self.inventory = inventory
        self.ground = ground

    def derive(self) -> None:
        """One leads to where the next begins: until none is new."""
        ways, before = {*self._ways()}, -1
        while len(self.ground.joined) > before:
            before = len(self.ground.joined)
            class_of = self.ground.classes()
            owned = {class_of.get(node, node) for node, owners in self.ground.labels.items() if owners - {OPERATOR}}
            for sender, receiver in [way for way in ways if class_of.get(way[0], way[0]) in owned]:
                self.ground.join(ROW, sender, [receiver])

    def _ways(self) -> Iterator[tuple[str, str]]:
        """(VLAN of the first tag, VLAN of the second) at each cable, whoever is there."""
        for a, b in self.inventory.links:
            yield from ((x, y) for x in self._without(a) for y in self._by_tag(b))
            yield from ((x, y) for x in self._without(b) for y in self._by_tag(a))
        behind = {
            names.vlan_bridge(self.inventory.at_host(plug, 0)): end for plug, end in self.inventory.uplinks.items()
        }
        for node in self.ground.nodes():
            number = names.vlan_number(node)
            end = behind.get(names.vlan_bridge(node)) if number is not None else None
            if end is not None and number == 0:
                yield from ((node, there) for there in self._by_tag(end))
            elif end is not None:
                yield from ((there, node) for there in self._without(end))

    def _without(self, end: End) -> list[str]:
        """What leaves a port without a tag."""
        port = self.inventory.ports.port(end)
        return [self.inventory.met_by(end, vlan) for vlan in port.untagged] if port.known else []

    def _by_tag(self, end: End) -> list[str]:
        """What a port takes by a tag."""
        port = self.inventory.ports.port(end)
        found = set[int]().union(*(port.inside(tag) for tag in self.inventory.vlans)) if port.known else set[int]()
        return [self.inventory.met_by(end, vlan) for vlan in found]
