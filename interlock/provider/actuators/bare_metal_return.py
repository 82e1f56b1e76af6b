"""A whole host on its way back: its allocation has ended, and what Ironic does with the node goes on.

From then on the host is its node, by the uuid that the state recorded while there was an allocation. It is gone when
the node is clean and `available`, lent to nobody, and the switch ports behind it rest. The node's lessee would not tell
it: that may be taken off by hand at any time, and the tenant's VLAN stays on a switch port all the same.
"""

from __future__ import annotations

from typing import Any

from interlock.provider.clouds import Cloud
from interlock.resources import BareMetalLeg, BareMetalServer

from .bare_metal_legs import not_at_rest, not_let_go
from .bare_metal_node import Node, node_named, not_available
from .base import Target

#: Output in which the uuid of a host's node is recorded. States of before have none.
NODE_UUID = "node_uuid"


def last_node(cloud: Cloud, target: Target[BareMetalServer]) -> Node | None:
    """The node that the ended allocation had; None if Ironic does not have it any more.

    Where no uuid was recorded it is the node of the host's name.
    """
    return node_named(cloud, _recorded(target) or target.spec.node)


def is_ours(node: Node, target: Target[Any]) -> bool:
    """True if what becomes of a node is up to whoever had it last, and that is known to be this host.

    A lessee that was taken off leaves it ours if its uuid was recorded; of a name alone nobody knows whose it was.
    """
    if node["instance_uuid"]:
        return False
    return bool(node["lessee"] == target.refs.get("project") if node["lessee"] else _recorded(target))


def not_back(cloud: Cloud, target: Target[BareMetalServer], node: Node | None, *, mends: bool = False) -> str:
    """Why a host is not back yet; empty if it is, but for the lessee that it may still have.

    `mends`: switch ports are set to rest where they are ours; else this looks only.
    """
    if node is None or not is_ours(node, target):
        if node is not None and node["lessee"] and not node["instance_uuid"] and _recorded(target):
            return (
                f"node {node['name']} is lent to project {node['lessee']}, which is not of this stack (once nobody "
                f"uses it, `openstack baremetal node unset --lessee {node['uuid']}`)"
            )
        # Another has it, or nobody can have it: its ports may be in any VLAN but ours.
        return "; ".join(not_let_go(cloud, legs_of(target)))
    return not_available(node) or "; ".join(not_at_rest(cloud, legs_of(target), node["uuid"] if mends else ""))


def legs_of(target: Target[BareMetalServer]) -> dict[str, BareMetalLeg]:
    """Id of a Neutron port -> the switch port behind it."""
    return dict(zip(target.many("ports"), target.spec.legs, strict=False))


def _recorded(target: Target[Any]) -> str:
    return str(target.recorded.get(NODE_UUID) or "")
