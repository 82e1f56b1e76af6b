"""Which devices of a GPU node a virtual server gets that takes the node whole: how many of each kind.

All GPUs, all NVSwitches and the adapters of the compute fabric. Adapters for storage and in-band stay the
hypervisor's, by which Neutron connects the server. NVSwitches go with their GPUs: who has one programs the crossbar of
all of them (NVIDIA, Fabric Manager for NVSwitch systems, "Full Passthrough Virtualization Model").
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, get_args

from interlock.hardware.verdicts import PlacementVerdict, fault, unknown

from .node_types import NODE_TYPES, cluster_verdict
from .nodes import NodeType, PortRole

#: `hca`: an adapter of the compute fabric, as a physical function.
PassedDevice = Literal["gpu", "nvswitch", "hca"]
PASSED_DEVICES: tuple[PassedDevice, ...] = get_args(PassedDevice)


@dataclass(frozen=True)
class PassedDevices:
    """Devices of one node by kind, in the order of `PASSED_DEVICES`; kinds that it has none of are left out."""

    counts: tuple[tuple[PassedDevice, int], ...]
    #: Sockets, each with its own memory; None: unknown.
    sockets: int | None


def passed_devices(node_type: str) -> PassedDevices | PlacementVerdict:
    """What a server gets that takes a node of this type whole; a verdict says why there can be no such server."""
    of_type = cluster_verdict(node_type)
    if not of_type.passes:
        return of_type
    node = NODE_TYPES[node_type]
    if node.ports_for(PortRole.NVLINK_BRIDGE) is not None:
        return fault(
            f"the NVSwitches of a {node_type} are behind bridges that are no NVSwitch devices on PCI, and how a server "
            "gets them is not modelled: give such nodes out as bare metal"
        )
    if node.gpus is None or (node.nvlink is not None and node.nvswitches is None):
        return unknown(
            f"how many GPUs and NVSwitches a {node_type} has on PCI is in no document that was read: give such nodes "
            "out as bare metal"
        )
    found: dict[PassedDevice, int] = {"gpu": node.gpus.value, "nvswitch": _nvswitches(node), "hca": _adapters(node)}
    counts = tuple((kind, found[kind]) for kind in PASSED_DEVICES if found[kind])
    return PassedDevices(counts, None if node.host.cpus is None else node.host.cpus.known)


def _nvswitches(node: NodeType) -> int:
    return (node.nvswitches.known or 0) if node.nvswitches is not None else 0


def _adapters(node: NodeType) -> int:
    """One for each port: compute adapters of the types that pass have one port each."""
    ports = node.ports_for(PortRole.COMPUTE)
    return (ports.count.known or 0) if ports is not None and ports.count is not None else 0
