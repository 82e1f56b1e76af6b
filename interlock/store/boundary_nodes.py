"""Boundary nodes in the store: who has something at each, changed by everybody who has, by compare-and-swap.

A stack puts its mark on each node of its footprint, then looks at the nodes that its proof met besides: of two that
each have something where the other only looks, one sees the other.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from . import refusals
from .changes import unmarked
from .objects import Changed, Exists, ObjectStore
from .records import FootprintRecord, NodeRecord, Taking
from .shelves import ROUNDS, Found, RecordFolder, keeps_changing


@dataclass(frozen=True)
class BoundaryNodes:
    """The records of all boundary nodes of one site."""

    store: ObjectStore

    def see(self, taking: Taking) -> dict[str, Found[NodeRecord] | None]:
        """The records of all nodes that a taking is about; None of those that nobody has anything at."""
        return self._nodes.get_all((*taking.met, *taking.entry.nodes))

    def require_known(self, taking: Taking, nodes: Mapping[str, Found[NodeRecord] | None]) -> None:
        """Raises `Outdated` where somebody has something at a node that the proof did not take into account."""
        for found in nodes.values():
            if found:
                refusals.require_known(taking, found.record)

    def mark(self, taking: Taking, seen: Mapping[str, Found[NodeRecord] | None]) -> None:
        """Put the entry's mark on each of its nodes, in sorted order. Raises `Outdated` as `require_known` does."""
        for node in sorted(set(taking.entry.nodes)):
            self._mark_one(taking, node, seen[node])

    def look(self, taking: Taking) -> None:
        """`require_known` of the nodes that the proof met and the entry is not at, as they are now."""
        self.require_known(taking, self._nodes.get_all(set(taking.met) - set(taking.entry.nodes)))

    def unmark(self, stack: str, gone: Iterable[FootprintRecord], digests: set[str]) -> None:
        """Take these digests of a stack off the nodes of entries; a node without any mark is removed."""
        for node, seen in self._nodes.get_all(node for entry in gone for node in entry.nodes).items():
            self._unmark_one(stack, node, digests, seen)

    @property
    def _nodes(self) -> RecordFolder[NodeRecord]:
        return RecordFolder(self.store, "nodes", NodeRecord)

    def _mark_one(self, taking: Taking, node: str, found: Found[NodeRecord] | None) -> None:
        for _ in range(ROUNDS):
            self.require_known(taking, {node: found})
            holders = found.record.holders if found else {}
            digests = {*holders.get(taking.stack, ()), taking.entry.digest}
            marked = NodeRecord(node=node, holders={**holders, taking.stack: tuple(sorted(digests))})
            if found and found.record == marked:
                return
            try:
                self._nodes.put(node, marked, found.version if found else None)
            except (Changed, Exists):
                found = self._nodes.get(node)
            else:
                return
        raise keeps_changing(self.store.name, node)

    def _unmark_one(self, stack: str, node: str, digests: set[str], found: Found[NodeRecord] | None) -> None:
        for _ in range(ROUNDS):
            if found is None or not digests.intersection(found.record.holders.get(stack, ())):
                return
            try:
                self._put_or_remove(unmarked(found.record, stack, digests), found.version)
            except Changed:
                found = self._nodes.get(node)
            else:
                return
        raise keeps_changing(self.store.name, node)

    def _put_or_remove(self, record: NodeRecord, version: str) -> None:
        if record.holders:
            self._nodes.put(record.node, record, version)
        else:
            self._nodes.remove(record.node, version)
