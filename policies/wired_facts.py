"""Facts of a certificate that the edges along cables follow from: what is cabled to what, and what each end carries.

The checker derives these edges again: frames with one tag, or with none, belong to a VLAN at each end of a cable, and
join the two. Only what meets something is stated: a port carries more than the other end of its cable knows of.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from itertools import product
from typing import Final

from interlock.vocabulary.nodes import VlanNode, parse

from .edges.shape import Union
from .facts import identities as ids
from .facts.port_modes import SwitchEnd

Row = tuple[str, ...]
#: How frames without a tag are written.
UNTAGGED: Final = 0
#: Switch port -> tag -> the VLANs, as this port meets them, that such frames may belong to.
_Carried = dict[SwitchEnd, dict[int, set[str]]]


class Wired:
    """The tables of one certificate, of the nodes that it is about."""

    def __init__(self, union: Union, here: Collection[str]) -> None:
        self.union = union
        self.carried: _Carried = {}
        self.cables: set[tuple[SwitchEnd, SwitchEnd]] = set()
        #: (switch port, VLAN of the host's bridge behind it, or the interface there that the host's kernel has).
        self.uplinks: set[tuple[SwitchEnd, str]] = set()
        self._between_switches(here)
        self._at_hosts(here)

    def _between_switches(self, here: Collection[str]) -> None:
        links = self.union.site.links_of
        near: _Carried = {}
        leading_from = set[tuple[SwitchEnd, SwitchEnd]]()
        for node in here:
            vlan = parse(node)
            if isinstance(vlan, VlanNode) and not vlan.is_of_host:
                for end, cables in links.get(vlan.bridge, {}).items():
                    if self.union.segment(end, vlan.number) == node:
                        leading_from.update(cables)
                        for tag in self._tags(end, vlan.number):
                            near.setdefault(end, defaultdict(set))[tag].add(node)
        for a, b in leading_from:
            common = near.get(a, {}).keys() & near.get(b, {}).keys()
            for end, tag in product((a, b), common):
                self._carry(end, tag, near[end][tag])
                self.cables.add((a, b))

    def _tags(self, end: SwitchEnd, vlan: int) -> Iterator[int]:
        """By which tags frames of a VLAN may go through a port, and whether without one."""
        mode = self.union.mode[end]
        tags = {vlan, *mode.tags_of(vlan)}
        yield from (tag for tag in tags if vlan in self.union.inside(end, tag))
        if vlan in mode.untagged:
            yield UNTAGGED

    def _at_hosts(self, here: Collection[str]) -> None:
        for node in here:
            vlan = parse(node)
            if isinstance(vlan, VlanNode) and vlan.is_of_host and (end := self.union.site.uplink.get(vlan.bridge)):
                found = self.union.inside(end, vlan.number) if vlan.number else self._natives(end)
                self._behind(end, node, found)
            elif end := self.union.site.kernel_at.get(node):
                self._behind(end, node, self._natives(end))

    def _behind(self, end: SwitchEnd, node: str, vlans: Iterable[int]) -> None:
        """A host sends frames into a port, with the tag of this node; inside the switch they are in these VLANs."""
        if found := {self.union.segment(end, vlan) for vlan in vlans}:
            self._carry(end, _tag_of(node), found)
            self.uplinks.add((end, node))

    def _natives(self, end: SwitchEnd) -> list[int]:
        return [vlan for vlan, _ in self.union.natives(end)]

    def _carry(self, end: SwitchEnd, tag: int, nodes: set[str]) -> None:
        self.carried.setdefault(end, defaultdict(set))[tag] |= nodes

    def edges(self) -> Iterator[tuple[str, str]]:
        """The ends of each edge that follows."""
        for a, b in self.cables:
            for tag in self.carried[a].keys() & self.carried[b].keys():
                yield from product(self.carried[a][tag], self.carried[b][tag])
        for end, host in self.uplinks:
            yield from ((host, node) for node in self.carried[end][_tag_of(host)])

    def tables(self) -> dict[str, set[Row]]:
        """Table of the certificate -> its rows."""
        carried: set[Row] = {
            (self._port(end), str(tag), node)
            for end, tags in self.carried.items()
            for tag, nodes in tags.items()
            for node in nodes
        }
        cables: set[Row] = {(self._port(a), self._port(b)) for a, b in self.cables}
        return {"cables": cables, "carried": carried, "uplinks": {(self._port(a), b) for a, b in self.uplinks}}

    def _port(self, end: SwitchEnd) -> str:
        return ids.switch_port(self.union.site.site.switch[end.switch].serial, end.port)


def _tag_of(host: str) -> int:
    """The tag of frames of a VLAN of a host's bridge; its kernel's have none."""
    vlan = parse(host)
    return vlan.number if isinstance(vlan, VlanNode) else UNTAGGED
