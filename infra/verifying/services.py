"""Rows A16 to A22: what the operator runs for everybody, and switches that take VLANs from devices."""

from __future__ import annotations

from collections.abc import Iterable

from .ground import Ground, assumed, escaped, identity


def join_services(
    ground: Ground, cloud: str, *, capability: Iterable[str], claims: Iterable[str], guests: Iterable[str],
    gateways: Iterable[str], overlays: Iterable[str],
) -> None:  # fmt: skip
    """What a plan has of each on the service of the operator's that is behind it."""
    for row, nodes, service in (
        ("A16", capability, "load-balancers"), ("A18", claims, "network-nodes"),
        ("A19", guests, "migration-and-consoles"), ("A20", guests, "back-end-storage"),
        ("A21", gateways, "behind-external"),
    ):  # fmt: skip
        for node in nodes:
            ground.join_unless(assumed(row), row, node, [identity("ops", escaped(cloud), service)])
    for wire in overlays:
        ground.join_unless(assumed("A17"), "A17", wire, [identity("ops", escaped(cloud), "underlay")])


def join_talking(ground: Ground, serial: str, nodes: Iterable[str]) -> None:
    """VLANs of a switch, or lent devices on its ports, and what a device asks the switch for."""
    for node in nodes:
        ground.join_unless(assumed("A22"), "A22", node, [identity("ops", escaped(serial), "vlan-protocols")])
